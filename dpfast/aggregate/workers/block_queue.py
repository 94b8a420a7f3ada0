"""The queue of blocks: which worker has which, what it has done, and what is left if it is lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...tables.row_files import File
from .worker_main import parts

#: Seconds between two checks of the workers.
PATIENCE = 0.25
#: The same while progress is shown.
WATCHED = 0.05
#: Seconds after a deadline, so that a check then sees it passed.
TICK = 0.001
#: A worker gets this part of its fair share of what is left, so that all end together.
SHARE = 4


class Board:
    """The state of a window of blocks that parent and workers share, in 8-byte words of one file.

    Attributes
    ----------
    slots : int64 array, shape (workers, 2)
        The state of worker i: 2 b + 1 while it works on block b, 2 b if that comes next; and when
        the current call began, by `time.monotonic_ns`. The parent writes it while the worker is
        idle.
    offsets : int64 array, shape (blocks + 1,)
        Where the blocks begin.
    out : float64 array, shape (blocks, d)
        The answers, NaN at first. A row is written by the worker whose range it is in.
    """

    def __init__(self, workers: int, offsets: NDArray[np.int64], d: int) -> None:
        blocks = len(offsets) - 1
        words = 2 * workers + blocks + 1 + blocks * d
        self.slots: NDArray[np.int64]
        self.offsets: NDArray[np.int64]
        self.out: NDArray[np.float64]
        self.file = File(8 * words, open_to_all=True)
        all_: NDArray[np.int64] = np.frombuffer(self.file.map, np.int64, words)
        self.slots, self.offsets, self.out = parts(all_, workers, blocks, d)
        self.offsets[:] = offsets
        self.out[:] = np.nan

    def mapping(self, slot: int) -> Any:
        """Return the file and the sizes with which worker `slot` maps the board."""
        blocks, d = self.out.shape
        return self.file.path, len(self.slots), blocks, d, slot


class BlockQueue:
    """The blocks of a board, each for exactly one worker.

    Parameters
    ----------
    board : Board
        There a worker writes which block it has reached.
    limit : int or None
        Nanoseconds that a block may take.
    tick : callable, optional
        ``tick(b)`` whenever b more blocks are seen to be done.
    """

    def __init__(
        self, board: Board, limit: int | None = None, tick: Callable[[int], None] | None = None
    ) -> None:
        self._board = board
        self._limit = limit
        self._tick = tick
        self._waiting = deque([(0, len(board.out))] if len(board.out) else [])
        self._held: dict[int, tuple[int, int]] = {}
        self._reported: dict[int, int] = {}

    @property
    def waiting(self) -> bool:
        """Whether there are blocks that no worker has."""
        return bool(self._waiting)

    @property
    def over(self) -> bool:
        """Whether every block is done."""
        return not self._waiting and not self._held

    def take(self, slot: int) -> tuple[int, int]:
        """Return the next range for the worker of a slot: blocks first .. last - 1."""
        first, last = self._waiting.popleft()
        left = last - first + sum(stop - start for start, stop in self._waiting)
        stop = min(last, first + max(1, left // (SHARE * len(self._board.slots))))
        if stop < last:
            self._waiting.appendleft((stop, last))
        self._board.slots[slot] = 2 * first, 0
        self._held[slot] = first, stop
        self._reported[slot] = first
        return first, stop

    def done(self, slot: int) -> None:
        """Note that the worker has done its range."""
        self._report(slot, self._held[slot][1])
        del self._held[slot]

    def look(self, slot: int) -> None:
        """Report what the worker has done so far."""
        if slot in self._held:
            self._report(slot, self._state(slot) >> 1)

    def late(self, slot: int, now: int) -> bool:
        """Return whether the current call has taken longer than the limit."""
        if self._limit is None or slot not in self._held:
            return False
        state = self._state(slot)
        began = int(self._board.slots[slot, 1])
        if state != self._state(slot) or not state & 1:
            return False
        return now - began > self._limit

    def pause(self) -> float:
        """Return the seconds until the next check, if no worker sends a message before."""
        pause = PATIENCE if self._tick is None else WATCHED
        if self._limit is None:
            return pause
        soonest = pause * 1e9
        now = time.monotonic_ns()
        for slot in self._held:
            state, began = (int(word) for word in self._board.slots[slot])
            soonest = min(soonest, self._limit + (began - now if state & 1 else 0))
        return max(soonest / 1e9, 0.0) + TICK

    def lost(self, slot: int, looked: int | None = None) -> bool:
        """Note that the worker is dead, and return whether it had begun a block of its range.

        Its current block has no answer, and the rest of its range waits again. `looked` is when it
        was found late, None if it died by itself. Between that check and its death a worker may
        have gone on to the next block, which is not late, and waits again too.
        """
        if slot not in self._held:
            return False
        state, began = self._state(slot), int(self._board.slots[slot, 1])
        first = state >> 1
        if state & 1:
            self._board.out[first] = np.nan
            if looked is None or self._limit is None or looked - began > self._limit:
                first += 1
        self._report(slot, first)
        start, last = self._held.pop(slot)
        if first < last:
            self._waiting.appendleft((first, last))
        return state > 2 * start

    def _state(self, slot: int) -> int:
        """Return the state of a worker, within its range whatever the function wrote there."""
        start, last = self._held[slot]
        return min(max(int(self._board.slots[slot, 0]), 2 * start), 2 * last)

    def _report(self, slot: int, reached: int) -> None:
        more = reached - self._reported[slot]
        self._reported[slot] = reached
        if self._tick is not None and more > 0:
            self._tick(more)
