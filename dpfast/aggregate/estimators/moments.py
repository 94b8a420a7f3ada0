"""Estimators of sums, products or extremes, for which rows are not sorted by block."""

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
    """The mean of a block. For rows of several columns, the mean of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "mean".

    Notes
    -----
    Cost: one pass over the data without sorting, and O(blocks) memory. The sum is exact and rounded
    once. So the answer does not depend on the order of the rows, and does not overflow unless the
    mean does. An empty block, or a block with a NaN, has no answer and counts as the `default`.

    Examples
    --------
    Ages from 20 to 60, whose mean is 40:

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
    """The variance of a block. For rows of several columns, the variance of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "var".

    Parameters
    ----------
    ddof : int, default 0
        The sum of squares is divided by the number of rows minus `ddof`, as in `numpy.var`. With 1
        the answer of a block is unbiased. With 0 the answer of a block of m rows is too small by
        the factor 1 - 1 / m. More blocks do not reduce this bias, and for small blocks it may
        exceed the noise.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `ddof` is not an integer of at least 0.

    Notes
    -----
    Cost: two passes over the data without sorting, and O(blocks) memory. The second pass sums
    squares about the means of the blocks, so a large offset does not cost digits. A block has no
    answer, and counts as the `default`, if it has at most `ddof` rows, a NaN or an infinity, or
    squares that overflow float64 (values more than 1e154 from their mean).

    Examples
    --------
    Numbers with the variance 3 and a large offset:

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
    """The standard deviation of a block. For rows of several columns, of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "std".

    Parameters
    ----------
    ddof : int, default 0
        As in `Variance`. With 1 the answer of a block of m rows is still too small, by a fraction
        of about 1 / (4 m).

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `ddof` is not an integer of at least 0.

    Notes
    -----
    Cost, and blocks without an answer: as in `Variance`.

    Examples
    --------
    Numbers with the variance 3:

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
    """The least value of a block. For rows of several columns, the least value of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "min".

    Notes
    -----
    Cost: one pass over the data without sorting, and O(blocks) memory. An empty block, or a block
    with a NaN, has no answer and counts as the `default`.

    The private answer is a typical minimum of ``n / blocks`` rows. It is larger than the minimum of
    all rows, and more blocks make it larger. No aggregator can correct this, because the minimum of
    all rows depends on one row, which privacy hides. To learn where the data begin, release a low
    quantile (`dpfast.quantile`).

    Examples
    --------
    The answer is near 0.01, which is the minimum of the hundred rows of a block:

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
    """The largest value of a block. For rows of several columns, the largest value of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "max".

    Notes
    -----
    Cost: one pass over the data without sorting, and O(blocks) memory. An empty block, or a block
    with a NaN, has no answer and counts as the `default`.

    The private answer is a typical maximum of ``n / blocks`` rows. It is smaller than the maximum
    of all rows, for the reason that `Minimum` gives. To learn where the data end, release a high
    quantile (`dpfast.quantile`).

    Examples
    --------
    The answer is near 0.99, which is the maximum of the hundred rows of a block:

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
    "correlation". For two columns the answer is a number. For m > 2 columns it is a vector with a
    number for each pair of columns: (0, 1), (0, 2), ..., (0, m - 1), (1, 2), ... So bounds are
    needed for m (m - 1) / 2 numbers.

    Notes
    -----
    Cost: two passes over the data without sorting, the second about the means of the blocks, and
    O(blocks m^2) memory. A block has no answer, and counts as the `default`, if a column is
    constant, if squares overflow float64, or if there is a NaN or an infinity. On blocks of few
    rows, a correlation r is biased towards 0 by about r (1 - r^2) / (2 rows).

    Examples
    --------
    Two columns with a correlation of sqrt(0.5):

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
