"""The calls that are frozen, by name. The tables of the other tests say what there is to call."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import dpfast as dp
from dpfast.__main__ import main

from ..support import by_group
from ..support.battery import (
    AUTO,
    CASES,
    DELTA,
    EPSILON,
    FEW,
    MASKED,
    RHO,
    WEIGHTED,
    WHERE,
    WRITTEN,
    Case,
    X,
    forms,
    of_dask,
)
from ..support.pairwise import all_pairs
from ..support.surface import CALLS, COUNTS, EVENS, LABELS, LEARNERS, ROWS
from .digest import digest
from .record import Call

#: The frozen name of a call that is called by another name now.
RENAMED: dict[str, str] = {
    name: name.replace("_ ", "_").replace(" ", "_")
    for name in CALLS
    if name.startswith("dp.sensitivity.")
}
#: Of the public surface, what shows no number, or what belongs to the machine.
LEFT_OUT = {
    "dp.Mean.measure", "dp.TreeHistogram", "dp.sensitivity.TreeCost",  # which show no number
    "dp.sensitivity.Triangles",
    "dp.get_include", "dp.show_config", "dp.rng.InsecureGenerator", "dp.rng.check", "dp.Budget",
    "dp.audit.support", "dp.audit.claims", "dp.audit.neighbors", "dp.mechanism",
    "dp.mechanism.from_dict", "dp.noise.generator", "dp.noise.generator.spawn", "dp.order.Ranks",
    "dp.privacy.Filter", "dp.privacy.Filter.charge", "dp.sulq.ExactOracle", "dp.sulq.RowSets",
    # which are in `streams`
    "dp.online.AboveThreshold", "dp.online.SparseVector", "dp.online.RunningCount",
    "dp.sulq.NoisySums", "dp.sulq.StatisticalQueryOracle",
}  # fmt: skip
RELATIONS = ("add-remove", "replace")
DAY = np.datetime64("2020-01-01")
REFUSED = (dp.errors.ArgumentError, dp.errors.ArgumentTypeError, dp.errors.SourceError)


def calls(folder: Path) -> dict[str, Call]:
    """Return all calls by name; files that they read are written into a folder."""
    found: dict[str, Call] = {}
    tables(folder)
    for make in (battery, variants, in_forms, surface, groups, learners, streams, blocks, jobs):
        for name, call in make(folder):
            assert name not in found, name
            found[name] = call
    return {RENAMED.get(name, name): call for name, call in found.items()}


def said(loss: dict[str, Any]) -> str:
    return " ".join(f"{name} {size:g}" for name, size in loss.items())


# --- the battery ---------------------------------------------------------------------------------


def of_case(case: Case, loss: dict[str, Any], relation: str, data: Any = None, **kw: Any) -> Call:
    """Return the call of a case, by one entry for all cases."""
    given = {**case.kw, **loss, **kw}
    if "neighbors" in case.parameters:
        given["neighbors"] = relation
    return Call(case.call, (case.data if data is None else data,), given)


def battery(folder: Path) -> Iterator[tuple[str, Call]]:
    """Every release with every loss and relation."""
    for name, case in WRITTEN.items():
        for loss, relation in itertools.product(case.losses, case.relations):
            yield f"{name}, {said(loss)}, {relation}", of_case(case, loss, relation)


MISSING = X.copy()
MISSING[::17], MISSING[3], MISSING[5] = np.nan, np.inf, -np.inf
#: Of five rows of a person at most three count, so chance decides which.
MORE_ROWS = {"ids": np.arange(len(X)) // 5, "max_rows": 3}
TIMES = {"days": (DAY + X.astype(int), (DAY, DAY + 100)), "durations": (
    X.astype("m8[s]"), (np.timedelta64(0, "s"), np.timedelta64(100, "s")))}  # fmt: skip


def variants(folder: Path) -> Iterator[tuple[str, Call]]:
    """Each plain release of a column in each unit, mask and kind, where its arguments allow it."""
    path, frame = folder / "g.parquet", pd.DataFrame(TABLE)[["x", "who"]]
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "where": (X, MASKED),
        "people": (X, MORE_ROWS),
        "people where": (X, {**MORE_ROWS, **MASKED}),
        "weights of people": (X, {**WEIGHTED, **MORE_ROWS}),
        "automatic bounds": (X, AUTO),
        "automatic bounds of people": (X, {**AUTO, **MORE_ROWS}),
        "missing dropped": (MISSING, {"nan": "drop"}),
        "missing as the lower bound": (MISSING, {"nan": "lower", **MASKED}),
        "missing as 7": (MISSING, {"nan": 7.0}),
        "granularity": (X, {"granularity": 0.25}),
        "whole numbers": (X.astype(np.int16), {}),
        **{name: (data, {"bounds": bounds}) for name, (data, bounds) in TIMES.items()},
        "days of people": (TIMES["days"][0], {"bounds": TIMES["days"][1], **MORE_ROWS}),
        "people of a file": (dp.scan(path, "x"), {"ids": "who", "max_rows": 2}),
        "people of Dask": (of_dask([frame[:99], frame[99:]]), {"ids": "who", "max_rows": 3}),
        "weights of a file": (dp.scan(path, ["x", "w"]), {**WEIGHTED, "weights": "w"}),
    }
    for name, case in WRITTEN.items():
        if case.form != "column" or case.rows or case.kw.get("bounds") == "auto":
            continue
        for place, (kind, (data, kw)) in enumerate(kinds.items()):
            if not set(kw) <= {*case.parameters}:
                continue
            pairs = [*itertools.product(case.losses, case.relations)]
            for chosen in sorted({place % len(pairs), (place + 3) % len(pairs)}):
                loss, relation = pairs[chosen]
                call = of_case(case, loss, relation, data, **kw)
                yield f"{name}: {kind}, {said(loss)}, {relation}", call


def in_forms(folder: Path) -> Iterator[tuple[str, Call]]:
    """Each release in each form of its data: the digests of the answers, equal ones once."""

    def answers(case: Case, some: Callable[[Case, Path], Iterator[tuple[str, Any]]]) -> list[str]:
        rng = dp.rng.InsecureGenerator
        call = of_case(case, case.losses[-1], case.relations[-1])
        return sorted({digest(call.function(data, **call.kw, rng=rng(5))) for _, data in
                       some(case, folder)})  # fmt: skip

    for name, case in WRITTEN.items():
        if case.form != "object":
            yield f"{name}: in forms", Call(answers, (case, forms), of=list)
        if case.form == "column" and not case.rows and "nan" in case.parameters:
            kw = {} if case.call in (dp.count, dp.sample_and_aggregate) else {"nan": "drop"}
            missing = Case(case.call, MISSING, {**case.kw, **kw}, (), case.losses)
            yield f"{name}: missing in forms", Call(answers, (missing, of_missing), of=list)


def of_missing(case: Case, folder: Path) -> Iterator[tuple[str, Any]]:
    """A column with numbers that are missing, as NaN or null, in each container."""
    null = [None if np.isnan(x) else x for x in MISSING.tolist()]
    arrow = pa.table({"a": null})
    yield from (("NumPy", MISSING), ("float32", MISSING.astype(np.float32)), ("list", null))
    yield "masked", np.ma.array(np.nan_to_num(MISSING, nan=9, posinf=np.inf, neginf=-np.inf),
                                mask=np.isnan(MISSING))  # fmt: skip
    yield from (("pandas", pd.Series(null, dtype="Float64")), ("NaN of pandas", pd.Series(MISSING)))
    yield from (("Polars", pl.Series(null)), ("Arrow", arrow["a"]))
    frame = arrow.to_pandas()
    yield "Dask", of_dask([frame[:99]["a"], frame[99:]["a"]])
    yield "stream", dp.stream(lambda: iter(arrow.to_batches(50)), "a")
    pq.write_table(arrow, folder / "m.parquet", row_group_size=100)
    pa.csv.write_csv(arrow, folder / "m.csv")
    np.save(folder / "m.npy", MISSING)
    yield from (("Parquet", dp.scan(folder / "m.parquet", "a")), ("npy", dp.scan(folder / "m.npy")))
    yield "CSV", dp.scan(folder / "m.csv", "a")


# --- everything public ---------------------------------------------------------------------------


def surface(folder: Path) -> Iterator[tuple[str, Call]]:
    """All that is public, as the table of the surface has it: sensitivities, noise, losses."""
    for name, call in CALLS.items():
        if name in CASES or name in LEFT_OUT:
            continue
        exact = not name.startswith(("dp.sulq", "dp.estimators", "dp.audit"))
        kept = Call(call.function, (), call.make(), call.of, digits=None if exact else 9)
        if name == "dp.extend.integer_noise":
            kept.then = lambda noise: [noise.scale, noise.deviation, noise.within(0.05)]
        yield name, kept


# --- by group ------------------------------------------------------------------------------------

TABLE = {**by_group.TABLE, "day": TIMES["days"][0], "span": TIMES["durations"][0],
         "gap": MISSING, "w": WEIGHTED["weights"]}  # fmt: skip
LAYOUTS: dict[str, dict[str, Any]] = {
    "keys": {"by": "key", "keys": by_group.KEYS},
    "keys of two": {"by": ["key", "word"], "keys": [[3, 0, 9], ["w0", "w1"]]},
    "private keys": {"by": "word"},
    "private keys of two": {"by": ["word", "key"]},
}
UNITS: dict[str, dict[str, Any]] = {"rows": {}, "people": {"ids": "who", "max_groups": 2,
                                                         "max_rows": 2}}  # fmt: skip


def tables(folder: Path) -> dict[str, Callable[[], Any]]:
    """The table by group in each container."""
    frame = pd.DataFrame(TABLE)
    arrow = pa.table({name: pa.array(column) for name, column in TABLE.items()})
    if not (folder / "g.parquet").exists():
        pq.write_table(arrow, folder / "g.parquet", row_group_size=100)
    return {
        "mapping": lambda: TABLE,
        "pandas": lambda: frame,
        "Polars": lambda: pl.from_arrow(arrow),
        "Arrow": lambda: arrow,
        "Parquet": lambda: dp.scan(folder / "g.parquet", list(TABLE)),
        "stream": lambda: dp.stream(lambda: iter(arrow.to_batches(90)), list(TABLE)),
        "Dask": lambda: of_dask([frame[:99], frame[99:]]),
    }


def statistics() -> dict[str, Any]:
    """Every statistic by group, by its entry in the surface; of times and with missing numbers."""
    found = {}
    for name, call in CALLS.items():
        if not name.startswith("dp.stat."):
            continue
        name, given = name.removeprefix("dp."), call.make()
        found[name] = lambda of=call.of, kw=given: of(**kw)
        if given.get("column") == "x" and "weights" not in given:
            for column, (_, bounds) in zip(("day", "span"), TIMES.values(), strict=True):
                limits = {"bounds": bounds} if "bounds" in given else {}
                kw = {**given, "column": column, **limits}
                found[f"{name} of {column}"] = lambda of=call.of, kw=kw: of(**kw)
            if "nan" in call.parameters:
                kw = {**given, "column": "gap", "nan": "drop"}
                found[f"{name} of missing"] = lambda of=call.of, kw=kw: of(**kw)
    return found


#: Statistics that came later: paired among themselves, so that the pairs of others stay.
LATER = ("stat.correlation", "stat.difference", "stat.proportion", "stat.ratio")


def groups(folder: Path) -> Iterator[tuple[str, Call]]:
    """Statistics by group: every two of statistic, keys, unit, relation, loss, mask, container."""
    later = {name: one for name, one in statistics().items() if name.split()[0] in LATER}
    yield from pairs({name: one for name, one in statistics().items() if name not in later}, folder)
    yield from pairs(later, folder)
    people = {"ids": "who", "max_groups": 4, "max_rows": 4, "neighbors": "add-remove"}
    for name, statistic in statistics().items():  # of people who may be in all groups
        if name.split()[0] not in ("stat.median", "stat.quantile", "stat.quantiles"):
            kw = {"statistic": statistic, "table": TABLE, "people": {**people, **LAYOUTS["keys"]}}
            yield f"{name} of people in all groups, rho", Call(released, (), {**kw, **RHO})


@dp.extend.releases
def released(
    *, statistic: Any, table: Any, people: Any, budget: Any = None, rng: Any = None,
    **kw: Any,
) -> Any:  # fmt: skip
    made = dp.group_by(table, **people)
    return dp.extend.prepare(made.agg, {"a": statistic()}, **kw, budget=budget, rng=rng)


def pairs(some: dict[str, Any], folder: Path) -> Iterator[tuple[str, Call]]:
    """Some statistics by group."""
    masks = {"all": {}, "where": {"where": WHERE}}
    losses = {"pure": EPSILON, "approximate": DELTA, "rho": RHO}
    factors: list[dict[str, Any]] = [some, LAYOUTS, UNITS, dict.fromkeys(RELATIONS), losses,
                                     masks, tables(folder)]  # fmt: skip

    for places in all_pairs([len(factor) for factor in factors]):
        names = [list(factor)[place] for factor, place in zip(factors, places, strict=True)]
        name, layout, unit, relation, loss, mask, container = names
        private = "keys" not in LAYOUTS[layout]
        given = {**(FEW if private else losses[loss]), **masks[mask]}
        unit = "people" if "count_distinct" in name else unit
        people = {**UNITS[unit], "neighbors": relation, **LAYOUTS[layout]}
        if container == "Dask":  # whose rows have no order: no mask, and no chance which rows count
            mask = "all"
            given.pop("where", None)
            people |= {"max_groups": 3, "max_rows": 3} if unit == "people" else {}

        kw = {"statistic": factors[0][name], "table": factors[-1][container](), "people": people}
        loss = said({key: size for key, size in given.items() if key != "where"})
        called = f"{name} by {layout} of {unit}, {mask}, {container}, {loss}, {relation}"
        yield called, Call(released, (), {**kw, **given})


# --- what is learned -----------------------------------------------------------------------------


def learners(folder: Path) -> Iterator[tuple[str, Call]]:
    """Every learner with every loss and relation, and with weights."""
    losses = {"epsilon 40": {"epsilon": 40}, "delta": {"epsilon": 40, "delta": 1e-6},
              "rho 50": {"rho": 50}}  # fmt: skip
    for kind, kw in LEARNERS.items():
        for (loss, amount), relation in itertools.product(losses.items(), RELATIONS):
            made = kind(**{**kw, **amount, "neighbors": relation})
            yield f"{kind.__name__}, {loss}, {relation}", Call(made.fit, (ROWS, LABELS), digits=9)


def streams(folder: Path) -> Iterator[tuple[str, Call]]:
    """What is asked after it was paid for."""
    values = [3, 9, 40, 0, 41, 2]
    many = {"queries": 9, "accuracy": 0.99}
    queries = [EVENS, 1 - EVENS, np.array([0.0, 1.0, 0.5]), EVENS]

    def public(answer: Any) -> list[Any]:
        names = ("above", "value", "total", "deviation", "hard", "remaining")
        found = [getattr(answer, name) for name in names if hasattr(answer, name)]
        return [*found, float(answer)] if isinstance(answer, float) else found

    def compared(stream: Any) -> list[Any]:
        found = []
        with contextlib.suppress(dp.errors.DpfastError):
            for value in values:
                found.append(public(stream.answer(value, 20)))
        return found

    def counted(stream: Any) -> list[Any]:
        return [public(stream.add(value)) for value in values] + [stream.half_width(step=3)]

    def answered(stream: Any) -> list[Any]:
        return [public(stream.answer(query)) for query in queries]

    made: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = [
        (dp.online.AboveThreshold, (), {}, compared),
        (dp.online.SparseVector, (), {"positives": 2}, compared),
        (dp.online.RunningCount, (9,), {}, counted),
        (dp.online.MWEM, (COUNTS, queries), {"rounds": 2},
         lambda one: [one.distribution, [one.answer(query) for query in queries]]),
        (dp.online.MedianMechanism, (COUNTS,), {**many, "size": 3}, answered),
        (dp.online.PrivateMultiplicativeWeights, (COUNTS,), many, answered),
        (dp.sulq.NoisySums, (ROWS,), {"queries": 3},
         lambda one: [one.sum("value", bounds=(0, 1), column=0), one.sum("row", l2=1.0),
                      one.sum("count")]),
        (dp.sulq.StatisticalQueryOracle, (ROWS,), {"tolerance": 0.4, "queries": 3, "rows": 30},
         lambda one: [one.ask("value", bounds=(0, 1), column=0)]),
    ]  # fmt: skip
    losses = {"epsilon 60": {"epsilon": 60}, "delta": {"epsilon": 60, "delta": 1e-3},
              "rho 50": {"rho": 50}}  # fmt: skip
    for (function, args, kw, then), (loss, amount) in itertools.product(made, losses.items()):
        for relation in RELATIONS:
            given = {**kw, **amount}
            if Call(function).takes("neighbors"):
                given["neighbors"] = relation
            elif relation == "replace":
                continue
            yield f"{function.__name__}, {loss}, {relation}", Call(function, args, given, then=then)


def blocks(folder: Path) -> Iterator[tuple[str, Call]]:
    """Sample and aggregate by each aggregator and partition."""
    for place, (aggregator, partition) in enumerate(
        itertools.product(("auto", "mean", "smooth-median", "exponential-median", "trimmed-mean",
                           "winsorized-mean"), ("contiguous", "random", "key"))
    ):  # fmt: skip
        for relation in RELATIONS:
            kw: dict[str, Any] = {"blocks": 20, "bounds": (0, 100), "aggregator": aggregator}
            kw |= (EPSILON, DELTA, RHO)[place % 3] | {"neighbors": relation}
            kw |= {"ids": np.arange(len(X)) // 3} if partition == "key" else {}
            kw |= {"partition": partition}
            name = f"median of blocks by {aggregator}, {partition}, {relation}"
            yield name, Call(dp.sample_and_aggregate, (X, "median"), kw, digits=None)


# --- jobs and commands ---------------------------------------------------------------------------

JOB = """
[data]
path = "g.parquet"
[budget]
{budget}
"""
RELEASES: list[dict[str, Any]] = [
    *({"statistic": name, "column": "x", "bounds": [0, 100]} for name in (
        "sum", "mean", "variance", "std", "median", "minimum", "maximum", "iqr",
        "trimmed_mean", "winsorized_mean")),
    {"statistic": "count", "column": "gap", "nan": "keep"},
    {"statistic": "count_nonzero", "column": "x"},
    {"statistic": "mean", "column": "gap", "name": "gap", "weight": 3, "bounds": [0, 100],
     "nan": "lower"},
    {"statistic": "mean", "column": "x", "name": "own bounds", "bounds": "auto"},
    {"statistic": "quantile", "column": "x", "q": 0.25, "bounds": [0, 100]},
    {"statistic": "quantiles", "column": "x", "qs": [0.2, 0.7], "bounds": [0, 100]},
    {"statistic": "histogram", "column": "x", "bins": 4, "bounds": [0, 100]},
    {"statistic": "histogram", "column": "word", "categories": ["w0", "w1"], "name": "words"},
    {"statistic": "tree_histogram", "column": "x", "bins": 5, "bounds": [0, 100]},
    {"statistic": "count_distinct", "column": "word"},
    {"statistic": "covariance", "columns": ["x", "gap"], "bounds": [[0, 100], [0, 100]], "nan": 7},
    {"statistic": "mean", "column": "x", "by": "key", "keys": [3, 0, 9, 1], "bounds": [0, 100]},
    {"statistic": "count", "by": "key", "keys": [3, 0], "where": "x > 40", "name": "some"},
    {"statistic": "count", "by": ["key", "word"], "keys": [[3, 0], ["w0", "w1"]]},
    {"statistic": "top_k", "k": 2, "by": "key", "keys": [3, 0, 9, 1], "name": "top"},
]  # fmt: skip
COMMANDS = (
    "count --column x", "sum --column x --bounds 0 100", "mean --column x --bounds 0 100",
    "mean --column gap --bounds 0 100 --nan 7 --ids who --max-rows 3",
    "median --column x --bounds 0 100 --neighbors replace", "bounds --column x",
    "quantile --column x --bounds 0 100 --q 0.3",
    "mean --column day --bounds=2020-01-01,2020-04-09",
    "quantiles --column x --bounds 0 100 --q 0.3 --q 0.9",
    "histogram --column x --bounds 0 100 --bins 4", "histogram --column word --categories w0,w1",
    "count --by key --keys 3,0,9", "mean --column x --bounds 0 100 --by key --keys 3,0,9",
    "count --by word --delta 1e-3", "top-k --by key --k 2 --keys 3,0,9,1",
    "variance --column x --bounds 0 100 --where key>1",
)  # fmt: skip


def jobs(folder: Path) -> Iterator[tuple[str, Call]]:
    """Jobs with several releases, and commands: what they answer, and what they say it costs."""
    budgets = {"epsilon": "epsilon = 30", "delta": "epsilon = 30\ndelta = 1e-6", "rho": "rho = 9",
               "replace": 'epsilon = 30\nneighbors = "replace"'}  # fmt: skip

    def written(name: str) -> Path:
        lines = [JOB.format(budget=budgets[name])]
        for release in RELEASES:
            lines.append("[[release]]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in release.items()]
        (folder / f"{name}.toml").write_text("\n".join(lines))
        return folder / f"{name}.toml"

    def run(name: str) -> Any:
        results = dp.job.run(written(name))
        results.check()
        return dict(results), numbers(dp.job.report(results))

    def explain(name: str) -> Any:
        return numbers(dp.job.explain(written(name)))

    for name in budgets:
        yield f"job, {name}", Call(run, (name,))
        yield f"job explained, {name}", Call(explain, (name,))
    for command in COMMANDS:
        yield f"dpfast {command}", Call(shell, (command, folder))


def shell(command: str, folder: Path) -> Any:
    """Return what the command line answers as JSON."""
    name, *options = command.split()
    words = ["dpfast", name, str(folder / "g.parquet"), *options, "--epsilon", "3", "--json"]
    out = io.StringIO()
    with patch.object(sys, "argv", words), contextlib.redirect_stdout(out):
        assert main() == 0, command
    return numbers(json.loads(out.getvalue()))


def numbers(value: Any) -> Any:
    """Return a report without its sentences, by which nothing is measured."""
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items() if not isinstance(one, str)}
    if isinstance(value, (list, tuple)):
        return [numbers(one) for one in value]
    return value
