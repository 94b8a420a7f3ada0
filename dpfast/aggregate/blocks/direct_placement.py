"""Rows of a source that are written directly to their places in one sorted copy.

Random labels and fixed ranges are functions of row numbers. So if all rows count and their number
is known, their places are known before a row is read. Chunks may come in any order and from
several threads.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._kernels import aggregate as _native
from ...sources.base import RowChunk
from .counting_sort import Empty, each, groups_of, low_type, refined, step_of
from .labels import ContiguousLabels, RandomLabels

#: Rows between two places where the cursors of all groups are known. A chunk that follows no other
#: counts from there.
STEP = 1 << 20


class DirectPlacement:
    """All rows, block by block, under random labels.

    Parameters
    ----------
    labels : RandomLabels
    n : int
        Rows.
    dtype : dtype
    tail : tuple of int
        The shape of a row.
    workers : int
        Threads for the work before and after the rows come.
    empty : callable
        ``empty(shape, dtype)`` returns the array for the rows.
    """

    def __init__(
        self,
        labels: RandomLabels,
        n: int,
        dtype: np.dtype[Any],
        tail: tuple[int, ...],
        workers: int,
        empty: Empty,
    ) -> None:
        self._labels, self._n, self._workers = labels, n, workers
        width = dtype.itemsize * int(np.prod(tail, dtype=np.int64))
        self._shift = step_of(labels.blocks, n, width)
        counts = each(self._count, range(0, n, STEP), workers)
        self._before = np.zeros((len(counts) + 1, groups_of(labels.blocks, self._shift)), np.int64)
        for i, some in enumerate(counts):
            np.add(self._before[i], some, out=self._before[i + 1])
        self._cuts = np.zeros(self._before.shape[1] + 1, np.int64)
        np.cumsum(self._before[-1], out=self._cuts[1:])
        self._rows = empty((n, *tail), dtype)
        self._low = np.empty(n, low_type(self._shift)) if self._shift else None
        self._lock = threading.Lock()
        self._open: dict[int, NDArray[np.int64]] = {}
        self._placed = 0

    def _count(self, start: int, stop: int | None = None) -> NDArray[np.int64]:
        stop = min(start + STEP, self._n) if stop is None else stop
        counts = np.zeros(groups_of(self._labels.blocks, self._shift), np.int64)
        _native.count_random(
            self._labels.key, self._labels.blocks, start, stop - start, counts, self._shift
        )
        return counts

    def add(self, chunk: RowChunk) -> None:
        """Place the rows of a chunk."""
        start, stop = chunk.start, chunk.start + len(chunk.rows)
        if start == stop:
            return
        if stop > self._n:
            raise RuntimeError(_native.CHANGED)
        with self._lock:
            at = self._open.pop(start, None)
        if at is None:
            whole = start // STEP
            at = self._cuts[:-1] + self._before[whole] + self._count(whole * STEP, start)
        rows = np.ascontiguousarray(chunk.rows)
        key, blocks = self._labels.key, self._labels.blocks
        _native.place_random(key, blocks, start, rows, at, self._rows, self._shift, self._low)
        with self._lock:
            self._open[stop] = at
            self._placed += len(rows)

    def done(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the rows and where blocks begin, when all chunks have come."""
        if self._placed != self._n:
            raise RuntimeError(_native.CHANGED)
        if self._low is None:
            return self._rows, self._cuts
        blocks = self._labels.blocks
        return self._rows, refined(
            self._rows, self._low, self._shift, self._cuts, blocks, self._workers
        )


class InOrder:
    """All rows under fixed ranges, which is the order that they have."""

    def __init__(
        self,
        labels: ContiguousLabels,
        n: int,
        dtype: np.dtype[Any],
        tail: tuple[int, ...],
        empty: Empty,
    ) -> None:
        self._labels, self._n = labels, n
        self._rows = empty((n, *tail), dtype)
        self._lock = threading.Lock()
        self._placed = 0

    def add(self, chunk: RowChunk) -> None:
        """Place the rows of a chunk."""
        stop = chunk.start + len(chunk.rows)
        if stop > self._n:
            raise RuntimeError(_native.CHANGED)
        self._rows[chunk.start : stop] = chunk.rows
        with self._lock:
            self._placed += len(chunk.rows)

    def done(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the rows and where blocks begin, when all chunks have come."""
        if self._placed != self._n:
            raise RuntimeError(_native.CHANGED)
        return self._rows, self._labels.offsets()


def placement(
    labels: RandomLabels | ContiguousLabels,
    n: int,
    dtype: np.dtype[Any],
    tail: tuple[int, ...],
    workers: int,
    empty: Empty,
) -> DirectPlacement | InOrder:
    """Return the placement of a source of `n` rows, for the kind of its labels."""
    if isinstance(labels, ContiguousLabels):
        return InOrder(labels, n, dtype, tail, empty)
    return DirectPlacement(labels, n, dtype, tail, workers, empty)
