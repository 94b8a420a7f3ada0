"""An interval that holds a quantile of the data: two more private quantiles, one on either side.

The error bar of a drawn quantile is in ranks and public (`RecursiveQuantiles.error`). So quantiles
whose targets lie farther from q than their own bars lie on either side of the true one, with the
probability that those bars have. Of n rows or more, r ranks are at most a share r / n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Bounds, NanPolicy, Neighbors, Number
from ...budget.budget import Budget
from ...budget.mechanism import Mechanism, expected
from ...budget.release import Prepared, relation_of, releases
from ...rng import Generator
from .statistic import Quantiles

#: Steps of a bisection: to a hundredth of the farthest.
STEPS = 8
#: How near a target may come to an end of all rows, from q on.
WIDEST = Fraction(9, 10)


@releases
def quantile_interval(
    data: Any,
    q: Number,
    *,
    bounds: Bounds,
    least_rows: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    coverage: float = 0.95,
    neighbors: Neighbors | None = None,
    nan: NanPolicy = "raise",
    where: Any = None,
    ids: Any = None,
    max_rows: int | None = None,
    granularity: Number | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[NDArray[np.float64]]:
    """Release a quantile of a column, between two more that are its error bar in units of the data.

    The three are `dpfast.quantiles` of q and of a lower and a higher number, which are as near to q
    as the error bars in ranks allow. With probability `coverage` the quantile of the clamped rows
    lies between the outer two. How far these are apart is a fact about the data, and paid for.

    Privacy
    -------
    That of `dpfast.quantiles` for the recursive method (Kaplan, Schnapp and Stemmer, ICML 2022):
    which three quantiles are drawn depends on public numbers alone.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        As in `dpfast.quantile`.
    q : float or Fraction
        The quantile, between 0 and 1.
    bounds : (float, float)
        As in `dpfast.quantile`.
    least_rows : int
        No more than the rows that count: of those that are kept by `where`, are not missing, and
        are kept of a person. It is public, or comes from a private count. With fewer rows than it
        says, the interval is wrong more often, and just as private.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of all answers: one of the two.
    coverage : float, default 0.95
        How often the interval holds the quantile, at least: greater than 0 and less than 1.
    granularity
        As in `dpfast.quantile`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default that of the budget, else "add-remove".
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null: an error after the spend, the lower or upper bound, no row at
        all, or a public number.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.
    where : array_like of bool, shape (n,), optional
        The rows to use, each a function of that row alone. How many they are is private.
    ids : array_like of shape (n,), or str, optional
        Whose row each row is, or the name of the column that says so, which is then no part of the
        data. The loss is one of people then.
    max_rows : int, optional
        With `ids`, and only then: how many rows of a person count at most.

    Returns
    -------
    ndarray of float64, shape (3,)
        The lower end, the private quantile, and the upper end.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or too few rows for the loss. Nothing has been spent.
    BudgetError, DataError
        As in `dpfast.quantiles`.

    See Also
    --------
    dpfast.expected_error : the error bar in ranks, which is free.

    Notes
    -----
    The interval is the wider the fewer rows lie near the quantile. It rests on a bound for the
    worst data, and mostly holds the quantile more often than it says.

    Cost: that of `dpfast.quantiles`.

    References
    ----------
    Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles", ICML 2022.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.linspace(20, 80, 10_000)
    >>> low, middle, high = dp.quantile_interval(
    ...     ages, 0.5, bounds=(0, 120), least_rows=10_000, epsilon=1)
    >>> bool(46 < low < middle < high < 54)
    True
    """
    place = checks.quantile(q)
    if not 0 < place < 1:
        checks.fail("q", "greater than 0 and less than 1", q)
    if checks.is_auto(bounds):
        checks.fail("bounds", "a pair of numbers: error bars of others are not known", bounds)
    least = checks.whole("least_rows", least_rows, 1)
    share = checks.share("coverage", coverage)
    relation = relation_of(neighbors, budget)

    def prepared(qs: list[Fraction]) -> Prepared[NDArray[np.float64]]:
        statistic = Quantiles(
            qs=qs, bounds=bounds, nan=nan, granularity=granularity, method="recursive"
        )
        return statistic.prepare(
            data, epsilon=epsilon, rho=rho, neighbors=relation, where=where, ids=ids,
            max_rows=max_rows, budget=budget, rng=rng,
        )  # fmt: skip

    return prepared(_around(place, least, share, lambda qs: prepared(qs).mechanism))


def _around(
    place: Fraction, rows: int, confidence: float, made: Callable[[list[Fraction]], Mechanism[Any]]
) -> list[Fraction]:
    """Return a lower quantile, this one, and a higher one, which their bars keep on their sides.

    Parameters
    ----------
    place : Fraction
    rows : int
    confidence : float
        Of both ends together, each of which has half of the failures.
    made : callable
        ``made(qs)`` returns the mechanism of quantiles.
    """
    each = min((1 + confidence) / 2, math.nextafter(1, 0))

    def three(shift: Fraction) -> list[Fraction]:
        return [place - shift, place, place + shift]

    def ranks(shift: Fraction) -> int:
        bar: Any = expected(made(three(shift)), rows, each).ranks
        return math.ceil(float(np.max(bar))) + 1  # a target between two rows may stand for either

    most = WIDEST * min(place, 1 - place)
    near, far = 0, int(most * rows)
    if not far or ranks(Fraction(far, rows)) > far:
        least = math.ceil((ranks(most) + 1) / most)
        checks.fail("least_rows", f"at least {least}, for this loss and coverage", rows)
    for _ in range(STEPS):  # that one is far enough, and hardly farther than needed
        middle = (near + far + 1) // 2
        enough = ranks(Fraction(middle, rows)) <= middle
        near, far = (near, middle) if enough else (middle, far)
    return three(Fraction(far, rows))
