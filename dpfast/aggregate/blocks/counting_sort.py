"""A stable counting sort of the rows of an array, or of a source of known length, by block.

The first pass counts the rows of each block, and the second pass writes the rows in order. Each
part of the array has a separate thread. Within a block, rows are in the order of their numbers. If
there are many blocks, rows are first sorted into groups of adjacent blocks
(`csrc/aggregate/scatter.h`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.threads import run_in_threads, threads
from ..._kernels import aggregate as _native
from ..._kernels.tables import Key
from ...tables.base import RowChunk, RowSource
from ...tables.threads import spans_of
from .partition import TILE, ContiguousLabels, RandomLabels, missing

#: ``empty(shape, dtype)`` returns the array into which rows are placed.
Empty = Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]

#: With fewer rows, a second thread costs more than it saves.
SLICE = 1 << 21
#: The most bits of a label that are sorted in one step. With two steps: the bits of the number of a
#: group, if the low bits are written next to the rows. With more groups, the write positions would
#: not fit in the cache.
AT_ONCE, GROUPS = 11, 8
#: Up to this many bytes of data, one step is faster than two, because the data are in the cache.
SMALL = 1 << 22
#: If a row has at least this many bytes, it is faster to move it once, over any distance.
WIDE = 48
#: The write positions of all groups are known at each multiple of this many rows. A chunk that does
#: not continue another chunk counts from such a multiple.
SPAN = 1 << 20
#: Bytes of rows that are sorted at a time from groups into blocks.
STEP = 1 << 20


def shift_of(blocks: int, groups: int = GROUPS) -> int:
    """Return the number of low label bits that the second sorting step sorts by, at most 16."""
    bits = (blocks - 1).bit_length()
    return 0 if bits <= AT_ONCE else min(bits - groups, 16)


def low_type(shift: int) -> np.dtype[Any]:
    """Return the dtype for the `shift` low bits of a label."""
    return np.dtype(np.uint8 if shift <= 8 else np.uint16)


def is_little(more: int, width: int) -> bool:
    """Return whether `more` extra bytes a row are few compared with the `width` bytes of a row."""
    return 10 * more <= 3 * width


def step_of(blocks: int, rows: int, width: int) -> int:
    """Return the shift of a sort in memory: `shift_of` if two steps are faster, else 0."""
    shift = shift_of(blocks)
    small = rows * width <= SMALL
    return 0 if small or width >= WIDE or not is_little(low_type(shift).itemsize, width) else shift


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of ``2**shift`` adjacent blocks: rows are sorted into groups, then into blocks.

    With a `key` the labels are random and all rows count. Then no array of labels is needed.
    """

    blocks: int
    shift: int
    key: Key | None

    def __len__(self) -> int:
        return ((self.blocks - 1) >> self.shift) + 1

    def low(self, rows: int) -> NDArray[Any] | None:
        """Return an array for the low bits of `rows` labels; None if groups are single blocks."""
        return np.empty(rows, low_type(self.shift)) if self.shift else None

    def count(
        self, start: int, rows: int, labels: NDArray[Any] | None, counts: NDArray[np.int64]
    ) -> None:
        """Add the number of rows in each group to `counts`, for rows from `start` on."""
        if labels is not None:
            _native.count(labels, counts, self.shift)
        elif self.key is not None:
            _native.count_random(self.key, self.blocks, start, rows, counts, self.shift)

    def write(
        self,
        start: int,
        rows: NDArray[Any],
        labels: NDArray[Any] | None,
        at: NDArray[np.int64],
        out: NDArray[Any],
        low: NDArray[Any] | None,
    ) -> None:
        """Write rows to their groups in `out`, at the indices `at`, which are advanced."""
        rows = np.ascontiguousarray(rows)
        if labels is not None:
            _native.place(labels, rows, at, out, self.shift, low)
        elif self.key is not None:
            _native.place_random(self.key, self.blocks, start, rows, at, out, self.shift, low)

    def refined(
        self,
        rows: NDArray[Any],
        low: NDArray[Any] | None,
        cuts: NDArray[np.int64],
        workers: int,
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Sort the rows of each group by block; return the rows and where blocks begin."""
        if low is None:
            return rows, cuts
        offsets = np.zeros(self.blocks + 1, np.int64)

        def refine(span: tuple[int, int]) -> None:
            first, stop = span
            begin, end = int(cuts[first]), int(cuts[stop])
            least, most = first << self.shift, min(stop << self.shift, self.blocks)
            ends = np.empty(most - least + 1, np.int64)
            some = rows[begin:end]
            bits, edges = low[begin:end], cuts[first : stop + 1]
            _native.refine(bits, self.shift, some.copy(), edges, ends, some)
            np.add(ends[1:], begin, out=offsets[least + 1 : most + 1])

        step = max(1, STEP * len(rows) // max(1, rows.nbytes))
        run_in_threads(refine, list(spans_of(cuts, step)), workers)
        return rows, offsets


def key_of(labels: object, drop: bool) -> Key | None:
    """Return the key of random labels if no row is dropped, else None."""
    return labels.key if isinstance(labels, RandomLabels) and not drop else None


def scatter(
    rows: NDArray[Any],
    labels: RandomLabels | ContiguousLabels | NDArray[Any],
    blocks: int,
    *,
    drop: bool = False,
    workers: int | None = None,
    empty: Empty = np.empty,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the rows sorted by block, and the index where each block begins.

    Parameters
    ----------
    rows : array, shape (n, ...)
        Rows of any dtype without objects.
    labels : RandomLabels, ContiguousLabels or array of unsigned integers of shape (n,)
        Row i of the array is row i of the data.
    blocks : int
    drop : bool
        Leave out rows that hold a NaN.
    workers : int, optional
        Threads; ``DPFAST_NUM_THREADS`` if left out. They do not change the result.
    empty : callable
        ``empty(shape, dtype)`` returns the array for the result.

    Returns
    -------
    tuple of array and int64 array of shape (blocks + 1,)

    Raises
    ------
    RuntimeError
        If the rows were changed in the meantime, as far as this can be noticed.

    Notes
    -----
    Cost: O(n), and one copy of the data. With more than 2048 blocks it also takes up to 0.3 of the
    data and 8 bytes for each block. With fewer blocks it takes 8 bytes for each block and worker.
    """
    most = threads() if workers is None else checks.whole("workers", workers, 1)
    shift = step_of(blocks, len(rows), rows.nbytes // max(1, len(rows)))
    parts = most if workers is not None else min(most, len(rows) // SLICE)
    if shift == 0:  # tables of counts must be small compared with the data
        parts = min(parts, rows.nbytes // (64 * blocks))
    key = key_of(labels, drop)
    sort = _Sort(rows, labels, drop, Groups(blocks, shift, key), max(1, parts))
    # A group is too large, so sort in one step.
    if shift and np.sum(sort.counts, axis=0).max() > len(rows) // 4:
        sort = _Sort(rows, labels, drop, Groups(blocks, 0, key), 1)
    return sort.placed(empty, most)


class _Sort:
    """A counting sort of an array: parts for threads, and the rows of each group in each part."""

    def __init__(
        self,
        rows: NDArray[Any],
        labels: RandomLabels | ContiguousLabels | NDArray[Any],
        drop: bool,
        groups: Groups,
        parts: int,
    ) -> None:
        n = len(rows)
        self.rows, self.labels, self.drop, self.groups = rows, labels, drop, groups
        self.parts = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
        self.counts = run_in_threads(self._count, self.parts, parts)

    def placed(self, empty: Empty, workers: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the rows sorted by block, and where each block begins."""
        cuts = np.zeros(len(self.groups) + 1, np.int64)
        np.cumsum(np.sum(self.counts, axis=0), out=cuts[1:])
        total = int(cuts[-1])
        out, low = empty((total, *self.rows.shape[1:]), self.rows.dtype), self.groups.low(total)

        def write(work: tuple[tuple[int, int], NDArray[np.int64], NDArray[np.int64]]) -> None:
            part, at, end = work
            for start, labels, rows in self._tiles(part):
                self.groups.write(start, rows, labels, at, out, low)
            if not np.array_equal(at, end):
                raise RuntimeError(_native.CHANGED)

        at = cuts[:-1].copy()
        work = []
        for part, counts in zip(self.parts, self.counts, strict=True):
            work.append((part, at.copy(), at + counts))
            at += counts
        run_in_threads(write, work, len(work))
        return self.groups.refined(out, low, cuts, workers)

    def _count(self, part: tuple[int, int]) -> NDArray[np.int64]:
        counts = np.zeros(len(self.groups), np.int64)
        for start, labels, rows in self._tiles(part):
            self.groups.count(start, len(rows), labels, counts)
        return counts

    def _tiles(
        self, part: tuple[int, int]
    ) -> Iterable[tuple[int, NDArray[np.uint32] | None, NDArray[Any]]]:
        start, stop = part
        if self.groups.key is not None:
            yield start, None, self.rows[start:stop]
            return
        for at in range(start, stop, TILE):
            rows = self.rows[at : min(at + TILE, stop)]
            if isinstance(self.labels, np.ndarray):
                labels = self.labels[at : at + len(rows)].astype(np.uint32, copy=False)
            else:
                labels = self.labels.read(at, len(rows))
            gone = missing(rows) if self.drop else None
            if gone is not None:
                labels, rows = labels[~gone], rows[~gone]
            yield at, labels, rows


class _Cursors:
    """Write positions for the next row of each group, at any row of the data."""

    def __init__(self, groups: Groups, n: int, workers: int) -> None:
        self._groups, self._lock = groups, threading.Lock()
        self._open: dict[int, NDArray[np.int64]] = {}
        counts = run_in_threads(
            lambda at: self._count(at, min(at + SPAN, n)), range(0, n, SPAN), workers
        )
        before = [np.zeros(len(groups), np.int64), *counts]
        self._before = np.cumsum(before, axis=0, out=np.array(before))
        self.cuts = np.zeros(len(groups) + 1, np.int64)
        np.cumsum(self._before[-1], out=self.cuts[1:])

    def _count(self, start: int, stop: int) -> NDArray[np.int64]:
        counts = np.zeros(len(self._groups), np.int64)
        self._groups.count(start, stop - start, None, counts)
        return counts

    def write(self, chunk: RowChunk, out: NDArray[Any], low: NDArray[Any] | None) -> None:
        """Write the rows of a chunk to `out`, sorted by group, and low label bits to `low`."""
        start = chunk.start
        with self._lock:
            at = self._open.pop(start, None)
        if at is None:
            whole = start // SPAN
            at = self.cuts[:-1] + self._before[whole] + self._count(whole * SPAN, start)
        self._groups.write(start, chunk.rows, None, at, out, low)
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
    """Return all `n` rows of a source sorted by block, and where blocks begin, in one pass.

    Random labels and fixed ranges are functions of row numbers. If all rows count and their number
    is known, the index of each row in the result is known before the row is read. So chunks may
    come in any order and from several threads.

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
    counts: list[int] = []  # list.append is atomic

    def write(chunk: RowChunk) -> None:
        start, stop = chunk.start, chunk.start + len(chunk.rows)
        if stop > n:
            raise RuntimeError(_native.CHANGED)
        if cursors is None:  # contiguous blocks keep the order of the rows
            rows[start:stop] = chunk.rows
        elif start < stop:
            cursors.write(chunk, rows, low)
        counts.append(stop - start)

    source.reduce(write, lambda a, b: a)
    if sum(counts) != n:
        raise RuntimeError(_native.CHANGED)
    if isinstance(labels, ContiguousLabels):
        return rows, labels.offsets()
    assert cursors is not None
    return groups.refined(rows, low, cursors.cuts, workers)
