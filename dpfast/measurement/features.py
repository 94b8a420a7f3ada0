"""Features: the integers that a row adds to sums, and by how much neighboring sums can differ.

A row is a cell u of 0 .. s of its column (`summaries.cells`). With weights it counts w times, where
w is a cell of the weights. A feature is the integer a u + b + c u^2, for public factors a, b and c,
times w if there are weights. Sums of features are released. The least and the largest value of a
feature, lo and hi, determine by how much the sums of neighbors differ, for any statistic:

* a row that is added or removed: by max(|lo|, |hi|);
* a row that is replaced, where n is public: by hi - lo;
* a row that is replaced, and may also enter or leave a mask (`where`): by max(hi, 0) - min(lo, 0).

If the features of a basis are not negative and add up to at most `norm`, their L1 norm and their L2
norm are at most `norm`. Two such vectors differ by at most 2 `norm` in L1, and by at most sqrt(2)
`norm` in L2.

The answer is a function of the sums of 1, u and u^2 (moments). A basis is invertible: the moments
follow from its sums. So each basis of a statistic gives the same answer, except for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, NamedTuple

from ..summaries.totals import Totals
from ..tables import base

#: The coefficients of a feature: of the sum of cells, the number of rows, and the sum of squared
#: cells.
Factors = tuple[int, int, int]


class Feature(NamedTuple):
    """An integer function of a row, to be summed: its factors, and its least and largest value.

    Attributes
    ----------
    factors : (int, int, int)
        The factors of the sum of cells, of the number of rows, and of the sum of squared cells.
    lo, hi : int
        The least and the largest value for a row.
    missing : int, default 0
        The value for a row without a number: between `lo` and `hi`, or 0 if the number of rows is
        private.

    Examples
    --------
    >>> import dpfast as dp
    >>> from_top = dp.extend.Feature((-1, 10, 0), 0, 10)  # the distance to the last of 11 cells
    >>> from_top.centered()
    Feature(factors=(-2, 10, 0), lo=-10, hi=10, missing=-10)
    >>> from_top.weighted(0, 3).hi, from_top.sensitivity("replace", False)
    (30, 10)
    """

    factors: Factors
    lo: int
    hi: int
    missing: int = 0

    def centered(self) -> Feature:
        """Return this feature minus the middle of its range, times 2.

        Returns
        -------
        Feature
        """
        (first, rows, second), both = self.factors, self.lo + self.hi
        width = self.hi - self.lo
        return Feature(
            (2 * first, 2 * rows - both, 2 * second), -width, width, 2 * self.missing - both
        )

    def of_rows(self, u: Any, most: int, weight: Any = None) -> base.Feature:
        """Return this feature for rows in a database, where at most `most` rows of a unit count.

        Parameters
        ----------
        u : integer
            The cell of a row, missing where the row does not count.
        most : int
        weight : integer, optional
            The number of times that the row counts.

        Returns
        -------
        Feature
            The integer that a row adds, as ``dpfast/tables/base.py`` describes it.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.extend.Feature((-1, 10, 0), 0, 10).of_rows(7, 1)  # any arithmetic will do
        Feature(above=3, most=10, least=0, rows=1, ends=None)
        """
        (first, rows, second), least = self.factors, self.lo
        if weight is None and not first and not second:
            return base.Feature(u * 0, 0, rows, most)
        above = u * (second * u + first) if second else u if first == 1 else u * first
        if weight is not None:
            above, rows = (above + rows) * weight, 0
        above += rows - least if rows != least else 0
        return base.Feature(above, self.hi - least, least, most)

    def weighted(self, least: int, most: int) -> Feature:
        """Return this feature times an integer weight between `least` and `most`.

        Parameters
        ----------
        least, most : int

        Returns
        -------
        Feature
        """
        ends = [end * weight for end in (self.lo, self.hi) for weight in (least, most)]
        return self._replace(lo=min(ends), hi=max(ends))

    def sensitivity(self, neighbors: str, is_public: bool) -> int:
        """Return the largest difference between neighbors' sums of this feature.

        Parameters
        ----------
        neighbors : {"add-remove", "replace"}
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        int
        """
        if neighbors == "add-remove":
            return max(abs(self.lo), abs(self.hi))
        return self.hi - self.lo if is_public else max(self.hi, 0) - min(self.lo, 0)


class Moments(NamedTuple):
    """The noisy number of rows, sum of cells and sum of squared cells, each times `whole`.

    They are integers, or arrays with an integer for each group.
    """

    rows: Any
    first: Any
    second: Any
    whole: int


@dataclass(frozen=True)
class Basis:
    """Features whose sums are released together.

    Attributes
    ----------
    features : tuple of Feature
        The features. If one of them counts the rows, it is the first.
    squares : tuple of Fraction
        The weight of each sum's squared error in the squared error of the answer, for the data with
        which bases are compared.
    estimate : tuple of Fraction, optional
        The factor of each sum in the answer, if the answer is a weighted sum.
    norm : int, optional
        The largest L1 norm of the features of a row, if no feature is negative.
    rounding : Fraction, default 0
        The variance that rounding adds to an answer.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> rows, cells = dp.extend.Feature((0, 1, 0), 0, 1), dp.extend.Feature((1, 0, 0), 0, 10)
    >>> basis = dp.extend.Basis((rows, cells), (Fraction(1, 4), Fraction(1, 100)))
    >>> basis.moments([4, 30], None)
    Moments(rows=4, first=30, second=0, whole=1)
    """

    features: tuple[Feature, ...]
    squares: tuple[Fraction, ...]
    estimate: tuple[Fraction, ...] = ()
    norm: int | None = None
    rounding: Fraction = Fraction(0)

    def totals(self, totals: Totals) -> list[int]:
        """Return the exact sum of each feature over all rows.

        Parameters
        ----------
        totals : Totals

        Returns
        -------
        list of int

        Examples
        --------
        >>> from dpfast.summaries.totals import Totals
        >>> Basis((Feature((0, 1, 0), 0, 1),), (Fraction(1),)).totals(Totals(rows=2, sum=14))
        [2]
        """
        rows, missing, cells, squares, _ = totals
        return [
            first * cells + zeroth * rows + second * squares + absent * missing
            for (first, zeroth, second), _, _, absent in self.features
        ]

    def moments(self, sums: Sequence[Any], rows: int | None) -> Moments:
        """Return the noisy moments, computed from a noisy sum of each feature.

        Parameters
        ----------
        sums : sequence of int
            A noisy sum for each feature.
        rows : int or None
            The number of rows, if it is public.

        Returns
        -------
        Moments
            The number of rows, the sum of cells and the sum of squared cells, each times `whole`.
        """
        parts, whole = self._inverse
        first, noisy_rows, second = [row and sum(map(mul, row, sums)) for row in parts]
        return Moments(noisy_rows if rows is None else rows * whole, first, second, whole)

    @cached_property
    def whole_estimate(self) -> tuple[list[int], int]:
        """The factors of `estimate` as integers, and their common denominator."""
        whole = math.lcm(*(factor.denominator for factor in self.estimate))
        return [int(factor * whole) for factor in self.estimate], whole

    @property
    def factors(self) -> list[Factors]:
        """The factors of each feature."""
        return [feature.factors for feature in self.features]

    @property
    def has_rows(self) -> bool:
        """Tell whether the number of rows is one of the features."""
        return self.features[0].factors == (0, 1, 0)

    @cached_property
    def _inverse(self) -> tuple[list[Any], int]:
        """The integer factors of the sums in each moment (0 if it is unused), and a denominator."""
        rows = inverse(tuple(self.factors))
        whole = math.lcm(*(factor.denominator for row in rows for factor in row))
        return [[int(factor * whole) for factor in row] if any(row) else 0 for row in rows], whole


def inverse(factors: tuple[Factors, ...]) -> list[list[Fraction]]:
    """Return the matrix that computes the moments from the sums of features.

    A moment that is in no feature is not part of the answer, and has factors of 0.
    """
    used = [j for j in range(3) if any(row[j] for row in factors)]
    size = len(factors)
    matrix = [
        [Fraction(row[j]) for j in used] + [Fraction(i == k) for k in range(size)]
        for i, row in enumerate(factors)
    ]
    for i in range(size):
        pivot = next(k for k in range(i, size) if matrix[k][i])
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [entry / matrix[i][i] for entry in matrix[i]]
        for k in range(size):
            if k != i and matrix[k][i]:
                factor = matrix[k][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    back = [[Fraction(0)] * size for _ in range(3)]
    for i, j in enumerate(used):
        back[j] = matrix[i][size:]
    return back
