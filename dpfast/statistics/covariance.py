"""Private covariance matrices: exact sums of products of cells, with integer noise.

Column i of a row is a cell u_i of 0 .. s_i. Three sets of sums can be released.
`measurement.choice` chooses the set and its noise by the mean error of all entries, for columns
whose means are half-way between the middle and a bound. All sums together are one release
(`noise.box`), because a row may change all of them at once.

*Entries, for a public n.* Entry (i, j) of the matrix is the following number divided by n^2:

    V_ij = n sum(u_i u_j) - sum(u_i) sum(u_j) = sum over pairs of rows of (u_i - u_i') (u_j - u_j').

A replaced row changes n - 1 of these terms, each by at most s_i s_j. To see this, divide by s_i s_j
and write such a term as (a - c) (b - d), where c and d in [0, 1] are fixed and a and b in [0, 1]
are replaced. It is largest at (1 - c) (1 - d) or c d, and least at -c (1 - d) or -(1 - c) d. Any
such two differ by 1 - d, 1 - c, c or d.

*The Gram matrix, for a public n.* Gaussian noise on this matrix can be smaller. Let w_i = 2 u_i -
s_i, so that z_i = w_i / s_i is column i between -1 and 1. Let d be the number of columns that are
not constant, and x the row (c, z) for a public c. The Gram matrix, the sum of x x', contains n c^2,
the sums of c z_i, and the sums of z_i z_j. From these follows

    V_ij / (s_i s_j) = (n sum(z_i z_j) - sum(z_i) sum(z_j)) / 4.

A row x that is replaced by y changes it by x x' - y y'. The squared Frobenius norm of this is |x|^4
+ |y|^4 - 2 (x'y)^2 <= 2 M^2, where M = c^2 + d. The entry n c^2 does not change. Each other entry
that is not on the diagonal is in the matrix twice. So, for the changes d_i of the sums and d_ij of
the products, 2 c^2 sum(d_i^2) + 2 sum_(i<j)(d_ij^2) + sum(d_ii^2) is at most 2 M^2. This is an
ellipsoid, with axes in proportion to M / c for sums, M for products and sqrt(2) M for squares
(`noise.box`, `ellipsoid_noise`).

For Gaussian noise, compare the variances in units of s_i s_j / 4. With the Gram matrix, an entry
has the variance M^2 (1 + (m_i^2 + m_j^2) / c^2) / n^2 to first order, for means m_i of z, and twice
as much on the diagonal. With noise on V_ij itself, it is 16 for each of d (d + 1) / 2 entries. With
c^2 about sqrt(d) / 2, the first is less for d > 1 at all means up to 0.7, and hardly more at the
bounds.

For noise of the box, the sensitivities of the sums are 2 s_i, 2 s_i s_j and s_i^2. The sum of a
product then needs half of the noise of V_ij, and the sum of a square needs a quarter.

*With a private n,* the released numbers are the number of rows and the sums of w_i = 2 u_i - s_i,
of the products w_i w_j, and of 2 w_i^2 - s_i^2. A row that is added or removed changes these by at
most 1, s_i, s_i s_j and s_i^2. If there is a mask (`where`), a replaced row changes the number of
rows by at most 1, and each other sum by at most twice as much.

*Errors with a private n.* Let these be the noises, each in units of its own scale: e of the number
of rows, f and g of the two sums, h of the sum of products. Let R = n + e. Let a and b be the means
of the two columns, and p the mean of their products, all between -1 and 1. With d = (f - a e) / R
and d' = (g - b e) / R, four times an entry has the error

    (h - p e) / R - a d' - b d - d d'.

Its linear part is (h - a g - b f - (p - 2 a b) e) / R. p is between |a + b| - 1 and 1 - |a - b|, so
p - 2 a b is between -1 and 1, and all weights are at most 1 in absolute value. A weighted sum of
numbers with symmetric log-concave densities is most often large for the largest weights. So a bound
on the sum of the four noises, for a = b = p = 1, is a bound on the linear part. For a variance f =
g, and h is half of the noise of sum(2 w^2 - s^2) and half of e. So the weights of that noise, of f
and of e are at most 1/2, 2 and 3/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from .._core import checks, nan_policy
from .._core.error_bars import (
    ALL,
    BOUND,
    NOISE,
    RARE,
    ROWS,
    ErrorBar,
    grown_error,
    unknown,
)
from .._core.roots import root_up
from .._core.types import Floats
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism
from ..measurement.choice import Moves, NoiseCandidate, SumNoise, choose_noise, least_error
from ..measurement.functions import function_of
from ..measurement.statistic import Bounded, Terms
from ..measurement.unit import AddsUnits, added_units
from ..privacy import Loss
from ..rng import Generator
from ..summaries.cells import SQUARES, Cells, cells, nearest
from ..summaries.moments import Moments, cells_of, moments, two_of
from ..summaries.units import Room, add_products, bounded, unit_sums
from ..tables.base import Feature
from ..tables.intake import View, read, whole_rows
from ..tables.sql.store import SqlRows

ROOT_2 = root_up(Fraction(2))
#: So many rows that one more makes no difference; also larger than any span.
MANY_ROWS = 1 << 40
#: The number of rows (0 if units count in part), and the exact sums to which noise is added.
Exact: TypeAlias = tuple[int, list[int]]


@dataclass(frozen=True, kw_only=True)
class Covariance(Bounded[Floats]):
    """The covariances of the columns of clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
    bounds : sequence of d pairs of float, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
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
    only_adds: ClassVar[bool] = True
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_auto and self.width is None:
            checks.fail("bounds", "a pair for each column", self.bounds)
        object.__setattr__(self, "ddof", checks.whole("ddof", self.ddof))

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        view = read(data, whole_rows, "bounds", self.width, with_ids=self.adds_units, **rows)
        return replace(view, by_column=True)  # each column has bounds of its own

    def mechanism(self, terms: Terms) -> OfSums:
        pairs = self.pairs(terms.layout.columns or self.width)
        # One bit less with ids, so that the contribution of a unit fits into a database's integers.
        bits = SQUARES - terms.has_ids
        grids = tuple(cells(lo, hi, bits) for lo, hi in pairs)
        missing_rule = terms.missing_rule(self.nan)
        of_rows = {"neighbors": terms.neighbors, "loss": terms.loss, "rows": terms.rows}
        shared: Any = {"bounds": pairs, "cells": grids, "nan": missing_rule, **of_rows}
        is_public = terms.neighbors == "replace" and not terms.layout.masked
        ways = (OfEntries, OfGram) if is_public else (OfSums,)
        mechanism: OfSums = least_error(way(self.ddof, **shared).way for way in ways).noise()
        # For another number of rows the noise, and so its rho, may differ.
        loss = mechanism.noise_of(2).loss
        is_whole = mechanism.has_public_rows and loss.delta
        return replace(mechanism, loss=terms.loss if is_whole else loss)


@dataclass(frozen=True)
class OfSums(Mechanism[Floats], AddsUnits):
    """The mechanism for a private number of rows: noisy n, sums of w_i and sums of w_i w_j.

    Parameters
    ----------
    ddof : int
    bounds : tuple of (float, float)
    cells : tuple of Cells
    nan : str or float
    neighbors : {"add-remove", "replace"}
    loss : Loss
    rows : int
        How many rows are added or removed at once: 1, or the largest number of rows of a person.
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
    def missing(self) -> str | float:
        return self.nan

    @property
    def spans(self) -> list[int]:
        """The number of the largest cell of each column."""
        return [column.span for column in self.cells]

    @property
    def upper_entries(self) -> list[tuple[int, int, int]]:
        """The columns i, j of each entry of the upper triangle, with the product of their spans."""
        spans = self.spans
        return [(i, j, spans[i] * spans[j]) for i, j in two_of(len(spans))]

    @property
    def moved(self) -> int:
        """The number of rows in which neighboring datasets differ, a replaced row counted twice."""
        return (2 if self.neighbors == "replace" else 1) * self.rows

    @property
    def heads(self) -> int:
        """The number of row counts that get noise: 0 if n is public, else 1."""
        return 0 if self.has_public_rows else 1

    def scales(self, n: int) -> list[int]:
        """Return the largest absolute feature of a row in each sum; `n` is a public row count."""
        return [*[1] * self.heads, *self.spans, *(size for _, _, size in self.upper_entries)]

    def sizes(self, n: int) -> list[int]:
        """Return the sensitivity of each sum; `n` is a public row count."""
        rows, *others = self.scales(n)
        return [rows * self.rows, *(self.moved * scale for scale in others)]

    def linear(self, entry: int, a: Any, b: Any, p: Any) -> dict[int, Any]:
        """Return each noise's coefficient, relative to its scale, in 4 R times an entry's error.

        The error is to first order, and relative to the product of the spans of both columns.

        Parameters
        ----------
        entry : int
            The index of the entry.
        a, b, p : number, or array
            The means of the entry's two columns, from -1 to 1, and the mean of their products.
        """
        i, j, _ = self.upper_entries[entry]
        first, second, both = 1 + i, 1 + j, 1 + len(self.spans) + entry
        if i == j:
            return {0: 0.5 - p + 2 * a * b, first: -2 * a, both: 0.5}
        return {0: 2 * a * b - p, first: -b, second: -a, both: 1}

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The squared error in all entries that each sum causes if it is off by its sensitivity."""
        sizes, scales = self.sizes(MANY_ROWS), self.scales(MANY_ROWS)
        weights = [0.0] * len(sizes)
        for entry, (i, j, size) in enumerate(self.upper_entries):
            if size:
                parts = self.linear(entry, 0.5, 0.5, 0.5 if i == j else 0.25)
                for k, part in parts.items():
                    weights[k] += (part * sizes[k] / scales[k]) ** 2
        return tuple(weights)

    def moves(self, n: int) -> Moves:
        """Return the set of differences between neighboring sums; `n` is a public row count."""
        return Moves(tuple(self.sizes(n)), self.weights, self.heads)

    @property
    def way(self) -> NoiseCandidate:
        """The error of this mechanism, as a candidate for the choice of the least error."""
        return NoiseCandidate(choose_noise(self.loss, self.moves(2)).error, lambda: self)

    def noise_of(self, n: int) -> SumNoise:
        """Return the noise of all sums; `n` is a public row count."""
        return cast(SumNoise, choose_noise(self.loss, self.moves(n)).noise())

    def half_width(self, n: int, failure: float, parts: Mapping[int, Any]) -> Fraction:
        """Return a bound that a weighted noise sum exceeds with probability `failure` at most."""
        scales = self.scales(n)
        factors = {k: Fraction(part) / scales[k] for k, part in parts.items() if scales[k]}
        return self.noise_of(n).sum_half_width(failure, factors) if factors else Fraction(0)

    def reduce(self, source: View) -> Exact:
        sums = moments(source.source, self.bounds, self.cells, self.nan, source.where)
        return sums.rows, self.exact(sums)

    def finish(self, summary: Exact, generator: Generator) -> Floats:
        rows, exact = summary
        if self.has_public_rows and rows <= max(1, self.ddof):
            return self.matrix([Fraction(0)] * len(self.upper_entries))
        return self._answer(rows, self.noise_of(rows).add(exact, generator))

    def answered(
        self, summary: Exact, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Floats, ErrorBar]:
        """Return noisy covariances, with error bars for a likely lower bound on the number of rows.

        The failure probability has two parts: one that the number of rows is below that bound, and
        one that the error bar for the bound fails.
        """
        if self.has_public_rows:
            return super().answered(summary, generator, rows, confidence)
        noisy, failure = self.noise_of(0).add(summary[1], generator), RARE * (1 - confidence)
        least = max(1, math.floor(noisy[0] - self.half_width(MANY_ROWS, failure, {0: 1})))
        bar = self.error(least, confidence + failure)
        return self._answer(0, noisy), replace(bar, confidence=confidence)

    def of_units(self, source: View, most: int, key: Key) -> Exact:
        columns, pairs = len(self.cells), two_of(len(self.cells))
        if isinstance(source.source, SqlRows):
            return 0, self._added(source.source, most, source)

        def fill(rows: Sequence[Any], codes: Any, rooms: Sequence[Room]) -> list[int]:
            cells = self.bounds, self.cells, self.nan
            return [add_products(list(rows), codes, *cells, pairs, rooms[0])]

        def features(sums: list[int]) -> list[int]:
            halves = sums[columns:-1]
            products = [a + (b << 32) for a, b in zip(halves[::2], halves[1::2], strict=True)]
            return self.exact(Moments(sums[-1], 0, tuple(sums[:columns]), tuple(products), 0))

        width = 2 * (columns + 2 * len(pairs))
        units = unit_sums(source.source, key, [width], fill, source.where)
        nan_policy.refuse(self.nan, *units.missing)
        (exact,) = units.added(lambda rooms: [bounded(rooms[0], most, features)])
        return 0, exact

    def _added(self, rows: SqlRows, most: int, source: View) -> list[int]:
        """Return the exact sums over the privacy units of a database, contributions bounded."""
        columns = range(len(self.cells)) if self.nan in ("drop", "raise") else ()
        kept = rows.present(*(rows.among(column, ()) for column in columns))
        row = rows.counted(kept)
        u = [row * cell for cell in cells_of(rows, self.bounds, self.cells, self.nan)]
        products = tuple(u[i] * u[j] for i, j in two_of(len(u)))
        _, *features_of_row = self.exact(Moments(1, 0, tuple(u), products, 1))
        features = [Feature(0 * row, 0, 1, most)]
        for size, cell in zip(self.scales(0)[1:], features_of_row, strict=True):
            features.append(Feature(cell + size, 2 * size, -size, most))
        return added_units(rows, features, source, self.nan, [kept])

    def _answer(self, n: int, noisy: list[int]) -> Floats:
        """Return the covariance matrix from noisy sums; `n` is a public row count."""
        enough, upper = max(1, self.ddof), self.upper_entries
        n, entries = self.entries(n, noisy)
        grown = Fraction(n, n - self.ddof) if n > enough else Fraction(1)
        clamped = []
        for (i, j, size), entry in zip(upper, entries, strict=True):
            most = Fraction(size, 4) * grown
            clamped.append(min(max(entry * grown, Fraction(0) if i == j else -most), most))
        return self.matrix(clamped)

    def exact(self, summary: Moments) -> list[int]:
        """Return the exact sums that get noise: of rows, w_i, w_i w_j (i < j), 2 w_i^2 - s_i^2."""
        sums, n, numbered = (
            self.centered(summary),
            summary.rows,
            enumerate(self.upper_entries, len(self.spans)),
        )
        for number, (i, j, size) in numbered:
            if i == j:
                sums[number] = 2 * sums[number] - n * size
        return [n, *sums]

    def centered(self, summary: Moments) -> list[int]:
        """Return the exact sums of w_i, and the exact sums of w_i w_j."""
        spans, sums, n = self.spans, summary.sums, summary.rows
        products = zip(self.upper_entries, summary.products, strict=True)
        return [
            *(2 * a - n * s for a, s in zip(sums, spans, strict=True)),
            *(
                4 * p - 2 * spans[j] * sums[i] - 2 * spans[i] * sums[j] + n * size
                for (i, j, size), p in products
            ),
        ]

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        """Return the row count, and from noisy sums the covariances in cells, for a ddof of 0."""
        n, *sums = noisy
        if n <= max(1, self.ddof):
            return n, [Fraction(size if i == j else 0, 8) for i, j, size in self.upper_entries]
        numbered = enumerate(self.upper_entries, len(self.spans))
        halves = [sums[k] + n * size if i == j else 2 * sums[k] for k, (i, j, size) in numbered]
        return n, self.of_centered(n, sums, halves)

    def of_centered(self, n: int, sums: list[int], twice: list[int]) -> list[Fraction]:
        """Return the covariances in cells from sums of w_i and twice the sums of w_i w_j."""
        products = zip(self.upper_entries, twice, strict=True)
        return [Fraction(n * p - 2 * sums[i] * sums[j], 8 * n**2) for (i, j, _), p in products]

    def matrix(self, entries: Sequence[Fraction]) -> Floats:
        """Return upper triangle entries, in cells, as a symmetric matrix in units of the data."""
        matrix = np.empty((len(self.cells), len(self.cells)))
        for (i, j, _), entry in zip(self.upper_entries, entries, strict=True):
            unit = Fraction(self.cells[i].grid) * Fraction(self.cells[j].grid)
            matrix[i, j] = matrix[j, i] = nearest(entry * unit)
        return matrix

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each entry of the covariance matrix."""
        if rows is None:
            return unknown(confidence, ROWS)
        upper, over = self.upper_entries, max(1, rows - self.ddof)
        parts = [Fraction(0)] * len(upper)
        if not self.has_public_rows or rows > max(1, self.ddof):
            parts = self.off(rows, 1 - confidence)
        bars = zip(upper, parts, strict=True)
        halves = [
            min(part, Fraction(rows, (4 if i == j else 2) * over)) * size
            for (i, j, size), part in bars
        ]
        return ErrorBar(confidence, self.matrix(halves).tolist(), note=self.note)

    def off(self, rows: int, failure: float) -> list[Fraction]:
        """Return a bound on each entry's error, as a part of the product of its columns' spans.

        The bounds of entries differ only by the rounding of noise, which is largest for the
        smallest spans.
        """
        of_rows, of_mean = self.rare(rows, RARE * failure / 4)
        likely = (1 - RARE) * failure if of_mean else failure
        least, enough = rows - of_rows, max(1, self.ddof)
        kinds: dict[bool, Fraction] = {}
        by_size = sorted(enumerate(self.upper_entries), key=lambda numbered: numbered[1][2])
        for number, (i, j, size) in by_size:
            if not size or (i == j) in kinds:
                continue
            linear = self.half_width(rows, likely, self.linear(number, 1, 1, 1))
            error = ALL
            if least > enough:
                error = (linear / least + (of_mean / least) ** 2) / 4
                error = grown_error(error, of_rows, rows, least, self.ddof)
                error *= least / (least - self.ddof)
            kinds[i == j] = error
        return [kinds[i == j] if size else Fraction(0) for i, j, size in self.upper_entries]

    def rare(self, rows: int, failure: float) -> tuple[Fraction, Fraction]:
        """Return bounds, rarely exceeded, on the noise of the row count and of n times a mean."""
        spans = [span or MANY_ROWS for span in self.spans]
        of_rows = self.half_width(rows, failure, {0: 1} if self.heads else {})
        first = self.heads + spans.index(min(spans))
        return of_rows, of_rows + self.half_width(rows, failure, {first: 1})


@dataclass(frozen=True)
class OfGram(OfSums):
    """The mechanism for a public number of rows that adds noise to the Gram matrix."""

    has_public_rows: ClassVar[bool] = True

    @property
    def constant(self) -> Fraction:
        """The public constant c of the rows (c, z) whose Gram matrix gets noise."""
        return Fraction(round(32 * self.moving**0.25 / math.sqrt(2)), 32)

    @property
    def moving(self) -> int:
        """The number of columns that are not constant."""
        return sum(1 for span in self.spans if span)

    def sizes(self, n: int) -> list[int]:
        moved = [2 * span for span in self.spans]
        return moved + [(1 if i == j else 2) * size for i, j, size in self.upper_entries]

    def linear(self, entry: int, a: Any, b: Any, p: Any) -> dict[int, Any]:
        (i, j, _), both = self.upper_entries[entry], len(self.spans) + entry
        return {i: -2 * a, both: 1} if i == j else {i: -b, j: -a, both: 1}

    def moves(self, n: int) -> Moves:
        c = self.constant or Fraction(1)
        most = c**2 + self.moving
        axes = [max(span, 1) * most / c for span in self.spans]
        axes += [
            max(size, 1) * most * (ROOT_2 if i == j else 1) for i, j, size in self.upper_entries
        ]
        return replace(super().moves(n), axes=tuple(axes))

    def exact(self, summary: Moments) -> list[int]:
        return self.centered(summary)

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        return n, self.of_centered(n, noisy, [2 * p for p in noisy[len(self.spans) :]])


@dataclass(frozen=True)
class OfEntries(OfSums):
    """The mechanism for a public number of rows that adds noise to the entries V_ij directly."""

    has_public_rows: ClassVar[bool] = True
    note: ClassVar[str] = NOISE

    def scales(self, n: int) -> list[int]:
        return [n * size for _, _, size in self.upper_entries]

    def sizes(self, n: int) -> list[int]:
        return [(n - 1) * size for _, _, size in self.upper_entries]

    def linear(self, entry: int, a: Any, b: Any, p: Any) -> dict[int, Any]:
        return {entry: 4 + 0 * a}

    def exact(self, summary: Moments) -> list[int]:
        n, sums = summary.rows, summary.sums
        products = zip(self.upper_entries, summary.products, strict=True)
        return [n * product - sums[i] * sums[j] for (i, j, _), product in products]

    def entries(self, n: int, noisy: list[int]) -> tuple[int, list[Fraction]]:
        return n, [Fraction(entry, n**2) for entry in noisy]

    def rare(self, rows: int, failure: float) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)


@function_of(Covariance)
def covariance(data: Any, **arguments: Any) -> Any:
    """Release the covariance matrix of some columns, each clamped to its public bounds.

    Each column is a variable and each row an observation, as with ``numpy.cov(data, rowvar=False,
    ddof=ddof)``. The diagonal has the variances of the columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, with its numbers in all columns. The row is added
    or removed (the number `n` of rows is private), or replaced (`n` is public). The loss covers the
    whole matrix. With a private `n`, noise is added to the number of rows, the sums of the columns
    and the sums of their products, and the matrix is computed from these noisy sums. With a public
    `n`, noise is added either to the sums and the sums of products, or to the entries of the
    matrix, whose sensitivity is ``(hi_i - lo_i) (hi_j - lo_j) (n - 1) / n**2``. The choice that
    gives less error is taken, by public numbers alone.

    One row may change all of these numbers. So the noise of each number is proportional to its
    sensitivity, as in `sum` with ``axis=0``, or it is Gaussian noise for the Frobenius norm of the
    matrix of sums. A replaced row changes this matrix by at most sqrt(2) times the largest squared
    length of a row. Sums and noise are exact integers.

    Parameters
    ----------
    data : array_like of shape (n, d), structured array, table, or source
        The columns, in a form that `sample_and_aggregate` takes. A null in a table counts as NaN.
    bounds : sequence of d pairs of float, or "auto"
        Public limits of each column, in its units; values outside are clamped. The bounds must not
        come from the data. "auto" draws bounds as `dpfast.bounds` does, for a quarter of the loss
        in equal parts for all columns. It is refused for data without a dtype, such as a list,
        because their number of columns is unknown.
    ddof : int, default 0
        Sums of products of deviations are divided by ``n - ddof``.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public. "drop" leaves out the whole row.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float64 array of shape (d, d)
        The private covariance matrix. It is symmetric, but because of the noise it may not be
        positive semidefinite. Each entry is clamped to the limits that follow from the bounds.
        Values are rounded to the nearest of about ``2**30`` values between their bounds.

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
