"""Smooth bounds for trimmed and winsorized means under "add-remove", where rows cut vary with n.

x ascends, with x_i = lo for i < 1 and x_i = hi for i > n. p = a / b is in lowest terms. m = floor(p
n) rows are cut off at each end, and L = n - 2 m are left. The mean of no rows is the middle of the
bounds. Rows are also counted from above: x^i = x_(n+1-i). A pair (i, j) has the value x^j - x_i.

*One step.* Let y be added to x, and let z be y clamped to [x_m, x^m].

* m stays. z joins the rows that are kept. The trimmed mean changes by |z - mean| / (L + 1), which
  is at most the pair (m, m) divided by L + 1.
* m grows to m + 1. The least and the largest of z and the kept rows are cut off. The mean changes
  by |mean + z - least - largest| / (L - 1), which is at most the pair (m + 1, m + 1) divided by L -
  1.

Read backwards, this is a row that is removed, from n rows to n - 1:

* m stays. A kept row leaves, which is at most the pair (m + 1, m + 1) divided by L - 1.
* m falls. This is at most the pair (m, m) divided by L + 1.

So the local sensitivity is at most the pair (m, m) divided by max(1, L - 1). This includes
neighbors without rows, which are the only case with L - 1 = 0.

*Pairs.* Let w(n) = p n - (b - 1) / b, so that m - 1 < w <= m. Let a pair have the cost

    c(i, j) = max(0, w - i) + max(0, w - j).

The pair (m, m) has the cost 0. An added row raises w by p. If it is between the rows of the pair,
these keep their numbers, and c grows by at most 2 p. Otherwise one of the two numbers grows by one,
and c by at most p. A removed row lowers w by p. If it was between the rows of the pair, c falls.
Otherwise one number falls by one, and c grows by at most 1 - p. (If it is x_i itself, the row below
takes its place.) So with s = max(2 p, 1 - p), the largest of (x^j - x_i) exp(-beta c / s) is a
beta-smooth bound of the pair (m, m).

*Divisors.* L is at least (1 - 2 p) n. So 1 / max(1, L - 1) is at most the largest, over d >= 0, of
exp(-beta d) / max(1, (1 - 2 p) (n - d) - 1). This is smooth, because d grows by one when a row is
added. It is log-convex in d, so it is largest at d = 0 or at the first d with a divisor of 1. A
product of smooth bounds is smooth for the sum of their betas; the divisor gets an eighth of beta.

*Winsorized mean*, W = (m A + (x_(m+1) + ... + x^(m+1)) + m B) / n with A = x_(m+1), B = x^(m+1).
Let y be added, and let z be the clamped y. If m stays, one of A and B may move outward, by d. Then
W changes by (z - W -+ m d) / (n + 1). If m grows, A may move up and B down. Then W changes by (z -
W + (m + 1) (d_A - d_B)) / (n + 1). Here m / (n + 1), or (m + 1) / (n + 1), is the new m divided by
the new n, which is at most p. So this is a smooth bound: the pair (m, m) divided by n, plus p times
the larger of the smooth sensitivities of A and B. (The smaller number of rows may be 0; then the
divisor is 1.)

From about 100 / beta rows on, these bounds exceed those for replaced rows by at most a few percent.
(With fewer rows, so many rows can be added or removed, at a cost of e^beta each, that the divisor
becomes small.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.sensitivity import Column
from ..summaries.order import Window
from .column import Clamped
from .quantile import first_width
from .ranks import FARTHEST, effective_floor, kept_ends, reach
from .rounding import inflated, rounded_up


class Kept(NamedTuple):
    """A smooth bound of a trimmed mean, with n, the rows cut, the outermost kept; NOT PRIVATE."""

    sensitivity: float
    n: int
    cut: int
    low: float
    high: float


def largest_pair(
    lower: NDArray[np.float64], upper: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Return the largest ``weight[s] weight[t] (upper[t] - lower[s])``, at most 2**-43 too small.

    `lower` falls, `upper` rises, `weight` falls. As functions of ``-lower`` the columns are lines
    with the slopes ``weight``, so the best column never rises with the row, and the search can
    divide and conquer the rows. A column that is best within a factor 1 + u leaves, on either side,
    columns that are best within such a factor, so roundings add up over the log2 of the rows only.
    """
    rows, best = len(lower), 0.0
    at = np.zeros(rows, np.int64)
    step = 1 << (rows - 1).bit_length()
    while step:
        middle = np.arange(step - 1, rows, 2 * step)
        start, stop = np.zeros(len(middle), np.int64), np.full(len(middle), len(upper))
        after = middle + step < rows
        start[after] = at[middle[after] + step]
        stop[middle >= step] = at[middle[middle >= step] - step] + 1
        sizes = stop - start
        begin = np.cumsum(sizes) - sizes
        column = np.arange(int(sizes.sum())) - np.repeat(begin - start, sizes)
        worth = weight[column] * (upper[column] - np.repeat(lower[middle], sizes))
        if len(middle):
            most = np.maximum.reduceat(worth, begin)
            candidates = np.flatnonzero(worth == np.repeat(most, sizes))
            at[middle] = column[candidates[np.searchsorted(candidates, begin)]]
            best = max(best, float(np.max(most * weight[middle])))
        step >>= 1
    return best


def smooth_moving(clamped: Clamped, p: Fraction, beta: float, winsorized: bool) -> Kept:
    """NOT PRIVATE. Return a smooth bound of a trimmed or winsorized mean, for lo < hi."""
    lo, hi = clamped.lo, clamped.hi
    least = effective_floor(0.0, lo, hi)
    rate = beta * 0.875 / float(max(2 * p, 1 - p)) * (1 - 2.0**-50)
    decay = min(rate, beta)
    width = first_width(decay, lo, hi, least)
    while True:
        windows = clamped.windows(kept_ends(p), width)
        n = windows[0].n
        pair = max(_pair(windows, p, rate, clamped), least)
        ends = _ends(windows, p, beta, clamped, least, width) if winsorized and p else 0.0
        smallest = min(pair, ends) if ends else pair
        # A pair of ranks farther apart contributes less than (hi - lo) exp(-rate (width - 1)).
        needed = reach(decay, lo, hi, smallest * (1 - 2.0**-40)) + 2
        if width >= min(needed, n + 2):
            break
        width = needed
    if winsorized:
        bound = pair * _over(Fraction(n), Fraction(1), beta) + float(p) * (1 + 2.0**-50) * ends
    else:
        slope = 1 - 2 * p
        bound = pair * _over(slope * n - 1, slope, beta)
    # Means stay within the bounds.
    bound = min(rounded_up(bound), rounded_up(hi - lo))
    if not n:
        return Kept(bound, 0, 0, lo, hi)
    cut = math.floor(p * n)
    low, high = (
        float(window.values[rank - window.first])
        for window, rank in zip(windows, (cut + 1, n - cut), strict=True)
    )
    return Kept(bound, n, cut, min(max(low, lo), hi), min(max(high, lo), hi))


def _over(divisor: Fraction, slope: Fraction, beta: float) -> float:
    """Return a smooth bound, ``max_d exp(-beta d / 8) / max(1, divisor - slope d)``, rounded up."""
    if divisor <= 1:
        return 1.0
    decay = math.exp(-beta * 0.125 * (1 - 2.0**-40) * float((divisor - 1) / slope))
    return max(1 / float(divisor), decay) * (1 + 2.0**-45)


def _pair(windows: list[Window], p: Fraction, rate: float, clamped: Clamped) -> float:
    """Return the smooth bound of the pair (m, m) of this module's docstring, inflated."""
    low, high = windows
    n, lo, hi = low.n, clamped.lo, clamped.hi
    cut = math.floor(p * n)
    lower, upper = np.full(1, lo), np.full(1, hi)
    if cut:
        inner = low.values[: cut + 1 - low.first].astype(np.float64)[::-1]
        outer = high.values[n - cut + 1 - high.first :].astype(np.float64)
        lower = np.concatenate([np.clip(inner, lo, hi), lower if low.reaches_start else lower[:0]])
        upper = np.concatenate([np.clip(outer, lo, hi), upper if high.reaches_end else upper[:0]])
    ahead = float(cut - (p * n - Fraction(p.denominator - 1, p.denominator)))
    steps = np.arange(max(len(lower), len(upper))) - ahead
    weight = np.exp(-rate * np.maximum(steps, 0.0))
    return inflated(largest_pair(lower, upper, weight))


def _ends(
    windows: list[Window],
    p: Fraction,
    beta: float,
    clamped: Clamped,
    least: float,
    width: int,
) -> float:
    """Return the larger smooth sensitivity of the least and the largest row that are kept."""
    low, high = windows
    n, lo, hi = low.n, clamped.lo, clamped.hi
    mirrored = -high.values.astype(np.float64)[::-1]
    last = n + 2 - high.first - len(mirrored)  # the rank counted from above
    best = 0.0
    for values, first, bounds in ((low.values, low.first, (lo, hi)), (mirrored, last, (-hi, -lo))):
        starts = _starts(p, first, len(values), min(width, n) + 2)
        column = Column(values, first, n, *bounds)
        best = max(best, column.smooth_quantile(*starts, beta, least))
    return best


def _starts(p: Fraction, first: int, count: int, margin: int) -> tuple[NDArray[np.int64], int]:
    """Return the least n with ``floor(p n) + 1`` equal to each rank, as `ranks.starts` does."""
    begin = max(0, first - 1 - margin)
    stop = first + count + margin + 4
    a, b = p.numerator, p.denominator
    exact = (min(max(1, -(-(rank - 1) * b // a)), FARTHEST + rank) for rank in range(begin, stop))
    levels = np.fromiter(exact, np.int64, stop - begin)
    if begin == 0:
        levels[0] = 0
    return levels, begin
