"""Counts, sums, means and variances of each column of a table, for one loss.

A row is a record, and may change in all its columns at once: with d columns, each of which asks for
the integers that `one_column` speaks of, all those integers are one vector, and `noise.box` says
what noise it needs, in proportion to what a row can do to each.

*n is public*: d sums of cells, each changed by at most its span s; or d sums of squared distances
of pairs, each changed by (n - 1) s^2.

*n is private*: a sum of cells changes by max |c|. For means, with w = 2 u - s, of -s .. s, the sums
of w and the number of rows; a row changes them by s and by 1. m = (1 + sum(w) / (n s)) / 2 is the
mean's place between the bounds. Here d columns share one number of rows, so this is d + 1 numbers
and not d pairs. For variances the sums of 2 w^2 - s^2 besides, changed by s^2: centered, for that
is half of what 2 w^2 by itself would ask for. Each column has its own number of rows if its missing
numbers are dropped.

Under "replace" with `where`, a row may also leave or enter. That changes the number of rows by 1,
as before, and everything else by at most twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._core.error_bars import ALL, BOUND, NOISE, ROWS, Expected, unknown
from ...noise.box import BoxNoise, box_noise, count_shares
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...privacy import Loss
from ...rng import Generator
from ...sources import Source
from ...sources.base import RowSource
from ...sources.intake import Apart
from ...summaries.cells import nearest
from ...summaries.totals import Totals, column_totals, settled
from .one_column import Mean, Nonzero, OfCells, Std, Sum, Variance, nonzero

Data = Apart | RowSource
Own = TypeVar("Own", bound=OfCells)


@dataclass(frozen=True, slots=True)
class EachCount:
    """Number of rows, or of those that have a number, in each column; see `dpfast.count`."""

    neighbors: str
    loss: Loss
    present: bool
    where: NDArray[np.bool_] | None
    width: int
    rows: int = field(default=1, kw_only=True)

    name: ClassVar[str] = "count of each column"

    @property
    def apart(self) -> bool:
        """Tell whether columns have counts of their own: without a look at numbers they do not."""
        return self.present

    def reduce(self, source: Data) -> list[int]:
        if not self.present and self.where is None and source.length is not None:
            return [source.length]
        summaries = column_totals(source, [None] * self.width, self.where)
        if self.present:
            return [summary.rows for summary in summaries]
        return [summaries[0].rows + summaries[0].missing]

    @property
    def noise(self) -> BoxNoise | IntegerNoise:
        """Return the noise of all counts, or of the one that there is."""
        if self.apart:
            return box_noise(self.loss, [self.rows] * self.width)
        private = int(self.neighbors == "add-remove" or self.where is not None)
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * private))

    @property
    def deviations(self) -> float | list[float]:
        """Return the standard deviation of the noise of each count."""
        noise = self.noise
        return noise.deviations if isinstance(noise, BoxNoise) else noise.deviation

    def charged(self) -> Self:
        """Return the mechanism with the loss that it is charged for; see `_Each.charged`."""
        counts = self.width if self.apart else 1
        return replace(self, loss=box_noise(self.loss, [self.rows] * counts).loss)

    def finish(self, summary: list[int], generator: Generator) -> NDArray[np.int64]:
        noisy = self.noise.add(summary, generator)
        return np.array(noisy if self.apart else noisy * self.width, np.int64)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, that of the noise."""
        noise = self.noise
        size = noise.within(1 - confidence) * (self.rows if isinstance(noise, BoxNoise) else 1)
        return Expected(confidence, float(math.ceil(size)), note=NOISE)


@dataclass(frozen=True, slots=True)
class EachCountNonzero(EachCount):
    """Number of rows that are not 0 in each column; see `dpfast.count_nonzero`."""

    name: ClassVar[str] = "count of what is not 0 in each column"

    @property
    def apart(self) -> bool:
        return True

    def reduce(self, source: Data) -> list[int]:
        summaries = column_totals(source, [Nonzero] * self.width, self.where)
        return [nonzero(summary, self.present) for summary in summaries]


@dataclass(frozen=True, slots=True)
class _Each(Generic[Own]):
    """Base of statistics of cells; `columns` are the mechanisms of each column alone."""

    columns: tuple[Own, ...]

    of_pairs_of_rows: ClassVar[bool] = False  #: where `n` is public

    @property
    def loss(self) -> Loss:
        return self.columns[0].loss

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def where(self) -> NDArray[np.bool_] | None:
        return self.columns[0].where

    @property
    def known(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.columns[0].known

    @property
    def rows(self) -> int:
        """Return how many rows come or go at once."""
        return self.columns[0].rows

    @property
    def times(self) -> int:
        """Return how many times what a row moves neighbors differ by, but for numbers of rows."""
        return self.columns[0].vectors * self.rows

    @property
    def spans(self) -> list[int]:
        return [column.cells.span for column in self.columns]

    @property
    def sensitivities(self) -> list[int]:
        """Return those of the integers beside the numbers of rows."""
        return self.spans

    @property
    def noise(self) -> BoxNoise:
        """Return the noise of all that is released."""
        if self.known:
            return box_noise(self.loss, self.sensitivities)
        each = [self.rows] * self.counts + [self.times * size for size in self.sensitivities]
        return box_noise(self.loss, each, count_shares(self.counts, len(self.sensitivities)))

    @property
    def deviations(self) -> list[float] | None:
        """Return the standard deviation of the noise of each sum of rows, in units of the data.

        None where it depends on the number of rows. Noise of numbers of rows comes first; sums
        beside it are centered, and of half cells.
        """
        if self.known and self.of_pairs_of_rows:
            return None
        each = self.noise.deviations
        first = len(each) - len(self.sensitivities)
        grids = [column.cells.grid / (2 if first else 1) for column in self.columns]
        return [one * grid for one, grid in zip(each[first:], grids, strict=False)]

    def charged(self) -> Self:
        """Return the mechanism with the loss that it is charged for.

        That is no delta where noise without it is smaller: a matter of the loss and of how many
        numbers there are, not of their sensitivities. That of a single one says what its Laplace
        noise costs.
        """
        loss = self.noise.loss
        return replace(self, columns=tuple(replace(column, loss=loss) for column in self.columns))

    def reduce(self, source: Data) -> list[Totals]:
        first = self.columns[0]
        cells = [column.cells for column in self.columns]
        summaries = column_totals(source, cells, self.where, first.squares)
        return [
            settled(summary, column.nan, column.lo, column.hi, column.cells)
            for summary, column in zip(summaries, self.columns, strict=True)
        ]

    @property
    def counts(self) -> int:
        """Return how many numbers of rows are released."""
        return len(self.columns) if self.columns[0].nan == "drop" else 1

    def with_rows(
        self, values: Sequence[int], rows: Sequence[int], generator: Generator
    ) -> tuple[list[int], list[int]]:
        """Add noise to the numbers of rows and to other integers, together.

        Return a number of rows for each column, and the other integers.
        """
        noisy = self.noise.add([*rows[: self.counts], *values], generator)
        counts = noisy[: self.counts]
        return counts * (len(self.columns) // self.counts), noisy[self.counts :]

    def sizes(self, failure: float) -> tuple[Fraction, list[list[Fraction]]]:
        """Bound the noise of the number of rows and of the other integers, all at once.

        In units of a row. The number of rows and the kinds of other integers that one answer is
        made of share the failure probability equally.
        """
        noise, width, many = self.noise, len(self.columns), len(self.sensitivities)
        part = failure / (many // width + 1)
        each = [self.times * noise.within(part, 1, self.counts + i) for i in range(many)]
        return self.rows * noise.within(part, 1, 0), [
            each[i : i + width] for i in range(0, many, width)
        ]


def _array(answers: Sequence[float]) -> NDArray[np.float64]:
    return np.array(answers, np.float64)


@dataclass(frozen=True, slots=True)
class EachSum(_Each[Sum]):
    """The sum of each column; see `dpfast.sum`."""

    name: ClassVar[str] = "sum of each column"

    @property
    def sensitivities(self) -> list[int]:
        return [column.sensitivity for column in self.columns]

    @property
    def noise(self) -> BoxNoise:
        return box_noise(self.loss, [self.rows * size for size in self.sensitivities])

    def finish(self, summary: list[Totals], generator: Generator) -> NDArray[np.float64]:
        exact = [column.exact(totals) for column, totals in zip(self.columns, summary, strict=True)]
        noisy = self.noise.add(exact, generator)
        each = zip(self.columns, summary, noisy, strict=True)
        return _array([column.answer(totals, value) for column, totals, value in each])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, that of the noise."""
        part = self.rows * self.noise.within(1 - confidence)
        width = [
            nearest(part * column.sensitivity * Fraction(column.cells.grid))
            for column in self.columns
        ]
        return Expected(confidence, width, note=NOISE)


@dataclass(frozen=True, slots=True)
class EachMean(_Each[Mean]):
    """The mean of each column; see `dpfast.mean`."""

    name: ClassVar[str] = "mean of each column"

    def finish(self, summary: list[Totals], generator: Generator) -> NDArray[np.float64]:
        spans, rows, half = self.spans, [totals.rows for totals in summary], Fraction(1, 2)
        if self.known:
            noisy = self.noise.add([totals.sum for totals in summary], generator)
            places = [
                Fraction(total, n * span) if n and span else half
                for total, n, span in zip(noisy, rows, spans, strict=True)
            ]
        elif not any(spans):
            places = [half] * len(spans)
        else:
            centered = [
                2 * totals.sum - totals.rows * s for totals, s in zip(summary, spans, strict=True)
            ]
            rows, centered = self.with_rows(centered, rows, generator)
            places = [
                (1 + Fraction(w, n * span)) / 2 if n > 0 and span else half
                for w, n, span in zip(centered, rows, spans, strict=True)
            ]
        each = zip(self.columns, places, strict=True)
        return _array([column.place(m) if column.cells.span else column.lo for column, m in each])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each: that of the noise where `n` is public, else a bound.

        With e the noise of the number of rows and f that of sum(w) / s, the error of m is (f - a e)
        / (2 (n + e)), for a mean of w / s, which is between -1 and 1.
        """
        failure = 1 - confidence
        if rows is None:
            return unknown(confidence, ROWS)
        if self.known:
            part = self.noise.within(failure) / max(1, rows)
            parts = [part] * len(self.columns)
        else:
            e, (f,) = self.sizes(failure)
            parts = [(column + e) / (2 * (rows - e)) if rows > e else ALL for column in f]
        width = [column.width(part) for column, part in zip(self.columns, parts, strict=True)]
        return Expected(confidence, width, note=NOISE if self.known else BOUND)


@dataclass(frozen=True, slots=True)
class EachVariance(_Each[Variance]):
    """The variance of each column; see `dpfast.variance`."""

    name: ClassVar[str] = "variance of each column"
    of_pairs_of_rows: ClassVar[bool] = True

    @property
    def sensitivities(self) -> list[int]:
        """Return those of the sums, where `n` is private, and of the squares."""
        squares = [span**2 for span in self.spans]
        return squares if self.known else self.spans + squares

    def of_pairs(self, n: int) -> BoxNoise:
        """Return the noise of the sums of squared distances of pairs of n rows."""
        return box_noise(self.loss, [(n - 1) * square for square in self.sensitivities])

    def finish(self, summary: list[Totals], generator: Generator) -> NDArray[np.float64]:
        spans, rows = self.spans, [totals.rows for totals in summary]
        if not any(spans):
            return np.zeros(len(spans))
        if self.known:
            if rows[0] <= max(1, self.columns[0].ddof):
                return np.zeros(len(spans))
            exact = [totals.rows * totals.squares - totals.sum**2 for totals in summary]
            noisy = self.of_pairs(rows[0]).add(exact, generator)
            each = zip(self.columns, noisy, rows, strict=True)
            return _array([column.of_pairs(pairs, n) for column, pairs, n in each])
        both = list(zip(summary, spans, strict=True))
        centered = [2 * totals.sum - totals.rows * s for totals, s in both]
        squares = [
            8 * (totals.squares - s * totals.sum) + totals.rows * s**2 for totals, s in both
        ]  # 2 w^2 - s^2, of w = 2 u - s
        rows, noisy = self.with_rows([*centered, *squares], rows, generator)
        answers = []
        for j, (column, n, span) in enumerate(zip(self.columns, rows, spans, strict=True)):
            w, q = noisy[j], noisy[len(spans) + j]
            first, second = n * span + w, q + 4 * span * w + 3 * n * span**2  # 2 u, and 8 u^2
            answers.append(column.of_moments(Fraction(n), Fraction(first, 2), Fraction(second, 8)))
        return _array(answers)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each: that of the noise where `n` is public, else a bound.

        As for a variance in `Covariance.error`, with e, f, g the noises of the number of rows, of
        sum(w) / s and of the sum of squares: 4 / s^2 times the variance is off by at most (|g| / 2
        + 2 |f| + 3/2 |e|) / R + ((|f| + |e|) / R)^2.
        """
        failure = 1 - confidence
        if rows is None:
            return unknown(confidence, ROWS)
        if self.known:
            if rows <= max(1, self.columns[0].ddof):
                return Expected(confidence, [0.0] * len(self.columns), note=NOISE)
            part = self.of_pairs(rows).within(failure)
            known = [
                column.width_of_pairs(part * column.sensitivity(rows), rows)
                for column in self.columns
            ]
            return Expected(confidence, known, note=NOISE)
        e, (firsts, seconds) = self.sizes(failure)
        width = []
        for column, f, g in zip(self.columns, firsts, seconds, strict=True):
            least, part = rows - e, ALL
            if least > 0:
                part = ((g / 2 + 2 * f + 3 * e / 2) / least + ((f + e) / least) ** 2) / 4
            width.append(column.width_of(part, e, rows))
        return Expected(confidence, width, note=BOUND)


@dataclass(frozen=True, slots=True)
class EachStd(EachVariance):
    """The standard deviation of each column; see `dpfast.std`."""

    name: ClassVar[str] = "standard deviation of each column"

    def finish(self, summary: list[Totals], generator: Generator) -> NDArray[np.float64]:
        return np.sqrt(EachVariance.finish(self, summary, generator))

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, as for one column."""
        expected = EachVariance.error(self, rows, confidence)
        if expected.half_width is None:
            return expected
        widths = [math.sqrt(width) for width in expected.half_width]
        return replace(expected, half_width=widths, note=BOUND)


@dataclass(frozen=True, slots=True)
class _Alone(Generic[Own]):
    """A statistic of one column with a private n, by the noise of that of each column.

    For a large epsilon the joint noise of the number of rows and of centered sums is less than that
    of the sums of `one_column`.
    """

    columns: tuple[Own]

    name: ClassVar[str]
    several: ClassVar[type[Any]]

    @classmethod
    def better(cls, column: Own) -> Self | None:
        """Return the mechanism with the loss of its noise, or None where that is not less."""
        noise = cls((column,)).each.noise
        if column.known or noise.distribution != "stairs":
            return None
        return cls((replace(column, loss=noise.loss),))

    @property
    def each(self) -> Any:
        return self.several(self.columns)

    @property
    def loss(self) -> Loss:
        return self.columns[0].loss

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def where(self) -> NDArray[np.bool_] | None:
        return self.columns[0].where

    @property
    def noise(self) -> BoxNoise:
        """Return the joint noise."""
        noise: BoxNoise = self.each.noise
        return noise

    @property
    def deviations(self) -> float | None:
        """Return the standard deviation of the noise of the sum of rows."""
        found = self.each.deviations
        return found and float(found[0])

    def reduce(self, source: Source) -> Totals:
        return self.columns[0].reduce(source)

    def finish(self, summary: Totals, generator: Generator) -> float:
        return float(self.each.finish([summary], generator)[0])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar, a bound."""
        found: Expected = self.each.error(rows, confidence)
        return found if found.half_width is None else replace(found, half_width=found.half_width[0])


@dataclass(frozen=True, slots=True)
class JointMean(_Alone[Mean]):
    """The mean of a column, with joint noise; see `dpfast.mean`."""

    name: ClassVar[str] = "mean"
    several: ClassVar[type[Any]] = EachMean


@dataclass(frozen=True, slots=True)
class JointVariance(_Alone[Variance]):
    """The variance of a column, with joint noise; see `dpfast.variance`."""

    name: ClassVar[str] = "variance"
    several: ClassVar[type[Any]] = EachVariance


@dataclass(frozen=True, slots=True)
class JointStd(_Alone[Std]):
    """The standard deviation of a column, with joint noise; see `dpfast.std`."""

    name: ClassVar[str] = "standard deviation"
    several: ClassVar[type[Any]] = EachStd
