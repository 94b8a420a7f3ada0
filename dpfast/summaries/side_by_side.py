"""Passes over several columns of the same rows, a stretch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial, reduce
from threading import Lock
from typing import Any, NoReturn, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..tables import Chunk, Source, chunk_dtype
from ..tables.base import RowChunk, RowSource
from ..tables.engine import of_engine
from ..tables.masked import MaskedSource, picked, refuse_mask
from ..tables.memory import Column


class Sums(Protocol):
    """The interface of exact sums that can be merged; `read` is the number of rows read."""

    @property
    def read(self) -> int: ...
    def merge(self, other: Self) -> Self: ...


S = TypeVar("S", bound=Sums)

#: The counts of each column, and the number of rows read.
Tally: TypeAlias = tuple[list[NDArray[np.int64]], int]
#: Rows of a stretch: few enough that all columns of it stay in a cache.
BLOCK = 1 << 13
#: If a row has at least this many bytes, a mask is applied to the row instead of to each column.
LINE = 64


def stretches(
    chunk: RowChunk, where: NDArray[np.bool_] | None, weights: Column | None = None
) -> Iterator[tuple[list[NDArray[Any]], int]]:
    """Yield the columns of each stretch of a chunk, and the number of rows read.

    Columns are views. Each is made `flat` only when it is processed, so that only one copy at a
    time is in a cache. `weights` is one more column of the same rows, in memory, and comes last.
    """
    rows = chunk.rows
    names = rows.dtype.names
    wide = abs(rows.strides[0]) > LINE
    for at in range(0, max(1, len(rows)), BLOCK):
        part = rows[at : at + BLOCK]
        read = len(part)
        start = chunk.start + at
        more = [] if weights is None else [beside_of(weights, start, start + read)]
        keep = None if where is None else where[start : start + read]
        if keep is not None:
            if len(keep) != read:
                refuse_mask()
            part = part[keep] if wide else part
            more = [_kept(column, keep) for column in more]
        if names is not None:
            columns = [part[name] for name in names]
        else:
            columns = [part] if part.ndim == 1 else list(part.T)
        if keep is not None and not wide:
            columns = [_kept(column, keep) for column in columns]
        yield [*columns, *more], read


def summed(
    source: RowSource,
    where: NDArray[np.bool_] | None,
    part: Callable[[list[NDArray[Any]], int], list[S]],
    weights: Column | None = None,
) -> list[S]:
    """Return the merged sums that ``part(columns, read)`` returns for each stretch of rows.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """

    def merge(some: list[S], others: list[S]) -> list[S]:
        return [a.merge(b) for a, b in zip(some, others, strict=True)]

    def summarise(chunk: RowChunk) -> list[S]:
        return reduce(merge, (part(*stretch) for stretch in stretches(chunk, where, weights)))

    total = source.reduce(summarise, merge)
    if where is not None and total[0].read != len(where):
        refuse_mask()
    return total


def tallied(
    source: RowSource | list[Source],
    where: NDArray[np.bool_] | None,
    sizes: Sequence[int],
    add: Callable[[int, NDArray[Any], NDArray[np.int64]], None],
) -> list[NDArray[np.int64]]:
    """Return counts for each column j, to which ``add(j, values, room)`` adds its values.

    The last count of a column is its number of missing values. All threads add to the same counts;
    each partition of an engine has its own.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """

    def rooms() -> list[NDArray[np.int64]]:
        return [np.zeros(size, np.int64) for size in sizes]

    def of_column(j: int, chunk: Chunk) -> NDArray[np.int64]:
        room = np.zeros(sizes[j], np.int64)
        add(j, chunk.values, room)
        room[-1] += chunk.nulls
        return room

    if isinstance(source, list):
        masked = source if where is None else [MaskedSource(rows, where) for rows in source]
        return [masked[j].reduce(partial(of_column, j), np.add) for j in range(len(sizes))]
    shared = None if of_engine(source) else rooms()
    locks = [Lock() for _ in shared or ()]

    def summarise(chunk: RowChunk) -> Tally:
        tallies, looked = rooms() if shared is None else shared, 0
        for columns, read in stretches(chunk, where):
            looked += read
            for j, room in enumerate(tallies):
                with locks[j] if locks else nullcontext():
                    add(j, flat(columns[j]), room)
        return tallies, looked

    def merge(first: Tally, other: Tally) -> Tally:
        # An engine may merge the same two tallies twice, so neither is changed.
        both = (
            [a + b for a, b in zip(first[0], other[0], strict=True)] if shared is None else shared
        )
        return both, first[1] + other[1]

    tallies, looked = source.reduce(summarise, merge)
    if where is not None and looked != len(where):
        refuse_mask()
    return tallies


def _kept(column: NDArray[Any], keep: NDArray[np.bool_]) -> NDArray[Any]:
    values = flat(column)
    return picked(values, keep, np.empty_like(values))


def flat(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as a contiguous, aligned array of a dtype that kernels read."""
    kind = chunk_dtype(column.dtype)
    flags = column.flags
    if column.dtype == kind and flags.c_contiguous and flags.aligned:
        return column
    return np.array(column, kind)


def beside_of(column: Column, start: int, stop: int, name: str = "weights") -> NDArray[Any]:
    """Return some rows of a column, in a dtype that kernels read. `name` is for error messages."""
    if stop > column.length:
        refuse_length(name)
    if column.array is not None:
        return column.array[start:stop]
    out = np.empty(stop - start, column.dtype)
    column.fill(start, stop, out)
    return out


def refuse_length(name: str = "weights") -> NoReturn:
    """Raise the error for an argument, such as weights, without one entry for each row."""
    raise DataError(f"{name} must have one entry for each row, but has another number of entries")
