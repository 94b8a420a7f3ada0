"""Private sums, means and variances: the features of a row, the answers and their error bars.

A row is a cell u of 0 .. s, where s is the span of the column. Each statistic can be computed from
two different sets of noisy sums.

*Sums.* A row adds its cell, c = first + u, between lo and hi. A row without a number adds 0, so the
range from lo to hi must contain 0 if such rows are possible. Noise is added either to the sum of c,
or to the number n of all rows and to A = sum(2 c - lo - hi). In the second case the sum is (A + (lo
+ hi) n) / 2.

*Means.* Noise is added either to the pair of the sums of u and of s - u, to which a row adds s in
total, or to the number of rows and the sum of w = 2 u - s. Let m be the mean of u / s. If both sums
of the pair have noise of variance v, in units of s^2, the error of m is ((1 - m) e - m f) / n to
first order. Its variance is v ((1 - m)^2 + m^2) / n^2, which is between v / 2 and v, times 1 / n^2.
The sum of w and the number of rows, with a share a of epsilon for the number, give the variance

    v (1 / (1 - a)^2 + (2 m - 1)^2 / a^2) / (4 n^2).

In the worst case over m this is least for a = 1/2. It is then twice the variance that the pair
gives, for every m.

*Variances.* Noise is added either to the sums of u^2, 2 u (s - u) and (s - u)^2, to which a row
adds s^2 in total, or to the number of rows and the sums of w and of 2 w^2 - s^2. The last is
centered, because it then needs half of the noise of w^2.

Let the noise of each sum be in units of the most that a row adds to it. In the squared error, each
sum of the second set has a weight of about .1, where each sum of the first set has .33. If the mean
of the rows is a quarter of the way between the bounds, the weights of the second set are .02, .06
and .02. For rows at a bound they are up to .14, .25 and .02.

If n is public, noise is added to the sum of squared distances of all pairs of rows, n sum(u^2) -
sum(u)^2 = sum_(i<j) (u_i - u_j)^2. A row is in n - 1 of these terms, each of which is between 0 and
s^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from ..._core import checks
from ..._core.error_bars import RARE, grown_error
from ..._core.types import Auto, Bounds
from ...measurement.features import Basis, Feature
from ...measurement.linear import Answers, Column, Linear, Sizes
from ...measurement.statistic import InUnits, Weighted
from ...measurement.times import Answer
from ...measurement.unit_bounds import Parts
from ...sensitivity.mean import MeanSensitivity, SumSensitivity
from ...sensitivity.variance import StdSensitivity, VarianceSensitivity
from ...summaries.cells import Cells, cells
from ...summaries.totals import Totals
from ...tables.times import Times

HALF = Fraction(1, 2)
#: More rows than any data have, but few enough that float64 distinguishes one more.
MOST = 1 << 52
#: The weight of the noise of each centered sum in the squared error of a variance; see above.
TENTH = Fraction(101, 1000)
#: The features that count the rows with a number, and all rows.
ROWS = Feature((0, 1, 0), 1, 1)
EVERY = Feature((0, 1, 0), 1, 1, missing=1)


def centered(span: int) -> Feature:
    """Return the feature w = 2 u - s, a row's centered cell, for cells u of 0 .. s."""
    return Feature((2, -span, 0), -span, span)


@dataclass(frozen=True, kw_only=True)
class Sum(Weighted[Answers], Linear, SumSensitivity):
    """The sum of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    weights : str, optional
        The column of the rows' weights, for `GroupBy.agg`.
    weight_bounds : (float, float), optional
    per_unit : (float, float) or "auto", optional
        As in `dpfast.sum`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.sum`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Sum(bounds=(0, 120)).measure(epsilon=1).name
    'sum'
    """

    per_unit: Bounds | Auto | None = None

    name: ClassVar[str] = "sum"
    answer_of_times: ClassVar[Answer] = "total"
    needs_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.per_unit is not None:
            if self.limits is not None:
                checks.fail("per_unit", "left out with weights", self.per_unit)
            is_drawn = checks.is_auto(self.per_unit) or isinstance(self.per_unit, Parts)
            limits = self.per_unit if is_drawn else checks.bounds(self.per_unit, "per_unit")
            checks.assign(self, per_unit=limits, unit_limits=limits)

    def with_limit(self, bound: int) -> Self:
        return replace(self, per_unit=Parts(bound))  # type: ignore[arg-type]

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        if self.per_unit is not None:
            checks.fail("per_unit", "left out for a column of times", self.per_unit)
        return super().in_units(times, data)

    def grid(self, lo: float, hi: float, is_public: bool) -> Cells:
        if is_public or self.limits is not None:
            return super().grid(lo, hi, is_public)
        ends = (*map(abs, self.limits_of(lo, hi) or ()), hi - lo, abs(lo), abs(hi))
        return cells(lo, hi, width=max(ends))

    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        low, high = first, _ = column.cells.first, column.cells.last
        if column.misses:
            low, high = min(low, 0), max(high, 0)
        ends = self.unit_ends(column)
        added = Feature((1, first, 0), *(ends or (low, high)))
        alone = Basis((added,), (Fraction(1),), (Fraction(1),))
        if ends or is_public or (column.misses and column.weights is not None):
            return [alone]  # weights are not summed over rows without a number
        middle = Fraction(low + high, 2)
        squares = middle**2, HALF**2
        rows = ROWS if column.of_units else EVERY
        return [alone, Basis((rows, added.centered()), squares, (middle, HALF))]

    def answer(self, column: Column, basis: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        return column.total(basis, sums)

    def bar(self, column: Column, noise: Sizes, rows: Any, is_public: bool) -> Any:
        return column.scaled(noise.total(noise.basis.estimate))


@dataclass(frozen=True, kw_only=True)
class Mean(Weighted[Answers], Linear, MeanSensitivity):
    """The mean of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    weights : str, optional
        The column of the rows' weights, for `GroupBy.agg`.
    weight_bounds : (float, float), optional
        As in `dpfast.mean`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.mean`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Mean(bounds=(0, 120)).measure(epsilon=1).name
    'mean'
    """

    name: ClassVar[str] = "mean"
    answer_of_times: ClassVar[Answer | None] = "point"

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = self.limits
        if limits is not None and not 0 <= limits[0] <= limits[1] != 0:
            checks.fail("weight_bounds", "at least 0, and not both 0", self.weight_bounds)

    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        s = column.span
        upper = Feature((1, 0, 0), 0, s)
        part = Fraction(1, s) if s else Fraction(0)
        if is_public:
            return [Basis((upper,), (part**4,))]
        pair = Basis((upper, Feature((-1, s, 0), 0, s)), (part**2 / 2,) * 2, norm=s)
        return [pair, Basis((ROWS, centered(s)), (HALF**2 * (s > 0), (HALF * part) ** 2))]

    def answer(self, column: Column, basis: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        s = column.span
        if not s:
            return column.lo
        moments = basis.moments(sums, rows)
        return column.at(moments.first, moments.rows * s)

    def bar(self, column: Column, noise: Sizes, rows: Any, is_public: bool) -> Any:
        """Return the error bar of the mean: by the noise alone for a public n, else a bound.

        Let m be the mean of u / s, a number between 0 and 1. If n is public, the error is the noise
        divided by n. Otherwise the error is a quotient, and there are two sets of noisy sums.

        *The pair of sums of u and of s - u.* Let e and f be their noise divided by s. The error of
        m is ((1 - m) e - m f) / (n + e + f). The weights 1 - m and m add up to 1. Such a weighted
        sum of numbers with symmetric log-concave densities is most often large if one weight is 1
        (Proschan, Ann. Math. Statist. 1965). So the bound on e is also a bound on the numerator. A
        small share of the failure probability (`RARE`) is for a denominator below `least`.

        *The number of rows and the sum of w.* Let e be the noise of the number of rows, f the noise
        of sum(w) / s, and a the mean of w / s, which is between -1 and 1. The error of m is (f - a
        e) / (2 (n + e)). The numerator is most often large for a = 1 or a = -1, because a sum of
        such numbers is smaller for smaller weights.
        """
        s = column.span
        if not s:
            return 0.0
        if is_public:
            size, least = noise.of(0) / s, rows
        elif noise.basis.has_rows:
            least = noise.least(rows, noise.of(0, RARE))
            size = noise.total((HALF, HALF / s), 1 - RARE)
        else:
            least = noise.least(rows, 2 * noise.of(0, RARE / 2) / s)
            size = noise.alone(1 - RARE) / s
        return column.width(column.ratio(size, least), noise.farthest(column))


class Pairs(Basis):
    """The basis for a public number of rows: the sum of squared distances of all pairs of rows."""

    def totals(self, totals: Totals) -> list[int]:
        return [totals.rows * totals.squares - totals.sum**2]


@dataclass(frozen=True, kw_only=True)
class Variance(Linear, VarianceSensitivity):
    """The variance of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    ddof : int, default 0
        As in `dpfast.variance`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.variance`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Variance(bounds=(0, 120)).measure(epsilon=1).name
    'variance'
    """

    ddof: int = 0

    name: ClassVar[str] = "variance"
    answer_of_times: ClassVar[Answer | None] = None
    squares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ddof", checks.whole("ddof", self.ddof))

    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        s = column.span
        part = Fraction(1, s) if s else Fraction(0)
        if is_public:
            return [Pairs((Feature((0, 0, 1), 0, s * s),), (part**4,))]
        high, middle = Feature((0, 0, 1), 0, s * s), Feature((2 * s, 0, -2), 0, s * s)
        low = Feature((-2 * s, s * s, 1), 0, s * s)
        square = Feature((-8 * s, s * s, 8), -s * s, s * s)  # the feature 2 w^2 - s^2
        three = Basis((high, middle, low), (part**4 / 3,) * 3, norm=s * s)
        parts = TENTH * (s > 0), TENTH * part**2, TENTH * part**4
        return [three, Basis((ROWS, centered(s), square), parts)]

    def row_pairs(self, rows: int) -> int:
        return max(0, rows - 1)

    @property
    def less(self) -> int:
        """The ddof, clamped to `MOST`."""
        return min(self.ddof, MOST)

    def answer(self, column: Column, basis: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        if not column.span:
            return 0.0
        if not isinstance(basis, Pairs):
            return column.variance(basis.moments(sums, rows), self.less)
        if rows is None or rows <= max(1, self.less):
            return 0.0
        return column.spread(sums[0], rows, rows - self.less)

    def bar(self, column: Column, noise: Sizes, rows: Any, is_public: bool) -> Any:
        """Return the error bar of the variance: by the noise alone for a public n, else a bound.

        All errors below are errors of the variance of u / s. If n is public, the error is the noise
        divided by n^2 s^2 (for a ddof of 0). Otherwise there are two sets of noisy sums.

        *The sums of u^2, 2 u (s - u) and (s - u)^2.* Let e, f and g be their noise divided by s^2,
        and R = n + e + f + g. Let m and r be the means of u / s and of its square. The mean m has
        the error d = ((1 - m) e + (1/2 - m) f - m g) / R, and the variance has the error ((1 - r) e
        - r f - r g) / R - 2 m d - d^2. In its linear part, times R, the absolute weights of e, f
        and g add up to at most 1 for m^2 <= r <= m: the weights are linear in r, and at the two
        ends they add up to abs(1 - 2 m) + 2 m (1 - m) and 1 - m + m^2. So the bound on e is a bound
        on the linear part (see `Mean.bar`). In d the absolute weights add up to at most 3/2.

        *The number of rows and the sums of w and of 2 w^2 - s^2.* Let e, f and g be their noise in
        units of 1, s and s^2. As in the module's docstring of `covariance`, 4 times the variance
        has two errors: a sum of e, f and g with weights of at most 3/2, 2 and 1/2, divided by R = n
        + e, and ((f - a e) / R)^2, where a is the mean of w / s.
        """
        s, enough, ddof = column.span, max(1, self.less), self.less
        if not s or (is_public and rows <= enough):
            return 0.0
        if is_public:
            size = noise.of(0) / (rows * (rows - ddof) * s**2)
            return column.width(size, Fraction(rows, 4 * (rows - ddof)), 2)
        if noise.basis.has_rows:
            off, rare = noise.of(0, RARE / 2), noise.total((HALF, HALF / s), RARE / 2)
            size = noise.total((3 * HALF / 4, HALF / s, HALF / (4 * s**2)), 1 - RARE)
        else:
            off, size = 3 * noise.of(0, RARE / 3) / s**2, noise.of(0, 1 - RARE) / s**2
            rare = off / 2
        least, fewest = noise.least(rows, off), rows - off
        is_enough = (least > enough) & (fewest > ddof)
        least, fewest = (column.where(is_enough, n, enough + 1) for n in (least, fewest))
        part = size / least + (rare / least) ** 2
        part = grown_error(part, off, column.where(is_enough, rows, 1), fewest, ddof)
        most = column.ratio(fewest, fewest - ddof) / 4
        part = column.where(is_enough, part * column.ratio(least, least - ddof), most)
        return column.width(part, most, 2)


@dataclass(frozen=True, kw_only=True)
class Std(Variance, StdSensitivity):
    """The standard deviation of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    ddof : int, default 0
        As in `dpfast.std`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.std`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Std(bounds=(0, 120)).measure(epsilon=1).name
    'standard deviation'
    """

    name: ClassVar[str] = "standard deviation"
    answer_of_times: ClassVar[Answer | None] = "span"
    is_linear: ClassVar[bool] = False

    def answer(self, column: Column, basis: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        return column.root(super().answer(column, basis, sums, rows))

    def bar(self, column: Column, noise: Sizes, rows: Any, is_public: bool) -> Any:
        return noise.of_root(super().bar(column, noise, rows, is_public), column)
