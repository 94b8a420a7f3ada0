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

from ..._core.threads import each
from ..._kernels import aggregate as _native
from ...sources.base import RowChunk, RowSource
from .counting_sort import Empty, Groups, step_of
from .partition import ContiguousLabels, RandomLabels

#: Rows between two places where the cursors of all groups are known. A chunk that follows no other
#: counts from there.
STEP = 1 << 20


class _Cursors:
    """Where the next rows of each group go, at any place in the data."""

    def __init__(self, groups: Groups, n: int, workers: int) -> None:
        self._groups, self._lock = groups, threading.Lock()
        self._open: dict[int, NDArray[np.int64]] = {}
        counts = each(lambda at: self._count(at, min(at + STEP, n)), range(0, n, STEP), workers)
        before = [np.zeros(len(groups), np.int64), *counts]
        self._before = np.cumsum(before, axis=0, out=np.array(before))
        self.cuts = np.zeros(len(groups) + 1, np.int64)
        np.cumsum(self._before[-1], out=self.cuts[1:])

    def _count(self, start: int, stop: int) -> NDArray[np.int64]:
        counts = np.zeros(len(self._groups), np.int64)
        self._groups.count(start, stop - start, None, counts)
        return counts

    def place(self, chunk: RowChunk, out: NDArray[Any], low: NDArray[Any] | None) -> None:
        """Write the rows of a chunk to `out`, and the low bits of their labels."""
        start = chunk.start
        with self._lock:
            at = self._open.pop(start, None)
        if at is None:
            whole = start // STEP
            at = self.cuts[:-1] + self._before[whole] + self._count(whole * STEP, start)
        self._groups.place(start, chunk.rows, None, at, out, low)
        with self._lock:
            self._open[start + len(chunk.rows)] = at


def placed(
    source: RowSource,
    labels: RandomLabels | ContiguousLabels,
    n: int,
    tail: tuple[int, ...],
    workers: int,
    empty: Empty,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all `n` rows of a source block by block, and where blocks begin, in one pass.

    Parameters
    ----------
    source : RowSource
    labels : RandomLabels or ContiguousLabels
    n : int
        Rows.
    tail : tuple of int
        The shape of a row.
    workers : int
        Threads for the work before and after the rows come.
    empty : callable
        ``empty(shape, dtype)`` returns the array for the rows.
    """
    rows, low, cursors = empty((n, *tail), source.dtype), None, None
    if isinstance(labels, RandomLabels):
        shift = step_of(labels.blocks, n, rows.nbytes // max(1, n))
        groups = Groups(labels.blocks, shift, labels.key)
        low, cursors = groups.low(n), _Cursors(groups, n, workers)
    counts: list[int] = []  # append is atomic

    def place(chunk: RowChunk) -> None:
        start, stop = chunk.start, chunk.start + len(chunk.rows)
        if stop > n:
            raise RuntimeError(_native.CHANGED)
        if cursors is None:  # fixed ranges stand in the order of the rows
            rows[start:stop] = chunk.rows
        elif start < stop:
            cursors.place(chunk, rows, low)
        counts.append(stop - start)

    source.reduce(place, lambda a, b: a)
    if sum(counts) != n:
        raise RuntimeError(_native.CHANGED)
    if isinstance(labels, ContiguousLabels):
        return rows, labels.offsets()
    assert cursors is not None
    return groups.refined(rows, low, cursors.cuts, workers)
