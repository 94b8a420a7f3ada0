"""Sensitivities of the interquartile range, x_(m3) - x_(m1) with m = max(1, ceil(q n)).

*Replace.* A row replaced by a larger one can only raise order statistics, and by a smaller one only
lower them. So both quartiles change in the same direction, and their distance by no more than the
larger change: at any distance the larger of the two local sensitivities is a bound. With at least
two rows between the quartiles one of them can change alone, so the bound is exact.

*Add-remove.* A new row between the quartiles may bring them nearer from both sides, so their
changes add up.

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
    """Return a bound on an interquartile range's sensitivity from those of both quartiles.

    `most` is the global sensitivity: the smaller of two smooth bounds is smooth.
    """
    return max(lower, upper) if neighbors == "replace" else min(rounded_up(lower + upper), most)


class Quartiles(NamedTuple):
    """The two quartiles and a smooth bound on their distance's sensitivity; NOT PRIVATE."""

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

    The distance of no rows is ``hi - lo``.

    *Global*: ``hi - lo``. *Local* and *smooth*: the larger of those of the two quartiles under
    "replace", their sum under "add-remove", but not more than ``hi - lo``: upper bounds, of which
    the local one is exact under "replace" at distance 0 from four rows on. Cost: as for two
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
