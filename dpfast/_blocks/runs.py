"""Rows that come chunk by chunk, kept as sorted runs, and put together window by window.

One pass over the data is enough, in whatever order chunks come. Chunks that follow one another are
gathered into a stretch; a stretch of some size is sorted by block and kept as a run, in memory as
long as there is room and then in a file. A window of consecutive blocks is one piece of each run,
and the pieces in the order of their row numbers are the rows of its blocks in theirs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._native import blocks as _native
from ..sources.table import RowChunk
from .files import Spill
from .partition import Partition, tiles
from .scatter import Empty, each, groups_of, low_type, shift_of, spans_of

__all__ = ["Runs", "Sizes"]


class Sizes(NamedTuple):
    """Bytes: of a run, of a window, and of all runs together that stay in memory."""

    run: int
    window: int
    kept: int


class _Piece(NamedTuple):
    """An array that is kept: in memory, or from byte `at` of the file on."""

    held: NDArray[Any] | None
    at: int
    dtype: np.dtype[Any]
    tail: tuple[int, ...]


class _Run(NamedTuple):
    """A sorted stretch: group g is ``cuts[g] .. cuts[g + 1] - 1`` of its rows."""

    start: int
    cuts: NDArray[np.int64]
    rows: _Piece
    low: _Piece | None


@dataclass(slots=True)
class _Stretch:
    """Chunks that follow one another, from row `start` to row `stop` - 1."""

    start: int
    stop: int
    nbytes: int = 0
    parts: list[tuple[NDArray[np.uint32], NDArray[Any]]] = field(default_factory=list)


#: Stretches that are open at once, in runs.
OPEN = 4
#: Blocks of a window at most: there is a number for each.
MOST_BLOCKS = 1 << 20
#: Bits of a group's number, so that a group of a terabyte of data is a few windows.
GROUPS = 12


class Runs:
    """The rows of a partition, in sorted runs.

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
        self._shift = shift_of(partition.blocks, GROUPS)
        self._groups = groups_of(partition.blocks, self._shift)
        self._lock = threading.Lock()
        self._open: dict[int, _Stretch] = {}
        self._runs: list[_Run] = []
        self._kept = 0
        self._spill: Spill | None = None
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None
        self._sorting: deque[Future[None]] = deque()

    def close(self) -> None:
        """Let go of everything; the file is gone."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._open.clear()
        self._runs.clear()
        if self._spill is not None:
            self._spill.close()

    # --- rows come

    def add(self, chunk: RowChunk) -> None:
        """Take the rows of a chunk. Several threads may."""
        for some in tiles(chunk, max(1, self._sizes.run // self._width)):
            labels, rows = self._partition.split(some)
            if rows.base is not None or rows is some.rows:
                rows = rows.copy()  # the chunk's memory is used again
            for stretch in self._gather(some.start, some.start + len(some.rows), labels, rows):
                self._sort_soon(stretch)

    def done(self) -> None:
        """All chunks have come."""
        for stretch in list(self._open.values()):
            self._sort_soon(stretch)
        self._open.clear()
        while self._sorting:
            self._sorting.popleft().result()
        self._runs.sort(key=lambda run: run.start)

    def _gather(
        self, start: int, stop: int, labels: NDArray[np.uint32], rows: NDArray[Any]
    ) -> list[_Stretch]:
        """Put rows to the stretch that ends where they begin; which stretches are now full."""
        if start == stop:
            return []
        with self._lock:
            stretch = self._open.pop(start, None) or _Stretch(start, start)
            if len(rows):
                stretch.parts.append((labels, rows))
            stretch.nbytes += rows.nbytes
            stretch.stop = stop
            if stretch.nbytes >= self._sizes.run:
                return [stretch]
            self._open[stop] = stretch
            full = []
            total = sum(one.nbytes for one in self._open.values())
            while total > OPEN * self._sizes.run:
                largest = max(self._open.values(), key=lambda one: one.nbytes)
                full.append(self._open.pop(largest.stop))
                total -= largest.nbytes
            return full

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
        total = sum(len(labels) for labels, _ in stretch.parts)
        if total == 0:
            return
        cuts = np.zeros(self._groups + 1, np.int64)
        for labels, _ in stretch.parts:
            _native.count(labels, cuts[1:], self._shift)
        np.cumsum(cuts, out=cuts)
        at = cuts[:-1].copy()
        rows = np.empty((total, *self._tail), self._dtype)
        low = np.empty(total, low_type(self._shift)) if self._shift else None
        for labels, some in stretch.parts:
            _native.place(labels, some, at, rows, self._shift, low)
        stretch.parts.clear()
        run = _Run(stretch.start, cuts, self._keep(rows), None if low is None else self._keep(low))
        with self._lock:
            self._runs.append(run)

    def _keep(self, array: NDArray[Any]) -> _Piece:
        with self._lock:
            fits = self._kept + array.nbytes <= self._sizes.kept
            if fits:
                self._kept += array.nbytes
            elif self._spill is None:
                self._spill = Spill(self._where)
        tail = array.shape[1:]
        if fits:
            return _Piece(array, 0, array.dtype, tail)
        assert self._spill is not None
        return _Piece(None, self._spill.append(array), array.dtype, tail)

    # --- blocks go

    def windows(
        self, buffer: Callable[[int], Empty]
    ) -> Iterator[tuple[int, NDArray[Any], NDArray[np.int64]]]:
        """First block, rows and offsets of each window.

        ``buffer(rows)`` gives what makes arrays of at most so many rows, each in the place of the
        one before.
        """
        cuts = np.zeros(self._groups + 1, np.int64)
        for run in self._runs:
            cuts += run.cuts
        most = max(1, self._sizes.window // self._width)
        spans = list(spans_of(cuts, most, MOST_BLOCKS >> self._shift))
        empty = buffer(max(int(cuts[stop] - cuts[first]) for first, stop in spans))
        for first, stop in spans:
            yield first << self._shift, *self._window(first, stop, cuts, empty)

    def _window(
        self, first: int, stop: int, cuts: NDArray[np.int64], empty: Empty
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        own = cuts[first : stop + 1] - cuts[first]
        rows = empty((int(own[-1]), *self._tail), self._dtype)
        to = np.empty_like(rows) if self._shift else rows
        low = np.empty(len(rows), low_type(self._shift)) if self._shift else None
        spans = list(spans_of(own, max(1, -(-len(rows) // self._workers))))
        each(lambda span: self._collect(first, span, own, to, low), spans, self._workers)
        if low is None:
            return rows, own
        blocks = min(stop << self._shift, self._partition.blocks) - (first << self._shift)
        offsets = np.zeros(blocks + 1, np.int64)
        _native.refine(low, self._shift, to, own, offsets, rows)
        return rows, offsets

    def _collect(
        self,
        first: int,
        span: tuple[int, int],
        own: NDArray[np.int64],
        rows: NDArray[Any],
        low: NDArray[Any] | None,
    ) -> None:
        """Fill groups ``span[0] .. span[1] - 1`` of a window with their pieces of each run."""
        begin, end = span
        at = own[begin:end].copy()
        for run in self._runs:
            some = run.cuts[first + begin : first + end + 1]
            if some[0] == some[-1]:
                continue
            if low is not None and run.low is not None:
                _native.place_runs(some, self._read(run.low, some), at.copy(), low)
            _native.place_runs(some, self._read(run.rows, some), at, rows)

    def _read(self, piece: _Piece, cuts: NDArray[np.int64]) -> NDArray[Any]:
        start, stop = int(cuts[0]), int(cuts[-1])
        if piece.held is not None:
            return piece.held[start:stop]
        found = np.empty((stop - start, *piece.tail), piece.dtype)
        assert self._spill is not None
        self._spill.read(piece.at + start * (found.nbytes // len(found)), found)
        return found
