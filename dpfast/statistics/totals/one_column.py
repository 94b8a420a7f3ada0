"""Counts, sums, means and variances with noise for their global sensitivity.

Everything is computed on integers: a row is a cell of a public grid, u of 0 .. s
(`summaries.cells`), sums of cells are exact, noise is an exact integer
(`noise.calibrated_integer`), and dividing comes last. So the sensitivities below are those of the
code, not of an ideal that it approximates.

*n is public* (a row is replaced, no `where`). A sum of cells changes by at most s. The sum of all
squared distances of pairs, V = n sum(u^2) - sum(u)^2 = sum_(i<j) (u_i - u_j)^2, changes by at most
(n - 1) s^2, since n - 1 of its terms change, each between 0 and s^2.

*n is private.* A sum of the cells themselves (c = first + u) changes by max |c| when a row comes or
goes. A mean needs the number of rows as well. Instead of that and the sum, each with a share of the
loss, release the pair A = sum(u) and B = sum(s - u): a row adds (u, s - u), whose l1 norm is s and
whose l2 norm is at most s, so noise for s on either costs what noise for s on one number does, and
(A + B) / s is the number of rows. With m = A / (A + B), the mean's place between the bounds, and
noise of variance v in units of s, the error of m is ((1 - m) e_A - m e_B) / n to first order, of
variance v ((1 - m)^2 + m^2) / n^2: between v / 2 and v. For comparison, the sum centered at the
middle with a share 1 - a of epsilon and the count with a share a have

    v (1 / (1 - a)^2 + (2 m - 1)^2 / a^2) / (4 n^2),

which in the worst case, m = 0 or 1, is least for a = 1/2: 2 v / n^2. That is twice the variance of
the pair, for every m. (With Gaussian noise the best split of rho is as good as the pair.)

A variance needs sum(u^2) too: a row adds the three numbers (u^2, 2 u (s - u), (s - u)^2), whose
sum, and so whose l1 norm, is s^2, and whose l2 norm is at most that. Sums of them give n, sum(u)
and sum(u^2) back.

For a large epsilon joint noise for n and centered sums is less than that for these vectors: see
`each_column`, `JointMean` and `JointVariance`.

Under "replace" with `where`, a row may also leave or enter. Two such vectors differ by at most
twice the l1 norm of one and, being nonnegative, by at most the square root of two times its l2
norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..._core.error_bars import ALL, BOUND, NOISE, RARE, ROWS, Expected, grown_error, unknown
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...privacy import ZCDP, Approx, Loss
from ...rng import Generator
from ...sources import Source
from ...summaries.cells import Cells, nearest
from ...summaries.totals import Totals, settled, totals

#: What a row moves, where a distribution is chosen for any number of rows.
FAR = 1 << 30


@dataclass(frozen=True, slots=True)
class Count:
    """Number of rows, or of those that `where` keeps; see `dpfast.count`."""

    neighbors: str
    loss: Loss
    present: bool
    where: NDArray[np.bool_] | None
    rows: int = field(default=1, kw_only=True)

    name: ClassVar[str] = "count"

    @property
    def sensitivity(self) -> int:
        """Return that of a row: 0 where a row is replaced and nothing of it is looked at."""
        return int(self.neighbors == "add-remove" or self.where is not None or self.present)

    def reduce(self, source: Source) -> int:
        if not self.present and source.length is not None:
            if self.where is None:
                return source.length
            if len(self.where) == source.length:
                return int(np.count_nonzero(self.where))
        summary = totals(source, None, self.where)
        return summary.rows + (0 if self.present else summary.missing)

    @property
    def noise(self) -> IntegerNoise:
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * self.sensitivity))

    def finish(self, summary: int, generator: Generator) -> int:
        return self.noise.add([summary], generator)[0]

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar, that of the noise."""
        return Expected(confidence, float(self.noise.within(1 - confidence)), note=NOISE)


class _Nonzero:
    """Counts the numbers that are not 0, as cells of which 0 is the first and all else the last."""

    @staticmethod
    def totals(values: NDArray[Any], squares: bool) -> tuple[int, int, int]:
        """Return how many are NaN, how many others are not 0, and 0."""
        nan = int(np.count_nonzero(values != values)) if values.dtype.kind == "f" else 0
        return nan, int(np.count_nonzero(values)) - nan, 0


class Nonzero:
    """Two cells: 0 and everything else."""

    native = _Nonzero


@dataclass(frozen=True, slots=True)
class CountNonzero(Count):
    """Number of rows that are not 0; see `dpfast.count_nonzero`.

    A row that comes or goes, or is replaced by one of another kind, changes it by 1.
    """

    name: ClassVar[str] = "count of what is not 0"

    @property
    def sensitivity(self) -> int:
        return 1

    def reduce(self, source: Source) -> int:
        return nonzero(totals(source, Nonzero, self.where), self.present)


def nonzero(summary: Totals, present: bool) -> int:
    """Return how many rows are not 0; a missing one is not, unless only those `present` count."""
    return summary.sum + (0 if present else summary.missing)


@dataclass(frozen=True, slots=True)
class OfCells:
    """Base of statistics of one column of cells.

    Neighbors differ in up to `rows` rows that come or go at once, those of a person.
    """

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Loss
    where: NDArray[np.bool_] | None
    cells: Cells
    rows: int = field(default=1, kw_only=True)

    squares: ClassVar[bool] = False

    @property
    def known(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.neighbors == "replace" and self.where is None

    @property
    def vectors(self) -> int:
        """Return by how many rows' vectors neighbors differ; with a public number of rows one
        number changes."""
        return 2 if self.neighbors == "replace" and self.where is not None else 1

    def reduce(self, source: Source) -> Totals:
        summary = totals(source, self.cells, self.where, self.squares)
        return settled(summary, self.nan, self.lo, self.hi, self.cells)

    def noises(self, size: int, several: int) -> IntegerNoise:
        """Return noise for `several` integers: a row adds a vector of L1 norm `size` to them.

        The vectors are not negative, so no coordinate of a difference is larger than `size`.
        """
        size *= self.rows
        l1, l2_squared = self.vectors * size, self.vectors * size**2
        moved = Sensitivity(several, l1, l2_squared, size)
        return integer_noise(self.loss, moved, self._distribution)

    @property
    def _distribution(self) -> str | None:
        """Return the distribution for any number of rows, where what a row moves depends on that.

        What is charged for it, for two rows, must be the price of what is drawn for more.
        """
        if not (self.squares and self.known) or isinstance(self.loss, (Approx, ZCDP)):
            return None
        return integer_noise(self.loss, Sensitivity(1, FAR, FAR**2, FAR)).distribution

    def charged(self) -> Self:
        """Return the mechanism with the loss of its noise.

        That of a variance holds for any number of rows: the more they are, the more cells of a
        grid differ, and the less Laplace noise costs in rho.
        """
        size = self.cells.span ** (2 if self.squares else 1)
        return replace(self, loss=self.noises(size, 1 if self.known else 2).loss)

    def width(self, part: Fraction) -> float:
        """Return a part of the distance of the bounds, at most all of it."""
        return nearest(Fraction(self.cells.grid) * self.cells.span * min(part, Fraction(1)))

    def place(self, m: Fraction) -> float:
        """Return the number at a place between the bounds, 0 for the lower and 1 for the upper."""
        m = min(max(m, Fraction(0)), Fraction(1))
        value = nearest(Fraction(self.cells.grid) * (self.cells.first + m * self.cells.span))
        return min(max(value, self.lo), self.hi)


@dataclass(frozen=True, slots=True)
class Sum(OfCells):
    """The sum of the clamped rows; see `dpfast.sum`."""

    name: ClassVar[str] = "sum"

    @property
    def sensitivity(self) -> int:
        """Return the sensitivity in cells."""
        first, last = self.cells.first, self.cells.last
        if self.known:
            return last - first
        if self.neighbors == "replace":
            return max(last, 0) - min(first, 0)
        return max(abs(first), abs(last))

    def exact(self, summary: Totals) -> int:
        """Return the sum in cells."""
        return summary.sum + summary.rows * self.cells.first

    def answer(self, summary: Totals, noisy: int) -> float:
        if self.known and self.lo == self.hi:
            return nearest(Fraction(self.lo) * summary.rows)
        return nearest(Fraction(self.cells.grid) * noisy)

    @property
    def noise(self) -> IntegerNoise:
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * self.sensitivity))

    def charged(self) -> Self:
        return replace(self, loss=self.noise.loss)

    def finish(self, summary: Totals, generator: Generator) -> float:
        return self.answer(summary, self.noise.add([self.exact(summary)], generator)[0])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar, that of the noise."""
        size = Fraction(self.noise.within(1 - confidence)) * Fraction(self.cells.grid)
        return Expected(confidence, nearest(size), note=NOISE)


@dataclass(frozen=True, slots=True)
class Mean(OfCells):
    """The mean of the clamped rows; see `dpfast.mean`."""

    name: ClassVar[str] = "mean"

    @property
    def noise(self) -> IntegerNoise:
        """Return the noise of a sum of rows."""
        return self.noises(self.cells.span, 1 if self.known else 2)

    def finish(self, summary: Totals, generator: Generator) -> float:
        span, n = self.cells.span, summary.rows
        if not span:
            return self.lo
        if self.known:
            total = self.noise.add([summary.sum], generator)[0]
            return self.place(Fraction(total, n * span) if n else Fraction(1, 2))
        upper, lower = self.noise.add([summary.sum, n * span - summary.sum], generator)
        both = upper + lower
        return self.place(Fraction(upper, both) if both > 0 else Fraction(1, 2))

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar: that of the noise where `n` is public, else a bound.

        With e, f the noises in rows, the error of m is ((1 - m) e - m f) / (n + e + f). A sum of
        symmetric numbers with log-concave densities is likeliest to be large when all its weight is
        on one of them (Proschan, Ann. Math. Statist. 1965), so the numerator is no larger than e.
        The rest of the probability is for a denominator that is smaller than is allowed for.
        """
        span, failure = self.cells.span, 1 - confidence
        if not span:
            return Expected(confidence, 0.0, note=NOISE)
        if rows is None:
            return unknown(confidence, ROWS)
        if self.known:
            deviation = self.noise.within(failure)
            return Expected(confidence, self.width(Fraction(deviation, rows * span)), note=NOISE)
        noise = self.noise
        least = rows - Fraction(2 * noise.within(RARE * failure / 2), span)
        size = Fraction(noise.within((1 - RARE) * failure), span)
        return Expected(confidence, self.width(size / least if least > 0 else ALL), note=BOUND)


@dataclass(frozen=True, slots=True)
class Variance(OfCells):
    """The variance of the clamped rows; see `dpfast.variance`."""

    ddof: int

    name: ClassVar[str] = "variance"
    squares: ClassVar[bool] = True

    def finish(self, summary: Totals, generator: Generator) -> float:
        span, n = self.cells.span, summary.rows
        if not span:
            return 0.0
        if self.known:
            if n <= max(1, self.ddof):
                return 0.0
            noise = self.noises(self.sensitivity(n), 1)
            exact = n * summary.squares - summary.sum**2
            return self.of_pairs(noise.add([exact], generator)[0], n)
        square = span**2
        noise = self.noises(square, 3)
        high = summary.squares
        middle = 2 * (span * summary.sum - summary.squares)
        high, middle, low = noise.add([high, middle, n * square - high - middle], generator)
        rows = Fraction(high + middle + low, square)
        return self.of_moments(rows, (high + Fraction(middle, 2)) / span, Fraction(high))

    def sensitivity(self, n: int) -> int:
        """Return that of the sum of squared distances of pairs, in squares of cells."""
        return (n - 1) * self.cells.span**2

    def of_pairs(self, pairs: int, n: int) -> float:
        """Return the variance of n rows from that sum."""
        return self._within(Fraction(pairs, n * (n - self.ddof)), Fraction(n, n - self.ddof))

    def of_moments(self, rows: Fraction, first: Fraction, second: Fraction) -> float:
        """Return the variance from a number of rows, and sums of cells and of their squares."""
        if rows <= max(1, self.ddof):
            return self._within(Fraction(self.cells.span**2, 8), Fraction(1))
        grown = rows / (rows - self.ddof)
        return self._within((second / rows - (first / rows) ** 2) * grown, grown)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar: that of the noise where `n` is public, else a bound.

        Let e, f, g be the noises in rows, R = n + e + f + g, and m and r the means of u / s and of
        its square. With d = ((1 - m) e + (1/2 - m) f - m g) / R, the error of the mean, that of the
        variance is ((1 - r) e - r f - r g) / R - 2 m d - d^2. Its linear part, over R, has weights
        whose sizes add up to at most 1 for m^2 <= r <= m (they are linear in r, and at its ends
        |1 - 2 m| + 2 m (1 - m) and 1 - m + m^2), so it is no larger than e (see `Mean.error`), and
        those of d add up to at most 3/2.
        """
        span, failure = self.cells.span, 1 - confidence
        if not span:
            return Expected(confidence, 0.0, note=NOISE)
        if rows is None:
            return unknown(confidence, ROWS)
        square = span**2
        if self.known:
            if rows <= max(1, self.ddof):
                return Expected(confidence, 0.0, note=NOISE)
            deviation = self.noises(self.sensitivity(rows), 1).within(failure)
            return Expected(confidence, self.width_of_pairs(Fraction(deviation), rows), note=NOISE)
        noise = self.noises(square, 3)
        rare = Fraction(noise.within(RARE * failure / 3), square)
        size, least = Fraction(noise.within((1 - RARE) * failure), square), rows - 3 * rare
        part = size / least + (Fraction(3, 2) * rare / least) ** 2 if least > 0 else ALL
        return Expected(confidence, self.width_of(part, 3 * rare, rows), note=BOUND)

    def width_of_pairs(self, deviation: Fraction, n: int) -> float:
        """Return the error of a variance whose sum over pairs is off by `deviation`."""
        most = Fraction(self.cells.span**2, 4) * Fraction(n, n - self.ddof)
        part = min(deviation / (n * (n - self.ddof)), most)
        return nearest(part * Fraction(self.cells.grid) ** 2)

    def width_of(self, part: Fraction, deviation: Fraction, n: int) -> float:
        """Return the error of a variance off by a part of s^2, times its factor R / (R - ddof).

        R, the noisy number of rows, is off by at most `deviation`.
        """
        least, grown = n - deviation, Fraction(1)
        if least > max(1, self.ddof):
            part = grown_error(part, deviation, n, least, self.ddof)
            grown = least / (least - self.ddof)
        else:
            part = ALL
        most = Fraction(self.cells.span**2) * grown * min(part, Fraction(1, 4))
        return nearest(most * Fraction(self.cells.grid) ** 2)

    def _within(self, variance: Fraction, grown: Fraction) -> float:
        """Clamp to what a variance can be, and return it in the data's units."""
        variance = min(max(variance, Fraction(0)), Fraction(self.cells.span**2, 4) * grown)
        return nearest(variance * Fraction(self.cells.grid) ** 2)


@dataclass(frozen=True, slots=True)
class Std(Variance):
    """The standard deviation of the clamped rows; see `dpfast.std`."""

    name: ClassVar[str] = "standard deviation"

    def finish(self, summary: Totals, generator: Generator) -> float:
        return math.sqrt(Variance.finish(self, summary, generator))

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar: the root of that of the variance.

        Two roots differ by no more than the root of the difference, and by that much if one is 0.
        """
        expected = Variance.error(self, rows, confidence)
        if expected.half_width is None:
            return expected
        return replace(expected, half_width=math.sqrt(expected.half_width), note=BOUND)
