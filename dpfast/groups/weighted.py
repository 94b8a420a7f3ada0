"""Sums and means by group with a weight for each row.

A row counts as the product of its number and its weight, both clamped, in float64: that is a
function of the row alone. A sum is one of products. For a mean, with weights w that are not
negative, two sums are released, of w (x - lo) and of w (hi - x): a row adds no more than
w (hi - lo) to both together. In cells, rounding adds at most one to that, and what is left of a
cell beyond the last one, with the rounding of products, less than another. The mean lies between
the bounds where the first sum has its share of the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import Expected, unknown
from .._kernels import groups as _native
from ..noise.sensitivity import Sensitivity
from ..sources.batches import Piece, numbers
from ..summaries.cells import Cells, cells
from .of_times import read
from .sums import OF_EACH, Form, Mean, Sum

Weighted = TypeVar("Weighted", bound="WeightedSum | WeightedMean")


def clamped(
    values: NDArray[Any], limits: tuple[float, float], policy: str | float
) -> NDArray[np.float64]:
    """Return clamped numbers: NaN for what is missing, or what the policy puts in its place."""
    values = values.astype(np.float64)
    value = nan_policy.replacement(policy, *limits)
    if not isinstance(value, str):
        values[np.isnan(values)] = value
    found: NDArray[np.float64] = np.clip(values, *limits, out=values)
    return found


def fitting(statistic: Weighted) -> Weighted:
    """Return what has weights, whose products with the bounds are finite."""
    lo, hi = statistic.bounds
    widest = [x * w for x in (lo, hi, hi - lo) for w in statistic.limits]
    if not math.isfinite(max(widest) - min(widest)):
        rule = "such that products with the bounds do not overflow float64"
        checks.fail("weight_bounds", rule, statistic.limits)
    return statistic


@dataclass(frozen=True, slots=True)
class WeightedSum(Sum):
    """Sums of products of clamped numbers and weights."""

    weights: str = ""
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def cells(self) -> Cells:
        every = [x * w for x in self.bounds for w in self.limits]
        return cells(min(every), max(every))

    @property
    def filler(self) -> int:
        return -1

    @property
    def reading(self) -> tuple[Any, ...]:
        return (self.column, self.weights, self.bounds, self.limits, self.nan, self.times)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column or "", self.weights)

    def read(self, columns: Mapping[str, Piece]) -> NDArray[Any]:
        x = clamped(read(columns[self.column or ""], self.times), self.bounds, self.nan)
        return x * clamped(numbers(columns[self.weights]), self.limits, self.nan)


@dataclass(frozen=True, slots=True)
class WeightedMean(Mean):
    """Means of clamped numbers with weights that are not negative.

    The two sums of a group stand side by side, as those of two groups.
    """

    weights: str = ""
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def products(self) -> Cells:
        """Return the cells of both sums."""
        lo, hi = self.bounds
        return cells(0.0, (hi - lo) * self.limits[1])

    @property
    def forms(self) -> list[Form]:
        return [(1, 0, 0), (1, 0, 0)]

    @property
    def centered(self) -> list[tuple[Form, int]]:
        return []  # a weight is no number of rows

    @property
    def largest(self) -> int:
        return self.products.span

    @property
    def sensitivity(self) -> Sensitivity:
        span = self.products.span
        return self.step.vectors(span + 2 if span else 0, 2)

    @property
    def reading(self) -> tuple[Any, ...]:
        return (self.column, self.weights, self.bounds, self.limits, self.nan, self.times, "mean")

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column or "", self.weights)

    def read(self, columns: Mapping[str, Piece]) -> tuple[NDArray[Any], NDArray[Any]]:
        lo, hi = self.bounds
        x = clamped(read(columns[self.column or ""], self.times), self.bounds, self.nan)
        w = clamped(numbers(columns[self.weights]), self.limits, self.nan)
        return w * (x - lo), w * (hi - x)

    def room(self, groups: int) -> NDArray[np.uint64]:
        return np.zeros((groups + 1, 2, 2), np.uint64)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        grid, missing, both = self.products, 0, totals.reshape(-1, 2)
        for side, products in enumerate(values):
            own = np.where(codes < 0, np.int32(-1), 2 * codes + np.int32(side))
            scale, ends = 1.0 / grid.grid, (grid.first, grid.span)
            missing = _native.add(products, own, scale, *ends, -1, both)
        return missing

    def of_group(self, totals: NDArray[np.uint64], form: int) -> NDArray[np.uint64]:
        return np.ascontiguousarray(totals[:, form])

    def bars(self, found: NDArray[Any], noisy: list[NDArray[Any]]) -> None:
        """Return no error bars: the noise is in proportion to a sum of weights, not of rows."""

    def expected(self, rows: int | None, confidence: float) -> Expected:
        return unknown(confidence, OF_EACH)
