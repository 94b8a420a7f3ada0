"""Counts, sums, means and variances by group: noisy linear functions of exact integers.

The sums of a group are the number of its rows, the sum of their cells u, and the sum of u^2
(`summaries.cells`, csrc/groups/sums.c). The released numbers are linear functions of these sums.
They get exact integer noise in one draw, for the sensitivity of all groups together (`step`). The
functions are the same as for statistics without groups whose number of rows is private
(`statistics.totals.moments` derives them): the number of rows; the sum of cells; sum(u) and sum(s -
u); sum(u^2), sum(2 u (s - u)) and sum((s - u)^2).

*Error bars.* The error bars of sums and counts are bounds of the noise. The error bar of a mean or
a variance depends on the group. It is computed from the noisy sums only, so it is post-processing.
Let a group have n rows, and let R be their noisy number. Let each noise be at most h in size, in
units of the largest amount that a row adds. With k noises, each exceeds h with a k-th of the
failure probability.

* Mean m, from two sums with the noises e and f. The error (m n + e) / R - m is ((1 - m) e - m f) /
  R. It is stochastically no larger than e / R (`statistics.totals.moments.Mean.bar`), so h may have
  the whole failure probability. Noise that both sums have in common counts 1 - 2 m times in the
  error, and once in e. With joint noise e for the number of rows, and f for the centered sum q n s,
  the error is (f - q e) / (2 R) with |q| <= 1.
* Variance. The linear part of the error, over R, has weights whose sizes add up to at most 1. The
  remaining part is a square, of at most (3 h / (2 R))^2; see
  `statistics.totals.moments.Variance.bar`. With joint noise the linear part is -q (f - q e) / 2 +
  (g - y e) / 8 with 2 q^2 - 1 <= y <= 1. So the sizes of its weights are at most |q| / 2, 1/8 and
  3/8, and the square is (f - q e)^2 / 4 <= h^2. With `ddof` the error of R / (R - ddof) is added,
  times at most 1/4, where R is off by at most k h.
* Standard deviation. The ends of its interval are the roots of the ends for the variance.

Rounding to cells changes these numbers by no more than one cell. The mean of no rows is NaN.

After the noise is added, all arithmetic is in float64, and on the noisy integers only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.attributes import same_as
from .._core.error_bars import BOUND, CLAMPED, CONFIDENCE, NOISE, ErrorBar, symmetric_sum, unknown
from .._kernels import groups as _native
from .._kernels.tables import Key
from ..measurement.choice import choose_noise
from ..measurement.features import Factors
from ..measurement.linear import Column, Linear
from ..measurement.statistic import Statistic
from ..measurement.times import Units, read
from ..noise.box import BoxNoise
from ..noise.calibrated_integer import IntegerNoise
from ..noise.sensitivity import Sensitivity
from ..noise.shared import SharedNoise
from ..privacy import Loss
from ..rng import Generator
from ..statistics.consistent import not_below_0
from ..statistics.totals.count import Count
from ..summaries.cells import Cells, cells, nearest
from ..summaries.sparse import join
from ..summaries.units import by_group, clamped_counts, shifted, words_of
from ..tables.base import Feature
from ..tables.batches import MemoryColumn
from ..tables.bounding import UNBOUNDED
from ..tables.forms import Objects
from ..tables.key_words import KeyWords
from ..tables.sql.store import SqlRows
from ..tables.untyped import is_missing
from .arrays import Arrays, EachWithin, Floats
from .of_column import DatabaseSums, Integers, Kept, OfColumn
from .plan import Plan, moves_alike, plan
from .step import ROW, Step

#: For sums of squares, there are about 2**SQUARES cells.
SQUARES = 24
#: Why the error bar of a group may be unknown before the release.
OF_EACH = "it depends on the rows of each group"


@dataclass(frozen=True, kw_only=True)
class Sums(OfColumn, ABC):
    """Base of mechanisms that release sums by group; equal calls share one object.

    Parameters
    ----------
    step : Step
    loss : Loss
        None until the loss is known.
    units : Units, optional
        How a column of times is read.
    """

    step: Step = ROW
    loss: Loss = None  # type: ignore[assignment]
    units: Units | None = None

    width: ClassVar[int] = 2
    adds_units: ClassVar[bool] = True

    @property
    @abstractmethod
    def column(self) -> str | None:
        """The column whose numbers are summed; None for rows."""

    @property
    @abstractmethod
    def nan(self) -> str | float | None:
        """The policy for missing numbers; None where no policy is needed."""

    @property
    def unit_ends(self) -> tuple[int, int] | None:
        """The least and the largest total of a unit, if totals are clamped; else None."""
        return None

    @property
    def lost_of_row(self) -> float | None:
        """The most by which the answer changes if a row is left out; None if that is unknown."""
        return None

    @abstractmethod
    def calibrated(self) -> Self:
        """Return this mechanism with the loss that its noise is calibrated to."""

    def names(self, name: str) -> list[str]:
        """Return the names that the columns of the answer may have."""
        return [name, f"{name} error"]

    def error(self, failure: float) -> float | None:
        """Return the half-width of the error bar if it is the same for all groups, else None.

        The unit is that of the answer; for times, it is the unit of their column.
        """
        return None

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of a group of `rows` rows, before there is an answer."""
        size = self.error(1 - confidence)
        if size is None:
            return unknown(confidence, OF_EACH)
        note = NOISE if self.unit_ends is None else f"{NOISE}; {CLAMPED}"
        return ErrorBar(confidence, size, note=note)

    def room(self, groups: int) -> NDArray[np.uint64]:
        """Return sums of 0 for each of `groups` groups, and last for rows of no group."""
        return np.zeros((groups + 1, self.width), np.uint64)

    @abstractmethod
    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        """Add rows to the sums of their groups; return how many of the rows are NaN."""

    def merge(self, room: NDArray[Any], more: NDArray[Any]) -> None:
        """Add the sums of other rows, `more`, to the sums in `room`."""
        join(room, more)

    @abstractmethod
    def bound(
        self, room: NDArray[np.uint64], codes: NDArray[np.int32], groups: int
    ) -> NDArray[Any]:
        """Return sums by group of the units' bounded sums; `codes` are the units' groups."""

    def gathered(self, answer: DatabaseSums) -> Any:
        """Return sums from a database in the format of sums in memory."""
        return words_of(answer.by_group())

    def columns(
        self, name: str, room: NDArray[Any], groups: int, kept: Kept, generator: Generator
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer, for all groups, or for the kept groups."""
        return self.answers(name, room[:groups] if kept is None else room[kept], generator)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer, from the exact sums of groups."""
        answers, width = self.finish(totals, generator)
        return {name: answers, **self.error_bar(name, len(totals), width)}

    def error_bar(
        self, name: str, groups: int, width: Floats | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return the column of error bars by name, or no column if none is known."""
        if width is None:
            error = self.error(1 - CONFIDENCE)
            if error is None:
                return {}
            width = np.full(groups, error)
        return {f"{name} error": width}

    @abstractmethod
    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        """Return noisy answers from exact sums of groups, and error bars that differ by group."""


@dataclass(frozen=True, kw_only=True)
class SumsOfFeatures(Sums):
    """Base of noisy sums, each of which combines sums of rows with integer factors."""

    def bound(
        self, room: NDArray[np.uint64], codes: NDArray[np.int32], groups: int
    ) -> NDArray[Any]:
        """Return bounded sums by group, as `Sums.bound` does, in two words for each sum."""
        ends = self.unit_ends
        most = self.step.rows if ends is None else UNBOUNDED
        parts = [
            by_group(part, most, factors, part.shape[1] == 4, codes, groups, ends)
            for part, factors in self.parts_of(room)
        ]
        return np.ascontiguousarray(np.stack(parts, axis=1)).view(np.int64)

    @abstractmethod
    def parts_of(
        self, room: NDArray[np.uint64]
    ) -> Iterator[tuple[NDArray[np.uint64], Sequence[int]]]:
        """Yield for each noisy sum the sums of rows that it combines, and their factors."""


def bars_like(bars: NDArray[Any], width: Any, units: Any) -> Any:
    """Return error bars of a half-width, as durations if `bars` are durations."""
    return units.times.span(np.ceil(width)) if bars.dtype.kind == "m" else width


def add_each(
    totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Sequence[Floats], grid: Cells
) -> int:
    """Add several numbers of each row to sums side by side; return how many rows are NaN."""
    missing, every, kinds = 0, totals.reshape(-1, 2), np.int32(len(values))
    for kind, numbers in enumerate(values):
        slots = np.where(codes < 0, np.int32(-1), kinds * codes + np.int32(kind))
        ends = grid.first, grid.span
        missing = max(missing, _native.add(numbers, slots, 1.0 / grid.grid, *ends, -1, every))
    return missing


def total_within(noise: Any, shift: int, groups: int, failure: float) -> float:
    """Return the half-width of the noise of all groups added up, for a failure probability.

    `noise` is `IntegerNoise` or `SharedNoise`; sums are rounded to ``2**shift``, the unit here.

    *Proof.* The independent noise of G groups adds up to the G-fold convolution of its
    distribution. Noise that all groups share adds up to G times one number, which is independent of
    the others. Either is a weighted sum of independent symmetric integers, and `symmetric_sum`
    bounds its tail. Given all noise, the errors of randomly rounding shared noise are independent
    numbers of mean 0, each within an interval of length 1. Their sum exceeds h with a probability
    of at most 2 exp(-2 h^2 / G) (Hoeffding, JASA 1963), here a 64th of the failure probability.
    Other rounding changes the sum of each group by less than 1.
    """
    unit, rounded, shift = 1, float(groups * bool(shift + noise.shift)), shift + noise.shift
    parts = [(noise, 1, groups)]
    if isinstance(noise, SharedNoise):
        (head, of_group), unit = noise.parts.independent, noise.unit
        parts = [(head, noise.times * groups, 1), (of_group, 1, groups)]
        rounded += min(groups, math.sqrt(groups / 2 * math.log(128 / failure)))
        failure *= 63 / 64
    waves = [(z.waves, np.array([float(size)]), np.array([many])) for z, size, many in parts]
    deviation = math.hypot(*(size * math.sqrt(many) * z.deviation for z, size, many in parts))
    most = symmetric_sum(waves, max(math.ldexp(deviation, -noise.shift), parts[0][1]), failure)
    return math.ldexp(math.floor(most) / unit + rounded, shift)


class Counted(Sums):
    """Numbers of rows by group, and the base of mechanisms whose sums all get the same noise."""

    nan: ClassVar[Any] = None
    width: ClassVar[int] = 1

    @property
    def column(self) -> str | None:
        return None

    @property
    def cells(self) -> Cells:
        """The grid of the numbers that are added up."""
        return Cells(1.0, 1, 0)

    @property
    def largest(self) -> int:
        """The largest amount that a row adds to a sum, or a unit whose total is clamped."""
        return 1 if self.unit_ends is None else self.unit_ends[1]

    @property
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of all sums of all groups together."""
        return self.step.numbers(*(self.unit_ends or (0, 1)))

    @property
    def growing(self) -> int:
        """The number of sums of a group; 0 if a row may decrease a sum."""
        return 1

    @cached_property
    def _noise(self) -> tuple[int, IntegerNoise | SharedNoise]:
        moves, shift = moves_alike(self.step, self.sensitivity, self.largest, self.growing)
        return shift, choose_noise(self.loss, moves).noise()

    @property
    def shift(self) -> int:
        """The log2 of the unit in which sums get noise."""
        return self._noise[0]

    @property
    def noise(self) -> IntegerNoise | SharedNoise:
        """The noise of each sum, in units of ``2**shift``."""
        return self._noise[1]

    @property
    def noise_parameters(self) -> dict[str, Any]:
        width = math.ldexp(self.noise.deviation, self.shift) * self.cells.grid
        return {"noise": self.noise.distribution, "deviation": width}

    def calibrated(self) -> Self:
        return replace(self, loss=self.noise.loss)

    def error(self, failure: float) -> float | None:
        size = (self.noise.half_width(failure) + bool(self.shift)) << self.shift
        return nearest(Fraction(size) * Fraction(self.cells.grid))

    def total_error(self, groups: int, failure: float) -> float:
        """Return the half-width of the error of a sum over groups, for a failure probability."""
        return total_within(self.noise, self.shift, groups, failure) * self.cells.grid

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        _native.count(codes, totals.reshape(-1))
        return 0

    def counted(self, rows: SqlRows) -> Any:
        """Return an integer for each row of a database, missing if the row does not count."""
        return rows.present()

    def integers(self, rows: SqlRows) -> Integers:
        row = 0 * self.counted(rows)
        return Integers([Feature(row, 0, 1, self.step.rows, self.unit_ends)])

    def gathered(self, answer: DatabaseSums) -> Any:
        return answer.by_group().astype(np.uint64)

    def bound(
        self, room: NDArray[np.uint64], codes: NDArray[np.int32], groups: int
    ) -> NDArray[Any]:
        counts, is_kept = np.zeros((groups + 1, 1), np.uint64), codes >= 0
        np.add.at(counts[:, 0], codes[is_kept], self.clamped(room[is_kept, 0]))
        return counts

    def clamped(self, counts: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the number of rows that each unit counts as, from its number of rows."""
        return clamped_counts(counts, self.step.rows, self.unit_ends)

    def merge(self, room: NDArray[Any], more: NDArray[Any]) -> None:
        groups = min(len(room), len(more)) - 1
        room[:groups] += more[:groups]

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        noise = self.noise
        drawn = noise.draw(len(totals), generator)
        rows = totals.reshape(-1).view(np.int64)
        counts: NDArray[np.int64] = ((rows >> noise.shift) + drawn) << noise.shift
        return counts, None


@dataclass(frozen=True)
class OfCount(Counted):
    """Numbers of rows by group: of all rows, or of rows that are not 0, not missing, or missing."""

    statistic: Count

    def __post_init__(self) -> None:
        if self.statistic.looks and self.column is None:
            checks.fail("column", "given for a statistic by group", None)

    @property
    def column(self) -> str | None:
        return self.statistic.column if self.statistic.looks else None

    unit_ends = same_as("statistic.unit_limits")

    @property
    def lost_of_row(self) -> float | None:
        return 1.0 if self.unit_ends is None else None

    nan = same_as("statistic.nan")

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return not self.statistic.nonnegative

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        if values is not None:
            codes = np.where(self.statistic.counted(values), codes, np.int32(-1))
        return super().add(totals, codes, values)

    def counted(self, rows: SqlRows) -> Any:
        index = rows.names.index(self.column) if self.column else 0
        return self.statistic.of_rows(rows, index)

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        counts, bars = super().finish(totals, generator)
        return not_below_0(counts) if self.statistic.nonnegative else counts, bars


class CountOfText(OfCount):
    """Numbers of rows by group with a text, a time or a Python object, or without one."""

    is_text: ClassVar[bool] = True
    adds_numbers: ClassVar[bool] = False

    @property
    def reading(self) -> tuple[Any, ...]:
        return (self.column, "text")

    def counted(self, rows: SqlRows) -> Any:
        there = rows.there(self.column or "")
        return rows.counted(1 - there if self.nan == "only" else there)

    def read(self, columns: Mapping[str, MemoryColumn]) -> Any:
        """Return 0 for each row with a value, and NaN for each row without one."""
        column = columns[self.column or ""]
        if isinstance(column, Objects):
            return np.array([math.nan if is_missing(row, True) else 0.0 for row in column.rows])
        return np.where(KeyWords(Key(bytes(32))).of(column).presence(), 0.0, math.nan)


@dataclass(frozen=True)
class OfPeople(Counted):
    """The number of people in each group: one row of each person counts in a group."""

    statistic: Statistic[int]

    adds_up: ClassVar[bool] = True


@dataclass(frozen=True)
class OfLinear(SumsOfFeatures):
    """The mechanism that releases a linear statistic of each group.

    Features, sensitivity, answer and error bar are the same as without groups, for a private number
    of rows. They are computed for arrays of all groups at once.

    Parameters
    ----------
    statistic : Linear
        The numbers of a column, with one pair of bounds.
    """

    statistic: Linear

    def __post_init__(self) -> None:
        _ = self.axis  # raises if the bounds are wrong

    @cached_property
    def column(self) -> str | None:
        return self.statistic.column

    @cached_property
    def nan(self) -> str | float:
        return nan_policy.of_rows(self.statistic.nan, is_private=True)

    @cached_property
    def width(self) -> int:  # type: ignore[override]
        return 4 if self.statistic.squares else 2

    @cached_property
    def axis(self) -> Column:
        """The bounds and the cells of the column."""
        lo, hi = checks.bounds(self.statistic.bounds)
        grid = cells(lo, hi, SQUARES) if self.statistic.squares else cells(lo, hi)
        if self.statistic.unit_limits is not None:
            grid = self.statistic.grid(lo, hi, False)
        matches = self.statistic.matches
        if matches is not None and self.step.of_units:
            matches = matches.finer  # a finer grid, which can hold fractions of a row
        return Column(lo, hi, matches or grid)

    @cached_property
    def is_text(self) -> bool:  # type: ignore[override]
        matches = self.statistic.matches
        return matches is not None and matches.words is not None

    @property
    def reading(self) -> tuple[Any, ...]:
        return (*super().reading, self.statistic.matches)

    def read(self, columns: Mapping[str, MemoryColumn]) -> Any:
        column, matches = columns[self.column or ""], self.statistic.matches
        if matches is None:
            return read(column, self.units)
        return matches.of(column, f"column {self.column!r}")

    @cached_property
    def arrays(self) -> Arrays:
        """The bounds and cells of the column, with arithmetic on arrays of all groups."""
        is_rounded = self.statistic.matches is None
        return Arrays(self.axis.lo, self.axis.hi, self.axis.cells, is_rounded=is_rounded)

    #: The bounds and the grid of the numbers that are summed.
    sums = same_as("axis")

    cells = same_as("sums.cells")

    @property
    def unit_ends(self) -> tuple[int, int] | None:
        return self.statistic.unit_ends(self.sums)

    @property
    def lost_of_row(self) -> float | None:
        if self.statistic.needs_rows or self.unit_ends is not None:
            return None
        weights = self.statistic.limits or (1.0,)
        return max(abs(x * w) for x in (self.axis.lo, self.axis.hi) for w in weights)

    @cached_property
    def plan(self) -> Plan:
        """The released sums of the statistic, and their noise."""
        return plan(self.statistic, self.sums, self.step, self.loss)

    def calibrated(self) -> Self:
        return replace(self, loss=self.plan.noise.loss)

    @property
    def noise_parameters(self) -> dict[str, Any]:
        plan, noise = self.plan, self.plan.noise
        if self.statistic.squares or isinstance(noise, BoxNoise):
            # Sums have different units, so no single deviation is stated.
            return {"noise": noise.distribution}
        width = math.ldexp(noise.deviation, plan.shifts[0] - noise.shift)
        return {"noise": noise.distribution, "deviation": width * float(self.sums.product)}

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        grid = self.cells
        ends = (grid.first, grid.span)
        return _native.add(values, codes, 1.0 / grid.grid, *ends, self.nan_cell, totals)

    @cached_property
    def nan_cell(self) -> int:
        """The cell that replaces missing numbers; -1 if no cell does."""
        value = nan_policy.replacement(self.nan, self.axis.lo, self.axis.hi)
        return -1 if isinstance(value, str) else self.cells.cell(value)

    @cached_property
    def factors(self) -> list[Factors]:
        """The factors by which each noisy sum combines sums of rows."""
        return self.plan.linear.factors

    def parts_of(
        self, room: NDArray[np.uint64]
    ) -> Iterator[tuple[NDArray[np.uint64], Sequence[int]]]:
        for kind, (a, b, c) in enumerate(self.factors):
            part = self.of_kind(room, kind)
            yield part, (a, c, b) if part.shape[1] == 4 else (a, b)

    def exact(self, totals: NDArray[Any]) -> NDArray[np.int64]:
        """Return the exact sums that get noise, in the units of the noise."""
        if totals.dtype == np.int64:
            shifts = enumerate(self.plan.shifts)
            return np.stack([shifted(totals[:, kind], shift) for kind, shift in shifts])
        exact = np.empty((len(self.plan.shifts), len(totals)), np.int64)
        released = zip(self.factors, self.plan.shifts, exact, strict=True)
        for kind, ((a, b, c), shift, out) in enumerate(released):
            _native.combine(self.of_kind(totals, kind), a, b, c, shift, out)
        return exact

    def cell_of(self, rows: SqlRows) -> Any:
        """Return the cell of each row of a database."""
        return self.cells.of_row(rows, rows.names.index(self.column or ""))

    def integers(self, rows: SqlRows) -> Integers:
        u = self.cell_of(rows)
        missing = rows.counted(1 - rows.present(u)) if self.nan == "raise" else None
        if self.nan_cell >= 0:
            u = rows.filled(u, self.nan_cell)
        features = self.statistic.added(u, self.sums, self.plan.linear, self.step.rows)
        return Integers(features, missing=missing)

    def of_kind(self, totals: NDArray[np.uint64], kind: int) -> NDArray[np.uint64]:
        """Return the sums of rows that the noisy sum `kind` combines."""
        return totals

    def finish(
        self, totals: NDArray[np.uint64], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        plan, groups = self.plan, len(totals)
        noisy = self.exact(totals) + plan.draw(groups, generator)
        # Dividing by a power of two rounded down, by half a unit on average.
        sums = [
            np.ldexp(row + 0.5, shift) if shift else row.astype(float)
            for row, shift in zip(noisy, plan.shifts, strict=True)
        ]
        answers = np.zeros(groups) + self.statistic.answer(self.arrays, plan.linear, sums, None)
        if not self.axis.span or not self.statistic.needs_rows:
            return answers, np.full(groups, self.bar(0, 1 - CONFIDENCE))
        usual = self.usual_sizes
        noise = EachWithin(usual.plan, usual.sizes, usual.single, answers)
        moments = plan.linear.moments(sums, None)
        rows = moments.rows / moments.whole
        return answers, self.statistic.bar(self.arrays, noise, rows, False)

    @cached_property
    def usual_sizes(self) -> EachWithin:
        """The half-widths of the noise, for the confidence of error bars."""
        return EachWithin.of_plan(self.plan, 1 - CONFIDENCE)

    def bar(self, rows: int, failure: float) -> float:
        """Return the half-width of the error bar of a group of `rows` rows, before an answer."""
        noise = EachWithin.of_plan(self.plan, failure)
        return float(self.statistic.bar(self.arrays, noise, float(rows), False))

    def error(self, failure: float) -> float | None:
        return None if self.statistic.needs_rows else self.bar(0, failure)

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return not self.statistic.needs_rows

    def total_error(self, groups: int, failure: float) -> float:
        """Return the half-width of the error of a sum over groups, for a failure probability."""
        # Only for statistics with a single sum, so the noise is not joint.
        noise: Any = self.plan.noise
        (shift,) = self.plan.shifts
        size = total_within(noise, shift - noise.shift, groups, failure)
        width = self.statistic.bar(self.arrays, EachWithin(self.plan, (size,), size), 0.0, False)
        # Each answer is rounded to whole units.
        return float(width) if self.units is None else width + groups / 2

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        if not self.statistic.needs_rows:
            return super().expected(rows, confidence)
        if rows is None:
            return unknown(confidence, OF_EACH)
        return ErrorBar(confidence, self.bar(rows, 1 - confidence), note=BOUND)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        columns = super().answers(name, totals, generator)
        if self.units is None:
            return columns
        answers, times = np.asarray(self.units.back(columns.pop(name))), self.units.times
        # Answers in whole units are rounded, by up to half a unit.
        half = 0.0 if self.units.answer == "total" else 0.5
        return {name: answers} | {
            key: times.span(np.ceil(bars + half)) for key, bars in columns.items()
        }
