"""Propose-test-release for a user's own statistic and distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..._core import checks
from ..._core.types import Bounds, Neighbors, Number
from ...budget import release as _release
from ...budget.budget import Budget
from ...errors import DataError
from ...rng import Generator
from ..arguments import Arguments
from .answer import NoAnswer
from .proposal import Measured, proposal


@dataclass(frozen=True, slots=True)
class _Called:
    statistic: Callable[[Any], Any]
    distance: Callable[[Any, float], Any]
    lo: float
    hi: float
    proposed: float

    def __call__(self, data: Any, most: int) -> Measured:
        value = _number(self.statistic(data), "statistic")
        if math.isnan(value):
            _refuse("statistic")
        far = _number(self.distance(data, self.proposed), "distance")
        if not far >= 0:
            _refuse("distance")
        whole = most if far >= most else math.floor(far)
        return Measured(min(max(value, self.lo), self.hi), whole)


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        _refuse(name)
        raise


def _refuse(name: str) -> None:
    rule = "a number" if name == "statistic" else "a number of rows, at least 0"
    raise DataError(f"{name} must give {rule}; what it gave is not shown") from None


def release(
    data: Any,
    statistic: Callable[[Any], Number],
    distance: Callable[[Any, float], Number],
    *,
    bounds: Bounds,
    proposed: Number,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    test_share: Number = 0.5,
    neighbors: Neighbors = "replace",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer:
    """Release a statistic of your own with noise of a proposed size, or nothing.

    Privacy
    -------
    The call is (`epsilon`, `delta`)-DP, whether there is an answer or not, if you have proved of
    `distance`, D, for all neighbors x, x' (nothing here can check it):

    1. D(x) and D(x') differ by at most 1;
    2. if D(x) >= 1, then the statistics of x and of x', clipped to `bounds`, differ by at most
       `proposed`.

    The fewest rows to change until the local sensitivity of the statistic is above `proposed` obey
    both, and so does every lower bound of them that obeys the first. The test spends the share
    `test_share` of epsilon and all of delta, the noise the rest (Dwork and Lei, STOC 2009;
    ``dpfast/statistics/ptr/proposal.py``). Neighbors are what the two functions were proved for.

    Parameters
    ----------
    data : object
        Whatever the two functions take.
    statistic : callable
        ``statistic(data)``, a number; clipped to `bounds`.
    distance : callable
        ``distance(data, proposed)``, a number of rows, at least 0; it is rounded down and may be
        infinite. Distances beyond four times the threshold all count as that.
    bounds : (float, float)
        Public limits of the answer, in its units.
    proposed : float
        The sensitivity that the noise is for, above 0, chosen without the data. An answer has noise
        of scale ``proposed / ((1 - test_share) epsilon)``.
    epsilon, delta, test_share
        As in `dpfast.ptr.quantile`.
    neighbors : {"replace", "add-remove"}, default "replace"
        The relation that the distance was proved for; the ledger keeps it.
    budget : Budget, optional
        Pays for the call before either function is called, answer or not.
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
        A function gives no number, or a negative distance. It depends on the data, as does every
        exception of the functions themselves, which is passed on; the spent budget is
        not refunded.

    Notes
    -----
    Cost: one call of each function.

    Examples
    --------
    The number of distinct names, where most have many rows:

    >>> import dpfast as dp
    >>> rows = ["a"] * 50 + ["b"] * 60 + ["c"] * 70
    >>> def distance(x, proposed):  # one row changes the number by 1 at most
    ...     return float("inf") if proposed >= 1 else 0
    >>> found = dp.ptr.release(rows, lambda x: len(set(x)), distance, bounds=(0, 100), proposed=1,
    ...                        epsilon=20, delta=1e-6)
    >>> 0 <= found < 10
    True
    """
    asked = Arguments(bounds, epsilon, delta, None, neighbors)
    lo, hi = asked.interval
    size = checks.positive("proposed", proposed)
    for name, function in (("statistic", statistic), ("distance", distance)):
        if not callable(function):
            checks.fail_type(name, "a function", function)
    measure = _Called(statistic, distance, lo, hi, size)
    mechanism = proposal("propose-test-release", measure, asked, size, test_share)
    return _release.release(data, mechanism, budget=budget, rng=rng)
