"""Propose-test-release for a quantile: rows to change until a gap about it is too wide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._core import checks, nan_policy
from ..._core.types import Bounds, NanPolicy, Neighbors, Number
from ...budget.budget import Budget
from ...budget.release import release
from ...rng import Generator
from ...sensitivity.quantile import local_in_window
from ...sensitivity.ranks import column, of_nothing, rank_rule
from ...sources import Source, as_source
from ...summaries.order import Ranks
from ..arguments import Arguments
from .answer import NoAnswer
from .proposal import Measured, first_above, proposal


@dataclass(frozen=True, slots=True)
class _Quantile:
    q: Fraction
    lo: float
    hi: float
    proposed: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    def __call__(self, source: Source, most: int) -> Measured:
        missing = nan_policy.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        rule = rank_rule(self.q)
        window = ranks.window(rule, most + 1)
        nan_policy.refuse(self.nan, window.nan)
        n = window.n

        def at(k: int) -> float:
            return local_in_window(window, self.q, self.lo, self.hi, k, self.neighbors)

        distance = first_above(at, self.proposed, most, n + 1)
        if n == 0:
            return Measured(of_nothing(self.q, self.lo, self.hi), distance)
        return Measured(column(window, self.lo, self.hi).value(rule(n)), distance)


def quantile(
    data: Any,
    q: Number,
    *,
    bounds: Bounds,
    proposed: Number,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    test_share: Number = 0.5,
    neighbors: Neighbors = "replace",
    nan: NanPolicy = "raise",
    assume_sorted: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer:
    """Release a quantile with noise of a proposed size, or nothing.

    The statistic is that of `dpfast.quantile`. The test looks for the fewest rows that have to be
    changed until one more row may change it by more than `proposed`.

    Privacy
    -------
    Neighbors are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call is (`epsilon`, `delta`)-DP, whether there is an answer or not: the
    test spends the share `test_share` of epsilon and all of delta, the noise the rest (Dwork and
    Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py`` derives the threshold, which is as low as
    it can be).

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are compared as float64.
    q : float or Fraction
        The quantile, 0 to 1, as the decimal that is written; 0.5 is the lower median.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clipped.
    proposed : float
        The sensitivity that the noise is for, above 0, in the data's units; chosen without the
        data. An answer has noise of scale ``proposed / ((1 - test_share) epsilon)``.
    epsilon, delta : float, Fraction or Decimal
        The loss; `delta` above 0.
    test_share : float or Fraction, default 0.5
        The test's share of epsilon, between 0 and 1.
    neighbors : {"replace", "add-remove"}, default "replace"
        The neighboring relation.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        As in `dpfast.quantile`.
    assume_sorted : bool, default False
        Take ascending data at its word and read only what is needed.
    budget : Budget, optional
        Pays for the call before data or randomness are touched, answer or not.
    rng : Generator, optional
        By default the secure one.

    Returns
    -------
    float or NoAnswer
        The private value, within `bounds`, or `dpfast.NO_ANSWER`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Cost: one read of the data, and a window of some ``4 t`` ranks on either side of the quantile,
    where ``t`` is about ``ln(1 / (2 delta)) / epsilon1``; the distance in it by bisection. To ask
    again with a larger proposal is to spend again.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> found = dp.ptr.quantile(ages, 0.5, bounds=(0, 120), proposed=1, epsilon=1.0, delta=1e-9)
    >>> 10 < found < 98
    True
    >>> dp.ptr.quantile([1, 2, 3], 0.5, bounds=(0, 120), proposed=1, epsilon=1.0, delta=1e-9)
    dpfast.NO_ANSWER
    """
    rank = checks.quantile(q)
    asked = Arguments(bounds, epsilon, delta, None, neighbors, nan=nan)
    lo, hi = asked.interval
    size = checks.positive("proposed", proposed)
    relation, policy = asked.relation, asked.policy
    trusted = checks.flag("assume_sorted", assume_sorted)
    measure = _Quantile(rank, lo, hi, size, relation, policy, trusted)
    name = f"quantile {rank} by propose-test-release"
    mechanism = proposal(name, measure, asked, size, test_share)
    return release(as_source(data), mechanism, budget=budget, rng=rng)
