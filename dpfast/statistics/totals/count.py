"""Private numbers of rows, of one column or of each of several columns.

A row adds 0 or 1 to each count. Either the counts get noise; or, if a row is added or removed, the
number of all rows n and 2 q - n for each count q, which also differ by 1: a count is half of their
sum, and a half is rounded up or down with equal probability. The number of all rows does not change
if one is replaced, and is public then; columns whose values do not matter have one count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.attributes import same_as
from ..._core.error_bars import CLAMPED, NOISE, ErrorBar
from ..._core.types import Auto, Integers
from ..._kernels.groups import count
from ..._kernels.tables import Key
from ...budget.mechanism import Mechanism
from ...measurement import linear
from ...measurement.features import Basis, Feature
from ...measurement.linear import Column, OfFeatures, Plan, Setting, SizesOf
from ...measurement.statistic import InUnits, Terms
from ...measurement.tails import Counts as TailCounts
from ...measurement.unit import AddsUnits, added_units
from ...measurement.unit_bounds import rows_of_units
from ...noise.choice import below
from ...privacy import Loss, Pure
from ...rng import Generator
from ...summaries.cells import Cells
from ...summaries.side_by_side import flat
from ...summaries.totals import Celled, Totals, column_totals, totals
from ...summaries.units import Room, Units, clamped_counts, unit_rows, unit_sums
from ...tables.base import Feature as RowFeature
from ...tables.batches import refuse_beside
from ...tables.intake import View, all_columns, read, rows_alone
from ...tables.sql.store import SqlRows
from ...tables.times import Times
from ..consistent import not_below_0

Counts: TypeAlias = int | Integers

HALF = Fraction(1, 2)
#: The variance of rounding to whole numbers, if every other number is a half.
ROUNDING = Fraction(1, 8)
#: The features that count all rows, rows with a number, rows without a number, and nonzero rows.
EVERY = Feature((0, 1, 0), 1, 1, missing=1)
PRESENT = Feature((0, 1, 0), 0, 1)
MISSING = Feature((0, 0, 0), 0, 1, missing=1)
NONZERO = Feature((1, 0, 0), 0, 1)


class _Nonzero:
    """A native grid of two cells that counts numbers: 0 on the first cell, others on the last."""

    @staticmethod
    def totals(values: NDArray[Any], squares: bool) -> tuple[int, int, int]:
        """Return the numbers of NaNs and of other values that are not 0, and 0 for squares."""
        nan = int(np.count_nonzero(values != values)) if values.dtype.kind == "f" else 0
        return nan, int(np.count_nonzero(values)) - nan, 0


class Nonzero:
    """A grid of two cells, 0 and all other values, so that a sum of cells counts nonzero rows."""

    native, span = _Nonzero, 1

    @staticmethod
    def of_row(rows: SqlRows, column: int) -> Any:
        """Return the database expression for the cell of each row: 0 for a value of 0, else 1."""
        return 1 - rows.among(column, (0.0,))


@dataclass(frozen=True, kw_only=True)
class Count(OfFeatures[Counts]):
    """The number of rows, or of the rows with or without a number, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    nan : {"keep", "drop", "only"}, optional
        By default "drop" if a column is named, so that rows with a number or a time count, and
        otherwise "keep", so that all rows count.
    per_unit : (int, int) or "auto", optional
    nonnegative : bool, default False
        As in `dpfast.count`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.count`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Count().measure(epsilon=1).error(1000, 0.95).half_width
    3.0
    """

    nan: Literal["keep", "drop", "only"] | None = None
    per_unit: tuple[int, int] | Auto | None = None
    nonnegative: bool = False

    name: ClassVar[str] = "count"
    reads_numbers: ClassVar[bool] = True
    name_of_each: ClassVar[str] = "count of each column"
    needs_column: ClassVar[bool] = False
    #: For each value of `nan`, the feature that counts the rows.
    features: ClassVar[Mapping[Any, Feature]] = {"keep": EVERY, "drop": PRESENT, "only": MISSING}
    #: The grid that separates the numbers to be counted from others; None if all are counted.
    cells: ClassVar[Celled | None] = None

    def __post_init__(self) -> None:
        if self.column is not None:
            checks.text("column", self.column)
        nan = ("drop" if self.column else "keep") if self.nan is None else self.nan
        object.__setattr__(self, "nan", checks.choice("nan", nan, tuple(self.features)))
        checks.flag("nonnegative", self.nonnegative)
        if isinstance(self.per_unit, str) and checks.is_auto(self.per_unit):
            object.__setattr__(self, "unit_limits", self.per_unit)
        elif self.per_unit is not None:
            lo, hi = (int(end) for end in checks.bounds(self.per_unit, "per_unit"))
            if (lo, hi) != tuple(self.per_unit) or not 0 <= lo <= hi < 2**53:
                checks.fail("per_unit", "two whole numbers from 0 on, ascending", self.per_unit)
            checks.assign(self, per_unit=(lo, hi), unit_limits=(lo, hi))

    def with_limit(self, bound: int) -> Self:
        return replace(self, per_unit=(0, bound))

    @property
    def feature(self) -> Feature:
        """The integer feature of a row whose sum is the count."""
        return self.features[self.nan]

    @property
    def looks(self) -> bool:
        """Tell whether a row's value decides whether the row counts."""
        return self.nan != "keep"

    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        feature = self.feature
        if self.per_unit is not None:
            feature = feature._replace(lo=self.unit_limits[0], hi=self.unit_limits[1])
        alone = Basis((feature,), (Fraction(1),), (Fraction(1),))
        if is_public or not self.looks or self.per_unit is not None:
            return [alone]
        halves = (HALF, HALF)
        centered = (EVERY, feature.centered())
        return [alone, Basis(centered, (HALF**2, HALF**2), halves, rounding=ROUNDING)]

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        if axis is None and not self.looks:  # no values are read
            return read(data, rows_alone, **rows)
        return read(data, all_columns, axis=axis, with_ids=True, **rows)

    def mechanism(self, terms: Terms) -> CountMeasurement:
        setting = Setting(terms.neighbors, terms.layout.masked, terms.rows)
        measurement = CountMeasurement(self, terms.layout.columns, setting, terms.loss)
        # Computed now, so that too small a loss is refused before anything is spent.
        _ = measurement.plan
        return measurement

    def counted(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the `values` that count."""
        if self.nan == "keep":
            return np.ones(len(values), np.bool_)
        return np.asarray((values == values) == (self.nan == "drop"))

    def totals(self, counted: int, rows: int) -> Totals:
        """Return the exact totals of a column with `rows` rows, of which `counted` count."""
        missing = counted if self.nan == "only" else rows - counted
        return Totals(rows - missing, missing)

    def of_rows(self, rows: SqlRows, column: int) -> Any:
        """Return a database expression: a row's integer feature, null if it does not count."""
        is_present = rows.present(*([rows.among(column, ())] if self.looks else []))
        return rows.counted(1 - is_present if self.nan == "only" else is_present)

    def public_count(self, source: View) -> int | None:
        """Return the count if it is known without reading rows, otherwise None."""
        where, length = source.where, None if source.has_labels else source.length
        if self.looks or length is None or where is None:
            return None if self.looks else length
        return int(np.count_nonzero(where)) if len(where) == length else None


def rows_of_each_unit(source: View, key: Key) -> Units:
    """Return the number of rows of each privacy unit, from ids that are not part of the rows."""
    assert source.ids is not None
    public_count = None if source.has_labels else source.length
    units, read = unit_rows(source.ids, key, source.where)
    if read != (public_count or totals(source.source, None, None).read):
        refuse_beside()
    return units


@dataclass(frozen=True, kw_only=True)
class CountNonzero(Count):
    """The number of rows that are not 0, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    nan : {"keep", "drop"}, default "keep"
    per_unit : (int, int) or "auto", optional
    nonnegative : bool, default False
        As in `dpfast.count_nonzero`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.count_nonzero`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.CountNonzero().measure(epsilon=1)([0, 1, 2] * 1000) > 1_900
    True
    """

    nan: Literal["keep", "drop"] = "keep"

    name: ClassVar[str] = "count of nonzero rows"
    name_of_each: ClassVar[str] = "count of nonzero rows in each column"
    needs_column: ClassVar[bool] = True
    features: ClassVar[Mapping[Any, Feature]] = {
        "keep": NONZERO._replace(missing=1),
        "drop": NONZERO,
    }
    cells: ClassVar[Celled | None] = Nonzero

    @property
    def looks(self) -> bool:
        return True

    def counted(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        # True for NaN; super().counted() decides whether NaN counts.
        counted: NDArray[np.bool_] = values != 0
        return super().counted(values) & counted

    def totals(self, counted: int, rows: int) -> Totals:
        return Totals(rows, sum=counted)

    def of_rows(self, rows: SqlRows, column: int) -> Any:
        return rows.counted(rows.filled(Nonzero.of_row(rows, column), int(self.nan == "keep")))

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        return None  # times are not numbers, so they are refused


@dataclass(frozen=True)
class CountMeasurement(Mechanism[Counts], AddsUnits):
    """The mechanism of a count, or of the counts of several columns, with integer noise."""

    statistic: Count
    columns: int | None
    setting: Setting
    offered_loss: Loss

    @cached_property
    def plan(self) -> Plan:
        """The choice of the sums that get noise, and of the noise."""
        column = Column(0.0, 1.0, Cells(1.0, 0, 1), misses=self.statistic.nan == "drop")
        columns = (column,) * (self.columns or 1)
        return linear.plan(self.statistic, columns, self.setting, self.offered_loss)

    @cached_property
    def loss(self) -> Loss:
        loss = self.plan.noise.loss
        return Pure(loss.epsilon) if self.columns is None and isinstance(loss, Pure) else loss

    neighbors = same_as("setting.neighbors")
    missing = same_as("statistic.nan")

    @property
    def name(self) -> str:
        return self.statistic.name if self.columns is None else self.statistic.name_of_each

    @property
    def algorithm(self) -> str:
        return type(self.statistic).__name__

    integer_noise = same_as("plan.noise")

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"noise": self.plan.noise.distribution, "deviation": self.deviations}

    @property
    def deviations(self) -> float | list[float]:
        """The standard deviation of the noise of each count."""
        if self.columns is None:
            return self.plan.deviation(0)
        return [self.plan.deviation(i) for i in range(self.columns)]

    def reduce(self, source: View) -> list[Totals]:
        public_count, cells = self.statistic.public_count(source), self.statistic.cells
        if public_count is not None:
            return [Totals(public_count)] * (self.columns or 1)
        if self.columns is None:
            return [totals(source.source, cells, source.where)]
        return column_totals(source.source, [cells] * self.columns, source.where)

    @staticmethod
    def tails(source: View, generator: Generator) -> TailCounts:
        """Return the number of privacy units with each number of rows, as tail counts."""
        return rows_of_units(source, generator)

    def of_units(self, source: View, most: int, key: Key) -> list[Totals]:
        statistic, rows = self.statistic, source.source

        def counted_in(units: Units) -> list[int]:
            def clamped(rooms: list[Room]) -> list[list[int]]:
                ends = statistic.unit_limits
                return [[int(clamped_counts(room, most, ends).sum())] for room in rooms]

            return [rows for (rows,) in units.added(clamped)]

        if isinstance(rows, SqlRows):
            columns = range(self.columns or 1)
            counted = [rows.present(), *(statistic.of_rows(rows, column) for column in columns)]
            limits = statistic.unit_limits
            features = [RowFeature(0 * marked, 0, 1, most, limits) for marked in counted]
            kept = added_units(rows, features, source, statistic.nan)
        elif self.columns is None and not statistic.looks:
            kept = counted_in(rows_of_each_unit(source, key)) * 2
        else:

            def fill(columns: Sequence[Any], codes: Any, rooms: Sequence[Room]) -> list[int]:
                count(codes, rooms[0].reshape(-1))
                for column, room in zip(columns, rooms[1:], strict=True):
                    counted = statistic.counted(flat(column))
                    count(np.where(counted, codes, np.int32(-1)), room.reshape(-1))
                return [0] * len(rooms)

            widths = [1] * (1 + (self.columns or 1))
            kept = counted_in(unit_sums(source.source, key, widths, fill, source.where))
        every, *sums = kept
        return [statistic.totals(some, every) for some in sums]

    def finish(self, summary: list[Totals], generator: Generator) -> Counts:
        plan = self.plan
        if self.columns is None and len(plan.sizes) == 1:
            counts: Counts = plan.noise.add(plan.forms[0].totals(summary[0]), generator)[0]
        else:
            noisy = plan.sums(plan.noise.add(plan.totals(summary), generator))
            whole = [half_of(sum(sums), generator) if len(sums) > 1 else sums[0] for sums in noisy]
            counts = whole[0] if self.columns is None else np.array(whole, np.int64)
        return not_below_0(counts) if self.statistic.nonnegative else counts

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each count, a whole number because the errors are whole."""
        basis = self.plan.forms[0]
        size = SizesOf(self.plan, 0, 1 - confidence).total(basis.estimate)
        whole = math.floor(size + (HALF if basis.rounding else 0))
        note = NOISE if self.statistic.per_unit is None else f"{NOISE}; {CLAMPED}"
        return ErrorBar(confidence, float(whole), note=note)


def half_of(number: int, generator: Generator) -> int:
    """Return half of a whole number; half of an odd number is rounded up or down at random."""
    return number // 2 + (below(2, generator.stream()) if number % 2 else 0)
