"""Sums and means by group with a weight for each row.

A row counts as the product of its number and its weight, both clamped, in float64. This product is
a function of the row alone. A sum is the sum of these products.

For a mean, weights w are not negative, and two sums are released: of w (x - lo) and of w (hi - x).
A row adds at most w (hi - lo) to both sums together. If sums are counted in cells, rounding adds at
most 1 to this, and the remainder beyond the last cell and the rounding of products together add
less than 1. The mean lies between the bounds: its distance from lo, as a part of hi - lo, is the
part of the first sum in the total of both sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import WEIGHTS, ErrorBar, unknown
from .._core.nan_policy import replacement
from ..measurement.choice import choose_noise
from ..measurement.features import Factors
from ..measurement.linear import Column
from ..noise.sensitivity import Sensitivity
from ..summaries.cells import cells
from ..tables.batches import MemoryColumn, numbers
from ..tables.sql.store import SqlRows
from .arrays import EachWithin
from .of_column import Integers, of_numbers
from .plan import ROWS, Plan, moves_alike
from .sums import OfLinear, add_each


def clamped(
    values: NDArray[Any], limits: tuple[float, float], missing_rule: str | float
) -> NDArray[np.float64]:
    """Return clamped numbers, in which missing numbers are replaced or remain NaN."""
    values = values.astype(np.float64)
    value = replacement(missing_rule, *limits)
    if not isinstance(value, str):
        values[np.isnan(values)] = value
    return np.asarray(np.clip(values, *limits, out=values))


class WithWeights:
    """Mixin of mechanisms that read a column of weights in addition to the column of numbers."""

    column: Any
    statistic: Any

    @property
    def weights(self) -> str:
        """The name of the column of weights."""
        return checks.text("weights", self.statistic.weights)

    @property
    def limits(self) -> tuple[float, float]:
        """The public limits of the weights."""
        return cast("tuple[float, float]", self.statistic.limits)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the columns of numbers and of weights."""
        return (self.column or "", self.weights)


class OfWeighted(WithWeights, OfLinear):
    """Base of sums and means with weights: a row counts as number times weight, in float64."""

    def __post_init__(self) -> None:
        (lo, hi), limits = checks.bounds(self.statistic.bounds), self.limits
        widest = [x * w for x in (lo, hi, hi - lo) for w in limits]
        if not math.isfinite(max(widest) - min(widest)):
            rule = "so small that products with the bounds do not overflow float64"
            checks.fail("weight_bounds", rule, limits)
        super().__post_init__()

    nan_cell: ClassVar[int] = -1  # missing numbers are replaced before

    @property
    def reading(self) -> tuple[Any, ...]:
        return (
            type(self),
            self.column,
            self.weights,
            (self.axis.lo, self.axis.hi),
            self.limits,
            self.nan,
            self.units,
            self.statistic.matches,
        )

    def products(self, rows: SqlRows, least: float = 0.0, size: float = 1.0) -> Any:
        """Return the product of a number and a weight of each row of a database.

        As in `SqlRows.number`, numbers are counted from `least`, in units of `size`.
        """
        lo, hi, matches = self.axis.lo, self.axis.hi, self.statistic.matches
        column, weights = map(rows.names.index, self.reads)
        if matches is None:
            x = rows.number(column, (lo, hi), replacement(self.nan, lo, hi), least, size)
        else:
            x = (matches.of_row(rows, column) - int(least)) * int(size)
        return x * rows.number(weights, self.limits, replacement(self.nan, *self.limits))

    def factors_of(self, columns: Mapping[str, MemoryColumn]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the clamped numbers and weights of a batch."""
        x = clamped(OfLinear.read(self, columns), (self.axis.lo, self.axis.hi), self.nan)
        return x, clamped(numbers(columns[self.weights]), self.limits, self.nan)


class WeightedSum(OfWeighted):
    """Sums of products of clamped numbers and weights."""

    @cached_property
    def axis(self) -> Column:
        """The bounds of the column, and the grid of the products with weights."""
        lo, hi = checks.bounds(self.statistic.bounds)
        every = [x * w for x in (lo, hi) for w in self.limits]
        return Column(lo, hi, cells(min(every), max(every)))

    def read(self, columns: Mapping[str, MemoryColumn]) -> NDArray[Any]:
        x, w = self.factors_of(columns)
        return np.asarray(x * w)

    def cell_of(self, rows: SqlRows) -> Any:
        return rows.rounded(self.products(rows), self.cells)


class WeightedMean(OfWeighted):
    """Means of clamped numbers with weights that are not negative.

    The two sums of a group are stored side by side, like sums of two groups. The mean depends on
    the ratio of the sums only. So they are treated like the sums of a mean without weights, in
    other units.
    """

    @cached_property
    def sums(self) -> Column:
        """The bounds and the grid of the amount that a row adds to each of the two sums."""
        most = (self.axis.hi - self.axis.lo) * self.limits[1]
        return Column(0.0, most, cells(0.0, most))

    @property
    def largest(self) -> int:
        """The most that a row adds to both sums together."""
        return self.sums.span + 2 if self.sums.span else 0

    @property
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of both sums of all groups together."""
        return self.step.vectors(self.largest, 2)

    @cached_property
    def plan(self) -> Plan:
        moves, shift = moves_alike(self.step, self.sensitivity, self.largest, 2)
        noise = choose_noise(self.loss, moves).noise()
        return Plan(self.statistic.forms(self.axis, False)[0], (shift + noise.shift,) * 2, noise)

    factors: ClassVar[list[Factors]] = [(1, 0, 0)] * 2

    def read(self, columns: Mapping[str, MemoryColumn]) -> tuple[NDArray[Any], NDArray[Any]]:
        x, w = self.factors_of(columns)
        return w * (x - self.axis.lo), w * (self.axis.hi - x)

    def integers(self, rows: SqlRows) -> Integers:
        lo, hi = self.axis.lo, self.axis.hi
        return of_numbers(
            rows, [self.products(rows, lo), self.products(rows, hi, -1.0)], self.cells, self.nan,
            self.step.rows,
        )  # fmt: skip

    def room(self, groups: int) -> NDArray[np.uint64]:
        return np.zeros((groups + 1, 2, 2), np.uint64)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        return add_each(totals, codes, values, self.cells)

    def of_kind(self, totals: NDArray[np.uint64], kind: int) -> NDArray[np.uint64]:
        return np.ascontiguousarray(totals[:, kind])

    @cached_property
    def usual_sizes(self) -> EachWithin:
        """The half-widths of the noise, plus the rounding of as many rows as a group may have."""
        base, more = super().usual_sizes, 2.0 ** (ROWS - 1)
        return EachWithin(base.plan, tuple(size + more for size in base.sizes), base.single + more)

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        least, most = self.limits
        if not least:
            return unknown(confidence, WEIGHTS)
        # The error bar of a group with this many rows, in units of the largest weight and of the
        # cells of both sums.
        share = Fraction(least) / Fraction(most) * Fraction(self.sums.span, self.axis.span or 1)
        return super().expected(None if rows is None else math.floor(rows * share), confidence)
