"""Samples in arbitrary precision, for the cases that float64 cannot decide.

A uniform number p is known only as an interval [k, k + 1] 2**-bits. With further bits the interval
shrinks around the same real number, so the distribution of the result is exact. Rounding errors of
a computation only make it need more bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Distribution, context, ratio
from .table import Prepared

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_ROOM = 4096  # the most undecided samples that are kept at a time


def _exactly(x: Any) -> Fraction:
    """Return the exact value of an mpmath number as a fraction."""
    sign, man, exponent, _ = x._mpf_
    value = Fraction(int(man) << exponent) if exponent >= 0 else Fraction(int(man), 1 << -exponent)
    return -value if sign else value


def undecided(
    size: int, fill: Callable[[int, Integers, Words], tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the indices and the first words of the samples that a kernel did not decide.

    ``fill(start, lane, word)`` draws samples from number `start` on, and records undecided ones
    until `lane` and `word` are full.
    """
    lane, word = np.empty(_ROOM, np.int64), np.empty(_ROOM, np.uint64)
    start = 0
    while start < size:
        start, count = fill(start, lane, word)
        yield from zip(lane[:count].tolist(), word[:count].tolist(), strict=True)


class Tail:
    """A tail probability p of which 64 bits are known and more can be drawn."""

    def __init__(self, k: int, more: Callable[[], int]) -> None:
        self.k = k
        self.bits = 64
        self._more = more

    def refine(self) -> None:
        """Draw 64 further bits of p."""
        self.k = (self.k << 64) | self._more()
        self.bits += 64

    def below(self, probability: Callable[[Any], Any]) -> bool:
        """Return whether p < `probability`, a function with a relative error of 2**(20 - prec)."""
        while True:
            mp = context(self.bits + 64)
            near = probability(mp)
            if not near or mp.mag(near) < -self.bits - 2:
                # The probability is below every k except 0. It is not converted to a fraction,
                # because the fraction of exp(-2^40) would not fit into memory.
                if self.k:
                    return False
                self.refine()
                continue
            value = _exactly(near) * (1 << self.bits)
            slack = abs(value) / 2 ** (mp.prec - 21)
            if self.k + 1 <= value - slack:
                return True
            if self.k >= value + slack:
                return False
            self.refine()

    def beyond(self, distribution: Distribution, z: Fraction) -> bool:
        """Return whether the quantile Q(p) of a distribution is above z."""
        return z <= 0 or self.below(lambda mp: distribution.survival(mp, ratio(mp, z)))

    def enclose(self, distribution: Distribution) -> tuple[Fraction, Fraction]:
        """Return an interval that holds the quantile Q(p), about as narrow as the bits allow."""
        while self.k == 0:
            self.refine()
        extra = 64
        while True:
            mp = context(self.bits + extra + 20)
            slack = mp.ldexp(1, -self.bits - 8)
            smallest, largest = mp.ldexp(self.k + 1, -self.bits), mp.ldexp(self.k, -self.bits)
            error = mp.ldexp(1, 20 - mp.prec)
            low, high = mp.zero, distribution.quantile(mp, largest - slack)
            good = distribution.survival(mp, high) * (1 + 2 * error) <= largest
            if smallest + slack < 0.5:
                low = distribution.quantile(mp, smallest + slack)
                good = good and distribution.survival(mp, low) * (1 - 2 * error) >= smallest
            if good:
                return _exactly(low), _exactly(high)
            extra *= 2


def nearest_double(x: Fraction) -> float:
    """Return the double nearest to x, infinite beyond the largest."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def decide(
    prepared: Prepared,
    word: int,
    value: float,
    scale: float,
    granularity: float,
    more: Callable[[], int],
) -> float:
    """Return the rounded sample that the bits `word` and further bits of `more` decide."""
    distribution = prepared.distribution
    negative = bool(word & 1)
    tail = Tail(word >> 1, more)
    grid = Fraction(granularity)
    center, ratio = Fraction(value) / grid, Fraction(scale) / grid
    z, bound = prepared.evaluate(tail.k)
    if math.isfinite(bound) and ratio * Fraction(bound) < Fraction(1, 4):
        # Only the two integers next to one half-integer are possible.
        y = center + (-ratio if negative else ratio) * Fraction(z)
        lower = math.floor(y)
        half = lower + Fraction(1, 2)
        distance = (center - half) / ratio if negative else (half - center) / ratio
        above = tail.beyond(distribution, distance) != negative
        return nearest_double((lower + above) * grid)
    while True:
        low, high = tail.enclose(distribution)
        if negative:
            low, high = -high, -low
        first = math.floor(center + ratio * low + Fraction(1, 2))
        last = math.floor(center + ratio * high + Fraction(1, 2))
        result = nearest_double(first * grid)
        if result == nearest_double(last * grid):
            return result
        tail.refine()
