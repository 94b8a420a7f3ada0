"""A pool of worker processes, which a crash or a hanging call cannot take along.

Blocks are handed out in ranges. Shared memory tells which block a worker has reached, so that a
block costs no message. A worker that dies, or that is killed because its call exceeds the time
limit, leaves that one block without an answer; a new worker goes on with the next. No library
serves: a worker of `loky` that dies breaks the whole pool, and none has a limit of time for a call.
"""

from __future__ import annotations

import os
import pickle
import selectors
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.extras import extra
from ...errors import WorkerError
from ...tables.row_files import File
from .block_queue import BlockQueue, Board
from .worker_main import DONE, READY
from .worker_process import Worker, no_resources

#: Workers that may end, one after another, before they have loaded the function.
ATTEMPTS = 3


class WorkerPool:
    """Worker processes that have loaded one function; a ``with`` statement ends them.

    It can be used again after that: workers are started when they are needed.

    Parameters
    ----------
    function : callable
    time_limit : float or None
        Seconds of wall time that a call may take, from its beginning in the worker.
    name : str
        The name of the argument for messages.

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
    One worker is started at once, to check that it can load the function. That takes as long as an
    interpreter needs to import NumPy and what the function uses.
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
        except BaseException:  # Ctrl-C; its traceback keeps this object alive
            _end(self._workers)
            raise
        if not _read_messages(worker, message):
            self._remove(worker)
            if not worker.trouble:
                raise WorkerError("a worker process ended as soon as it had begun")
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
            Block b is ``rows[offsets[b]:offsets[b + 1]]``. Only the form of the array is used.
        file : File
            The place of the rows.
        offsets : int64 array, shape (blocks + 1,)
        out : float64 array, shape (blocks, d)
            NaN for a block without rows and for one without an answer: the function raised,
            returned something that is no answer, took too long, or ended its worker.
        workers : int
            The most processes.
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
                        wanted = len(self._workers)  # the machine cannot start more
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
        """Give up when workers end before their first call: then the rows are not the cause."""
        self._unable = 0 if lost.useful else self._unable + 1
        if self._unable == ATTEMPTS:
            self._unable = 0
            why = f" ({lost.trouble})" if lost.trouble else ""
            raise WorkerError(f"{ATTEMPTS} worker processes ended before they could begin{why}")


def _read_messages(worker: Worker, messages: bytes, ranges: BlockQueue | None = None) -> bool:
    """Read the messages of a worker; return False if they are its last."""
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
    """End all workers: idle ones by themselves, busy ones at once."""
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
        If it cannot be pickled; `name` is the argument.
    MissingExtraError
        If that takes cloudpickle, which is not installed.
    """
    try:
        plain = pickle.dumps(function)
        if b"__main__" not in plain:  # a worker has another __main__
            return plain
    except Exception:  # an object may raise anything where it is pickled
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

    Entries that are no paths (a hook of an editable installation) stay as they are.
    """
    entries = [entry for entry in sys.path if isinstance(entry, str)]
    try:
        return [os.path.abspath(e) if not e or os.path.exists(e) else e for e in entries]
    except OSError:  # the current directory is gone
        return entries
