"""Estimators that are functions of sums, which need no sort of the rows by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...sources.base import RowSource
from ..blocks import Moments
from ..blocks.partition import Partition
from .base import Bound
from .columns import Columns, columns, expect
from .streaming import Streamed, moments

Floats = NDArray[np.float64]


class ByColumn(ABC):
    """An estimator that is a function of sums or extremes, mostly one answer for each column."""

    name: ClassVar[str]

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Check, before anything is spent, that bounds and columns agree."""
        form = columns(source)
        expect(self.name, self._width(form), width)
        return Streamed(self.name, partial(self._compute, form=form))

    def _width(self, form: Columns) -> int | None:
        """Return the number of answers, None for a scalar."""
        return form.width

    @abstractmethod
    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        """Return the answers, shape (blocks, d)."""


@dataclass(frozen=True)
class Mean(ByColumn):
    """The mean of a block; of a block of rows, the mean of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "mean".

    Notes
    -----
    One pass, no shuffle, memory O(blocks). The sum is exact and rounded once, so the answer does
    not depend on the order of the rows and does not overflow where the mean does not. The mean
    of a block with a NaN is NaN, and so is that of an empty block: both count as the default.

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

    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        return moments(source, partition, form).means()


@dataclass(frozen=True)
class Variance(ByColumn):
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
        If `ddof` is no integer of at least 0.

    Notes
    -----
    Two passes, the second about the means of the blocks, so that a large offset does not cost
    digits; no shuffle, memory O(blocks). A block answers NaN, and counts as the default, where it
    has at most `ddof` rows, a NaN or an infinity, or squares beyond float64 (of values more than
    1e154 from their mean).

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
        object.__setattr__(self, "ddof", _degrees(self.ddof))

    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        squares = [(j, j) for j in range(form.count)]
        variances = centered(source, partition, form, squares).variances(self.ddof)
        return np.where(variances < np.inf, variances, np.nan)


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """The square root of the variance of a block; of a block of rows, of that of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "std".

    Parameters
    ----------
    ddof : int, default 0
        As in `Variance`. With 1 the root is still too little, by about one part in four times the
        number of rows.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `ddof` is no integer of at least 0.

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

    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        return np.sqrt(super()._compute(source, partition, form))


def _degrees(ddof: Any) -> int:
    """Return degrees of freedom that float64 can subtract from a number of rows."""
    degrees = checks.whole("ddof", ddof)
    if degrees > 1 << 53:
        checks.fail("ddof", "at most 2**53", ddof)
    return degrees


def centered(
    source: RowSource,
    partition: Partition,
    form: Columns,
    products: bool | list[tuple[int, int]],
) -> Moments:
    """Return moments with products about the means of the blocks, in two passes."""
    means = moments(source, partition, form).means()
    return moments(source, partition, form, products, means)
