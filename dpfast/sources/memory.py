"""Columns and rows in memory: any stretch of them can be written to a buffer, or read in place.

The dtype is decided by the type of what holds the numbers and never by the numbers: a column that
can have nulls is float64 even if it has none. A pass reads rows where they are, or through one
small buffer for each thread.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import ArgumentTypeError
from .array import (
    SLICE,
    ArraySource,
    ColumnSource,
    RowsSource,
    arrow_cast,
    arrow_numbers,
    arrow_values,
    threads,
)
from .base import Choosing, RowChunk, chunk_dtype, named_dtype
from .forms import Arrow, Objects, Values, column_form, unmasked
from .ids import Ids
from .untyped import fill_matrix, fill_numbers

#: ``fill(start, stop, out)`` writes rows `start` .. `stop - 1` to `out`, NaN for what is missing.
Fill = Callable[[int, int, NDArray[Any]], None]

F8 = np.dtype(np.float64)


class Column(NamedTuple):
    """Numbers in memory, one a row, or `width` of them.

    `array` is all of them where they lie, if kernels can read that; `apart` is the same where they
    need not lie side by side. `only` makes the same numbers for somebody who looks at some columns
    only; see `Choosing`.
    """

    dtype: np.dtype[Any]
    length: int
    fill: Fill
    width: int | None = None
    array: NDArray[Any] | None = None
    apart: NDArray[Any] | None = None
    only: Callable[[Collection[Any] | None], Column] | None = None


def as_column(data: Any, name: str, rule: str, width: int | None = None) -> Column:
    """Return the numbers of anything that is neither a table nor records.

    `width` is how many numbers a row has of what has no dtype, like a list, which does not say so
    itself; by default one, and no sequence of one.

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If it is of a type or shape that holds no numbers. What the numbers are decides nothing.
    """
    if isinstance(data, (ArraySource, ColumnSource, RowsSource)):
        data = _form_of(data)
    form = column_form(data, name, rule)
    if isinstance(form, Objects):
        return _untyped(form.rows, width)
    if isinstance(form, Arrow):
        return _arrow(form.column, name, rule)
    mask = form.mask
    if mask is None and isinstance(form.given, np.ma.MaskedArray):
        mask = np.broadcast_to(np.False_, form.array.shape)  # its type says that it can have nulls
    return _plain(form.array, mask, form.given, name, rule)


def _form_of(source: ArraySource | ColumnSource | RowsSource) -> Objects | Values | Arrow:
    """Return what a source in memory was made of."""
    if isinstance(source, RowsSource):
        return Objects(source.rows)
    if isinstance(source, ColumnSource):
        return Arrow(source.chunked)
    return Values(source.array, source, source.mask)


def _untyped(rows: Sequence[Any], width: int | None) -> Column:
    write = fill_numbers if width is None else fill_matrix

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        write(rows[start:stop], out)

    return Column(F8, len(rows), fill, width)


# --- NumPy --------------------------------------------------------------------------------------


def _plain(
    array: NDArray[Any], mask: NDArray[np.bool_] | None, given: Any, name: str, rule: str
) -> Column:
    if array.ndim not in (1, 2):
        checks.fail_kind(name, rule, given, f" of {array.ndim} dimensions")
    if array.ndim == 2 and not array.shape[1]:
        checks.fail_kind(name, rule, given, " without columns")
    width = array.shape[1] if array.ndim == 2 else None
    if array.dtype.kind == "O" and width is not None:
        whole = array if mask is None else unmasked(np.ma.array(array, mask=mask))
        return _untyped(whole.tolist(), width)
    native = _native(array.dtype)
    if native is None:
        checks.fail_kind(name, rule, given, f" of dtype {array.dtype}")
    if array.dtype.kind == "b":
        array = array.view(np.uint8)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        out[...] = array[start:stop]

    def masked(start: int, stop: int, out: NDArray[Any]) -> None:
        assert mask is not None
        out[...] = array[start:stop]
        out[mask[start:stop]] = np.nan

    if mask is not None:
        return Column(F8, len(array), masked, width)
    apart = array if array.dtype == native and array.flags.aligned else None
    made = Column(native, len(array), fill, width, _direct(array, native), apart)
    if width is None or apart is None:
        return made
    return made._replace(only=lambda columns: made._replace(array=apart))


def _native(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    try:
        return chunk_dtype(dtype)
    except ArgumentTypeError:
        return None


def _direct(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    flags = array.flags
    return array if array.dtype == dtype and flags.c_contiguous and flags.aligned else None


def records(array: NDArray[Any], without: str | None, name: str) -> Column:
    """Return a structured array; with `without`, all its fields but that one.

    Its fields keep their types, in native byte order.
    """
    rule = "a one-dimensional array of records without objects"
    if array.ndim != 1 or not array.dtype.names:
        checks.fail_kind(name, rule, array, f" of {array.ndim} dimensions and {array.dtype}")
    kept = [field for field in array.dtype.names if field != without]
    if not kept:
        checks.fail("ids", "the name of one column of several", without)
    if any(array.dtype[field].hasobject for field in kept):
        checks.fail_kind(name, rule, array, f" of {array.dtype}")
    if without is None:
        native = np.dtype((np.void, array.dtype.newbyteorder("=")))
        direct = _direct(array, native)
    else:
        native = np.dtype([(field, array.dtype[field].newbyteorder("=")) for field in kept])
        direct = None

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        for field in kept:
            out[field] = array[field][start:stop]

    return Column(native, len(array), fill, None, direct)


def together(columns: Sequence[Column]) -> NDArray[Any] | None:
    """Return columns at equal distances in one memory, as those of a table often are, as a matrix.

    It is valid as long as the columns are. Columns with memories of their own make no matrix:
    NumPy may touch what lies between the columns of one.
    """
    arrays = [column.apart for column in columns if column.width is None]
    first = arrays[0] if arrays else None
    if first is None or len(arrays) < len(columns):
        return None
    kinds = {
        None if array is None else (array.dtype, array.shape, array.strides, id(_owner(array)))
        for array in arrays
    }
    places = [array.__array_interface__["data"][0] for array in arrays if array is not None]
    steps = {after - before for before, after in itertools.pairwise(places)} or {F8.itemsize}
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


def side_by_side(columns: Mapping[str, Column]) -> Column:
    """Columns of one number a row and of one length, as records of float64."""
    made = list(columns.values())
    length, kind, matrix = made[0].length, named_dtype(tuple(columns)), together(made)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        if matrix is not None:
            out.view(np.float64).reshape(len(out), len(made))[...] = matrix[start:stop]
            return
        for key, column in columns.items():
            column.fill(start, stop, out[key])

    def only(names: Collection[Any] | None) -> Column:
        if names is None:
            return whole
        chosen = {name: column for name, column in columns.items() if name in names}
        return side_by_side(chosen or {next(iter(columns)): made[0]})

    direct = None
    if matrix is not None and matrix.dtype == F8 and matrix.flags.c_contiguous:
        direct = matrix.view(kind).reshape(length)
    whole = Column(kind, length, fill, None, direct, only=only)
    return whole


# --- Arrow --------------------------------------------------------------------------------------


def _arrow(whole: Any, name: str, rule: str) -> Column:
    how = arrow_numbers(whole.type)
    if how is None:
        checks.fail_kind(name, rule, whole, f" of Arrow type {whole.type}")

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        at = 0
        for part in whole.slice(start, stop - start).chunks:
            write_arrow(part, how.cast, out[at : at + len(part)])
            at += len(part)

    direct = None
    if how == (F8, None) and whole.num_chunks == 1 and not whole.null_count:
        direct = _direct(whole.chunk(0).to_numpy(zero_copy_only=True), F8)
    return Column(F8, len(whole), fill, None, direct)


def write_arrow(array: Any, cast: Any, out: NDArray[Any]) -> None:
    """Write the numbers of a `pyarrow.Array` to `out`, NaN where one is null."""
    values, present = arrow_values(array if cast is None else arrow_cast(array, cast))
    with np.errstate(invalid="ignore"):  # what stands in the place of a null is anything
        out[...] = values
    if present is not None:
        out[~present] = np.nan


# --- passes -------------------------------------------------------------------------------------

S = TypeVar("S")


class MemoryRows(Choosing):
    """A `RowSource` of rows in memory or in a memory map.

    Parameters
    ----------
    column : Column
    ids : Ids, optional
    workers : int, optional
        Threads that split the rows. If left out: ``DPFAST_NUM_THREADS``, and never so many that one
        has fewer than `SLICE` rows.

    Notes
    -----
    A chunk never holds more than `DIRECT` bytes of rows that are read where they are, or `BUFFER`
    bytes of those that are converted, so that what is made of a chunk (its labels, say) is small
    beside the data. Both are looked up on the object: a test may set them lower.
    """

    #: Bytes of a chunk that is read in place: enough that the calls for it cost nothing.
    DIRECT = 1 << 23
    #: Bytes of a conversion buffer, which stays in the cache.
    BUFFER = 1 << 19

    def __init__(self, column: Column, ids: Ids | None = None, workers: int | None = None) -> None:
        self._workers = workers
        self.dtype = column.dtype
        self.width = column.width
        self.length: int | None = column.length
        self.array = column.array
        self._column = column
        self._ids = ids
        rows = column.length
        if workers is None:
            most = threads()
            self._parts = 1 if rows < 2 * SLICE else min(most, rows // SLICE)
        else:
            self._parts = max(1, min(checks.whole("workers", workers, 1), rows))

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        rows, parts = self._column.length, self._parts
        edges = [rows * i // parts for i in range(parts + 1)]

        def part(i: int) -> S:
            with np.errstate(all="ignore"):  # a thread does not have the settings of its caller
                return functools.reduce(merge, map(summarise, self._chunks(edges[i], edges[i + 1])))

        if self._ids is not None:
            self._ids.check_end(rows)
        if parts == 1:
            return part(0)
        from concurrent.futures import ThreadPoolExecutor  # not everybody who imports needs it

        with ThreadPoolExecutor(parts) as pool:
            return functools.reduce(merge, pool.map(part, range(parts)))

    def only(self, columns: Collection[Any] | None) -> MemoryRows:
        if self._column.only is None:
            return self
        return MemoryRows(self._column.only(columns), self._ids, self._workers)

    def _chunks(self, start: int, stop: int) -> Iterator[RowChunk]:
        columns = () if self.width is None else (self.width,)
        each = max(1, self.dtype.itemsize) * (self.width or 1)
        array = self.array
        step = max(1, (self.BUFFER if array is None else self.DIRECT) // each)
        shape = (min(step, stop - start), *columns)
        buffer = np.empty(shape if array is None else 0, self.dtype)
        for at in range(start, max(stop, start + 1), step):
            end = min(at + step, stop)
            if array is None:
                rows: NDArray[Any] = buffer[: end - at]
                self._column.fill(at, end, rows)
            else:
                rows = array[at:end]
            yield RowChunk(rows, at, None if self._ids is None else self._ids.of(at, end))
