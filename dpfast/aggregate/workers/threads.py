"""Calls of a user's function on blocks, in threads of this process."""

from __future__ import annotations

import contextvars
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .calls import attempt


def call_blocks(
    function: Callable[[Any], Any],
    rows: NDArray[Any],
    offsets: NDArray[np.int64],
    out: NDArray[np.float64],
    workers: int = 1,
    tick: Callable[[int], None] | None = None,
) -> None:
    """Call `function` on every block that has rows, and write its answers to `out`.

    Parameters
    ----------
    function : callable
        The function gets a copy of each block.
    rows : array, shape (n, ...)
        Block b is ``rows[offsets[b]:offsets[b + 1]]``.
    offsets : int64 array, shape (blocks + 1,)
    out : float64 array, shape (blocks, d)
        It receives the answers: NaN for a block without an answer. The row of an empty block is not
        written.
    workers : int
        The number of threads. 1 means the calling thread only.
    tick : callable, optional
        ``tick(b)`` is called from any thread when b more blocks are done.

    Notes
    -----
    Warnings are off during the calls, and NumPy ignores floating-point errors. Otherwise an answer
    would depend on the caller's filters, and on whether the same warning was shown before. Every
    thread starts with the context variables of the caller. A thread of Python cannot be stopped. So
    after `KeyboardInterrupt` each thread finishes its block.
    """
    rows = np.asarray(rows)  # copies of blocks should be plain arrays, not memory maps
    ranges = _ranges(len(out), workers)
    turn = threading.Lock()
    stopped = threading.Event()

    def work() -> None:
        with np.errstate(all="ignore"):
            while not stopped.is_set():
                with turn:
                    start, stop = next(ranges, (0, 0))
                if start == stop:
                    return
                edges = offsets[start : stop + 1].tolist()
                for b in range(start, stop):
                    lo, hi = edges[b - start], edges[b - start + 1]
                    if lo < hi:
                        attempt(function, rows[lo:hi], out[b])
                    if tick is not None:
                        tick(1)
                    if stopped.is_set():
                        return

    # Warning filters are global, or local to a thread in some builds of Python.
    with _Silence() if getattr(sys.flags, "context_aware_warnings", False) else _shared:
        if workers == 1:
            contextvars.copy_context().run(work)
            return
        # Imported here, because most programs do not need it.
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(contextvars.copy_context().run, work) for _ in range(workers)]
            try:
                for job in as_completed(jobs):
                    job.result()
            finally:
                stopped.set()


class _Silence:
    """A context without warnings.

    Filters belong to the process, so overlapping calls share one saved state. With separate states,
    the call that ends last would restore the filters of another call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._filters = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._filters.enter_context(warnings.catch_warnings())
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._filters.close()


_shared = _Silence()


def _ranges(count: int, workers: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of blocks that shrink towards the end, so that all threads end together."""
    start = 0
    while start < count:
        stop = start + max(1, min((count - start) // (4 * workers), 4096))
        yield start, stop
        start = stop
