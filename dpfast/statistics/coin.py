"""Coins of the probabilities of randomized response, flipped exactly.

A coin compares its irrational probability with as many random bits as the comparison takes
(``csrc/statistics/response.c``; in one of 2**72 flips with mpmath).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import statistics as _native
from .._kernels.noise import Script
from .._kernels.rng import BitStream
from ..noise.distributions.exact import Tail
from ..privacy.enclosure import Interval, exp

Stream = BitStream | Script


class Coin:
    """A coin that shows heads with probability ``others / (exp(epsilon) + others)``, exactly.

    `first` and `second` are the first 8 bits of that number and its next 64.
    """

    def __init__(self, epsilon: Fraction, others: int) -> None:
        self.epsilon = epsilon
        self.others = others
        self.first, self.second = divmod(leading(epsilon, others), 1 << 64)

    def probability(self, mp: Any) -> Any:
        # An error of epsilon is one of the exponential relatively.
        extra = math.floor(self.epsilon).bit_length()
        with mp.extraprec(extra):
            grown = mp.exp(mp.mpf(self.epsilon.numerator) / self.epsilon.denominator)
        return self.others / (grown + self.others)

    def decide(self, stream: Stream) -> bool:
        """Tell whether it is heads, given that the first 72 bits are those of the probability."""
        tail = Tail(self.first << 64 | self.second, stream.word)
        tail.bits = 72
        return tail.below(self.probability)

    def flip(self, bits: NDArray[np.uint8], stream: Stream) -> None:
        """Change each of the contiguous `bits` (0 or 1) where a coin of its own shows heads."""
        if _native.flip(self.first, self.second, bits, stream):
            self._settle(bits, stream)

    def answer(self, values: NDArray[Any], out: NDArray[Any], stream: Stream) -> None:
        """Write whether `values` are not 0 to `out`, and change these bits as `flip` does."""
        if _native.binary(self.first, self.second, values, out, stream):
            self._settle(out, stream)

    def _settle(self, bits: NDArray[Any], stream: Stream) -> None:
        for i in np.flatnonzero(bits & _native.OPEN).tolist():
            bits[i] ^= _native.OPEN | self.decide(stream)


coin = lru_cache(maxsize=256)(Coin)


def leading(epsilon: Fraction, others: int) -> int:
    """Return the first 72 bits of ``others / (exp(epsilon) + others)``.

    It is irrational, so enough digits settle every bit.
    """
    near = Interval.of(others << 72) / (exp(Interval.of(epsilon)) + others)
    low, high = (math.floor(min(end, Decimal(1 << 72))) for end in (near.low, near.high))
    return low if low == high else leading_slowly(epsilon, others)


def leading_slowly(epsilon: Fraction, others: int) -> int:
    from mpmath import MPContext

    mp = MPContext()
    mp.prec = 256
    while True:
        x = mp.mpf(epsilon.numerator) / epsilon.denominator
        near = mp.ldexp(others / (mp.exp(x) + others), 72)
        slack = mp.ldexp(near * (1 + x), 8 - mp.prec)
        low, high = int(mp.floor(near - slack)), int(mp.floor(near + slack))
        if low == high:
            return low
        mp.prec *= 2
