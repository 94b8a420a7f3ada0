"""Estimators of regressions on blocks: least squares, and penalized logistic regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Number
from ..._kernels import aggregate as _native
from ...tables.base import RowSource
from ..blocks.partition import Partition
from ..blocks.tallies import Tally, Totals
from .base import Bound, Buffers, Floats, grouped
from .columns import ByColumn, Columns, Streamed, centered, moments, tallied

#: A feature counts as a linear function of earlier features if these leave less than this fraction
#: of its square.
TOLERANCE = 2.0**-40


@dataclass(frozen=True)
class Regression(ByColumn):
    """The base of regressions of the column `target` on all other columns."""

    target: int | str = -1
    intercept: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.target, str):
            if not checks.is_whole(self.target):
                rule = "the index of a column (an integer) or its name"
                checks.fail_type("target", rule, self.target)
            object.__setattr__(self, "target", int(self.target))
        checks.flag("intercept", self.intercept)

    def _width(self, columns: Columns) -> int:
        if columns.count < 2:
            rule = f"rows of a target and at least one feature for {self.name!r}"
            checks.fail("data", rule, columns.count)
        columns.index_of("target", self.target)
        return columns.count - 1 + self.intercept


@dataclass(frozen=True)
class LeastSquares(Regression, Streamed):
    """The coefficients of a linear regression on a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "least-squares". The answer is a vector: the intercept, and then the coefficient of each feature
    column in order. Bounds are needed for each of these numbers.

    Parameters
    ----------
    target : int or str, default -1
        The column to predict: its name, or its index (a negative index counts from the end).
    intercept : bool, default True
        Whether the model has an intercept. It is then the first entry of the answer.

    Raises
    ------
    ArgumentTypeError
        If a parameter is of the wrong type.

    Notes
    -----
    Cost: three passes over the data without sorting, and O(blocks columns^2) memory. The passes
    compute the means of each block, the products about these means (about 0 without an intercept),
    and the residuals, which correct the solution once. So a large offset of the columns does not
    cost accuracy.

    A block has no answer, and counts as the `default`, if it has a NaN or an infinity, or if the
    solution is not unique. This is so if there are fewer rows than coefficients, or if one feature
    is constant or nearly a linear function of others. (The limit: the features before a feature
    explain all but 2^-40 of its variance, or without an intercept of its mean square.)

    Examples
    --------
    A target with the intercept 1 and the coefficients 2 and -1:

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

    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        y = columns.index_of("target", self.target)
        x = [j for j in range(columns.count) if j != y]
        if self.intercept:
            tally = centered(source, partition, columns)
            second = tally.covariances()
            residuals, shift = tally.residuals(), tally.shift
        else:
            tally = moments(source, partition, columns, True)
            second = tally.products()
            residuals = shift = np.zeros((partition.blocks, columns.count))
        assert shift is not None
        gram = second[:, x][:, :, x]
        slopes = solve(gram, second[:, x, y])
        left = tallied(source, partition, columns, lambda: _residuals(shift, slopes, x, y))
        total, *products = (part.means(tally.counts) for part in left.parts)
        along = np.stack(products, axis=1)
        with np.errstate(all="ignore"):
            if self.intercept:
                along -= total[:, None] * residuals[:, x]
            slopes = slopes + solve(gram, along)
            answers = slopes
            if self.intercept:
                level, tail = shift[:, y].copy(), residuals[:, y].copy()
                for at, j in enumerate(x):
                    level -= slopes[:, at] * shift[:, j]
                    tail -= slopes[:, at] * residuals[:, j]
                answers = np.column_stack([level + tail, slopes])
        answers[tally.counts < answers.shape[1]] = np.nan
        answers[~np.isfinite(answers).all(axis=1)] = np.nan
        return answers


def _residuals(shift: Floats, slopes: Floats, features: list[int], target: int) -> Tally[Totals]:
    """Return the sums of the target's residuals, and of their products with features."""

    def terms(rows: NDArray[Any], of_rows: Callable[[Floats], Floats]) -> Iterator[Floats]:
        offsets, factors = of_rows(shift), of_rows(slopes)
        with np.errstate(all="ignore"):
            left = rows[:, target] - offsets[:, target]
            x = [rows[:, j] - offsets[:, j] for j in features]
            for k, column in enumerate(x):
                left -= factors[:, k] * column
        yield left
        for column in x:
            with np.errstate(all="ignore"):
                product = left * column
            yield product

    return Tally([Totals(len(shift)) for _ in range(1 + len(features))], terms)


def solve(gram: Floats, right: Floats) -> Floats:
    """Solve ``gram[b] @ z = right[b]`` for each b; NaN if `gram[b]` is singular.

    Gaussian elimination of symmetric matrices, for all matrices at once, number by number. So each
    answer has the same bits for the same matrix, which linear algebra libraries with threads and
    blocks do not guarantee. Pivot j is the part of the square of feature j that the features before
    j do not explain.
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


@dataclass(frozen=True)
class LogisticRegression(Regression):
    """The coefficients of a penalized logistic regression on a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "logistic-regression". The answer is a vector: the intercept, and then the coefficient of each
    feature column in order. Bounds are needed for each of these numbers.

    Parameters
    ----------
    target : int or str, default -1
        The column to predict, with the values 0 and 1: its name, or its index (a negative index
        counts from the end).
    intercept : bool, default True
        Whether the model has an intercept. It is then the first entry of the answer.
    penalty : float, default 1.0
        The penalty, above 0. The answer minimizes the negative log-likelihood plus ``penalty / 2``
        times the sum of the squared coefficients, without the intercept. This is scikit-learn's
        ``LogisticRegression(C=1 / penalty)``. The effect depends on the units of the columns.
    max_iterations : int, default 100
        The largest number of steps of Newton's method. Usually 5 to 10 steps are needed.
    tolerance : float, default 1e-10
        A number above 0. The iteration stops if a step can increase the log-likelihood by at most
        this number, to second order. The remaining error is far smaller.

    Raises
    ------
    ArgumentError
        If a parameter is out of its range.
    ArgumentTypeError
        If a parameter is of the wrong type.

    Notes
    -----
    Cost: O(rows columns^2) for each step, about 4 ns for each row and step with three columns. Rows
    are read as float64.

    A block has no answer, and counts as the `default`, if it is empty, if it has a NaN, an infinity
    or a target other than 0 and 1, if all rows are of one class (with an intercept), or if Newton's
    method does not converge in `max_iterations` steps. It also has none if the Hessian is singular
    in float64: the columns before a column leave less than 2^-40 of its weighted square plus the
    penalty.

    Otherwise there is exactly one finite optimum, because the penalized loss is strictly convex and
    grows in every direction. Newton's method with step halving, started at 0, finds it.

    Examples
    --------
    Log-odds with the intercept 0.5 and the coefficients 1 and -1:

    >>> import numpy as np, dpfast as dp
    >>> u = np.arange(60_000)[:, None] * [0.8191725, 0.6710436, 0.5497005] % 1
    >>> x = 6 * u[:, :2] - 3
    >>> y = u[:, 2] < 1 / (1 + np.exp(-(0.5 + x @ [1, -1])))
    >>> answer = dp.sample_and_aggregate(np.column_stack([x, y]), "logistic-regression", blocks=300,
    ...                                  bounds=[(-3, 3)] * 3, epsilon=3.0,
    ...                                  rng=dp.rng.InsecureGenerator(1))
    >>> bool(abs(answer - [0.5, 1, -1]).max() < 0.2)
    True
    """

    penalty: Number = 1.0
    max_iterations: int = 100
    tolerance: Number = 1e-10
    name = "logistic-regression"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalty", checks.positive("penalty", self.penalty))
        most = checks.whole("max_iterations", self.max_iterations, 1)
        object.__setattr__(self, "max_iterations", min(most, 2**31))
        object.__setattr__(self, "tolerance", checks.positive("tolerance", self.tolerance))

    def _bound(self, columns: Columns) -> Bound:
        target = columns.index_of("target", self.target)
        work_size = _native.logistic_work(columns.count)

        def work(
            rows: NDArray[Any], cuts: NDArray[np.int64], out: Floats, buffers: Buffers
        ) -> None:
            _native.logistic(
                buffers.floats(columns.floats(rows)),
                cuts,
                target,
                self.intercept,
                float(self.penalty),
                self.max_iterations,
                float(self.tolerance),
                buffers.take("work", work_size),
                out,
            )

        return grouped(self.name, columns.count - 1 + self.intercept, work)
