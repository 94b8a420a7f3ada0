"""Rows of one or several numbers, as an estimator reads them.

A `Source` is one column of numbers without its nulls. Here every row keeps its position, because
blocks are a function of row numbers. A missing number is NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import DataError
from .base import (
    Choosing,
    Chunk,
    RowChunk,
    RowSource,
    Source,
    WithRows,
    chunk_dtype,
    named_dtype,
)
from .foreign import foreign_rows
from .forms import Arrow, Objects, Readable, Values, column_form
from .ids import with_ids
from .labels import aligned, labels_of
from .mapped import MappedColumn
from .memory import F8, Column, MemoryRows, MemorySource
from .words import RULE as TEXT
from .words import Words, matched, words_column

RULE = "rows of numbers"


def rows_of(
    table: Readable,
    ids: Any = None,
    workers: int | None = None,
    name: str = "data",
    width: int | None = None,
) -> RowSource:
    """Return the rows of data of any type as a source; see `data.as_rows`."""
    if isinstance(table, WithRows):
        return table.rows(ids, workers)
    if isinstance(table, RowSource):
        return with_ids(table, ids)
    if not isinstance(table, (Values, Arrow, MemorySource)):
        return with_ids(foreign_rows(table), ids)
    return labeled(MemoryRows(table.column(name, RULE, width), workers), ids, table)


def coded_of(
    table: Readable, words: Sequence[Words | None], name: str = "data", ids: Any = None
) -> RowSource:
    """Return the rows of data as a source, with each text replaced by its index in `words`."""
    if isinstance(table, WithRows):
        return table.coded(words, ids)
    if isinstance(table, Values) and table.array.ndim == 2:
        indices = range(table.array.shape[1])
        columns = {str(j): column_form(table.original[:, j], name, TEXT) for j in indices}
        columns_read = of_columns(columns, name, matched(list(columns), words))
    else:
        (column_words,) = matched([name], words).values()
        columns_read = words_column(table, column_words, name)
    return labeled(MemoryRows(columns_read), ids, table)


def labeled(rows: MemoryRows, ids: Any, table: Any) -> RowSource:
    """Return rows with their pandas index, if any, and with their ids, if given.

    A pass compares this index with all other indexes.
    """
    labels = labels_of(table, ids)
    rows.row_index = labels[0] if labels else None
    return cast(RowSource, aligned(with_ids(rows, ids), labels))


def only(source: RowSource, columns: Collection[Any] | None) -> RowSource:
    """Return the rows of a source for a pass that reads only `columns`; see `Choosing`."""
    return source.only(columns) if isinstance(source, Choosing) else source


def of_columns(
    columns: Mapping[str, Objects | Values | Arrow],
    name: str,
    words: Mapping[str, Words] | None = None,
) -> Column:
    """Return columns as records of float64, with each text replaced by its index in `words`.

    If columns have different lengths, the pass raises an error.
    """
    if not columns:
        checks.fail_kind(name, "a table with at least one column of numbers", columns)
    rule, columns_read = "numbers (choose other columns, or pass this one as ids)", {}
    if words:
        rule = "numbers, or have categories that are text"
    for key, typed in columns.items():
        title = f"column {key!r} of {name}"
        if words and key in words:
            columns_read[key] = words_column(typed, words[key], title)
            continue
        columns_read[key] = typed.column(title, rule)
        if isinstance(typed, Values) and columns_read[key].width is not None:
            checks.fail_kind(title, "one number a row", typed.original)
    lengths = [column.length for column in columns_read.values()]
    if len(set(lengths)) == 1:
        return side_by_side(columns_read)
    return Column(named_dtype(tuple(columns_read)), lengths[0], refuse_columns)


def together(columns: Sequence[Column]) -> NDArray[Any] | None:
    """Return columns that are stored at equal distances in one array as a matrix; else None.

    The matrix is valid as long as the columns are. Columns with separate memory do not form a
    matrix, because NumPy may access the memory between the columns of a matrix.
    """
    arrays = [column.aligned_values for column in columns if column.width is None]
    first = arrays[0] if arrays else None
    if first is None or len(arrays) < len(columns):
        return None
    kinds = {
        None if array is None else (array.dtype, array.shape, array.strides, id(_owner(array)))
        for array in arrays
    }
    addresses = [array.__array_interface__["data"][0] for array in arrays if array is not None]
    steps = {after - before for before, after in itertools.pairwise(addresses)} or {F8.itemsize}
    if len(kinds) > 1 or len(steps) > 1:
        return None
    shape, strides = (len(first), len(arrays)), (first.strides[0], steps.pop())
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def _owner(array: NDArray[Any]) -> Any:
    """Return the object that owns the memory of an array."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return owner


def refuse_columns(*_: Any) -> NoReturn:
    """Raise the error that columns differ in length, without the lengths."""
    raise DataError("columns of a table must have the same number of rows, but these differ")


def side_by_side(columns: Mapping[str, Column]) -> Column:
    """Return columns of equal length, one number a row each, as records of float64."""
    sources = list(columns.values())
    length, kind, matrix = sources[0].length, named_dtype(tuple(columns)), together(sources)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        if matrix is not None:
            out.view(np.float64).reshape(len(out), len(sources))[...] = matrix[start:stop]
            return
        for key, column in columns.items():
            column.fill(start, stop, out[key])

    def only(names: Collection[Any] | None) -> Column:
        if names is None:
            return whole
        chosen = {name: column for name, column in columns.items() if name in names}
        return side_by_side(chosen or {next(iter(columns)): sources[0]})

    direct = None
    if matrix is not None and matrix.dtype == F8 and matrix.flags.c_contiguous:
        direct = matrix.view(kind).reshape(length)
    whole = Column(kind, length, fill, None, direct, only=only)
    return whole


def only_column(rows: Any) -> Source:
    """Return the only column of a source of rows, as a source."""
    names = rows.dtype.names
    return column_of(rows, names[0] if names else 0)


def column_of(rows: RowSource, key: str | int) -> Source:
    """Return one column of a source of rows, in which a missing number is NaN and no null."""
    dtype = chunk_dtype(rows.dtype[key] if isinstance(key, str) else rows.dtype)
    return MappedColumn(rows, partial(_column, key, dtype), dtype=dtype)


def _column(key: str | int, dtype: np.dtype[Any], chunk: RowChunk) -> Chunk:
    rows: NDArray[Any] = chunk.rows
    if isinstance(key, str):
        rows = rows[key]
    elif rows.ndim > 1:
        rows = rows[:, key]
    return Chunk(np.ascontiguousarray(rows, dtype), chunk.start)
