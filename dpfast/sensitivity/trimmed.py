"""Sensitivities of the trimmed and the winsorized mean (under "add-remove": `trimmed_add_remove`).

x ascends, and x_i = lo for i < 1, x_i = hi for i > n. m = floor(proportion n) rows are cut off at
each end, and L = n - 2 m are left.

*Trimmed mean*, (x_(m+1) + ... + x_(n-m)) / L. The largest local sensitivity within k replacements
is the largest (x_j - x_i) / L with i <= m + 1, j >= n - m and j - i <= L + k; the proof is in
`dpfast/aggregate/aggregators/trimmed.py`. That is the envelope of an order statistic twice over.
Take the columns
    z  = x_1 .. x_m, x_(n-m), ..., x_n     and     z' = x_1 .. x_m, x_(m+1), x_(n-m+1), ..., x_n
of 2 m + 1 rows. In both, ranks m + 1 - s and m + 1 + t are s + t apart; in x, m + 1 - s and
n - m + t are L - 1 + s + t apart. So the pairs of z with s >= 1 are the pairs of x with i <= m, the
pairs of z' with s = 0 and t >= 1 those with i = m + 1, and the others (s = 0 in z, t = 0 in z')
are pairs of x with the end moved inward, at the same distance. The smooth sensitivity of the
trimmed mean is 1 / L of the larger of those of the medians of z and of z'.

*Winsorized mean*, (m x_(m+1) + (x_(m+1) + ... + x_(n-m)) + m x_(n-m)) / n. The sum of the
sensitivities of the parts is a bound at any distance, and a nonnegative combination of smooth
bounds is smooth. (It is at most 1.7 times the exact one in all small cases; exact for L = 1.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from .._kernels.sensitivity import Column
from .column import Given, given, only_replace, share
from .quantile import first_width
from .ranks import FARTHEST, effective_floor, kept_ends, reach
from .rounding import float_up, rounded_up
from .trimmed_add_remove import Kept, smooth_moving

Sensitivity = Callable[[Column, int], float]
_NAME = {False: "trimmed mean", True: "winsorized mean"}


class Ends(NamedTuple):
    """The rows around the two ends of the part that is kept; NOT PRIVATE."""

    n: int
    cut: int
    lower: Column
    upper: Column
    with_upper: Column
    with_lower: Column
    low: float  # the least and the largest row that is kept
    high: float

    def bound(self, of: Sensitivity, winsorized: bool) -> float:
        """Return the sensitivity of the trimmed mean, or a bound on that of the winsorized mean."""
        total = max(of(self.with_upper, self.cut + 1), of(self.with_lower, self.cut + 1))
        if not winsorized:
            return _divided(total, self.n - 2 * self.cut)
        if self.cut:
            ends = of(self.lower, self.cut + 1) + of(self.upper, self.n - self.cut)
            total = rounded_up(self.cut * ends + total)
        return _divided(total, self.n)


def _ends(column: Given, proportion: Fraction, width: int) -> Ends | None:
    """Find the ranks within `width` of the two ends; None for no rows."""
    first, last = kept_ends(proportion)
    # Nothing is needed beyond what is cut off: extended ranks are the bounds.
    column.ranks.prefetch([(first, width), (last, width)])
    low, high = column.ranks.window(first, width), column.ranks.window(last, width)
    column.refuse(low.nan)
    n = low.n
    if n == 0:
        return None
    cut = math.floor(proportion * n)
    bounds = lo, hi = column.lo, column.hi
    below = low.values[: cut + 1 - low.first].astype(np.float64)
    above = high.values[n - cut + 1 - high.first :].astype(np.float64)
    at_low = float(low.values[cut + 1 - low.first])
    at_high = float(high.values[n - cut - high.first])
    size = 2 * cut + 1
    start = low.first if len(below) else cut + 1
    return Ends(
        n,
        cut,
        Column(low.values, low.first, n, *bounds),
        Column(high.values, high.first, n, *bounds),
        Column(np.concatenate([below, [at_high], above]), start, size, *bounds),
        Column(np.concatenate([below, [at_low], above]), start, size, *bounds),
        min(max(at_low, lo), hi),
        min(max(at_high, lo), hi),
    )


def from_ranks(column: Given, proportion: Fraction, beta: float, winsorized: bool) -> Kept:
    """NOT PRIVATE. Return a smooth bound, and the rows that the statistic is clamped to.

    Arguments must be checked.
    """
    lo, hi = column.lo, column.hi
    if lo == hi:
        n = column.rows()
        return Kept(0.0, n, math.floor(proportion * n), lo, lo)
    if column.neighbors == "add-remove":
        return smooth_moving(column, proportion, beta, winsorized)
    least = effective_floor(0.0, lo, hi)
    width = first_width(beta, lo, hi, least)
    smallest = math.inf

    def of(rows: Column, m: int) -> float:
        nonlocal smallest
        value = rows.smooth_replace(m, beta, least)
        smallest = min(smallest, value)
        return value

    ends = _ends(column, proportion, width)
    if ends is None:
        return Kept(0.0, 0, 0, lo, hi)
    bound = ends.bound(of, winsorized)
    needed = reach(beta, lo, hi, smallest * (1 - 2.0**-40)) + 1
    if needed > width:  # the window was not wide enough for all
        ends = _ends(column, proportion, needed)
        assert ends is not None
        bound = ends.bound(of, winsorized)
    return Kept(max(bound, 2.0**-1022), ends.n, ends.cut, ends.low, ends.high)


def _global(n: Any, proportion: Any, bounds: Any, neighbors: Any, winsorized: bool) -> float:
    lo, hi = checks.bounds(bounds)
    only_replace(_NAME[winsorized], neighbors)
    count, part = checks.whole("n", n), share(proportion)
    if not count:
        return 0.0
    cut = math.floor(part * count)
    kept = count - 2 * cut
    weight = Fraction(cut + 1) if winsorized and kept > 1 else Fraction(count, kept)
    return float_up((Fraction(hi) - Fraction(lo)) * weight / count)


def _local(
    data: Any,
    proportion: Any,
    bounds: Any,
    distance: Any,
    neighbors: Any,
    nan: Any,
    winsorized: bool,
) -> float:
    """Return the local sensitivity, or a bound on it, within a distance."""
    only_replace(_NAME[winsorized], neighbors)
    part = share(proportion)
    column = given(data, bounds, "replace", nan)
    k = min(checks.whole("at_distance", distance), FARTHEST)
    ends = _ends(column, part, k + 1)
    if ends is None:
        return 0.0
    most = min(k, ends.n + 1)
    return ends.bound(lambda rows, m: rounded_up(rows.local_replace(m, most)), winsorized)


def _divided(amount: float, by: int) -> float:
    """Return an upper bound of the quotient, at most two units above it."""
    return math.nextafter(amount / by, math.inf) if amount else 0.0


def global_trimmed_mean(
    n: int, *, proportion: Number = 0.1, bounds: Bounds, neighbors: Literal["replace"] = "replace"
) -> float:
    """NOT PRIVATE if `n` is private. Return the most that one row can change a trimmed mean.

    Parameters
    ----------
    n : int
        The public number of rows.
    proportion : number, default 0.1
        Cut off at each end: at least 0 and less than 0.5, meant as written.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"replace"}
        The only relation for which it is known.

    Returns
    -------
    float
        ``(hi - lo) / (n - 2 floor(proportion n))``, rounded up; 0 of no rows.

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
    >>> dp.sensitivity.global_trimmed_mean(10, bounds=(0, 10))
    1.25
    """
    return _global(n, proportion, bounds, neighbors, winsorized=False)


def global_winsorized_mean(
    n: int, *, proportion: Number = 0.1, bounds: Bounds, neighbors: Literal["replace"] = "replace"
) -> float:
    """NOT PRIVATE if `n` is private. Return the most that one row can change a winsorized mean.

    Parameters
    ----------
    n : int
        The public number of rows.
    proportion : number, default 0.1
        Of the rows at each end that count as the nearest row kept: at least 0, less than 0.5.
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"replace"}
        The only relation for which it is known.

    Returns
    -------
    float
        ``(m + 1) (hi - lo) / n`` with ``m = floor(proportion n)``, rounded up; ``hi - lo`` where
        one row is kept; 0 of no rows.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    One row changes both ends only if it crosses all rows that are kept. All changes add up to at
    most the range, none with a greater weight than m + 1.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_winsorized_mean(10, bounds=(0, 10))
    2.0
    """
    return _global(n, proportion, bounds, neighbors, winsorized=True)


def local_trimmed_mean(
    data: Any,
    *,
    proportion: Number = 0.1,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Literal["replace"] = "replace",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the trimmed mean within a distance of `data`.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are read as float64 and clamped to `bounds`.
    proportion : number, default 0.1
        ``floor(proportion n)`` rows are left out at each end; at least 0 and less than 0.5.
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
        The exact number, rounded up by some units at most.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k).

    Examples
    --------
    >>> import dpfast as dp
    >>> x = [1, 2, 4, 8, 16]
    >>> round(dp.sensitivity.local_trimmed_mean(x, proportion=0.2, bounds=(0, 20)), 3)
    4.667
    """
    return _local(data, proportion, bounds, at_distance, neighbors, nan, winsorized=False)


def local_winsorized_mean(
    data: Any,
    *,
    proportion: Number = 0.1,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Literal["replace"] = "replace",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return a bound on the local sensitivity of the winsorized mean at a distance.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are read as float64 and clamped to `bounds`.
    proportion : number, default 0.1
        ``floor(proportion n)`` rows at each end count as the nearest row kept.
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
        An upper bound: the sum of the sensitivities of the two ends and the rows between them.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k).

    Examples
    --------
    >>> import dpfast as dp
    >>> x = [1, 2, 4, 8, 16]
    >>> round(dp.sensitivity.local_winsorized_mean(x, proportion=0.2, bounds=(0, 20)), 3)
    4.8
    """
    return _local(data, proportion, bounds, at_distance, neighbors, nan, winsorized=True)


def smooth_trimmed_mean(
    data: Any,
    *,
    proportion: Number = 0.1,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the trimmed mean.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    proportion : number, default 0.1
        ``floor(proportion n)`` rows are left out at each end; at least 0 and less than 0.5.
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
        As `smooth_quantile`, with the public floor divided by the number of rows that are kept.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact. Cost: a pass over unsorted data, then O(w), with ``w`` about ``(2 / beta) ln(R / S)``.

    References
    ----------
    M. Bun, T. Steinke, "Average-case averages: private algorithms for smooth sensitivity and mean
    estimation", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.arange(1001.0)
    >>> round(dp.sensitivity.smooth_trimmed_mean(x, beta=0.5, bounds=(0, 1000)), 2)
    1.0
    """
    smoothness = checks.positive("beta", beta)
    part = share(proportion)
    return from_ranks(given(data, bounds, neighbors, nan), part, smoothness, False).sensitivity


def smooth_winsorized_mean(
    data: Any,
    *,
    proportion: Number = 0.1,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return a smooth upper bound on the local sensitivity of the winsorized mean.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    proportion : number, default 0.1
        ``floor(proportion n)`` rows at each end count as the nearest row kept.
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
        The weighted sum of the smooth sensitivities of the two ends and of the trimmed sum: a
        smooth bound, exact where one row is kept and at most 1.7 times too large in small cases.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(w), with ``w`` about ``(2 / beta) ln(R / S)``.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.arange(1001.0)
    >>> round(dp.sensitivity.smooth_winsorized_mean(x, beta=0.5, bounds=(0, 1000)), 2)
    0.92
    """
    smoothness = checks.positive("beta", beta)
    part = share(proportion)
    return from_ranks(given(data, bounds, neighbors, nan), part, smoothness, True).sensitivity
