"""Linear statistics: answers that are computed from exact sums of features with integer noise.

A statistic lists the sets of features (bases) from which it can be computed (`features`), and
computes its answer and its error bar from noisy moments. This module has all that these statistics
share: how rows are read, the sensitivity, the choice of noise, and the loss. There is one answer,
or an answer for each column. The unit is a row or a person. Rows may have weights.

A row may change in all of its columns at once, so all features of all columns are one vector. The
columns share one number of rows, unless each column drops its own missing numbers. The basis and
the noise are chosen by the error of the answer alone (`choice`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import add as add_counts
from operator import mul
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import BOUND, CLAMPED, NOISE, ROWS, WEIGHTS, ErrorBar, unknown
from .._core.once import remembered
from .._kernels.groups import add
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism, Value
from ..noise.calibrated_integer import IntegerNoise
from ..noise.sensitivity import Sensitivity
from ..privacy import Approx, Loss, Pure
from ..rng import Generator
from ..summaries.cells import SQUARES, Cells, cells, nearest, quotient
from ..summaries.moments import cells_of, weighted_moments
from ..summaries.side_by_side import flat
from ..summaries.totals import Totals, column_totals, totals, with_missing
from ..summaries.units import Room, Units, add_products, bounded, total_sizes, unit_sums
from ..tables.base import Feature
from ..tables.intake import Public, View, all_columns, read, text_column
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .choice import Moves, NoiseCandidate, SumNoise, choose_noise, least_error
from .features import Basis, Moments
from .matches import Matches
from .statistic import Bounded, Statistic, Terms
from .tails import Counts
from .unit import AddsUnits, added_units
from .unit_bounds import PARTS, Parts, tails_of

#: The answer of one column, or an array with one for each column.
Answers: TypeAlias = float | NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """The bounds and cells of a column, and the cells of its weights where rows have weights.

    `misses` says whether a row without a number does not count in this column. `of_units` says
    whether such a row is left out before units are bounded, so that it adds to no sum.
    """

    lo: float
    hi: float
    cells: Cells
    weights: Cells | None = None
    misses: bool = False
    of_units: bool = False

    @cached_property
    def span(self) -> int:
        return self.cells.span

    @property
    def unit(self) -> Fraction:
        """The width of a cell."""
        return Fraction(self.cells.grid)

    @property
    def part(self) -> float:
        """The largest row divided by `PARTS`, in cells. Totals are counted in this unit."""
        return max(abs(self.cells.first), abs(self.cells.last)) / PARTS or 1.0

    @property
    def product(self) -> Fraction:
        """The width of a cell, times the width of a cell of the weights, in units of the data."""
        return self.unit * (1 if self.weights is None else Fraction(self.weights.grid))

    @cached_property
    def _product(self) -> tuple[int, int]:
        return self.product.as_integer_ratio()

    # The methods below compute answers and error bars. They use exact fractions, rounded once at
    # the end.

    @staticmethod
    def where(test: Any, a: Any, b: Any) -> Any:
        """Return `a` where `test` holds, else `b`."""
        return a if test else b

    @staticmethod
    def clip(value: Any, low: Any, high: Any) -> Any:
        """Return a number clipped to `low` and `high`."""
        return min(max(value, low), high)

    @staticmethod
    def root(value: Any) -> Any:
        """Return the square root of a number, rounded to a float."""
        return math.sqrt(value)

    @staticmethod
    def ratio(part: Any, whole: Any) -> Any:
        """Return the quotient of `part` and `whole`, or 1 where `whole` is not above 0."""
        return Fraction(part, whole) if whole > 0 else Fraction(1)

    def total(self, basis: Basis, sums: Sequence[Any]) -> Any:
        """Return the estimate from the noisy sums of a basis, in units of the data."""
        factors, whole = basis.whole_estimate
        numerator, denominator = self._product
        return quotient(numerator * sum(map(mul, factors, sums)), denominator * whole)

    def scaled(self, cells: Any) -> Any:
        """Convert a number of cells, or of cells times weights, to units of the data."""
        return nearest(self.product * cells)

    def square(self, cells: Any) -> Any:
        """Convert a number of squared cells to squared units of the data."""
        numerator, denominator = self.cells.grid.as_integer_ratio()
        return quotient(cells.numerator * numerator**2, cells.denominator * denominator**2)

    def variance(self, moments: Moments, less: int) -> Any:
        """Return the variance from noisy moments, from 0 to the largest variance within bounds.

        The sum of squares is divided by the number of rows minus `less`. With too few rows,
        half of the largest variance is returned.
        """
        rows, first, second, whole = moments
        if rows <= max(1, less) * whole:
            return self.square(Fraction(self.span**2, 8))
        return self.spread(second * rows - first**2, rows, rows - less * whole)

    def spread(self, pairs: int, rows: int, left: int) -> float:
        """Return the variance from the sum of squared distances of all pairs of rows, in cells."""
        numerator, denominator = self.cells.grid.as_integer_ratio()
        inside = min(max(4 * pairs, 0), (rows * self.span) ** 2)
        return quotient(inside * numerator**2, 4 * rows * left * denominator**2)

    def at(self, part: Any, whole: Any) -> Any:
        """Return the number between the bounds at the position of `part` between 0 and `whole`.

        If `whole` is not above 0, return the middle of the bounds.
        """
        if whole <= 0:
            part, whole = 1, 2
        part, cells = min(max(part, 0), whole), self.cells
        numerator, denominator = cells.grid.as_integer_ratio()
        value = quotient(numerator * (cells.first * whole + part * cells.span), denominator * whole)
        return min(max(value, self.lo), self.hi)

    def width(self, part: Any, most: Any = 1, power: int = 1) -> Any:
        """Return an error bar's width: a part, up to `most`, of the bounds' distance or its square.

        `power` is 1 for the distance and 2 for its square.
        """
        return nearest((self.unit * self.span) ** power * min(part, most))


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of sensitivities: the neighboring relation, a mask, and the rows of a unit.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}
    masked : bool
        Whether a mask keeps some of the rows.
    rows : int
        How many rows are added or removed at once: 1, or the largest number of rows of a person.
    """

    neighbors: str
    masked: bool = False
    rows: int = 1

    @property
    def is_public(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.neighbors == "replace" and not self.masked

    def sizes(self, basis: Basis) -> list[int]:
        """Return the largest difference between neighbors in each sum of a basis."""
        return [
            self.rows * feature.sensitivity(self.neighbors, self.is_public)
            for feature in basis.features
        ]

    def norm(self, basis: Basis) -> Sensitivity | None:
        """Return the joint sensitivity of a basis's sums by its `norm`; None if it has none."""
        if basis.norm is None:
            return None
        vectors, size = 2 if self.neighbors == "replace" else 1, self.rows * basis.norm
        return Sensitivity(len(basis.features), vectors * size, vectors * size**2, size)


@dataclass(frozen=True)
class OfFeatures(Statistic[Value]):
    """Base of statistics that are computed from noisy sums of features of rows."""

    at_once: ClassVar[bool] = True
    only_adds: ClassVar[bool] = True

    @abstractmethod
    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        """Return the sets of features (bases) that the statistic can be computed from.

        The simplest basis is the first. If a basis has the number of rows, this is its first
        feature.

        Parameters
        ----------
        column : Column
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        list of Basis
        """


@dataclass(frozen=True, kw_only=True)
class Linear(Bounded[Answers], OfFeatures[Answers]):
    """Base of statistics of clamped rows that are computed from noisy sums.

    A subclass defines three methods: `forms` (the sums from which the statistic can be computed),
    `answer`, and `bar` (the error bar). Everything else follows from these: sensitivities, noise,
    columns, masks, people, groups, times and costs.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> isinstance(dp.Mean(bounds=(0, 120)), dp.extend.Linear)
    True
    """

    reads_numbers: ClassVar[bool] = True
    #: Whether the statistic reads sums of squares.
    squares: ClassVar[bool] = False
    #: Whether the error bar depends on the number of rows.
    needs_rows: ClassVar[bool] = True
    #: Whether the answer is linear in the noise if the number of rows is public.
    is_linear: ClassVar[bool] = True

    @property
    def matches(self) -> Matches | None:
        """The public values that rows are compared with; None if rows are numbers."""
        return None

    @property
    def sought(self) -> Public | None:
        return None if self.matches is None else self.matches.public

    @abstractmethod
    def answer(self, column: Column, basis: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        """Return the answer from noisy sums, in the number type of the column.

        If `sums` are arrays, with a number for each group, the answer is such an array, too.

        Parameters
        ----------
        column : Column
        basis : Basis
            The features that are summed.
        sums : sequence of int
        rows : int or None
            The number of rows, if it is public.

        Returns
        -------
        float
        """

    @abstractmethod
    def bar(self, column: Column, noise: Sizes, rows: Any, is_public: bool) -> Any:
        """Return the half-width of the error bar of the answer for a number of rows.

        The half-width has the number type of the column, as the answer does.

        Parameters
        ----------
        column : Column
        noise : Sizes
            Bounds on the noise, for shares of the failure probability.
        rows : int
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        float
        """

    def row_pairs(self, rows: int) -> int:
        """Return in how many pairs of rows one row is; 0 if sums are not over pairs of rows.

        Parameters
        ----------
        rows : int

        Returns
        -------
        int
        """
        return 0

    def limits_of(self, lo: float, hi: float) -> Any:
        """Return the limits that a unit's total is clamped to in a column with bounds, or None.

        Parameters
        ----------
        lo, hi : float

        Returns
        -------
        (float, float) or None
        """
        limits = self.unit_limits
        if not isinstance(limits, Parts):
            return limits
        size = limits * (max(-lo, hi) / PARTS)
        if not math.isfinite(size):
            checks.fail("bounds", "closer to 0, so that totals of rows do not overflow", (lo, hi))
        return -size if lo < 0 else 0.0, size if hi > 0 else 0.0

    def unit_ends(self, column: Column) -> tuple[int, int] | None:
        """Return the least and the largest total of a unit, in cells; None without clamping.

        Parameters
        ----------
        column : Column

        Returns
        -------
        (int, int) or None
        """
        limits = self.limits_of(column.lo, column.hi)
        if limits is None:
            return None
        lo, hi = (Fraction(limit) / column.unit for limit in limits)
        if math.ceil(lo) > math.floor(hi):
            checks.fail("per_unit", "farther apart: no cell of the grid is between them", limits)
        return math.ceil(lo), math.floor(hi)

    def added(
        self, u: Any, column: Column, basis: Basis, most: int, weight: Any = None
    ) -> list[Feature]:
        """Return the features for rows in a database, where at most `most` rows of a unit count.

        Parameters
        ----------
        u : integer
            The cell of a row, as an expression of the database. It is missing where the row does
            not count.
        column : Column
        basis : Basis
        most : int
        weight : integer, optional

        Returns
        -------
        list of Feature
            The integers to add up, as `dpfast.extend.Feature.of_rows` returns them.
        """
        ends, cells = self.unit_ends(column), column.cells
        if ends is not None:
            return [Feature(u, cells.span, cells.first, ends=ends)]
        return [feature.of_rows(u, most, weight) for feature in basis.features]

    def grid(self, lo: float, hi: float, is_public: bool) -> Cells:
        """Return the public grid to whose cells the numbers of a column are rounded.

        Parameters
        ----------
        lo, hi : float
            The bounds of the column.
        is_public : bool
            Whether the number of rows is public, which some statistics need.

        Returns
        -------
        Cells
        """
        is_fine = self.squares or self.limits is not None
        return self.matches or (cells(lo, hi, SQUARES) if is_fine else cells(lo, hi))

    def read(self, data: Any, **rows: Any) -> View:
        rows["with_ids"] = self.adds_units
        words = None if self.matches is None else self.matches.words
        if words is not None:
            return read(data, text_column, words, **rows)
        return read(data, all_columns, self.width, self.sought, **rows)

    def mechanism(self, terms: Terms) -> LinearMeasurement:
        neighbors, layout, limits = terms.neighbors, terms.layout, self.limits
        setting = Setting(neighbors, layout.masked, terms.rows)
        missing_rule, of_units = terms.missing_rule(self.nan), terms.has_ids and self.adds_units
        misses = missing_rule == "drop"

        def grid(lo: float, hi: float) -> Cells:
            if of_units and self.matches is not None:
                return self.matches.finer  # a finer grid, on which a row may count in part
            if of_units and limits is not None:
                return narrow(lo, hi, 0.0 if self.needs_rows else max(abs(lo), abs(hi)))
            return self.grid(lo, hi, setting.is_public)

        weights = None
        if limits is not None:
            largest = max(map(abs, limits))
            weights = narrow(*limits, largest) if of_units else cells(*limits, SQUARES)

        columns = tuple(
            Column(lo, hi, grid(lo, hi), weights, misses, misses and of_units)
            for lo, hi in self.pairs(layout.columns)
        )
        single = layout.columns is None
        measurement = LinearMeasurement(self, columns, single, setting, missing_rule, terms.loss)
        # Computed now, so that too small a loss is refused before anything is spent.
        _ = measurement.loss
        return measurement


class UnitSums(NamedTuple):
    """The sums of each column's features, with each unit bounded; the number of rows is private."""

    features: list[list[int]]
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A choice of noise: the basis of each column, and the noise of all sums together.

    The first `counts` sums are numbers of rows: one for all columns, or one for each column.
    """

    forms: tuple[Basis, ...]
    sizes: tuple[int, ...]
    noise: IntegerNoise | SumNoise
    counts: int = 0

    def totals(self, summary: Sequence[Any]) -> list[int]:
        """Return the exact sums that noise is added to, from the summary of each column."""
        if type(summary[0]) is UnitSums:
            return self.ordered(summary[0].features)
        if len(self.forms) == 1:
            return self.forms[0].totals(summary[0])
        return self.ordered(
            [basis.totals(totals) for basis, totals in zip(self.forms, summary, strict=True)]
        )

    def ordered(self, columns: Sequence[list[int]]) -> list[int]:
        """Return the sums of all columns' features as one list: numbers of rows, then by kind."""
        if len(columns) == 1:
            return columns[0]
        kinds = [list(kind) for kind in zip(*columns, strict=True)]
        if self.counts:
            kinds[0] = kinds[0][: self.counts]
        return [total for kind in kinds for total in kind]

    def sums(self, noisy: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the noisy sums of each column's basis, from the list of all noisy sums."""
        if len(self.forms) == 1:
            return [tuple(noisy)]
        width, rows = len(self.forms), list(noisy[: self.counts])
        kinds = [rows * (width // self.counts)] if self.counts else []
        kinds += [list(noisy[i : i + width]) for i in range(self.counts, len(noisy), width)]
        return list(zip(*kinds, strict=True))

    def index(self, column: int, kind: int) -> int:
        """Return the index in the list of all sums of one column's sum of one kind of feature."""
        if kind == 0 and self.counts:
            return column % self.counts
        return self.counts + (kind - bool(self.counts)) * len(self.forms) + column

    def size(self, column: int, factors: Mapping[int, Fraction], failure: float) -> Fraction:
        """Return a bound on the weighted sum of a column's noise, for a failure probability."""
        if isinstance(self.noise, IntegerNoise):
            return self.noise.half_width(failure) * sum(map(abs, factors.values()), Fraction(0))
        factor_of = {self.index(column, kind): factor for kind, factor in factors.items()}
        return self.noise.sum_half_width(failure, factor_of)

    def deviation(self, column: int) -> float:
        """Return the standard deviation of the noise of a linear answer, in cells."""
        basis = self.forms[column]
        if isinstance(self.noise, IntegerNoise):
            return self.noise.deviation
        deviations = self.noise.deviations
        parts = [float(f) * deviations[self.index(column, i)] for i, f in enumerate(basis.estimate)]
        return math.hypot(*parts, math.sqrt(basis.rounding))


class Sizes(ABC):
    """Bounds on the noise of one answer's sums, which hold except with a failure probability."""

    __slots__ = ()

    @property
    @abstractmethod
    def basis(self) -> Basis:
        """The basis whose sums have the noise."""

    @abstractmethod
    def of(self, kind: int, share: float = 1.0) -> Any:
        """Return a bound on the noise of one sum, for a share of the failure probability."""

    def alone(self, share: float) -> Any:
        """Return a bound on the noise of the first sum, if no other noise causes an error."""
        return self.of(0, share)

    @abstractmethod
    def total(self, factors: Sequence[Fraction], share: float = 1.0) -> Any:
        """Return a bound on the weighted sum of the noise of all sums."""

    @property
    @abstractmethod
    def answers(self) -> Any:
        """The noisy answers whose error bars are computed; None before the release."""

    def least(self, rows: Any, off: Any) -> Any:
        """Return the least number of rows, if its noise is at most `off`."""
        return rows - off if self.answers is None else rows

    def farthest(self, column: Column) -> Any:
        """Return the largest distance of an answer from a bound, in units of `hi - lo`."""
        if self.answers is None:
            return 1.0
        away = np.maximum(self.answers - column.lo, column.hi - self.answers)
        return away / (column.cells.grid * column.span)

    def of_root(self, wide: Any, column: Column) -> Any:
        """Return the largest error of a root if the error of its square is at most `wide`.

        Two roots differ by at most the root of their squares' difference, and by exactly that if
        one is 0. If the root is known, the interval around its square gives a smaller bound.
        """
        if self.answers is None:
            return column.root(wide)
        root = np.sqrt(wide)  # squares may exceed float64
        high = np.hypot(self.answers, root)
        less = np.maximum(self.answers * (1 - 2.0**-50) - root, 0.0)  # 0 if rounding could decide
        low = np.sqrt(less) * np.sqrt(self.answers + root)
        return np.maximum(high - self.answers, self.answers - low)


@dataclass(frozen=True, slots=True)
class SizesOf(Sizes):
    """Bounds on the noise of one column's sums, by the plan of all columns."""

    plan: Plan
    column: int
    failure: float
    answers: float | None = None

    @property
    def basis(self) -> Basis:
        return self.plan.forms[self.column]

    def farthest(self, column: Column) -> Fraction:
        return Fraction(float(Sizes.farthest(self, column)))

    def of_root(self, wide: Any, column: Column) -> float:
        return float(Sizes.of_root(self, wide, column))

    def of(self, kind: int, share: float = 1.0) -> Fraction:
        return self.plan.size(self.column, {kind: Fraction(1)}, share * self.failure)

    def total(self, factors: Sequence[Fraction], share: float = 1.0) -> Fraction:
        kinds = {kind: factor for kind, factor in enumerate(factors) if factor}
        return self.plan.size(self.column, kinds, share * self.failure)


#: A number of pairs of rows that is so large that rounding to integers does not matter.
MANY_PAIRS = 1 << 30


@remembered
def plan(
    statistic: OfFeatures[Any],
    columns: tuple[Column, ...],
    setting: Setting,
    loss: Loss,
    pairs: int = 0,
) -> Plan:
    """Choose the basis of each column and the noise, from public numbers alone.

    A basis is preferred to an earlier basis if its error is smaller by at least a twentieth. The
    error of a basis is divided by the error of the first basis, and averaged over all columns. If
    sums are over pairs of rows, `pairs` is the number of pairs that contain a row; otherwise it is
    0.
    """
    # The sum of all weights is private.
    is_public = setting.is_public and columns[0].weights is None
    forms = [
        [weighted(basis, column) for basis in statistic.forms(column, is_public)]
        for column in columns
    ]
    units = [_size(setting, options[0]) for options in forms]
    ways = [
        _planned(columns, chosen, units, setting, loss, pairs)
        for chosen in zip(*forms, strict=True)
        # A basis with a norm describes the features of a single column.
        if chosen[0].norm is None or len(columns) == 1
    ]
    return cast(Plan, least_error(ways).noise())


def _size(setting: Setting, basis: Basis) -> Fraction:
    """Return the squared error of an answer where each sum of a basis is off by its sensitivity."""
    pairs = zip(basis.squares, setting.sizes(basis), strict=True)
    return sum((square * size**2 for square, size in pairs), Fraction(0))


def _planned(
    columns: tuple[Column, ...],
    forms: tuple[Basis, ...],
    units: list[Fraction],
    setting: Setting,
    loss: Loss,
    pairs: int,
) -> NoiseCandidate:
    """Return the error of the plan with one basis for each column, and a function that makes it."""
    kinds = [list(kind) for kind in zip(*map(setting.sizes, forms), strict=True)]
    parts = [
        [
            square * size**2 / unit if unit else Fraction(0)
            for square, size in zip(basis.squares, setting.sizes(basis), strict=True)
        ]
        for basis, unit in zip(forms, units, strict=True)
    ]
    weights, counts = [list(kind) for kind in zip(*parts, strict=True)], 0
    if forms[0].has_rows:
        counts = len(columns) if columns[0].misses and not forms[0].features[0].missing else 1
        kinds[0] = [max(kinds[0])] * counts
        weights[0] = weights[0] if counts > 1 else [sum(weights[0], Fraction(0))]
    sizes = tuple(max(1, pairs) * size for kind in kinds for size in kind)
    squares = tuple(float(weight) for kind in weights for weight in kind)
    norm = Sensitivity.of_one(sizes[0]) if len(sizes) == 1 else setting.norm(forms[0])
    alone = counts if norm is None else 0
    moves = Moves(sizes, squares, alone, norm, for_all_sizes=norm is not None and pairs > 0)
    error, make = choose_noise(loss, moves)
    rounding = [basis.rounding / unit for basis, unit in zip(forms, units, strict=True) if unit]
    error = math.hypot(error, math.sqrt(sum(rounding)))
    return NoiseCandidate(error, lambda: Plan(forms, sizes, make(), counts))


def narrow(lo: float, hi: float, width: float) -> Cells:
    """Return cells so few that a database has room for a unit's sums of products of two cells."""
    return cells(lo, hi, SQUARES - 1, max(hi - lo, width))


def weighted(basis: Basis, column: Column) -> Basis:
    """Return the basis with features times weights, if rows of the column have weights."""
    weights = column.weights
    if weights is None:
        return basis
    features = tuple(f.weighted(weights.first, weights.last) for f in basis.features)
    return replace(basis, features=features, norm=None)


@dataclass(frozen=True)
class LinearMeasurement(Mechanism[Answers], AddsUnits):
    """The mechanism of a linear statistic with its noise, of one column or of each of several.

    Parameters
    ----------
    statistic : Linear
    columns : tuple of Column
    single : bool
        Whether there is a single answer, and not an array.
    setting : Setting
    nan : str or float
    offered_loss : Loss
        The loss that may be spent; the loss of the noise is charged.
    """

    statistic: Linear
    columns: tuple[Column, ...]
    single: bool
    setting: Setting
    nan: str | float
    offered_loss: Loss

    @property
    def loss(self) -> Loss:
        return self._chosen_for if self._of_pairs else self.plan().noise.loss

    @cached_property
    def _of_pairs(self) -> bool:
        """Whether sums are over pairs of rows in several columns, so that sizes depend on rows."""
        return not self.single and self.has_public_rows and self.statistic.row_pairs(2) > 0

    @cached_property
    def _chosen_for(self) -> Loss:
        """The loss that noise is chosen for. Sums over pairs of rows are also charged this loss.

        It covers the noise for any number of rows. For few rows the noise may have another
        distribution than for many rows. Delta is not used if the noise for large sums does not need
        it.
        """
        loss = self.offered_loss
        if not self._of_pairs or not isinstance(loss, Approx):
            return loss
        drawn = self._plan(MANY_PAIRS, loss).noise.loss
        return loss if isinstance(drawn, Approx) else Pure(loss.epsilon)

    @property
    def name(self) -> str:
        if self.has_weights:
            return f"weighted {self.statistic.name}"
        return self.statistic.name if self.single else f"{self.statistic.name} of each column"

    @property
    def neighbors(self) -> str:
        return self.setting.neighbors

    @property
    def missing(self) -> str | float:
        return self.nan

    @cached_property
    def has_public_rows(self) -> bool:
        return self.setting.is_public and not self.has_weights

    @cached_property
    def has_weights(self) -> bool:
        return self.columns[0].weights is not None

    def plan(self, rows: int = 2) -> Plan:
        """Return the plan of bases and noise, which may depend on a public number of rows."""
        pairs = self.statistic.row_pairs(rows) if self.has_public_rows else 0
        return self._plan(pairs) if pairs else self._plan_of_any

    @cached_property
    def _plan_of_any(self) -> Plan:
        """The plan for any number of rows."""
        return self._plan(0)

    def _plan(self, pairs: int, loss: Loss | None = None) -> Plan:
        loss = self._chosen_for if loss is None else loss
        return plan(self.statistic, self.columns, self.setting, loss, pairs)

    @property
    def algorithm(self) -> str:
        return type(self.statistic).__name__

    @property
    def integer_noise(self) -> IntegerNoise | SumNoise | None:
        """The noise of all sums; None if it depends on the number of rows."""
        return None if self.has_public_rows and self.statistic.row_pairs(2) else self.plan().noise

    @property
    def noise_parameters(self) -> dict[str, Any]:
        noise, deviations = self.integer_noise, self.deviations
        if noise is None or deviations is None:
            return {}
        return {"noise": noise.distribution, "deviation": deviations}

    @property
    def deviations(self) -> float | list[float] | None:
        """The standard deviation of the noise of each sum of rows, in units of the data."""
        noise = self.integer_noise
        if noise is None or (isinstance(noise, IntegerNoise) and self.statistic.squares):
            return None  # the noise of a variance is also in the sum of squares
        plan = self.plan()
        units = [float(column.product) for column in self.columns]
        if isinstance(noise, IntegerNoise):
            return noise.deviation * units[0]
        # After counts, sums are centered, and so in units of half cells.
        if self.statistic.needs_rows:
            deviations = noise.deviations[plan.counts :]
            units = [unit / (2 if plan.counts else 1) for unit in units]
        else:
            deviations = [plan.deviation(i) for i in range(len(units))]
        in_units = [width * unit for width, unit in zip(deviations, units, strict=False)]
        return in_units[0] if self.single else in_units

    def reduce(self, source: View) -> list[Totals]:
        if self.has_weights:
            return self._weighted(source)
        rows, where, squares = source.source, source.where, self.statistic.squares
        if self.single:
            summaries = [totals(rows, self.columns[0].cells, where, squares)]
        else:
            summaries = column_totals(rows, [c.cells for c in self.columns], where, squares)
        return [
            with_missing(totals, self.nan, column.lo, column.hi, column.cells)
            if totals.missing
            else totals
            for totals, column in zip(summaries, self.columns, strict=True)
        ]

    def _weighted(self, source: View) -> list[Totals]:
        """Return each column's sum of weights, as its number of rows, and sum of weighted cells."""
        bounds, grids = self._grids
        rows, weights = source.source, source.weights
        products = weighted_moments(rows, weights, bounds, grids, self.nan, source.where)
        return [self._weighed(pair.rows, *pair.sums, *pair.products) for pair in products]

    @property
    def _grids(self) -> tuple[list[tuple[float, float]], list[Cells]]:
        """The bounds and the cells of each column, and of the weights if there are any."""
        bounds = [(column.lo, column.hi) for column in self.columns]
        grids, weights = [column.cells for column in self.columns], self.columns[0].weights
        if weights is None or self.statistic.limits is None:
            return bounds, grids
        return [*bounds, self.statistic.limits], [*grids, weights]

    def _weighed(self, rows: int, cells: int, weights: int, products: int) -> Totals:
        """Return the sums of weights and of weighted cells, from weights less their first cell."""
        assert self.columns[0].weights is not None
        first = self.columns[0].weights.first
        return Totals(weights + rows * first, sum=products + first * cells)

    def finish(self, summary: Sequence[Any], generator: Generator) -> Answers:
        plan = self.plan(summary[0].rows)
        rows = summary[0].rows if self.has_public_rows else None  # the same for all columns
        return self._answers(plan, plan.noise.add(plan.totals(summary), generator), rows)

    def of_units(self, source: View, most: int, key: Key) -> list[UnitSums]:
        if isinstance(source.source, SqlRows):
            return [UnitSums(self._added(source.source, most, source))]
        return [UnitSums(self._units(source, most, key))]

    def answered(
        self, summary: Sequence[Any], generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Answers, ErrorBar]:
        if not self.statistic.needs_rows:
            return super().answered(summary, generator, rows, confidence)
        plan, rows = self.plan(summary[0].rows), summary[0].rows if self.has_public_rows else None
        noisy = plan.noise.add(plan.totals(summary), generator)
        return self._with_bars(plan, noisy, rows, confidence)

    def _with_bars(
        self, plan: Plan, noisy: Sequence[int], rows: int | None, confidence: float
    ) -> tuple[Answers, ErrorBar]:
        """Return the answers from noisy sums, with error bars computed from both."""
        answers, counts = self._answers(plan, noisy, rows), []
        for basis, sums in zip(plan.forms, plan.sums(noisy), strict=True):
            moments = basis.moments(sums, rows)
            counts.append(Fraction(moments.rows, moments.whole))
        return answers, self._bars(plan, counts, confidence, np.atleast_1d(answers).tolist())

    def tails(self, source: View, generator: Generator) -> Counts:
        """Return counts of units by their total, in 256ths of the largest row, rounded up.

        With several columns, the largest of the unit's totals counts.

        Parameters
        ----------
        source : View
        generator : Generator

        Returns
        -------
        ndarray
        """
        key, rows = secret(generator.stream()), source.source
        if isinstance(rows, SqlRows):
            assert source.ids is not None
            pairs = zip(cells_of(rows, *self._grids, self.nan), self.columns, strict=True)
            sizes = [(Feature(u, c.span, c.cells.first), c.part) for u, c in pairs]
            return tails_of(*rows.unit_sizes(source.ids.column, sizes=sizes))

        def of(rooms: Sequence[Room]) -> Counts:
            pairs = zip(rooms, self.columns, strict=True)
            sizes = (total_sizes(room, c.cells.first, c.part) for room, c in pairs)
            return tails_of(reduce(np.maximum, sizes))

        return reduce(add_counts, map(of, self._rooms(source, key).parts()))

    def _rooms(self, source: View, key: Key) -> Units:
        """Return the sums of each unit: of cells (and their squares), or of weighted cells."""
        matches, (bounds, grids) = self.statistic.matches, self._grids
        scales = [
            (1.0 / c.cells.grid, c.cells.first, c.span, self._replacement_cell(c))
            for c in self.columns
        ]

        def add_rows(i: int, columns: Sequence[Any], codes: Any, room: Room) -> int:
            if self.has_weights:
                cells = [bounds[i], bounds[-1]], [grids[i], grids[-1]], self.nan
                return add_products([columns[i], columns[-1]], codes, *cells, [(0, 1)], room)
            rows = flat(columns[i])
            return add(rows if matches is None else matches.matched(rows), codes, *scales[i], room)

        def fill(columns: Sequence[Any], codes: Any, rooms: Sequence[Room]) -> list[int]:
            return [add_rows(i, columns, codes, room) for i, room in enumerate(rooms)]

        width = 8 if self.has_weights else 4 if self.statistic.squares else 2
        widths, where = [width] * len(scales), source.where
        units = unit_sums(source.source, key, widths, fill, where, source.weights)
        nan_policy.refuse(self.nan, max(units.missing))
        return units

    def _units(self, source: View, most: int, key: Key) -> list[list[int]]:
        """Return the sums of each column's features, with each unit's contribution bounded."""
        units, squares = self._rooms(source, key), self.statistic.squares

        def totals_of(sums: list[int]) -> Totals:
            if self.has_weights:
                return self._weighed(sums[4], sums[0], sums[1], sums[2] + (sums[3] << 32))
            return Totals(sums[-1], sum=sums[0], squares=sums[1] if squares else 0)

        def features(basis: Basis) -> Callable[[list[int]], list[int]]:
            return lambda sums: basis.totals(totals_of(sums))

        forms = self.plan().forms
        ends = [self.statistic.unit_ends(column) for column in self.columns]
        return units.added(
            lambda rooms: [
                bounded(room, most, features(basis), squares, limits)
                for room, basis, limits in zip(rooms, forms, ends, strict=True)
            ]
        )

    def _added(self, rows: SqlRows, most: int, source: View) -> list[list[int]]:
        """Return the sums of each column's features, bounded and added up in a database."""
        cells, weights, added, kept = cells_of(rows, *self._grids, self.nan), [], [], []
        if self.columns[0].weights is not None:
            weights = [cells.pop() + self.columns[0].weights.first]
        for u, column, basis in zip(cells, self.columns, self.plan().forms, strict=True):
            added.append(self.statistic.added(u, column, basis, most, *weights))
            kept.append(rows.present(u, *weights))
        every = [feature for features in added for feature in features]
        sums = iter(added_units(rows, every, source, self.nan, kept))
        return [[next(sums) for _ in features] for features in added]

    def _replacement_cell(self, column: Column) -> int:
        """Return the cell that replaces missing numbers; -1 if such rows do not count."""
        value = nan_policy.replacement(self.nan, column.lo, column.hi)
        return -1 if isinstance(value, str) else column.cells.cell(value)

    def _answers(self, plan: Plan, noisy: Sequence[int], rows: int | None) -> Answers:
        columns = zip(self.columns, plan.forms, plan.sums(noisy), strict=True)
        answers = [self.statistic.answer(*column, rows) for column in columns]
        return answers[0] if self.single else np.array(answers, np.float64)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each column."""
        moves = any(column.span for column in self.columns)
        if self.statistic.needs_rows and rows is None and moves:
            return unknown(confidence, ROWS)
        plan = self.plan(2 if rows is None else rows)
        weights = self.columns[0].weights
        if weights is not None and self.statistic.needs_rows:
            if not weights.first:
                return unknown(confidence, WEIGHTS)
            rows = (rows or 0) * weights.first  # a lower bound of the sum of the weights
        width = len(self.columns)
        return self._bars(plan, [rows or 1] * width, confidence, [None] * width)

    def _bars(
        self, plan: Plan, rows: Sequence[Any], confidence: float, answers: Sequence[Any]
    ) -> ErrorBar:
        """Return the error bar of each column, for its number of rows or its sum of weights."""
        bars: dict[Any, float] = {}  # computed once for columns that are equal
        cases = list(zip(self.columns, rows, answers, strict=True))
        for i, case in enumerate(cases):
            column, many, answer = case
            if case not in bars:
                sizes = SizesOf(plan, i, 1 - confidence, answer)
                bars[case] = self.statistic.bar(column, sizes, many, self.has_public_rows)
        widths = [bars[case] for case in cases]
        is_bound = self.statistic.needs_rows and not (
            self.has_public_rows and self.statistic.is_linear
        )
        note = BOUND if is_bound else NOISE
        if self.statistic.unit_limits is not None:
            note = f"{note}; {CLAMPED}"
        return ErrorBar(confidence, widths[0] if self.single else widths, note=note)
