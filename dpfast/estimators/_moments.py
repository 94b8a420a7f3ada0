"""Estimators that are functions of sums, which need no block side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._blocks import Moments
from .._blocks.partition import Partition
from ..sources.table import RowSource
from ._base import Bound, Job

__all__ = ["Mean"]


@dataclass(frozen=True)
class Mean:
    """The mean of each column."""

    name = "mean"

    def bind(self, source: RowSource, width: int | None) -> Bound:
        if width != source.width:
            _check.fail("bounds", "one pair for each column of the data", width)
        return self

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> NDArray[np.float64]:
        tally = Moments(partition.blocks, source.width or 1)
        source.reduce(lambda chunk: tally.add(*partition.split(chunk)), lambda a, b: a)
        return tally.means()
