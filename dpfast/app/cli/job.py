"""`dpfast run` and `dpfast explain`: print the answers or the cost of a job file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..job.output import ABOUT, Results, amounts
from ..texts import error_text, loss_text, number_text, unit_text
from .shared import (
    SHOWN,
    Json,
    Terminal,
    groups_of,
    groups_table,
    named,
    print_pairs,
    shown,
    table_of,
)

File = Annotated[str, named("JOB", "The job, a TOML file.")]
Page = Annotated[
    str | None,
    shown("FILE", "Write the answers, with error bars, to an HTML page: FILE ends in .html."),
]
#: The most releases that are listed by name. Of more releases, only the number is shown.
NAMED = 5
Quiet = Annotated[bool, typer.Option("--quiet", help="Print one line, and no progress bar.")]


def run(file: File, as_json: Json = False, quiet: Quiet = False, report: Page = None) -> None:
    """Run a job: many releases over one file, in few passes, for one privacy loss.

    With a ledger (path in \\[budget]) an interrupted job goes on where it stopped. No release is
    paid or answered twice. The answers satisfy the loss of the job, and may be published.
    """
    from .. import job

    terminal = sys.stderr is not None and sys.stderr.isatty()
    results = job.run(file, report=report, progress=terminal and not quiet)
    if as_json:
        print(json.dumps(job.report(results), allow_nan=False))
    elif quiet:
        Terminal(soft_wrap=True).print(_line(results))
    else:
        _answers(job.report(results))
    results.check()


def _line(results: Results) -> str:
    """Return one line about a run: releases answered, the loss, and the output files."""
    plan, answered = results.plan, sum(outcome.error is None for outcome in results.outcomes)
    done = f"{plan.job.title}: {answered} of {len(results)} releases answered"
    files = " and ".join(str(file) for file in plan.job.outputs.values())
    return f"{done}, {loss_text(amounts(plan.job.loss))}" + f", in {files}" * bool(files)


def explain(file: File, as_json: Json = False) -> None:
    """Show what a job would cost, and the expected errors of its answers, without reading a row.

    Nothing is spent. The output depends on the job file, the schema and the ledger only.
    """
    from .. import job

    explained = job.explain(file)
    if as_json:
        print(json.dumps(explained, allow_nan=False))
        return
    releases = explained["releases"]
    table = table_of("release", "mechanism", "share", "loss", "error (95%)", "passes")
    for names, *cells in _rows(releases):
        table.add_row(_some(names, len(releases)), *cells)
    out = Terminal()
    out.print(table)
    rows: dict[str, object] = {
        "data": ", ".join(explained["data"]["paths"]),
        "version": explained["data"]["version"],
        "rows": "private" if explained["rows"] is None else f"{explained['rows']:,}",
        "neighbors": explained["neighbors"],
        **{name: explained[name] for name in ABOUT if name in explained},
        "total": loss_text(explained["loss"]),
        "passes": _passes(explained["passes"]),
        "engine": explained["data"]["engine"],
        "memory for rows": f"{explained['memory'] / 1e9:.1f} GB, in {explained['waves']} waves"
        if "memory" in explained
        else "",
        "ledger": explained["ledger"] or "none: the job cannot be resumed",
        "remaining": "a new ledger, of the loss of this job"
        if explained["remaining"] is None
        else loss_text(explained["remaining"]),
        "paid already": _some(explained["paid"], len(releases)),
        "after the run": loss_text(explained["after"])
        if "after" in explained
        else explained.get("refused", ""),
    }
    print_pairs(rows.items())
    for note in dict.fromkeys(r["error"]["note"] for r in releases):
        if note:
            names = [r["name"] for r in releases if r["error"]["note"] == note]
            out.print(f"{_some(names, len(releases))}: {note}", soft_wrap=True)


def _rows(releases: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the release names and cells of each row; many releases share a row per mechanism."""
    rows: dict[Any, list[Any]] = {}
    for number, release in enumerate(releases):
        key = (release["what"], release["passes"]) if len(releases) > SHOWN else number
        rows.setdefault(key, []).append(release)
    for same_row in rows.values():
        cells = (
            (release["share"], loss_text(release["loss"]), _error(release["error"]))
            for release in same_row
        )
        columns = map(set, zip(*cells, strict=True))
        same = (column.pop() if len(column) == 1 else "differs" for column in columns)
        first, names = same_row[0], [release["name"] for release in same_row]
        yield names, first["what"], *same, _passes(first["passes"])


def _some(names: list[str], of: int) -> str:
    """Return the names of a few releases, or the number of many, as text."""
    return ", ".join(names) if len(names) <= NAMED else f"{len(names):,} of {of:,} releases"


def _passes(passes: int | None) -> str:
    return "as needed" if passes is None else str(passes)


def _answers(answers: Any) -> None:
    table = table_of("release", "answer", "error (95%)", "loss")
    for release in answers["releases"]:
        table.add_row(
            release["name"],
            _answer(release),
            "in its table" if isinstance(release["value"], dict) else _error(release["error"]),
            loss_text(release["loss"]),
        )
    out = Terminal()
    out.print(table)
    for release in answers["releases"]:
        if isinstance(value := release["value"], dict):
            out.print(", ".join(filter(None, [release["name"], unit_text(release)])))
            for columns in _tables(value):
                out.print(groups_table(columns))


def _answer(release: Any) -> str:
    value = release["value"]
    if "failure" in release:
        return f"error: {release['failure']}"
    if value is None:
        return str(release["note"])
    if isinstance(value, dict):
        (first, *more) = _tables(value)
        return f"{len(more) + 1:,} tables" if more else groups_of(first)
    return ", ".join(filter(None, [number_text(value), unit_text(release)]))


def _tables(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of an answer about groups: one, or one for each of several marginals."""
    parts = list(value.values())
    return parts if parts and isinstance(parts[0], dict) else [value]


def _error(error: Any) -> str:
    return error_text(error) or "not known"
