"""Penalized logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Number
from ..._kernels import aggregate as _native
from ...sources.base import RowSource
from ..blocks.layout import Window
from .base import Bound, ByBlock, Job
from .block_groups import Buffers, by_groups
from .columns import Columns, column_name, regressed

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogisticRegression:
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

    target: int | str = -1
    intercept: bool = True
    penalty: Number = 1.0
    max_iterations: int = 100
    tolerance: Number = 1e-10
    name = "logistic-regression"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", column_name("target", self.target))
        checks.flag("intercept", self.intercept)
        object.__setattr__(self, "penalty", checks.positive("penalty", self.penalty))
        most = checks.whole("max_iterations", self.max_iterations, 1)
        object.__setattr__(self, "max_iterations", min(most, 2**31))
        object.__setattr__(self, "tolerance", checks.positive("tolerance", self.tolerance))

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Check, before anything is spent, that target, bounds and columns agree."""
        form, target = regressed(source, self.name, self.target, self.intercept, width)
        return _Regressions(self, form, target)


class _Regressions(ByBlock):
    name = LogisticRegression.name

    def __init__(self, model: LogisticRegression, form: Columns, target: int) -> None:
        self.d = form.count - 1 + model.intercept
        self._model, self._form, self._target = model, form, target

    def fill(self, window: Window, out: Floats, job: Job) -> None:
        rows, offsets, model = window.rows, window.offsets, self._model

        def work(first: int, last: int, buffers: Buffers) -> None:
            start, stop = offsets[first], offsets[last]
            _native.logistic(
                self._table(rows[start:stop], buffers),
                offsets[first : last + 1] - start,
                self._target,
                model.intercept,
                float(model.penalty),
                model.max_iterations,
                float(model.tolerance),
                buffers.take("work", _native.logistic_work(self._form.count)),
                out[first:last],
            )

        by_groups(offsets, work, job)

    def _table(self, rows: NDArray[Any], buffers: Buffers) -> Floats:
        """Return rows as contiguous float64: where they are, or in a buffer."""
        form = self._form
        plain = form.names is None and rows.dtype == np.float64
        if plain and rows.flags.c_contiguous and rows.flags.aligned:
            return rows
        table = buffers.take("table", len(rows) * form.count).reshape(len(rows), form.count)
        if form.names is None:
            table[...] = rows
        else:
            for j, name in enumerate(form.names):
                table[:, j] = rows[name]
        return table
