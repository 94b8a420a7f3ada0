"""Data in memory: NumPy arrays of any real dtype and layout, Arrow columns, and objects.

Every column can be read in two ways: as a `Source`, which leaves nulls out, and as a `Column`,
where nulls are NaN. The dtype depends on the type of the container, and never on the numbers. So a
`Column` that could have nulls is float64, even if it has none. A pass reads rows in place, or
through one small buffer for each thread. No array is copied as a whole.
"""

from __future__ import annotations

import mmap
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.threads import threads
from .._kernels.tables import lies_in_place
from ..errors import ArgumentError, ArgumentTypeError
from .arrow import Numbers, arrow_cast, arrow_chunk, arrow_numbers, write_arrow
from .base import (
    Choosing,
    Chunk,
    RandomWords,
    RowChunk,
    S,
    chunk_dtype,
)
from .threads import in_parts

#: ``fill(start, stop, out)`` writes rows `start` to `stop - 1` to `out`, with NaN for missing
#: values.
Fill = Callable[[int, int, NDArray[Any]], None]

F8 = np.dtype(np.float64)

#: Rows of a conversion buffer (for another byte order, strides, masks): half a megabyte of float64.
BLOCK = 1 << 16
#: With fewer numbers, a second thread costs more than it saves.
SLICE = 1 << 21
#: Consecutive values that are sampled together from a memory-mapped file, because each jump costs a
#: page fault.
CLUSTER = 32


class Column(NamedTuple):
    """Numbers in memory, one for each row, or `width` numbers for each.

    `array` holds all numbers, if kernels can read them without a copy. `aligned_values` holds them
    if they need not lie side by side. `only` returns a `Column` for a pass that reads some columns
    only; see `Choosing`.
    """

    dtype: np.dtype[Any]
    length: int
    fill: Fill
    width: int | None = None
    array: NDArray[Any] | None = None
    aligned_values: NDArray[Any] | None = None
    only: Callable[[Collection[Any] | None], Column] | None = None


# --- one column ---------------------------------------------------------------------------------


class MemorySource:
    """One column in memory, read as a `Source` without nulls or as a `Column` with NaN."""

    dtype: np.dtype[Any] = F8
    nulls: int
    length: int
    workers = 1

    @abstractmethod
    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        """Return the rows of this column, NaN where one is null; `width` is for lists of rows.

        Errors say that the argument `name` must be `rule`.
        """

    @abstractmethod
    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        """Yield the rows `start` .. `stop` - 1 in chunks, and one chunk at least."""

    @abstractmethod
    def drawn(self, count: int, words: RandomWords) -> NDArray[Any]:
        """Return about `count` random values of a column that is not empty."""

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return in_parts(self.length, self.workers, self.chunks, summarise, merge)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return self.drawn(count, words) if self.length else np.empty(0, self.dtype)


class ArraySource(MemorySource):
    """A source of a one-dimensional array, or of a masked array whose masked rows are null."""

    def __init__(
        self, array: NDArray[Any], mask: NDArray[np.bool_] | None = None, name: str = "data"
    ) -> None:
        if array.ndim != 1:
            raise ArgumentError(
                f"{name} must be one-dimensional, got an array of {array.ndim} dimensions"
            )
        if array.dtype.kind == "b":
            array = array.view(np.uint8)
        in_place = lies_in_place(array)
        self.dtype = array.dtype if in_place else chunk_dtype(array.dtype, name)
        self.array, self.mask, self.length = array, mask, array.size
        self.workers = 1 if self.length < 2 * SLICE else split(self.length)
        #: Whether kernels can read the array without a copy.
        self.direct = in_place and mask is None
        #: Whether one thread reads the whole array as one chunk, without a copy.
        self.at_once = self.direct and self.workers == 1

    @property
    def nulls(self) -> int:  # type: ignore[override]
        return 0 if self.mask is None else int(np.count_nonzero(self.mask))

    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        return array_column(self.array, self.mask)

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        if self.at_once:
            with np.errstate(all="ignore"):
                return summarise(Chunk(self.array, 0))
        return super().reduce(summarise, merge)

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        if self.direct:
            yield Chunk(self.array[start:stop], start)
            return
        buffer = np.empty(min(BLOCK, stop - start), self.dtype)
        for at in range(start, max(stop, start + 1), BLOCK):
            rows = self.array[at : min(at + BLOCK, stop)]
            values = buffer[: len(rows)]
            values[...] = rows
            if self.mask is None:
                yield Chunk(values, at)
            else:
                present = ~self.mask[at : at + len(rows)]
                kept = values[present]
                nulls = len(rows) - len(kept)
                yield Chunk(kept, at, nulls, present if nulls else None)

    def drawn(self, count: int, words: RandomWords) -> NDArray[Any]:
        """Return one value at a random offset of each of `count` equal stretches.

        Such a sample varies no more than an independent one, and reads memory in one direction. In
        a memory-mapped file, `CLUSTER` values of one page are taken from each stretch.
        """
        n = self.length
        if _mapped(self.array):
            starts = _strata(n, max(1, count // CLUSTER), words)
            offsets = np.arange(CLUSTER) * (4096 // CLUSTER // self.array.itemsize)
            index = (starts[:, None] + offsets).clip(None, n - 1).ravel()
        else:
            index = _strata(n, count, words)
        if self.mask is not None:
            index = index[~self.mask[index]]
        return np.asarray(self.array[index], self.dtype)


class ColumnSource(MemorySource):
    """A source of an Arrow column (`pyarrow.ChunkedArray`), read from its buffers."""

    def __init__(self, chunked: Any, name: str = "data", how: Numbers | None = None) -> None:
        how = arrow_numbers(chunked.type) if how is None else how
        if how is None:
            raise ArgumentTypeError(
                f"{name} must be a column of integers, floats, booleans or decimals, "
                f"got {chunked.type}"
            )
        self.chunked = chunked
        self.how = how
        self.dtype = how.dtype
        self.length = len(chunked)

    @property
    def nulls(self) -> int:  # type: ignore[override]
        return int(self.chunked.null_count)

    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        def fill(start: int, stop: int, out: NDArray[Any]) -> None:
            at = 0
            for part in self.chunked.slice(start, stop - start).chunks:
                write_arrow(part, self.how.cast, out[at : at + len(part)])
                at += len(part)

        direct = None
        if self.how == (F8, None) and self.chunked.num_chunks == 1 and not self.nulls:
            direct = in_place(self.chunked.chunk(0).to_numpy(zero_copy_only=True), F8)
        return Column(F8, self.length, fill, None, direct)

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        at = start
        for array in self.chunked.slice(start, stop - start).chunks:
            whole = self.how.cast is None and not array.null_count
            rows = max(1, len(array)) if whole else BLOCK
            for first in range(0, len(array), rows):
                yield self._chunk(array.slice(first, rows), at + first)
            at += len(array)
        if at == start:
            yield Chunk(np.empty(0, self.dtype), start)

    def _chunk(self, chunk: Any, start: int) -> Chunk:
        if self.how.cast is not None:
            chunk = arrow_cast(chunk, self.how.cast)
        return arrow_chunk(chunk, start, self.dtype)

    def drawn(self, count: int, words: RandomWords) -> NDArray[Any]:
        import pyarrow as pa

        taken = self.chunked.take(pa.array(_strata(self.length, count, words)))
        samples = [self._chunk(array, 0).values for array in taken.chunks]
        return np.concatenate(samples or [np.empty(0, self.dtype)])


def _strata(n: int, count: int, words: RandomWords) -> NDArray[np.int64]:
    """Return a random index in each of `count` nearly equal stretches of range(n)."""
    count = min(count, n)
    # Random bits cost more than everything else here, and a short stretch needs only a few.
    bits = 16 if n // count < 1 << 12 else 32
    starts = np.arange(0, count << bits, 1 << bits)
    starts += words(count * bits // 64 + 1).view(f"u{bits // 8}")[:count].astype(np.int64)
    index = (starts * (n / count * 2.0**-bits)).astype(np.int64)
    index[-1] = min(index[-1], n - 1)
    return index


def _mapped(array: NDArray[Any]) -> bool:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


def split(numbers: int) -> int:
    """Return the number of threads among which to split a pass over `numbers` numbers."""
    return 1 if numbers < 2 * SLICE else min(threads(), numbers // SLICE)


# --- rows ---------------------------------------------------------------------------------------


def array_column(array: NDArray[Any], mask: NDArray[np.bool_] | None) -> Column:
    """Return the numbers of an array of one or two dimensions as a `Column`."""
    native = chunk_dtype(array.dtype)
    width = array.shape[1] if array.ndim == 2 else None
    if array.dtype.kind == "b":
        array = array.view(np.uint8)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        out[...] = array[start:stop]
        if mask is not None:
            out[mask[start:stop]] = np.nan

    if mask is not None:
        return Column(F8, len(array), fill, width)
    aligned_values = array if array.dtype == native and array.flags.aligned else None
    column = Column(native, len(array), fill, width, in_place(array, native), aligned_values)
    if width is None or aligned_values is None:
        return column
    return column._replace(only=lambda columns: column._replace(array=aligned_values))


def records(array: NDArray[Any], without: str | None, name: str) -> Column:
    """Return the rows of a structured array, without the field `without` if one is named.

    The fields keep their types, in native byte order.
    """
    rule = "a one-dimensional array of records without objects"
    if array.ndim != 1 or not array.dtype.names:
        checks.fail_kind(name, rule, array, f" of {array.ndim} dimensions and {array.dtype}")
    kept = [field for field in array.dtype.names if field != without]
    if not kept:
        needed = "one of several columns, because no other column would be left as data"
        checks.fail("ids", needed, without)
    if any(array.dtype[field].hasobject for field in kept):
        checks.fail_kind(name, rule, array, f" of {array.dtype}")
    if without is None:
        native = np.dtype((np.void, array.dtype.newbyteorder("=")))
        direct = in_place(array, native)
    else:
        native = np.dtype([(field, array.dtype[field].newbyteorder("=")) for field in kept])
        direct = None

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        for field in kept:
            out[field] = array[field][start:stop]

    return Column(native, len(array), fill, None, direct)


def in_place(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return an array if kernels can read it as `dtype` without a copy; else None."""
    flags = array.flags
    return array if array.dtype == dtype and flags.c_contiguous and flags.aligned else None


class MemoryRows(Choosing):
    """A `RowSource` of rows in memory or in a memory map.

    Parameters
    ----------
    column : Column
    workers : int, optional
        The number of threads. If left out, it is ``DPFAST_NUM_THREADS``, or fewer, so that each
        thread has at least `SLICE` rows.

    Notes
    -----
    A chunk holds at most `DIRECT` bytes of rows that are read in place, or `BUFFER` bytes of rows
    that are converted. So results for a chunk (such as its labels) are small compared with the
    data. A test may set lower values, because both are attributes of the object.
    """

    #: Bytes of a chunk that is read without a copy: so many that calls cost little.
    DIRECT = 1 << 23
    #: Bytes of a conversion buffer: so few that it stays in the cache.
    BUFFER = 1 << 19
    #: The index of a pandas table.
    row_index: Any = None

    def __init__(self, column: Column, workers: int | None = None) -> None:
        self._workers = workers
        self.dtype = column.dtype
        self.width = column.width
        self.length: int | None = column.length
        self.array = column.array
        self._column = column
        if workers is None:
            fields = len(column.dtype.names or ()) or column.width or 1
            self._parts = split(column.length * fields)
        else:
            self._parts = max(1, min(checks.whole("workers", workers, 1), column.length))

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        return in_parts(self._column.length, self._parts, self._chunks, summarise, merge)

    def only(self, columns: Collection[Any] | None) -> MemoryRows:
        if self._column.only is None:
            return self
        return MemoryRows(self._column.only(columns), self._workers)

    def _chunks(self, start: int, stop: int) -> Iterator[RowChunk]:
        columns = () if self.width is None else (self.width,)
        row_bytes = max(1, self.dtype.itemsize) * (self.width or 1)
        array = self.array
        step = max(1, (self.BUFFER if array is None else self.DIRECT) // row_bytes)
        shape = (min(step, stop - start), *columns)
        buffer = np.empty(shape if array is None else 0, self.dtype)
        for at in range(start, max(stop, start + 1), step):
            end = min(at + step, stop)
            if array is None:
                rows: NDArray[Any] = buffer[: end - at]
                self._column.fill(at, end, rows)
            else:
                rows = array[at:end]
            yield RowChunk(rows, at)
