"""`dpfast run` and `dpfast explain`: a job file in, JSON or a table out."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import job
from ..job import report
from .options import Json

File = Annotated[
    str, typer.Argument(metavar="JOB", show_default=False, help="The job, a file of TOML.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar, and no table.")]


def run(file: File, as_json: Json = False, quiet: Quiet = False) -> None:
    """Run a job: many releases over one file, in few passes, for one loss.

    With a ledger (path in \\[budget]) a job that was interrupted goes on where it stopped: nothing
    is paid or answered twice. Answers satisfy the loss of the job and may be published.
    """
    terminal = sys.stderr is not None and sys.stderr.isatty()
    results = job.run(file, progress=terminal and not quiet)
    if as_json:
        print(json.dumps(report(results), allow_nan=False))
    elif not quiet:
        _answers(report(results))
    results.check()


def explain(file: File, as_json: Json = False) -> None:
    """Say what a job would cost, and what errors to expect, without reading a row.

    Nothing is spent. What is shown is a function of the job file, the schema and the ledger.
    """
    found = job.explain(file)
    if as_json:
        print(json.dumps(found, allow_nan=False))
        return
    table = _table("release", "mechanism", "share", "loss", "error (95%)", "passes")
    for release in found["releases"]:
        passes = release["passes"]
        table.add_row(
            *map(escape, (release["name"], release["what"], release["share"])),
            _loss(release["loss"]),
            escape(_error(release["expected_error"])),
            "as its blocks need" if passes is None else str(passes),
        )
    out = Console(highlight=False)
    out.print(table)
    rows = {
        "data": found["data"],
        "rows": "private" if found["rows"] is None else f"{found['rows']:,}",
        "neighbors": found["neighbors"],
        "total": _loss(found["loss"]),
        "passes": "as its blocks need" if found["passes"] is None else found["passes"],
        "ledger": found["ledger"] or "none: the job cannot be resumed",
        "remaining": "a new ledger, of the loss of this job"
        if found["remaining"] is None
        else _loss(found["remaining"]),
        "paid already": ", ".join(found["paid"]),
        "after the run": _loss(found["after"]) if "after" in found else found.get("refused", ""),
    }
    below = Table(show_header=False, box=None, pad_edge=False)
    below.add_column()
    below.add_column(overflow="fold")
    for name, entry in rows.items():
        if entry != "":
            below.add_row(name, escape(str(entry)))
    out.print(below, soft_wrap=True)
    for note in dict.fromkeys(r["expected_error"]["note"] for r in found["releases"]):
        names = [r["name"] for r in found["releases"] if r["expected_error"]["note"] == note]
        if note:
            out.print(escape(f"{', '.join(names)}: {note}"), soft_wrap=True)


def _answers(found: dict[str, Any]) -> None:
    table = _table("release", "answer", "error (95%)", "loss")
    for release in found["releases"]:
        table.add_row(
            escape(release["name"]),
            escape(_answer(release)),
            escape(_error(release["expected_error"])),
            _loss(release["loss"]),
        )
    Console(highlight=False).print(table)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _loss(amounts: dict[str, float]) -> str:
    shown = {name: amount for name, amount in amounts.items() if amount or name != "delta"}
    return ", ".join(f"{name}={amount:g}" for name, amount in shown.items())


def _answer(release: dict[str, Any]) -> str:
    if "error" in release:
        return f"error: {release['error']}"
    if release["value"] is None:
        return str(release["note"])
    return _numbers(release["value"])


def _error(expected: dict[str, Any]) -> str:
    if expected["half_width"] is not None:
        return "± " + _numbers(expected["half_width"])
    if expected["ranks"] is not None:
        return f"{_numbers(expected['ranks'])} ranks"
    return "not known"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_numbers, value)) + "]"
    return f"{value:.6g}"
