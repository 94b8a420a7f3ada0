"""Intervals of decimals hold what they stand for, and are narrow."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.privacy import enclosure as interval
from dpfast.privacy.enclosure import DOWN, UP, Interval

numbers = st.builds(
    lambda m, e: Fraction(m, 7) * Fraction(10) ** e,
    st.integers(-(10**30), 10**30),
    st.integers(-60, 5),
)


@given(numbers, numbers.filter(lambda y: y > 0))
def test_sums_products_and_quotients_are_enclosed(x, y):
    a, b = Interval.of(x), Interval.of(y)
    for found, exact, size in (
        (a + b, x + y, max(abs(x), y)),
        (a - b, x - y, max(abs(x), y)),
        (3 - a, 3 - x, max(abs(x), 3)),
        (a * b, x * y, abs(x * y)),
        (a / b, x / y, abs(x / y)),
        (2 / b, 2 / y, 2 / y),
    ):
        low, high = Fraction(found.low), Fraction(found.high)
        assert low <= exact <= high and high - low <= size * Fraction(1, 10**57)
    root = b.sqrt()
    assert Fraction(root.low) ** 2 <= y <= Fraction(root.high) ** 2


def surrounds(found, exact):
    low, high = (mpmath.mpf(str(end)) for end in (found.low, found.high))
    assert low < exact < high and high - low <= abs(exact) * mpmath.mpf(10) ** -35


@given(numbers.map(abs).filter(lambda x: x not in (0, 1)))
@settings(max_examples=50)
def test_functions_are_enclosed(x):
    """Small arguments, on either side of the series, are among these."""
    a = Interval.of(x)
    with mpmath.workdps(160):
        exact = mpmath.mpf(x.numerator) / x.denominator
        surrounds(interval.log_of(x), mpmath.log(exact))
        surrounds(interval.log1p(a), mpmath.log1p(exact))
        if x < 10**5:
            surrounds(interval.exp(a), mpmath.exp(exact))
            surrounds(interval.exp(-a), mpmath.exp(-exact))
            surrounds(interval.expm1(a), mpmath.expm1(exact))
        if x < 1:
            surrounds(interval.log1p(-a), mpmath.log1p(-exact))


def test_an_exponential_that_is_not_widened_is_caught():
    """Planted: decimals round it to the nearest number, whatever the direction."""
    x = Decimal("0.3")
    with mpmath.workdps(160), pytest.raises(AssertionError):
        surrounds(Interval(DOWN.exp(x), UP.exp(x)), mpmath.exp(mpmath.mpf(3) / 10))
