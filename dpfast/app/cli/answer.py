"""The release of a statistic of files: print its answer and public facts as JSON, CSV or table."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ... import Budget
from ...errors import printable
from ...extend import Files, SharedPasses, checks, fact_text, prepare, relation_of
from ..entry import Entry, entry_of
from ..files import KeyTexts, combined, read_keys
from ..functions import bar_of, check_where, encoded, error_of
from ..texts import error_text, loss_text
from ..words import items, plain, truth_or_value, unquoted, value_of
from .shared import Terminal, groups_table, print_pairs, text_options

#: Options whose defaults are passed only to functions that have them, like [defaults] of a job.
STANDING = ("nan", "noise", "method")
#: The columns of an output that hold error bars.
BARS = ("low", "high", "half_width", "ranks")
#: Seconds before a progress bar appears.
PATIENCE = 1.0


def answer(
    statistic: str, files: Sequence[str], options: Mapping[str, Any], usual: Mapping[str, Any]
) -> None:
    """Release a statistic of files, and show the answer with the public parameters.

    `usual` has the default values of the options. The release is prepared first, so any wrong
    argument raises an error before the ledger pays.
    """
    values = {name: value for name, value in options.items() if value not in (None, (), [])}
    as_json, as_csv = values.pop("as_json"), values.pop("as_csv")
    if as_json and as_csv:
        checks.fail("csv", "left out, because json is given", True)
    text = text_options(values)
    ledger, guess = values.pop("ledger", None), values.pop("rows", None)
    rows = None if guess is None else checks.whole("rows", guess, 1)
    loss = {name: values.pop(name) for name in ("epsilon", "delta", "rho") if name in values}
    budget = None if ledger is None else Budget(path=ledger)
    relation = relation_of(values.pop("neighbors", None), budget)
    standing = {name: usual[name] for name in STANDING if usual.get(name) is not None}
    entry = entry_of(_table(statistic, values, options, standing), standing)
    check_where("where", values.get("where", ()), entry.by, relation)
    for name in loss.keys() - entry.takes:
        checks.fail(name, f"left out, because {statistic} does not take it", loss[name])
    every = statistic == "count" and entry.arguments.get("nan", "keep") == "keep"
    # All columns have the same number of rows, so no column is needed.
    if (every or statistic == "kept_whole") and entry.columns == (None,):
        entry = replace(entry, columns=())
    opened = Files(files[0] if len(files) == 1 else list(files), **text)
    if statistic == "describe" and entry.columns == (None,):
        entry = replace(entry, columns=opened.names, is_table=True)
    arguments = entry.call(opened, **loss, neighbors=relation)
    if "categories" in arguments:
        arguments["categories"] = _categories(arguments["categories"], entry.columns[0], opened)
    mechanism = prepare(entry.function, entry.data(opened), **arguments).mechanism
    about = ", ".join(name for name in entry.columns if name) or ", ".join(files)
    what = " where ".join(filter(None, (about, " and ".join(values.get("where", ())))))

    def release(files: Files) -> Any:
        with nullcontext() if budget is None else budget.noted(what):
            paid = prepare(entry.function, entry.data(files), **arguments, budget=budget)
            return entry.release(paid)

    released = _watched(opened, release)
    kept = encoded(released.value)
    columns = _columns(kept, entry)
    error_bar = released.bar if rows is None or released.ends else error_of(mechanism, rows)
    bar = bar_of(error_bar, released.ends)
    if not entry.by:
        columns |= _bars(bar, len(next(iter(columns.values()))))
    if as_csv:
        lines = csv.writer(sys.stdout, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        of_people = sys.stdout.isatty()
        for row in (columns, *zip(*columns.values(), strict=True)):
            lines.writerow(printable(x) if of_people and isinstance(x, str) else x for x in row)
        return
    record = {**released.record.to_dict(), "error": {"half_width": None, "ranks": None, **bar}}
    context: dict[str, Any] = {"file": files[0] if len(files) == 1 else list(files)}
    if budget is not None:
        context |= {"ledger": budget.path, "remaining": budget.remaining}
    if as_json:
        named = _named(kept, columns, bool(entry.by))
        dated = {"entry": released.entry, "time": released.time, "is_noise": released.is_noise}
        print(json.dumps({**named, **record, **dated, **context}, allow_nan=False, default=plain))
        return
    several = entry.by or len(next(iter(columns.values()))) > 1
    if several:
        Terminal().print(groups_table(columns))
    answers = [] if several else [(k, cell) for k, (cell,) in columns.items() if k not in BARS]
    public = {
        "statistic": record["statistic"],
        **{name: value for name, value in record["data"].items() if value},
        **record["parameters"],
        "loss": loss_text(record["loss"]),
        **record["unit"],
        **record["noise"],
        f"error ({bar['confidence']:.0%})": None if entry.by else _error(bar),
        **context,
    }
    pairs = [(name, fact_text(fact)) for name, fact in public.items() if fact not in (None, [])]
    print_pairs([*answers, *pairs], bold=len(answers))


def _table(
    statistic: str,
    values: Mapping[str, Any],
    options: Mapping[str, Any],
    standing: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the options that differ from their defaults as a [[release]] table of a job file."""
    table = {name: value for name, value in values.items() if value != standing.get(name)}
    if "other" in options and "of" not in options and "other" not in table:
        checks.fail("other", f"given, because {statistic} needs two columns", None)
    by = [*table.get("by", ())]
    if by:
        table["by"] = by
    if "columns" in table:
        table["columns"] = [unquoted(item) for item in items(table["columns"], "columns")]
    elif not by or "of" in options:
        table.setdefault("column", None)
    if "keys" in table:
        table["keys"] = (
            [truth_or_value(item) for text in table["keys"] for item in items(text, "keys")]
            if "of" in options  # these keys are compared with the rows of a column
            else _keys(table["keys"], by)
        )
    if "other_key" in table:
        table["other_key"] = combined([[unquoted(text)] for text in table["other_key"]])
    return {"statistic": statistic, **table}


def _keys(texts: Sequence[str], by: Sequence[str]) -> KeyTexts:
    """Return the public group keys written on the command line, or read from @FILE."""
    if len(texts) == 1 and texts[0].startswith("@"):
        return read_keys(Path(texts[0][1:]), by)
    if not by:
        checks.fail("keys", "left out, because by is not given", texts)
    if len(texts) != len(by):
        rule = f"given once for each of the {len(by)} columns of by, or be @FILE"
        checks.fail("keys", rule, texts)
    return combined([[unquoted(item) for item in items(text, "keys")] for text in texts])


def _categories(text: str, column: str | None, files: Files) -> list[Any]:
    """Return categories as numbers if all of them are, unless the column is declared as text."""
    listed = items(text, "categories")
    values = [value_of(category) for category in listed]
    is_text = any(isinstance(category, str) for category in values)
    if is_text or files.holds_text(column):
        return [unquoted(category) for category in listed]
    return [float(category) for category in values]


# --- what is shown ------------------------------------------------------------------------------


def _columns(kept: Mapping[str, Any], entry: Entry) -> dict[str, list[Any]]:
    """Return the recorded answer as columns of a table, by heading."""
    value = plain(kept["value"])
    if isinstance(value, dict):
        return value
    if "edges" in kept:
        edges = plain(kept["edges"])
        if len(edges) == len(value):
            return {"category": edges, "count": value}
        return {"lo": edges[:-1], "hi": edges[1:], "count": value}
    if entry.statistic == "bounds":
        return {name: [bound] for name, bound in zip(("lo", "hi"), value, strict=True)}
    if isinstance(quantiles := entry.arguments.get("qs", entry.arguments.get("q")), list):
        return {"q": plain(quantiles), "value": value}
    if isinstance(value, list):  # a matrix: one entry for each pair of columns
        names = [str(name) for name in entry.columns]
        return {"column": names, **dict(zip(names, value, strict=True))}
    return {"value": [value]}


def _bars(bar: Mapping[str, Any], answers: int) -> dict[str, list[Any]]:
    """Return error bars as columns: `low` and `high`, or `half_width` and `ranks` where known."""
    names = BARS[:2] if "low" in bar else BARS[2:]
    sizes = {name: bar[name] for name in names if name in bar}
    columns = {name: x if isinstance(x, list) else [x] * answers for name, x in sizes.items()}
    return {name: x for name, x in columns.items() if not isinstance(x[0], list)}


def _error(bar: Mapping[str, Any]) -> str:
    """Return an error bar and its note as text; the note alone if each answer has its own bar."""
    is_column = isinstance(bar.get("half_width", bar.get("ranks")), list)
    return str(bar["note"]) if is_column else f"{error_text(bar) or 'not known'}, {bar['note']}"


def _named(kept: Mapping[str, Any], columns: Mapping[str, Any], by_group: bool) -> dict[str, Any]:
    """Return the fields of the JSON output that hold the answer: groups, counts or values."""
    if by_group:
        return {"groups": columns}
    if "edges" in kept:
        name = "categories" if "category" in columns else "edges"
        return {"counts": columns["count"], name: plain(kept["edges"])}
    return {"values" if "q" in columns else "value": plain(kept["value"])}


def _watched(files: Files, release: Callable[[Files], Any]) -> Any:
    """Run a release over files and return it, with a progress bar if standard error is a terminal.

    The progress bar is for the owner of the data: it is not private, and no part of the answer.
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
