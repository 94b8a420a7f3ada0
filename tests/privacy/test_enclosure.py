"""Intervals of decimals hold what they stand for, and are narrow."""

from __future__ import annotations

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
positive = numbers.map(abs).filter(bool)


def holds(found, exact):
    """Within, and narrow beside the largest number involved."""
    assert Fraction(found.low) <= exact <= Fraction(found.high)
    return Fraction(found.high) - Fraction(found.low)


@given(numbers, numbers)
def test_sums_and_products(x, y):
    a, b = Interval.of(x), Interval.of(y)
    size = max(abs(x), abs(y), Fraction(1, 10**200))
    tiny = Fraction(1, 10**57)
    assert holds(a, x) <= size * tiny
    assert holds(a + b, x + y) <= size * tiny
    assert holds(a - b, x - y) <= size * tiny
    assert holds(-a, -x) <= size * tiny
    assert holds(a * b, x * y) <= abs(x * y) * tiny
    assert holds(3 - a, 3 - x) <= max(size, 3) * tiny
    if y > 0:
        assert holds(a / b, x / y) <= abs(x / y) * tiny
        assert holds(2 / b, 2 / y) <= 2 / y * tiny


def mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


def surrounds(found, exact):
    low, high = (mpmath.mpf(str(end)) for end in (found.low, found.high))
    assert low < exact < high
    assert high - low <= abs(exact) * mpmath.mpf(10) ** -35


@given(positive)
@settings(max_examples=50)
def test_functions(x):
    with mpmath.workdps(160):
        a = Interval.of(x)
        surrounds(interval.log_of(x), mpmath.log(mp(x))) if x != 1 else None
        surrounds(interval.log1p(a), mpmath.log1p(mp(x)))
        if x < 10**5:
            surrounds(interval.exp(a), mpmath.exp(mp(x)))
            surrounds(interval.exp(-a), mpmath.exp(-mp(x)))
            surrounds(interval.expm1(a), mpmath.expm1(mp(x)))
        if x < 1:
            surrounds(interval.log1p(-a), mpmath.log1p(-mp(x)))
        root = a.sqrt()
        assert Fraction(root.low) ** 2 <= x <= Fraction(root.high) ** 2


@pytest.mark.parametrize("power", [0, 1, 10, 19, 20, 21, 25, 60])
def test_small_arguments_on_either_side_of_the_series(power):
    x = Fraction(10) ** -power * Fraction(7, 9)
    with mpmath.workdps(160):
        surrounds(interval.expm1(Interval.of(x)), mpmath.expm1(mp(x)))
        surrounds(interval.log1p(Interval.of(x)), mpmath.log1p(mp(x)))
        surrounds(interval.log1p(Interval.of(-x)), mpmath.log1p(-mp(x)))
        surrounds(interval.log_of(1 - x), mpmath.log(1 - mp(x)))


def test_the_test_catches_an_exponential_that_is_not_widened():
    x = Decimal("0.3")
    with mpmath.workdps(160), pytest.raises(AssertionError):
        surrounds(Interval(DOWN.exp(x), UP.exp(x)), mpmath.exp(mpmath.mpf(3) / 10))


def test_what_overflows_stays_an_enclosure():
    far = interval.exp(Interval.of(10**300))
    assert far.high == Decimal("Infinity") and far.low.is_finite() and far.low > 10**100
    near = interval.exp(Interval.of(-(10**300)))
    assert near.low == 0 < near.high


def test_short_numbers():
    x = Decimal("1.23456789012345678901234567890")
    assert interval.up(x, Decimal(0)) == Fraction("1.23456789012346")
    assert interval.down(x) == Fraction("1.23456789012345")
    assert interval.up(x, Decimal(2)) == 2
    assert interval.up(Decimal("0.1"), Decimal(0)) == Fraction(1, 10)
