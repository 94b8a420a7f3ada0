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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
from .._core.types import Auto, Bounds, NanPolicy, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import Mechanism
from ..noise.additive import amount
from ..noise.box import BoxNoise, box_noise, ellipsoid_noise
from ..privacy import Loss, Pure
from ..rng import Generator
from ..sources.intake import View, read_rows
from ..summaries.cells import SQUARES, Cells, cells, nearest
from ..summaries.moments import Moments, moments, two_of
from .arguments import Arguments, settled

ROOT_2 = root_up(Fraction(2))


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariances of the columns of clamped rows; see `dpfast.covariance`."""

    bounds: tuple[tuple[float, float], ...]
    neighbors: str
    nan: str | float
    loss: Loss
    masked: bool
    cells: tuple[Cells, ...]
    ddof: int
    rows: int = field(default=1, kw_only=True)  # of a person, that come or go at once

    name: ClassVar[str] = "covariance"

    @property
    def known(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.neighbors == "replace" and not self.masked

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the columns of each entry of the upper triangle."""
        return two_of(len(self.cells))

    @property
    def spans(self) -> list[int]:
        """Return the largest cell of each column."""
        return [column.span for column in self.cells]

    def _unit(self, i: int, j: int) -> Fraction:
        return Fraction(self.cells[i].grid) * Fraction(self.cells[j].grid)

    def reduce(self, source: View) -> Moments:
        return moments(source.source, self.bounds, self.cells, self.nan, source.where)

    def finish(self, summary: Moments, generator: Generator) -> NDArray[np.float64]:
        entries_of, spans = self._known if self.known else self._private, self.spans
        matrix = np.empty((len(spans), len(spans)))
        entries = zip(self.pairs, entries_of(summary, generator), strict=True)
        for (i, j), (entry, grown) in entries:
            most = Fraction(spans[i] * spans[j], 4) * grown
            inside = min(max(entry, Fraction(0) if i == j else -most), most)
            matrix[i, j] = matrix[j, i] = nearest(inside * self._unit(i, j))
        return matrix

    def _known(self, summary: Moments, generator: Generator) -> list[tuple[Fraction, Fraction]]:
        """Return each entry in cells, and its factor n / (n - ddof)."""
        n, sums = summary.rows, summary.sums
        if n <= max(1, self.ddof):
            return [(Fraction(0), Fraction(1))] * len(self.pairs)
        grown = Fraction(n, n - self.ddof)
        gram = self._gram
        if gram is not None:
            noisy = gram.add([*self._centered(summary), *self._products(summary)], generator)
            products = zip(self.pairs, noisy[len(sums) :], strict=True)
            pairs = [n * p - noisy[i] * noisy[j] for (i, j), p in products]
            return [(Fraction(entry, 4 * n * (n - self.ddof)), grown) for entry in pairs]
        exact = [
            n * both - sums[i] * sums[j]
            for (i, j), both in zip(self.pairs, summary.products, strict=True)
        ]
        noisy = self._noise(n).add(exact, generator)
        return [(Fraction(entry, n * (n - self.ddof)), grown) for entry in noisy]

    def _centered(self, summary: Moments) -> list[int]:
        """Return the sums of w_i."""
        each = zip(summary.sums, self.spans, strict=True)
        return [2 * a - summary.rows * s for a, s in each]

    def _products(self, summary: Moments) -> list[int]:
        """Return the sums of w_i w_j."""
        sums, spans, n = summary.sums, self.spans, summary.rows
        return [
            4 * p - 2 * spans[j] * sums[i] - 2 * spans[i] * sums[j] + n * spans[i] * spans[j]
            for (i, j), p in zip(self.pairs, summary.products, strict=True)
        ]

    def _private(self, summary: Moments, generator: Generator) -> list[tuple[Fraction, Fraction]]:
        n, spans, centered = summary.rows, self.spans, self._centered(summary)
        products = zip(self.pairs, self._products(summary), strict=True)
        both = [2 * p - n * spans[i] ** 2 if i == j else p for (i, j), p in products]
        rows, *noisy = self._noise(n).add([n, *centered, *both], generator)
        if rows <= max(1, self.ddof):
            middles = [spans[i] ** 2 if i == j else 0 for i, j in self.pairs]
            return [(Fraction(middle, 8), Fraction(1)) for middle in middles]
        entries, grown = [], Fraction(rows, rows - self.ddof)
        for (i, j), z in zip(self.pairs, noisy[len(spans) :], strict=True):
            product = Fraction(z + rows * spans[i] ** 2, 2) if i == j else Fraction(z)
            center = Fraction(noisy[i] * noisy[j], rows**2)
            entries.append(((product / rows - center) / 4 * grown, grown))
        return entries

    @property
    def _times(self) -> int:
        """Return by how many rows the sums of neighbors differ, where n is private."""
        return (2 if self.neighbors == "replace" else 1) * self.rows

    @property
    def _gram(self) -> BoxNoise | None:
        """Return the noise of the sums and products, or None where that of V_ij is less.

        They are compared by the variance, with a mean that is half-way between the middle and a
        bound: a matter of the loss and of how many columns there are.
        """
        loss, columns = self.loss, sum(1 for span in self.spans if span)
        if isinstance(loss, Pure) or columns < 2 or not self.known:
            return None
        c = Fraction(round(32 * columns**0.25 / math.sqrt(2)), 32)
        size = c**2 + columns
        axes = [max(span, 1) * size / c for span in self.spans]
        sizes = [2 * span for span in self.spans]
        for i, j in self.pairs:
            unit = self.spans[i] * self.spans[j]
            axes.append(max(unit, 1) * size * (ROOT_2 if i == j else 1))
            sizes.append((1 if i == j else 2) * unit)
        gram = ellipsoid_noise(loss, sizes, axes)
        of_variance = gram.deviation * float(size) * math.sqrt(1 / 8 + 1 / (16 * float(c) ** 2))
        return gram if of_variance < self._noise(2).deviation else None

    def _noise(self, n: int) -> BoxNoise:
        products = [self.spans[i] * self.spans[j] for i, j in self.pairs]
        if self.known:
            return box_noise(self.loss, [(n - 1) * product for product in products])
        return box_noise(
            self.loss, [self.rows, *(self._times * x for x in [*self.spans, *products])]
        )

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each entry: that of the noise where `n` is public, else a bound.

        With a private n, all in parts of its own scale: let e be the noise of the number of rows,
        f, g those of the two sums, h that of the sum of products, R = n + e, a and b the means of
        the two columns and p that of their products, all between -1 and 1. With d = (f - a e) / R
        and d' = (g - b e) / R, four times the covariance is off by (h - p e) / R - a d' - b d - d
        d', whose linear part is (h - a g - b f - (p - 2 a b) e) / R. Since p is between |a + b| - 1
        and 1 - |a - b|, p - 2 a b is between -1 and 1, and the size of the linear part is likely no
        larger than that of the sum of four noises (weights that shrink make a sum of numbers with a
        symmetric log-concave density smaller). For a variance f = g, and h is half of a noise and
        half of e, so the weights are at most 1/2, 2 and 3/2, and it is no larger than twice the sum
        of three.
        """
        spans, failure = self.spans, 1 - confidence
        if rows is None:
            return unknown(confidence, ROWS)
        width = [[0.0] * len(spans) for _ in spans]
        if rows <= max(1, self.ddof) and self.known:
            return Expected(confidence, width, note=NOISE)
        noise, gram = self._noise(rows), self._gram
        for place, (i, j) in enumerate(self.pairs):
            if gram is not None:
                part = self._of_gram(gram, rows, failure, place)
            elif self.known:
                part = noise.within(failure) * Fraction(rows - 1, rows * (rows - self.ddof))
            else:
                part = self._bound(noise, rows, failure, i == j)
            most = Fraction(rows, (4 if i == j else 2) * max(1, rows - self.ddof))
            half = min(part, most) * spans[i] * spans[j] * self._unit(i, j)
            width[i][j] = width[j][i] = nearest(half)
        note = NOISE if self.known and gram is None else BOUND
        return Expected(confidence, width, note=note)

    def _of_gram(self, gram: BoxNoise, rows: int, failure: float, place: int) -> Fraction:
        """Return the error of an entry from sums and products, as a part of the product of spans.

        With h the noise of the product and f, g those of the sums, in units of s_i s_j, s_i and
        s_j, 4 n times the entry is off by h - m_j f - m_i g - f g / n, for means between -1 and 1.
        The linear part is a normal number, but for rounding; it is largest for means of 1.
        """
        (i, j), d = self.pairs[place], len(self.spans)
        noises = [gram.each[at] for at in (i, j, d + place)]
        units = [self.spans[i], self.spans[j], self.spans[i] * self.spans[j]]
        both = [(n, unit) for n, unit in zip(noises, units, strict=True) if n is not None]
        if len(both) < 3:
            return Fraction(0)
        f, g, h = (noise.deviation / unit for noise, unit in both)
        spread = math.hypot(h, 2 * f) if i == j else math.hypot(h, f, g)
        linear = Fraction(spread * normal((1 - RARE) * failure) * (1 + 2.0**-30))
        rare = [Fraction(noise.within(RARE * failure / 2), unit) for noise, unit in both[:2]]
        return (linear + rare[0] * rare[1] / rows) / (4 * max(1, rows - self.ddof))

    def _bound(self, noise: BoxNoise, rows: int, failure: float, same: bool) -> Fraction:
        """Return the error of an entry with a private n, as a part of the product of spans."""
        rare = self._times * noise.within(RARE * failure / 4)
        least = rows - rare
        if least <= max(1, self.ddof):
            return ALL
        size, times = (1 - RARE) * failure, self._times
        linear = times * (2 * noise.within(size, 3) if same else noise.within(size, 4))
        part = (linear / least + (2 * rare / least) ** 2) / 4
        part = grown_error(part, rare, rows, least, self.ddof)
        return part * least / (least - self.ddof)


def covariance(
    data: Any,
    *,
    bounds: Sequence[Bounds] | NDArray[Any] | Auto,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    ddof: int = 0,
    nan: NanPolicy = "raise",
    where: Any = None,
    ids: Any = None,
    max_rows: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]:
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
        What becomes of NaN, as in `quantile`; "drop" leaves out the whole row.
    epsilon, delta, rho, neighbors, where, ids, max_rows, budget, rng
        As in `sum`; the loss is that of the whole matrix.

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
    width = None
    if not checks.is_auto(bounds):
        pairs, is_vector = checks.pairs(bounds)
        if not is_vector:
            checks.fail("bounds", "a pair for each column", bounds)
        width = len(pairs)
    beside = {"where": where, "ids": ids, "max_rows": max_rows, "budget": budget, "rng": rng}
    asked = Arguments(bounds, epsilon, delta, rho, neighbors, nan=nan, at_once=True, **beside)
    ddof = checks.whole("ddof", ddof)
    amount(asked.loss)
    view = read_rows(data, "bounds", width, asked.relation, where, ids=asked.ids)
    make = partial(_made, view.width, ddof)
    return asked.release(view, settled(asked, make, view.width))


def _made(width: int, ddof: int, asked: Arguments) -> Mechanism[NDArray[np.float64]]:
    """Return the mechanism of so many columns, each with bounds."""
    pairs = asked.pairs(width)
    grids = tuple(cells(lo, hi, SQUARES) for lo, hi in pairs)
    rest = asked.relation, asked.policy, asked.loss, asked.where is not None, grids, ddof
    mechanism = Covariance(pairs, *rest, rows=asked.rows)
    return replace(mechanism, loss=(mechanism._gram or mechanism._noise(2)).loss)
