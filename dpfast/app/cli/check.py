"""`dpfast check`: show the owner of the data which cells of a file of text would be errors."""

from __future__ import annotations

import json
from inspect import Parameter
from typing import Annotated, Any

import typer

from .shared import (
    SHOWN,
    TEXT,
    TEXT_DEFAULTS,
    Json,
    Terminal,
    named,
    set_options,
    shown,
    table_of,
    text_options,
)

#: The exit code of data that hold values that are not allowed.
DATA = 5
NOTE = "NOT PRIVATE: for the owner of the data alone. Nothing was released or spent."

OPTIONS = {
    "files": Annotated[list[str], named("FILE", "A .csv or .tsv file, or several.")],
    "columns": Annotated[
        str | None,
        shown("COLUMNS", "The columns that must hold numbers, such as pay,age; by default all."),
    ],
    **TEXT,
    "as_json": Json,
}


def check(files: list[str], columns: str | None, as_json: bool, **text: Any) -> None:
    """Show the owner of the data which cells of a file of text would be errors. NOT PRIVATE.

    The check reads all rows, and shows cells unchanged. Nothing is released or spent. A column that
    begins with ten words counts as text, unless --columns names it.
    """
    from ...extend import Files
    from ..words import items, unquoted

    names = None if columns is None else [unquoted(item) for item in items(columns, "columns")]
    checked = Files(files, **text_options(text)).check(names)
    if as_json:
        print(json.dumps({"note": NOTE, **checked}))
    else:
        _show(checked)
    if checked["faults"]:
        raise typer.Exit(DATA)


set_options(
    check, OPTIONS, {"files": Parameter.empty, "columns": None, **TEXT_DEFAULTS, "as_json": False}
)


def _show(checked: dict[str, Any]) -> None:
    out = Terminal()
    out.print(f"{NOTE} {checked['rows']:,} rows.", soft_wrap=True)
    table = table_of("column", "as", "missing", "faults")
    for column in checked["columns"]:
        table.add_row(*map(str, column.values()))
    out.print(table)
    for fault in checked["faults"][:SHOWN]:
        cell = "" if fault["cell"] is None else f": '{fault['cell']}'"
        where = f"{fault['file']}, line {fault['line']}"
        column = "" if fault["column"] is None else f", column {fault['column']}"
        out.print(f"{where}{column}{cell} {fault['why']}", soft_wrap=True)
    if len(checked["faults"]) > SHOWN:
        out.print(f"and {len(checked['faults']) - SHOWN} more")
