"""The public grid of answers, and the base measure of its cells.

Cell ``o`` is the number ``o * grid``. With equal weights, a number that many rows share, such as a
whole year of age, would compete with the billions of cells between it and the next. So a rounder
number has a larger weight: for each ``k = 0 .. levels`` the multiples of ``2**k`` have
the weight ``2**k`` each (all that apply are added), so that each level has about the same weight in
all, spread evenly over the range. An interval that is longer than the multiples of ``2**k`` are
apart has its full share of level k, so a run of cells loses at most a factor ``levels + 1``
compared with equal weights, and a cell on a multiple of ``2**k`` gains about ``2**k``.
The weights are a base measure of the exponential mechanism. They are public and cost nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from .choice import below

FINEST = 40


def public_grid(lo: float, hi: float) -> float:
    """Return the spacing of the output grid: a power of two made from public numbers only.

    About ``2**-40`` of the range, coarser where float64 could not hold its multiples near the
    bounds.
    """
    if lo == hi:
        return 1.0
    exponent = math.frexp(hi - lo)[1] - 1
    largest = math.frexp(max(abs(lo), abs(hi)))[1] - 1
    return math.ldexp(1.0, max(exponent - FINEST, largest - 52, -1000))


def ends(lo: float, hi: float, grid: float) -> tuple[int, int]:
    """Return the numbers of the first and the last point of the grid within the bounds.

    `grid` is a power of two, so the quotients are exact, or their sign tells on which side of a
    point they are, unless they underflow to 0. That point is outside.
    """
    first, last = math.ceil(lo / grid), math.floor(hi / grid)
    return first + (lo > 0 and first == 0), last - (hi < 0 and last == 0)


@lru_cache(maxsize=64)
def _tables(levels: int) -> NDArray[np.int64]:
    """Return what each value of each 12-bit digit of a number contributes to `Base.upto`."""
    bit = np.arange(48)
    worth = (np.minimum(bit, levels) + 1) << bit
    bits = (np.arange(1 << 12)[:, None] >> np.arange(12)) & 1
    return np.stack([bits @ worth[12 * digit : 12 * digit + 12] for digit in range(4)])


class Base:
    """Weights of the cells ``first .. last``. Their sum stays below ``2**50``."""

    __slots__ = ("levels", "shift", "total")

    def __init__(self, first: int, last: int, levels: int | None = None) -> None:
        most = max(1, last - first + 1).bit_length() - 1
        self.levels = most if levels is None else min(levels, most)
        # A multiple of every 2**k, which makes numbers of cells positive.
        self.shift = -((first - 1) >> self.levels) << self.levels
        self.total = self.weight(first, last)

    @property
    def worth(self) -> NDArray[np.int64] | None:
        """What each value of each 12-bit digit adds to `upto`; None if all cells weigh the same."""
        return _tables(self.levels) if self.levels else None

    def upto(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ``sum_k 2**k floor((cell + shift) / 2**k)``: bit j is in j + 1 of its terms."""
        table = _tables(self.levels)
        left = cells + self.shift
        total: NDArray[np.int64] = table[0][left & 4095]
        for digit in range(1, 4):
            left >>= 12
            total += table[digit][left & 4095]
        return total

    def mass(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of each range of cells."""
        if not self.levels:
            return last - first + 1
        ends = np.concatenate([last, first])
        ends[len(last) :] -= 1
        sums = self.upto(ends)
        weight: NDArray[np.int64] = sums[: len(last)] - sums[len(last) :]
        return weight

    def weight(self, first: int, last: int) -> int:
        """Return the weight of one range of cells."""
        before = first - 1
        if not self.levels:
            return last - before
        return sum(((last >> k) - (before >> k)) << k for k in range(self.levels + 1))

    def draw(self, first: int, last: int, weight: int, stream: BitStream) -> int:
        """Draw a cell of a range of total `weight`, in proportion to its weight."""
        before = first - 1
        if not self.levels or first == last:
            return first + below(last - before, stream)
        place = below(weight, stream)
        for k in range(self.levels + 1):
            here = ((last >> k) - (before >> k)) << k
            if place < here:
                return ((before >> k) + 1 + (place >> k)) << k
            place -= here
        raise AssertionError("a place beyond the total")


@lru_cache(maxsize=256)
def base(first: int, last: int, levels: int | None = None) -> Base:
    """Return a `Base`. It does not change, so it is made once."""
    return Base(first, last, levels)
