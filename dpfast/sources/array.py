"""Data in memory: NumPy arrays of any real dtype, stride and byte order, and Arrow columns."""

from __future__ import annotations

import functools
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import ArgumentError, ArgumentTypeError, DataError
from .base import Chunk, RandomWords, Source, WithRows, chunk_dtype
from .forms import Arrow, Form, Named, Objects, Values
from .untyped import fill_numbers

S = TypeVar("S")

COLUMN = "a one-dimensional array of numbers"

#: Rows of a conversion buffer (another byte order, strides, masks): half a megabyte of float64.
BLOCK = 1 << 16
#: Rows below which a second thread costs more than it saves.
SLICE = 1 << 21
#: Consecutive values taken at each place of a memory-mapped file: a place costs a page fault.
CLUSTER = 32


def threads() -> int:
    """Threads of a pass over an array in memory: ``DPFAST_NUM_THREADS``, by default 1.

    One core of many machines already takes all the memory bandwidth, and a library that starts
    threads unasked is a nuisance inside a pool of processes.
    """
    text = os.environ.get("DPFAST_NUM_THREADS", "").strip()
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1024):
        checks.fail("DPFAST_NUM_THREADS", "an integer from 1 to 1024", text)
    return int(text)


def _mapped(array: NDArray[Any]) -> bool:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


class ArraySource:
    """A one-dimensional array, or a masked array whose masked rows are null.

    Contiguous native arrays are read where they are. Others are converted block by block through
    one small buffer for each thread, so no array is ever copied whole.
    """

    __slots__ = ("array", "dtype", "length", "mask", "workers")

    def __init__(
        self, array: NDArray[Any], mask: NDArray[np.bool_] | None = None, name: str = "data"
    ) -> None:
        if array.ndim != 1:
            raise ArgumentError(
                f"{name} must be one-dimensional, got an array of {array.ndim} dimensions"
            )
        self.dtype = chunk_dtype(array.dtype, name)
        if array.dtype.kind == "b":
            array = array.view(np.uint8)
        self.array = array
        self.mask = mask
        self.length: int = array.shape[0]
        self.workers = 1 if self.length < 2 * SLICE else min(threads(), self.length // SLICE)

    @property
    def nulls(self) -> int:
        return 0 if self.mask is None else int(np.count_nonzero(self.mask))

    @property
    def direct(self) -> bool:
        """Whether the kernels can read the array where it is."""
        return (
            self.mask is None
            and self.array.dtype == self.dtype
            and bool(self.array.flags.c_contiguous)
            and bool(self.array.flags.aligned)
        )

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        count = self.workers
        if count == 1:
            return self._part(0, self.length, summarise, merge)
        from concurrent.futures import ThreadPoolExecutor  # not everybody who imports needs it

        edges = [self.length * i // count for i in range(count + 1)]
        with ThreadPoolExecutor(count) as pool:
            parts = pool.map(
                lambda i: self._part(edges[i], edges[i + 1], summarise, merge), range(count)
            )
            return functools.reduce(merge, parts)

    def _part(
        self, start: int, stop: int, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]
    ) -> S:
        if self.direct:
            return summarise(Chunk(self.array[start:stop], start))
        return functools.reduce(merge, map(summarise, self._blocks(start, stop)))

    def _blocks(self, start: int, stop: int) -> Iterator[Chunk]:
        buffer = np.empty(min(BLOCK, stop - start), self.dtype)
        for at in range(start, max(stop, start + 1), BLOCK):
            rows = self.array[at : min(at + BLOCK, stop)]
            values = buffer[: rows.shape[0]]
            values[...] = rows
            if self.mask is None:
                yield Chunk(values, at)
            else:
                present = ~self.mask[at : at + rows.shape[0]]
                kept = values[present]
                nulls = rows.shape[0] - kept.shape[0]
                yield Chunk(kept, at, nulls, present if nulls else None)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """Return one value at a random place of each of `count` equal stretches.

        That varies no more than independent places do, and walks the memory in one direction.
        In a memory-mapped file it is one page of each stretch and `CLUSTER` places in it.
        """
        n = self.length
        if n == 0:
            return np.empty(0, self.dtype)
        if _mapped(self.array):
            places = _strata(n, max(1, count // CLUSTER), words)
            offsets = np.arange(CLUSTER) * (4096 // CLUSTER // self.array.itemsize)
            index = np.minimum(places[:, None] + offsets, n - 1).ravel()
        else:
            index = _strata(n, count, words)
        if self.mask is not None:
            index = index[~self.mask[index]]
        values: NDArray[Any] = self.array[index].astype(self.dtype, copy=False)
        return values


def _strata(n: int, count: int, words: RandomWords) -> NDArray[np.int64]:
    """Return a random index in each of `count` nearly equal stretches of range(n)."""
    count = min(count, n)
    # Random bits cost more than all else here, and a short stretch needs but a few of them.
    short = n // count < 1 << 12
    bits = 16 if short else 32
    place = np.arange(0, count << bits, 1 << bits)
    place += words(count * bits // 64 + 1).view(f"u{bits // 8}")[:count].astype(np.int64)
    index = (place * (n / count * 2.0**-bits)).astype(np.int64)
    index[-1] = min(index[-1], n - 1)
    return index


class Numbers(NamedTuple):
    """How an Arrow column is read: its dtype, and the Arrow type to convert to first, if any."""

    dtype: np.dtype[Any]
    cast: Any


def arrow_numbers(kind: Any) -> Numbers | None:
    """Return how to read a column of Arrow type `kind`; None if it holds no numbers.

    Integers and floats stay what they are. Booleans become uint8. Decimals become float64, row by
    row, and so does a column of nulls only. A dictionary of numbers is looked up.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) and not types.is_dictionary(kind.value_type):
        plain = arrow_numbers(kind.value_type)
        return plain and Numbers(plain.dtype, plain.cast or kind.value_type)
    if types.is_boolean(kind):
        return Numbers(np.dtype(np.uint8), pa.uint8())
    if types.is_decimal(kind) or types.is_null(kind):
        return Numbers(np.dtype(np.float64), pa.float64())
    if types.is_integer(kind) or types.is_floating(kind):
        return Numbers(chunk_dtype(np.dtype(kind.to_pandas_dtype())), None)
    return None


class ColumnSource:
    """An Arrow column in memory (`pyarrow.ChunkedArray`), read through its own buffers."""

    def __init__(self, chunked: Any, name: str = "data") -> None:
        how = arrow_numbers(chunked.type)
        if how is None:
            raise ArgumentTypeError(
                f"{name} must be a column of integers, floats, booleans or decimals, "
                f"got {chunked.type}"
            )
        self.chunked = chunked
        self.dtype, self._cast = how
        self.length: int = len(chunked)

    @property
    def nulls(self) -> int:
        return int(self.chunked.null_count)

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return functools.reduce(merge, map(summarise, self._pieces()))

    def _pieces(self) -> Iterator[Chunk]:
        at = 0
        for array in self.chunked.chunks:
            whole = self._cast is None and not array.null_count
            rows = max(1, len(array)) if whole else BLOCK
            for start in range(0, len(array), rows):
                yield self._chunk(array.slice(start, rows), at + start)
            at += len(array)
        if at == 0:
            yield Chunk(np.empty(0, self.dtype), 0)

    def _chunk(self, piece: Any, start: int) -> Chunk:
        if self._cast is not None:
            piece = arrow_cast(piece, self._cast)
        return arrow_chunk(piece, start, self.dtype)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        import pyarrow as pa

        if self.length == 0:
            return np.empty(0, self.dtype)
        index = pa.array(_strata(self.length, count, words))
        taken = self.chunked.take(index)
        found = [self._chunk(array, 0).values for array in taken.chunks]
        return np.concatenate(found or [np.empty(0, self.dtype)])


def arrow_cast(array: Any, kind: Any) -> Any:
    """Return a `pyarrow.Array` of another type, or a `DataError` that repeats no row."""
    import pyarrow as pa

    try:
        return array.cast(kind)
    except pa.ArrowException:
        pass  # its message may quote a row, so it must not survive, not even as a context
    raise DataError("a column must stand in its dictionary, and does not")


def arrow_chunk(array: Any, start: int, dtype: np.dtype[Any]) -> Chunk:
    """Return a `pyarrow.Array` of numbers as a chunk, without a copy when none is null."""
    values, present = arrow_values(array)
    if present is not None:
        values = values[present]
    nulls = len(array) - len(values)
    return Chunk(np.ascontiguousarray(values, dtype), start, nulls, present)


def arrow_values(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the values of a `pyarrow.Array` of numbers where they lie, and which of them are not
    null.

    None if all are; what stands in the place of a null is anything. Values that lie where kernels
    cannot read them, as Arrow allows, are copied.
    """
    if not array.null_count:
        return np.require(array.to_numpy(zero_copy_only=True), requirements="A"), None
    bits = array.is_valid()  # three times as fast as pyarrow's own conversion and filter
    whole = np.unpackbits(np.frombuffer(bits.buffers()[1], np.uint8), bitorder="little")
    present = whole[bits.offset : bits.offset + len(bits)].view(np.bool_)
    kind = np.dtype(array.type.to_pandas_dtype())  # of which the buffer need not hold whole ones
    values = np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)
    return np.require(values, requirements="A"), present


class RowsSource:
    """One untyped column, as float64 and NaN; nothing is read before the first pass."""

    dtype: np.dtype[Any] = np.dtype(np.float64)
    nulls = 0

    def __init__(self, rows: Sequence[Any]) -> None:
        self.rows = rows
        self.length: int = len(rows)

    @functools.cached_property
    def _values(self) -> ArraySource:
        values = np.empty(self.length)
        fill_numbers(self.rows, values)
        return ArraySource(values)

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return self._values.reduce(summarise, merge)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return self._values.sample(count, words)


def source_of(form: Form, name: str = "data") -> Source:
    """Return the source of one column; a source is taken as it is."""
    if isinstance(form, Values):
        return ArraySource(form.array, form.mask, name)
    if isinstance(form, Objects):
        return RowsSource(form.rows)
    if isinstance(form, Arrow):
        return ColumnSource(form.column, name)
    if isinstance(form, (ArraySource, Source)):  # in this order: a protocol is slow to tell
        return form
    if isinstance(form, WithRows):
        form.refuse_column(name)
    if isinstance(form, Named):
        checks.fail_kind(name, "one column, not a table", form.given)
    checks.fail_kind(name, COLUMN, form)
