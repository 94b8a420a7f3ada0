"""Threads of a pass: their number, their shares of the rows, and chunks made ahead.

No library does this. `concurrent.futures` and `joblib` do not limit how many answers are in memory.
After Ctrl-C they wait for work that has begun.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core.threads import is_asked, threads

S = TypeVar("S")
T = TypeVar("T")

#: The default number of decoders for one file. With more, some would wait for the disk.
MOST_DECODERS = 4


def decoders() -> int:
    """Return the number of threads that decode a file: by default at most four.

    With more threads, some would wait for the disk.
    """
    return threads() if is_asked() else min(threads(), MOST_DECODERS)


def in_parts(
    length: int,
    parts: int,
    chunks: Callable[[int, int], Iterator[T]],
    summarise: Callable[[T], S],
    merge: Callable[[S, S], S],
) -> S:
    """Summarise `length` rows in equal parts, each in a thread of its own, and merge.

    ``chunks(start, stop)`` yields at least one. No two threads merge at the same time.
    """
    if parts == 1:
        with np.errstate(all="ignore"):
            return functools.reduce(merge, map(summarise, chunks(0, length)))
    # Imported here, because most programs do not need it.
    from concurrent.futures import ThreadPoolExecutor

    one_at_a_time = Lock()

    def both(a: S, b: S) -> S:
        with one_at_a_time:
            return merge(a, b)

    def part(i: int) -> S:
        some = chunks(length * i // parts, length * (i + 1) // parts)
        with np.errstate(all="ignore"):  # a new thread does not inherit the settings of its caller
            return functools.reduce(both, map(summarise, some))

    with ThreadPoolExecutor(parts) as pool:
        return functools.reduce(both, pool.map(part, range(parts)))


def spans_of(
    cuts: NDArray[np.int64], rows: int, groups: int | None = None
) -> Iterable[tuple[int, int]]:
    """Yield ranges of consecutive groups, each with at most `rows` rows or one group."""
    first, last = 0, len(cuts) - 1
    while first < last:
        stop = int(np.searchsorted(cuts, cuts[first] + rows, side="right")) - 1
        stop = min(max(stop, first + 1), last)
        if groups is not None:
            stop = min(stop, first + max(1, groups))
        yield first, stop
        first = stop


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


_DONE: Any = object()


def overlapped(makers: Sequence[Generator[T]], ahead: int) -> Generator[T]:
    """Yield the items of all `makers`, each run in its own thread, as the items come.

    At most `ahead` items exist at any time. This includes items that are being made, and the item
    that the caller holds. The first error of a maker is raised here. The caller may stop early, by
    an error, by Ctrl-C or by closing this generator. Then the makers are closed, and their threads
    have ended before control returns.
    """
    slots = Semaphore(ahead)
    stop = Event()
    ready: SimpleQueue[Any] = SimpleQueue()

    def work(maker: Generator[T]) -> None:
        try:
            with closing(maker):
                while slots.acquire() and not stop.is_set():
                    item = next(maker, _DONE)
                    if item is _DONE:
                        break
                    ready.put(item)
                    # Otherwise this thread would keep one more item in memory while it waits.
                    del item
        except BaseException as error:  # any error is passed on to the caller, who raises it
            ready.put(_Failure(error))
        finally:
            slots.release()
            ready.put(_DONE)

    team = [Thread(target=work, args=(m,), name="dpfast-decode", daemon=True) for m in makers]
    started: list[Thread] = []
    try:
        for thread in team:
            thread.start()
            started.append(thread)
        running = len(team)
        while running:
            item = ready.get()
            if item is _DONE:
                running -= 1
            elif isinstance(item, _Failure):
                raise item.error
            else:
                yield item
                del item
                slots.release()
    finally:
        stop.set()
        for _ in started:
            slots.release()
        for thread in started:
            thread.join()
