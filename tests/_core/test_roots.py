"""Square roots of fractions: on the right side, close, and the same bits as ever."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpfast._core.roots import root_down, root_up
from dpfast.privacy import float_down

squares = st.fractions(min_value=Fraction(1, 2**200), max_value=2**200)
near = 1 + Fraction(1, 2**58)


@given(squares)
def test_roots_are_rounded(square):
    low, high = root_down(square), root_up(square)
    assert low**2 <= square < high**2
    assert square <= low**2 * near and high**2 <= square * near


@given(st.fractions(min_value=0, max_value=2**100))
def test_roots_of_squares(root):
    assert root_down(root**2) <= root < root_up(root**2)
    assert float_down(root_down(root**2)) == float_down(root)
    assert float_down(root_down(Fraction(float(root)) ** 2)) == float(root)


@given(squares)
def test_the_bits_that_noise_was_scaled_by_stay(square):
    above, below = square.numerator, square.denominator
    shift = max(0, 124 - above.bit_length() + below.bit_length())
    shift += shift & 1
    assert root_up(square) == Fraction(math.isqrt((above << shift) // below) + 1, 1 << (shift // 2))
