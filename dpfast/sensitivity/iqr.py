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
from typing import Any, NamedTuple

from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from ..summaries.order import Ranks
from .column import given
from .quantile import first_width, global_quantile, local_in_window, smooth_from_ranks
from .ranks import FARTHEST, effective_floor, rank_rule
from .rounding import rounded_up

QUARTILES = Fraction(1, 4), Fraction(3, 4)


def iqr_bound(lower: float, upper: float, neighbors: str, most: float) -> float:
    """Return the sensitivity of the distance of two quartiles from those of the quartiles.

    `most` is the global sensitivity: the smaller of two smooth bounds is smooth.
    """
    return max(lower, upper) if neighbors == "replace" else min(rounded_up(lower + upper), most)


def global_iqr(*, bounds: Bounds, neighbors: Neighbors = "add-remove") -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of the IQR.

    Parameters
    ----------
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The same under both.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    The interquartile range lies between 0 and ``hi - lo``.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_iqr(bounds=(0, 10))
    10.0
    """
    return global_quantile(bounds=bounds, neighbors=neighbors)


def local_iqr(
    data: Any,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return a bound on the local sensitivity of the IQR at a distance.

    The quartiles have the ranks ``ceil(n / 4)`` and ``ceil(3 n / 4)``.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    bounds : (float, float)
        Limits of the values, in the data's units; values outside count as the limit.
    at_distance : int, default 0
        The number of rows that may be changed first.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. The interquartile range of no rows is ``hi - lo``.
    assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        Under "replace" the larger of the local sensitivities of the two quartiles at that
        distance, under "add-remove" their sum, but not more than ``hi - lo``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact under "replace" at distance 0 from four rows on. Cost: as two calls of `local_quantile`,
    in one pass.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_iqr([1, 2, 4, 8, 16], bounds=(0, 20), neighbors="replace")
    8.0
    """
    distance = min(checks.whole("at_distance", at_distance), FARTHEST)
    column = given(data, bounds, neighbors, nan, assume_sorted)
    _prefetch(column.ranks, distance + 1)
    lo, hi, relation = column.lo, column.hi, column.neighbors

    def local(q: Fraction) -> float:
        window = column.ranks.window(rank_rule(q), distance + 1)
        column.refuse(window.nan)
        return local_in_window(window, q, lo, hi, distance, relation)

    return iqr_bound(local(QUARTILES[0]), local(QUARTILES[1]), relation, hi - lo)


def _prefetch(ranks: Ranks, width: int) -> None:
    ranks.prefetch([(rank_rule(q), width) for q in QUARTILES])


class Quartiles(NamedTuple):
    """The two quartiles and a smooth bound for their distance; NOT PRIVATE."""

    lower: float
    upper: float
    sensitivity: float
    missing: int


def iqr_from_ranks(ranks: Ranks, beta: float, lo: float, hi: float, neighbors: str) -> Quartiles:
    """NOT PRIVATE. Return the quartiles of a column and a smooth bound, for checked arguments."""
    if lo < hi:
        _prefetch(ranks, first_width(beta, lo, hi, effective_floor(0.0, lo, hi)))
    lower, upper = (
        smooth_from_ranks(ranks, q, beta=beta, lo=lo, hi=hi, neighbors=neighbors) for q in QUARTILES
    )
    bound = iqr_bound(lower.sensitivity, upper.sensitivity, neighbors, rounded_up(hi - lo))
    return Quartiles(lower.value, upper.value, bound, lower.missing)


def smooth_iqr(
    data: Any,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return a smooth upper bound on the local sensitivity of the interquartile range.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    beta : float
        Smoothness, above 0.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
    assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        The larger of the smooth sensitivities of the two quartiles under "replace", their sum
        under "add-remove", but not more than ``hi - lo``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: as two calls of `smooth_quantile`, mostly in one pass.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> round(dp.sensitivity.smooth_iqr(np.arange(1001), beta=0.5, bounds=(0, 1000)), 2)
    2.43
    """
    smoothness = checks.positive("beta", beta)
    column = given(data, bounds, neighbors, nan, assume_sorted)
    lo, hi = column.lo, column.hi
    found = iqr_from_ranks(column.ranks, smoothness, lo, hi, column.neighbors)
    column.refuse(found.missing)
    return found.sensitivity
