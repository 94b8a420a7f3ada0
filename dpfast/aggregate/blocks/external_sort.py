"""An external sort of rows by block: sorted runs that are merged window by window.

One pass over the data is enough, for any order of the chunks. Adjacent chunks are collected into a
stretch. A full stretch is sorted by block and stored as a run, in memory while there is room, and
then in a file. A window of consecutive blocks consists of one part of each run. In the order of
their row numbers, these parts contain the rows of each block in order.

No library does this. Arrow sorts in memory. DuckDB compares keys, and uses temporary files with
names. Here the key is the number of a block, so rows are counted and written to their positions.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core.threads import run_in_threads
from ..._kernels import aggregate as _native
from ...tables.available_memory import available
from ...tables.base import RowChunk
from ...tables.row_files import Spill
from ...tables.threads import spans_of
from .counting_sort import Empty, Groups, key_of, shift_of
from .partition import TILE, Partition, tiles


class Sizes(NamedTuple):
    """The sizes of buffers and windows of an external sort, in bytes.

    A run has `run` bytes. A window has `window` bytes, or up to `wide` bytes if it would have few
    blocks. All runs in memory use at most `kept` bytes together, and only while `spare` more bytes
    are available. Up to `open` stretches, each for one run, are collected at the same time. Blocks
    are sorted in up to ``2**groups`` groups.
    """

    run: int
    window: int
    kept: int
    wide: int = 0
    spare: int = 0
    open: int = 4
    groups: int = 12


@dataclass(frozen=True, slots=True)
class _Spilled:
    """An array in a file, from byte `at` on; ``spilled[start:stop]`` reads some of its rows."""

    file: Spill
    at: int
    dtype: np.dtype[Any]
    tail: tuple[int, ...]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        part = np.empty((rows.stop - rows.start, *self.tail), self.dtype)
        self.file.read(self.at + rows.start * (part.nbytes // len(part)), part)
        return part


_Kept: TypeAlias = NDArray[Any] | _Spilled


class _Run(NamedTuple):
    """A sorted run of rows: group g of blocks is rows ``cuts[g] .. cuts[g + 1] - 1``."""

    start: int
    cuts: NDArray[np.int64]
    rows: _Kept
    low: _Kept | None


@dataclass(slots=True)
class _Stretch:
    """Unsorted consecutive rows, from row `start` on, collected from chunks for one run.

    `rows` and `labels` have room for a run, of which the first `count` entries are valid. If labels
    are random and all rows count, labels are computed when they are used, and there is no array of
    labels.
    """

    rows: NDArray[Any]
    labels: NDArray[np.uint32] | None
    start: int = 0
    count: int = 0


#: The most blocks of a window, each of which needs an offset.
MOST_BLOCKS = 1 << 20
#: A window has at least this many blocks if memory allows, because several workers share them.
FEW_BLOCKS = 64


class ExternalSort:
    """An external sort of the rows of a partition by block, in sorted runs.

    Parameters
    ----------
    partition : Partition
    dtype : dtype
    tail : tuple of int
        The shape of a row.
    sizes : Sizes
    where : str
        The directory of the file.
    workers : int
        Threads that sort while further chunks come.
    """

    def __init__(
        self,
        partition: Partition,
        dtype: np.dtype[Any],
        tail: tuple[int, ...],
        sizes: Sizes,
        where: str,
        workers: int,
    ) -> None:
        self._partition = partition
        self._dtype, self._tail = dtype, tail
        self._width = dtype.itemsize * int(np.prod(tail, dtype=np.int64))
        self._sizes, self._where, self._workers = sizes, where, workers
        self._room = max(1, sizes.run // self._width)
        self._shift = shift_of(partition.blocks, sizes.groups)
        key = key_of(partition.labels, partition.drop)
        self._groups = Groups(partition.blocks, self._shift, key)
        self._lock = threading.Lock()
        self._open: dict[int, _Stretch] = {}
        self._spare: list[_Stretch] = []
        self._runs: list[_Run] = []
        self._kept = 0
        self._spill: Spill | None = None
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None
        self._sorting: deque[Future[None]] = deque()

    def close(self) -> None:
        """Release all memory, and close the file of spilled rows."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._open.clear()
        self._spare.clear()
        self._runs.clear()
        if self._spill is not None:
            self._spill.close()

    # --- adding rows

    def add(self, chunk: RowChunk) -> None:
        """Add the rows of a chunk. Several threads may call this."""
        for some in tiles(chunk, min(self._room, TILE)):
            if len(some.rows) == 0:
                continue
            labels, rows = None, some.rows
            if self._groups.key is None:
                labels, rows = self._partition.split(some)
            full = self._gather(some.start, some.start + len(some.rows), labels, rows)
            if full is not None:
                self._sort_soon(full)

    def done(self) -> None:
        """Sort the remaining rows, once all chunks have been added."""
        for stretch in self._open.values():
            self._sort_soon(stretch)
        self._open.clear()
        while self._sorting:
            self._sorting.popleft().result()
        self._spare.clear()
        self._runs.sort(key=lambda run: run.start)

    def _gather(
        self, start: int, stop: int, labels: NDArray[np.uint32] | None, rows: NDArray[Any]
    ) -> _Stretch | None:
        """Append rows to the open stretch before them; return a full stretch to sort, or None."""
        with self._lock:
            full = None
            stretch = self._open.pop(start, None)
            if stretch is not None and stretch.count + len(rows) > self._room:
                full, stretch = stretch, None
            elif stretch is None and len(self._open) >= self._sizes.open:
                full = self._open.pop(max(self._open, key=lambda end: self._open[end].count))
            if stretch is None:
                stretch = self._fresh(start)
            at, to = stretch.count, stretch.count + len(rows)
            stretch.rows[at:to] = rows
            if labels is not None and stretch.labels is not None:
                stretch.labels[at:to] = labels
            stretch.count = to
            self._open[stop] = stretch
        return full

    def _fresh(self, start: int) -> _Stretch:
        """Return an empty stretch, in the memory of a sorted one if possible."""
        if self._spare:
            stretch = self._spare.pop()
        else:
            labels = np.empty(self._room, np.uint32) if self._groups.key is None else None
            stretch = _Stretch(np.empty((self._room, *self._tail), self._dtype), labels)
        stretch.start, stretch.count = start, 0
        return stretch

    def _sort_soon(self, stretch: _Stretch) -> None:
        if self._pool is None:
            self._sort(stretch)
            return
        waiting = None
        with self._lock:
            self._sorting.append(self._pool.submit(self._sort, stretch))
            if len(self._sorting) > self._workers:
                waiting = self._sorting.popleft()
        if waiting is not None:
            waiting.result()

    def _sort(self, stretch: _Stretch) -> None:
        start, count, groups = stretch.start, stretch.count, self._groups
        labels = None if stretch.labels is None else stretch.labels[:count]
        cuts = np.zeros(len(groups) + 1, np.int64)
        groups.count(start, count, labels, cuts[1:])
        at = np.cumsum(cuts, out=cuts)[:-1].copy()
        unsorted = stretch.rows[:count]
        rows, low = np.empty_like(unsorted), groups.low(count)
        groups.write(start, unsorted, labels, at, rows, low)
        with self._lock:
            self._spare.append(stretch)
        run = _Run(start, cuts, self._keep(rows), None if low is None else self._keep(low))
        with self._lock:
            self._runs.append(run)

    def _keep(self, array: NDArray[Any]) -> _Kept:
        with self._lock:
            total = self._kept + array.nbytes
            if total <= self._sizes.kept and available() >= self._sizes.spare:
                self._kept = total
                return array
            if self._spill is None:
                self._spill = Spill(self._where)
        return _Spilled(self._spill, self._spill.append(array), array.dtype, array.shape[1:])

    # --- reading blocks

    def windows(
        self, buffer: Callable[[int], Empty]
    ) -> Iterator[tuple[int, tuple[NDArray[Any], NDArray[np.int64]]]]:
        """Yield the first block of each window, with its rows and offsets.

        ``buffer(rows)`` returns an `Empty` for arrays of at most `rows` rows. Each array overwrites
        the array before.
        """
        cuts = np.zeros(len(self._groups) + 1, np.int64)
        for run in self._runs:
            cuts += run.cuts
        few = min(
            int(cuts[-1]) * self._width * FEW_BLOCKS // self._partition.blocks, self._sizes.wide
        )
        most = max(1, max(self._sizes.window, few) // self._width)
        spans = list(spans_of(cuts, most, MOST_BLOCKS >> self._shift))
        empty = buffer(max(int(cuts[stop] - cuts[first]) for first, stop in spans))
        for first, stop in spans:
            yield first << self._shift, self._window(first, stop, cuts, empty)

    def _window(
        self, first: int, stop: int, cuts: NDArray[np.int64], empty: Empty
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        ends = cuts[first : stop + 1] - cuts[first]
        rows = empty((int(ends[-1]), *self._tail), self._dtype)
        to = np.empty_like(rows) if self._shift else rows
        low = self._groups.low(len(rows))
        spans = list(spans_of(ends, max(1, -(-len(rows) // self._workers))))
        run_in_threads(lambda span: self._collect(first, span, ends, to, low), spans, self._workers)
        if low is None:
            return rows, ends
        blocks = min(stop << self._shift, self._partition.blocks) - (first << self._shift)
        offsets = np.zeros(blocks + 1, np.int64)
        _native.refine(low, self._shift, to, ends, offsets, rows)
        return rows, offsets

    def _collect(
        self,
        first: int,
        span: tuple[int, int],
        ends: NDArray[np.int64],
        rows: NDArray[Any],
        low: NDArray[Any] | None,
    ) -> None:
        """Copy the rows of groups ``span[0] .. span[1] - 1`` of a window from every run."""
        begin, end = span
        at = ends[begin:end].copy()
        for run in self._runs:
            some = run.cuts[first + begin : first + end + 1]
            stretch_rows = slice(int(some[0]), int(some[-1]))
            if stretch_rows.start == stretch_rows.stop:
                continue
            if low is not None and run.low is not None:
                _native.place_runs(some, run.low[stretch_rows], at.copy(), low)
            _native.place_runs(some, run.rows[stretch_rows], at, rows)
