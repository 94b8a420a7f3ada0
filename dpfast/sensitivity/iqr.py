"""Sensitivities of the interquartile range, x_(m3) - x_(m1) with m = max(1, ceil(q n)).

*Replace.* If a row is replaced by a larger one, order statistics can only rise; if by a smaller
one, they can only fall. So both quartiles change in the same direction, and their distance changes
by no more than the larger change. So the larger of the two local sensitivities is a bound at any
distance. If there are at least two rows between the quartiles, one quartile can change alone, so
the bound is exact.

*Add-remove.* A new row between the quartiles may move both towards each other, so their changes add
up.

Maxima and sums of smooth bounds are smooth, and so is the smaller of a smooth bound and
``hi - lo``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from .._core import nan_policy
from .column import Clamped, ColumnSensitivity
from .quantile import SmoothBound, first_width, local_in_window
from .ranks import effective_floor, rank_rule
from .rounding import rounded_up

QUARTILES = Fraction(1, 4), Fraction(3, 4)
RULES = [rank_rule(q) for q in QUARTILES]


def iqr_bound(lower: float, upper: float, neighbors: str, most: float) -> float:
    """Return a bound on the sensitivity of an interquartile range, from those of both quartiles.

    `most` is the global sensitivity. The smaller of two smooth bounds is smooth.
    """
    return max(lower, upper) if neighbors == "replace" else min(rounded_up(lower + upper), most)


class Quartiles(NamedTuple):
    """NOT PRIVATE. The quartiles, and a smooth bound on the sensitivity of their distance."""

    lower: float
    upper: float
    sensitivity: float


def smooth_quartiles(column: Clamped, beta: float) -> Quartiles:
    """NOT PRIVATE. Return the quartiles of a column, and a smooth bound for their distance."""
    ranks, lo, hi, neighbors, _ = column
    if lo < hi:
        width = first_width(beta, lo, hi, effective_floor(0.0, lo, hi))
        ranks.prefetch([(rule, width) for rule in RULES])
    lower, upper = (
        SmoothBound(q, beta=beta, lo=lo, hi=hi, neighbors=neighbors).of(ranks) for q in QUARTILES
    )
    nan_policy.refuse(column.nan, lower.missing)
    bound = iqr_bound(lower.sensitivity, upper.sensitivity, neighbors, rounded_up(hi - lo))
    return Quartiles(lower.value, upper.value, bound)


class IqrSensitivity(ColumnSensitivity):
    """Sensitivities of the interquartile range, between ranks ceil(n / 4) and ceil(3 n / 4).

    The range of no rows is ``hi - lo``.

    *Global*: ``hi - lo``. *Local* and *smooth*: under "replace" the larger sensitivity of the two
    quartiles. Under "add-remove" the sum of both, but at most ``hi - lo``. These are upper bounds.
    The local one is exact under "replace" at distance 0, from four rows on. Cost: as for two
    quantiles, mostly in one pass.
    """

    def local_of(self, column: Clamped, at_distance: int) -> float:
        _, lo, hi, neighbors, _ = column
        windows = column.windows(RULES, at_distance + 1)
        lower, upper = (
            local_in_window(window, q, lo, hi, at_distance, neighbors)
            for window, q in zip(windows, QUARTILES, strict=True)
        )
        return iqr_bound(lower, upper, neighbors, hi - lo)

    def smooth_of(self, column: Clamped, beta: float) -> float:
        return smooth_quartiles(column, beta).sensitivity
