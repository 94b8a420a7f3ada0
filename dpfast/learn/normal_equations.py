"""Noisy normal equations: sums of products of 1, features and target, and how to solve them.

Coordinates are in units of half of the width of their bounds, so each is in [-1, 1]. All sums are
of integers; `Moments` and `Normal` have the changes by a row.

*Moments.* A row has features z in [-1, 1]^d and a target t. A row adds 1, t, and for each feature
z, 1 - z^2 and z t. Let their noises be those of the sensitivities 17, 17, 3.4 d, 3.4 d and 1.7 d in
L1 norm. In units of these noises a row changes the sums by at most

    2 / 17 + (|z| + 1 - z^2) / 3.4 + |z| / 1.7, with the mean over all features,

where the last two add up to (3 |z| + 1 - z^2) / 3.4, which rises up to |z| = 1. It is 15 / 17
there, so a row changes the sums by at most 1. In squared L2 norm let them be 14.5, 14.5, 5.8 d, 5.8
d and 1.45 d. Then a row moves by 2 / 14.5 + (z^2 + (1 - z^2)^2) / 5.8 + z^2 / 1.45 at most, and as
z^2 + (1 - z^2)^2 is at most 1, that is 1 again. A row that is replaced moves by no more than one
that goes and one that comes, and leaves the number of rows as it is: by 2, and by 4 in square.

With an epsilon alone the sums of features may have joint noise for the box of all of them, with
15 / 17 of the loss: z and z t go as far as 1, and 2 where rows are replaced, and 1 - z^2 as far as
1. That is less from three features on.

The number of rows and the sum of targets alone, each with noise for 2: a row moves by 1 again, in
L1 norm, and by 1 for 2 each in squared L2 norm. So does one that is replaced, by 2 and 4.

*Rounding.* Integers that are divided by a power of two and rounded down first change by less than 1
more each. Let there be N of them. They are divided only where noise is too wide otherwise, and by
so much that noise then has one width up to a factor of 2: with r added to what a part may change
by, B_p, in units of its own, all B_p + r lie between X / 2 and X. Where a row moved by s in the
parts that are divided, it now moves by s (1 - r / X) + 2 N / X at most in L1 norm. Those that are
not take at most v = 1 / 2 of the whole, so s need not be more than 1 - v, and r >= 4 N is enough.
In L2 norm it is s (1 - r / X) + 2 sqrt(N) / X with s^2 + v^2 = 1 and v^2 <= 1 / 2: r >= 4 sqrt(N)
is enough. So 16 N integers are said to change.

*Standard errors.* Slopes are G b, b the noisy products with the target around the means and G the
inverse of the noisy products A of features, with the ridge. Rows are taken for independent, with a
variance s^2 of the target around the line, which is what is left of its sum of squares over the
number of rows without those of the unknowns. Then b is off by the sampling of rows, of covariance
s^2 A, and by noise: that of its own, and that of A times the slopes, in which the noise of a
product of two features is there twice. So to first order in noise over rows the covariance of the
slopes is G (s^2 A + W) G, W that of the noise. It says nothing of the bias by the ridge, and of
what is clipped.

*The mean.* Of n rows with noise of variance v_0, and a sum with noise of variance v, the mean is
the sum times n / (n^2 + v_0 + 3 v): that is the best linear guess for a mean that might be anywhere
in [-1, 1], whose square then is 1 / 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.learn import PAIRS_MOST_ROWS as MOST_PAIRS
from .._kernels.learn import pairs_add as pairs
from ..measurement.choice import Moves
from ..privacy import Loss, Pure
from ..sulq.parts import Boxes, Part, Some
from ..sulq.rounds import Rounds
from .columns import Floats, Limits, limits
from .gram_matrix import GramMatrix
from .rows import Rows

#: Of the reach of a coordinate in moments; of the weights of a line; of the coordinate along one.
REACH, WEIGHT, LINE_REACH = 2.0**16, 2.0**20, 2.0**36
#: c^2, as a part of the largest squared length of a row.
CONSTANT = 0.25
#: What stands for a variance of 0, in squared rows.
LEAST = 1e-9


class Products(NamedTuple):
    """Noisy sums of products of (1, z, t), and the variances of their noise; inf if unknown."""

    values: Floats
    variances: Floats

    def joined(self, other: Products) -> Products:
        """Return the average of two noisy sums, weighted by inverse variance."""
        mine, theirs = 1.0 / self.variances, 1.0 / other.variances
        whole = mine + theirs
        precision = np.where(whole > 0, whole, 1.0)
        values = (mine * self.values + theirs * other.values) / precision
        return Products(values, np.where(whole > 0, 1.0 / precision, math.inf))

    def only(self, kept: Sequence[int], size: int) -> Products:
        """Return these products inside a matrix of `size` columns, unknown elsewhere."""
        at = np.ix_(kept, kept)
        other = Products(np.zeros((size, size)), np.full((size, size), math.inf))
        other.values[at], other.variances[at] = self
        return other

    def ends(self) -> Products:
        """Return the products of 1 and t alone."""
        at = np.ix_([0, -1], [0, -1])
        return Products(self.values[at], self.variances[at])

    def means(self, centered: bool) -> tuple[float, Floats]:
        """Return the noisy number of rows, at least 1, and the means of z and t."""
        rows, sums = float(self.values[0, 0]), self.values[0, 1:]
        if not centered or rows <= 0:
            return max(rows, 1.0), np.zeros(len(sums))
        spread = rows**2 + self.variances[0, 0] + 3.0 * self.variances[0, 1:]
        return max(rows, 1.0), np.clip(sums * (rows / spread), -1.0, 1.0)

    def around(self, centered: bool) -> tuple[Floats, Floats, Floats]:
        """Return centered products of z, products of z with t, and variances of the latter."""
        rows, mean = self.means(centered)
        x, y, v = mean[:-1], mean[-1], self.variances
        whole = self.values[1:, 1:] - rows * np.outer(mean, mean)
        variances = v[1:-1, -1]
        if centered:
            variances = variances + v[0, 1:-1] * y**2 + v[0, -1] * x**2 + v[0, 0] * (x * y) ** 2
        return whole[:-1, :-1], whole[:-1, -1], variances

    def shown(self, centered: bool) -> float:
        """Return the excess of squared products with t over their expectation under noise.

        That is in units of their variances, which add up to the number of features.
        """
        _, along, variances = self.around(centered)
        return float((along**2 / variances).sum()) - len(along)

    def solve(
        self, noise: float, ridge: float | None, sides: Floats, centered: bool
    ) -> tuple[Floats, float, Floats | None]:
        """Return slopes, the value where all features are 0, and standard errors of the slopes.

        `noise` is the size of the noise in the products of `sides` times z, as a matrix. If there
        is no `ridge`, that amount is added, and the slopes are shrunk by the part that noise
        explains.
        """
        matrix, along, variances = self.around(centered)
        values, vectors = np.linalg.eigh(matrix * np.outer(sides, sides))
        values = np.maximum(values, 0.0) + (noise if ridge is None else ridge)
        inverse = np.where(values > 0, 1.0 / np.where(values > 0, values, 1.0), 0.0)
        turned = vectors.T @ (along * sides)
        slopes, kept = sides * (vectors @ (turned * inverse)), 1.0
        if ridge is None:
            explained = float(inverse @ turned**2)
            by_noise = float(inverse @ (vectors.T**2 @ (variances * sides**2)))
            kept = max(0.0, 1.0 - by_noise / explained) if explained > 0 else 0.0
            slopes *= kept
        _, mean = self.means(centered)
        solver = kept * (vectors * inverse) @ vectors.T * np.outer(sides, sides)
        value = float(mean[-1] - slopes @ mean[:-1])
        return slopes, value, self._errors(slopes, solver, centered)

    def _errors(self, slopes: Floats, solver: Floats, centered: bool) -> Floats | None:
        """Return standard errors of slopes, where slopes are `solver` times products with t.

        None if the number of rows or the squares of t are unknown. See above.
        """
        v, (rows, mean) = self.variances, self.means(centered)
        if not np.isfinite([v[0, 0], v[-1, -1]]).all():
            return None
        matrix, along, variances = self.around(centered)
        x, between = mean[:-1], v[1:-1, 1:-1]
        if centered:
            first = v[0, 1:-1]
            between = between + np.outer(first, x**2) + np.outer(x**2, first)
            between += v[0, 0] * np.outer(x**2, x**2)
        noise = np.outer(slopes, slopes) * between
        noise[np.diag_indices(len(x))] = variances + between @ slopes**2
        left = self.values[-1, -1] - rows * mean[-1] ** 2 + slopes @ (matrix @ slopes - 2.0 * along)
        square = max(float(left), 0.0) / max(rows - len(x) - centered, 1.0)
        spread = np.diag(solver @ (square * matrix + noise) @ solver)
        return np.sqrt(np.maximum(spread, 0.0))


class Line(NamedTuple):
    """A direction in feature space, and the exact position of a row along it, within [-1, 1].

    Coordinates are integers up to `REACH`, `weights` integers that add up to 2**27 or so in size
    for 2**14 columns, so all partial sums are integers below 2**53 in any order.
    """

    limits: Limits
    weights: Floats
    middle: float

    @property
    def slopes(self) -> Floats:
        """The derivative of the position along the line by each coordinate of a row."""
        return np.asarray(self.weights * (REACH / LINE_REACH))

    def coordinates(self, x: Floats) -> Floats:
        """Return the position of each row along the line; NaN for a dropped row."""
        lo, hi, middle, scale, fills = self.limits.columns[:, :-1]
        if not self.limits.skip:
            x = np.where(np.isnan(x), fills, x)
        cells = np.clip(np.rint((np.clip(x, lo, hi) - middle) * scale), -REACH, REACH)
        return np.asarray(
            np.clip(cells @ self.weights - self.middle, -LINE_REACH, LINE_REACH) / LINE_REACH
        )


def _same(x: Floats) -> Floats:
    return x


def _totals(
    rows: Rows,
    bounded: Limits,
    nan: str | float,
    columns: Callable[[Floats], Floats],
    width: int,
) -> tuple[int, NDArray[Any], NDArray[Any]]:
    """Return the number of rows, sums of columns, and products of columns (upper triangle)."""

    def add(x: Floats, y: NDArray[Any], sums: NDArray[np.int64]) -> int:
        target = np.asarray(y, np.float64)
        column_sums, products = sums[1 : 1 + width], sums[1 + width :]
        missing: int = pairs(
            columns(x), target, bounded.columns, bounded.skip, column_sums, products
        )
        sums[0] += len(x) - missing if bounded.skip else len(x)
        return missing

    size = 1 + width + width * (width + 1) // 2
    kept, *sums = rows.sums(size, add, nan, MOST_PAIRS)
    return kept, np.array(sums[:width], object), np.array(sums[width:], object)


class Moments:
    """Integer sums over rows of 1, t, z, 1 - z^2 and z t; see above.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is that of the target.
    nan : str or float
    centered : bool
    """

    def __init__(self, bounds: list[tuple[float, float]], nan: str | float, centered: bool) -> None:
        self.nan, self.width = nan, len(bounds)
        self.limits = limits(bounds, nan, centered, [int(REACH)] * len(bounds))
        self.live = np.flatnonzero(self.limits.scale[:-1])

    def parts(self, relation: str, *, targets: bool = False) -> list[Part]:
        """Return the parts of a round: all kinds of sums, or two kinds for `targets`."""
        d, reach = len(self.live), int(REACH)
        if targets:
            sizes = [(1, Fraction(2), Fraction(2), 1), (1, Fraction(2), Fraction(2), reach)]
        else:
            l1, l2_squared = Fraction(17, 10), Fraction(29, 20)
            sizes = [(1, 10 * l1, 10 * l2_squared, unit) for unit in (1, reach)]
            sizes += [(d, 2 * d * l1, 4 * d * l2_squared, unit) for unit in (reach, reach**2)]
            sizes += [(d, d * l1, d * l2_squared, reach**2)]
        times = 2 if relation == "replace" else 1
        changed = 16 * sum(size for size, *_ in sizes)
        parts = [
            Part(
                size,
                math.ceil(times * l1 * unit),
                math.ceil(times**2 * l2_squared * unit**2),
                changed,
            )
            for size, l1, l2_squared, unit in sizes
        ]
        if relation == "replace":
            parts[0] = Part(1, 0, 0, 1)
        return parts

    def parts_within(self, loss: Loss, relation: str, rounds: Fraction) -> list[Some]:
        """Return the parts of one of `rounds`, with joint noise if it is smaller."""
        parts = self.parts(relation)
        d, reach, times = len(self.live), int(REACH), 2 if relation == "replace" else 1
        if not d or not isinstance(loss, Pure):
            return [*parts]
        sizes = [times * reach] * d + [reach**2] * d + [times * reach**2] * d
        joint = Boxes(Moves(tuple(sizes)), share=Fraction(15, 17))
        joint_deviations = joint.noise(loss, rounds).noise.deviations[::d]
        separate_deviations = [part.noise(loss, rounds).deviation for part in parts[2:]]
        less = all(a < b for a, b in zip(joint_deviations, separate_deviations, strict=True))
        return [*parts[:2], joint] if less else [*parts]

    def deviations(self, rounds: Rounds, parts: Sequence[Some], uses: int) -> list[float]:
        """Return the noise deviation of each kind of sums in a round."""
        d = max(1, len(self.live))
        return [x for part in parts for x in rounds.deviations(part, uses)[::d]]

    def total(self, rows: Rows, *, targets: bool = False) -> list[int]:
        """Return the exact integer sums of rows in the order of `parts`."""
        kept, sums, products = _totals(rows, self.limits, self.nan, _same, self.width)
        ends = [kept, sums[-1]]
        if targets:
            return ends
        square = np.zeros((self.width, self.width), object)
        square[np.triu_indices(self.width)] = products
        squares = kept * int(REACH) ** 2 - square.diagonal()[self.live]
        return [*ends, *sums[self.live], *squares, *square[self.live, -1]]

    def products(self, noisy: Sequence[int], deviations: Sequence[float]) -> Products:
        """Return noisy sums as `Products`, given the noise deviation of each part."""
        d = len(self.live)
        products = Products(np.zeros((d + 2, d + 2)), np.full((d + 2, d + 2), math.inf))
        x, first = np.arange(1, d + 1), np.zeros(d, np.intp)
        ends: list[tuple[Any, Any]] = [([0], [0]), ([0], [-1])]
        entries = [*ends, (first, x), (x, x), (x, first - 1)]
        units = [1.0, REACH, REACH, REACH**2, REACH**2]
        numbers = np.split(np.array(noisy, np.float64), [1, 2, 2 + d, 2 + 2 * d])
        for (i, j), part, unit, deviation in zip(entries, numbers, units, deviations, strict=False):
            products.values[i, j] = products.values[j, i] = part / unit
            products.variances[i, j] = products.variances[j, i] = max(
                (deviation / unit) ** 2, LEAST
            )
        if len(deviations) > 2:  # those are of 1 - z^2
            products.values[x, x] = products.values[0, 0] - products.values[x, x]
            products.variances[x, x] += products.variances[0, 0]
        return products

    def line(self, products: Products, centered: bool) -> Line:
        """Return the line that predicts the target best, by the products known so far.

        Its slope in a feature is the product with the target divided by the sum of squares, reduced
        by the part that noise explains.
        """
        squares, along, variances = products.around(centered)
        rows, mean = products.means(centered)
        x, v = mean[:-1], products.variances
        noise = np.sqrt(v.diagonal()[1:-1] + 4.0 * v[0, 1:-1] * x**2)
        whole = np.clip(squares.diagonal(), 0.0, rows) + 3.0 * noise.mean()
        kept = 1.0 - variances / np.maximum(along**2, variances)
        slopes = kept * along / whole
        # Positions are clipped if they are further than 4 deviations of columns that go apart.
        size = min(float(np.abs(slopes).sum()), 4.0 * math.sqrt(float((slopes**2).sum())))
        weights = np.zeros(self.width - 1)
        if size > 0:
            weights[self.live] = np.rint(slopes * (WEIGHT / size))
        return Line(self.limits, weights, float(np.rint(REACH * (weights[self.live] @ x))))


class Normal:
    """The normal equations in integer coordinates; their sensitivity is that of `gram_matrix`.

    Coordinates of features are in [-1, 1], those of the target in [-b, b]; there is a constant c;
    and those along a line, if there is one, are in [-l, l], where l^2 is the number d of features.
    A row's products have the norm c^2 + d + l^2 + b^2 at most, with c^2 a quarter of the rest, and
    so has the noise. A coefficient of size 1 is off by the noise of its own product over b, and by
    that of all others: in all (A + b^2)^2 (1 / b^2 + |coefficients|^2), A = c^2 + d + l^2. For
    coefficients of length 1 that is least for b^2 = (sqrt(1 + 8 A) - 1) / 4, with c held fixed.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is that of the target.
    nan : str or float
    centered : bool
        Whether there is an intercept.
    line : bool, default False
        Whether the first column is the coordinate along a line, in [-1, 1].
    """

    def __init__(
        self,
        bounds: list[tuple[float, float]],
        nan: str | float,
        centered: bool,
        line: bool = False,
    ) -> None:
        self.nan, self.centered = nan, centered
        live = np.array([lo != hi or not (centered or lo == 0) for lo, hi in bounds])
        sides = np.ones(len(bounds))
        d = np.count_nonzero(live[:-1])
        if line and d > 1:
            sides[0] = math.sqrt(d - 1)
        most = (1.0 + CONSTANT * centered) * float(sides[:-1] @ (sides[:-1] * live[:-1]))
        sides[-1] = math.sqrt((math.sqrt(1.0 + 8.0 * max(most, 1.0)) - 1.0) / 4.0)
        side_bounds = [(-side, side) for side in np.where(live, sides, 0.0).tolist()]
        self.gram = GramMatrix(side_bounds, "raise", centered, CONSTANT)
        self.limits = limits(bounds, nan, centered, self.gram.reach)
        self.live = np.flatnonzero(live[:-1])
        #: Features that have more than one value, and the target; and their sides.
        self._kept = np.append(self.live, len(bounds) - 1)
        self.sides = sides[self.live]
        self.deviations = self.gram.deviations

    def total(self, rows: Rows, columns: Callable[[Floats], Floats] = _same) -> list[int]:
        """Return the exact integer sums of rows in the order of the parts of `gram`."""
        return self.gram.in_parts(*_totals(rows, self.limits, self.nan, columns, self.gram.width))

    def products(self, noisy: Sequence[int], deviations: Sequence[float]) -> Products:
        """Return noisy sums as `Products`, given the noise deviation of each part."""
        matrix, first = self.gram.matrix(noisy), int(self.centered)
        size = len(matrix)
        variances = np.full((size, size), deviations[-1] ** 2)
        variances[np.diag_indices(size)] = deviations[1] ** 2
        scale = np.maximum(self.gram.reach, 1.0)
        if first:
            variances[0, 0] = deviations[0] ** 2
            variances[0] /= self.gram.constant**2
            variances[:, 0] /= self.gram.constant**2
            scale = np.append(1.0, scale)
        whole = np.outer(scale, scale)
        variances = np.maximum(variances / whole / whole, LEAST)
        at = [*range(first), *(self._kept + first)]
        of = range(1 - first, len(self._kept) + 1)
        products = Products(matrix / whole, variances)
        kept = Products(*(numbers[np.ix_(at, at)] for numbers in products))
        return kept.only(of, len(self._kept) + 1)

    def of_mean(self, deviations: Sequence[float]) -> float:
        """Return the noise deviation of the sum of targets."""
        return deviations[-1] / (self.gram.constant * max(float(self.gram.reach[-1]), 1.0))

    def noise(self, deviations: Sequence[float]) -> float:
        """Return the norm of the noise in the matrix of products of `sides` times z.

        A matrix of d columns whose entries have the standard deviation s off the diagonal, and at
        most sqrt(2) s on it, has eigenvalues of at most about 2 sqrt(d) s. This is a little less.
        """
        if not len(self.live):
            return 0.0
        unit = float((self.gram.reach[self.live] / self.sides).min())
        return math.sqrt(2.0 * len(self.live)) * deviations[-1] / unit**2
