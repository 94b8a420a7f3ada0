"""Sensitivities of the variance and standard deviation, under both neighboring relations.

*Replace*, with a public n. Let w be n - 1 rows with the mean c, and u one row more. The population
variance of w + u is a constant plus (n - 1) / n**2 (u - c)**2. If u is replaced by v, it changes by
(n - 1) / n**2 times |(v - c)**2 - (u - c)**2|. The largest such change is the larger of
    up:   (b - c)**2 - (u - c)**2 = (b - u) (b + u - 2 c), b a bound, and
    down: (u - c)**2, with v = c.
The local sensitivity at distance k is the largest of these over all w + u within k replacements of
x. Let b = hi (the other case is the mirror image). For a given u both numbers fall as c grows (for
"down", if u is above c). So k of the other rows are replaced by lo. The largest of the other rows
are the best choice:
  * u is one of the replaced rows. For u = c, "up" is (hi - c)**2, and so is "down" for u = hi. w is
    the n - k smallest rows of x and k - 1 times lo.
  * u is among the n - k smallest rows of x. The k largest rows become lo. Then c = (P - u) / (n -
    1), where P is the sum of the n - k smallest rows, and "up" is concave in u. With lo = 0 it is
    largest next to u = (hi + P) / (n + 1).
  * u is among the k largest rows. The k largest of the other rows become lo. c is the same as if u
    were the largest of the n - k smallest rows. That row is nearer to c, so "up" is no larger here.
  * "Down" with a row of x: u is the largest row, and the k largest of the other rows become lo.
So A(k) is computed from sums of the smallest rows and one binary search. In units of (n - 1) /
n**2, A(0) is at least R**2 / 8 and A(k) at most R**2. So about ln(8) / beta distances decide the
smooth sensitivity.

*Add-remove*. Let v be the population variance of n rows with the mean c. A new row y changes it by
n / (n + 1)**2 (y - c)**2 - v / (n + 1). Both terms are at most R**2 / (n + 2), because v is at most
R**2 / 4. So the local sensitivity is at most R**2 / (n + 1), with n the larger number of rows, and
at most R**2 / 4. The sample variance s changes by (y - c)**2 / (n + 1) - s / n, and s is at most
R**2 n / (4 (n - 1)). So it changes by at most R**2 / n, and by at most R**2 / 2. Such a bound
depends only on n. It is made smooth in the same way as the bound for the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from .._core import checks
from .._core.types import Neighbors
from .column import PRIVATE_ROWS, Cells, Clamped, ColumnSensitivity, both_sides
from .known import only
from .rounding import float_up, inflated, largest, rounded_up


class VarianceSensitivity(ColumnSensitivity):
    """Sensitivities of the variance of a clamped column.

    `ddof` is 0 for the population variance, which divides by n, or 1 for the sample variance, which
    divides by n - 1. The variance of fewer than two rows is 0. Let R = hi - lo.

    *Global*, only under "replace": ``R**2 (n - 1) / n**2``, or ``R**2 / n`` with ddof=1, for a
    public n. *Local*, only under "replace": exact within a relative ``2**-44``. *Smooth*: under
    "replace" it is exact, and more than an eighth of the global one. Under "add-remove" it is a
    bound of about ``R**2 / n``, which depends only on the number of rows; a release from noisy
    moments is better there. Cost: a sort of the column, and for the smooth one up to ``2 / beta``
    binary searches.
    """

    ddof: int
    name: ClassVar[str]

    def largest_change(self, span: Fraction, rows: int | None, neighbors: str) -> Fraction:
        only("replace", f"the {self.name} {PRIVATE_ROWS}", neighbors)
        count, ddof = checks.whole("rows", rows), self._ddof()
        return span**2 * _factor(count, ddof) if count > 1 else Fraction(0)

    def local_of(self, column: Clamped, at_distance: int) -> float:
        only("replace", f"the {self.name} {PRIVATE_ROWS}", column.neighbors)
        ddof = self._ddof()
        _squarable(column)
        if column.lo == column.hi:
            column.rows()
            return 0.0
        sides = both_sides(column)
        if sides[0].n < 2:
            return 0.0
        return rounded_up(_at(sides, ddof)(at_distance) * (1.0 + 2.0**-45))

    def smooth_of(self, column: Clamped, beta: float) -> float:
        ddof = self._ddof()
        _squarable(column)
        if column.lo == column.hi or column.neighbors == "add-remove":
            n = column.rows()
            return 0.0 if column.lo == column.hi else _of_rows(column, n, ddof, beta)
        sides = both_sides(column)
        n = sides[0].n
        if n < 2:
            return 0.0
        most = float_up((Fraction(column.hi) - Fraction(column.lo)) ** 2 * _factor(n, ddof))
        best = largest(_at(sides, ddof), beta=beta, most=most, stop=n, least=2.0**-1022)
        return inflated(best * (1.0 + 2.0**-45))

    def _ddof(self) -> int:
        if self.ddof > 1:
            rule = "0 (the population's variance) or 1 (the sample's)"
            checks.fail("ddof", rule, self.ddof)
        return self.ddof


class StdSensitivity(VarianceSensitivity):
    """Bounds on the sensitivities of the standard deviation of a clamped column.

    Two square roots differ by no more than the root of the difference. So the roots of the
    sensitivities of the variance are bounds. The global bound is exact: equal rows reach it. The
    root of a (2 beta)-smooth bound is beta-smooth. Cost: as for the variance.
    """

    def global_sensitivity(self, rows: int | None, neighbors: Neighbors) -> float:
        return _root_up(super().global_sensitivity(rows, neighbors))

    def local_of(self, column: Clamped, at_distance: int) -> float:
        return _root_up(super().local_of(column, at_distance))

    def smooth_of(self, column: Clamped, beta: float) -> float:
        return _root_up(super().smooth_of(column, 2 * beta))


def _root_up(amount: float) -> float:
    """Return an upper bound of the square root of `amount`."""
    return math.nextafter(math.sqrt(amount), math.inf) if amount else 0.0


def _factor(n: int, ddof: int) -> Fraction:
    """Return the change of a variance of n rows per unit of (u - c)**2."""
    return Fraction(n - 1, n * n) if ddof == 0 else Fraction(1, n) if n > 1 else Fraction(0)


def _squarable(column: Clamped) -> None:
    width = column.hi - column.lo
    if not width * width < math.inf:
        rule = "such that (hi - lo)**2 does not overflow float64"
        checks.fail("bounds", rule, (column.lo, column.hi))


def _largest_square(side: Cells, k: int) -> Fraction:
    """Return the largest squared change at distance k, in cells, for b = hi (module docstring)."""
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
    """Return the variance's A as a function of k, exact within a relative 2**-46."""
    n = sides[0].n
    scale = sides[0].unit ** 2 * _factor(n, ddof)
    return lambda k: float_up(scale * max(_largest_square(side, min(k, n)) for side in sides))


def _of_rows(column: Clamped, n: int, ddof: int, beta: float) -> float:
    """Return the smooth bound for a variance under "add-remove", from the number of rows alone."""
    least = 2 if ddof else 4
    divisor = max(n if ddof else n + 1, least)
    decay = math.exp(-beta * max(n - (2 if ddof else 3), 0)) / least
    square = (Fraction(column.hi) - Fraction(column.lo)) ** 2
    return max(inflated(float_up(square) * max(1.0 / divisor, decay)), 2.0**-1022)
