"""Power series with nonnegative coefficients, and a bound of their rounding errors.

If numbers are never negative, and are only added and multiplied, nothing cancels. So the relative
error of each coefficient is tracked as a number of units of 2**-53. A product has the errors of
both factors and one more unit. A sum has the larger error and one more unit. (The factor
`table.SAFETY` covers terms of second order.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Positive:
    """An array of nonnegative numbers with relative error at most ``slack * 2**-53``."""

    __slots__ = ("slack", "value")

    def __init__(self, value: Any, slack: Any) -> None:
        self.value = value
        self.slack = slack

    def __mul__(self, other: Positive) -> Positive:
        return Positive(self.value * other.value, self.slack + other.slack + 1.0)

    def __add__(self, other: Positive) -> Positive:
        a, b = self.slack, other.slack
        return Positive(self.value + other.value, (a + b + abs(a - b)) / 2 + 1.0)

    def times(self, factor: float) -> Positive:
        """Return these numbers times a factor, which has an error of at most two units."""
        return Positive(self.value * factor, self.slack + 3.0)


def dot(a: Sequence[Positive], b: Sequence[Positive], n: int) -> Positive:
    """Return coefficient n of the product of two series."""
    total = a[0] * b[n]
    for i in range(1, n + 1):
        total = total + a[i] * b[n - i]
    return total
