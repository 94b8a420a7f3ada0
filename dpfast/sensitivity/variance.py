"""Sensitivities of the variance; n is public and one row is replaced, or rows come and go.

The population variance of w + u, for the n - 1 rows w with the mean c, is a constant plus
(n - 1) / n**2 (u - c)**2. So from w + u to w + v it changes by (n - 1) / n**2 times
|(v - c)**2 - (u - c)**2|, and the most that it changes from there is the larger of
    up:   (b - c)**2 - (u - c)**2 = (b - u) (b + u - 2 c), b a bound, and
    down: (u - c)**2, with v = c.
The local sensitivity at distance k is the largest of these over the w + u within k replacements of
x. Let b = hi (the other case is the mirror image). For given u both fall as c grows (for "down", u
above c). So k of the other rows go to lo, and the best are the largest:
  * u is one of the replaced rows: then it may be c, "up" is (hi - c)**2, and so is "down" with
    u = hi. w is the n - k smallest rows of x and k - 1 times lo.
  * u is among the n - k smallest rows of x: the k largest go to lo. "Up" is concave in u, with c =
    (P - u) / (n - 1) and P the sum of the n - k smallest; it is largest next to
    u = (hi + P) / (n + 1), counting from lo = 0.
  * u is among the k largest: the k largest of the others go to lo. c is the same as for the largest
    of the n - k smallest, which is nearer to c than u is, so "up" is no larger.
  * "Down" with a row of x: u is the largest, the k largest of the others go to lo.
So A(k) takes sums of the smallest rows and one binary search. A(0) is at least R**2 / 8 in these
units, and A(k) at most R**2: about ln(8) / beta distances decide the smooth sensitivity.

*Add-remove*, v the population's variance of n rows with the mean c. A row y that comes changes it
by n / (n + 1)**2 (y - c)**2 - v / (n + 1), where both terms are at most R**2 / (n + 2), since v is
at most R**2 / 4. So the local sensitivity is at most R**2 / (n + 1), with n the larger number of
rows, and at most R**2 / 4. The sample's variance s changes by (y - c)**2 / (n + 1) - s / n, and s
is at most R**2 n / (4 (n - 1)): at most R**2 / n, and R**2 / 2. Such a bound of n alone is made
smooth as that of the mean is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from .column import Cells, Given, both_sides, given, only_replace
from .rounding import float_up, inflated, largest, rounded_up


def _factor(n: int, ddof: int) -> Fraction:
    """Return the change of the variance when (u - c)**2 changes by 1."""
    return Fraction(n - 1, n * n) if ddof == 0 else Fraction(1, n) if n > 1 else Fraction(0)


def _ddof(value: Any) -> Literal[0, 1]:
    if checks.whole("ddof", value) > 1:
        checks.fail("ddof", "0 (the population's variance) or 1 (the sample's)", value)
    return 1 if value else 0


def _squarable(column: Given) -> None:
    width = column.hi - column.lo
    if not width * width < math.inf:
        rule = "such that (hi - lo)**2 does not overflow float64"
        checks.fail("bounds", rule, (column.lo, column.hi))


def _largest_square(side: Cells, k: int) -> Fraction:
    """Return the largest of the squares above at distance k, in cells, for b = hi."""
    n, span = side.n, side.span
    best = Fraction(0)
    if k:
        c = Fraction(side.below(n - k), n - 1)
        best = (span - c) ** 2
    if k < n:
        total = side.below(n - k)
        for i in side.near(Fraction(span + total, n + 1), n - k):
            u = side.at(i)
            best = max(best, (span - u) * (span + u - Fraction(2 * (total - u), n - 1)))
        c = Fraction(side.below(n - k - 1), n - 1)
        best = max(best, (side.at(n) - c) ** 2)
    return best


def _at(sides: tuple[Cells, Cells], ddof: int) -> Callable[[int], float]:
    """Return A(k), in the data's units squared, right to a relative 2**-46."""
    n = sides[0].n
    scale = sides[0].unit ** 2 * _factor(n, ddof)
    return lambda k: float_up(scale * max(_largest_square(side, min(k, n)) for side in sides))


def global_variance(
    n: int, *, ddof: Literal[0, 1] = 0, bounds: Bounds, neighbors: Literal["replace"] = "replace"
) -> float:
    """NOT PRIVATE if `n` is private. Return the most that one row can change a variance.

    Parameters
    ----------
    n : int
        The public number of rows.
    ddof : {0, 1}, default 0
        0 for the population's variance, which divides by n; 1 for the sample's, by ``n - 1``.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"replace"}
        The only relation for which it is known; otherwise release noisy moments.

    Returns
    -------
    float
        ``(hi - lo)**2 (n - 1) / n**2`` or ``(hi - lo)**2 / n``, rounded up; 0 of at most one row.

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
    >>> dp.sensitivity.global_variance(4, ddof=1, bounds=(0, 10))
    25.0
    """
    lo, hi = checks.bounds(bounds)
    only_replace("variance", neighbors)
    count, kind = checks.whole("n", n), _ddof(ddof)
    if count < 2:
        return 0.0
    return float_up((Fraction(hi) - Fraction(lo)) ** 2 * _factor(count, kind))


def local_variance(
    data: Any,
    *,
    ddof: Literal[0, 1] = 0,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Literal["replace"] = "replace",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the variance within a distance of `data`.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are read as float64 and clamped to `bounds`.
    ddof : {0, 1}, default 0
        0 for the population's variance, which divides by n; 1 for the sample's, by ``n - 1``.
    bounds : (float, float)
        Limits, in the data's units.
    at_distance : int, default 0
        The number of rows that may be replaced first.
    neighbors : {"replace"}
        The only relation for which it is known.
    nan : {"raise", "lower", "upper"} or float, default "raise"
        As in `smooth_quantile`.

    Returns
    -------
    float
        The exact number, in squared units, within a relative ``2**-44``, and not below it. Zero of
        at most one row.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a sort of the column.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.local_variance([2, 5, 6], bounds=(0, 10)), 4)
    8.0
    """
    distance = checks.whole("at_distance", at_distance)
    kind = _ddof(ddof)
    only_replace("variance", neighbors)
    column = given(data, bounds, neighbors, nan)
    _squarable(column)
    if column.lo == column.hi:
        column.rows()
        return 0.0
    sides = both_sides(column)
    if sides[0].n < 2:
        return 0.0
    return rounded_up(_at(sides, kind)(distance) * (1.0 + 2.0**-45))


def smooth_variance(
    data: Any,
    *,
    ddof: Literal[0, 1] = 0,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the variance.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    ddof : {0, 1}, default 0
        0 for the population's variance, which divides by n; 1 for the sample's, by ``n - 1``.
    beta : float
        Smoothness, above 0.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. The variance of fewer than two rows is 0.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        As in `smooth_quantile`.

    Returns
    -------
    float
        At least the smooth sensitivity and at most ``1 + 2**-41`` times it, in squared units, and
        never below the public ``2**-1022``. Zero of at most one row. It is more than an eighth of
        the global sensitivity. Under "add-remove" a bound that depends on the number of rows alone,
        about ``(hi - lo)**2 / n``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact under "replace". Cost: a sort of the column, and up to ``2 / beta`` binary searches; for
    a release under "add-remove", `dpfast.variance` has less noise.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 10, 101)
    >>> S = dp.sensitivity.smooth_variance(x, beta=0.1, bounds=(0, 10), neighbors="replace")
    >>> round(S / dp.sensitivity.global_variance(101, bounds=(0, 10)), 2)
    0.26
    """
    smoothness = checks.positive("beta", beta)
    kind = _ddof(ddof)
    column = given(data, bounds, neighbors, nan)
    _squarable(column)
    if column.lo == column.hi or column.neighbors == "add-remove":
        n = column.rows()
        return 0.0 if column.lo == column.hi else _of_rows(column, n, kind, smoothness)
    sides = both_sides(column)
    n = sides[0].n
    if n < 2:
        return 0.0
    most = global_variance(n, ddof=kind, bounds=(column.lo, column.hi))
    best = largest(_at(sides, kind), beta=smoothness, most=most, stop=n, least=2.0**-1022)
    return inflated(best * (1.0 + 2.0**-45))


def _of_rows(column: Given, n: int, ddof: int, beta: float) -> float:
    """Return the bound under "add-remove"."""
    least = 2 if ddof else 4
    divisor = max(n if ddof else n + 1, least)
    far = math.exp(-beta * max(n - (2 if ddof else 3), 0)) / least
    square = (Fraction(column.hi) - Fraction(column.lo)) ** 2
    return max(inflated(float_up(square) * max(1.0 / divisor, far)), 2.0**-1022)
