"""Quotients by group, of sums of two columns: features of a row in [0, 1], or in [-1, 1].

A feature is a function of a clamped row alone. It is computed in float64, and then rounded to
cells. All sums of a group get the same noise, for the sensitivity of the vector of these sums.

*Ratios.* The features are x and y, each divided by the largest size that its bounds allow. The two
sums are of numbers between -1 and 1. Their L1 norms add up, and so do their squared L2 norms.

*Covariances.* Let x and y be in [0, 1]. Four features are x y, x (1 - y), (1 - x) y and (1 - x) (1
- y), which add up to 1. Two more are u = x (1 - x) and v = y (1 - y), of at most a quarter each. No
feature is negative, and together they are at most 3/2. The sum of their squares is (1 - 2 u) (1 - 2
v) + u^2 + v^2 <= 1. Rounding to cells adds half a cell to each feature, and so less than two cells
to the L2 norm. Let P_i be the means of the features, and n the sum of the first four sums. Then

    cov(x, y) = P0 P3 - P1 P2,  var(x) = m (1 - m) - P4 with m = P0 + P1,  var(y) alike.

*Error bars of ratios.* Let e and f be the noise of numerator and denominator, and D the noisy
denominator. The error of a ratio r is (e - r f) / D. If densities are log-concave, this is
stochastically no larger than (1 + |r|) e / D (Proschan, Ann. Math. Statist. 1965). Densities of
staircase noise are not log-concave; for noise that both sums have in common see `sums`. So h, the
bound of one noise, may have the whole failure probability. Let y be the error of r. It is at most
(1 + |r| + y) h / D for the noisy r. So y is at most (1 + |r|) h / (D - h).

*Error bars of covariances.* Suppose that no noise e_i exceeds h rows in size. Let R be the noisy
number of rows, E = e0 + e1 + e2 + e3, and d_i = (e_i - P_i E) / R the error of P_i. The error of
the covariance C is P0 d3 + P3 d0 - P1 d2 - P2 d1 + d0 d3 - d1 d2.

* In the linear part of this error, e0 to e3 have the factors P3 - 2 C, -P2 - 2 C, -P1 - 2 C and P0
  - 2 C. If no P_i exceeds 1/2, the sizes of these factors add up to 1. If P_i = p exceeds 1/2, they
  add up to at most 1 + 2 (1 - p) (2 p - 1) <= 5/4.
* The remaining part is at most (6 + 16 (P0 P3 + P1 P2)) h^2 / R^2, and P0 P3 + P1 P2 <= 1/4.

So the error of C is at most 5/4 t + 10 t^2 for t = h / R.

In the linear part of the error of a variance, e0 and e1 have the factor (1 - 2 m) (1 - m) + P4, e2
and e3 have the factor P4 - (1 - 2 m) m, and e4 has the factor -1. Because 0 <= P4 <= m (1 - m), the
sizes of the factors add up to at most 3. The error of m is at most 2 t. So the error of the
variance is at most 3 t + 4 t^2.

*Error bars of correlations*, r = C / sqrt(V V'). They also use that all noises are at most h. Let
c, x and x' be the errors of C, V and V'. Let y = x / V and y' = x' / V', and let q be a bound of
|y| and |y'|. The error of r is (c / sqrt(V V') - r ((y + y') / 2 + D)) / sqrt((1 + y) (1 + y')),
where D is at most q^2 / (1 - q) in size. The linear parts of c, x and x' are given above. So the
linear part of c - r (x sqrt(V' / V) + x' sqrt(V / V')) / 2 is at most t times the sum of the sizes
of six weights. The same holds around the noisy sums.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import CONFIDENCE, ErrorBar, unknown
from .._core.nan_policy import replacement
from .._kernels import groups as _native
from ..measurement.quotient import Quotient
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..summaries.cells import Cells
from ..summaries.units import shifted
from ..tables.batches import MemoryColumn, numbers
from ..tables.sql.store import SqlRows
from .arrays import Floats
from .of_column import Integers, of_numbers
from .sums import OF_EACH, Counted, Sums, SumsOfFeatures, add_each
from .weighted import clamped

#: A feature of 1 has this many cells.
FULL = 1 << 28
#: For the first and the second number of a row: which of the first four features contain it.
INSIDE = ((1, 1, 0, 0), (1, 0, 1, 0))


@dataclass(frozen=True)
class GroupQuotient(SumsOfFeatures, Counted):
    """Base of quotients by group: functions of noisy sums of features of two columns.

    Parameters
    ----------
    statistic : Quotient
    """

    statistic: Quotient

    #: The number of columns; of features; of noises that must all stay within their bounds; and the
    #: lower bound of a feature, in cells.
    width: ClassVar[int] = 2
    features: ClassVar[int]
    together: ClassVar[int]
    least: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.statistic.width != 2:
            checks.fail("bounds", "a pair for each of two columns", self.statistic.bounds)
        checks.text("other", self.statistic.other)

    @property
    def column(self) -> str | None:
        return self.statistic.column

    @property
    def nan(self) -> str | float:
        return nan_policy.of_rows(self.statistic.nan, is_private=True)

    @property
    def cells(self) -> Cells:
        return Cells(1 / FULL, self.least, FULL - self.least)

    @property
    def growing(self) -> int:
        return 0 if self.least else self.features

    @property
    def reading(self) -> tuple[Any, ...]:
        return (type(self), *self.reads, self.statistic.bounds, self.nan)

    @property
    def reads(self) -> tuple[str, ...]:
        return self.column or "", self.statistic.other or ""

    def read(self, columns: Mapping[str, MemoryColumn]) -> list[NDArray[Any]]:
        column_bounds = zip(self.reads, self.statistic.pairs(2), strict=True)
        x, y = (clamped(numbers(columns[name]), pair, self.nan) for name, pair in column_bounds)
        for z, (least, size) in zip((x, y), self.parts, strict=True):
            z -= least
            z /= size
        return self.of_rows(x, y)

    def integers(self, rows: SqlRows) -> Integers:
        x, y = (
            rows.number(rows.names.index(name), pair, replacement(self.nan, *pair), *part)
            for name, pair, part in zip(
                self.reads, self.statistic.pairs(2), self.parts, strict=True
            )
        )
        return of_numbers(rows, self.of_rows(x, y), self.cells, self.nan, self.step.rows)

    gathered = Sums.gathered
    noise_parameters = property(lambda self: {"noise": self.noise.distribution})

    @property
    @abstractmethod
    def parts(self) -> list[tuple[float, float]]:
        """The offset and the size by which each column is scaled: (x - offset) / size."""

    @abstractmethod
    def of_rows(self, x: Any, y: Any) -> list[Any]:
        """Return the features of rows from scaled numbers, in memory or in a database."""

    @abstractmethod
    def inner(self, sums: list[Floats], size: float) -> tuple[Floats, Floats]:
        """Return the inner answers, and bounds on their errors if noise is at most `size`."""

    def room(self, groups: int) -> NDArray[np.uint64]:
        return np.zeros((groups + 1, self.features, 2), np.uint64)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        return add_each(totals, codes, values, self.cells)

    merge = Sums.merge

    def parts_of(
        self, room: NDArray[np.uint64]
    ) -> Iterator[tuple[NDArray[np.uint64], Sequence[int]]]:
        for i in range(self.features):
            yield np.ascontiguousarray(room[:, i]), (1, self.least)

    def finish(
        self, totals: NDArray[Any], generator: Generator
    ) -> tuple[NDArray[Any], Floats | None]:
        noise, kinds = self.noise, (self.features, len(totals))
        sums = np.empty(kinds, np.int64)
        for i, out in enumerate(sums):
            feature_sums = np.ascontiguousarray(totals[:, i])
            if feature_sums.dtype == np.int64:
                out[:] = shifted(feature_sums, noise.shift)
            else:
                _native.combine(feature_sums, 1, self.least, 0, noise.shift, out)
        sums += noise.draw(sums.size, generator).reshape(kinds)
        # Dividing by a power of two rounded down, by half a unit on average.
        noisy = np.ldexp(sums + bool(noise.shift) / 2, noise.shift) / FULL
        parts = self.features if noise.distribution == "staircase" else self.together
        size = noise.half_width((1 - CONFIDENCE) / parts) / FULL
        answer, widths = self.inner(list(noisy), size)
        bars = np.minimum(self.statistic.half_widths(answer, widths), self.bars(noisy, size))
        return self.statistic.value(answer, widths), bars

    def bars(self, sums: Floats, size: float) -> Any:
        """Return bounds on the errors of answers for noise up to `size`; infinity for none."""
        return np.inf

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        return unknown(confidence, OF_EACH)


class GroupRatio(GroupQuotient):
    """Ratios of the sums of two columns, by group."""

    features: ClassVar[int] = 2
    together: ClassVar[int] = 1
    least: ClassVar[int] = -FULL

    largest: ClassVar[int] = FULL

    @property
    def sensitivity(self) -> Sensitivity:
        alone, moved = self.step.numbers(-FULL, FULL), (2 * self.step.moves, self.step.rows * FULL)
        return Sensitivity(2 * alone.l0, 2 * alone.l1, 2 * alone.l2_squared, alone.linf, moved)

    @property
    def sizes(self) -> list[float]:
        """The largest absolute value within the bounds of each column."""
        return [max(abs(lo), abs(hi)) for lo, hi in self.statistic.pairs(2)]

    @property
    def parts(self) -> list[tuple[float, float]]:
        return [(0.0, size or 1.0) for size in self.sizes]

    def of_rows(self, x: Any, y: Any) -> list[Any]:
        return [x, y]

    def inner(self, sums: list[Floats], size: float) -> tuple[Floats, Floats]:
        sizes = np.array(self.sizes)
        return np.stack(sums, axis=-1) * sizes, size * sizes


class GroupCorrelation(GroupQuotient):
    """Correlations by group, from six sums of features to which a row adds at most 3/2 in all."""

    features: ClassVar[int] = 6
    together: ClassVar[int] = 6

    @property
    def largest(self) -> int:
        return 3 * FULL // 2 + self.features

    @property
    def sensitivity(self) -> Sensitivity:
        return self.step.vectors(self.largest, self.features, FULL + 2)

    @property
    def parts(self) -> list[tuple[float, float]]:
        return [(lo, hi - lo or 1.0) for lo, hi in self.statistic.pairs(2)]

    def of_rows(self, x: Any, y: Any) -> list[Any]:
        both = [x * y, x * (1 - y), (1 - x) * y, (1 - x) * (1 - y)]
        # The terms with 0 make both missing if one number is.
        return [*both, x * (1 - x) + 0 * y, y * (1 - y) + 0 * x]

    def inner(self, sums: list[Floats], size: float) -> tuple[Floats, Floats]:
        rows = sum(sums[:4])
        is_there = rows > 0
        whole = np.where(is_there, rows, 1.0)
        both, first, second, neither, *squares = (feature_sum / whole for feature_sum in sums)
        part = size / whole
        means = both + first, both + second
        variances = [m * (1 - m) - q for m, q in zip(means, squares, strict=True)]
        covariance = both * neither - first * second
        answer = np.array([[variances[0], covariance], [covariance, variances[1]]])
        off, square = np.array([[3, 5 / 4], [5 / 4, 3]]), np.array([[4, 10], [10, 4]])
        widths = np.multiply.outer(off, part) + np.multiply.outer(square, part**2)
        answer[:, :, ~is_there] = 0.0
        return np.moveaxis(answer, -1, 0), np.moveaxis(widths, -1, 0)

    def bars(self, sums: Floats, size: float) -> Any:
        rows = np.maximum(sums[:4].sum(axis=0), 1.0)
        (a, b, c, d, *squares), t = sums / rows, size / rows
        means = np.array([a + b, a + c])
        variances, most = means * (1 - means) - squares, 3 * t + 4 * t**2
        is_there = variances.min(axis=0) > most
        first, second = variances = np.where(is_there, variances, 1.0)
        whole, covariance = np.sqrt(first * second), a * d - b * c
        r = np.clip(covariance / whole, -1, 1)
        linear = np.array([d, -c, -b, a]) - 2 * covariance
        shares = r / 2 * np.sqrt([second / first, first / second])
        for share, m, square, inside in zip(shares, means, squares, INSIDE, strict=True):
            linear -= share * (square - (1 - 2 * m) * m + np.multiply.outer(inside, 1 - 2 * m))
        both, q = np.abs(shares).sum(axis=0), np.where(is_there, most / variances.min(axis=0), 0.0)
        off = t * (np.abs(linear).sum(axis=0) + both) + (10 + 4 * both) * t**2
        off = off / whole + np.abs(r) * q**2 / (1 - q)
        return np.where(is_there, off / (1 - q), np.inf)
