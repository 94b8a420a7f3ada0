"""Any Python callable as an estimator, in threads or in processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ..._core import checks
from ...sources.base import RowSource
from ..blocks.layout import Window
from ..workers.pool import WorkerPool, cores
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
        It gets the rows of one block, in the order of their numbers, as an array of its own: shape
        (r,) or (r, width), or a structured array with a field for each column. See
        `aggregate.workers.calls.answer` for what it may return. It must be a function of its block
        alone. If it keeps something from one call for the next, or draws from a generator that
        calls share, then one row can change more than one output, and the release is not private.
    executor : {"auto", "threads", "processes"}
        "threads": in this process, without overhead, but a crash of the function ends the program.
        "processes": in fresh interpreters, where it may crash or hang. "auto" is "threads", and
        "processes" with a time limit.
    time_limit : float, optional
        Seconds of wall time for one block, from the beginning of its call in a worker process; a
        block that takes longer has no answer. The time of a call depends on the load of the
        machine, so a limit should be far above the time that a block needs, else other blocks can
        make one late. Not with "threads": a thread of Python cannot be stopped.

    Notes
    -----
    A block has no answer if the function raises anything but `KeyboardInterrupt`, returns
    something else than a number (or, for vectors, than as many as there are bounds), or does not
    come back. Warnings are off during the calls.

    Cost: in threads about two microseconds a block beside the call, and one copy of the block. In
    processes about as much, and a start of 0.15 s or so for each worker, and for a new one after
    each block that was the end of a worker. A worker has one thread for linear algebra, unless
    ``OMP_NUM_THREADS`` is set. What the function prints goes where the caller's output goes;
    its standard input is empty.
    """

    function: Callable[[Any], Any]
    executor: str = "auto"
    time_limit: Any = None

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Check the arguments and, for processes, that a worker can load the function.

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
    """Check these arguments, and return whether they ask for worker processes."""
    checks.choice("executor", executor, EXECUTORS)
    if time_limit is None:
        return executor == "processes"
    checks.positive("time_limit", time_limit)
    if executor == "threads":
        rule = "None with executor='threads', since a thread cannot be stopped"
        checks.fail("time_limit", rule, time_limit)
    return True
