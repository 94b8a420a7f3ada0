"""Rows put in order by block: a stable counting sort in two passes over the data.

The first pass counts (`Parts`), the second places (`Layout.place`), each chunk by chunk in any
order and from several threads; within a block rows stand in the order of their numbers. `scatter`
does both for an array in memory. The result is one array and the places where blocks begin.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._native import blocks as _native
from ..sources.array import threads
from .labels import RandomLabels, RowLabels

__all__ = ["Layout", "Parts", "scatter"]

#: Rows below which a second thread costs more than it saves.
SLICE = 1 << 21


class Parts:
    """How many rows of each block each part of the data has.

    A part is a chunk, named by the number of its first row. It takes 8 bytes a block.
    """

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self._counts: dict[int, NDArray[np.int64]] = {}

    def add(self, start: int, labels: NDArray[np.uint32]) -> Parts:
        """Count the rows of the part that begins at row `start`, from their labels."""
        counts = np.zeros(self.blocks, np.int64)
        _native.count(labels, counts)
        return self.put(start, counts)

    def put(self, start: int, counts: NDArray[np.int64]) -> Parts:
        """Take the counts of the part that begins at row `start`; empty parts are nobody's."""
        if counts.any():
            if start in self._counts:
                raise ValueError(f"two parts begin at row {start}")
            self._counts[start] = counts
        return self

    def merge(self, other: Parts) -> Parts:
        """Take the parts of another tally."""
        for start, counts in other._counts.items():
            self.put(start, counts)
        return self

    def layout(self) -> Layout:
        """Where each part and block begins."""
        return Layout(self.blocks, self._counts)


class Layout:
    """Where the rows of each part and block go.

    Attributes
    ----------
    offsets : int64 array, shape (blocks + 1,)
        Block b is rows ``offsets[b]`` .. ``offsets[b + 1] - 1`` of the result.
    rows : int
        Rows of the result.
    """

    def __init__(self, blocks: int, counts: dict[int, NDArray[np.int64]]) -> None:
        self._starts = sorted(counts)
        total = np.zeros(blocks, np.int64)
        table = np.zeros((len(counts), blocks), np.int64)
        for i, start in enumerate(self._starts):
            table[i] = total
            total += counts[start]
        self.offsets = np.zeros(blocks + 1, np.int64)
        np.cumsum(total, out=self.offsets[1:])
        self.rows = int(self.offsets[-1])
        self._first: NDArray[np.int64] = table + self.offsets[:-1]

    def empty(self, rows: NDArray[Any]) -> NDArray[Any]:
        """An array for the result, whose rows are like those of `rows`."""
        return np.empty((self.rows, *rows.shape[1:]), rows.dtype)

    def _at(self, start: int) -> NDArray[np.int64]:
        part = bisect.bisect_left(self._starts, start)
        if part == len(self._starts) or self._starts[part] != start:
            raise RuntimeError("rows have no place: they are not those that were counted")
        first: NDArray[np.int64] = self._first[part].copy()
        return first

    def place(
        self, start: int, labels: NDArray[np.uint32], rows: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """Copy the rows of the part that begins at row `start` to their places in `out`.

        Raises
        ------
        RuntimeError
            If they are not the rows that were counted, as far as can be seen.
        """
        if len(rows):
            rows = np.ascontiguousarray(rows)
            self._placed(start, rows, out, lambda at: _native.place(labels, rows, at, out))

    def place_random(
        self, start: int, labels: RandomLabels, rows: NDArray[Any], out: NDArray[Any]
    ) -> None:
        """`place` with random labels, made as they are used."""
        if len(rows):
            rows = np.ascontiguousarray(rows)
            key = labels.key
            self._placed(
                start, rows, out, lambda at: _native.place_random(key, start, rows, at, out)
            )

    def _placed(self, start: int, rows: NDArray[Any], out: NDArray[Any], copy: Any) -> None:
        if len(out) != self.rows:
            raise ValueError(f"out must have {self.rows} rows, got {len(out)}")
        at = self._at(start)
        copy(at)
        part = bisect.bisect_left(self._starts, start) + 1
        last = self._first[part] if part < len(self._starts) else self.offsets[1:]
        if not np.array_equal(at, last):
            raise RuntimeError("rows have no place: they are not those that were counted")


def scatter(
    rows: NDArray[Any],
    labels: RowLabels | NDArray[np.uint32],
    blocks: int,
    out: NDArray[Any] | None = None,
    workers: int | None = None,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows block by block, and the places where blocks begin.

    Parameters
    ----------
    rows : array, shape (n, ...)
        Of any dtype without objects.
    labels : RowLabels or uint32 array of shape (n,)
        Row i of the array is row i of the data.
    blocks : int
    out : array, optional
        Takes the result; a memory map, for data that do not fit in memory twice.
    workers : int, optional
        Threads; ``DPFAST_NUM_THREADS`` if left out. They do not change the result.

    Returns
    -------
    tuple of array and int64 array of shape (blocks + 1,)

    Notes
    -----
    O(n), one copy of the data and 8 bytes a block and worker.
    """
    n = len(rows)
    most = threads() if workers is None else _check.whole("workers", workers, 1)
    parts = max(1, min(most, n // SLICE)) if workers is None else max(1, min(most, n))
    edges = [n * i // parts for i in range(parts + 1)]

    def named(part: int) -> NDArray[np.uint32]:
        start, stop = edges[part], edges[part + 1]
        if isinstance(labels, np.ndarray):
            some: NDArray[np.uint32] = labels[start:stop]
            return some
        return labels.read(start, stop - start)

    def counted(part: int) -> Parts:
        start, stop = edges[part], edges[part + 1]
        if isinstance(labels, np.ndarray):
            return Parts(blocks).add(start, named(part))
        return Parts(blocks).put(start, labels.count(start, stop - start))

    def placed(part: int) -> None:
        start, stop = edges[part], edges[part + 1]
        if isinstance(labels, RandomLabels):
            layout.place_random(start, labels, rows[start:stop], result)
        else:
            layout.place(start, named(part), rows[start:stop], result)

    tally = Parts(blocks)
    if parts == 1:
        layout = counted(0).layout()
        result = layout.empty(rows) if out is None else out
        placed(0)
        return result, layout.offsets
    from concurrent.futures import ThreadPoolExecutor  # not everybody who imports needs it

    with ThreadPoolExecutor(parts) as pool:
        for part in pool.map(counted, range(parts)):
            tally.merge(part)
        layout = tally.layout()
        result = layout.empty(rows) if out is None else out
        list(pool.map(placed, range(parts)))
    return result, layout.offsets
