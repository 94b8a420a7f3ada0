"""`bounds`: private bounds of a column, or of each of several."""

from __future__ import annotations

from typing import Any, Unpack, overload

from .._core import checks
from .._core.types import Axis, NanPolicy, Neighbors, Number
from ..budget.budget import Budget
from ..measurement.around import OfKept
from ..measurement.automatic_bounds import bounds_each
from ..measurement.outer_bounds import MOST_SHARE
from ..measurement.times import finds_times
from ..rng import Generator
from ..sources.intake import read
from .arguments import Arguments, Floats, NanKeywords


class BoundsKeywords(NanKeywords, total=False):
    """Keyword arguments of `bounds`."""

    q: Number


@overload
def bounds(
    data: Any, *, axis: None = None, **others: Unpack[BoundsKeywords]
) -> tuple[float, float]: ...
@overload
def bounds(data: Any, *, axis: Axis, **others: Unpack[BoundsKeywords]) -> Floats: ...
@finds_times
def bounds(
    data: Any,
    *,
    q: Number = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis | None = None,
    nan: NanPolicy = "raise",
    where: Any = None,
    ids: Any = None,
    max_rows: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[float, float] | Floats:
    """Release bounds that hold nearly all rows of a column, where no public ones are known.

    They serve as `bounds` of what comes next. ``bounds="auto"`` of the other functions does both in
    one call, for one loss.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (`n` is private), or replaced
    (`n` is public). The call satisfies the loss that it is asked for. A pair of public numbers is
    drawn with probability proportional to ``w exp(-c (u + v) / 2)``, for a public prior w, and u
    and v the ranks between each number and the T-th row from its end,
    ``T = max(min(4 / c, n / 2), q n)``. A row that comes or goes is never at both ends, so all
    exponents change by numbers of an interval of length c, which is `epsilon`, or half of it if a
    row is replaced (exponential mechanism, McSherry and Talwar, FOCS 2007; in zCDP by its bounded
    range, Cesar and Rogers, ALT 2021). ``dpfast/measurement/outer_bounds.py`` has the proof. Two
    draws, or the sparse vector over growing guesses for either end (Durfee, NeurIPS 2023), cost
    twice that.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `sum`.
    q : float or Fraction, default 0
        The share of the rows, at most 1/4, that may lie beyond either bound. By default they are
        about ``4 / c`` rows, however many there are: fewer cannot be told from none.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss. The draw is pure: it leaves `delta` unspent, and the budget is not charged for it.
    neighbors : {"add-remove", "replace"}, optional
        As in `sum`.
    axis : {None, 0, -2}, optional
        As in `sum`; each column gets an equal part of the loss.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null. "lower", "upper" and "drop" leave them out of the counts.
    where, ids, max_rows, budget, rng
        As in `sum`.

    Returns
    -------
    (float, float), or float64 array of shape (d, 2)
        Bounds, the lower one first; of a column of durations, durations. Each is 0 or plus or minus
        ``2**e (1 + j / 16)``, moved by an eighth of their distance outwards, but not across 0.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Numbers below ``2**-40`` (1e-12) in size count as 0, and no bound covers those from ``2**380``
    on. Where rows are so few that the prior decides, for `n` times c below some hundreds, the
    answer is near 0. What makes data far from 0 with a small spread (years, say) special is not
    found: their bounds are an eighth of an octave apart at least. Public bounds, if there are any,
    cost nothing and are better.

    Cost: one read of the data, as fast as that of their maximum.

    References
    ----------
    Durfee, "Unbounded Differentially Private Quantile and Maximum Estimation", NeurIPS 2023.
    Amin, Kulesza, Munoz and Vassilvitskii, "Bounding User Contributions: A Bias-Variance Trade-off
    in Differential Privacy", ICML 2019.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> lo, hi = dp.bounds(ages, epsilon=1.0, q=0.01)
    >>> 8 < lo < 18 and 90 < hi < 110
    True
    """
    share = checks.fraction("q", q)
    if not 0 <= share <= MOST_SHARE:
        checks.fail("q", "a number between 0 and 1/4", q)
    beside: dict[str, Any] = {"where": where, "ids": ids, "max_rows": max_rows}
    beside |= {"budget": budget, "rng": rng}
    asked = Arguments("auto", epsilon, delta, rho, neighbors, axis, nan=nan, **beside)
    loss, relation, policy = asked.loss, asked.relation, asked.policy
    one = bounds_each(loss, 1, relation, policy, share=share)
    view = read(data, relation=relation, axis=axis, where=where, ids=asked.ids)
    if view.each:
        return asked.release(view, bounds_each(loss, view.width, relation, policy, share))
    return asked.release(view, OfKept(one.column))
