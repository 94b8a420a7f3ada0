"""Functions as estimators: compiled by Numba, or any Python function in threads or processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ..._core import checks
from ..._core.threads import cores, threads
from ..._kernels.jit import BlockLoop
from ...errors import ArgumentError
from ...tables.base import RowSource
from ..blocks.layout import Window
from ..workers.pool import WorkerPool
from ..workers.threads import call_blocks
from .base import Bound, ByBlock, Floats, Job

Executor: TypeAlias = Literal["auto", "threads", "processes"]
EXECUTORS: tuple[str, ...] = get_args(Executor)


@dataclass(frozen=True)
class PythonFunction:
    """A callable ``f(block) -> float or 1-D array``, in threads or in processes.

    Parameters
    ----------
    function : callable
        The function gets a copy of the rows of one block, in the order of their numbers: an array
        of shape (r,) or (r, width), or a structured array with a field for each column.
        `aggregate.workers.calls.answer` lists the results that it may return. It must be a function
        of its block alone. If it remembers something from one call to the next, or draws from a
        generator that several calls share, one row can change several outputs. Then the release is
        not private.
    executor : {"auto", "threads", "processes"}
        "threads": in this process, without overhead. A crash of the function ends the program.
        "processes": in new interpreters, where the function may crash or hang. "auto" is
        "processes" if there is a time limit, else "threads".
    time_limit : float, optional
        The seconds of wall time that one call in a worker process may take. A block that takes
        longer has no answer. The time depends on the load of the machine, so choose a limit far
        above the time that a block needs. Otherwise other blocks can make a block late. Not with
        "threads", because a thread of Python cannot be stopped.

    Notes
    -----
    A block has no answer if the function raises an error (except `KeyboardInterrupt`), does not
    return, or returns anything but a number (for vectors, as many numbers as there are bounds).
    Warnings are off during the calls.

    Cost: in threads about two microseconds for each block, in addition to the call, and one copy of
    the block. In processes about as much, and 0.15 s to start each worker, and another worker after
    each block that ended a worker. A worker has one thread for linear algebra, unless
    ``OMP_NUM_THREADS`` is set. Printed text appears in the caller's output, and the standard input
    is empty.
    """

    function: Callable[[Any], Any]
    executor: str = "auto"
    time_limit: Any = None

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Return the checked estimator; for processes, workers must be able to load the function.

        Raises
        ------
        ArgumentError, ArgumentTypeError
        MissingExtraError
            If the function must be sent by value and cloudpickle is not installed.
        WorkerError
            If no process can be started.
        """
        function, d = self.function, 1 if width is None else width
        name = getattr(function, "__name__", None)
        name = name if isinstance(name, str) else type(function).__name__
        if not in_processes(self.executor, self.time_limit):

            def in_threads(window: Window, out: Floats, job: Job) -> None:
                workers = 1 if job.workers is None else job.workers
                call_blocks(function, window.rows, window.offsets, out, workers, job.tick)

            return ByBlock(name, d, in_threads)
        limit = None if self.time_limit is None else float(self.time_limit)
        pool = WorkerPool(function, limit, "estimator")

        def in_pool(window: Window, out: Floats, job: Job) -> None:
            assert window.file is not None
            workers = cores() if job.workers is None else job.workers
            pool.call_blocks(window.rows, window.file, window.offsets, out, workers, job.tick)

        return ByBlock(name, d, in_pool, pool)


def in_processes(executor: str, time_limit: Any) -> bool:
    """Return whether to call in worker processes, after checks of these arguments."""
    checks.choice("executor", executor, EXECUTORS)
    if time_limit is None:
        return executor == "processes"
    checks.positive("time_limit", time_limit)
    if executor == "threads":
        rule = "None with executor='threads', because a thread cannot be stopped"
        checks.fail("time_limit", rule, time_limit)
    return True


@dataclass(frozen=True)
class NumbaFunction:
    """A function ``f(block)`` made by ``numba.njit``, called inside a compiled loop.

    Parameters
    ----------
    function : Numba dispatcher
        The function takes a block that is not empty: a 1-D array of numbers, a 2-D array in C
        order, or a 1-D array of records (``block["age"]``). For one pair of bounds it returns a
        real number, for d pairs a 1-D array or a tuple of d real numbers. It may also return None.

    Notes
    -----
    The function is compiled before anything is spent, once for each type of block, which takes a
    second or so (more if it calls much of ``np.linalg``).

    A block has no answer, and counts as the public default, if the function raises an error or
    returns None, a NaN or an array of another length. An index out of range is noticed only if the
    function was compiled with ``boundscheck=True``. Otherwise other memory is read, as everywhere
    in Numba. If many blocks may fail, return NaN instead of raising an error. Numba does not free
    the memory of calls that an exception ends (about 500 bytes for a singular matrix in
    ``np.linalg.inv``, plus the temporary arrays of those calls).

    The function may write to its block. Random and keyed blocks are part of a sorted copy of the
    data, and are not copied again. Contiguous blocks are the caller's memory, so the function gets
    a copy.

    NumPy's random numbers inside the function come from a generator of Numba for each thread. This
    does not affect privacy, but answers are not reproducible.

    A function made with ``parallel=True`` is called from one thread, because Numba's threads cannot
    be started from several threads. A block has no time limit, because compiled code cannot be
    stopped from outside. With ``executor="processes"`` the function is called like a Python
    function, and a time limit is possible.
    """

    function: Any

    def bind(self, source: RowSource, width: int | None) -> Bound:
        loop = BlockLoop(self.function, source.dtype, source.width is not None)
        pairs = "one pair" if width is None else f"{width} pairs"
        if loop.length is None and width is not None:
            raise ArgumentError(
                f"bounds must be one pair, because the estimator returns one number, got {pairs}"
            )
        if loop.length is not None and width is None:
            rule = "a pair for each number, because the estimator returns several numbers"
            raise ArgumentError(f"bounds must be {rule}, got {pairs}")
        if loop.length not in (None, -1, width):
            rule = f"{loop.length} pairs, because the estimator returns {loop.length} numbers"
            raise ArgumentError(f"bounds must be {rule}, got {pairs}")
        is_parallel = bool(self.function.targetoptions.get("parallel"))

        def fill(window: Window, out: Floats, job: Job) -> None:
            workers = 1 if is_parallel else job.workers or min(cores(), threads())
            loop.fill(window.rows, window.offsets, window.ours, out, workers, job.tick)

        return ByBlock(self.function.__name__, 1 if width is None else width, fill)
