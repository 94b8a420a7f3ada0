"""The output of jobs: an explanation (JSON), a report of answers (JSON), rows, and files of them.

An explanation shows no more than the schema and the ledger do.
"""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ... import order
from ...errors import BudgetError, SourceError
from ...extend import SharedPasses, extra, html
from ...privacy import ZCDP, Loss
from ..functions import CONFIDENCE
from ..texts import error_text, number_text, unit_text
from .page import page
from .plan import Plan, Release
from .runner import Answer, Outcome

FIELDS = (
    "name", "statistic", "column", "index", "at", "value", "time", "half_width", "ranks",
    "confidence", "epsilon", "delta", "rho", "error", "note", "ids", "group", "low", "high", "bar",
)  # fmt: skip
#: The columns that a notebook shows, and the number of rows before the table folds.
SHOWN, MOST = ("name", "at", "group", "answer"), 50
#: The facts of a budget that an explanation shows, if the budget has them.
ABOUT = ("ids", "max_rows", "period", "since")
#: The version of the schema of reports, `docs/schema/job.json`.
SCHEMA = 1
#: The kinds of error bars, with the words for them in the columns of answers by group.
BARS = {"half_width": "error", "ranks": "error in ranks", "low": "low", "high": "high"}
#: Notes on where the error bars of answers by group come from.
OF_RANKS = "a bound in ranks, for the worst data"
OF_NOISE = "by the distribution of the noise"
OF_NONE = "it depends on the rows of each group"
#: The notes by the kind of the error bar.
NOTES = {"low": "ends that a part of the loss draws", "ranks": OF_RANKS, "half_width": OF_NOISE}
NUMBERS = ("value", *BARS, "confidence", "epsilon", "delta", "rho")


@dataclass(frozen=True, slots=True)
class Results(Mapping[str, Answer]):
    """The answers of a job, by the names of its releases: ``results["mean age"]``.

    If a release failed, reading its answer raises the error.

    Attributes
    ----------
    outcomes : tuple of Outcome
        The outcome of each release, in the order of the job file.
    passes : int
        NOT PRIVATE. The number of passes over the file, which may depend on the rows.

    Examples
    --------
    See `dpfast.job.run`, which returns `Results`.
    """

    plan: Plan
    outcomes: tuple[Outcome, ...]
    passes: int

    def check(self) -> None:
        """Raise the error of the first release that has no answer, if there is one."""
        failed = {o.release.entry.name: o.error for o in self.outcomes if o.error is not None}
        if not failed:
            return
        (name, error), *others = failed.items()
        more = f" (and no answer from {', '.join(map(repr, dict(others)))})" if others else ""
        raise type(error)(f"release {name!r}: {error}{more}")

    def __iter__(self) -> Iterator[str]:
        return (outcome.release.entry.name for outcome in self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def _repr_html_(self) -> str:
        """Return the answers and error bars as an HTML table for notebooks; a long one unfolds."""
        lines = ([str(row[name] or "") for name in SHOWN[:2]] + _texts(row) for row in rows(self))
        return html.table([*SHOWN, "error (95%)"], lines, MOST)

    def table(self) -> Any:
        """Return all answers as an Arrow table: a row for each number, with its error bar.

        Returns
        -------
        pyarrow.Table
            A table with the columns of an output file that ends in .parquet.
            ``table.to_pandas()`` and ``polars.from_arrow(table)`` make data frames of the table.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.

        Examples
        --------
        See `dpfast.job.run`.
        """
        pa = extra("pyarrow", "a table of answers")
        kinds = [(name, pa.float64() if name in NUMBERS else pa.string()) for name in FIELDS]
        schema = pa.schema(kinds, {"dpfast schema": str(SCHEMA)})
        return pa.Table.from_pylist(list(rows(self)), schema=schema)

    def __getitem__(self, name: str) -> Answer:
        """Return the answer of a release: a number or a list of numbers, or None for no answer.

        An answer by group is a dict of lists: the columns of `dpfast.group_by`, with times as text.

        Parameters
        ----------
        name : str

        Returns
        -------
        float, list, dict or None

        Raises
        ------
        KeyError
            If the job has no release of this name.
        DpfastError
            If the release failed.
        """
        outcome = {outcome.release.entry.name: outcome for outcome in self.outcomes}[name]
        if outcome.error is not None:
            raise outcome.error
        assert outcome.kept is not None
        return outcome.kept.get("value")


def _texts(row: dict[str, Any]) -> list[str]:
    """Return the group key, the number and the error bar of a row of answers, as text."""
    number = number_text(row.get("time") or row.get("value"))
    return [str(row.get("group") or ""), number, row["error"] or row.get("bar") or row["note"]]


#: Facts of a release, a job, its answers or its plan, in the types of JSON.
Facts: TypeAlias = dict[str, Any]


def amounts(loss: Loss) -> dict[str, float]:
    """Return the amounts of a loss (rho, or epsilon and delta) as floats, for display."""
    names = ("rho",) if isinstance(loss, ZCDP) else ("epsilon", "delta")
    return {name: float(getattr(loss, name)) if name in loss.amounts else 0.0 for name in names}


def job_facts(plan: Plan) -> Facts:
    """Return the public facts of a job for JSON: name, data, neighboring relation, loss, ids."""
    job, folder = plan.job, f"{plan.job.path.absolute().parent}{os.sep}"
    paths = [job.data] if isinstance(job.data, str) else job.data
    data = [path.replace(folder, "") for path in paths]
    facts: Facts = {
        "schema": SCHEMA,
        "job": job.title,
        "data": {"engine": plan.files.engine, "paths": data, "version": job.version},
        "neighbors": job.neighbors,
        "loss": amounts(job.loss),
    }
    about = {"ids": job.ids, "max_rows": job.max_rows, "period": job.period}
    return facts | {name: value for name, value in about.items() if value is not None}


def report(results: Results) -> Facts:
    """Return the report of a job's answers, which may be published, in the types of JSON."""
    releases = [_release(results.plan, outcome) for outcome in results.outcomes]
    return {**job_facts(results.plan), "releases": releases}


def _release(plan: Plan, outcome: Outcome) -> Facts:
    """Return the public facts of a release with its answer and the answer's error bar, if any."""
    kept, facts = outcome.kept or {}, plan.facts(outcome.release)
    shown = facts | {name: kept.get(name) for name in ("value", "entry", "time", "is_noise")}
    if set(BARS) & set(bar := kept.get("bar", {})):
        shown["error"] = {"half_width": None, "ranks": None, **bar}
    if "edges" in kept:
        shown["edges"] = kept["edges"]
    if outcome.error is not None:
        shown["failure"] = str(outcome.error)
    elif "no_answer" in kept:
        shown["note"] = "no answer: the data did not pass the test"
    return shown


# --- explanations -------------------------------------------------------------------------------


def explain(plan: Plan) -> Facts:
    """Return a job's releases, costs, passes and errors without reading a row or spending."""
    budget = plan.budget(make=False)
    releases = [_explained(plan, release) for release in plan.releases]
    passes = [release["passes"] for release in releases]
    waves = SharedPasses.waves([release.holds for release in plan.releases])
    shown = {
        **job_facts(plan),
        "rows": plan.rows,
        "releases": releases,
        "passes": None
        if None in passes
        else sum(SharedPasses.together([passes[i] or 0 for i in wave]) for wave in waves),
        **({"waves": len(waves), "memory": SharedPasses.memory()} if plan.job.sql is None else {}),
        "ledger": str(plan.job.ledger),
        "remaining": None,
        "paid": [],
    }
    if budget is None:
        return shown
    entries, after = plan.affords(budget)
    shown["ledger"] = budget.path
    summary = budget.summary()
    shown.update({name: summary[name] for name in ABOUT if name in summary})
    shown["remaining"] = {name: float(amount) for name, amount in budget.remaining.items()}
    paid = zip(plan.releases, entries, strict=True)
    shown["paid"] = [release.entry.name for release, entry in paid if entry]
    if isinstance(after, BudgetError):
        shown["refused"] = str(after)
    else:
        shown["after"] = {name: float(left) for name, left in after.items()}
    return shown


def _explained(plan: Plan, release: Release) -> Facts:
    whole = plan.job.loss
    kind = "rho" if isinstance(whole, ZCDP) else "epsilon"
    return {
        **plan.facts(release),
        "what": release.mechanism.what,
        "share": str(release.share[kind] / getattr(whole, kind)),  # the exact fraction
        "passes": passes(plan, release),
    }


def passes(plan: Plan, release: Release) -> int | None:
    """Return the usual number of passes over the data that a release makes, or None if unknown.

    The number is None for tables of a database, and if the blocks of sample and aggregate determine
    it. Order statistics need pivots, from a sample of the file or from one more pass. A mean of the
    rows between pivots takes one more pass. If conditions select rows, no sample is assumed. The
    mechanism of groups states its passes itself.
    """
    mechanism, entry = release.mechanism, release.entry
    if plan.job.sql is not None:
        return None  # databases run statements instead of passes
    if entry.by or mechanism.passes is None:
        return mechanism.passes
    files, rows = plan.files, plan.rows_of(release)
    is_whole = not entry.where and mechanism.ids is None
    # Whether the format of the file states the number of rows.
    counted = is_whole and files.length is not None
    if entry.statistic == "count" and counted and mechanism.missing == "keep":
        return 0
    small = counted and rows is not None and rows <= order.SMALL
    public = plan.job.neighbors == "replace"
    sampled = small or (is_whole and files.has_sample(public=public))
    return mechanism.passes + (mechanism.of_ranks and not sampled)


# --- rows ---------------------------------------------------------------------------------------


def rows(results: Results) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of all answers, with its error bar, as for CSV and Parquet files.

    `index` is the position of the number in the answer, `at` is its quantile, bin or columns.

    For groups, `at` is the column of the answer, and `group` its key: text, or a list of several in
    JSON.
    """
    for outcome, release in zip(results.outcomes, report(results)["releases"], strict=True):
        expected, entry = release["error"], outcome.release.entry
        same = {
            "name": entry.name,
            "statistic": entry.statistic,
            "column": ", ".join(filter(None, entry.columns)),
            "confidence": expected["confidence"],
            **amounts(outcome.release.loss),
            "error": release.get("failure"),
            "note": release.get("note") or expected["note"],
            "ids": release["unit"]["ids"],
        }
        value = release["value"]
        if isinstance(value, dict):
            by_group = not isinstance(next(iter(value.values())), dict)
            most = unit_text(release)
            for row in _of_groups(value, outcome) if by_group else _of_tables(value):
                yield same | row | {"note": "; ".join(filter(None, [row["note"], most]))}
            continue
        for index in np.ndindex(np.shape(value)):
            bar = {name: _bar(expected.get(name), index) for name in BARS}
            yield {
                **same,
                "index": ",".join(map(str, index)),
                "at": _at(outcome, release, index),
                **_number(reduce(getitem, index, value), bar),
            }


def _of_groups(value: dict[str, list[Any]], outcome: Outcome) -> Iterator[dict[str, Any]]:
    """Yield the fields of each number of an answer by group; for `top_k`, of each key in order.

    Error bars are columns of the answer, by the names of the statistics: one for all of its bins.
    """
    by = outcome.release.entry.by or ("column",)  # a description has a row for each column
    terms = outcome.release.record["parameters"].get("statistics")
    names = outcome.release.mechanism.parameters.get("statistics", ())
    keys = list(zip(*(value[name] for name in by), strict=True))
    kinds, ended = (
        [*BARS.values()],
        [f"{name} " for name in names if "coverage" in terms.get(name, ())],
    )
    between = [name for name in value if f"{name} ".startswith(tuple(ended))]
    bars = {f"{name} {kind}" for name in names for kind in kinds[:2]}
    bars |= {f"{name} {kind}" for name in between for kind in kinds[2:]}
    bars = bars & value.keys() - {*names}
    columns = [name for name in value if name not in by and name not in bars]
    for column in columns or [""]:
        owners = [name for name in names if f"{column} ".startswith(f"{name} ")]
        owner = max(owners, key=len, default="")
        pairs = {name: (f"{owner} {kind}", f"{column} {kind}") for name, kind in BARS.items()}
        ends = {name: bar for name, pair in pairs.items() for bar in pair if bar in bars}
        for row_index, key in enumerate(keys):
            bar = {name: value[sizes][row_index] for name, sizes in ends.items()}
            yield {
                "index": str(row_index),
                "at": column,
                "group": str(key[0]) if len(key) == 1 else json.dumps(key),
                "confidence": terms[owner]["coverage"] if "low" in ends else CONFIDENCE,
                **_number(value[column][row_index] if column else None, bar),
                "note": next((note for name, note in NOTES.items() if name in ends), OF_NONE),
            }


def _of_tables(value: dict[str, dict[str, list[Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the fields of each count in tables by name, whose last columns are count and error."""
    for name, table in value.items():
        *keys, counts, errors = table.values()
        groups = zip(*keys, strict=True) if keys else [()]
        for row_index, (group, count, error) in enumerate(zip(groups, counts, errors, strict=True)):
            cell = {
                "index": str(row_index),
                "at": name,
                "group": json.dumps(group),
                "note": OF_NOISE,
            }
            yield {**cell, **_number(count, {"half_width": error})}


def _number(number: Any, bar: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row for a number and its error bar; a time is text under "time"."""
    bar = {name: size for name, size in bar.items() if size not in (None, "")}
    shown = {"bar": error_text(bar), "time" if isinstance(number, str) else "value": number}
    width = bar.get("half_width")
    if isinstance(width, (int, float)) and number is not None:
        bar = {"low": number - width, "high": number + width, **bar}
    return shown | {name: size for name, size in bar.items() if not isinstance(size, str)}


def _bar(bar: Any, index: tuple[int, ...]) -> Any:
    """Return the error bar of the number at an index; None for a vector without an answer."""
    if isinstance(bar, list):
        return reduce(getitem, index, bar) if index else None
    return bar


def _at(outcome: Outcome, release: Facts, index: tuple[int, ...]) -> str:
    """Return the quantile, bin or columns of the number at an index of an answer, as text."""
    arguments = outcome.release.arguments
    columns = [name for name in outcome.release.entry.columns if name is not None]
    if not index:
        return ""
    if "edges" in release:
        edges = release["edges"] if outcome.release.entry.is_table else [release["edges"]]
        counts = np.shape(release["value"])
        return " x ".join(
            _bin(axis, number, count)
            for axis, number, count in zip(edges, index, counts, strict=True)
        )
    for quantiles in map(arguments.get, ("qs", "q")):
        if isinstance(quantiles, list):
            return str(quantiles[index[0]])
    if all(length == len(columns) for length in np.shape(release["value"])):
        return ", ".join(columns[number] for number in index)
    return ""


def _bin(edges: list[Any], index: int, count: int) -> str:
    if len(edges) == count:  # each category is a bin
        return _edge(edges[index])
    end = "]" if index == count - 1 else ")"
    return f"[{_edge(edges[index])}, {_edge(edges[index + 1])}{end}"


def _edge(edge: Any) -> str:
    """Return an edge or a category as text; different values have different texts."""
    return str(edge).removesuffix(".0") if isinstance(edge, float) else str(edge)


# --- files --------------------------------------------------------------------------------------


def check(path: Path) -> None:
    """Refuse, before anything is spent, an output that could not be written.

    A temporary file next to the output is created and removed, as in `write`, because no other
    check is reliable.
    """
    if not path.parent.is_dir():
        raise _unwritable(path, f"{str(path.parent)!r} is not a directory; create it first")
    if path.is_dir():
        raise _unwritable(path, "it is a directory")
    if path.suffix.lower() == ".parquet":
        extra("pyarrow", f"writing {path.name}")
    try:
        with _new_file(path) as temporary:
            open(temporary, "xb").close()
    except OSError as error:
        raise _unwritable(path, error.strerror) from None


def _unwritable(path: Path, why: str | None) -> SourceError:
    return SourceError(f"output {str(path)!r} cannot be written: {why}")


def write(results: Results, path: Path) -> None:
    """Write the answers to a file, whole; if writing fails, an older file stays as it was.

    Raises
    ------
    SourceError
        If it cannot be written. The ledger holds the answers, so the job can be run again.
    """
    content = WRITERS[path.suffix.lower()](results, path)
    try:
        with _new_file(path) as temporary:  # the file gets the permissions of a new file
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    except OSError as error:
        raise _unwritable(path, error.strerror) from None


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file next to `path`, and remove the file afterwards."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _json(results: Results, path: Path) -> bytes:
    return (json.dumps(report(results), indent=2, allow_nan=False) + "\n").encode()


def _csv(results: Results, path: Path) -> bytes:
    text = io.StringIO(newline="")
    # RFC 4180 requires this line end. Without it, a "\r" in a value would not be quoted.
    table = csv.DictWriter(text, FIELDS)
    table.writeheader()
    table.writerows(rows(results))
    return text.getvalue().encode()


def _parquet(results: Results, path: Path) -> bytes:
    import pyarrow.parquet as pq  # `check` has made sure that it is installed

    out = io.BytesIO()
    pq.write_table(results.table(), out)
    return out.getvalue()


def _html(results: Results, path: Path) -> bytes:
    return page(report(results), list(rows(results))).encode()


#: The functions that write an output file, by the ending of its name.
WRITERS: dict[str, Callable[[Results, Path], bytes]] = {
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
    ".html": _html,
}
