"""Sensitivities of the trimmed and winsorized mean ("add-remove" is in `trimmed_add_remove`).

x ascends, and x_i = lo for i < 1, x_i = hi for i > n. m = floor(proportion n) rows are cut off at
each end, and L = n - 2 m are left.

*Trimmed mean*, (x_(m+1) + ... + x_(n-m)) / L. The largest local sensitivity within k replacements
is the largest (x_j - x_i) / L with i <= m + 1, j >= n - m and j - i <= L + k; the proof is in
`dpfast/aggregate/aggregators/trimmed.py`. This can be written by two medians. Take the columns
    z  = x_1 .. x_m, x_(n-m), ..., x_n     and     z' = x_1 .. x_m, x_(m+1), x_(n-m+1), ..., x_n
of 2 m + 1 rows. In both columns, the ranks m + 1 - s and m + 1 + t are s + t apart. In x, the ranks
m + 1 - s and n - m + t are L - 1 + s + t apart. So the pairs of z with s >= 1 are the pairs of x
with i <= m, and the pairs of z' with s = 0 and t >= 1 are the pairs of x with i = m + 1. All other
pairs (s = 0 in z, t = 0 in z') are pairs of x with one end moved inward, at the same distance. So
the smooth sensitivity of the trimmed mean is 1 / L times the larger smooth sensitivity of the
medians of z and z'.

*Winsorized mean*, (m x_(m+1) + (x_(m+1) + ... + x_(n-m)) + m x_(n-m)) / n. The weighted sum of the
sensitivities of its parts is a bound at any distance. A nonnegative combination of smooth bounds is
smooth. (In all small cases the bound is at most 1.7 times the exact number, and it is exact for L =
1.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core import checks
from .._kernels.sensitivity import Column
from .column import PRIVATE_ROWS, Clamped, ColumnSensitivity, share
from .known import only
from .quantile import first_width
from .ranks import effective_floor, kept_ends, reach
from .rounding import rounded_up
from .trimmed_add_remove import Kept, smooth_moving

Sensitivity = Callable[[Column, int], float]


class Ends(NamedTuple):
    """The rows around both ends of the rows that a trimmed mean keeps; NOT PRIVATE."""

    n: int
    cut: int
    lower: Column
    upper: Column
    with_upper: Column
    with_lower: Column
    low: float  # the smallest and the largest row that are kept: `low`, `high`
    high: float

    def bound(self, of: Sensitivity, winsorized: bool) -> float:
        """Return the sensitivity of the trimmed mean, or a bound for the winsorized mean."""
        total = max(of(self.with_upper, self.cut + 1), of(self.with_lower, self.cut + 1))
        if not winsorized:
            return _divided(total, self.n - 2 * self.cut)
        if self.cut:
            ends = of(self.lower, self.cut + 1) + of(self.upper, self.n - self.cut)
            total = rounded_up(self.cut * ends + total)
        return _divided(total, self.n)


def _ends(column: Clamped, proportion: Fraction, width: int) -> Ends | None:
    """Return the rows within `width` ranks of both ends of the rows that remain, or None."""
    # No row beyond the ends is needed: ranks below 1 or above n have the values of the bounds.
    low, high = column.windows(kept_ends(proportion), width)
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


def from_ranks(column: Clamped, proportion: Fraction, beta: float, winsorized: bool) -> Kept:
    """NOT PRIVATE. Return a smooth bound of a trimmed or winsorized mean, and its outermost rows.

    The caller has checked the arguments.
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
    if needed > width:  # the window did not contain all ranks that matter
        ends = _ends(column, proportion, needed)
        assert ends is not None
        bound = ends.bound(of, winsorized)
    return Kept(max(bound, 2.0**-1022), ends.n, ends.cut, ends.low, ends.high)


class TrimmedSensitivity(ColumnSensitivity):
    """Sensitivities of the trimmed and the winsorized mean of a clamped column.

    Let m = floor(proportion n) and R = hi - lo.

    *Global*, only under "replace" and for a public n: ``R / (n - 2 m)`` for the trimmed mean, ``(m
    + 1) R / n`` for the winsorized mean, and R if one row is kept. (One row changes both ends only
    if it crosses all kept rows. All changes add up to at most R, and none has a greater weight.)

    *Local*, only under "replace": exact for the trimmed mean, up to rounding. It costs a pass over
    unsorted data, then O(k).

    *Smooth*: exact for the trimmed mean under "replace", and a bound under "add-remove" (Bun and
    Steinke, NeurIPS 2019), where the mean of no rows is the middle of the bounds. It costs a pass,
    then O(w), where w is about (2 / beta) ln(R / S) ranks.

    For the winsorized mean, the local and the smooth sensitivity are bounds: weighted sums of those
    of the two ends and of the rows between them. They are exact if one row is kept, and at most 1.7
    times too large in small cases.
    """

    proportion: Any
    name: ClassVar[str]
    winsorized: ClassVar[bool]

    def largest_change(self, span: Fraction, rows: int | None, neighbors: str) -> Fraction:
        only("replace", f"the {self.name} {PRIVATE_ROWS}", neighbors)
        count, proportion = checks.whole("rows", rows), share(self.proportion)
        if not count:
            return Fraction(0)
        cut = math.floor(proportion * count)
        kept = count - 2 * cut
        weight = Fraction(cut + 1) if self.winsorized and kept > 1 else Fraction(count, kept)
        return span * weight / count

    def local_of(self, column: Clamped, at_distance: int) -> float:
        only("replace", f"the {self.name} {PRIVATE_ROWS}", column.neighbors)
        ends = _ends(column, share(self.proportion), at_distance + 1)
        if ends is None:
            return 0.0
        most = min(at_distance, ends.n + 1)
        return ends.bound(lambda rows, m: rounded_up(rows.local_replace(m, most)), self.winsorized)

    def smooth_of(self, column: Clamped, beta: float) -> float:
        return from_ranks(column, share(self.proportion), beta, self.winsorized).sensitivity


def _divided(amount: float, by: int) -> float:
    """Return an upper bound of the quotient ``amount / by``, at most two float64 steps above it."""
    return math.nextafter(amount / by, math.inf) if amount else 0.0
