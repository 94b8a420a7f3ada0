"""Penalized logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Number
from ..._kernels import aggregate as _native
from .base import Bound, Buffers, Floats, grouped
from .columns import Columns, Regression


@dataclass(frozen=True)
class LogisticRegression(Regression):
    """The coefficients of a penalized logistic regression on a block.

    NOT PRIVATE by itself: an estimator for `dpfast.sample_and_aggregate`, under the name
    "logistic-regression". The answer is the vector of the intercept and one coefficient for each
    column but the target, in their order; bounds are needed for each of these.

    Parameters
    ----------
    target : int or str, default -1
        The column that is explained, which holds 0 and 1: its place, negative from the end, or its
        name.
    intercept : bool, default True
        Whether the model has an intercept, which is then the first answer.
    penalty : float, default 1.0
        Greater than 0. The answer minimizes the negative log-likelihood plus penalty / 2 times the
        sum of the squares of the coefficients, the intercept left out: scikit-learn's
        ``LogisticRegression(C=1 / penalty)``. It depends on the units of the columns.
    max_iterations : int, default 100
        Steps of Newton's method; it mostly takes 5 to 10.
    tolerance : float, default 1e-10
        Greater than 0. A step is the last where the log-likelihood can gain no more than this by
        it, to second order. What remains after that step is far less.

    Raises
    ------
    ArgumentError
        If a parameter is out of its range.
    ArgumentTypeError
        If it is of the wrong type.

    Notes
    -----
    With a penalty above 0, and rows of both kinds where there is an intercept, the optimum is
    finite and there is but one: the penalized loss is strictly convex and grows in every direction.
    Newton's method with step halving finds it from 0.

    A block answers NaN, and counts as the default, where that does not hold or is not reached: it
    is empty, has a NaN or an infinity, a target other than 0 and 1, rows of one kind only (with an
    intercept), columns such that the Hessian is singular in float64 (those before a column leave
    less than 2^-40 of its weighted square and the penalty), or no convergence in `max_iterations`.

    O(rows columns^2) a step, about 4 ns a row and step for three columns. Rows are read as float64.

    Examples
    --------
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

    def _bound(self, form: Columns) -> Bound:
        target, work_size = form.place("target", self.target), _native.logistic_work(form.count)

        def work(
            rows: NDArray[Any], cuts: NDArray[np.int64], out: Floats, buffers: Buffers
        ) -> None:
            _native.logistic(
                buffers.floats(form.floats(rows)),
                cuts,
                target,
                self.intercept,
                float(self.penalty),
                self.max_iterations,
                float(self.tolerance),
                buffers.take("work", work_size),
                out,
            )

        return grouped(self.name, form.count - 1 + self.intercept, work)
