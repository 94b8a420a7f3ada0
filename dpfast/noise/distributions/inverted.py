"""Distributions that are not symmetric: each sample is a function of one uniform number.

A distribution gives tail probabilities P(K >= m), which decrease in m. K is the greatest m with t <
P(K >= m), for a uniform t of which 64 bits are known. Float64 gives a real number y and a bound of
its error, and K is the floor of y. If an integer is within the bound, arbitrary precision decides,
with further bits if 64 are too few. The bounds assume logarithms with a relative error of 2**-47;
the logarithms of NumPy have about 2**-51.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .base import Floats, context, ratio
from .exact import Tail, nearest_double

#: Bounds on the relative errors of a logarithm, and of the few float64 roundings after it.
_LOG, _ROUND = 2.0**-47, 2.0**-50
#: The search starts next to the answer if t, or 1 - t, is known to this many bits.
_NEAR = 61
Words = NDArray[np.uint64]


class Inverted(ABC):
    """A distribution of integers K, sampled by inversion; a larger K is returned as `most`."""

    __slots__ = ()
    most: ClassVar[int] = 1 << 4096  # larger than any float64 divided by any granularity

    @abstractmethod
    def chance(self, mp: Any, m: int) -> Any:
        """Return P(K >= m) with a relative error of at most 2**(20 - prec)."""

    @abstractmethod
    def guess(self, mp: Any, t: Any) -> int:
        """Return an approximation of the integer whose tail probability is t."""

    def decide(self, word: int, more: Callable[[], int]) -> int:
        """Return the integer K that the bits `word` and further bits of `more` decide."""
        tail = Tail(word, more)
        while min(tail.k, (1 << tail.bits) - tail.k).bit_length() < _NEAR:
            tail.refine()
        mp = context(tail.bits + 64)
        number = min(self.guess(mp, mp.ldexp(2 * tail.k + 1, -tail.bits - 1)), self.most)

        def reaches(m: int) -> bool:
            return tail.below(lambda mp: self.chance(mp, m))

        while not reaches(number):
            number -= 1
        while number < self.most and reaches(number + 1):
            number += 1
        return number


@dataclass(frozen=True, slots=True)
class Gumbel(Inverted):
    """Gumbel noise ``loc - scale ln(-ln U)`` in multiples of a grid, rounded to the nearest."""

    loc: Fraction
    scale: Fraction

    def chance(self, mp: Any, m: int) -> Any:
        x = (m - Fraction(1, 2) - self.loc) / self.scale
        with mp.extraprec(40):  # an absolute error of x is a relative error of exp(-x)
            chance = -mp.expm1(-mp.exp(-ratio(mp, x)))
        return +chance

    def guess(self, mp: Any, t: Any) -> int:
        # Otherwise `decide` would find the rest by counting up or down.
        with mp.extraprec(int(abs(self.loc)).bit_length()):
            x = -mp.log(-mp.log1p(-t))
            return int(mp.floor(ratio(mp, self.loc) + ratio(mp, self.scale) * x + 0.5))


@dataclass(frozen=True, slots=True)
class Geometric(Inverted):
    """The geometric distribution, ``P(K >= m) = (1 - p)**(m - 1)`` for m >= 1."""

    most: ClassVar[int] = (1 << 63) - 1
    p: Fraction

    def chance(self, mp: Any, m: int) -> Any:
        if m <= 1:
            return mp.mpf(2)
        with mp.extraprec(40 + m.bit_length()):
            chance = mp.exp((m - 1) * mp.log1p(-ratio(mp, self.p)))
        return +chance

    def guess(self, mp: Any, t: Any) -> int:
        return 1 + int(mp.floor(mp.log(t) / mp.log1p(-ratio(mp, self.p))))


def _halves(words: Words) -> tuple[Floats, Floats, Floats]:
    """Return uniform t of 64-bit words, 1 - t, and the error relative to the smaller of the two."""
    t, complement = ((half.astype(np.float64) + 0.5) * 2.0**-64 for half in (words, ~words))
    return t, complement, 2.0**-63 / np.minimum(t, complement)


def gumbel(
    words: Words, loc: Floats, scale: Floats, grid: float, more: Callable[[], int]
) -> Floats:
    """Return Gumbel numbers, each correctly rounded to a multiple of the grid.

    The logarithm of -ln(1 - t) is off by the relative error of -ln(1 - t).
    """
    t, complement, width = _halves(words)
    x = -np.log(np.where(t < 0.5, -np.log1p(-np.minimum(t, 0.5)), -np.log(complement)))
    center, ratio = loc / grid, scale / grid
    y = center + ratio * x
    bound = ratio * (2 * width + _LOG * (2 + np.abs(x))) + _ROUND * (
        np.abs(center) + ratio * np.abs(x)
    )
    whole = np.rint(y)
    open_ = np.flatnonzero(~(np.abs(y - whole) < 0.5 - bound))
    out: Floats = whole * grid
    parameters = [np.broadcast_to(value, out.shape) for value in (loc, scale)]
    step = Fraction(grid)
    for i in open_.tolist():
        distribution = Gumbel(*(Fraction(float(value[i])) / step for value in parameters))
        out[i] = nearest_double(distribution.decide(int(words[i]), more) * step)
    return out


def geometric(words: Words, p: Floats, more: Callable[[], int]) -> NDArray[np.int64]:
    """Return geometric numbers: how many trials of chance p there are up to the first success."""
    t, complement, width = _halves(words)
    log = np.where(t < 0.5, np.log(t), np.log1p(-np.minimum(complement, 0.5)))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        y = log / np.log1p(-p)  # is 0 if p = 1
        bound = np.abs(y) * (4 * _LOG + 4 * width)
        open_ = ~(np.abs(y - np.rint(y)) > bound)
    out = np.minimum(np.floor(y), 2.0**62).astype(np.int64) + 1
    probabilities = np.broadcast_to(p, out.shape)
    for i in np.flatnonzero(open_ & (probabilities < 1)).tolist():
        out[i] = Geometric(Fraction(float(probabilities[i]))).decide(int(words[i]), more)
    return out
