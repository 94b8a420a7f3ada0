"""Chunks made ahead by other threads, a bounded number at a time, and no thread left behind."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, TypeVar

from .array import threads

T = TypeVar("T")

#: Decoders of one file when the user has not said: more would sooner wait for the disk.
MOST_DECODERS = 4


def decoders() -> int:
    """Threads that decode a file: ``DPFAST_NUM_THREADS``, by default one a core and at most four.

    Decoding, unlike a pass over an array, costs far more than the memory bandwidth it uses.
    """
    if os.environ.get("DPFAST_NUM_THREADS", "").strip():
        return threads()
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cores = os.cpu_count() or 1
    return min(cores, MOST_DECODERS)


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


_DONE: Any = object()


def overlapped(makers: Sequence[Generator[T]], ahead: int) -> Generator[T]:
    """Yield the items of all `makers`, each run in a thread of its own, in whatever order they
    come.

    At most `ahead` items exist at any time, those in the making and the caller's own included.
    The first error of a maker is raised here. When the caller stops early, by an error of its own,
    by Ctrl-C or by closing this generator, the makers are closed and their threads have ended
    before control returns.
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
                    del item  # else this thread would keep one more alive while it waits
        except BaseException as error:  # handed over, whatever it is, and raised by the caller
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
