"""Sensitivities of the mean.

Write R for the distance of the bounds, w for the rows that two neighbors share.

*Replace*, n rows. A row of x that becomes v changes the mean by at most the larger of hi - min x
and max x - lo, over n; and one replacement makes a dataset for which that is R.

*Add-remove*; the mean of no rows is the middle of the bounds. Neighbors are w and w + v, with s
rows in w, and the mean changes by |v - mean(w)| / (s + 1) = |s v - sum(w)| / (s (s + 1)). Let the
mean go up; the other direction is the mirror image. If w is within k of x, v is best at hi, and w
is x without its a largest rows and with b rows at lo, a + b <= k. For given b the mean of w and s
both fall with a, so a = min(k - b, n). If w + v is within k, and v is an added row, then w is
within k; else v is best the largest row of x, and w is the rest of x, treated alike. So A(k) is the
largest of O(k) numbers. It is at most R / max(n - k, 2), whatever the rows are.

That bound falls by one step of k when a row comes or goes, so S = max_k e^(-beta k) R / max(n - k,
2) is smooth; e^(-beta k) / (n - k) is log-convex in k, so the largest is at an end: R / n or
e^(-beta (n - 2)) R / 2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from .column import Cells, Given, both_sides, given
from .ranks import effective_floor
from .rounding import float_up, inflated, rounded_up


def global_mean(
    n: int | None = None, *, bounds: Bounds, neighbors: Neighbors = "add-remove"
) -> float:
    """NOT PRIVATE if `n` is private. Return the most that one row can change a mean.

    Parameters
    ----------
    n : int, optional
        The public number of rows: needed under "replace", not allowed under "add-remove".
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"

    Returns
    -------
    float
        ``(hi - lo) / n`` rounded up under "replace" (0 of no rows). Under "add-remove", with the
        middle of the bounds for the mean of no rows, ``(hi - lo) / 2``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_mean(bounds=(0, 10))
    5.0
    >>> dp.sensitivity.global_mean(4, bounds=(0, 10), neighbors="replace")
    2.5
    """
    lo, hi = checks.bounds(bounds)
    if checks.neighbors(neighbors) == "add-remove":
        if n is not None:
            rule = "left out under neighbors='add-remove', where it is private (a public one needs "
            checks.fail("n", rule + "neighbors='replace')", n)
        return float_up((Fraction(hi) - Fraction(lo)) / 2)
    count = checks.whole("n", n)
    return float_up((Fraction(hi) - Fraction(lo)) / count) if count else 0.0


def local_mean(
    data: Any,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the mean within a distance of `data`.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are read as float64 and clamped to `bounds`.
    bounds : (float, float)
        Limits, in the data's units.
    at_distance : int, default 0
        The number of rows that may be changed first.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Under "add-remove" the mean of no rows is the middle of the
        bounds.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        As in `smooth_quantile`.

    Returns
    -------
    float
        The exact number within a relative ``2**-48``, and never below it. Zero for no rows under
        "replace".

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass under "replace"; a sort of the column and O(k) under "add-remove".

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.local_mean([2, 5, 6], bounds=(0, 10)), 4)
    1.4167
    >>> round(dp.sensitivity.local_mean([2, 5, 6], bounds=(0, 10), neighbors="replace"), 4)
    2.6667
    """
    distance = checks.whole("at_distance", at_distance)
    column = given(data, bounds, neighbors, nan)
    if column.neighbors == "replace":
        return _replace(column, distance)[1]
    if column.lo == column.hi:
        column.rows()
        return 0.0
    sides = both_sides(column)
    n, k = sides[0].n, min(distance, sides[0].n + 1)
    best = Fraction(sides[0].span, 2) if k >= n else Fraction(0)
    for side in sides:
        best = max(best, _largest(side, n, side.span, k))  # w within k of the data, v at hi
        if n:  # w + v within k of the data, v the largest row
            best = max(best, _largest(side, n - 1, side.at(n), k))
    return rounded_up(float(best * sides[0].unit))


def _largest(side: Cells, count: int, v: int, k: int) -> Fraction:
    """Return the largest change by v where w is the `count` smallest rows but for k of them."""
    best = Fraction(0)
    for b in range(k + 1):
        kept = max(count - (k - b), 0)
        s = kept + b
        if s:  # removing a row that is alone changes less than adding one at a bound
            best = max(best, Fraction(s * v - side.below(kept), s * (s + 1)))
    return best


def _replace(column: Given, distance: int) -> tuple[int, float]:
    """Return the number of rows, and the local sensitivity."""
    lo, hi = column.lo, column.hi
    column.ranks.prefetch([(lambda n: 1, 0), (lambda n: n, 0)])
    first, last = (column.ranks.window(rule, 0) for rule in (lambda n: 1, lambda n: n))
    column.refuse(first.nan)
    n = first.n
    if not n or lo == hi:
        return n, 0.0
    least, most = (min(max(float(end.values[0]), lo), hi) for end in (first, last))
    reach = max(Fraction(hi) - Fraction(least), Fraction(most) - Fraction(lo))
    return n, float_up((reach if distance == 0 else Fraction(hi) - Fraction(lo)) / n)


def smooth_mean(
    data: Any,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return a smooth upper bound on the local sensitivity of the mean.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    beta : float
        Smoothness, above 0.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        Under "add-remove" the mean of no rows is the middle of the bounds.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        As in `smooth_quantile`.

    Returns
    -------
    float
        Under "replace" the smooth sensitivity, ``max(max(hi - min x, max x - lo), exp(-beta) R) /
        n`` with ``R = hi - lo``; it is hardly below the global ``R / n``. Under "add-remove"
        ``max(R / n, exp(-beta (n - 2)) R / 2)``, which depends on the number of rows alone. Up to a
        factor of ``1 + 2**-41`` above these, and at least ``max(R 2**-1000, 2**-1022)``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass. For a release under "add-remove", a noisy sum over a noisy count is mostly better.

    Examples
    --------
    >>> import dpfast as dp
    >>> S = dp.sensitivity.smooth_mean([2, 5, 6], beta=0.1, bounds=(0, 10), neighbors="add-remove")
    >>> round(S, 3)
    4.524
    """
    smoothness = checks.positive("beta", beta)
    column = given(data, bounds, neighbors, nan)
    lo, hi = column.lo, column.hi
    if column.neighbors == "replace":
        n, local = _replace(column, 0)
        if not n or lo == hi:
            return 0.0
        best = max(local, math.exp(-smoothness) * rounded_up((hi - lo) / n))
    else:
        n = column.rows()
        if lo == hi:
            return 0.0
        best = (hi - lo) / max(n, 2)
        best = max(best, math.exp(-smoothness * max(n - 2, 0)) * ((hi - lo) / 2))
    return inflated(max(best, effective_floor(0.0, lo, hi)))
