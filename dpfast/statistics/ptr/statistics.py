"""Propose-test-release statistics: a mean, a quantile, an interquartile range, their distances.

*The mean.* Rows become cells of a public grid (`dpfast/summaries/cells.py`), so their sum is exact.
Let R be the distance of the bounds, b the proposal, and A(k) the largest local sensitivity of data
within k changed rows. Under "add-remove", with the middle of the bounds as the mean of no rows,
A(k) is at most R / max(n - k, 2) (`dpfast/sensitivity/mean.py`). If b < R / 2, this is above b from
k = n - ceil(R / b) + 1 on; otherwise it never is. Under "replace" the local sensitivity is R / n
for all data.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from ..._core import checks
from ..._core.types import Auto, Bounds, Number
from ...budget.mechanism import Mechanism
from ...measurement.around import OfKept
from ...measurement.statistic import Bounded, Terms
from ...sensitivity.iqr import QUARTILES
from ...summaries.cells import cells, nearest
from ...summaries.totals import totals, with_missing
from ...tables import Source
from ...tables.intake import View, one_column, read
from .answer import NoAnswer
from .proposal import Measured, first_above, proposal, split
from .quantiles import Column, ScaleFree


@dataclass(frozen=True, kw_only=True)
class Proposing(Bounded[float | NoAnswer]):
    """Base of statistics of a column that are released by propose-test-release."""

    bounds: Bounds | Auto
    proposed: Number | None
    test_share: Number = 0.5

    qs: ClassVar[tuple[Fraction, ...]] = ()
    leaves_out: ClassVar[tuple[str, ...]] = ("rho", "axis", "where")
    subtracts: ClassVar[bool] = False

    @property
    def word(self) -> str:
        return f"ptr.{super().word}"

    @property
    def assume_sorted(self) -> bool:
        """Whether the caller promises rows in ascending order."""
        return False

    #: False: the distance is to data with a neighbor that differs in one step, and a row that
    #: enters by a mask counts as two steps.
    covers_masks: ClassVar[bool] = False

    @abstractmethod
    def measured(self, column: Column, source: Source, proposed: float, most: int) -> Measured:
        """Return the exact statistic of a column, and its distance for the test, up to `most`."""

    def limits_of(self, column: Column) -> tuple[float, float]:
        """Return the public limits to which an answer is clamped."""
        return column.lo, column.hi

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        return read(data, one_column, **rows)

    def mechanism(self, terms: Terms) -> Mechanism[float | NoAnswer]:
        missing_rule, trusted = terms.missing_rule(self.nan), self.assume_sorted
        column = Column(self.qs, *self.pairs(None)[0], terms.neighbors, missing_rule, trusted)
        return OfKept(self.of_column(column, terms))

    def of_column(self, column: Column, terms: Terms) -> Mechanism[float | NoAnswer]:
        """Return the mechanism for the rows of a column that count."""
        measure, limits = partial(self.measured, column), self.limits_of(column)
        return proposal(
            self.name,
            measure,
            limits,
            terms.loss,
            terms.neighbors,
            proposed=self.proposed,
            test_share=self.test_share,
            of_ranks=bool(column.qs),
            missing=column.nan,
        )


@dataclass(frozen=True, kw_only=True)
class Mean(Proposing):
    """The mean of a column by propose-test-release, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    proposed : float
    test_share : float or Fraction, default 0.5
        As in `dpfast.ptr.mean`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.ptr.mean`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.ptr.Mean(bounds=(0, 1), proposed=0.1).measure(epsilon=1, delta=1e-6).name
    'mean by propose-test-release'
    """

    name: ClassVar[str] = "mean by propose-test-release"

    def measured(self, column: Column, source: Source, proposed: float, most: int) -> Measured:
        lo, hi = column.lo, column.hi
        grid = cells(lo, hi)
        rows = with_missing(totals(source, grid, None), column.nan, lo, hi, grid)
        middle = Fraction(rows.sum, rows.rows) if rows.rows else Fraction(grid.span, 2)
        unit = Fraction(grid.grid)
        value = min(max(nearest((grid.first + middle) * unit), lo), hi)
        size = Fraction(proposed) / unit
        distance = mean_distance(rows.rows, grid.span, size, column.neighbors, most)
        return Measured(value if grid.span else lo, distance)


def mean_distance(n: int, span: int, proposed: Fraction, neighbors: str, most: int) -> int:
    """Return how many rows must change until the local sensitivity of a mean exceeds `proposed`.

    The mean is the mean of n values in 0 .. span.
    """
    if neighbors == "replace":
        return most if n == 0 or span <= proposed * n else 0
    if 2 * proposed >= span:
        return most
    return min(max(0, n - math.ceil(span / proposed) + 1), most)


@dataclass(frozen=True, kw_only=True)
class OfRanks(Proposing):
    """Base of propose-test-release statistics of one or two quantiles."""

    assume_sorted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.flag("assume_sorted", self.assume_sorted)

    def measured(self, column: Column, source: Source, proposed: float, most: int) -> Measured:
        windows = column.windows(source, most + 1)
        at = partial(column.local, windows)
        return Measured(column.value(windows), first_above(at, proposed, most, windows[0].n + 1))


@dataclass(frozen=True)
class Quantile(OfRanks):
    """A quantile of a column by propose-test-release, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
    q : float or Fraction
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    proposed : float
    test_share : float or Fraction, default 0.5
    assume_sorted : bool, default False
        As in `dpfast.ptr.quantile`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.ptr.quantile`.

    Examples
    --------
    >>> import dpfast as dp
    >>> median = dp.ptr.Quantile(q=0.5, bounds=(0, 1), proposed=0.1)
    >>> median.measure(epsilon=1, delta=1e-6).name
    'quantile 1/2 by propose-test-release'
    """

    q: Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "q", checks.quantile(self.q))

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"quantile {self.q} by propose-test-release"

    @property
    def qs(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (checks.quantile(self.q),)


@dataclass(frozen=True, kw_only=True)
class Iqr(OfRanks):
    """The interquartile range of a column by propose-test-release, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    proposed : float, optional
    ratio : float or Fraction, optional
    test_share : float or Fraction, default 0.5
    assume_sorted : bool, default False
        As in `dpfast.ptr.iqr`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.ptr.iqr`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.ptr.Iqr(bounds=(0, 1), proposed=0.1).measure(epsilon=1, delta=1e-6).name
    'interquartile range by propose-test-release'
    """

    proposed: Number | None = None
    ratio: Number | None = None

    name: ClassVar[str] = "interquartile range by propose-test-release"
    qs: ClassVar[tuple[Fraction, ...]] = QUARTILES

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratio is None:
            return
        if self.proposed is not None:
            checks.fail("ratio", "left out with proposed", self.ratio)
        if not checks.fraction("ratio", self.ratio) > 1:
            checks.fail("ratio", "a finite number greater than 1", self.ratio)

    def limits_of(self, column: Column) -> tuple[float, float]:
        return 0.0, column.hi - column.lo

    def of_column(self, column: Column, terms: Terms) -> Mechanism[float | NoAnswer]:
        if self.proposed is not None:
            return super().of_column(column, terms)
        if terms.neighbors != "replace":
            rule = "'replace', without ids, if proposed is left out: n must be public"
            checks.fail("neighbors", rule, terms.neighbors)
        loss, test, left = split(terms.loss, self.test_share)
        ratio = None if self.ratio is None else checks.fraction("ratio", self.ratio)
        return ScaleFree(self.name, column, ratio, test, left, loss)
