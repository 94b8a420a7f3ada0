"""Sensitivities of the sum and of the mean of a clamped column, with proofs.

Let R be the distance of the bounds, and w the rows that two neighbors share.

*Replace*, n rows. If a row of x is replaced by v, the sum changes by at most the larger of hi - min
x and max x - lo, and the mean by 1 / n of that. One replacement can make a dataset for which this
largest change is R.

*Add-remove*; the mean of no rows is the middle of the bounds. Neighbors are w and w + v. If w has s
rows, the mean changes by |v - mean(w)| / (s + 1) = |s v - sum(w)| / (s (s + 1)). Let the mean rise;
the other direction is the mirror image. First let w be within k changes of x. Then the change is
largest for v = hi, if w is x without its a largest rows and with b more rows at lo, a + b <= k. For
a given b, both s and the mean of w fall with a, so a = min(k - b, n). Now let w + v be within k
changes of x. If v is an added row, w is within k changes, too. Otherwise v is best the largest row
of x, and w is made of the other rows of x in the same way. So A(k) is the largest of O(k) numbers.
It is at most R / max(n - k, 2), whatever the rows are.

If a row is added or removed, n changes by 1, which is one step of k in this bound. So S = max_k
e^(-beta k) R / max(n - k, 2) is smooth. e^(-beta k) / (n - k) is log-convex in k, so the maximum is
at an end: R / n or e^(-beta (n - 2)) R / 2.

*The sum* changes by n times as much under "replace". Under "add-remove" the largest change is the
limit that is farther from 0, whatever the other rows are.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .._core import checks
from .column import Cells, Clamped, ColumnSensitivity, both_sides
from .ranks import effective_floor
from .rounding import float_up, inflated, rounded_up


class SumSensitivity(ColumnSensitivity):
    """Sensitivities of the sum of a clamped column: exact, but rounded up.

    Under "add-remove" all three are ``max(abs(lo), abs(hi))``. Under "replace", with R = hi - lo,
    the global one is R (0 for no rows). The local one is ``max(hi - min x, max x - lo)``, and R
    from distance 1 on. The smooth one is the larger of the local one and ``exp(-beta) R``. Cost: a
    pass.
    """

    def largest_change(self, span: Fraction, rows: int | None, neighbors: str) -> Fraction:
        if neighbors == "add-remove":
            return max(abs(Fraction(limit)) for limit in self._pair())
        return span if checks.whole("rows", rows) else Fraction(0)

    def local_of(self, column: Clamped, at_distance: int) -> float:
        if column.neighbors == "replace":
            return float_up(_reach(column, at_distance)[1])
        column.rows()
        return max(abs(column.lo), abs(column.hi))

    def smooth_of(self, column: Clamped, beta: float) -> float:
        if column.neighbors == "replace":
            return _smooth_replaced(column, beta, averaged=False)
        return self.local_of(column, 0)


class MeanSensitivity(ColumnSensitivity):
    """Sensitivities of the mean of a clamped column.

    The mean of no rows is the middle of the bounds, and R = hi - lo.

    *Global*: R / n under "replace", with a public n (0 for no rows), and R / 2 under "add-remove".
    *Local*: exact within a relative ``2**-48``. It costs a pass under "replace", and a sort of the
    column and O(k) under "add-remove". *Smooth*: under "replace" it is exact: the larger of the
    local one and ``exp(-beta) R / n``, which is hardly below the global one. Under "add-remove" it
    is the bound ``max(R / n, exp(-beta (n - 2)) R / 2)``, which depends only on n. It costs a pass.
    For a release under "add-remove", a noisy sum over a noisy count is mostly better.
    """

    def largest_change(self, span: Fraction, rows: int | None, neighbors: str) -> Fraction:
        if neighbors == "add-remove":
            if rows is not None:
                rule = "left out under 'add-remove', where the number of rows is private (a public "
                checks.fail("rows", rule + "number needs neighbors='replace')", rows)
            return span / 2
        count = checks.whole("rows", rows)
        return span / count if count else Fraction(0)

    def local_of(self, column: Clamped, at_distance: int) -> float:
        if column.neighbors == "replace":
            n, change = _reach(column, at_distance)
            return float_up(change / max(n, 1))
        if column.lo == column.hi:
            column.rows()
            return 0.0
        sides = both_sides(column)
        n, k = sides[0].n, min(at_distance, sides[0].n + 1)
        best = Fraction(sides[0].span, 2) if k >= n else Fraction(0)
        for side in sides:
            best = max(best, _largest(side, n, side.span, k))  # w within k of the data, v at hi
            if n:  # w + v within k of the data, v the largest row
                best = max(best, _largest(side, n - 1, side.at(n), k))
        return rounded_up(float(best * sides[0].unit))

    def smooth_of(self, column: Clamped, beta: float) -> float:
        if column.neighbors == "replace":
            return _smooth_replaced(column, beta, averaged=True)
        n, lo, hi = column.rows(), column.lo, column.hi
        if lo == hi:
            return 0.0
        best = (hi - lo) / max(n, 2)
        best = max(best, math.exp(-beta * max(n - 2, 0)) * ((hi - lo) / 2))
        return inflated(max(best, effective_floor(0.0, lo, hi)))


def _largest(side: Cells, count: int, v: int, k: int) -> Fraction:
    """Return the largest change of a mean by a row v that joins `count` rows, k of them changed."""
    best = Fraction(0)
    for b in range(k + 1):
        kept = max(count - (k - b), 0)
        s = kept + b
        if s:  # removing the only row changes the mean less than adding one at a bound
            best = max(best, Fraction(s * v - side.below(kept), s * (s + 1)))
    return best


def _reach(column: Clamped, at_distance: int) -> tuple[int, Fraction]:
    """Return the number of rows, and the largest change of a sum by a replaced row."""
    lo, hi = column.lo, column.hi
    first, last = column.windows([lambda n: 1, lambda n: n], 0)
    if not first.n or lo == hi:
        return first.n, Fraction(0)
    if at_distance:
        return first.n, Fraction(hi) - Fraction(lo)
    least, most = (min(max(float(end.values[0]), lo), hi) for end in (first, last))
    return first.n, max(Fraction(hi) - Fraction(least), Fraction(most) - Fraction(lo))


def _smooth_replaced(column: Clamped, beta: float, averaged: bool) -> float:
    """Return the smooth sensitivity of a sum or a mean under "replace"."""
    n, change = _reach(column, 0)
    if not change:
        return 0.0
    parts, lo, hi = n if averaged else 1, column.lo, column.hi
    best = max(float_up(change / parts), math.exp(-beta) * rounded_up((hi - lo) / parts))
    return inflated(max(best, effective_floor(0.0, lo, hi)))
