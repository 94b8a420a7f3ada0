"""The public grid of answers, and the base measure of its cells.

Cell ``o`` is the number ``o * grid``. If all cells had equal weights, a number that many rows
share, such as an age in whole years, would compete with billions of cells between it and the next
such number. And data in a narrow part of the bounds would compete with all cells outside of this
part. So the total weight is divided:

* nearly half is spread evenly;
* half is on round numbers, for a median: the multiples of each power of ten from about ``2**-10``
  to ``2**-30`` of the range, spread evenly over the multiples of one power. The coarsest power has
  half of this weight, and each finer one half of the weight of the one before;
* a 64th is logarithmic around 0. For each k and each side, all cells at distances from ``2**k`` to
  ``2**(k + 1)`` grids together have the same weight. This holds down to about ``2**-16`` of the
  farther bound; each nearer cell has the weight of a cell there. For a quantile q another part of
  5/8 abs(2 q - 1), taken equally from the two parts above, is distributed in the same way on one
  side of 0: above 0 for q > 1/2, and below 0 for q < 1/2;
* an 8192th is on the number 0, which many rows may have. No other number has more than twice this
  weight.

Compared with equal weights, the weight on round numbers takes at most a factor of 2 from a run of
cells, which is an error of ln 2 / c ranks. The logarithmic part helps if bounds are too wide: for a
high quantile few rows contradict numbers beyond all rows, and this part prefers the nearer of these
numbers. It is on one side only, because it would harm low quantiles of one-sided data with tight
bounds (`benchmarks/accuracy.py` has both). The weights are a base measure of the exponential
mechanism. They are public and cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.rng import BitStream
from .choice import below

FINEST = 40


def public_grid(lo: float, hi: float) -> float:
    """Return the step of the output grid: a power of two made from public numbers only.

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

    `grid` is a power of two, so the quotients are exact, or their sign shows the side of a point,
    unless they underflow to 0. The point 0 is outside then.
    """
    first, last = math.ceil(lo / grid), math.floor(hi / grid)
    return first + (lo > 0 and first == 0), last - (hi < 0 and last == 0)


@dataclass(frozen=True, slots=True)
class Lattice:
    """Multiples of a public number within bounds, as cells ``first .. last``.

    Cell k is the float64 nearest to k times `step`. A row is on the cell with the nearest number,
    or on the upper one of two equally near cells. Rows beyond the bounds are on the first or the
    last cell.
    """

    step: Fraction
    first: int
    last: int

    def value(self, cell: int) -> float:
        """Return the number of a cell."""
        return cell * self.step.numerator / self.step.denominator

    def edge(self, cell: int) -> float:
        """Return the lower edge of a cell: the least number that rounds to the cell or above."""
        return (2 * cell - 1) * self.step.numerator / (2 * self.step.denominator)

    def edges(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the lower edge of each cell of an array."""
        return (2 * cells - 1) * self.step.numerator / (2 * self.step.denominator)

    def cells(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cells of numbers, clamped to the cells of the lattice.

        Cells of a lattice are below 2**51 in size.
        """
        inside = np.clip(values.astype(np.float64), self.value(self.first), self.value(self.last))
        cells = np.rint(inside / float(self.step)).astype(np.int64)
        # The division is rounded, so the exact edges decide in which cell a number is.
        cells -= inside < self.edges(cells)
        cells += inside >= self.edges(cells + 1)
        return np.clip(cells, self.first, self.last)

    def nearest(self, x: float) -> float:
        """Return the lattice number that is nearest to x."""
        return self.value(int(self.cells(np.array([x]))[0]))


#: The largest numerator or denominator of a lattice, so that float64 is exact, and the largest
#: number of cells of a lattice.
EXACT, MOST = 1 << 52, 1 << 41


def integers(lo: float, hi: float) -> Lattice | None:
    """Return the integers between `lo` and `hi`; None if there are none, or too many."""
    first, last = math.ceil(lo), math.floor(hi)
    is_exact = first <= last and last - first <= MOST and 2 * max(-first, last) <= EXACT
    return Lattice(Fraction(1), first, last) if is_exact else None


def lattice(lo: float, hi: float, step: Fraction) -> Lattice:
    """Return the lattice of the multiples of `step` whose float64 lies between `lo` and `hi`."""
    rule = "a number with a multiple within the bounds"
    first, last = math.ceil(Fraction(lo) / step), math.floor(Fraction(hi) / step)
    # Bounds are binary numbers: 0.7 is slightly less than 7/10, which the user means.
    first -= (first - 1) * step.numerator / step.denominator >= lo
    last += (last + 1) * step.numerator / step.denominator <= hi
    if first > last:
        checks.fail("granularity", rule, float(step))
    size = max(abs(first), abs(last), 1) * 2 * step.numerator
    if max(size, step.denominator) > EXACT or last - first > MOST:
        rule = "a larger number, or a number with fewer digits, for at most 2**41 multiples"
        checks.fail("granularity", rule, float(step))
    return Lattice(step, first, last)


MIDDLE = Fraction(1, 2)
#: With at most this many cells, all have equal weight.
EVEN = 1 << 11
#: The shares of the total weight: 1/64 is logarithmic, 1/2 is on round numbers, and 1/2**13 is on
#: the number 0.
LOGARITHMIC, ROUND, ATOM = 64, 2, 1 << 13
#: A further logarithmic share for extreme quantiles: above 0 for q = 1, below 0 for q = 0, and
#: smaller for a q between.
SLANT = Fraction(5, 8)
#: Logarithmic weights grow towards 0, until the distance from 0 to the farther end was halved this
#: many times.
OCTAVES = 16
#: The round numbers with larger weights are between 2**-30 and 2**-10 of the range apart.
COARSEST, FINEST_ROUND = 10, 30


class Base:
    """A base measure: integer weights of the cells ``first .. last``, of a sum below ``2**52``.

    Parameters
    ----------
    first, last : int
    grid : float, optional
        Cell o is the number ``o * grid``. Without `grid`, or for few cells, all cells have equal
        weights.
    q : Fraction, default 1/2
        The quantile that is drawn.
    """

    __slots__ = (
        "above",
        "below",
        "first",
        "floor",
        "grid",
        "last",
        "round_steps",
        "shift",
        "top",
        "total",
        "uniform",
        "weights",
        "zero",
    )  # fmt: skip

    def __init__(
        self, first: int, last: int, grid: float | None = None, q: Fraction = MIDDLE
    ) -> None:
        cells = last - first + 1
        size = (cells - 1).bit_length()
        self.first, self.last, self.shift, self.grid = first, last, 1 - first, grid
        self.uniform, self.above, self.below, self.top, self.floor, self.zero = 1, 0, 0, 0, 0, 0
        self.round_steps, self.weights = np.empty(0), np.empty(0, np.int64)
        if grid is not None and cells >= EVEN:
            self.top = max(last + 1, -first).bit_length() - 1
            self.floor = max(0, self.top - OCTAVES)
            self.uniform, self.above, self.below = 0, 1, 1
            around = self.weight(first, last)
            total, upwards = LOGARITHMIC * around, q > MIDDLE
            side = (max(first, 0), last) if upwards else (first, min(last, -1))
            more = int(abs(2 * q - 1) * SLANT * total / max(self.weight(*side), around // 2))
            self.above, self.below = 1 + upwards * more, 1 + (not upwards) * more
            even = total / ROUND - (self.weight(first, last) - around) / 2
            least = 2.0 ** max(0, size - FINEST_ROUND)
            self.round_steps = _decimal(grid, least, 2.0 ** (size - COARSEST))
            # Each finer step gets half the share of the one before.
            share = 0.5 ** np.arange(len(self.round_steps))[::-1]
            share *= even / cells / max(1, share.sum())
            self.weights = np.maximum(1, share * self.round_steps).astype(np.int64)
            if first <= 0 <= last:
                self.zero = total // ATOM - int(self.weights.sum())
            self.uniform = -((self.weight(first, last) - total) // cells)
        self.total = self.weight(first, last)

    def aimed(self, q: Fraction) -> Base:
        """Return the base measure of these cells for another target quantile."""
        return base(self.first, self.last, self.grid, q)

    def upto(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cumulative weight up to each of `cells`, plus a constant."""
        total = self.uniform * (cells + self.shift) + self.zero * (cells >= 0)
        if self.above:
            beyond = np.where(cells >= 0, cells + 1, -1 - cells)
            total += np.where(cells >= 0, self.above, -self.below) * self._around(beyond)
        for step, weight in zip(self.round_steps, self.weights, strict=True):
            total += weight * (np.ceil((cells + 1) / step).astype(np.int64) - 1)
        return total

    def _around(self, m: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the total logarithmic weight of the cells ``0 .. m - 1``."""
        k = np.frexp((m + 1).astype(np.float64))[1].astype(np.int64) - 1
        k = np.maximum(k, self.floor)
        inner = ((1 << self.floor) - 1) << (self.top - self.floor)
        around: NDArray[np.int64] = (k - self.floor) << self.top
        around += inner + ((m + 1 - (1 << k)) << (self.top - k))
        return around

    def mass(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the base measure of each range of cells."""
        sums = self.upto(np.concatenate([last, first - 1]))
        return sums[: len(last)] - sums[len(last) :]

    def weight(self, first: int, last: int) -> int:
        """Return the base measure of one range of cells."""
        return int(self.mass(np.array([first]), np.array([last]))[0])

    def draw(self, first: int, last: int, weight: int, stream: BitStream) -> int:
        """Draw a cell of ``first .. last`` in proportion to its weight; `weight` is their sum."""
        if first == last:
            return first
        rank = below(weight, stream)
        start = first
        # Binary search for the first cell up to which the weights exceed `rank`.
        while first < last:
            middle = (first + last) // 2
            if self.weight(start, middle) > rank:
                last = middle
            else:
                first = middle + 1
        return first


def _decimal(grid: float, least: float, most: float) -> NDArray[np.float64]:
    """Return the powers of ten from `least` to `most` cells, in units of a cell."""
    exponents = range(math.floor(math.log10(grid * least)), math.ceil(math.log10(grid * most)) + 1)
    cells = [float(Fraction(10) ** j / Fraction(grid)) for j in exponents]
    return np.array([power for power in cells if least <= power <= most])


@lru_cache(maxsize=256)
def base(first: int, last: int, grid: float | None = None, q: Fraction = MIDDLE) -> Base:
    """Return the base measure of cells for a target quantile, from a cache after the first time."""
    return Base(first, last, grid, q)
