"""Estimators of sums, products or extremes, which need no sort of the rows by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._core import checks
from ...tables.base import RowSource
from ..blocks.partition import Partition
from ..blocks.tallies import Extremes, Tally, floats_of
from .base import Floats
from .columns import Columns, Streamed, centered, moments, tallied


@dataclass(frozen=True)
class Mean(Streamed):
    """The mean of a block; of a block of rows, the mean of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "mean".

    Notes
    -----
    One pass, no shuffle, memory O(blocks). The sum is exact and rounded once, so the answer does
    not depend on the order of the rows and does not overflow where the mean does not. The mean of a
    block with a NaN, or of an empty block, is NaN: such a block counts as the default.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = 20 + np.arange(30_000) * 0.618 % 40
    >>> answer = dp.sample_and_aggregate(ages, dp.estimators.Mean(), blocks=600, bounds=(0, 100),
    ...                                  epsilon=1.0, rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 40) < 2
    True
    """

    name = "mean"

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        return moments(source, partition, columns).means()


@dataclass(frozen=True)
class Variance(Streamed):
    """The variance of a block; of a block of rows, the variance of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "var".

    Parameters
    ----------
    ddof : int, default 0
        The sum of squares is divided by the number of rows less `ddof`, as in `numpy.var`. With 1
        the answer of a block has no bias. With 0, the answer of a block of m rows is too small by a
        factor of 1 - 1 / m. The number of blocks does not reduce that bias, which may exceed the
        noise where blocks are small.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `ddof` is not an integer of at least 0.

    Notes
    -----
    Two passes, the second about the means of the blocks, so that a large offset does not cost
    digits; no shuffle, memory O(blocks). A block answers NaN, and counts as the default, if it has
    at most `ddof` rows, a NaN or an infinity, or squares beyond float64 (of values more than 1e154
    from their mean).

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = 1e9 + np.arange(30_000) * 0.618 % 6
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.Variance(ddof=1), blocks=600,
    ...                                  bounds=(0, 20), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 3) < 0.2
    True
    """

    ddof: int = 0
    name = "var"

    def __post_init__(self) -> None:
        # A larger ddof could not be subtracted from the number of rows in float64.
        object.__setattr__(self, "ddof", checks.whole("ddof", self.ddof, 0, 1 << 53))

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        squares = [(j, j) for j in range(columns.count)]
        variances = centered(source, partition, columns, squares).variances(self.ddof)
        return np.where(variances < np.inf, variances, np.nan)


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """The standard deviation of a block, or of each column of a block of rows.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "std".

    Parameters
    ----------
    ddof : int, default 0
        As in `Variance`. With 1 the root is still too small, by about one part in four times the
        number of rows.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `ddof` is not an integer of at least 0.

    Notes
    -----
    As `Variance`.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.arange(30_000) * 0.618 % 6
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.StandardDeviation(ddof=1), blocks=600,
    ...                                  bounds=(0, 6), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 3**0.5) < 0.1
    True
    """

    name = "std"

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        return np.sqrt(super()._compute(source, partition, columns))


class _Extreme(Streamed):
    #: Whether the answer is the maximum, not the minimum.
    greatest: ClassVar[bool]

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        def make() -> Tally[Extremes]:
            return Tally(
                [Extremes(partition.blocks) for _ in range(columns.count)],
                lambda rows, of_rows: iter(floats_of(rows, columns.count)),
            )

        extremes = tallied(source, partition, columns, make).parts
        least = np.stack([column.least() for column in extremes], axis=1)
        most = np.stack([column.most() for column in extremes], axis=1)
        # The minimum is above the maximum only if the block is empty.
        return np.where(least > most, np.nan, most if self.greatest else least)


@dataclass(frozen=True)
class Minimum(_Extreme):
    """The least value of a block; of a block of rows, the least value of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "min".

    Notes
    -----
    The release is a typical minimum of ``n / blocks`` rows, not the minimum of the data. The
    release is larger, the more so with more blocks, and no aggregator can correct that: the minimum
    of all rows depends on one row, which privacy hides. To learn where the data begin, release a
    low quantile (`dpfast.quantile`).

    One pass, no shuffle, memory O(blocks). The answer of an empty block, or of a block with a NaN,
    is NaN.

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
    greatest = False


@dataclass(frozen=True)
class Maximum(_Extreme):
    """The greatest value of a block; of a block of rows, the greatest value of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "max".

    Notes
    -----
    The release is a typical maximum of ``n / blocks`` rows, not the maximum of the data, which is
    greater: see `Minimum`. To learn where the data end, release a high quantile
    (`dpfast.quantile`).

    One pass, no shuffle, memory O(blocks). The answer of an empty block, or of a block with a NaN,
    is NaN.

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
    greatest = True


@dataclass(frozen=True)
class Correlation(Streamed):
    """Pearson's correlation of the columns of a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "correlation". For two columns the answer is a number. For m > 2 columns the answer is the
    vector of all pairs i < j, (0, 1), (0, 2), ..., (0, m - 1), (1, 2), ..., so bounds are needed
    for m (m - 1) / 2 answers.

    Notes
    -----
    Two passes, the second about the means of the blocks; no shuffle, memory O(blocks m^2). The
    answer is NaN, and the block counts as the default, where a column is constant, where squares
    leave the range of float64, and where there is a NaN or an infinity. In small blocks a
    correlation is biased towards 0 by about r (1 - r^2) / (2 rows).

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.outer(np.arange(30_000), [2**0.5, 3**0.5]) % 1
    >>> x[:, 1] += x[:, 0]
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.Correlation(), blocks=300,
    ...                                  bounds=(-1, 1), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 0.5**0.5) < 0.05
    True
    """

    name = "correlation"

    def _width(self, columns: Columns) -> int | None:
        if columns.count < 2:
            checks.fail("data", "rows of two columns or more for 'correlation'", columns.count)
        return None if columns.count == 2 else columns.count * (columns.count - 1) // 2

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        covariance = centered(source, partition, columns).covariances()
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        usable = (variance > 0) & (variance < np.inf)
        i, j = np.triu_indices(columns.count, 1)
        with np.errstate(all="ignore"):
            root = np.sqrt(variance)
            answers = np.clip(covariance[:, i, j] / (root[:, i] * root[:, j]), -1.0, 1.0)
        return np.where(usable[:, i] & usable[:, j], answers, np.nan)
