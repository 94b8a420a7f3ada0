"""Any Python callable as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...sources.row_source import RowSource
from ..blocks.layout import Window, laid_out
from ..blocks.partition import Partition
from ..workers.pool import WorkerPool, cores
from ..workers.threads import call_blocks
from .base import Bound, ByBlock, Job

EXECUTORS = ("auto", "threads", "processes")


@dataclass(frozen=True)
class PythonFunction:
    """A callable ``f(block) -> float or 1-D array``, in threads or in processes.

    Parameters
    ----------
    function : callable
        It is given the rows of one block, in the order of their numbers, as an array of its own:
        shape (r,) or (r, width), or a structured array with a field for each column. What it
        returns is described at `dpfast.aggregate.workers.calls.answer`. It should be a function of
        its block alone. If it keeps something from one call for the next, or draws from a generator
        that calls share, then one row can change more than one output, and nothing is private any
        more.
    executor : {"auto", "threads", "processes"}
        "threads": in this process, where the function costs no more than its call, and a crash
        is a crash of the program. "processes": in fresh interpreters, where it can crash or
        hang. "auto" is "threads", with a time limit "processes".
    time_limit : float, optional
        Seconds of wall time for one block, from when its call begins in a worker process; a block
        that takes longer has no answer. How long a call takes depends on what else the machine
        does, so a limit should be far above what a block needs, else other blocks can make one
        late. Not with "threads": a thread of Python cannot be stopped.

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
    time_limit: float | None = None

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
        if in_processes(self.executor, self.time_limit):
            return _InProcesses(self.function, width, self.time_limit)
        return _InThreads(self.function, width)


def in_processes(executor: str, time_limit: float | None) -> bool:
    """Whether these arguments, which are checked, ask for worker processes."""
    checks.choice("executor", executor, EXECUTORS)
    if time_limit is None:
        return executor == "processes"
    checks.positive("time_limit", time_limit)
    if executor == "threads":
        rule = "None with executor='threads', since a thread cannot be stopped"
        checks.fail("time_limit", rule, time_limit)
    return True


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


class _InThreads(ByBlock):
    def __init__(self, function: Callable[[Any], Any], width: int | None) -> None:
        self.function = function
        self.d = 1 if width is None else width
        self.name = _name(function)

    def fill(self, window: Window, out: NDArray[np.float64], job: Job) -> None:
        workers = 1 if job.workers is None else job.workers
        call_blocks(self.function, window.rows, window.offsets, out, workers, job.tick)


class _InProcesses:
    def __init__(
        self, function: Callable[[Any], Any], width: int | None, time_limit: float | None
    ) -> None:
        self.d = 1 if width is None else width
        self.name = _name(function)
        self._crew = WorkerPool(
            function, None if time_limit is None else float(time_limit), "estimator"
        )

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> NDArray[np.float64]:
        found = np.full((partition.blocks, self.d), np.nan)
        workers = cores() if job.workers is None else job.workers
        with (
            self._crew as crew,
            laid_out(source, partition, job.workers, job.spill, shared=True) as blocks,
        ):
            for window in blocks.windows():
                assert window.file is not None
                out = found[window.first : window.first + len(window.offsets) - 1]
                crew.call_blocks(window.rows, window.file, window.offsets, out, workers, job.tick)
        return found
