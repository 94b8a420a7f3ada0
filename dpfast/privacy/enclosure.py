"""Intervals of 60-digit decimals that enclose the real value of a formula.

Sums, products and quotients are rounded outwards. The exponential and the logarithm of `decimal`
are correctly rounded to nearest. So the exact value lies between the two neighbors of the result.
Exponents reach 10**18, so no loss overflows.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction


def _context(rounding: str, digits: int = 60) -> decimal.Context:
    return decimal.Context(
        prec=digits,
        rounding=rounding,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero],
    )


UP = _context(decimal.ROUND_CEILING)
DOWN = _context(decimal.ROUND_FLOOR)
_SHORT = _context(decimal.ROUND_CEILING, 15)

_Function = Callable[[Decimal, Decimal], Decimal]
_ZERO = Decimal(0)
# For smaller arguments a short series is more accurate than a difference of rounded numbers.
_SMALL = Decimal("1e-20")


class Interval:
    """A closed interval, with interval arithmetic."""

    __slots__ = ("high", "low")

    def __init__(self, low: Decimal, high: Decimal) -> None:
        self.low = low
        self.high = high

    @classmethod
    def of(cls, x: Interval | Fraction | Decimal | int) -> Interval:
        """Return the narrowest interval about an exact number."""
        if isinstance(x, Interval):
            return x
        if isinstance(x, Fraction):
            top, bottom = Decimal(x.numerator), Decimal(x.denominator)
            return cls(DOWN.divide(top, bottom), UP.divide(top, bottom))
        exact = Decimal(x)
        return cls(exact, exact)

    def _of_ends(self, other: Interval | int, down: _Function, up: _Function) -> Interval:
        o = Interval.of(other)
        ends = [(a, b) for a in (self.low, self.high) for b in (o.low, o.high)]
        return Interval(min(down(a, b) for a, b in ends), max(up(a, b) for a, b in ends))

    def __add__(self, other: Interval | int) -> Interval:
        o = Interval.of(other)
        return Interval(DOWN.add(self.low, o.low), UP.add(self.high, o.high))

    def __neg__(self) -> Interval:
        return Interval(self.high.copy_negate(), self.low.copy_negate())

    def __sub__(self, other: Interval | int) -> Interval:
        return self + (-Interval.of(other))

    def __rsub__(self, other: int) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Interval | int) -> Interval:
        return self._of_ends(other, DOWN.multiply, UP.multiply)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Interval | int) -> Interval:
        """Divide by an interval of positive numbers."""
        return self._of_ends(other, DOWN.divide, UP.divide)

    def __rtruediv__(self, other: int) -> Interval:
        return Interval.of(other) / self

    def sqrt(self) -> Interval:
        """Return an interval that encloses the square root, which `decimal` rounds correctly."""
        return Interval(
            max(_ZERO, DOWN.next_minus(DOWN.sqrt(self.low))), UP.next_plus(UP.sqrt(self.high))
        )


def _widened(low: Decimal, high: Decimal) -> Interval:
    return Interval(DOWN.next_minus(low), UP.next_plus(high))


def exp(x: Interval) -> Interval:
    """Return an interval that encloses e^x."""
    result = _widened(DOWN.exp(x.low), UP.exp(x.high))
    return Interval(max(_ZERO, result.low), result.high)


def log(x: Interval) -> Interval:
    """Return an interval that encloses ln(x), x > 0. Near x = 1, `log1p` is narrower."""
    return _widened(DOWN.ln(x.low), UP.ln(x.high))


def expm1(x: Interval) -> Interval:
    """Return an interval that encloses e^x - 1, x > 0."""
    if x.high >= _SMALL:
        return exp(x) - 1
    # The series begins with x + x**2 / 2, and its remainder is below x**3 / 4.
    begins = x + x * x / 2
    return Interval(begins.low, (begins + x * x * x / 4).high)


def log1p(x: Interval) -> Interval:
    """Return an interval that encloses ln(1 + x), x > -1."""
    size = max(x.low.copy_abs(), x.high.copy_abs())
    if size >= _SMALL:
        return log(x + 1)
    begins = x - x * x / 2
    remainder = UP.power(size, 3)
    return Interval(DOWN.subtract(begins.low, remainder), UP.add(begins.high, remainder))


def log_of(x: Fraction) -> Interval:
    """Return an interval that encloses a fraction's logarithm, which is narrow near 1 too."""
    return log1p(Interval.of(x - 1)) if Fraction(1, 2) < x < 2 else log(Interval.of(x))


def up(x: Decimal, least: Decimal) -> Fraction:
    """Return `x` rounded up to 15 digits, or `least` if that is larger.

    A conversion to float64 keeps 15 digits, so the number is shown exactly.
    """
    return Fraction(max(_SHORT.plus(x), least))


def down(x: Decimal) -> Fraction:
    """Return `x` >= 0 rounded down to 15 digits."""
    short = _SHORT.copy()
    short.rounding = decimal.ROUND_FLOOR
    return Fraction(short.plus(x))
