"""Counts, sums, means and variances by group: linear forms of exact integers, with integer noise.

What is added up of a group is the number of its rows, the sum of their cells u and of u^2
(`summaries.cells`, csrc/groups/sums.c). What is released are linear forms of these, with exact
integer noise for the sensitivity of all groups together (`step`), in one draw. The forms are those
of the plain statistics where n is private (`statistics.totals.moments` derives them): the rows;
the sum of cells; sum(u) and sum(s - u); sum(u^2), sum(2 u (s - u)) and sum((s - u)^2).

*Error bars.* Those of sums and counts are of the noise. A mean or a variance has one that depends
on the group, and is made of the noisy forms alone, which is post-processing. Let R be the noisy
number of rows of a group of n, and let each noise be at most h in size, in units of what a row adds
at most; with k noises each exceeds h with a k-th of the failure probability.

* Mean, of forms with the noises e and f: (m n + e) / R - m is ((1 - m) e - m f) / R, and so at most
  h / R. Of joint noise e for the number of rows and f for the centered sum q n s, it is
  (f - q e) / (2 R) with |q| <= 1, the same.
* Variance: the linear part of its error over R has weights whose sizes add up to at most 1, and the
  rest is a square, of at most (3 h / (2 R))^2: see `statistics.totals.moments.Variance.bar`.
  Of joint noise the linear part is -q (f - q e) / 2 + (g - y e) / 8 with 2 q^2 - 1 <= y <= 1, so
  these sizes are at most |q| / 2, 1/8 and 3/8; and the square is (f - q e)^2 / 4 <= h^2. With
  `ddof` there is the error of R / (R - ddof), where R is off by at most k h, times at most 1/4.
* Deviation: both ends of the interval of the variance have a root.

Rounding to cells is in no more than one cell of these. The mean of no rows is no number.

*Joint noise.* For a large epsilon staircase noise for the number of rows and for centered sums
together is less than that for these forms (`noise.stairs`): with w = 2 u - s, a row adds 1, w of
-s .. s, and 2 w^2 - s^2 of -s^2 .. s^2, so k rows of a person move the vector of a group within the
box of k times (1, s, s^2). Each move of `step` costs epsilon / n. Laplace noise for k + 1 forms has
the deviation d of each, in units of what a row adds, and so has the mean at the bounds, times n;
joint noise with the root mean square e of its deviations has the mean e / sqrt(2). Its price in rho
is that of `Step.groups` draws of any pure loss, for either side of a group is one move of two.

A form of many rows may be beyond 64 bits. So it is divided by a public power of two first, and
rounded down, which `Sensitivity.coarsened` covers. What follows the noise is float64 arithmetic on
the noisy integers alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import BOUND, CONFIDENCE, NOISE, Expected, unknown
from .._kernels import groups as _native
from ..measurement.features import Factors, Form
from ..measurement.linear import Column, Linear
from ..measurement.times import Units
from ..noise.calibrated_integer import WORTH, IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..noise.stairs import Stairs, best_cores
from ..privacy import ZCDP, Draws, Loss, Pure, float_down
from ..rng import Generator
from ..sources.batches import Piece
from ..statistics.totals.moments import Variance
from ..summaries.cells import Cells, cells, in_units, nearest
from .of_times import read
from .step import ROW, Step

Floats: TypeAlias = NDArray[np.float64]

#: About the log2 of the number of cells whose squares are added up.
SQUARES = 24
#: The log2 of the rows that a group can have, and of the largest integer that gets noise.
ROWS, LARGEST = 32, 61
#: The largest size of a joint move, in units.
FAR = 1 << 40
#: The place of the carries in a number of rows.
CARRY = 40
#: Why the error bar of a group may be unknown before there is an answer.
OF_EACH = "it depends on the rows of each group"


@dataclass(frozen=True, kw_only=True)
class Sums(ABC):
    """Base of what is released of sums by group. One object serves all calls that are alike.

    Parameters
    ----------
    step : Step
    loss : Loss
        None until it is said, as of what is no `Statistic`.
    units : Units, optional
        How a column of times is read.
    """

    step: Step = ROW
    loss: Loss = None  # type: ignore[assignment]
    units: Units | None = None

    width: ClassVar[int] = 2
    per_person: ClassVar[bool] = False
    is_text: ClassVar[bool] = False

    @property
    @abstractmethod
    def column(self) -> str | None:
        """The column whose numbers are added up; None for rows."""

    @property
    @abstractmethod
    def nan(self) -> str | float:
        """What becomes of missing numbers."""

    @property
    @abstractmethod
    def cells(self) -> Cells:
        """The cells of what is added up."""

    @property
    @abstractmethod
    def forms(self) -> list[Factors]:
        """The factors of each sum that gets noise."""

    @property
    @abstractmethod
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of all sums of all groups."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The most that a sum grows by with a row."""

    def of_noisy(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the answers from noisy sums: by default the only one, in the data's units."""
        return in_units(noisy[0], self.cells.grid)

    @cached_property
    def shift(self) -> int:
        """The log2 of the unit in which sums get noise."""
        return _unit(self.largest)

    @cached_property
    def noise(self) -> IntegerNoise:
        """The noise, in that unit."""
        sensitivity = self.sensitivity
        if self.shift:
            sensitivity = sensitivity.coarsened(1 << self.shift)
        return integer_noise(self.loss, sensitivity)

    def charged(self) -> Self:
        """Return the same with the loss of its noise."""
        return replace(self, loss=self.noise.loss)

    def names(self, name: str) -> list[str]:
        """Return what the columns of the answer may be called."""
        return [name, f"{name} error"]

    def error(self, failure: float) -> float | None:
        """Return what is exceeded with a failure probability, where it is the same in all groups.

        In the units of the answer; for times, of their column.
        """
        return None

    def expected(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of a group of so many rows."""
        size = self.error(1 - confidence)
        if size is None:
            return unknown(confidence, OF_EACH)
        return Expected(confidence, size, note=NOISE)

    def within(self, failure: float) -> float:
        """Return what the noise of a form exceeds with a failure probability."""
        size = self.noise.within(failure) << self.shift
        return float(size + ((1 << self.shift) if self.shift else 0))

    @property
    def reading(self) -> tuple[Any, ...]:
        """Return the column, and what its text is read as; statistics that agree share a look."""
        return (self.column, self.units)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns that are read."""
        return () if self.column is None else (self.column,)

    def read(self, columns: Mapping[str, Piece]) -> Any:
        """Return the numbers of pieces of the columns."""
        return None if self.column is None else read(columns[self.column], self.units)

    def room(self, groups: int) -> NDArray[np.uint64]:
        """Return the sums of no rows, for so many groups and for rows of none."""
        return np.zeros((groups + 1, self.width), np.uint64)

    @abstractmethod
    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        """Add rows to the sums; return how many of them are NaN."""

    def of_group(self, totals: NDArray[np.uint64], form: int) -> NDArray[np.uint64]:
        """Return the sums that a form, by its number, is made of."""
        return totals

    def merge(self, room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
        """Add other sums."""
        own = room[: len(more) - 1].reshape(-1, room.shape[-1])
        before = own[:, 0].copy()
        own += more[:-1].reshape(own.shape)
        own[:, 1] += (own[:, 0] < before).astype(np.uint64) << np.uint64(CARRY)

    def columns(
        self,
        name: str,
        room: NDArray[np.uint64],
        groups: int,
        kept: NDArray[np.int64] | None,
        generator: Generator,
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer, for all groups or for those that are kept."""
        return self.answers(name, room[:groups] if kept is None else room[kept], generator)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer for groups whose sums are given."""
        answers, width = self.finish(totals, generator)
        return {name: answers, **self.error_bar(name, len(totals), width)}

    def error_bar(
        self, name: str, groups: int, width: Floats | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return the column of error bars, where there is one."""
        if width is None:
            error = self.error(1 - CONFIDENCE)
            if error is None:
                return {}
            width = np.full(groups, error)
        return {f"{name} error": width}

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        """Return the answers of groups whose sums are given, and their own error bars."""
        forms, noise = self.forms, self.noise
        drawn = noise.draw(len(totals) * len(forms), generator).reshape(len(forms), len(totals))
        noisy = self.noisy(totals, forms, drawn, [self.shift + noise.shift] * len(forms))
        answers = self.of_noisy(noisy)
        return answers, self.bars(answers, noisy)

    def bars(self, answers: NDArray[Any], noisy: list[NDArray[Any]]) -> Floats | None:
        """Return the error bars of answers that depend on their groups, from noisy sums."""
        return None

    def noisy(
        self,
        totals: NDArray[np.uint64],
        forms: list[Factors],
        noise: NDArray[np.int64],
        shifts: list[int],
    ) -> list[NDArray[Any]]:
        """Return forms with noise, which is drawn in units of two to these shifts."""
        found: list[NDArray[Any]] = []
        for i, ((a, b, c), own, shift) in enumerate(zip(forms, noise, shifts, strict=True)):
            form = np.empty(len(totals), np.int64)
            _native.combine(self.of_group(totals, i), a, b, c, shift, form)
            form += own
            # Rounding down took half a unit away on average.
            found.append(np.ldexp(form + 0.5, shift) if shift else form)
        return found


def refuse_auto(bounds: Any) -> NoReturn:
    """Refuse to find bounds in the data of groups."""
    rule = "public for groups (dpfast.bounds of the column finds some, for a loss of its own)"
    checks.fail("bounds", rule, bounds)


def _unit(largest: int) -> int:
    """Return the log2 of the unit in which what grows by so much with a row gets noise."""
    return max(0, largest.bit_length() + ROWS - LARGEST)


class Counted(Sums):
    """Base of numbers of rows."""

    nan: ClassVar[str] = "raise"
    width: ClassVar[int] = 1

    @property
    def cells(self) -> Cells:
        return Cells(1.0, 1, 0)

    @property
    def forms(self) -> list[Factors]:
        return [(0, 1, 0)]

    @property
    def largest(self) -> int:
        return 1

    @property
    def sensitivity(self) -> Sensitivity:
        return self.step.vectors(1, 1)

    def error(self, failure: float) -> float | None:
        return self.within(failure)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        _native.count(codes, totals.reshape(-1))
        return 0

    def merge(self, room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
        room[: len(more) - 1] += more[:-1]

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        noise = self.noise
        drawn = noise.draw(len(totals), generator)
        rows = totals.reshape(-1).view(np.int64)
        found: NDArray[np.int64] = ((rows >> noise.shift) + drawn) << noise.shift
        return found, None


@dataclass(frozen=True)
class Count(Counted):
    """Numbers of rows."""

    column: str | None = None


@dataclass(frozen=True)
class Nonzero(Count):
    """Numbers of rows that are not 0; of those that are `present` alone, or NaN and null too."""

    present: bool = False

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        counted = values != 0  # NaN is not 0
        if self.present:
            counted &= values == values
        _native.count(np.where(counted, codes, np.int32(-1)), totals.reshape(-1))
        return 0


@dataclass(frozen=True)
class People(Count):
    """Numbers of people: of each, one row counts in a group."""

    per_person: ClassVar[bool] = True


@dataclass(frozen=True)
class OfLinear(Sums):
    """A linear statistic of each group: its first form has independent noise.

    What a row adds, and by how much, is that of the statistic where the number of rows is private.
    Its answers are in exact fractions; here they are arrays of float64, of all groups at once.

    Parameters
    ----------
    statistic : Linear
        Of numbers, with one pair of bounds.
    """

    statistic: Linear

    def __post_init__(self) -> None:
        _ = self.axis  # bounds are checked

    @property
    def column(self) -> str | None:
        return self.statistic.column

    @property
    def nan(self) -> str | float:
        return checks.nan_policy(self.statistic.nan, "add-remove")

    @property
    def width(self) -> int:  # type: ignore[override]
        return 4 if self.statistic.squares else 2

    @cached_property
    def axis(self) -> Column:
        """The bounds and the cells of the column."""
        lo, hi = checks.bounds(self.statistic.bounds)
        grid = cells(lo, hi, SQUARES) if self.statistic.squares else cells(lo, hi)
        return Column(lo, hi, self.statistic.matches or grid)

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        matches = self.statistic.matches
        return matches is not None and matches.words is not None

    @property
    def reading(self) -> tuple[Any, ...]:
        return (*super().reading, self.statistic.matches)

    def read(self, columns: Mapping[str, Piece]) -> Any:
        return self.values(columns)

    def values(self, columns: Mapping[str, Piece]) -> NDArray[Any]:
        """Return the numbers of a piece of the column."""
        piece, matches = columns[self.column or ""], self.statistic.matches
        if matches is None:
            return read(piece, self.units)
        return matches.of(piece, f"column {self.column!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        return self.axis.lo, self.axis.hi

    @property
    def cells(self) -> Cells:
        return self.axis.cells

    @cached_property
    def independent(self) -> Form:
        """The features that get independent noise."""
        return self.statistic.forms(self.axis, False)[0]

    @property
    def forms(self) -> list[Factors]:
        return self.independent.factors

    @cached_property
    def largest(self) -> int:
        norm = self.independent.norm
        return (
            self.independent.features[0].sensitivity("add-remove", False) if norm is None else norm
        )

    @property
    def sensitivity(self) -> Sensitivity:
        form = self.independent
        if form.norm is not None:
            return self.step.vectors(form.norm, len(form.features))
        (feature,) = form.features
        return self.step.numbers(feature.lo, feature.hi)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        grid = self.cells
        ends = (grid.first, grid.span)
        return _native.add(values, codes, 1.0 / grid.grid, *ends, self.filler, totals)

    @cached_property
    def filler(self) -> int:
        """The cell of missing numbers; -1 where they are no rows."""
        value = nan_policy.replacement(self.nan, *self.bounds)
        return -1 if isinstance(value, str) else self.cells.cell(value)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        columns = super().answers(name, totals, generator)
        if self.units is None:
            return columns
        answers, times = np.asarray(self.units.back(columns.pop(name))), self.units.times
        # Half a unit more, for an answer in whole units.
        half = 0.0 if self.units.answer == "total" else 0.5
        return {name: answers} | {
            key: times.span(np.ceil(bars + half)) for key, bars in columns.items()
        }


class GroupSum(OfLinear):
    """Sums of clamped numbers."""

    def error(self, failure: float) -> float | None:
        return nearest(Fraction(self.within(failure)) * Fraction(self.cells.grid))


class Centered(OfLinear):
    """Base of what may be released by centered sums, with noise for all together: the last form."""

    @cached_property
    def joined(self) -> Form:
        """The number of rows and centered sums."""
        return self.statistic.forms(self.axis, False)[-1]

    @property
    def sizes(self) -> list[int]:
        """What a row adds to each of these in size."""
        return [feature.hi for feature in self.joined.features]

    @abstractmethod
    def of_centered(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the answers from the noisy number of rows and centered sums."""

    @cached_property
    def joint(self) -> tuple[Stairs, list[int]] | None:
        """Joint noise for these, and the log2 of their units; None where it is not less."""
        sizes, loss = self.sizes, self.loss
        if isinstance(loss, ZCDP) or not all(sizes):
            return None
        each, k, rows = loss.epsilon / self.step.moves, len(sizes), self.step.rows
        if not 1 < k <= 2 * each or rows * max(sizes) >> _unit(max(sizes)) > FAR:
            return None
        counts = int(rows == 1)
        plain = math.ldexp(self.noise.deviation, self.shift) / (rows * self.largest)
        least = best_cores(float_down(each), counts, k - counts)[1]
        if least >= WORTH * plain * math.sqrt((k + 1) * (k + 2) / 6):
            return None
        shifts = [_unit(size) for size in sizes]
        box = [-(-rows * size >> shift) for size, shift in zip(sizes, shifts, strict=True)]
        return Stairs.of(each, box), shifts

    @cached_property
    def usual_size(self) -> float:
        """What no noise exceeds, but with the failure probability of error bars, in rows."""
        return self.size(1 - CONFIDENCE)

    def size(self, failure: float) -> float:
        """Return what none of the noises exceeds, but with a failure probability, in rows."""
        if not self.cells.span:
            return 0.0
        if self.joint is None:
            return self.within(failure / len(self.forms)) / self.largest
        (stairs, shifts), sizes = self.joint, self.sizes
        every = enumerate(zip(stairs.steps, shifts, sizes, strict=True))
        return max(
            math.ldexp(float(stairs.within(failure / len(sizes), [i]) * step + bool(shift)), shift)
            / size
            for i, (step, shift, size) in every
        )

    @abstractmethod
    def half_widths(self, answers: Floats | None, off: Any, rows: Any) -> Floats:
        """Return error bars, of answers if these are there, for noisy numbers of rows.

        The noises are at most `off`, in rows.
        """

    def bars(self, answers: NDArray[Any], noisy: list[NDArray[Any]]) -> Floats | None:
        rows = sum(form.astype(float) for form in noisy) / max(self.largest, 1)
        return self.half_widths(answers, self.usual_size, rows)

    def expected(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of a group of so many rows: a bound, if noise is within its size.

        The noisy number of rows is then as small as it can be.
        """
        if rows is None:
            return unknown(confidence, OF_EACH)
        off = self.size(1 - confidence)
        least = np.array([rows - len(self.forms) * off])
        return Expected(confidence, float(self.half_widths(None, off, least)[0]), note=BOUND)

    def charged(self) -> Self:
        if self.joint is None:
            return super().charged()
        assert not isinstance(self.loss, ZCDP)
        epsilon, draws = self.loss.epsilon, self.step.groups
        return replace(self, loss=Pure(epsilon) if draws == 1 else Draws(epsilon, draws=draws))

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        if self.joint is None:
            return super().finish(totals, generator)
        stairs, shifts = self.joint
        drawn = stairs.draws(len(totals), generator)
        noisy = self.noisy(totals, self.joined.factors, drawn, shifts)
        answers, rows = self.of_centered(noisy), noisy[0].astype(float)
        return answers, self.half_widths(answers, self.usual_size, rows)


class GroupMean(Centered):
    """Means of clamped numbers; the middle of the bounds where the noisy number of rows is none."""

    def of_centered(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        rows, middle = (form.astype(float) for form in noisy)
        place = np.full(len(rows), 0.5)
        np.divide(middle, 2.0 * self.cells.span * rows, out=place, where=rows > 0)
        return self.placed(np.where(rows > 0, place + 0.5, 0.5))

    def of_noisy(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        upper, both = noisy[0].astype(float), noisy[0].astype(float) + noisy[1]
        place = np.full(len(both), 0.5)
        np.divide(upper, both, out=place, where=both > 0)
        return self.placed(place)

    def placed(self, place: Floats) -> Floats:
        """Return the numbers at places between the bounds, 0 for the lower and 1 for the upper."""
        grid, (lo, hi) = self.cells, self.bounds
        value = grid.grid * (grid.first + np.clip(place, 0.0, 1.0) * grid.span)
        return np.clip(value, lo, hi)

    def half_widths(self, answers: Floats | None, off: Any, rows: Any) -> Floats:
        lo, hi = self.bounds
        most = hi - lo if answers is None else np.maximum(answers - lo, hi - answers)
        part = np.where(rows > off, off / np.where(rows > off, rows, 1.0), 1.0)
        rounding = 0.0 if self.statistic.matches is not None else self.cells.grid
        wide: Floats = np.minimum(part * (hi - lo) + rounding, most)
        return wide


class GroupVariance(Centered):
    """Variances of clamped numbers, of the rows themselves or with `ddof` less of them."""

    @property
    def ddof(self) -> int:
        """By how much the number of rows is less, at most that of all rows that there can be."""
        assert isinstance(self.statistic, Variance)
        return min(self.statistic.ddof, 1 << ROWS)

    def of_centered(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        rows, middle, squares = (form.astype(float) for form in noisy)
        span = float(self.cells.span)
        first = (rows * span + middle) / 2
        return self.of_moments(rows, first, (first * span - rows * span**2 / 8) + squares / 8)

    def of_noisy(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        if not self.cells.span:
            return np.zeros(len(noisy[0]))
        high, middle, low = (form.astype(float) for form in noisy)
        span = float(self.cells.span)
        rows = (high + middle + low) / span**2
        return self.of_moments(rows, (high + middle / 2) / span, high)

    def of_moments(self, rows: Floats, first: Floats, second: Floats) -> Floats:
        """Return variances from numbers of rows, and sums of cells and of their squares."""
        span, ddof = float(self.cells.span), self.ddof
        enough = rows > max(1, ddof)
        rows = np.where(enough, rows, 2.0)
        grown = rows / np.where(enough, rows - ddof, 1.0)
        variance = (second / rows - (first / rows) ** 2) * grown
        variance = np.where(enough, variance, span**2 / 8)
        variance = np.clip(variance, 0.0, span**2 / 4 * np.where(enough, grown, 1.0))
        return self.squared(variance)

    def half_widths(self, answers: Floats | None, off: Any, rows: Any) -> Floats:
        ddof, span = self.ddof, float(self.cells.span)
        moved = len(self.forms) * off if ddof else 0.0
        least = rows - moved - ddof
        enough = (least > 0) & (rows > max(1, ddof))
        least, many = np.where(enough, least, 1.0), np.where(enough, rows, 1.0 + ddof)
        part = off / many
        wide = ((part + 2.25 * part**2) * many + ddof / 4 * moved / least) / (many - ddof)
        wide = np.where(enough, wide, np.inf)
        # A variance is at most a quarter of span^2, times n / (n - ddof) for n > ddof.
        return self.squared(np.minimum(wide * span**2 + 2 * span, span**2 * (ddof + 1) / 4))

    def squared(self, cells: Floats) -> Floats:
        """Return squares of numbers of cells in units of the answer."""
        return in_units(in_units(cells, self.cells.grid), self.cells.grid)


class GroupStd(GroupVariance):
    """Standard deviations: the roots of variances, which is post-processing."""

    def half_widths(self, answers: Floats | None, off: Any, rows: Any) -> Floats:
        wide = super().half_widths(None, off, rows)
        if answers is None:  # two roots differ by no more than the root of the difference
            return np.sqrt(wide)
        high = np.hypot(answers, np.sqrt(wide))  # the sum of squares may be beyond float64
        low = np.sqrt(np.maximum(answers**2 - wide, 0.0))
        return np.maximum(high - answers, answers - low)

    def of_moments(self, rows: Floats, first: Floats, second: Floats) -> Floats:
        return np.sqrt(super().of_moments(rows, first, second))
