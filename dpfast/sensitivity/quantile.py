"""Sensitivities of the lower quantile, an order statistic, under both neighboring relations."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import NamedTuple

from .._core import nan_policy
from .._kernels.sensitivity import Column
from ..summaries.order import Ranks, Window
from .column import Clamped, ColumnSensitivity
from .ranks import FARTHEST, column, effective_floor, of_nothing, rank_rule, reach, starts

#: The computed bound may exceed the true smooth sensitivity by a factor of up to 1 + 2**-41. This
#: factor may differ between neighbors, so the bound is (beta + 2**-41)-smooth. Noise must be
#: calibrated for ``beta + BETA_SLACK``.
BETA_SLACK = 2.0**-40

_HALF = Fraction(1, 2)
#: The first window has all pairs of ranks with a weight of at least e**-20. A wider window is
#: rarely needed.
_FIRST_REACH = 20.0


class QuantileBound(NamedTuple):
    """NOT PRIVATE. A quantile, its smooth sensitivity, the number of rows, and of missing rows."""

    value: float
    sensitivity: float
    n: int
    missing: int


class SmoothBound:
    """The public parameters of a smooth bound on the local sensitivity of a quantile.

    Pairs of ranks at a distance ``k`` have the weight ``exp(-beta k)``. So a window of ``ln(R / S)
    / beta`` ranks around the quantile is wide enough for the bound S. The first window gives a
    lower bound of S, and so a width that is enough. Mostly the first window has this width.

    Parameters
    ----------
    q : Fraction
    beta, lo, hi : float
    neighbors : {"replace", "add-remove"}
    floor : float
        The result is at least this number; the larger of the two is `beta`-smooth, too.
    """

    __slots__ = ("beta", "floor", "half", "hi", "least", "lo", "q", "replaced", "rule", "width")

    def __init__(
        self, q: Fraction, *, beta: float, lo: float, hi: float, neighbors: str, floor: float = 0.0
    ) -> None:
        self.q, self.beta, self.lo, self.hi, self.floor = q, beta, lo, hi, floor
        self.rule, self.half, self.replaced = rank_rule(q), q == _HALF, neighbors == "replace"
        if hi > lo:
            self.least = effective_floor(floor, lo, hi)
            self.width = first_width(beta, lo, hi, self.least)

    def of(self, ranks: Ranks) -> QuantileBound:
        """NOT PRIVATE. Return the exact quantile of a column with its smooth bound."""
        lo, hi, rule = self.lo, self.hi, self.rule
        if not hi > lo:
            window = ranks.window(rule, 0)
            return QuantileBound(lo, 0.0, window.n, window.nan)
        window = ranks.window(rule, self.width)
        n = window.n
        if n == 0 and self.replaced:
            return QuantileBound(
                of_nothing(self.q, lo, hi), self.floor, 0, window.nan
            )  # nothing to replace
        rows = column(window, lo, hi)
        smooth = self._smooth(window, rows, self.width)
        if len(window.values) < n:
            needed = reach(self.beta, lo, hi, smooth * (1 - 2.0**-40)) + 1
            if needed > self.width:
                window = ranks.window(rule, needed)
                rows = column(window, lo, hi)
                smooth = self._smooth(window, rows, needed)
        value = rows.value(rule(n)) if n else of_nothing(self.q, lo, hi)
        return QuantileBound(value, smooth, n, window.nan)

    def _smooth(self, window: Window, rows: Column, width: int) -> float:
        n = window.n
        if self.replaced:
            return rows.smooth_replace(self.rule(n), self.beta, self.least)
        if self.half:
            return rows.smooth_median(self.beta, self.least)
        margin = (n if len(window.values) == n else min(width, n)) + 2
        return rows.smooth_quantile(*starts(self.q, window, margin), self.beta, self.least)


def first_width(beta: float, lo: float, hi: float, least: float) -> int:
    """Return the width of the first window in ranks, which is mostly enough for a smooth bound."""
    width = reach(beta, lo, hi, least) + 1
    if beta * FARTHEST > _FIRST_REACH:
        width = min(width, math.ceil(_FIRST_REACH / beta) + 1)
    return width


def local_in_window(
    window: Window, q: Fraction, lo: float, hi: float, distance: int, neighbors: str
) -> float:
    """Return a quantile's A(k), k = `distance`, from a window of at least k + 1 ranks each way."""
    n = window.n
    k = min(distance, n + 1)  # no dataset differs in more than all rows and one
    rows = column(window, lo, hi)
    if neighbors == "replace":
        return rows.local_replace(rank_rule(q)(n), k) if n else 0.0
    return rows.local_median(k) if q == _HALF else rows.local_quantile(*starts(q, window, k + 2), k)


class QuantileSensitivity(ColumnSensitivity):
    """Sensitivities of the order statistic of rank ``min(max(1, ceil(q n)), n)``.

    The quantile of no rows is the lower limit for ``q <= 1/2``, and the upper limit otherwise.

    *Global*: ``hi - lo``. *Local*: the exact difference of two values, rounded to float64; zero for
    no rows under "replace". It costs a pass over unsorted data. Then it takes O(k) under "replace",
    O(1) for the median under "add-remove", and a branch-and-bound search over 2 k ranks for other
    quantiles under "add-remove". *Smooth*: exact for both relations. It costs a pass, then O(w),
    where w is about (2 / beta) ln(R / S) ranks. For quantiles other than the median under
    "add-remove", a branch-and-bound search takes about O(w) in practice and O(w**2) at worst.
    """

    @property
    @abstractmethod
    def share_below(self) -> Fraction:
        """The share q of rows below the quantile."""

    def local_of(self, column: Clamped, at_distance: int) -> float:
        _, lo, hi, neighbors, _ = column
        (window,) = column.windows([rank_rule(self.share_below)], at_distance + 1)
        return local_in_window(window, self.share_below, lo, hi, at_distance, neighbors)

    def smooth_of(self, column: Clamped, beta: float) -> float:
        ranks, lo, hi, neighbors, _ = column
        bound = SmoothBound(self.share_below, beta=beta, lo=lo, hi=hi, neighbors=neighbors).of(
            ranks
        )
        nan_policy.refuse(column.nan, bound.missing)
        return bound.sensitivity
