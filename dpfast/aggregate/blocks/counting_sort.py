"""A stable counting sort of the rows of an array by block.

The first pass counts, the second places, each part of the array by a thread of its own. Within a
block, rows stand in the order of their numbers. Where there are many blocks, rows are first sorted
into groups of adjacent blocks (`csrc/aggregate/scatter.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._kernels import aggregate as _native
from ...sources.array import threads
from .labels import RandomLabels, RowLabels
from .partition import TILE, missing

T = TypeVar("T")
S = TypeVar("S")

#: ``empty(shape, dtype)`` returns the array that rows are placed in.
Empty = Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]

#: Rows below which a second thread costs more than it saves.
SLICE = 1 << 21
#: Bits of a label that are sorted at once, and bits of a group's number if the low bits are written
#: beside the rows: with more places to write to, the cache is too small.
AT_ONCE, GROUPS = 11, 8
#: Bytes of the data up to which one step is faster than two, thanks to the cache.
SMALL = 1 << 22
#: Bytes of a row from which it is cheaper to move it once, however far.
WIDE = 48
#: Bytes of rows that are sorted from groups into blocks at a time.
STEP = 1 << 20


def shift_of(blocks: int, groups: int = GROUPS) -> int:
    """Return how many low bits of a label are left to the second step, at most 16."""
    bits = (blocks - 1).bit_length()
    return 0 if bits <= AT_ONCE else min(bits - groups, 16)


def groups_of(blocks: int, shift: int) -> int:
    """Return the number of groups of ``2**shift`` blocks."""
    return ((blocks - 1) >> shift) + 1


def low_type(shift: int) -> np.dtype[Any]:
    """Return the type that holds the low bits of a label."""
    return np.dtype(np.uint8 if shift <= 8 else np.uint16)


def is_little(more: int, width: int) -> bool:
    """Return whether `more` bytes may be kept beside each row of `width` bytes."""
    return 10 * more <= 3 * width


def step_of(blocks: int, rows: int, width: int) -> int:
    """Return `shift_of` where two steps are faster, and 0 where one is, for rows in memory."""
    shift = shift_of(blocks)
    small = rows * width <= SMALL
    return 0 if small or width >= WIDE or not is_little(low_type(shift).itemsize, width) else shift


def refined(
    rows: NDArray[Any],
    low: NDArray[Any],
    shift: int,
    cuts: NDArray[np.int64],
    blocks: int,
    workers: int,
) -> NDArray[np.int64]:
    """Sort each group of rows into its blocks, in place; return where these begin."""
    offsets = np.zeros(blocks + 1, np.int64)

    def refine(span: tuple[int, int]) -> None:
        first, stop = span
        begin, end = int(cuts[first]), int(cuts[stop])
        least, most = first << shift, min(stop << shift, blocks)
        ends = np.empty(most - least + 1, np.int64)
        some = rows[begin:end]
        _native.refine(low[begin:end], shift, some.copy(), cuts[first : stop + 1], ends, some)
        np.add(ends[1:], begin, out=offsets[least + 1 : most + 1])

    step = max(1, STEP * len(rows) // max(1, rows.nbytes))
    each(refine, list(spans_of(cuts, step)), workers)
    return offsets


def each(work: Callable[[S], T], items: Sequence[S], workers: int) -> list[T]:
    """Return ``work(item)`` of each item, in up to `workers` threads."""
    if workers == 1 or len(items) <= 1:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # not everybody who imports needs it

    with ThreadPoolExecutor(min(workers, len(items))) as pool:
        return list(pool.map(work, items))


def scatter(
    rows: NDArray[Any],
    labels: RowLabels | NDArray[Any],
    blocks: int,
    *,
    drop: bool = False,
    workers: int | None = None,
    empty: Empty = np.empty,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the rows block by block, and the places where blocks begin.

    Parameters
    ----------
    rows : array, shape (n, ...)
        Of any dtype without objects.
    labels : RowLabels or array of unsigned integers of shape (n,)
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
        If the rows were changed meanwhile, as far as this can be noticed.

    Notes
    -----
    O(n). It takes one copy of the data and, with more than 2048 blocks, up to 0.3 of the data and 8
    bytes a block; with fewer, 8 bytes a block and worker.
    """
    most = threads() if workers is None else checks.whole("workers", workers, 1)
    shift = step_of(blocks, len(rows), rows.nbytes // max(1, len(rows)))
    parts = most if workers is not None else min(most, len(rows) // SLICE)
    if shift == 0:  # tables of counts must stay small beside the data
        parts = min(parts, rows.nbytes // (64 * blocks))
    sort = _Sort(rows, labels, blocks, drop, shift, max(1, parts))
    if shift and sort.largest() > len(rows) // 4:  # one step does for few groups
        sort = _Sort(rows, labels, blocks, drop, 0, 1)
    return sort.placed(empty, most)


class _Sort:
    """The parts of an array, and the number of rows of each group in each part."""

    def __init__(
        self,
        rows: NDArray[Any],
        labels: RowLabels | NDArray[Any],
        blocks: int,
        drop: bool,
        shift: int,
        parts: int,
    ) -> None:
        n = len(rows)
        self.rows, self.labels, self.blocks = rows, labels, blocks
        self.drop, self.shift = drop, shift
        self.groups = groups_of(blocks, shift)
        self.parts = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
        self.counts = each(self._count, self.parts, parts)

    def largest(self) -> int:
        """Return the number of rows of the largest group."""
        return int(np.sum(self.counts, axis=0).max())

    def placed(self, empty: Empty, workers: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the sorted rows, and where blocks begin."""
        cuts = np.zeros(self.groups + 1, np.int64)
        for counts in self.counts:
            cuts[1:] += counts
        np.cumsum(cuts, out=cuts)
        total = int(cuts[-1])
        self.out = empty((total, *self.rows.shape[1:]), self.rows.dtype)
        self.low = np.empty(total, low_type(self.shift)) if self.shift else None
        at = cuts[:-1].copy()
        work = []
        for part, counts in zip(self.parts, self.counts, strict=True):
            work.append((part, at.copy(), at + counts))
            at += counts
        each(self._place, work, len(work))
        if self.low is None:
            return self.out, cuts
        return self.out, refined(self.out, self.low, self.shift, cuts, self.blocks, workers)

    def _tiles(self, part: tuple[int, int]) -> Iterable[tuple[NDArray[np.uint32], NDArray[Any]]]:
        start, stop = part
        for at in range(start, stop, TILE):
            rows = self.rows[at : min(at + TILE, stop)]
            if isinstance(self.labels, np.ndarray):
                labels = self.labels[at : at + len(rows)].astype(np.uint32, copy=False)
            else:
                labels = self.labels.read(at, len(rows))
            gone = missing(rows) if self.drop else None
            if gone is not None:
                labels, rows = labels[~gone], rows[~gone]
            yield labels, np.ascontiguousarray(rows)

    def _count(self, part: tuple[int, int]) -> NDArray[np.int64]:
        counts = np.zeros(self.groups, np.int64)
        if isinstance(self.labels, RandomLabels) and not self.drop:
            key, (start, stop) = self.labels.key, part
            _native.count_random(key, self.blocks, start, stop - start, counts, self.shift)
        else:
            for labels, _ in self._tiles(part):
                _native.count(labels, counts, self.shift)
        return counts

    def _place(self, work: tuple[tuple[int, int], NDArray[np.int64], NDArray[np.int64]]) -> None:
        (start, stop), at, end = work
        if isinstance(self.labels, RandomLabels) and not self.drop:
            rows = np.ascontiguousarray(self.rows[start:stop])
            _native.place_random(
                self.labels.key, self.blocks, start, rows, at, self.out, self.shift, self.low
            )
        else:
            for labels, rows in self._tiles((start, stop)):
                _native.place(labels, rows, at, self.out, self.shift, self.low)
        if not np.array_equal(at, end):
            raise RuntimeError(_native.CHANGED)


def spans_of(
    cuts: NDArray[np.int64], rows: int, groups: int | None = None
) -> Iterable[tuple[int, int]]:
    """Yield consecutive groups ``first .. stop - 1``, of `rows` rows at most or of one group."""
    first, last = 0, len(cuts) - 1
    while first < last:
        stop = int(np.searchsorted(cuts, cuts[first] + rows, side="right")) - 1
        stop = min(max(stop, first + 1), last)
        if groups is not None:
            stop = min(stop, first + max(1, groups))
        yield first, stop
        first = stop
