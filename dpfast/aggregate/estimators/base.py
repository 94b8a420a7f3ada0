"""Protocols of the estimators of sample and aggregate, and their passes over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.threads import run_in_threads, threads
from ...tables.base import RowSource
from ...tables.threads import spans_of
from ..blocks.layout import Window, laid_out
from ..blocks.partition import Partition

Floats = NDArray[np.float64]

#: Rows and blocks that one call of a kernel processes.
ROWS, BLOCKS = 1 << 18, 1 << 12


@dataclass(frozen=True, slots=True)
class Job:
    """The threads, memory and progress of a computation. They do not change a result.

    If `workers` is None, the estimator chooses the number. `tick(b)` is called from time to time,
    from any thread, when b more blocks are done. `spill` is the directory for data that do not fit
    in memory.
    """

    workers: int | None = None
    tick: Callable[[int], None] | None = None
    spill: str | None = None


class Bound(Protocol):
    """An estimator that was checked against the columns of the data."""

    @property
    def name(self) -> str:
        """The name of the estimator in the ledger."""

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> Floats:
        """NOT PRIVATE. Return one row a block, shape (blocks, d), d = 1 for a scalar.

        Row b depends on the rows of block b and their order alone, to the last bit, and not on
        chunks, workers or other blocks. A row of NaN means "no answer" (an empty block, or a
        failure). No exception depends on the values of rows.
        """


class Estimator(Protocol):
    """A statistic of a block of rows, in the protocol of `sample_and_aggregate`."""

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Return the estimator checked against the data, before anything is spent.

        `width` is the number of coordinates for which there are bounds, or None for a scalar. Only
        the type of the source (dtype, width) is read, never rows.

        Raises
        ------
        ArgumentError, ArgumentTypeError
        """


@dataclass(frozen=True, slots=True)
class ByBlock:
    """A `Bound` of `d` numbers that needs all rows of a block at once.

    ``fill(window, out, job)`` writes the output of each block of the window, and leaves NaN for a
    block without an answer. `out` has a row for each of these blocks and `d` columns, in C order.
    If there is a `pool` of other processes, it is open during the calls, and the windows have files
    for it.
    """

    name: str
    d: int
    fill: Callable[[Window, Floats, Job], None]
    pool: AbstractContextManager[object] | None = None

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> Floats:
        answers = np.full((partition.blocks, self.d), np.nan)
        laid = laid_out(source, partition, job.workers, job.spill, shared=self.pool is not None)
        with self.pool or nullcontext(), laid as windows:
            for window in windows:
                stop = window.first + len(window.offsets) - 1
                self.fill(window, answers[window.first : stop], job)
        return answers


class Buffers:
    """Reusable buffers of one thread, kept from one group of blocks to the next."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def take(self, name: str, count: int, dtype: Any = np.float64) -> NDArray[Any]:
        """Return an uninitialized buffer of `count` values, reused for each `name`."""
        held = self._held.get(name)
        if held is None or len(held) < count:
            held = self._held[name] = np.empty(count, dtype)
        return held[:count]

    def floats(self, values: NDArray[Any]) -> Floats:
        """Return values as contiguous float64, copied to a buffer only if needed."""
        flags = values.flags
        if values.dtype == np.float64 and flags.c_contiguous and flags.aligned:
            return values
        copy = self.take("floats", values.size).reshape(values.shape)
        copy[...] = values
        return copy


def by_groups(
    offsets: NDArray[np.int64], work: Callable[[int, int, Buffers], None], job: Job
) -> None:
    """Call ``work(first, last, buffers)`` for ranges of blocks that cover all of them.

    Block j is rows ``offsets[j]`` .. ``offsets[j + 1] - 1``. A range has at least one block. Each
    of `job.workers` threads has separate buffers, and the assignment of ranges to threads is fixed.
    """
    groups = list(spans_of(offsets, ROWS, BLOCKS))
    most = threads() if job.workers is None else job.workers

    def through(part: int) -> None:
        buffers = Buffers()
        for first, last in groups[part::count]:
            # A new thread does not inherit the settings of its caller.
            with np.errstate(all="ignore"):
                work(first, last, buffers)
            if job.tick is not None:
                job.tick(last - first)

    count = max(1, min(most, len(groups)))
    run_in_threads(through, range(count), count)


def grouped(
    name: str, d: int, work: Callable[[NDArray[Any], NDArray[np.int64], Floats, Buffers], None]
) -> ByBlock:
    """Return a `ByBlock` estimator that computes several blocks at a time.

    ``work(rows, cuts, out, buffers)`` writes the output of each block ``rows[cuts[j]:cuts[j + 1]]``
    to ``out[j]``.
    """

    def fill(window: Window, out: Floats, job: Job) -> None:
        offsets = window.offsets

        def some(first: int, last: int, buffers: Buffers) -> None:
            start, stop = offsets[first], offsets[last]
            cuts = offsets[first : last + 1] - start
            work(window.rows[start:stop], cuts, out[first:last], buffers)

        by_groups(offsets, some, job)

    return ByBlock(name, d, fill)
