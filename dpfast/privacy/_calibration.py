"""Parameters of mechanisms that are surely within a loss: rounded towards less."""

from __future__ import annotations

import math
from fractions import Fraction

from ._losses import ZCDP, Pure

__all__ = ["float_down", "pure_within", "range_within"]


def float_down(amount: Fraction) -> float:
    """The largest float64 that is not above `amount`."""
    result = float(amount)
    return math.nextafter(result, -math.inf) if Fraction(result) > amount else result


def range_within(rho: Fraction) -> Fraction:
    """An epsilon such that epsilon**2 / 8 is at most `rho`, as large as some 64 bits can tell."""
    square = 8 * rho
    shift = 2 * max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << shift // 2)


def pure_within(rho: Fraction) -> Fraction:
    """An epsilon of which the pure loss is `rho`-zCDP, within 2**-40 of the largest there is."""
    target = float_down(rho)
    if not target > 0:
        return rho  # tanh(x) <= 1
    epsilon = target
    if target < 64:  # beyond, 1 - tanh(epsilon / 2) is less than 2**-90
        # epsilon tanh(epsilon / 2) is convex then nearly linear; these start above the root.
        epsilon += math.sqrt(2 * target)
        for _ in range(64):
            tanh = math.tanh(epsilon / 2)
            slope = tanh + epsilon / 2 * (1 - tanh * tanh)
            epsilon = max(epsilon - (epsilon * tanh - target) / slope, target)
    found = Fraction(epsilon)
    step = Fraction(1, 2**47)
    while ZCDP.of_pure(Pure(found)).rho > rho:
        found *= 1 - step
        step *= 2
    return found
