"""Noisy normal equations: sums of products of 1, features and target, and how to solve them.

Coordinates are in units of half of the width of their bounds, so each is in [-1, 1]. All sums are
sums of integers. The classes `Moments` and `Normal` state how much a row changes them.

*Moments.* A row has d features z in [-1, 1] and a target t in [-1, 1]. It adds 1 to the number of
rows, and t to the sum of targets. For each feature it adds z, 1 - z^2 and z t to three more sums.
Each of these five kinds of sums has separate noise, calibrated as if its sensitivity were

    kind                    number of rows    sum of t       z      1 - z^2       z t
    L1 norm                       17             17        3.4 d     3.4 d       1.7 d
    squared L2 norm              14.5           14.5       5.8 d     5.8 d      1.45 d

All five together then cost no more than one round: measured in units of these sensitivities, an
added or removed row changes the sums by at most 1. Here "mean" is the mean over all d features, and
|t| is at most 1.

* In L1 norm, the change is at most

      2 / 17 + mean of ((|z| + 1 - z^2) / 3.4 + |z| / 1.7)
          = 2 / 17 + mean of (3 |z| + 1 - z^2) / 3.4.

  The last term increases in |z| up to |z| = 1, where it is 15 / 17. So the change is at most 1.
* In squared L2 norm, the change is at most

      2 / 14.5 + mean of ((z^2 + (1 - z^2)^2) / 5.8 + z^2 / 1.45).

  z^2 + (1 - z^2)^2 is at most 1, and so is z^2. So the change is at most 1.

A replaced row changes the sums by no more than one removed and one added row: by 2 in L1 norm, and
by 4 in squared L2 norm. It does not change the number of rows.

For epsilon alone, the three sums of all features may have joint noise instead, with 15 / 17 of the
loss. It is noise for the box of all their changes. An added or removed row changes the sums of z
and z t by at most 1, and a replaced row by at most 2. Both change the sum of 1 - z^2 by at most 1.
For three features or more, this noise is less.

*Number of rows and sum of targets alone.* Each gets noise as if its sensitivity were 2, in L1 norm
and in squared L2 norm. In units of this sensitivity, an added or removed row again changes them by
at most 1. A replaced row changes them by at most 2 in L1 norm, and by at most 4 in squared L2 norm.

*Rounding.* If the noise were too wide for the samplers, the integers of a part are first divided by
a power of two and rounded down. Each integer then changes by less than 1 more. Let N be the number
of all integers, and B_p the sensitivity of part p in its divided integers. Part p is calibrated to
B_p + r instead of B_p. We show that r >= 4 N is enough in L1 norm, and r >= 4 sqrt(N) in L2 norm.

Parts are divided until their noise has about the same width. So there is an X such that X / 2 <=
B_p + r <= X for all divided parts. Let a row change the divided parts by s and the others by v, in
units of the B_p. A part that changed by b B_p now changes by less than b B_p plus its rounding, and
B_p <= (1 - r / X) (B_p + r). So in units of B_p + r, the change of the divided parts is

* in L1 norm at most s (1 - r / X) + 2 N / X, with s + v <= 1. This must be at most 1 - v. The parts
  that are not divided have v <= 1 / 2, so s is up to 1 - v, which is at least 1 / 2. Then r >= 4 N
  is enough.
* in L2 norm at most s (1 - r / X) + 2 sqrt(N) / X, with s^2 + v^2 <= 1 and v^2 <= 1 / 2. In the
  same way r >= 4 sqrt(N) is enough.

So every part states that 16 N integers may change. The noise of divided integers then has r = 16 N
in L1 norm and r = sqrt(16 N) = 4 sqrt(N) in L2 norm.

*Standard errors.* The slopes are G b. Here b are the noisy products of features with the target,
around the means. G is the inverse of the matrix A of noisy products of features, with the ridge.
Rows are assumed to be independent, and the target to vary around the line with a variance s^2. This
variance is estimated by the target's sum of squares that the line does not explain, divided by the
number of rows minus the number of unknowns. Then b has three errors:

* from the sampling of rows, with the covariance s^2 A;
* from the noise in b;
* from the noise in A times the slopes. The noise of the product of two different features is in two
  entries of A.

Let W be the covariance of the two noise terms together. To first order in noise over rows, the
slopes have the covariance G (s^2 A + W) G. It does not include the biases of the ridge and of
clipping.

*The mean.* Let the noisy number of rows n have noise of variance v_0, and let the noisy sum have
noise of variance v. The mean is estimated by the sum times n / (n^2 + v_0 + 3 v). This is the best
linear estimate if the mean may be anywhere in [-1, 1] with equal probability, so that its square is
1 / 3 on average.
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

#: The integers that represent 1: in a coordinate of moments, in a weight of a line, and in a
#: coordinate along a line.
REACH, WEIGHT, LINE_REACH = 2.0**16, 2.0**20, 2.0**36
#: The square of the constant c, as a fraction of the largest squared length of a row.
CONSTANT = 0.25
#: The least variance that is used, in squared rows, instead of 0.
LEAST = 1e-9


class Products(NamedTuple):
    """Noisy sums of products of (1, z, t), and the variances of their noise (inf if unknown)."""

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
        """Return centered products of z, those of z with t, and the variances of the latter."""
        rows, mean = self.means(centered)
        x, y, v = mean[:-1], mean[-1], self.variances
        whole = self.values[1:, 1:] - rows * np.outer(mean, mean)
        variances = v[1:-1, -1]
        if centered:
            variances = variances + v[0, 1:-1] * y**2 + v[0, -1] * x**2 + v[0, 0] * (x * y) ** 2
        return whole[:-1, :-1], whole[:-1, -1], variances

    def shown(self, centered: bool) -> float:
        """Return how much the squared products with t exceed what noise alone would give.

        Each square is in units of its variance. So with noise alone their expected sum is the
        number of features.
        """
        _, along, variances = self.around(centered)
        return float((along**2 / variances).sum()) - len(along)

    def solve(
        self, noise: float, ridge: float | None, sides: Floats, centered: bool
    ) -> tuple[Floats, float, Floats | None]:
        """Return slopes, the value where all features are 0, and standard errors of the slopes.

        `noise` is the norm of the noise in the matrix of products of `sides` times z. If there is
        no `ridge`, the norm of the noise is added, and the slopes are shrunk by the part that noise
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

        None if the number of rows or the squares of t are unknown. The docstring of the module has
        the formula.
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

    Coordinates are integers up to `REACH`. `weights` are integers whose absolute values add up to
    about 2**27 for 2**14 columns. So all partial sums are integers below 2**53, in any order.
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
    """Integer sums over rows of 1, t, z, 1 - z^2 and z t, with the sensitivities stated above.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is the bounds of the target.
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
        if len(deviations) > 2:  # up to this line, squares are sums of 1 - z^2
            products.values[x, x] = products.values[0, 0] - products.values[x, x]
            products.variances[x, x] += products.variances[0, 0]
        return products

    def line(self, products: Products, centered: bool) -> Line:
        """Return the line that predicts the target best, by the products known so far.

        Its slope in a feature is the sum of products with the target divided by the sum of squares,
        and reduced by the part that noise explains.
        """
        squares, along, variances = products.around(centered)
        rows, mean = products.means(centered)
        x, v = mean[:-1], products.variances
        noise = np.sqrt(v.diagonal()[1:-1] + 4.0 * v[0, 1:-1] * x**2)
        whole = np.clip(squares.diagonal(), 0.0, rows) + 3.0 * noise.mean()
        kept = 1.0 - variances / np.maximum(along**2, variances)
        slopes = kept * along / whole
        # Positions are clipped at 4 standard deviations of the sum, computed as if columns were
        # independent.
        size = min(float(np.abs(slopes).sum()), 4.0 * math.sqrt(float((slopes**2).sum())))
        weights = np.zeros(self.width - 1)
        if size > 0:
            weights[self.live] = np.rint(slopes * (WEIGHT / size))
        return Line(self.limits, weights, float(np.rint(REACH * (weights[self.live] @ x))))


class Normal:
    """The normal equations in integer coordinates; `gram_matrix` derives their sensitivity.

    A row has coordinates of d features in [-1, 1], of the target in [-b, b], and a constant c. If
    there is a line, the coordinate along it is in [-l, l] with l^2 = d. So the products of a row
    have a norm of at most A + b^2, where A = c^2 + d + l^2. The noise is calibrated to this bound.
    c^2 is a quarter of the other terms.

    The public number b minimizes the error of the coefficients. The error of a coefficient is due
    to the noise of its product with the target, divided by b, and to the noise of all other
    products. With coefficients of length r the squared error is in proportion to (A + b^2)^2 (1 /
    b^2 + r^2). For r = 1 and a fixed c this is least for b^2 = (sqrt(1 + 8 A) - 1) / 4.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is the bounds of the target.
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
        #: The features with more than one value, and the target.
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

        Take a matrix of d columns whose entries have the standard deviation s off the diagonal, and
        at most sqrt(2) s on the diagonal. Its eigenvalues are at most about 2 sqrt(d) s. The
        returned norm is a little less, sqrt(2 d) s.
        """
        if not len(self.live):
            return 0.0
        unit = float((self.gram.reach[self.live] / self.sides).min())
        return math.sqrt(2.0 * len(self.live)) * deviations[-1] / unit**2
