"""Sums and means with weights within public bounds, of one column or of several.

A row is a cell u of 0 .. s of each column, and its weight a cell w of a .. b of the weights' grid
(not counted from 0 here: w times the grid is the weight itself). Both are exact, and so is their
product.

*Sums*: a row adds c w to each, c = first + u, an integer between the least and the largest product
of ends.

*Means*, for weights that are not negative: release W = sum(w) and V = sum(w (2 u - s)). A row adds
w and w (2 u - s), at most b and b s in size, and one that is replaced changes W by at most b - a,
or by b where it may leave, and V by at most 2 b s. (1 + V / (W s)) / 2 is the mean's place between
the bounds. Columns share one W, unless their missing numbers are dropped.

All of these are one release (`noise.box`): a row may change all at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..._core.error_bars import NOISE, Expected, unknown
from ...noise.box import box_noise, count_shares
from ...privacy import Loss
from ...rng import Generator
from ...sources.base import RowSource
from ...sources.memory import Column
from ...summaries.cells import Cells, nearest
from ...summaries.moments import Moments, weighted_moments


@dataclass(frozen=True, slots=True)
class _Weighted(ABC):
    """Base of both. `bounds` and `cells` are those of the columns, then of the weights.

    The weights are the last column of the rows, or those `beside` them. `single` is for one number
    instead of an array of one.
    """

    bounds: tuple[tuple[float, float], ...]
    neighbors: str
    nan: str | float
    loss: Loss
    where: NDArray[np.bool_] | None
    cells: tuple[Cells, ...]
    beside: Column | None
    single: bool
    rows: int = field(default=1, kw_only=True)  # of a person, that come or go at once

    def reduce(self, source: RowSource) -> list[Moments]:
        return weighted_moments(source, self.beside, self.bounds, self.cells, self.nan, self.where)

    @property
    @abstractmethod
    def sensitivities(self) -> list[int]:
        """Return those of the integers that are released."""

    def charged(self) -> Self:
        """Return the mechanism with the loss that it is charged for."""
        return replace(self, loss=box_noise(self.loss, self.sensitivities).loss)

    def form(self, answers: list[float]) -> float | NDArray[np.float64]:
        return answers[0] if self.single else np.array(answers, np.float64)


@dataclass(frozen=True, slots=True)
class WeightedSum(_Weighted):
    """The sums of weight times clamped row; see `dpfast.sum`."""

    name: ClassVar[str] = "weighted sum"

    @property
    def sensitivities(self) -> list[int]:
        """Return the sensitivities in products of cells."""
        return [self.rows * self._sensitivity(column) for column in self.cells[:-1]]

    def _sensitivity(self, column: Cells) -> int:
        weights = self.cells[-1]
        ends = [c * w for c in (column.first, column.last) for w in (weights.first, weights.last)]
        if self.neighbors == "add-remove":
            return max(map(abs, ends))
        if self.where is None:
            return max(ends) - min(ends)
        return max(*ends, 0) - min(*ends, 0)

    def finish(self, summary: list[Moments], generator: Generator) -> float | NDArray[np.float64]:
        *columns, weights = self.cells
        exact = []
        for column, sums in zip(columns, summary, strict=True):
            u, w = sums.sums
            both = sums.products[0] + weights.first * u + column.first * w
            exact.append(both + sums.rows * column.first * weights.first)
        noisy = box_noise(self.loss, self.sensitivities).add(exact, generator)
        return self.form([nearest(unit * x) for unit, x in zip(self.units, noisy, strict=True)])

    @property
    def units(self) -> list[Fraction]:
        """Return what a product of cells is in the data's units."""
        *columns, weights = self.cells
        return [Fraction(column.grid) * Fraction(weights.grid) for column in columns]

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, that of the noise."""
        part = box_noise(self.loss, self.sensitivities).within(1 - confidence)
        each = zip(self.units, self.sensitivities, strict=True)
        width = [nearest(unit * part * sensitivity) for unit, sensitivity in each]
        return Expected(confidence, width[0] if self.single else width, note=NOISE)


@dataclass(frozen=True, slots=True)
class WeightedMean(_Weighted):
    """The means of the clamped rows, each with its weight; see `dpfast.mean`."""

    name: ClassVar[str] = "weighted mean"

    @property
    def totals(self) -> int:
        """Return how many sums of weights are released."""
        return len(self.cells) - 1 if self.nan == "drop" else 1

    @property
    def sensitivities(self) -> list[int]:
        """Return the sensitivities in cells of the weights, then in products of cells."""
        *columns, weights = self.cells
        if not any(column.span for column in columns):
            return [0] * (self.totals + len(columns))
        times = 2 if self.neighbors == "replace" else 1
        known = self.neighbors == "replace" and self.where is None
        total = weights.span if known else weights.last
        each = [times * weights.last * column.span for column in columns]
        return [self.rows * size for size in ([total] * self.totals + each)]

    def finish(self, summary: list[Moments], generator: Generator) -> float | NDArray[np.float64]:
        *columns, weights = self.cells
        total = [sums.sums[1] + sums.rows * weights.first for sums in summary]
        centered = [
            2 * (sums.products[0] + weights.first * sums.sums[0]) - column.span * w
            for column, sums, w in zip(columns, summary, total, strict=True)
        ]
        noise = box_noise(self.loss, self.sensitivities, count_shares(self.totals, len(columns)))
        noisy = noise.add([*total[: self.totals], *centered], generator)
        total = noisy[: self.totals] * (len(columns) // self.totals)
        answers = []
        for column, w, v, (lo, hi) in zip(
            columns, total, noisy[self.totals :], self.bounds[:-1], strict=True
        ):
            place = (
                (1 + Fraction(v, w * column.span)) / 2 if w > 0 and column.span else Fraction(1, 2)
            )
            place = min(max(place, Fraction(0)), Fraction(1))
            value = nearest(Fraction(column.grid) * (column.first + place * column.span))
            answers.append(min(max(value, lo), hi))
        return self.form(answers)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return no error bar: it depends on the sum of all weights, which is private."""
        return unknown(confidence, "the sum of the weights is private")
