"""Propose-test-release for the mean.

Rows become cells of a public grid (`dpfast/summaries/cells.py`), so their sum is exact, and so is
the largest local sensitivity of n rows. *Add-remove*, with the middle of the bounds for the mean of
no rows: A(k) is at most R / max(n - k, 2) (`dpfast/sensitivity/mean.py`), and that is above b from
k = n - ceil(R / b) + 1 on if b < R / 2, and never otherwise. *Replace*: R / n, for all data alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._core import checks
from ..._core.types import Bounds, NanPolicy, Neighbors, Number
from ...budget.budget import Budget
from ...budget.release import release
from ...rng import Generator
from ...sources import Source, as_source
from ...summaries.cells import Cells, cells, nearest
from ...summaries.totals import settled, totals
from ..arguments import Arguments
from .answer import NoAnswer
from .proposal import Measured, proposal


def mean_distance(n: int, span: int, proposed: Fraction, neighbors: str, most: int) -> int:
    """Return how many rows to change until the sensitivity of the mean is above `proposed`.

    The mean is that of n values in 0 .. span.
    """
    if neighbors == "replace":
        return most if n == 0 or span <= proposed * n else 0
    if 2 * proposed >= span:
        return most
    return min(max(0, n - math.ceil(span / proposed) + 1), most)


@dataclass(frozen=True, slots=True)
class _Mean:
    lo: float
    hi: float
    cells: Cells
    proposed: float
    neighbors: str
    nan: str | float

    def __call__(self, source: Source, most: int) -> Measured:
        cells = self.cells
        rows = settled(totals(source, cells, None), self.nan, self.lo, self.hi, cells)
        n, span = rows.rows, cells.span
        middle = Fraction(rows.sum, n) if n else Fraction(span, 2)
        grid = Fraction(cells.grid)
        value = min(max(nearest((cells.first + middle) * grid), self.lo), self.hi)
        limit = Fraction(self.proposed) / grid
        return Measured(
            value if span else self.lo, mean_distance(n, span, limit, self.neighbors, most)
        )


def mean(
    data: Any,
    *,
    bounds: Bounds,
    proposed: Number,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    test_share: Number = 0.5,
    neighbors: Neighbors = "add-remove",
    nan: NanPolicy = "raise",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer:
    """Release a mean with noise of a proposed size, or nothing.

    For a mean the test asks no more than whether there are clearly more than ``(hi - lo) /
    proposed`` rows.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (``n`` is private) or replaced.
    The call is (`epsilon`, `delta`)-DP, whether there is an answer or not: the test spends the
    share `test_share` of epsilon and all of delta, the noise the rest (Dwork and Lei, STOC 2009;
    ``dpfast/statistics/ptr/proposal.py`` derives the threshold, which is as low as it can be). Rows
    are put on a public grid of about ``2**40`` values between the bounds and summed as integers.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clipped.
    proposed : float
        The sensitivity that the noise is for, above 0, in the data's units; chosen without the
        data. An answer has noise of scale ``proposed / ((1 - test_share) epsilon)``.
    epsilon, delta, test_share, nan, budget, rng
        As in `dpfast.ptr.quantile`.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        Where `n` is public, no test is needed: under "replace" the answer depends on ``(hi - lo) /
        n <= proposed`` but for the test's noise, and a plain noisy mean serves better.

    Returns
    -------
    float or NoAnswer
        The private mean, within `bounds`, or `dpfast.NO_ANSWER`. The mean of no rows counts as the
        middle of the bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `dpfast.ptr.quantile`.

    Notes
    -----
    Cost: one read of the data. To ask again with a larger proposal is to spend again.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> found = dp.ptr.mean(ages, bounds=(0, 100), proposed=0.005, epsilon=1.0, delta=1e-9)
    >>> 53.8 < found < 54.2
    True
    >>> dp.ptr.mean(ages[:99], bounds=(0, 100), proposed=0.005, epsilon=1.0, delta=1e-9)
    dpfast.NO_ANSWER
    """
    asked = Arguments(bounds, epsilon, delta, None, neighbors, nan=nan)
    lo, hi = asked.interval
    size = checks.positive("proposed", proposed)
    measure = _Mean(lo, hi, cells(lo, hi), size, asked.relation, asked.policy)
    mechanism = proposal("mean by propose-test-release", measure, asked, size, test_share)
    return release(as_source(data), mechanism, budget=budget, rng=rng)
