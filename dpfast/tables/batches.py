"""Rows of a table in batches: some named columns of each, in their representation in memory.

Some code needs several columns of different types at once: keys, ids and numbers. It reads them
here. A batch has some rows of each requested column, in the type that `forms` gives the column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.once import remembered
from .._kernels.tables import Key
from ..errors import DataError
from .arrow import family
from .base import S, native_dtype
from .columns import Batch as Batch
from .columns import Columns, Want
from .data import form_of
from .engine import Engine, refuse_array
from .filtered import MASK, condition_of, is_expression, passing
from .forms import Arrow, Objects, Readable, Values
from .forms import MemoryColumn as MemoryColumn
from .in_memory import named
from .labels import compare, labels_of
from .memory import F8, in_place
from .public_values import CellTexts
from .sql.store import SqlRows

RULE = "a table with named columns"
#: The names of columns that are added to a table.
IDS, WHERE = "\0ids", "\0where"


class Batches:
    """The rows of a table in memory or in files, which can be read in passes again and again.

    Parameters
    ----------
    data : table
        A mapping of names to columns, a structured array, a table of pandas, Polars or Arrow, or
        columns of files opened by `dpfast.scan`. Other columns of these files can be named, too.
    extra : mapping of names to columns, optional
        Columns that are not part of the table, with one entry for each of its rows.

    Raises
    ------
    ArgumentTypeError
        If data are not a table. No row is read.
    """

    def __init__(self, data: Any, extra: Mapping[str, MemoryColumn] | None = None) -> None:
        table: Readable = form_of(data, "data", RULE)
        if not isinstance(table, Columns):
            checks.fail_kind("data", RULE, data)
        self._table = table
        self._where: Any = None
        self._extra = {} if extra is None else dict(extra)
        for name, column in self._extra.items():
            if not table.store.has_order:
                refuse_array(name.strip("\0"), column)
            _length(column, name.strip("\0"))
        self._labels = labels_of(table, self._extra)
        for name, column in table.held_columns.items():
            _length(column, f"column {name!r} of data")
        if not table.names:
            checks.fail_kind("data", "a table with at least one column", data)
        self.length = table.length

    @property
    def like(self) -> Batches | None:
        """These columns without rows: one cached object for all tables with equal names and types.

        None for columns that are not in memory.
        """
        types, extra = (
            tuple((name, _type_of(column)) for name, column in columns.items())
            for columns in (self._table.held_columns, self._extra)
        )
        return _of_types(types, extra) if types else None

    def with_beside(self, name: str, column: MemoryColumn) -> Batches:
        """Return these rows with one more column, `name`, in addition to the table's."""
        return Batches(self._table, {**self._extra, name: column})

    def once(self) -> Batches:
        """Return these rows for one release, in which the passes over a stream are compared."""
        table = self._table.once(bool(self._extra))
        return self if table is self._table else Batches(table, self._extra)

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have every pass over a stream compare the columns `names`; see `StreamReader.tie`."""
        self._table.store.tie([name for name in names if name not in self._extra], key)

    def alike(self, key: Hashable, make: Callable[[], S]) -> S:
        """Return ``make()``, called once for each `key`; see `Store.alike`."""
        return self._table.store.alike(key, make)

    @property
    def of_engine(self) -> Engine | None:
        """The engine that holds the columns and makes the passes in its partitions; else None."""
        store = self._table.store
        return store if isinstance(store, Engine) else None

    def adding(self, names: Sequence[str]) -> SqlRows | None:
        """Return some columns as rows that a database sums; None if the rows are read here.

        Raises
        ------
        ArgumentTypeError
            If a column holds no numbers.
        """
        rows: SqlRows | None = self._table.store.adding(names)
        return rows if rows is None or self._where is None else rows.filtered(self._where)

    def filtered(self, where: Any) -> Batches:
        """Return the rows of a database, or of files, that pass the condition `where`."""
        if is_expression(where):
            return Batches(passing(self._table, where), self._extra)
        rows = Batches(self._table, self._extra)
        rows._where = where
        rows.adding([])  # raises if this is not a condition
        return rows

    @property
    def names(self) -> list[str]:
        """The names of the columns of the table."""
        return list(self._table.names)

    @property
    def engine(self) -> str:
        """The kind of the engine that reads the rows, as `Store.engine`."""
        return self._table.store.engine

    @property
    def condition(self) -> str | None:
        """The condition that rows must pass to count, as text; None if all rows count."""
        if WHERE in self._extra:
            return MASK
        return condition_of(self._table if self._where is None else self.adding([]))

    def has(self, name: str) -> bool:
        """Tell whether a column `name` was added to the columns of the table."""
        return name in self._extra

    def typed(self, name: str, argument: str, is_text: bool = False) -> MemoryColumn:
        """Return a column without rows that has the type of the column `name`.

        If the column has no type, as in a text file, `is_text` makes it a column of text.

        Raises
        ------
        ArgumentError, SourceError
            If there is no such column; `argument` is the name of the argument.
        """
        if name in self._extra:
            return self._extra[name].cut(0, 0)
        store = self._table.store
        return store.typed(store.name_of(name, argument), is_text)

    def cells(self, name: str) -> CellTexts | None:
        """Return which texts the cells of a column of a text file can be; None if it has a type."""
        return None if name in self._extra else self._table.store.cells(name)

    def numbers(self, name: str, argument: str) -> None:
        """Raise an error about `argument` if the type of a column holds no numbers."""
        store = self._table.store
        store.check_numbers(store.name_of(name, argument))

    def is_whole(self, name: str) -> bool:
        """Tell whether the type of a column guarantees that all its values are integers."""
        rows = self.adding([name])
        if rows is not None:
            return rows.is_whole
        typed = self.typed(name, "column")
        if isinstance(typed, Values):
            return typed.array.dtype.kind in "biu"
        return isinstance(typed, Arrow) and family(typed.chunked.type) == "integers"

    def reduce(
        self,
        names: Sequence[str],
        text: Sequence[str],
        summarise: Callable[[Batch], S],
        merge: Callable[[S, S], S],
        ids: str | None = None,
    ) -> S:
        """Summarise every batch of some columns, and merge the summaries, as `Source.reduce` does.

        In a text file, the columns in `text` are text, and other columns are numbers. A column of
        `ids` is text, too, whose entries mostly differ.
        """
        names = names if ids is None else [*names, ids]
        compare(self._labels)
        extra = {name: self._extra[name] for name in names if name in self._extra}
        from_data = tuple(name for name in dict.fromkeys(names) if name not in extra)
        words = frozenset(text).intersection(from_data)
        ids_here = frozenset(name for name in from_data if name == ids)
        want = Want(from_data, words | ids_here, words - ids_here)
        seen: list[int] = []  # list.append is safe from several threads

        def with_beside(batch: Batch) -> S:
            seen.append(batch.rows)
            end = batch.start + batch.rows
            if any(_length(column) < end for column in extra.values()):
                refuse_beside()
            more = {name: column.cut(batch.start, end) for name, column in extra.items()}
            return summarise(batch._replace(columns={**batch.columns, **more}))

        summed = with_beside if extra else summarise
        total = self._table.store.reduce_batches(want, summed, merge)
        if any(_length(column) != sum(seen) for column in extra.values()):
            refuse_beside()
        return total


def refuse_beside() -> None:
    """Raise the error that ids or `where` and the rows differ in length, without the lengths."""
    raise DataError("ids and where must have one entry for each row, but have other lengths")


def numbers(data: MemoryColumn) -> NDArray[Any]:
    """Return the numbers of a column as an array of a dtype that kernels read.

    Numbers are not copied if kernels can read them; else they are float64, NaN where missing.
    """
    if isinstance(data, Values) and data.mask is None and data.array.ndim == 1:
        array = data.array.view(np.uint8) if data.array.dtype.kind == "b" else data.array
        native = native_dtype(array.dtype)
        if native is not None and not isinstance(data.original, np.ma.MaskedArray):
            values = in_place(array, native)
            return np.ascontiguousarray(array, native) if values is None else values
    if isinstance(data, Arrow) and data.chunked.num_chunks == 1:
        chunk = data.chunked.chunk(0)
        if not chunk.null_count and chunk.type == "double":
            return np.require(chunk.to_numpy(), requirements="A")
    column = data.column("data", "numbers")
    out = np.empty(column.length, F8)
    column.fill(0, column.length, out)
    return out


def _length(column: MemoryColumn, name: str = "data") -> int:
    """Return the number of rows of a column; refuse an array of several dimensions."""
    if isinstance(column, Values) and column.array.ndim != 1:
        checks.fail_kind(name, "one-dimensional, with one entry for each row", column.original)
    return column.length


def _type_of(column: MemoryColumn) -> Any:
    """Return the type of a column, by which columns without rows can be compared."""
    if not isinstance(column, Values):
        return column.chunked.type if isinstance(column, Arrow) else None
    is_masked = column.mask is not None or isinstance(column.original, np.ma.MaskedArray)
    return column.array.dtype, is_masked, column.aware


def _of_type(kind: Any) -> MemoryColumn:
    """Return a column without rows of a type that `_type_of` has returned."""
    if kind is None:
        return Objects([])
    if not isinstance(kind, tuple):
        import pyarrow as pa

        return Arrow(pa.chunked_array([], kind))
    dtype, is_masked, is_aware = kind
    array = np.empty(0, dtype)
    if is_masked:
        return Values(array, np.ma.MaskedArray(array), np.zeros(0, np.bool_), is_aware)
    return Values(array, array, None, is_aware)


@remembered
def _of_types(types: tuple[tuple[str, Any], ...], extra: tuple[tuple[str, Any], ...]) -> Batches:
    columns = {name: _of_type(kind) for name, kind in types}
    return Batches(named(columns), {name: _of_type(kind) for name, kind in extra})
