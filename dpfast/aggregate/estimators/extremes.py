"""The least and the greatest value of a block."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...sources.base import RowSource
from ..blocks import ContiguousLabels, Extremes
from ..blocks.partition import Partition
from .columns import Columns
from .moments import ByColumn
from .streaming import PIECE, ByLabel, tallied

Floats = NDArray[np.float64]


class _Ends(ByLabel):
    """The extremes of each block and column."""

    def __init__(self, blocks: int, columns: int) -> None:
        self.columns = [Extremes(blocks) for _ in range(columns)]

    def _each(self, rows: NDArray[Any]) -> Any:
        table = rows.reshape(len(rows), len(self.columns))
        for j, ends in enumerate(self.columns):
            yield ends, np.ascontiguousarray(table[:, j], np.float64)

    def add(self, labels: NDArray[np.uint32], rows: NDArray[Any]) -> None:
        for at in range(0, len(rows), PIECE):
            for ends, values in self._each(rows[at : at + PIECE]):
                ends.add(labels[at : at + PIECE], values)

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        for at in range(0, len(rows), PIECE):
            some = rows[at : at + PIECE]
            first, cuts = labels.runs(start + at, len(some))
            for ends, values in self._each(some):
                ends.add_runs(first, cuts, values)

    def merge(self, other: Self) -> Self:
        for column, more in zip(self.columns, other.columns, strict=True):
            column.merge(more)
        return self


class _Extreme(ByColumn):
    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        ends = tallied(source, partition, form, lambda: _Ends(partition.blocks, form.count)).columns
        least = np.stack([column.least() for column in ends], axis=1)
        most = np.stack([column.most() for column in ends], axis=1)
        # Only of an empty block is the least above the greatest.
        return np.where(least > most, np.nan, self._choose(least, most))

    @staticmethod
    @abstractmethod
    def _choose(least: Floats, most: Floats) -> Floats: ...


@dataclass(frozen=True)
class Minimum(_Extreme):
    """The least value of a block; of a block of rows, that of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "min".

    Notes
    -----
    The release is a typical minimum of ``n / blocks`` rows, not the minimum of the data. It is
    above the latter, the more so the more blocks there are, and no aggregator can repair that: the
    minimum of all rows depends on one row, which privacy hides. To learn where the data begin,
    release a low quantile (`dpfast.quantile`).

    One pass, no shuffle, memory O(blocks). A block with a NaN, or empty, answers NaN.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.arange(30_000) / 30_000
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.Minimum(), blocks=300, bounds=(0, 1),
    ...                                  epsilon=10.0, rng=dp.rng.InsecureGenerator(1))
    >>> 0.005 < answer < 0.015  # one in the hundred rows of a block, not 1 / 30000
    True
    """

    name = "min"

    @staticmethod
    def _choose(least: Floats, most: Floats) -> Floats:
        return least


@dataclass(frozen=True)
class Maximum(_Extreme):
    """The greatest value of a block; of a block of rows, that of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "max".

    Notes
    -----
    The release is a typical maximum of ``n / blocks`` rows, not the maximum of the data, which is
    greater: see `Minimum`. To learn where the data end, release a high quantile
    (`dpfast.quantile`).

    One pass, no shuffle, memory O(blocks). A block with a NaN, or empty, answers NaN.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.arange(30_000) / 30_000
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.Maximum(), blocks=300, bounds=(0, 1),
    ...                                  epsilon=10.0, rng=dp.rng.InsecureGenerator(1))
    >>> 0.985 < answer < 0.995
    True
    """

    name = "max"

    @staticmethod
    def _choose(least: Floats, most: Floats) -> Floats:
        return most
