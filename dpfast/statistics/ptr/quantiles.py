"""Order statistics for propose-test-release: quantiles, and interquartile ranges without a scale.

*Interquartile range, proposed.* The local sensitivity of the range is at most the larger local
sensitivity of the two quartiles, or under add-remove their sum (`dpfast/sensitivity/iqr.py`). So
the number of rows to change until the bound is above the proposal is a distance for the test.

*Without a scale* (after Dwork and Lei, STOC 2009, who test whether the logarithm of the range stays
in its bin, with two sets of bins). Rows are replaced. Let m1, m3 be the ranks of the quartiles, m3
> m1. Within k replacements the range is at most and at least

    M(k) = max_{p = 0..k} x_(m3 + k - p) - x_(m1 - p),
    m(k) = max(0, min_{p = 0..k} x_(m3 - k + p) - x_(m1 + p)):

For M(k), k rows from between the quartiles are moved: p to the lower end and k - p to the upper
end. For m(k), p rows from below and k - p rows from above are moved between them. Let B > 1 be
public, and

    D = max{d >= 0 : M(d) < B m(d)},   or for a range of 0   D = max{d >= 0 : M(d) = 0}.

M(k) of x is at most M(k + 1) of a neighbor, and m(k) is at least its m(k + 1). So D differs by at
most 1 between neighbors. If D >= 1, the ranges of x and of each neighbor differ by a factor below
B, or both are 0. So the logarithm of the range has the sensitivity ln B, and Laplace noise for it
multiplies the range by B^Z, with Z of scale 1 / epsilon2. Bins of any offset would not do better:
M(d) < B m(d) if and only if some interval [v, B v) holds all ranges within d replacements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core import nan_policy
from ...budget.mechanism import Mechanism
from ...privacy import Approx
from ...rng import Generator
from ...sensitivity import ranks as order
from ...sensitivity.column import Clamped
from ...sensitivity.iqr import QUARTILES, iqr_bound
from ...sensitivity.quantile import local_in_window
from ...sensitivity.rounding import float_up
from ...summaries.order import Ranks, Window
from ...tables import Source
from .answer import NO_ANSWER, NoAnswer
from .proposal import DistanceTest, first_above, laplace_scale, with_noise

#: A function that returns the rows of a column at given ranks.
ByRank: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]
#: The granularity of the logarithm of an answer.
_LOG_GRID = 2.0**-40


@dataclass(frozen=True, slots=True)
class Column:
    """One or two quantiles of a column, with its bounds and how missing rows are read."""

    qs: tuple[Fraction, ...]
    lo: float
    hi: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    def windows(self, source: Source, width: int) -> list[Window]:
        """Return the order statistics within `width` ranks of each quantile, in one pass."""
        missing = nan_policy.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        column = Clamped(ranks, self.lo, self.hi, self.neighbors, self.nan)
        return column.windows([order.rank_rule(q) for q in self.qs], width)

    def values(self, windows: list[Window]) -> list[float]:
        """Return the exact quantiles, or public values instead if there are no rows."""
        lo, hi = self.lo, self.hi
        return [
            order.column(window, lo, hi).value(order.rank_rule(q)(window.n))
            if window.n
            else order.of_nothing(q, lo, hi)
            for q, window in zip(self.qs, windows, strict=True)
        ]

    def value(self, windows: list[Window]) -> float:
        """Return the exact quantile, or the distance of the two quantiles."""
        first, *others = self.values(windows)
        return others[0] - first if others else first

    def local(self, windows: list[Window], k: int) -> float:
        """Return a bound on the largest local sensitivity of `value` within k changed rows."""
        first, *others = (
            local_in_window(window, q, self.lo, self.hi, k, self.neighbors)
            for q, window in zip(self.qs, windows, strict=True)
        )
        most = self.hi - self.lo
        return iqr_bound(first, others[0], self.neighbors, most) if others else first


class _Free(NamedTuple):
    """An interquartile range, its distance for the test, and the factor B; NOT PRIVATE."""

    range: float
    distance: int
    ratio: Fraction


def scale_free_distance(lower: ByRank, upper: ByRank, n: int, ratio: Fraction, most: int) -> int:
    """Return the distance D of an interquartile range of n rows for the test, at most `most`.

    `lower` and `upper` give x at ranks about the quartiles.
    """
    m1, m3 = (order.rank_rule(q)(n) for q in QUARTILES)
    if m1 == m3:
        return most  # a single row has the range 0, whatever its value
    here = float(upper(np.array([m3]))[0] - lower(np.array([m1]))[0])

    def leaves(k: int) -> float:
        """Tell whether changing k + 1 rows can take the range out of every interval [v, B v)."""
        k += 1
        p = np.arange(k + 1)
        highest = float((upper(m3 + k - p) - lower(m1 - p)).max())
        if here == 0:
            return highest > 0
        if k >= m3 - m1:
            return True
        lowest = max(0.0, float((upper(m3 - k + p) - lower(m1 + p)).min()))
        return Fraction(highest) >= ratio * Fraction(lowest)

    return first_above(leaves, 0.5, most, n)


@dataclass(frozen=True, slots=True)
class ScaleFree(Mechanism[float | NoAnswer]):
    """The mechanism of an interquartile range with multiplicative noise, if the test passes."""

    name: str
    column: Column
    ratio: Fraction | None
    test: DistanceTest
    noise_epsilon: Fraction
    loss: Approx
    neighbors: ClassVar[str] = "replace"
    of_ranks: ClassVar[bool] = True
    _no_bar: ClassVar[str] = "noise is in proportion to the range, which is secret"

    @property
    def missing(self) -> str | float:
        return self.column.nan

    def reduce(self, source: Source) -> _Free:
        most, column = self.test.farthest, self.column
        windows = column.windows(source, most + 2)
        n = windows[0].n
        ratio = self.ratio or Fraction(1 + 1 / math.log(max(n, 3)))
        if n == 0:
            return _Free(column.hi - column.lo, most, ratio)
        first, last = column.values(windows)
        lower, upper = (_extended(window, column.lo, column.hi) for window in windows)
        return _Free(last - first, scale_free_distance(lower, upper, n, ratio, most), ratio)

    def finish(self, summary: _Free, generator: Generator) -> float | NoAnswer:
        if not self.test.passes(summary.distance, generator):
            return NO_ANSWER
        if summary.range == 0:
            return 0.0  # the same answer as for all neighbors, except with probability delta
        # The logarithm of a float64 is at most 745 in size, and its rounding error is below 2**-42.
        scale = laplace_scale(_log_up(summary.ratio), 2.0**-42, self.noise_epsilon)
        noisy = with_noise(math.log(summary.range), scale, _LOG_GRID, generator)
        most = self.column.hi - self.column.lo
        return math.exp(noisy) if noisy < math.log(most) else most


def _log_up(ratio: Fraction) -> float:
    """Return the logarithm of a number above 1, rounded up.

    (A difference of logarithms would cancel.)
    """
    return math.nextafter(math.log1p(float_up(ratio - 1)), math.inf)


def _extended(window: Window, lo: float, hi: float) -> ByRank:
    """Return the value at each rank: of the window, or a bound beyond the first or last row."""
    values = np.clip(window.values.astype(np.float64), lo, hi)
    padded = np.concatenate([[lo], values, [hi]])

    def at(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        return padded[np.clip(ranks - window.first + 1, 0, len(padded) - 1)]

    return at
