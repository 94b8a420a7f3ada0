"""Sums and means of one column with weights within public bounds.

A row is a cell u of 0 .. s of its column, and its weight a cell w of a .. b of the weights' grid
(not counted from 0 here: w times the grid is the weight itself). Both are exact, and so is their
product.

*Sum*: a row adds c w, c = first + u, an integer between the least and the largest product of ends.

*Mean*, for weights that are not negative: as in `totals`, release the pair A = sum(w u) and
B = sum(w (s - u)). A row adds (w u, w (s - u)), whose l1 norm is w s, at most b s, and whose l2
norm is at most that; two rows' vectors, being nonnegative, differ by at most twice, and sqrt(2)
times. The mean's place between the bounds is A / (A + B).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ._cells import Cells, nearest
from ._moments import Moments, moments
from ._whole_noise import whole_noise
from .privacy import Loss
from .rng import Generator
from .sources.table import RowSource

__all__ = ["WeightedMean", "WeightedSum"]


@dataclass(frozen=True, slots=True)
class _Weighted:
    """What the two share: the column and its weights as two columns of a table."""

    bounds: tuple[tuple[float, float], tuple[float, float]]
    neighbors: str
    nan: str | float
    loss: Loss
    where: NDArray[np.bool_] | None
    cells: tuple[Cells, Cells]

    def reduce(self, source: RowSource) -> Moments:
        return moments(source, self.bounds, self.cells, self.nan, self.where)


@dataclass(frozen=True, slots=True)
class WeightedSum(_Weighted):
    """The sum of weight times clamped row; see `dpfast.sum`."""

    name: ClassVar[str] = "weighted sum"

    @property
    def sensitivity(self) -> int:
        """In products of cells."""
        own, weights = self.cells
        ends = [c * w for c in (own.first, own.last) for w in (weights.first, weights.last)]
        if self.neighbors == "add-remove":
            return max(map(abs, ends))
        if self.where is None:
            return max(ends) - min(ends)
        return max(*ends, 0) - min(*ends, 0)

    def finish(self, summary: Moments, generator: Generator) -> float:
        own, weights = self.cells
        u, w = summary.sums
        both = summary.products[1]
        value = both + weights.first * u + own.first * w + summary.rows * own.first * weights.first
        noise = whole_noise(self.loss, self.sensitivity, self.sensitivity**2)
        unit = Fraction(own.grid) * Fraction(weights.grid)
        return nearest(unit * noise.add([value], generator)[0])


@dataclass(frozen=True, slots=True)
class WeightedMean(_Weighted):
    """The mean of the clamped rows, each with its weight; see `dpfast.mean`."""

    name: ClassVar[str] = "weighted mean"

    def finish(self, summary: Moments, generator: Generator) -> float:
        own, weights = self.cells
        lo, hi = self.bounds[0]
        if not own.span:
            return lo
        times = 2 if self.neighbors == "replace" else 1
        most = weights.last * own.span
        noise = whole_noise(self.loss, times * most, times * most**2, 2)
        total = summary.sums[1] + summary.rows * weights.first
        upper = summary.products[1] + weights.first * summary.sums[0]
        upper, lower = noise.add([upper, total * own.span - upper], generator)
        place = Fraction(1, 2) if upper + lower <= 0 else Fraction(upper, upper + lower)
        place = min(max(place, Fraction(0)), Fraction(1))
        found = nearest(Fraction(own.grid) * (own.first + place * own.span))
        return min(max(found, lo), hi)
