"""Tell the kinds of the columns of a table by type, and read all columns as numbers.

A column of text is read as the numbers of public words, with one more number for any other text.
Dates and durations are read as numbers of their unit. So every row of a column has a number, or
none if its value is missing. The number is a function of this row alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._core import checks
from .arrow import arrow_numbers
from .base import width_of
from .columns import Elsewhere, Rows, Table
from .data import form_of
from .forms import Objects, Values
from .intake import Chosen, RowArguments, all_columns, columns_of, has_columns
from .memory import F8, MemoryRows
from .sql.store import Database
from .table import only_column, rows_of
from .times import AsNumbers, Times, time_source, times_of
from .words import Words, holds_words, words_column

RULE = "a table, or a matrix of numbers"


class ColumnKind(NamedTuple):
    """The kind of a column, such as number or text, by its type.

    Attributes
    ----------
    name : str
    kind : {"number", "whole", "truth", "text", "time"}
    times : Times, optional
    """

    name: str
    kind: str
    times: Times | None = None


def kinds_of(data: Any, without: Any = None) -> list[ColumnKind]:
    """Return the kinds of the columns of a table, except `without`, by their types.

    A column without a type, such as a list, is numbers. A column of Python objects in pandas is
    text.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        If data are not a table.
    """
    table = form_of(data, "data", RULE)
    if not has_columns(table):
        checks.fail_kind("data", RULE, data)
    if isinstance(table, Table):
        names = [name for name in table.names if name != without]
        if isinstance(table.store, Database):
            for name in names:
                table.store.expect_declared(name)
        columns = {name: table.held_columns.get(name) or table.store.typed(name) for name in names}
        return [
            ColumnKind(name, _kind(column), times_of(column)) for name, column in columns.items()
        ]
    rows = rows_of(table)
    if rows.dtype.names is not None:
        return [ColumnKind(name, _of(rows.dtype[name])) for name in rows.dtype.names]
    kind = _of(table.array.dtype if isinstance(table, Values) else rows.dtype)
    return [ColumnKind(str(i), kind) for i in range(width_of(rows))]


def _of(dtype: np.dtype[Any]) -> str:
    return {"b": "truth", "i": "whole", "u": "whole"}.get(dtype.kind, "number")


def _kind(typed: Any) -> str:
    if times_of(typed) is not None:
        return "time"
    if isinstance(typed, Objects) and typed.row_index is None:
        return "number"
    if holds_words(typed):
        return "text"
    if isinstance(typed, Values):
        return _of(typed.array.dtype)
    numbers = arrow_numbers(typed.chunked.type)
    return "truth" if str(typed.chunked.type) == "bool" else _of(numbers.dtype if numbers else F8)


def as_numbers(
    data: Any,
    row_arguments: RowArguments,
    words: Mapping[str, Words],
    times: Mapping[str, AsNumbers],
) -> Chosen:
    """Choose all columns of a table as numbers: text by its words, times by their counts.

    `intake.read` takes this function as `what`.
    """
    table = form_of(data, "data", RULE)
    if not isinstance(table, Table):
        return all_columns(table, row_arguments)
    store, names, columns = table.store, table.names, table.held_columns
    if isinstance(store, (Elsewhere, Database)):
        for name, as_number in times.items():
            store = store.with_numbers(name, as_number)
        return store.rows(Rows(names, None, words)), True, len(names)
    sources = {
        name: time_source(columns[name], as_number.numbers) for name, as_number in times.items()
    }
    for name, column_words in words.items():
        column = words_column(columns[name], column_words, f"column {name!r} of data")
        sources[name] = only_column(MemoryRows(column))
    return columns_of(table, sources), True, len(names)
