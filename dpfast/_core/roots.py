"""Square roots of exact fractions, rounded up or down to about 62 bits."""

from __future__ import annotations

import math
from fractions import Fraction


def root_up(square: Fraction) -> Fraction:
    """Return an upper bound of the square root, with a relative error below ``2**-60``."""
    root, shift = _truncated(square, 62)
    return Fraction(root + 1, 1 << shift)


def root_down(square: Fraction) -> Fraction:
    """Return a lower bound of the square root, with a relative error below ``2**-60``.

    No float64 lies between the bound and the root, so both round down to the same float64.
    """
    root, shift = _truncated(square, 64)
    return Fraction(root, 1 << shift)


def _truncated(square: Fraction, bits: int) -> tuple[int, int]:
    """Return r and k: r / 2**k is the root rounded down, and r has about `bits` bits or more.

    Scales of noise are such roots, so a change of `bits` would change released answers.
    """
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, bits - size // 2)
    return math.isqrt((square.numerator << 2 * shift) // square.denominator), shift
