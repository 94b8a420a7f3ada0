"""The protocol of estimators of sample and aggregate, and the job that they run in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...sources.base import RowSource
from ..blocks.layout import Window, laid_out
from ..blocks.partition import Partition


@dataclass(frozen=True, slots=True)
class Job:
    """How the work is done; nothing here changes a result.

    If `workers` is None, the estimator chooses the number. `tick(b)` is called now and then, from
    any thread, with how many more blocks are done. `spill` is the directory for data beyond memory.
    """

    workers: int | None = None
    tick: Callable[[int], None] | None = None
    spill: str | None = None


class Bound(Protocol):
    """An estimator that has been checked against the form of the data."""

    @property
    def name(self) -> str:
        """Its name in the ledger."""
        ...

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> NDArray[np.float64]:
        """NOT PRIVATE. Return one row a block, shape (blocks, d), d = 1 for a scalar.

        Row b is a function of the rows of block b alone, in their order, to the last bit: not of
        chunks, workers or other blocks. NaN in the whole row stands for "no answer" (an empty
        block, a failure). No exception depends on what rows hold.
        """
        ...


class Estimator(Protocol):
    """A function of a block."""

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Check, before anything is spent, that it suits these data.

        `width` is the number of coordinates that the bounds are for, None for a scalar. Looks at
        the form of the source only (dtype, width), never at rows.

        Raises
        ------
        ArgumentError, ArgumentTypeError
        """
        ...


class ByBlock(ABC):
    """A `Bound` that needs all rows of a block at once."""

    name: str
    d: int

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> NDArray[np.float64]:
        answers = np.full((partition.blocks, self.d), np.nan)
        with laid_out(source, partition, job.workers, job.spill) as blocks:
            for window in blocks.windows():
                stop = window.first + len(window.offsets) - 1
                self.fill(window, answers[window.first : stop], job)
        return answers

    @abstractmethod
    def fill(self, window: Window, out: NDArray[np.float64], job: Job) -> None:
        """Write the output of each block of the window; leave NaN where there is none.

        `out` has a row for each block of the window and `d` columns, C order.
        """
