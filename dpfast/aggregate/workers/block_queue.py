"""Which blocks have been handed to which worker, and what is left of them when a worker is lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import numpy as np

from .shared_memory import Board

#: Seconds between two looks at the workers.
PATIENCE = 0.25
#: The same while somebody watches the progress.
WATCHED = 0.05
#: Seconds after a deadline, so that the look is not in vain.
TICK = 0.001
#: A worker gets this share of what is left, so that all end together and few orders are given.
SHARE = 4


class BlockQueue:
    """The blocks of a board, each for exactly one worker.

    Parameters
    ----------
    board : Board
        A worker says there which block it has come to.
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
        """Whether there are blocks that nobody has."""
        return bool(self._waiting)

    @property
    def over(self) -> bool:
        """Whether every block is done."""
        return not self._waiting and not self._held

    def take(self, slot: int) -> tuple[int, int]:
        """The next range for the worker of a slot: blocks first .. last - 1."""
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
        """The worker says that it has done its range."""
        self._report(slot, self._held[slot][1])
        del self._held[slot]

    def look(self, slot: int) -> None:
        """Report what the worker has done so far."""
        if slot in self._held:
            self._report(slot, self._state(slot) >> 1)

    def late(self, slot: int, now: int) -> bool:
        """Whether the call in work has taken longer than the limit."""
        if self._limit is None or slot not in self._held:
            return False
        state = self._state(slot)
        began = int(self._board.slots[slot, 1])
        if state != self._state(slot) or not state & 1:
            return False
        return now - began > self._limit

    def pause(self) -> float:
        """Seconds until it is time to look again, even if no worker says anything."""
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
        """The worker is dead: the block in work has no answer, the rest of its range waits again.

        Returns whether it had come to a block of its range.

        `looked` is when it was found late, None if it died by itself. Between that look and its
        death a worker may have gone on to the next block; which is not late, and waits again too.
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
        """Where a worker is, whatever the function has done to the memory of its process."""
        start, last = self._held[slot]
        return min(max(int(self._board.slots[slot, 0]), 2 * start), 2 * last)

    def _report(self, slot: int, reached: int) -> None:
        more = reached - self._reported[slot]
        self._reported[slot] = reached
        if self._tick is not None and more > 0:
            self._tick(more)
