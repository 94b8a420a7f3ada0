"""A release about files: its answer beside what is public, as JSON, as CSV or as a table."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from fractions import Fraction
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ... import Budget
from ...errors import printable
from ...extend import Expected, Files, Mechanism, SharedPasses, checks, prepare, relation_of
from ..files import KeyTexts, combined, read_keys
from ..functions import BY_GROUP, CONFIDENCE, OF_ROWS, check_where, error_of
from ..words import items, plain, unquoted, value_of, where_of
from .shared import Terminal, groups_table, print_pairs

#: What `--method` calls the mechanisms that have one name.
METHODS = {
    "SmoothQuantile": "smooth",
    "ExponentialQuantile": "exponential",
    "RecursiveQuantiles": "recursive",
    "JointQuantiles": "joint",
}
#: The columns of error bars.
BARS = ("half_width", "ranks")
#: Seconds before a progress bar appears.
PATIENCE = 1.0


def answer(
    statistic: str, files: Sequence[str], options: Mapping[str, Any], usual: Mapping[str, Any]
) -> None:
    """Release a statistic of files, and show the answer beside the public parameters.

    `usual` has the options as they are if nobody gives them. Whatever is wrong with the call is
    found by preparing it, before a ledger is charged.
    """
    given = {name: value for name, value in options.items() if value not in (None, (), [])}
    as_json, as_csv = given.pop("as_json"), given.pop("as_csv")
    if as_json and as_csv:
        checks.fail("csv", "left out with json", True)
    quotes = not given.pop("no_quotes")
    ledger, column = given.pop("ledger", None), given.pop("column", None)
    if "other" in options and "other" not in given:
        checks.fail("other", f"given, for {statistic} is of two columns", None)
    names = [column, given["other"]] if "other" in given else [column]
    guess = given.pop("rows", None)
    rows = None if guess is None else checks.whole("rows", guess, 1)
    wanted, by = given.pop("where", ()), given.get("by", ())
    budget = None if ledger is None else Budget(path=ledger)
    relation = relation_of(given.get("neighbors"), budget)
    check_where("where", wanted, by, relation)
    where = where_of(wanted)
    functions = BY_GROUP if by else OF_ROWS
    if statistic not in functions:
        checks.fail("by", f"given, for {statistic} is of groups", None)
    function = functions[statistic]
    asked = given | {"column": column, "neighbors": relation}
    arguments = _arguments(statistic, function, asked, usual, by)
    opened = Files(files[0] if len(files) == 1 else list(files), quotes)
    if by:
        keys = _keys(arguments.get("keys", ()), by)
        arguments["keys"] = None if keys is None else keys.of(opened, by)
    if "categories" in arguments:
        arguments["categories"] = _categories(arguments["categories"], column, opened)
    # The number of rows is that of any column, unless missing numbers do not count.
    whole = statistic == "count" and column is None and arguments.get("nan") != "drop"
    first = [opened.first(given.get("ids"))] if whole and not by else by

    def data(files: Files) -> Any:
        return files.data(names, by=first, where=where, table=len(names) > 1)

    made = prepare(function, data(opened), **arguments).mechanism
    what = " where ".join(filter(None, (column or ", ".join(files), " and ".join(wanted))))

    def release(files: Files) -> Any:
        with nullcontext() if budget is None else budget.noted(what):
            return function(data(files), **arguments, budget=budget)

    value = _watched(opened, release)
    columns = _columns(value, statistic, arguments)
    known = relation == "replace" and not where and "ids" not in given
    bar = error_of(made, opened.length if rows is None and known else rows)
    if not by:
        columns |= _bars(bar, len(next(iter(columns.values()))))
    if as_csv:
        lines = csv.writer(sys.stdout, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        of_people = sys.stdout.isatty()
        for row in (columns, *zip(*columns.values(), strict=True)):
            lines.writerow(printable(x) if of_people and isinstance(x, str) else x for x in row)
        return
    shown: dict[str, Any] = {
        "statistic": statistic,
        "file": files[0] if len(files) == 1 else list(files),
        "column": column,
        **{name: given[name] for name in ("other", "by", "keys") if name in given},
        **({"where": wanted} if wanted else {}),
        **_public(arguments),
        **{name: getattr(made.loss, name) for name in made.loss.amounts},
        "neighbors": made.neighbors,
        **_mechanism(made),
        **({"rows": rows} if rows is not None else {}),
        **({} if by else {"expected_error": asdict(bar)}),
        **({} if budget is None else {"ledger": budget.path, "remaining": budget.remaining}),
    }
    if as_json:
        print(json.dumps(_named(value, columns, by) | shown, allow_nan=False, default=plain))
        return
    if isinstance(limits := shown.get("bounds"), list):
        pairs = limits if isinstance(limits[0], list) else [limits]
        shown["bounds"] = ", ".join(" to ".join(map(_words, pair)) for pair in pairs)
    if (error := shown.pop("expected_error", None)) is not None:
        shown[f"error ({CONFIDENCE:.0%})"] = _error(bar) if error else None
    several = by or len(next(iter(columns.values()))) > 1
    if several:
        Terminal().print(groups_table(columns))
    answers = [] if several else [(k, one) for k, (one,) in columns.items() if k not in BARS]
    public = [
        (name, _words(one))
        for name, one in shown.items()
        if one is not None and name not in columns
    ]
    print_pairs([*answers, *public], bold=len(answers))


def _arguments(
    statistic: str,
    function: Callable[..., Any],
    given: Mapping[str, Any],
    usual: Mapping[str, Any],
    by: Sequence[str],
) -> dict[str, Any]:
    """Return the options that are arguments of a function; refuse others, and what is missing."""
    takes = signature(function).parameters
    if by:
        given = {**given, "by": list(by)}
    elif "column" in given:
        given = {name: one for name, one in given.items() if name not in ("column", "other")}
    for name, value in given.items():
        if name not in takes and value is not None and value != usual.get(name):
            checks.fail(name, f"left out {'with' if by else 'without'} by", value)
    for name, parameter in list(takes.items())[1:]:
        if parameter.default is Parameter.empty and given.get(name) is None:
            said = "q" if name == "qs" else name
            checks.fail(said, f"given, for {statistic} needs it", None)
    return {name: one for name, one in given.items() if name in takes and one is not None}


def _keys(texts: Sequence[str], by: Sequence[str]) -> KeyTexts | None:
    """Return the public keys that are said, or those of the file that is named."""
    if not texts:
        return None
    if len(texts) == 1 and texts[0].startswith("@"):
        return read_keys(Path(texts[0][1:]), by)
    if len(texts) != len(by):
        checks.fail("keys", f"given once for each of {len(by)} columns (by), or @FILE", texts)
    return combined([[unquoted(one) for one in items(text, "keys")] for text in texts])


def _categories(text: str, column: str | None, files: Files) -> list[Any]:
    """Return categories as numbers if all of them are, unless the column is declared as text."""
    listed = items(text, "categories")
    values = [value_of(one) for one in listed]
    is_text = any(isinstance(one, str) for one in values)
    if is_text or files.holds_text(column):
        return [unquoted(one) for one in listed]
    return [float(one) for one in values]


# --- what is shown ------------------------------------------------------------------------------


def _columns(value: Any, statistic: str, arguments: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return an answer as the columns of a table."""
    if isinstance(value, dict):
        return value
    if statistic == "bounds":
        return {name: [plain(one)] for name, one in zip(("lo", "hi"), value, strict=True)}
    if statistic == "histogram":
        counts, edges = ([plain(one) for one in part] for part in value)
        if "categories" in arguments:
            return {"category": edges, "count": counts}
        return {"lo": edges[:-1], "hi": edges[1:], "count": counts}
    if statistic == "quantiles":
        return {"q": plain(arguments["qs"]), "value": [plain(one) for one in value]}
    return {"value": [plain(value)]}


def _bars(bar: Expected, answers: int) -> dict[str, list[Any]]:
    """Return the error bar of each answer as a column, in the units of the answer or in ranks."""
    for name in BARS:
        size = getattr(bar, name)
        if size is not None:
            return {name: plain(size) if isinstance(size, list) else [plain(size)] * answers}
    return {}


def _error(bar: Expected) -> str:
    """Return an error bar as text, or the reason for none."""
    if bar.half_width is not None:
        alike = not isinstance(bar.half_width, list)
        return (f"± {_words(bar.half_width)}, " if alike else "") + bar.note
    if bar.ranks is not None:
        alike = not isinstance(bar.ranks, list)
        return (f"{_words(bar.ranks)} ranks, " if alike else "") + bar.note
    return f"not known: {bar.note}"


def _named(value: Any, columns: dict[str, list[Any]], by: Sequence[str]) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    if by:
        return {"groups": columns}
    if "category" in columns:
        return {"counts": columns["count"], "categories": columns["category"]}
    if "count" in columns:
        return {"counts": columns["count"], "edges": [*columns["lo"], *columns["hi"][-1:]]}
    if "q" in columns:
        return {"values": columns["value"]}
    return {"value": plain(value)}


def _public(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that no other part of an answer shows."""
    elsewhere = {"by", "keys", "column", "other", "epsilon", "delta", "rho", "neighbors", "noise"}
    elsewhere.add("method")
    public = {name: one for name, one in arguments.items() if name not in elsewhere}
    return {"q" if name == "qs" else name: plain(one) for name, one in public.items()}


def _mechanism(made: Mechanism[Any]) -> dict[str, Any]:
    """Return the method of a quantile, and the distribution of its noise if that is added."""
    if made.algorithm not in METHODS:
        return {}
    noise = {name: one for name, one in made.noise_parameters.items() if name == "noise"}
    return {"method": METHODS[made.algorithm], **noise}


def _words(one: Any) -> str:
    """Return a public parameter as text for people."""
    if isinstance(one, dict):
        return ", ".join(f"{name}={_words(each)}" for name, each in one.items())
    if isinstance(one, (list, tuple)):
        return ", ".join(map(_words, one))
    return f"{float(one):g}" if isinstance(one, (float, Fraction)) else str(one)


def _watched(files: Files, release: Callable[[Files], Any]) -> Any:
    """Return a release of files, with a bar on standard error if that is a terminal and takes long.

    The bar is for the one who holds the data. It is not part of the answer.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return release(files)
    columns = SpinnerColumn(), TextColumn("reading"), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Terminal(stderr=True), transient=True)
    task = bar.add_task("reading", total=files.length)
    began = time.monotonic()

    def show(done: int, total: int | None) -> None:
        if not bar.live.is_started and time.monotonic() - began > PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        [answer] = SharedPasses(files, progress=show).run([release])
    finally:
        bar.stop()
    if isinstance(answer, Exception):
        raise answer
    return answer
