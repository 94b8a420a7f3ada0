"""Blocks in worker processes, whom a crash or a hanging call cannot take along.

Blocks are handed out in ranges; which block a worker has come to is read in shared memory, so that
a block costs no message. A worker that dies, or whose call takes longer than the time limit and
that is killed for it, leaves that one block without an answer; a new worker goes on with the next.
"""

from __future__ import annotations

import os
import selectors
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...errors import WorkerError
from .block_queue import BlockQueue
from .pickling import packed, search_path
from .shared_memory import Board, File
from .worker_main import DONE, READY
from .worker_process import Worker

#: Workers that may end, one after another, before they have loaded the function.
ATTEMPTS = 3


class RowFile(Protocol):
    """Where rows lie in a file; see `aggregate.blocks.layout.SharedRows`."""

    @property
    def fd(self) -> int: ...
    @property
    def path(self) -> str | None: ...
    @property
    def start(self) -> int: ...


class WorkerPool:
    """Worker processes that have loaded one function; a ``with`` statement ends them.

    It can be used again after that: workers are started when they are needed.

    Parameters
    ----------
    function : callable
    time_limit : float or None
        Seconds of wall time that a call may take, from when it begins in its worker.
    name : str
        The argument that the function was given as, for messages.

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
    One worker is started at once, to see that it can load the function. That takes as long as an
    interpreter that imports NumPy and whatever the function needs.
    """

    def __init__(self, function: Callable[[Any], Any], time_limit: float | None, name: str) -> None:
        load = packed(function, name)
        self._limit = None if time_limit is None else max(1, round(min(time_limit, 1e9) * 1e9))
        self._payload = File(len(load), open_to_all=False)
        self._workers: list[Worker] = []
        weakref.finalize(self, _disband, os.getpid(), self._workers, self._payload)
        self._payload.map[: len(load)] = load
        self._start = search_path(), self._payload.path, len(load), self._limit
        self._unable = 0
        try:
            worker = self._hire(0)
            said = worker.hear()
        except BaseException:  # Ctrl-C; who shows where it came from holds on to this object
            _end(self._workers)
            raise
        if not _heed(worker, said):
            self._bury(worker)
            if not worker.trouble:
                raise WorkerError("a worker process ended as soon as it had begun")
            rule = f"a function that a worker process can load ({worker.trouble})"
            checks.fail(name, rule, function)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _end(self._workers)

    def call_blocks(
        self,
        rows: NDArray[Any],
        file: RowFile,
        offsets: NDArray[np.int64],
        out: NDArray[np.float64],
        workers: int,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Call the function on every block that has rows, and write its answers to `out`.

        Parameters
        ----------
        rows : array, shape (n, ...)
            Block b is ``rows[offsets[b]:offsets[b + 1]]``. Only its form is looked at.
        file : RowFile
            Where the rows lie.
        offsets : int64 array, shape (blocks + 1,)
        out : float64 array, shape (blocks, d)
            NaN for a block without rows and for one without answer: the function raised something,
            returned what is no answer, took too long, or was the end of its worker.
        workers : int
            Processes at most.
        tick : callable, optional
            ``tick(b)`` now and then, with how many more blocks are done; from this thread.

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
        places = max([workers, *(1 + worker.slot for worker in self._workers)])
        board = Board(places, offsets, out.shape[1])
        try:
            window = ("window", (file.path, file.start, rows.nbytes, rows.dtype, rows.shape))
            ranges = BlockQueue(board, self._limit, tick)
            self._work(board, ranges, window, file.fd, min(workers, filled))
            out[:] = board.out
        finally:
            board.file.close()

    def _work(self, board: Board, ranges: BlockQueue, window: Any, fd: int, wanted: int) -> None:
        with selectors.DefaultSelector() as ears:
            for worker in self._workers:
                ears.register(worker.control, selectors.EVENT_READ, worker)
            while True:
                for worker in self._workers:
                    if worker.ready and not worker.busy and ranges.waiting:
                        if worker.board is not board:
                            form = board.form(worker.slot)
                            worker.send((*window, form), [fd, board.file.fd])
                            worker.board = board
                        worker.send(("range", *ranges.take(worker.slot)))
                        worker.busy = True
                if ranges.over:
                    return
                while ranges.waiting and len(self._workers) < wanted:
                    free = set(range(wanted)) - {worker.slot for worker in self._workers}
                    try:
                        worker = self._hire(min(free))
                    except WorkerError:
                        if not self._workers:
                            raise
                        wanted = len(self._workers)  # the machine has no room for more
                        break
                    ears.register(worker.control, selectors.EVENT_READ, worker)
                heard = {key.data for key, _ in ears.select(ranges.pause())}
                looked = time.monotonic_ns()
                for worker in list(self._workers):
                    gone = worker in heard and not _heed(worker, worker.hear(), ranges)
                    late = not gone and ranges.late(worker.slot, looked)
                    if gone or late or worker.ended():
                        ears.unregister(worker.control)
                        _heed(worker, self._bury(worker), ranges)
                        worker.useful |= ranges.lost(worker.slot, looked if late else None)
                        self._count(worker)
                    else:
                        ranges.look(worker.slot)

    def _hire(self, slot: int) -> Worker:
        worker = Worker(slot)
        self._workers.append(worker)
        worker.send(self._start, [self._payload.fd])
        return worker

    def _bury(self, worker: Worker) -> bytes:
        self._workers.remove(worker)
        return worker.bury()

    def _count(self, lost: Worker) -> None:
        """Give up when workers end before the first call, since then it is not for the rows."""
        self._unable = 0 if lost.useful else self._unable + 1
        if self._unable == ATTEMPTS:
            self._unable = 0
            why = f" ({lost.trouble})" if lost.trouble else ""
            raise WorkerError(f"{ATTEMPTS} worker processes ended before they could begin{why}")


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _heed(worker: Worker, said: bytes, ranges: BlockQueue | None = None) -> bool:
    """Take note of what a worker says; false if that is its end."""
    for at, code in enumerate(said):
        if code == READY[0]:
            worker.ready = True
        elif code == DONE[0] and worker.busy and ranges is not None:
            worker.busy, worker.useful = False, True
            ranges.done(worker.slot)
        else:
            worker.trouble = said[at + 1 :].decode(errors="replace")
            return False
    return bool(said)


def _end(workers: list[Worker]) -> None:
    """End all of them: those at rest by themselves, those at work at once."""
    for worker in workers:
        worker.dismiss()
    while workers:
        workers[-1].part()
        workers.pop()


def _disband(owner: int, workers: list[Worker], payload: File) -> None:
    """`_end` for a crew that nobody holds any more; not for its copy in a forked process."""
    if os.getpid() == owner:
        _end(workers)
    payload.close()
