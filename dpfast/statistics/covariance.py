"""Private covariance matrices: exact sums of products of cells, with integer noise.

Column i of a row is a cell u_i of 0 .. s_i. With a public n, entry (i, j) is

    V_ij = n sum(u_i u_j) - sum(u_i) sum(u_j) = sum over pairs of rows of (u_i - u_i') (u_j - u_j'),

over n^2. A replaced row changes n - 1 of these terms, each by at most s_i s_j: with c and d in
[0, 1], (a - c) (b - d) is largest, for a and b in [0, 1], at (1 - c) (1 - d) or c d, and least at
-c (1 - d) or -(1 - c) d, and any such two differ by 1 - d, 1 - c, c or d.

With a private n the number of rows, the sums of w_i = 2 u_i - s_i, those of the products w_i w_j
and of 2 w_i^2 - s_i^2 are released, which a row that comes or goes changes by at most 1, s_i, s_i
s_j and s_i^2. One that is replaced, where there is a `where`, changes the number of rows by 1 and
all others by at most twice as much.

All of them together are one release (`noise.box`): a row may change all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import ALL, BOUND, NOISE, RARE, ROWS, Expected, grown_error, unknown
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from ..budget.budget import Budget
from ..noise.additive import amount
from ..noise.box import BoxNoise, box_noise
from ..privacy import Loss
from ..rng import Generator
from ..sources.base import RowSource
from ..sources.intake import read_rows
from ..summaries.cells import SQUARES, Cells, cells, nearest
from ..summaries.moments import Moments, moments, two_of
from .arguments import Arguments


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariances of the columns of clamped rows; see `dpfast.covariance`."""

    bounds: tuple[tuple[float, float], ...]
    neighbors: str
    nan: str | float
    loss: Loss
    where: NDArray[np.bool_] | None
    cells: tuple[Cells, ...]
    ddof: int

    name: ClassVar[str] = "covariance"

    @property
    def known(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.neighbors == "replace" and self.where is None

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

    def reduce(self, source: RowSource) -> Moments:
        return moments(source, self.bounds, self.cells, self.nan, self.where)

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
        exact = [
            n * both - sums[i] * sums[j]
            for (i, j), both in zip(self.pairs, summary.products, strict=True)
        ]
        noisy = self._noise(n).add(exact, generator)
        grown = Fraction(n, n - self.ddof)
        return [(Fraction(entry, n * (n - self.ddof)), grown) for entry in noisy]

    def _private(self, summary: Moments, generator: Generator) -> list[tuple[Fraction, Fraction]]:
        n, sums, spans = summary.rows, summary.sums, self.spans
        centered = [2 * a - n * s for a, s in zip(sums, spans, strict=True)]
        both = []
        for (i, j), p in zip(self.pairs, summary.products, strict=True):
            scale = n * spans[i] * spans[j]
            p = 4 * p - 2 * spans[j] * sums[i] - 2 * spans[i] * sums[j] + scale
            both.append(2 * p - scale if i == j else p)
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
        return 2 if self.neighbors == "replace" else 1

    def _noise(self, n: int) -> BoxNoise:
        products = [self.spans[i] * self.spans[j] for i, j in self.pairs]
        if self.known:
            return box_noise(self.loss, [(n - 1) * product for product in products])
        return box_noise(self.loss, [1, *(self._times * x for x in [*self.spans, *products])])

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
        noise = self._noise(rows)
        for i, j in self.pairs:
            if self.known:
                part = noise.within(failure) * Fraction(rows - 1, rows * (rows - self.ddof))
            else:
                part = self._bound(noise, rows, failure, i == j)
            most = Fraction(rows, (4 if i == j else 2) * max(1, rows - self.ddof))
            half = min(part, most) * spans[i] * spans[j] * self._unit(i, j)
            width[i][j] = width[j][i] = nearest(half)
        return Expected(confidence, width, note=NOISE if self.known else BOUND)

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
    bounds: Sequence[Bounds] | NDArray[Any],
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
    public `n`, entry (i, j) has the sensitivity ``(hi_i - lo_i) (hi_j - lo_j) (n - 1) / n**2``, and
    all ``d (d + 1) / 2`` of them may change at once. With a private one, so do the number of rows,
    the sums and the sums of products, from which the matrix follows. All are exact integers, and so
    is the noise: that of `sum` with ``axis=0``, in proportion to what a row can do to each.

    Parameters
    ----------
    data : array_like of shape (n, d), structured array, table, or source
        As in `sample_and_aggregate`: what is null in a table is NaN.
    bounds : sequence of d pairs of float
        Public limits of each column, in its units; values outside are clipped. They must not come
        from the data.
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
    pairs, is_vector = checks.pairs(bounds)
    if not is_vector:
        checks.fail("bounds", "a pair for each column", bounds)
    beside = {"where": where, "ids": ids, "max_rows": max_rows, "budget": budget, "rng": rng}
    asked = Arguments(bounds, epsilon, delta, rho, neighbors, nan=nan, **beside)
    relation, policy = asked.relation, asked.policy
    ddof = checks.whole("ddof", ddof)
    loss = asked.loss
    amount(loss)
    view = read_rows(data, "bounds", len(pairs), relation, where, ids=asked.ids)
    grids = tuple(cells(lo, hi, SQUARES) for lo, hi in pairs)
    mechanism = Covariance(pairs, relation, policy, loss, view.where, grids, ddof)
    mechanism = replace(mechanism, loss=mechanism._noise(2).loss)
    return asked.release(view, mechanism)
