"""The Gram matrix of rows: exact sums of products of all columns, and their sensitivity.

A row is a vector z of integers: the distances of its cells from a public middle, with |z_j| <= h_j.
The integers are stored as float64. The sum of the products of 2**12 rows is an integer below 2**53.
So nothing is rounded, for any order of the additions, and also by fused multiplications. For a few
columns a kernel multiplies, which reads rows once; for more columns a matrix library. Both give the
same integers.

*Sensitivity.* Let w be the D numbers (c, z) with a public integer c, or the D numbers z. The
squares w_i^2 and the products w_i w_j, i < j, are released. The noise of a product has half the
variance of the noise of a square. So a row costs as much as a vector of all w_i^2 and all sqrt(2)
w_i w_j with noise of one scale. The length of this vector is |w|^2, which is at most M = c^2 +
h_1^2 + ... + h_d^2. For this reason the stated sensitivity is M for the squares and M / sqrt(2) for
the products, and both parts use the whole round. If a row w is replaced by a row w', the change is
at most sqrt(2) M, because the inner product of the two vectors, (w . w')^2, is not negative. The
count times c^2 does not change then.

For an epsilon alone, the matrix of all products gets noise for its nuclear norm (`noise.wishart`).
With a delta it does so if this noise is smaller and only products are queried. The nuclear norm of
a change is at most M if a row is added or removed, and at most 2 M if a row is replaced. This noise
is up to sqrt(D) times smaller than noise for the L1 norm of all products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import learn as kernels
from .._kernels.rng import isa
from ..privacy import Approx, Loss, Pure
from ..sulq.parts import Matrix, Part, Some
from ..sulq.rounds import Rounds
from .columns import Floats, nan_fills
from .rows import Rows

#: The widest column has about 2**BITS cells. The kernel multiplies NARROW rows at a time, and the
#: library WIDE rows. The library adds float64: 2**12 products of integers below 2**20 stay below
#: 2**53.
BITS, NARROW, WIDE = 20, 1 << 13, 1 << 12
#: The limits of columns are repeated up to so many numbers, so that vector instructions can read
#: them.
LONG = 1 << 8


def _cells(lo: float, hi: float, grid: float) -> tuple[int, int]:
    """Return the first and last grid cell between two bounds; if there is none, the nearest."""
    low, high = Fraction(lo) / Fraction(grid), Fraction(hi) / Fraction(grid)
    first, last = math.ceil(low), math.floor(high)
    return (first, last) if first <= last else (round(low),) * 2


class GramMatrix:
    """Exact products of columns with public bounds, on one public grid.

    Parameters
    ----------
    bounds : sequence of pairs
    nan : str or float
        The replacement of a NaN.
    centered : bool
        Whether z is measured from the middle of the bounds, with a constant c. Otherwise z is
        measured from 0, without a constant.
    constant : float, default 1 / 2
        c^2, as a fraction of the largest squared length of z.

    Attributes
    ----------
    grid : float
        The width of a cell.
    middle, reach : float64 array of shape (d,)
        The middle of the bounds, and the largest distance from the middle, in cells.
    constant : int
        The constant c, or 0.
    most : int
        The bound M.
    size : int
        The number D.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float]],
        nan: str | float,
        centered: bool,
        constant: float = 0.5,
    ) -> None:
        self.nan, self.width = nan, len(bounds)
        fills, self._skip = nan_fills(nan, bounds)
        self._fills = np.array(fills)
        largest = max(max(abs(lo), abs(hi)) for lo, hi in bounds)
        wide = max(hi - lo for lo, hi in bounds) if centered else largest
        exponent = math.frexp(wide or largest or 1.0)[1] - 1 - (BITS - 1)
        if math.frexp(largest)[1] - exponent > 50:
            rule = "wider, because their distance from 0 is more than 2**30 times their width"
            checks.fail("bounds", rule, bounds)
        self.grid = math.ldexp(1.0, max(exponent, -1000))
        # Many columns have the same bounds.
        cells = {pair: _cells(*pair, self.grid) for pair in set(bounds)}
        edges = [cells[pair] for pair in bounds]
        middle = [(a + b) // 2 if centered else 0 for a, b in edges]
        reach = [max(abs(a - m), abs(b - m)) for (a, b), m in zip(edges, middle, strict=True)]
        squares = sum(h * h for h in reach)
        self.constant = max(1, math.isqrt(int(squares * constant))) if centered else 0
        self.most = self.constant**2 + squares
        self.size = len(reach) + (self.constant > 0)
        self.middle, self.reach = np.array(middle, np.float64), np.array(reach, np.float64)
        column_limits = np.array([*zip(*edges, strict=True), middle], np.float64)
        low, high, middles = np.tile(column_limits[:, None], (1, max(1, LONG // len(bounds)), 1))
        self._limits = low, high, middles

    def parts_within(self, loss: Loss, neighbors: str, *, alone: bool = False) -> list[Some]:
        """Return the parts of a round with the least noise for a loss.

        If the parts are queried `alone`, a loss with a delta uses the smaller of two kinds of
        noise.
        """
        parts, whole = self.parts(neighbors), self.whole(neighbors)
        if isinstance(loss, Pure):
            return [whole]
        less = alone and isinstance(loss, Approx) and parts[-1].noise(loss, 1).deviation
        return [whole] if less and whole.noise(loss, 1).deviation < less else [*parts]

    def whole(self, neighbors: str) -> Matrix:
        """Return all products as one matrix part, whose noise is for the nuclear norm."""
        replaced = neighbors == "replace"
        # The first square is c^2 times the number of rows, which is public.
        public_squares = int(replaced and self.constant > 0)
        return Matrix(self.size, (2 if replaced else 1) * self.most, public_squares)

    def deviations(
        self, rounds: Rounds, parts: Sequence[Some], uses: int
    ) -> tuple[float, float, float]:
        """Return the noise deviations of the row count times c^2, of squares, and of products."""
        first = parts[0]
        if isinstance(first, Matrix):
            deviation = rounds.deviation(first, uses)
            squares = math.sqrt(2.0) * deviation
            return 0.0 if first.public_squares else squares, squares, deviation
        deviations = [rounds.deviation(part, uses) for part in parts]
        return deviations[0], deviations[-2], deviations[-1]

    def parts(self, neighbors: str) -> list[Part]:
        """Return the parts of a round: row count times c^2 (if c is not 0), squares, products.

        If integers are divided by a unit and rounded down, each changes by 1 more. With equal units
        this adds up to D. If the unit of the squares is twice the unit of the products, it adds up
        to less than 2 D units of the products.
        """
        d, m, size = self.width, self.most, self.size
        # The noise here is not calibrated to the L1 norm, so an upper bound on the L1 norm is
        # enough.
        l1, l2_squared, l0 = size * m, m * m, (2 * size) ** 2
        count = Part(1, l1, l2_squared, l0)
        if neighbors == "replace":
            count, l1, l2_squared = Part(1, 0, 0, 1), 2 * l1, 2 * l2_squared
        squares = Part(d, l1, l2_squared, l0)
        products = Part(size * (size - 1) // 2, l1, -(-l2_squared // 2), -(-l0 // 2))
        return [count, squares, products] if self.constant else [squares, products]

    def total(self, rows: Rows) -> list[int]:
        """Return the exact integer sums of rows in the order of `parts`."""
        d = self.width
        narrow = d <= kernels.GRAM_MOST_COLUMNS and isa() != "baseline"
        multiply, most = (self._narrow, NARROW) if narrow else (self._wide, WIDE)

        def add(x: Floats, _: Any, sums: NDArray[np.int64]) -> int:
            missing = multiply(x, sums[1 : 1 + d], sums[1 + d :].reshape(d, d))
            sums[0] += len(x) - missing * self._skip
            return missing

        room = kernels.GRAM_MOST_ROWS
        count, *sums = rows.sums(1 + d + d * d, add, self.nan, most, room)
        products = np.array(sums[d:], object).reshape(d, d)
        return self.in_parts(count, np.array(sums[:d], object), products[np.triu_indices(d)])

    def in_parts(self, rows: int, sums: NDArray[Any], products: NDArray[Any]) -> list[int]:
        """Return row count, sums and products (upper triangle) in the order of `parts`."""
        d, c = self.width, self.constant
        edges = [i * d - i * (i - 1) // 2 for i in range(d)]
        both = [*products[edges], *np.delete(products, edges)]
        return [rows * c**2, *both[:d], *(c * sums), *both[d:]] if c else both

    def matrix(self, noisy: Sequence[int]) -> Floats:
        """Return noisy sums as the symmetric matrix of products of (1, z), or of z if c is 0."""
        size = self.size
        matrix = np.zeros((size, size))
        matrix[np.diag_indices(size)] = np.array(noisy[:size], np.float64)
        matrix[np.triu_indices(size, 1)] = np.array(noisy[size:], np.float64)
        matrix += np.triu(matrix, 1).T
        if self.constant:
            matrix[0] /= self.constant
            matrix[:, 0] /= self.constant
        return matrix

    def _narrow(self, x: Floats, sums: NDArray[np.int64], products: NDArray[np.int64]) -> int:
        """Add the sums and products of rows by a kernel, and return how many rows have a NaN."""
        at = kernels.gram_add(x, 1.0 / self.grid, *self._limits, sums, products)
        if at == len(x):
            return 0
        filled, missing = self._filled(x[at:])
        kernels.gram_add(filled, 1.0 / self.grid, *self._limits, sums, products)
        return missing

    def _wide(self, x: Floats, sums: NDArray[np.int64], products: NDArray[np.int64]) -> int:
        """Add the sums and products of rows by matrix products, and return how many have a NaN."""
        z, missing = np.empty_like(x), 0
        if kernels.box_whole(x, 1.0 / self.grid, *self._limits, z):
            filled, missing = self._filled(x)
            z = z[: len(filled)]
            kernels.box_whole(filled, 1.0 / self.grid, *self._limits, z)
        sums += (np.ones(len(z)) @ z).astype(np.int64)
        products += (z.T @ z).astype(np.int64)
        return missing

    def _filled(self, x: Floats) -> tuple[Floats, int]:
        """Return rows with NaN replaced or dropped, and how many rows have a NaN."""
        missing = np.isnan(x)
        absent = missing.any(axis=1)
        x = x[~absent] if self._skip else np.where(missing, self._fills, x)
        return np.ascontiguousarray(x), int(np.count_nonzero(absent))
