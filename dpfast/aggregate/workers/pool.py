"""A pool of worker processes that survives crashes and hanging calls of a user's function.

Blocks are given to workers in ranges. Shared memory shows which block a worker has reached, so no
message is needed for each block. If a worker dies, or is killed because its call exceeds the time
limit, only this block has no answer. A new worker continues with the next block. No library does
this: in `loky`, a worker that dies breaks the whole pool, and no library has a time limit for a
call.
"""

from __future__ import annotations

import os
import pickle
import selectors
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.extras import extra
from ...errors import WorkerError
from ...tables.row_files import File
from .worker_main import DONE, READY, parts
from .worker_process import Worker, no_resources

#: Seconds between two checks of the workers.
PATIENCE = 0.25
#: Seconds between two checks while progress is shown.
WATCHED = 0.05
#: A deadline is checked so many seconds later. Then it has surely passed.
TICK = 0.001
#: A worker gets 1 / SHARE of its fair share of the remaining blocks. So all workers end at about
#: the same time.
SHARE = 4


class Board:
    """Shared memory of parent and workers: states, offsets and answers of a window of blocks.

    Attributes
    ----------
    slots : int64 array, shape (workers, 2)
        For each worker, two numbers. The first is 2 b + 1 while the worker works on block b, and 2
        b if block b is next. The second is the time at which the current call began, by
        `time.monotonic_ns`. The parent writes them while the worker is idle.
    offsets : int64 array, shape (blocks + 1,)
        The offsets of the blocks.
    out : float64 array, shape (blocks, d)
        The answers, NaN at first. A row is written by the worker to which its block was given.
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
    """A queue of the blocks of a board, which gives each block to exactly one worker.

    Parameters
    ----------
    board : Board
        The shared memory, in which a worker writes the block that it has reached.
    limit : int or None
        The nanoseconds that a block may take.
    tick : callable, optional
        ``tick(b)`` is called when b more blocks are seen to be done.
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
        """Whether some blocks are not yet given to a worker."""
        return bool(self._waiting)

    @property
    def over(self) -> bool:
        """Whether all blocks are done."""
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
        """Record that a worker has finished its range of blocks."""
        self._report(slot, self._held[slot][1])
        del self._held[slot]

    def look(self, slot: int) -> None:
        """Report the progress of a worker so far."""
        if slot in self._held:
            self._report(slot, self._state(slot) >> 1)

    def late(self, slot: int, now: int) -> bool:
        """Return whether the current call of a worker has taken longer than the limit."""
        if self._limit is None or slot not in self._held:
            return False
        state = self._state(slot)
        began = int(self._board.slots[slot, 1])
        if state != self._state(slot) or not state & 1:
            return False
        return now - began > self._limit

    def pause(self) -> float:
        """Return the seconds until the next time to check for late calls."""
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
        """Record that a worker is dead, and return whether it had begun a block of its range.

        The current block of the worker has no answer, and the remaining blocks of its range wait
        again. `looked` is the time at which the worker was found late, or None if it died by
        itself. Between this time and its death, the worker may have started the next block. This
        block is not late, and waits again too.
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
        """Return the state of a worker, clamped to its range against wild writes."""
        start, last = self._held[slot]
        return min(max(int(self._board.slots[slot, 0]), 2 * start), 2 * last)

    def _report(self, slot: int, reached: int) -> None:
        more = reached - self._reported[slot]
        self._reported[slot] = reached
        if self._tick is not None and more > 0:
            self._tick(more)


#: This many workers may end before they have loaded the function, one after another.
ATTEMPTS = 3


class WorkerPool:
    """Worker processes that have loaded one function; a ``with`` statement ends them.

    The pool can be used again afterwards. Workers are started when they are needed.

    Parameters
    ----------
    function : callable
    time_limit : float or None
        The seconds of wall time that a call in a worker may take.
    name : str
        The name of the argument, for messages.

    Raises
    ------
    ArgumentError
        If the function cannot be sent, or a worker cannot load it.
    MissingExtraError
        If cloudpickle is needed and not installed.
    WorkerError
        If no process can be started.

    Notes
    -----
    One worker is started immediately, to check that it can load the function. This takes as long as
    an interpreter needs to import NumPy and the libraries of the function.
    """

    def __init__(self, function: Callable[[Any], Any], time_limit: float | None, name: str) -> None:
        load = packed(function, name)
        self._limit = None if time_limit is None else max(1, round(min(time_limit, 1e9) * 1e9))
        with no_resources():
            self._payload = File(len(load), open_to_all=False)
        self._workers: list[Worker] = []
        weakref.finalize(self, _finalize, os.getpid(), self._workers, self._payload)
        self._payload.map[: len(load)] = load
        self._start = search_path(), self._payload.path, len(load), self._limit
        self._unable = 0
        try:
            worker = self._start_worker(0)
            message = worker.receive()
        except BaseException:
            # For example Ctrl-C: its traceback would keep this object, and the workers, alive.
            _end(self._workers)
            raise
        if not _read_messages(worker, message):
            self._remove(worker)
            if not worker.trouble:
                raise WorkerError("a worker process ended right after its start")
            rule = f"a function that a worker process can load ({worker.trouble})"
            checks.fail(name, rule, function)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *error: object) -> None:
        _end(self._workers)

    def call_blocks(
        self,
        rows: NDArray[Any],
        file: File,
        offsets: NDArray[np.int64],
        out: NDArray[np.float64],
        workers: int,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Call the function on every block that has rows, and write its answers to `out`.

        Parameters
        ----------
        rows : array, shape (n, ...)
            Block b is ``rows[offsets[b]:offsets[b + 1]]``. Only dtype and shape of `rows` are used.
        file : File
            The location of the rows.
        offsets : int64 array, shape (blocks + 1,)
        out : float64 array, shape (blocks, d)
            It receives the answers. NaN for a block without rows, or without an answer: the
            function raised an error, returned something that is not an answer, took too long, or
            ended its worker.
        workers : int
            The largest number of processes.
        tick : callable, optional
            ``tick(b)`` is called from time to time, from this thread, when b more blocks are done.

        Raises
        ------
        WorkerError
            If no process can be started.
        """
        filled = int(np.count_nonzero(np.diff(offsets)))
        if not filled:
            out[:] = np.nan
            if tick is not None:
                tick(len(out))
            return
        slots = max([workers, *(1 + worker.slot for worker in self._workers)])
        with no_resources():
            board = Board(slots, offsets, out.shape[1])
        try:
            window = ("window", (file.path, rows.nbytes, rows.dtype, rows.shape))
            ranges = BlockQueue(board, self._limit, tick)
            self._work(board, ranges, window, file.fd, min(workers, filled))
            out[:] = board.out
        finally:
            board.file.close()

    def _work(self, board: Board, ranges: BlockQueue, window: Any, fd: int, wanted: int) -> None:
        with no_resources():
            selector = selectors.DefaultSelector()
        with selector:
            for worker in self._workers:
                selector.register(worker.control, selectors.EVENT_READ, worker)
            while True:
                for worker in self._workers:
                    if worker.ready and not worker.busy and ranges.waiting:
                        if worker.board is not board:
                            worker.send((*window, board.mapping(worker.slot)), [fd, board.file.fd])
                            worker.board = board
                        worker.send(("range", *ranges.take(worker.slot)))
                        worker.busy = True
                if ranges.over:
                    return
                while ranges.waiting and len(self._workers) < wanted:
                    free = set(range(wanted)) - {worker.slot for worker in self._workers}
                    try:
                        worker = self._start_worker(min(free))
                    except WorkerError:
                        if not self._workers:
                            raise
                        wanted = len(self._workers)  # no more workers can be started
                        break
                    selector.register(worker.control, selectors.EVENT_READ, worker)
                heard = {key.data for key, _ in selector.select(ranges.pause())}
                looked = time.monotonic_ns()
                for worker in list(self._workers):
                    gone = worker in heard and not _read_messages(worker, worker.receive(), ranges)
                    late = not gone and ranges.late(worker.slot, looked)
                    if gone or late or worker.ended():
                        selector.unregister(worker.control)
                        _read_messages(worker, self._remove(worker), ranges)
                        worker.useful |= ranges.lost(worker.slot, looked if late else None)
                        self._count(worker)
                    else:
                        ranges.look(worker.slot)

    def _start_worker(self, slot: int) -> Worker:
        worker = Worker(slot)
        self._workers.append(worker)
        worker.send(self._start, [self._payload.fd])
        return worker

    def _remove(self, worker: Worker) -> bytes:
        self._workers.remove(worker)
        return worker.kill()

    def _count(self, lost: Worker) -> None:
        """Raise an error if too many workers end before their first call (not due to rows)."""
        self._unable = 0 if lost.useful else self._unable + 1
        if self._unable == ATTEMPTS:
            self._unable = 0
            why = f" ({lost.trouble})" if lost.trouble else ""
            raise WorkerError(f"{ATTEMPTS} worker processes ended before they started{why}")


def _read_messages(worker: Worker, messages: bytes, ranges: BlockQueue | None = None) -> bool:
    """Read the messages of a worker; return False after its last message."""
    for at, code in enumerate(messages):
        if code == READY[0]:
            worker.ready = True
        elif code == DONE[0] and worker.busy and ranges is not None:
            worker.busy, worker.useful = False, True
            ranges.done(worker.slot)
        else:
            worker.trouble = messages[at + 1 :].decode(errors="replace")
            return False
    return bool(messages)


def _end(workers: list[Worker]) -> None:
    """End all workers: let idle workers exit by themselves, and kill busy workers."""
    for worker in workers:
        worker.dismiss()
    while workers:
        workers[-1].wait()
        workers.pop()


def _finalize(owner: int, workers: list[Worker], payload: File) -> None:
    """End a pool that is no longer referenced, but not its copy in a forked process."""
    if os.getpid() == owner:
        _end(workers)
    payload.close()


def packed(function: Callable[[Any], Any], name: str) -> bytes:
    """Return the pickle of `function`: by reference if its module can be imported, else by value.

    Functions of `__main__`, closures and lambdas go by value, through cloudpickle.

    Raises
    ------
    ArgumentError
        If the function cannot be pickled. `name` is the name of the argument.
    MissingExtraError
        If cloudpickle is needed and not installed.
    """
    try:
        plain = pickle.dumps(function)
        if b"__main__" not in plain:  # in a worker, __main__ is another module
            return plain
    except Exception:  # pickling an object may raise any error
        pass
    cloudpickle = extra(
        "cloudpickle",
        f"a worker process cannot import {name} (put it in a module), and sending its code",
    )
    try:
        by_value: bytes = cloudpickle.dumps(function)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        rule = f"a function that can be sent to a worker process ({reason})"
        checks.fail(name, rule, function)
    return by_value


def search_path() -> list[str]:
    """Return the module search path of this process, independent of the current directory.

    Entries that are not paths (such as a hook of an editable installation) are not changed.
    """
    entries = [entry for entry in sys.path if isinstance(entry, str)]
    try:
        return [os.path.abspath(e) if not e or os.path.exists(e) else e for e in entries]
    except OSError:  # the current directory does not exist any more
        return entries
