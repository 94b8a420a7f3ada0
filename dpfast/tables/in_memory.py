"""Tables in memory, each of whose columns has a separate representation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._core.extras import extra
from .base import RowSource, S
from .columns import ROWS, Batch, Rows, Store, Table, Want
from .forms import (
    COLUMN,
    MemoryColumn,
    Readable,
    arrow_table,
    column_form,
    columns_of_table,
    converted,
    is_interchanged,
    is_readable,
)
from .ids import no_column
from .memory import MemoryRows, records, split
from .table import labeled, of_columns, refuse_columns
from .threads import in_parts


class InMemory(Store):
    """Named columns in memory.

    Parameters
    ----------
    columns : dict of str to MemoryColumn
    original : object
        The table that the columns come from.
    name : str
        The name of the table in messages.
    """

    def __init__(self, columns: Mapping[str, MemoryColumn], original: Any, name: str) -> None:
        self.held_columns: dict[str, MemoryColumn] = dict(columns)
        self.original, self._name = original, name
        self.lies_apart = not isinstance(original, np.ndarray)
        lengths = {column.length for column in columns.values()}
        self.length = lengths.pop() if len(lengths) == 1 else None

    def name_of(self, column: Any, argument: str) -> str:
        return (
            str(column)
            if column in self.held_columns
            else no_column(column, self.held_columns, argument)
        )

    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        return self.held_columns[name].cut(0, 0)

    def column(self, name: str) -> Readable:
        return self.held_columns[name]

    def table(self, names: Sequence[str]) -> Table:
        return named({name: self.held_columns[name] for name in names}, None, self._name)

    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        columns, original = (
            {name: self.held_columns[name] for name in make.names or ()},
            self.original,
        )
        if make.ids is not None:
            ids = self.held_columns[make.ids]
        is_plain = isinstance(original, np.ndarray) and not isinstance(original, np.ma.MaskedArray)
        if is_plain and not make.words:
            column = records(original, make.ids, self._name)
        else:
            column = of_columns(columns, self._name, make.words)
        return labeled(MemoryRows(column, workers), ids, columns)

    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> S:
        rows, columns = self.length, {name: self.held_columns[name] for name in want.names}
        if rows is None:
            refuse_columns()

        def chunks(start: int, stop: int) -> Iterator[Batch]:
            for at in range(start, max(stop, start + 1), ROWS):
                end = min(at + ROWS, stop)
                chunk_columns = columns
                if end - at < rows:
                    chunk_columns = {name: column.cut(at, end) for name, column in columns.items()}
                yield Batch(at, end - at, chunk_columns)

        return in_parts(rows, split(rows), chunks, summarise, merge)


def named(columns: Mapping[str, MemoryColumn], original: Any = None, name: str = "data") -> Table:
    """Return columns in memory as a table that was made of `original`."""
    return Table(InMemory(columns, original, name), list(columns))


def local_form(data: Any, name: str, rule: str) -> Readable:
    """Return `data` as a column, a matrix, a table, a file or a source, by type.

    `rule` says in errors what the argument `name` must be.

    Raises
    ------
    ArgumentTypeError
        For data of a type that cannot be read.
    """
    if type(data) in (list, tuple) or (type(data) is np.ndarray and data.dtype.kind != "V"):
        return column_form(data, name, rule)
    if is_readable(data):
        return data
    columns: dict[str, Any] | None
    if is_interchanged(data):
        make = extra("pyarrow.interchange", f"reading {name}").from_dataframe
        columns = arrow_table(converted(data, name, rule, make), name) or {}
        if len(columns) == 1:  # a frame with one column stands for this column
            return column_form(next(iter(columns.values())), name, rule)
    else:
        columns = columns_of_table(data, name)
    if columns is None:
        return column_form(data, name, rule)
    forms = {
        key: column_form(column, f"column {key!r} of {name}", COLUMN)
        for key, column in columns.items()
    }
    return named(forms, data, name)
