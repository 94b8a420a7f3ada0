"""Passes over rows in memory: where they are, or through one small buffer for each thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .array import SLICE, threads
from .ids import Ids
from .row_source import Choosing, RowChunk
from .stretches import Column

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
