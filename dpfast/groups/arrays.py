"""Answers and error bars of all groups at once: the arithmetic of a column over float64 arrays.

A linear statistic computes its answer and its error bar with the arithmetic of a column
(`measurement.linear.Column`). For a single answer, this arithmetic is on fractions. Here it is on
arrays of float64, with one number for each group. The arrays hold noisy numbers, so all
computations are post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..measurement.features import Basis, Moments
from ..measurement.linear import Column, Sizes
from ..summaries.cells import in_units
from .plan import Plan

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Arrays(Column):
    """A column whose arithmetic is on float64 arrays, with one number for each group.

    If rows are rounded to cells, error bars are one cell longer.
    """

    is_rounded: bool = True

    @staticmethod
    def where(test: Any, a: Any, b: Any) -> Any:
        return np.where(test, a, b)

    @staticmethod
    def clip(value: Any, low: Any, high: Any) -> Any:
        # The same as np.clip, in a third of the time.
        return np.minimum(np.maximum(value, low), high)

    @staticmethod
    def root(value: Any) -> Any:
        return np.sqrt(value)

    @staticmethod
    def ratio(part: Any, whole: Any) -> Any:
        out = np.zeros(np.broadcast(part, whole).shape)
        out += 1.0
        return np.divide(part, whole, out=out, where=np.asarray(whole) > 0)

    def total(self, linear: Basis, sums: Sequence[Any]) -> Floats:
        weighted_sums = zip(linear.estimate, sums, strict=True)
        return self.scaled(sum(float(w) * noisy for w, noisy in weighted_sums))

    def scaled(self, cells: Any) -> Floats:
        return in_units(cells, self.cells.grid)

    def square(self, cells: Any) -> Floats:
        return in_units(in_units(cells, self.cells.grid), self.cells.grid)

    def variance(self, moments: Moments, less: int) -> Any:
        enough, s, whole = max(1, less), self.span, moments.whole
        n, first, second = (moment / whole for moment in moments[:3])
        is_enough = n > enough
        n = np.where(is_enough, n, enough + 1)
        grown = self.ratio(n, n - less)
        variance = np.where(is_enough, (second / n - (first / n) ** 2) * grown, s**2 / 8)
        return self.square(self.clip(variance, 0, grown * s**2 / 4))

    def at(self, part: Any, whole: Any) -> Any:
        share = np.zeros(len(whole)) + 0.5
        np.divide(part, whole, out=share, where=whole > 0)
        value = self.cells.grid * (self.cells.first + self.clip(share, 0.0, 1.0) * self.span)
        return self.clip(value, self.lo, self.hi)

    def width(self, part: Any, most: Any = 1, power: int = 1) -> Any:
        span = float(self.span)
        rounding = power * span ** (power - 1) if self.is_rounded else 0.0
        wide = np.minimum(part * span**power + rounding, most * span**power)
        return self.scaled(wide) if power == 1 else self.square(wide)


@dataclass(frozen=True, slots=True)
class EachWithin(Sizes):
    """Half-widths of the noise of a group's sums, which hold together for a failure probability.

    A group has k sums. The noise of each exceeds its half-width with a k-th of the failure
    probability, so the argument `share` is not used. The union bound holds for any distributions.
    If there are `answers`, the error bars are for these answers, and are computed from noisy
    numbers of rows. `single` is the half-width of one sum alone.
    """

    plan: Plan
    sizes: tuple[float, ...]
    single: float = 0.0
    answers: Floats | None = None

    @classmethod
    def of_plan(cls, plan: Plan, failure: float) -> EachWithin:
        """Return the half-widths of a plan's noise, for a failure probability."""
        kinds = range(len(plan.shifts))
        sizes = tuple(plan.half_width(kind, failure / len(kinds)) for kind in kinds)
        return cls(plan, sizes, plan.half_width(0, failure))

    @property
    def basis(self) -> Basis:
        return self.plan.linear

    def of(self, kind: int, share: float = 1.0) -> float:
        return self.sizes[kind]

    def alone(self, share: float) -> float:
        return self.of(0) if self.answers is None else self.single

    def total(self, factors: Sequence[Fraction], share: float = 1.0) -> float:
        # There may be fewer factors than sizes.
        sized_factors = zip(factors, self.sizes, strict=False)
        return sum(abs(float(factor)) * size for factor, size in sized_factors)
