"""Correlation and least squares: functions of means and of products about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...sources.base import RowSource
from ..blocks.partition import Partition
from ..blocks.tallies import Tally, Totals
from .columns import Columns, Regression
from .streaming import Streamed, centered, moments, tallied

Floats = NDArray[np.float64]

#: A feature counts as a function of those before it if they leave less of its square than this.
TOLERANCE = 2.0**-40


@dataclass(frozen=True)
class Correlation(Streamed):
    """Pearson's correlation of the columns of a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "correlation". Of two columns the answer is a number. Of m > 2 it is the vector of all pairs
    i < j, (0, 1), (0, 2), ..., (0, m - 1), (1, 2), ...: bounds are for m (m - 1) / 2 answers.

    Notes
    -----
    Two passes, the second about the means of the blocks; no shuffle, memory O(blocks m^2). The
    answer is NaN, and the block counts as the default, where a column is constant, where squares
    leave the range of float64, and where there is a NaN or an infinity. In small blocks a
    correlation is drawn towards 0 by about r (1 - r^2) / (2 rows).

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.outer(np.arange(30_000), [2**0.5, 3**0.5]) % 1
    >>> x[:, 1] += x[:, 0]
    >>> answer = dp.sample_and_aggregate(x, dp.estimators.Correlation(), blocks=300,
    ...                                  bounds=(-1, 1), epsilon=1.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> abs(answer - 0.5**0.5) < 0.05
    True
    """

    name = "correlation"

    def _width(self, form: Columns) -> int | None:
        if form.count < 2:
            checks.fail("data", "rows of two columns or more for 'correlation'", form.count)
        return None if form.count == 2 else form.count * (form.count - 1) // 2

    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        covariance = centered(source, partition, form).covariances()
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        usable = (variance > 0) & (variance < np.inf)
        i, j = np.triu_indices(form.count, 1)
        with np.errstate(all="ignore"):
            root = np.sqrt(variance)
            answers = np.clip(covariance[:, i, j] / (root[:, i] * root[:, j]), -1.0, 1.0)
        return np.where(usable[:, i] & usable[:, j], answers, np.nan)


@dataclass(frozen=True)
class LeastSquares(Regression, Streamed):
    """The coefficients of a linear regression on a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "least-squares". The answer is the vector of the intercept and one coefficient for each other
    column, in their order; bounds are needed for each of these.

    Parameters
    ----------
    target : int or str, default -1
        The column that is explained: its place, negative from the end, or its name.
    intercept : bool, default True
        Whether the model has an intercept, which is then the first answer.

    Raises
    ------
    ArgumentTypeError
        If a parameter is of the wrong type.

    Notes
    -----
    Three passes, no shuffle, memory O(blocks columns^2): the means of a block, the products about
    them (about 0 without an intercept), and the residuals, with which the solution of the normal
    equations is corrected once. A large offset of the columns costs no digits.

    A block answers NaN, and counts as the default, where the solution is not determined: it has
    fewer rows than coefficients, or the features before a feature explain all but 2^-40 of its
    variance (without an intercept, of its mean square), as where one is constant or a sum of
    others. So does a block with a NaN or an infinity.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> u, v, w = np.outer([2**0.5, 3**0.5, 5**0.5], np.arange(30_000)) % 1
    >>> rows = np.column_stack([u, v, 1 + 2 * u - v + (w - 0.5)])
    >>> answer = dp.sample_and_aggregate(rows, dp.estimators.LeastSquares(), blocks=300,
    ...                                  bounds=[(-5, 5)] * 3, epsilon=3.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> bool(abs(answer - [1, 2, -1]).max() < 0.2)
    True
    """

    name = "least-squares"

    def _compute(self, source: RowSource, partition: Partition, form: Columns) -> Floats:
        y = form.place("target", self.target)
        x = [j for j in range(form.count) if j != y]
        if self.intercept:
            tally = centered(source, partition, form)
            products = tally.covariances()
            rest, shift = tally.residuals(), tally.shift
        else:
            tally = moments(source, partition, form, True)
            products = tally.products()
            rest = shift = np.zeros((partition.blocks, form.count))
        assert shift is not None
        gram = products[:, x][:, :, x]
        slopes = solve(gram, products[:, x, y])
        left = tallied(source, partition, form, lambda: _Residuals(shift, slopes, x, y))
        total, along = left.means(tally.counts)
        with np.errstate(all="ignore"):
            if self.intercept:
                along -= total[:, None] * rest[:, x]
            slopes = slopes + solve(gram, along)
            answers = slopes
            if self.intercept:
                level, tail = shift[:, y].copy(), rest[:, y].copy()
                for at, j in enumerate(x):
                    level -= slopes[:, at] * shift[:, j]
                    tail -= slopes[:, at] * rest[:, j]
                answers = np.column_stack([level + tail, slopes])
        answers[tally.counts < answers.shape[1]] = np.nan
        answers[~np.isfinite(answers).all(axis=1)] = np.nan
        return answers


class _Residuals(Tally[Totals]):
    """Sums of the residuals of the target, and of their products with the features."""

    def __init__(self, shift: Floats, slopes: Floats, features: list[int], target: int) -> None:
        self.shift, self.slopes = shift, slopes
        self.features, self.target = features, target
        self.parts = [Totals(len(shift)) for _ in range(1 + len(features))]

    def _terms(self, rows: NDArray[Any], of_rows: Callable[[Floats], Floats]) -> Iterator[Floats]:
        shift, slopes = of_rows(self.shift), of_rows(self.slopes)
        with np.errstate(all="ignore"):
            left = rows[:, self.target] - shift[:, self.target]
            x = [rows[:, j] - shift[:, j] for j in self.features]
            for k, column in enumerate(x):
                left -= slopes[:, k] * column
        yield left
        for column in x:
            with np.errstate(all="ignore"):
                product = left * column
            yield product

    def means(self, counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return means of residuals (blocks,) and of their products (blocks, features)."""
        first, *more = (total.means(counts) for total in self.parts)
        return first, np.stack(more, axis=1)


def solve(gram: Floats, right: Floats) -> Floats:
    """Solve ``gram[b] @ z = right[b]`` for each b; NaN where `gram[b]` is singular.

    Gaussian elimination of symmetric matrices, all at once and number by number. So an answer is a
    function of its own matrix to the last bit, which libraries of linear algebra, with threads and
    blocks of their own, do not promise. Pivot j is what the features before j leave of feature j's
    square.
    """
    p = gram.shape[1]
    a, z = gram.copy(), right.copy()
    due = TOLERANCE * np.diagonal(gram, axis1=1, axis2=2)
    good = np.ones(len(a), np.bool_)
    with np.errstate(all="ignore"):
        for j in range(p):
            pivot = a[:, j, j]
            good &= (pivot > due[:, j]) & (pivot < np.inf)
            factor = a[:, j + 1 :, j] / pivot[:, None]
            a[:, j + 1 :, j + 1 :] -= factor[:, :, None] * a[:, j, None, j + 1 :]
            z[:, j + 1 :] -= factor * z[:, j, None]
        for j in reversed(range(p)):
            z[:, j] /= a[:, j, j]
            z[:, :j] -= a[:, :j, j] * z[:, j, None]
    z[~good] = np.nan
    return z
