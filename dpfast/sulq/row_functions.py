"""Functions of a row that are summed: columns, conditions, compiled code and stored values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.jit import RowLoop, is_compiled
from ..errors import DataError
from ..summaries.side_by_side import flat
from ..tables.base import RowChunk, RowSource
from ..tables.data import as_rows
from ..tables.labels import compare, labels_of
from ..tables.masked import picked
from .conditions import Condition

#: Rows whose values are in memory as float64 at a time.
BLOCK = 1 << 14
#: A vector whose computed length is below this fraction of the radius is not scaled: its true
#: length is below the radius despite rounding.
SHORT = 1 - 2.0**-20


@dataclass(frozen=True, slots=True)
class MaskedChunk:
    """Consecutive rows of the data, with the number of the first row and a mask of rows to sum."""

    rows: NDArray[Any]
    start: int
    keep: NDArray[np.bool_] | None = None

    @property
    def count(self) -> int:
        """The number of rows that are summed."""
        return len(self.rows) if self.keep is None else int(np.count_nonzero(self.keep))

    @property
    def summed(self) -> NDArray[Any]:
        """The rows that are summed."""
        return self._kept(self.rows)

    def column(self, column: Any) -> NDArray[Any]:
        """Return a column of the summed rows in the format of kernels; None is the only column."""
        rows = self.rows
        if column is not None:
            rows = rows[column] if rows.dtype.names else rows[:, column]
        return self._kept(flat(rows))

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of the summed rows, from a column with one entry for each row."""
        part = column[self.start : self.start + len(self.rows)]
        if len(part) != len(self.rows):
            raise DataError(
                "f must have one entry for each row of the data, got another number of entries"
            )
        return self._kept(part)

    def blocks(self) -> Iterator[MaskedChunk]:
        """Yield the rows of this chunk in chunks of at most `BLOCK` rows."""
        for at in range(0, max(1, len(self.rows)), BLOCK):
            keep = None if self.keep is None else self.keep[at : at + BLOCK]
            yield MaskedChunk(self.rows[at : at + BLOCK], self.start + at, keep)

    def _kept(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows if self.keep is None else kept(rows, self.keep)


def kept(rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the rows for which the mask is true."""
    simple = rows.ndim == 1 and rows.itemsize in (1, 2, 4, 8) and rows.dtype.names is None
    if simple and rows.flags.c_contiguous and rows.flags.aligned:
        return picked(rows, mask, np.empty_like(rows))
    return rows[mask]


#: The names or numbers of the columns that a function reads; None for all columns.
Columns = frozenset[Any] | None

#: No columns, for functions that do not read the row.
NONE: Columns = frozenset()


def union(several: Iterable[Columns]) -> Columns:
    """Return the union of several sets of columns, where None means all columns."""
    columns: Columns = NONE
    for more in several:
        columns = None if columns is None or more is None else columns | more
    return columns


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a row that returns `size` numbers; `compute` computes it for many rows.

    Parameters
    ----------
    compute : callable
        A function of a `MaskedChunk`. It returns an array of shape (rows,), in a dtype that kernels
        read, or of shape (rows, size) in float64.
    size : int
        How many numbers it returns for each row.
    columns : frozenset or None
        The columns of a row that are read; None for all columns.
    """

    compute: Callable[[MaskedChunk], NDArray[Any]]
    size: int = 1
    columns: Columns = None

    def values(self, chunk: MaskedChunk) -> NDArray[Any]:
        """Return the numbers for the rows of a chunk."""
        values = self.compute(chunk)
        return values.reshape(-1) if self.size == 1 else values


#: The function that is 1 for each row.
ONES = Function(lambda chunk: np.ones(chunk.count), columns=NONE)


def whole_row(source: RowSource) -> Function:
    """Return the function that is all numbers of a row."""
    names = source.dtype.names
    size = len(names) if names else source.width or 1

    def values(chunk: MaskedChunk) -> NDArray[np.float64]:
        rows = chunk.summed
        if names is None:
            return np.asarray(rows, np.float64).reshape(len(rows), size)
        return np.stack([np.asarray(rows[name], np.float64) for name in names]).T

    return Function(values, size)


def one_column(column: Any, source: RowSource) -> Function:
    """Return the function that is one column of a row."""
    index = _column_index(column, source)
    return Function(lambda chunk: chunk.column(index), columns=frozenset([index]))


def function_of(f: Any, size: Any, source: RowSource, neighbors: str) -> Function:
    """Return the checked function for a condition, compiled code or an array."""
    if isinstance(f, Function):
        return f
    if isinstance(f, Condition):
        _checked_size(size, 1)
        return _holds(f, source)
    if not is_compiled(f):
        return _stored(f, size, source, neighbors)
    loop = RowLoop(f, source.dtype, source.width)
    length = 1 if loop.length is None else loop.length
    width = _checked_size(size, None if length < 0 else length)
    return Function(lambda chunk: loop.values(chunk.summed, width), width)


def bits(f: Any, source: RowSource, neighbors: str) -> Function:
    """Return a checked function with one number for each row, which is true if it is not 0."""
    if isinstance(f, str):
        rule = "a condition, a function compiled by Numba, or an array with an entry for each row"
        checks.fail_type("f", rule, f)
    function = function_of(f, None, source, neighbors)
    if function.size != 1:
        checks.fail("f", "one number for each row", f"{function.size} numbers")
    return function


def side_by_side(functions: Sequence[Function]) -> Function:
    """Return the function whose vector has the numbers of several functions one after another."""
    size = sum(function.size for function in functions)

    def values(chunk: MaskedChunk) -> NDArray[np.float64]:
        rows = np.empty((size, chunk.count))
        for function, part in split(rows, functions):
            part[...] = function.values(chunk).T
        return rows.T

    return Function(values, size, union(function.columns for function in functions))


def split(numbers: Any, functions: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each function with its share of consecutive `numbers`."""
    at = 0
    for function in functions:
        yield function, numbers[at : at + function.size]
        at += function.size


def _holds(condition: Condition, source: RowSource) -> Function:
    """Return the function that is 1 if a condition holds, else 0; NaN if it reads a NaN."""
    indices = {name: _column_index(name, source) for name in condition.columns()}

    def values(chunk: MaskedChunk) -> NDArray[Any]:
        read = {name: chunk.column(index) for name, index in indices.items()}
        return with_nan(condition.holds(read.__getitem__), read.values())

    return Function(values, columns=frozenset(indices.values()))


def with_nan(holds: NDArray[np.bool_], columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return `holds` as numbers, with NaN where one of `columns` is NaN."""
    absent = [np.isnan(column) for column in columns if column.dtype.kind == "f"]
    if not any(missing.any() for missing in absent):
        return holds.view(np.uint8)
    values = holds.astype(np.float64)
    values[np.logical_or.reduce(absent)] = np.nan
    return values


def _stored(f: Any, size: Any, source: RowSource, neighbors: str) -> Function:
    """Return the function of values that are stored in an array, one entry for each row."""
    rule = "a name like 'count', a function compiled by Numba, or an array with an entry a row"
    if callable(f):
        checks.fail_kind("f", rule, f, ": compile it with numba.njit, or pass its values")
    stored = as_rows(f, name="f")
    if stored.dtype.names is not None or stored.length is None:
        checks.fail_kind("f", rule, f)
    if source.length is None:
        checks.fail_kind("f", "a named or compiled function, for data of unknown length", f)
    checks.entries("f", stored.length, source.length, neighbors)
    array = _held(stored, stored.length) if stored.array is None else stored.array
    if stored.length != source.length:
        array = array[:0]  # an empty array: the pass over the data refuses it as too short
    check = functools.cache(functools.partial(compare, labels_of(source, stored)))

    def values(chunk: MaskedChunk) -> NDArray[Any]:
        check()
        return flat(chunk.of(array))

    return Function(values, _checked_size(size, stored.width or 1), NONE)


def _held(source: RowSource, length: int) -> NDArray[Any]:
    """Return all rows of a source as an array."""
    array = np.empty((length,) if source.width is None else (length, source.width), source.dtype)

    def keep(chunk: RowChunk) -> None:
        array[chunk.start : chunk.start + len(chunk.rows)] = chunk.rows

    source.reduce(keep, lambda a, b: None)
    return array


def _checked_size(size_argument: Any, length: int | None) -> int:
    """Return how many numbers a function returns: `length` if it is known, else the argument."""
    if size_argument is None:
        if length is None:
            checks.fail("size", "given for a function that returns an array", None)
        return length
    size = checks.whole("size", size_argument, 1)
    if length not in (None, size):
        checks.fail("size", f"left out, or {length}, as many numbers as f returns", size)
    return size


def _column_index(column: Any, source: RowSource) -> Any:
    """Return the checked name or number of a column; None for the only column of a source."""
    names = source.dtype.names
    if names is not None:
        return checks.choice("column", column, names)
    if source.width is None:
        if column is not None:
            checks.fail("column", "left out for rows of one number", column)
        return None
    rule = f"the number of one of {source.width} columns"
    if not checks.is_whole(column):
        checks.fail_type("column", rule, column)
    if not 0 <= column < source.width:
        checks.fail("column", rule, column)
    return int(column)


def shortened(values: NDArray[Any], radius: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return vectors shortened to length `radius`; vectors with a NaN become 0, and are marked.

    Every step is one rounded operation on each number, column by column. So the result for a row
    does not depend on its position. The array is stored column by column.
    """
    x = np.array(values, np.float64, order="F")
    most, buffer = np.zeros(len(x)), np.empty(len(x))
    for column in x.T:
        np.maximum(most, np.abs(column, out=buffer), out=most)  # NaN for a row that contains NaN
    absent: NDArray[np.bool_] = np.isnan(most)
    if absent.any():
        x[absent] = most[absent] = 0.0
    largest = np.finfo(np.float64).max
    top = float(most.max(initial=0.0))
    if top > largest:
        np.clip(x, -largest, largest, out=x)
        np.minimum(most, largest, out=most)
    if top * math.sqrt(x.shape[1]) < radius * SHORT:
        return x, absent
    unit, length = np.where(most > 0, most, 1.0), np.zeros(len(x))
    for column in x.T:
        np.divide(column, unit, out=buffer)
        length += np.multiply(buffer, buffer, out=buffer)
    length = np.sqrt(length)
    with np.errstate(over="ignore"):
        long = np.flatnonzero(length * most > radius)
    if long.size:
        unit, factor = unit[long], radius / length[long]
        for column in x.T:
            column[long] = column[long] / unit * factor
    return x, absent
