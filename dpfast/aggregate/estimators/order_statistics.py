"""Estimators that sort a column of each block: median, quantile, trimmed mean, mode."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Number
from ..._kernels import aggregate as _native
from ..blocks.tallies import Totals
from .base import Bound, Buffers, Floats, grouped
from .columns import ByColumn, Columns

Integers = NDArray[np.int64]


class EachColumn(ByColumn):
    """The base of estimators that compute one answer from a whole column of a block."""

    def _bound(self, columns: Columns) -> Bound:
        def work(rows: NDArray[Any], cuts: Integers, out: Floats, buffers: Buffers) -> None:
            for j in range(columns.count):
                out[:, j] = self._answers(buffers.floats(columns.column(rows, j)), cuts, buffers)

        return grouped(self.name, columns.count, work)

    @abstractmethod
    def _answers(self, values: Floats, cuts: Integers, buffers: Buffers) -> Floats:
        """Return the answers of blocks ``values[cuts[j]:cuts[j + 1]]``; `values` is read only."""


def _sizes(cuts: Integers) -> tuple[Integers, int]:
    sizes: Integers = np.diff(cuts)
    return sizes, int(sizes.max(initial=0))


def _pairs(
    values: Floats, cuts: Integers, ranks: Integers, buffers: Buffers
) -> tuple[Floats, Floats]:
    """Return the values at these ranks, counted from 0, and at the next ranks."""
    lower, upper = np.empty((2, len(ranks)))
    scratch = buffers.take("scratch", _sizes(cuts)[1] + _native.SPARE)
    _native.pairs(values, cuts, ranks, scratch, lower, upper)
    return lower, upper


@dataclass(frozen=True)
class Median(EachColumn):
    """The median of a block. For rows of several columns, the median of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "median".
    For an even number of rows it is the mean of the two middle values, as in `numpy.median`.

    Notes
    -----
    Cost: O(n) for any data, about 1.5 ns for each row in addition to sorting rows into blocks.
    Values are compared as float64, so integers above 2^53 are rounded first. An empty block, or a
    block with a NaN, has no answer and counts as the `default` of `dpfast.sample_and_aggregate`.

    Examples
    --------
    Ages from 20 to 60, whose median is 40:

    >>> import numpy as np, dpfast as dp
    >>> ages = 20 + np.arange(30_000) * 0.618 % 1 * 40
    >>> answer = dp.sample_and_aggregate(ages, dp.estimators.Median(), blocks=600, bounds=(0, 100),
    ...                                  epsilon=1.0, rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 40) < 2
    True
    """

    name = "median"

    def _answers(self, values: Floats, cuts: Integers, buffers: Buffers) -> Floats:
        sizes, _ = _sizes(cuts)
        lower, upper = _pairs(values, cuts, np.maximum(sizes - 1, 0) // 2, buffers)
        upper[sizes % 2 == 1] = lower[sizes % 2 == 1]
        with np.errstate(over="ignore", invalid="ignore"):
            medians: Floats = (lower + upper) / 2
            wide = np.isinf(medians)
            # The sum may overflow, but this mean does not.
            medians[wide] = lower[wide] / 2 + upper[wide] / 2
        return medians


@dataclass(frozen=True)
class Quantile(EachColumn):
    """A quantile of a block. For rows of several columns, the quantile of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`. Let m values be in
    ascending order, counted from 0. The answer is the value with the index q (m - 1), as in
    `numpy.quantile`.

    Parameters
    ----------
    q : float, Fraction or Decimal
        The quantile, between 0 and 1. A decimal number is exact: 0.1 is one tenth.
    method : {"linear", "lower"}
        The answer if the index is between two values. "linear": linear interpolation between them.
        "lower": the lower value.

    Raises
    ------
    ArgumentError
        If `q` is not between 0 and 1, or `method` is unknown.

    Notes
    -----
    Cost, NaN and empty blocks: as in `Median`. The index is exact here, while `numpy.quantile`
    rounds q to a binary fraction and q (m - 1) to float64. So "lower" may differ: for q = 0.29 and
    101 values it is value 29 here.

    Examples
    --------
    Ages from 20 to 60, of which 90 % are below 56:

    >>> import numpy as np, dpfast as dp
    >>> ages = 20 + np.arange(30_000) * 0.618 % 1 * 40
    >>> answer = dp.sample_and_aggregate(ages, dp.estimators.Quantile(0.9), blocks=600,
    ...                                  bounds=(0, 100), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 56) < 2
    True
    """

    q: Number
    method: Literal["linear", "lower"] = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", checks.quantile(self.q))
        checks.choice("method", self.method, ("linear", "lower"))

    @property
    def name(self) -> str:
        return f"quantile({float(self.q):.6g})"

    def _answers(self, values: Floats, cuts: Integers, buffers: Buffers) -> Floats:
        sizes, most = _sizes(cuts)
        q = cast(Fraction, self.q)
        steps = _exact(np.maximum(sizes - 1, 0), most, q.numerator, q.denominator)
        ranks = steps // q.denominator
        lower, upper = _pairs(values, cuts, ranks.astype(np.int64), buffers)
        if self.method == "lower":
            return lower
        past = steps - ranks * q.denominator
        share = (past / q.denominator).astype(np.float64)
        complement = ((q.denominator - past) / q.denominator).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = upper - lower
            # Interpolate from the nearer end, so that rounding cannot pass the other end.
            quantiles = np.where(share < 0.5, lower + gap * share, upper - gap * complement)
            wide = ~np.isfinite(gap)
            quantiles[wide] = (lower * complement + upper * share)[wide]
        return np.where((share == 0) | (lower == upper), lower, quantiles)


@dataclass(frozen=True)
class TrimmedMean(EachColumn):
    """The mean of a block without its extremes. For rows of several columns, of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "trimmed-mean". Of m values the floor(proportion m) smallest and as many of the largest are left
    out, as in `scipy.stats.trim_mean`.

    Parameters
    ----------
    proportion : float, Fraction or Decimal, default 0.1
        The fraction of values that is left out at each end, at least 0 and less than 0.5. A decimal
        number is exact: 0.1 is one tenth.

    Raises
    ------
    ArgumentError
        If `proportion` is not in this range.

    Notes
    -----
    Cost: as for `Median`, with two selections and a sum. The sum is exact and rounded once, so the
    answer does not depend on the order of the rows. Infinite values do not matter if they are left
    out. An empty block, or a block with a NaN, has no answer, as in `Median`.

    Examples
    --------
    Incomes with a heavy tail. Without the lowest and the highest tenth, their mean is 27.5:

    >>> import numpy as np, dpfast as dp
    >>> incomes = 10 / (1 - np.arange(30_000) * 0.618 % 1)  # a heavy tail
    >>> answer = dp.sample_and_aggregate(incomes, dp.estimators.TrimmedMean(0.1), blocks=300,
    ...                                  bounds=(0, 100), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 27.5) < 2
    True
    """

    proportion: Number = 0.1

    def __post_init__(self) -> None:
        rule = "a number that is at least 0 and less than 0.5"
        share = checks.fraction("proportion", self.proportion)
        if not 0 <= 2 * share < 1:
            checks.fail("proportion", rule, self.proportion)
        object.__setattr__(self, "proportion", share)

    @property
    def name(self) -> str:
        return f"trimmed-mean({float(self.proportion):.6g})"

    def _answers(self, values: Floats, cuts: Integers, buffers: Buffers) -> Floats:
        sizes, most = _sizes(cuts)
        share = cast(Fraction, self.proportion)
        steps = _exact(sizes, most, share.numerator, share.denominator)
        ends = (steps // share.denominator).astype(np.int64)
        kept = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes - 2 * ends, out=kept[1:])
        scratch = buffers.take("scratch", most + _native.SPARE)
        left = buffers.take("left", int(kept[-1]))
        _native.trimmed(values, cuts, ends, scratch, left)
        totals = Totals(len(sizes))
        totals.add_runs(0, kept, left)
        return totals.means(np.diff(kept))


@dataclass(frozen=True)
class Mode(EachColumn):
    """The most frequent value of a block. For rows of several columns, of each column.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name "mode". If
    several values are equally frequent, the mode is the smallest of them. Zero and minus zero are
    equal.

    Notes
    -----
    Cost: O(n) for any data, 3 to 10 ns for each row in addition to sorting rows into blocks. Values
    are compared as float64, so integers above 2^53 are rounded first. An empty block, or a block
    with a NaN, has no answer and counts as the `default` of `dpfast.sample_and_aggregate`.

    Examples
    --------
    Numbers of rooms, of which 3 is the most frequent:

    >>> import numpy as np, dpfast as dp
    >>> rooms = np.sqrt(np.arange(30_000) * 0.618 % 16).round()  # 0, 1, 2, 3, mostly 3, and 4
    >>> answer = dp.sample_and_aggregate(rooms, dp.estimators.Mode(), blocks=100, bounds=(0, 20),
    ...                                  epsilon=2.0, rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 3) < 1
    True
    """

    name = "mode"

    def _answers(self, values: Floats, cuts: Integers, buffers: Buffers) -> Floats:
        modes = np.empty(len(cuts) - 1)
        keys = buffers.take("keys", 2 * int(np.diff(cuts).max(initial=0)), np.uint64)
        _native.modes(values, cuts, keys, modes)
        return modes


def _exact(sizes: Integers, most: int, numerator: int, denominator: int) -> NDArray[Any]:
    """Return ``sizes * numerator`` exactly, as Python integers where int64 may overflow."""
    if numerator * most < 2**62 and denominator < 2**53:
        return sizes * numerator
    return sizes.astype(object) * numerator
