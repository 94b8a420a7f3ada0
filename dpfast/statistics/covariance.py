"""Private covariance matrices: exact sums of products of cells, with integer noise.

Column i of a row is a cell u_i of 0 .. s_i. With a public n, entry (i, j) is

    V_ij = n sum(u_i u_j) - sum(u_i) sum(u_j) = sum over pairs of rows of (u_i - u_i') (u_j - u_j'),

over n^2. A replaced row changes n - 1 of these terms, each by at most s_i s_j: with c and d in
[0, 1], (a - c) (b - d) is largest, for a and b in [0, 1], at (1 - c) (1 - d) or c d, and least at
-c (1 - d) or -(1 - c) d, and any such two differ by 1 - d, 1 - c, c or d.

Gaussian noise needs less for the Gram matrix. Let z_i = w_i / s_i, w_i = 2 u_i - s_i, be the
columns between -1 and 1, d those that are not constant, and x the row (c, z) for a public c. Its
Gram matrix, the sum of x x', has n c^2, the sums of c z_i and those of z_i z_j, of which

    V_ij / (s_i s_j) = (n sum(z_i z_j) - sum(z_i) sum(z_j)) / 4

follows. A row that is replaced by y changes it by x x' - y y', of squared Frobenius norm |x|^4 +
|y|^4 - 2 (x'y)^2 <= 2 M^2, M = c^2 + d. The entry n c^2 does not change, and the others but for
those of the diagonal are there twice, so 2 c^2 sum(d_i^2) + 2 sum_(i<j)(d_ij^2) + sum(d_ii^2) is at
most 2 M^2 for the changes of sums and of products: noise in proportion to M / c for sums, M for
products and sqrt(2) M for squares (`noise.box`, `ellipsoid_noise`). The variance of an entry is,
for means m_i of z, M^2 (1 + (m_i^2 + m_j^2) / c^2) / n^2 to first order in units of s_i s_j / 4, or
twice that on the diagonal; that of V_ij by itself is 16 for each of d (d + 1) / 2 entries. With c^2
about sqrt(d) / 2 that is less for d > 1 at all means up to 0.7, and hardly more at the bounds.

With a private n the number of rows, the sums of w_i = 2 u_i - s_i, those of the products w_i w_j
and of 2 w_i^2 - s_i^2 are released, which a row that comes or goes changes by at most 1, s_i, s_i
s_j and s_i^2. One that is replaced, where there is a `where`, changes the number of rows by 1 and
all others by at most twice as much.

All of them together are one release (`noise.box`): a row may change all at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from .._core.error_bars import (
    ALL,
    BOUND,
    NOISE,
    RARE,
    ROWS,
    Expected,
    grown_error,
    normal,
    unknown,
)
from .._core.roots import root_up
from .._core.types import Floats
from ..budget.mechanism import Mechanism
from ..measurement.choice import box_noise
from ..measurement.functions import function_of
from ..measurement.statistic import Bounded, Terms
from ..noise.box import BoxNoise, ellipsoid_noise
from ..privacy import Loss, Pure
from ..rng import Generator
from ..sources.intake import View, read_rows
from ..summaries.cells import SQUARES, Cells, cells, nearest
from ..summaries.moments import Moments, moments, two_of

ROOT_2 = root_up(Fraction(2))


@dataclass(frozen=True, kw_only=True)
class Covariance(Bounded[Floats]):
    """The covariances of the columns of clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
    bounds : sequence of d pairs of float, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    ddof : int, default 0
        As in `dpfast.covariance`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.covariance`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Covariance(bounds=[(0, 1), (0, 1)]).measure(epsilon=1).name
    'covariance'
    """

    ddof: int = 0

    name: ClassVar[str] = "covariance"
    at_once: ClassVar[bool] = True
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_auto and self.width is None:
            checks.fail("bounds", "a pair for each column", self.bounds)
        object.__setattr__(self, "ddof", checks.whole("ddof", self.ddof))

    def read(
        self, data: Any, *, relation: str, axis: Any, where: Any, ids: Any, weights: Any
    ) -> View:
        view = read_rows(data, "bounds", self.width, relation, where, ids=ids)
        return replace(view, each=True)  # for the bounds of each column

    def mechanism(self, terms: Terms) -> OfSums:
        pairs = self.pairs(terms.layout.columns or self.width)
        grids = tuple(cells(lo, hi, SQUARES) for lo, hi in pairs)
        policy = checks.nan_policy(self.nan, terms.neighbors)
        of_rows = {"neighbors": terms.neighbors, "loss": terms.loss, "rows": terms.rows}
        shared: Any = {"bounds": pairs, "cells": grids, "nan": policy, **of_rows}
        made = OfSums(self.ddof, **shared)
        if terms.neighbors == "replace" and not terms.layout.masked:
            made, gram = OfEntries(self.ddof, **shared), OfGram(self.ddof, **shared)
            if gram.is_less_than(made.noise_of(2)):
                made = gram
        return replace(made, loss=made.noise_of(2).loss)


@dataclass(frozen=True, slots=True)
class OfSums(Mechanism[Floats]):
    """A covariance matrix from a noisy number of rows, and noisy sums of w_i and of w_i w_j.

    Parameters
    ----------
    ddof : int
    bounds : tuple of (float, float)
    cells : tuple of Cells
    nan : str or float
    neighbors : {"add-remove", "replace"}
    loss : Loss
    rows : int
        How many rows come or go at once: those of a person.
    """

    ddof: int
    bounds: tuple[tuple[float, float], ...]
    cells: tuple[Cells, ...]
    nan: str | float
    neighbors: str
    loss: Loss
    rows: int

    name: ClassVar[str] = "covariance"
    has_public_rows: ClassVar[bool] = False
    note: ClassVar[str] = BOUND

    @property
    def spans(self) -> list[int]:
        """The largest cell of each column."""
        return [column.span for column in self.cells]

    @property
    def places(self) -> list[tuple[int, int, int]]:
        """The columns of each entry of the upper triangle, and the product of their spans."""
        spans = self.spans
        return [(i, j, spans[i] * spans[j]) for i, j in two_of(len(spans))]

    @property
    def moved(self) -> int:
        """By how many rows the sums of neighbors differ."""
        return (2 if self.neighbors == "replace" else 1) * self.rows

    def noise_of(self, n: int) -> BoxNoise:
        """Return the noise of all sums, for a number of rows if that is public."""
        sizes = [*self.spans, *(size for _, _, size in self.places)]
        return box_noise(self.loss, [self.rows, *(self.moved * size for size in sizes)])

    def reduce(self, source: View) -> Moments:
        return moments(source.source, self.bounds, self.cells, self.nan, source.where)

    def finish(self, summary: Moments, generator: Generator) -> Floats:
        n, enough, places = summary.rows, max(1, self.ddof), self.places
        if self.has_public_rows and n <= enough:
            return self.matrix([Fraction(0)] * len(places))
        n, entries = self.entries(n, self.noise_of(n).add(self.exact(summary), generator))
        grown = Fraction(n, n - self.ddof) if n > enough else Fraction(1)
        each = []
        for (i, j, size), entry in zip(places, entries, strict=True):
            most = Fraction(size, 4) * grown
            each.append(min(max(entry * grown, Fraction(0) if i == j else -most), most))
        return self.matrix(each)

    def exact(self, summary: Moments) -> list[int]:
        """Return the sums that get noise: here, and with squares as they are, all of rows of w."""
        sums, n, each = (
            self.centered(summary),
            summary.rows,
            enumerate(self.places, len(self.spans)),
        )
        for place, (i, j, size) in each:
            if i == j:
                sums[place] = 2 * sums[place] - n * size
        return [n, *sums]

    def centered(self, summary: Moments) -> list[int]:
        """Return the sums of w_i, and those of w_i w_j."""
        spans, sums, n = self.spans, summary.sums, summary.rows
        each = zip(self.places, summary.products, strict=True)
        return [
            *(2 * a - n * s for a, s in zip(sums, spans, strict=True)),
            *(
                4 * p - 2 * spans[j] * sums[i] - 2 * spans[i] * sums[j] + n * size
                for (i, j, size), p in each
            ),
        ]

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        """Return the number of rows, and the entries for a ddof of 0, in cells."""
        n, *sums = noisy
        if n <= max(1, self.ddof):
            return n, [Fraction(size if i == j else 0, 8) for i, j, size in self.places]
        each = enumerate(self.places, len(self.spans))
        halves = [sums[k] + n * size if i == j else 2 * sums[k] for k, (i, j, size) in each]
        return n, self.of_centered(n, sums, halves)

    def of_centered(self, n: int, sums: list[int], twice: list[int]) -> list[Fraction]:
        """Return the entries from sums of w_i and twice those of w_i w_j."""
        each = zip(self.places, twice, strict=True)
        return [Fraction(n * p - 2 * sums[i] * sums[j], 8 * n**2) for (i, j, _), p in each]

    def matrix(self, entries: Sequence[Fraction]) -> Floats:
        """Return entries in cells as a symmetric matrix in units of the data."""
        matrix = np.empty((len(self.cells), len(self.cells)))
        for (i, j, _), entry in zip(self.places, entries, strict=True):
            unit = Fraction(self.cells[i].grid) * Fraction(self.cells[j].grid)
            matrix[i, j] = matrix[j, i] = nearest(entry * unit)
        return matrix

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each entry."""
        if rows is None:
            return unknown(confidence, ROWS)
        places, over = self.places, max(1, rows - self.ddof)
        parts = [Fraction(0)] * len(places)
        if not self.has_public_rows or rows > max(1, self.ddof):
            parts = self.off(rows, 1 - confidence)
        each = zip(places, parts, strict=True)
        halves = [
            min(part, Fraction(rows, (4 if i == j else 2) * over)) * size
            for (i, j, size), part in each
        ]
        return Expected(confidence, self.matrix(halves).tolist(), note=self.note)

    def off(self, rows: int, failure: float) -> list[Fraction]:
        """Return how far each entry is off, as a part of the product of spans.

        All in parts of its own scale: let e be the noise of the number of rows, f, g those of the
        two sums, h that of the sum of products, R = n + e, a and b the means of the two columns and
        p that of their products, all between -1 and 1. With d = (f - a e) / R and d' = (g - b e) /
        R, four times the covariance is off by (h - p e) / R - a d' - b d - d d', whose linear part
        is (h - a g - b f - (p - 2 a b) e) / R. Since p is between |a + b| - 1 and 1 - |a - b|, p -
        2 a b is between -1 and 1, and the size of the linear part is likely no larger than that of
        the sum of four noises (weights that shrink make a sum of numbers with a symmetric
        log-concave density smaller). For a variance f = g, and h is half of a noise and half of e,
        so the weights are at most 1/2, 2 and 3/2, and it is no larger than twice the sum of three.
        """
        noise, size = self.noise_of(rows), (1 - RARE) * failure
        rare = self.moved * noise.within(RARE * failure / 4)
        least = rows - rare
        if least <= max(1, self.ddof):
            return [ALL] * len(self.places)

        def part(linear: Fraction) -> Fraction:
            error = (self.moved * linear / least + (2 * rare / least) ** 2) / 4
            error = grown_error(error, rare, rows, least, self.ddof)
            return error * least / (least - self.ddof)

        alone, two = part(2 * noise.within(size, 3)), part(noise.within(size, 4))
        return [alone if i == j else two for i, j, _ in self.places]


@dataclass(frozen=True, slots=True)
class OfGram(OfSums):
    """The same for a public number of rows: Gaussian noise for the Gram matrix."""

    has_public_rows: ClassVar[bool] = True

    @property
    def moving(self) -> int:
        """How many columns are not constant."""
        return sum(1 for span in self.spans if span)

    @property
    def constant(self) -> Fraction:
        """The entry c of each row."""
        return Fraction(round(32 * self.moving**0.25 / math.sqrt(2)), 32)

    def is_less_than(self, noise: BoxNoise) -> bool:
        """Tell whether entries get less noise than with that of V_ij, if it is for this loss.

        They are compared by the variance, with a mean that is half-way between the middle and a
        bound: a matter of the loss and of how many columns there are.
        """
        if isinstance(self.loss, Pure) or self.moving < 2:
            return False
        c = self.constant
        root = math.sqrt(1 / 8 + 1 / (16 * float(c) ** 2))
        return self.noise_of(2).deviation * float(c**2 + self.moving) * root < noise.deviation

    def noise_of(self, n: int) -> BoxNoise:
        loss, c = self.loss, self.constant
        assert not isinstance(loss, Pure)
        most = c**2 + self.moving
        axes = [max(span, 1) * most / c for span in self.spans]
        axes += [max(size, 1) * most * (ROOT_2 if i == j else 1) for i, j, size in self.places]
        moved = [2 * span for span in self.spans]
        moved += [(1 if i == j else 2) * size for i, j, size in self.places]
        return ellipsoid_noise(loss, moved, axes)

    def exact(self, summary: Moments) -> list[int]:
        return self.centered(summary)

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        return n, self.of_centered(n, noisy, [2 * p for p in noisy[len(self.spans) :]])

    def off(self, rows: int, failure: float) -> list[Fraction]:
        """Return how far each entry is off, as a part of the product of spans.

        With h the noise of the product and f, g those of the sums, in units of s_i s_j, s_i and
        s_j, 4 n times the entry is off by h - m_j f - m_i g - f g / n, for means between -1 and 1.
        The linear part is a normal number, but for rounding; it is largest for means of 1.
        """
        each, spans, parts = self.noise_of(rows).each, self.spans, []
        for (i, j, size), both in zip(self.places, each[len(spans) :], strict=True):
            f, g = each[i], each[j]
            if f is None or g is None or both is None:
                parts.append(Fraction(0))
                continue
            a, b, h = f.deviation / spans[i], g.deviation / spans[j], both.deviation / size
            spread = math.hypot(h, 2 * a) if i == j else math.hypot(h, a, b)
            linear = Fraction(spread * normal((1 - RARE) * failure) * (1 + 2.0**-30))
            rare = RARE * failure / 2
            square = Fraction(f.within(rare) * g.within(rare), size)
            parts.append((linear + square / rows) / (4 * max(1, rows - self.ddof)))
        return parts


@dataclass(frozen=True, slots=True)
class OfEntries(OfSums):
    """The same for a public number of rows: noise for V_ij itself."""

    has_public_rows: ClassVar[bool] = True
    note: ClassVar[str] = NOISE

    def noise_of(self, n: int) -> BoxNoise:
        return box_noise(self.loss, [(n - 1) * size for _, _, size in self.places])

    def exact(self, summary: Moments) -> list[int]:
        n, sums = summary.rows, summary.sums
        each = zip(self.places, summary.products, strict=True)
        return [n * product - sums[i] * sums[j] for (i, j, _), product in each]

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        return n, [Fraction(entry, n**2) for entry in noisy]

    def off(self, rows: int, failure: float) -> list[Fraction]:
        part = self.noise_of(rows).within(failure) * Fraction(rows - 1, rows * (rows - self.ddof))
        return [part] * len(self.places)


@function_of(Covariance)
def covariance(data: Any, **arguments: Any) -> Any:
    """Release the covariance matrix of some columns, each clamped to its public bounds.

    Columns are the variables and rows the observations, as with ``numpy.cov(data, rowvar=False,
    ddof=ddof)``; the diagonal is what `variance` releases with ``axis=0``.

    Privacy
    -------
    Neighbors are datasets that differ in one row of all columns, added or removed (`n` is private),
    or replaced (`n` is public). The whole matrix satisfies the loss that is asked for. With a
    public `n` and Gaussian noise, which is that of `rho` and mostly that of `delta`, the sums and
    the sums of products get noise for the Frobenius norm of their matrix, which a row changes by at
    most sqrt(2) times the largest squared length of one. Else entry (i, j) has the sensitivity
    ``(hi_i - lo_i) (hi_j - lo_j) (n - 1) / n**2``, and all ``d (d + 1) / 2`` of them may change at
    once. With a private one, so do the number of rows, the sums and the sums of products, from
    which the matrix follows. All are exact integers, and so is the noise: that of `sum` with
    ``axis=0``, in proportion to what a row can do to each.

    Parameters
    ----------
    data : array_like of shape (n, d), structured array, table, or source
        As in `sample_and_aggregate`: what is null in a table is NaN.
    bounds : sequence of d pairs of float, or "auto"
        Public limits of each column, in its units; values outside are clipped. They must not come
        from the data. "auto" draws those of each column for an equal part of a quarter of the loss,
        as `dpfast.bounds`; of rows without a dtype, like a list, it cannot tell how many columns
        they have.
    ddof : int, default 0
        Sums of products of deviations are divided by ``n - ddof``.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null: an error after the spend, the lower or upper bound, no row at
        all, or a public number. "drop" leaves out the whole row.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default that of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        The rows to use, each a function of that row alone. How many they are is private.
    ids : array_like of shape (n,), or str, optional
        Whose row each row is, or the name of the column that says so, which is then no part of the
        data. The loss is one of people then.
    max_rows : int, optional
        With `ids`, and only then: how many rows of a person count at most.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    float64 array of shape (d, d)
        Symmetric, each entry within what the bounds allow. With noise it need not be positive
        semidefinite. Values count as the nearest of about ``2**30`` between their bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Cost: one read of the data and O(n d**2) multiplications of integers.

    References
    ----------
    Hardt and Talwar, "On the geometry of differential privacy", STOC 2010.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 1, 10_001)
    >>> found = dp.covariance(np.stack([x, 1 - x], axis=1), bounds=[(0, 1), (0, 1)], epsilon=1.0)
    >>> bool(abs(found - [[1 / 12, -1 / 12], [-1 / 12, 1 / 12]]).max() < 0.02)
    True
    """
