"""How many threads a call may use, and how work is spread among them.

Answers do not depend on the number of threads: integers can be added in any order, and each stream
of noise belongs to a position and not to a thread.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar, overload

from . import checks

S = TypeVar("S")
T = TypeVar("T")

VARIABLE = "DPFAST_NUM_THREADS"
MOST = 1024
#: Files with the CPU quota of a container: for cgroup version 2, then for version 1.
QUOTAS = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)

_chosen: int | None = None
_here = threading.local()


@overload
def threads() -> int: ...
@overload
def threads(n: int | None) -> AbstractContextManager[Any]: ...
def threads(n: Any = ...) -> int | AbstractContextManager[Any]:
    """Return or set how many threads a call may use in this process.

    Parameters
    ----------
    n : int or None, optional
        The number of threads to set, from 1 to 1024; None sets the default. If left out, nothing is
        set.

    Returns
    -------
    int
        If `n` is left out: the number of threads that a call may use.
    context manager
        If `n` is given. The new number applies to the whole process from this call on. If the
        result is used in a ``with`` block, the end of the block restores the former number.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `n`, or the environment variable, is not an integer from 1 to 1024.

    Notes
    -----
    The default is the environment variable ``DPFAST_NUM_THREADS``. If it is not set, the default is
    the number of cores that the process may use, by its affinity and the quota of its container. In
    a worker process of multiprocessing, joblib, Dask or Spark it is one thread, because other
    workers share the machine. Small work starts no thread. The number of threads does not change
    any bit of an answer.

    Examples
    --------
    >>> import dpfast as dp
    >>> with dp.threads(2):
    ...     dp.threads()
    2
    """
    if n is ...:
        return _number()
    if n is not None and checks.whole("n", n, 1) > MOST:
        checks.fail("n", f"an integer from 1 to {MOST}", n)
    restored = ExitStack()
    restored.callback(_ask, _chosen)
    _ask(None if n is None else int(n))
    return restored


def _ask(n: int | None) -> None:
    global _chosen
    _chosen = n


@contextmanager
def alone() -> Iterator[None]:
    """Let calls in this thread use no other threads, because the work is spread already."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def is_asked() -> bool:
    """Tell whether the user has set the number of threads, by `threads` or the environment."""
    return _chosen is not None or bool(os.environ.get(VARIABLE, "").strip())


def _number() -> int:
    if getattr(_here, "alone", False):
        return 1
    if _chosen is not None:
        return _chosen
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return 1 if _is_worker() else cores()
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST):
        checks.fail(VARIABLE, f"an integer from 1 to {MOST}", text)
    return int(text)


def _is_worker() -> bool:
    """Tell whether this process is a worker of multiprocessing, joblib, Dask or Spark."""
    # If multiprocessing is not imported, there is no pool.
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.current_process().name != "MainProcess":
        return True
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return (getattr(spec, "name", "") or "").startswith(("pyspark.", "distributed."))


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        usable = os.cpu_count() or 1
    return max(1, min(usable, _quota() or usable, MOST))


def _quota() -> int | None:
    """Return how many cores the container may use, rounded up; None if there is no limit."""
    for names in QUOTAS:
        try:
            words = " ".join(Path(name).read_text("ascii") for name in names).split()
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):  # "max", or no such file
            continue
        if quota > 0 and period > 0:
            return math.ceil(quota / period)
    return None


def run_in_threads(work: Callable[[S], T], items: Sequence[S], workers: int) -> list[T]:
    """Return the list of ``work(item)`` for all items, computed in up to `workers` threads."""
    if workers == 1 or len(items) <= 1:
        return [work(item) for item in items]
    # Imported here, because most programs do not need it.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(workers, len(items))) as pool:
        return list(pool.map(work, items))
