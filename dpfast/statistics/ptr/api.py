"""Propose-test-release: the public functions over the statistics of `statistics.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

from ... import privacy
from ..._core import checks
from ..._core.types import Bounds, Neighbors, Number
from ...budget.budget import Budget
from ...budget.release import Prepared, relation_of_proof, releases
from ...errors import DataError
from ...measurement.functions import function_of
from ...rng import Generator
from .answer import NoAnswer
from .proposal import Measured, proposal
from .statistics import Iqr, Mean, Quantile


@function_of(Mean)
def mean(data: Any, **arguments: Any) -> Any:
    """Release a mean with noise for a proposed sensitivity, or no answer if the data fail a test.

    For a mean, the data pass the private test if there are clearly more than ``(hi - lo) /
    proposed`` rows.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call is (`epsilon`, `delta`)-DP, whether there is an
    answer or not: the test spends the share `test_share` of epsilon and all of delta, and the noise
    spends the rest (Dwork and Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py`` derives the
    threshold, which is the lowest possible). Rows are rounded to a public grid of about ``2**40``
    values between the bounds and summed as integers.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clamped.
    proposed : float
        The sensitivity that the noise is calibrated to, above 0, in the data's units; it must be
        chosen without the data. An answer has noise of scale ``proposed / ((1 - test_share)
        epsilon)``.
    test_share
        As in `dpfast.ptr.quantile`.
    epsilon, delta : float, Fraction or Decimal
        The loss: both numbers together.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". Under
        "replace" `n` is public, so the test is not needed: `dpfast.mean` has less noise.

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
    Cost: one read of the data. Each further call, with another proposal, spends its loss again.

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


@function_of(Quantile)
def quantile(data: Any, **arguments: Any) -> Any:
    """Release a quantile with noise for a proposed sensitivity, or no answer if data fail a test.

    The statistic is the quantile of `dpfast.quantile`. The distance for the private test is the
    smallest number of rows that have to change until one more row may change the quantile by more
    than `proposed`. If the noisy distance is too small, there is no answer.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call is (`epsilon`, `delta`)-DP, whether there is an
    answer or not: the test spends the share `test_share` of epsilon and all of delta, and the noise
    spends the rest (Dwork and Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py`` derives the
    threshold, which is the lowest possible).

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are compared as float64.
    q : float or Fraction
        The quantile, 0 to 1, where 0.5 is the lower median. A decimal is taken exactly.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clamped.
    proposed : float
        The sensitivity that the noise is calibrated to, above 0, in the data's units; it must be
        chosen without the data. An answer has noise of scale ``proposed / ((1 - test_share)
        epsilon)``.
    epsilon, delta : float, Fraction or Decimal
        The loss: both numbers together. `delta` is above 0.
    test_share : float or Fraction, default 0.5
        The test's share of epsilon, between 0 and 1.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    assume_sorted : bool, default False
        Whether to trust that the data ascend, and read only what is needed.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block. The budget pays whether there is an answer or not.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float or NoAnswer
        The private value, within `bounds`, or `dpfast.NO_ANSWER`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Cost: one read of the data, and a bisection among the rows at about ``4 t`` ranks on either side
    of the quantile. Here ``t`` is about ``ln(1 / (2 delta)) / epsilon1``, where ``epsilon1`` is the
    test's part of epsilon. Each further call, with another proposal, spends its loss again.

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


@function_of(Iqr)
def iqr(data: Any, **arguments: Any) -> Any:
    """Release an interquartile range by propose-test-release, or no answer if the data fail a test.

    The statistic is the distance between the values of ranks ``ceil(n / 4)`` and ``ceil(3 n / 4)``.
    Without `proposed`, the scale of the data need not be known: the answer is the range times a
    random power of `ratio`. There is an answer if many rows have to change before the range changes
    by the factor `ratio`.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call is (`epsilon`, `delta`)-DP, whether there is an
    answer or not: the test spends the share `test_share` of epsilon and all of delta, and the noise
    spends the rest (Dwork and Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py`` and
    ``dpfast/statistics/ptr/quantiles.py`` have the proofs).

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are compared as float64.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clamped. Without
        `proposed` they may be very wide: the noise does not depend on them.
    proposed : float, optional
        The sensitivity that the noise is calibrated to, above 0, in the data's units; it must be
        chosen without the data. An answer has noise of scale ``proposed / ((1 - test_share)
        epsilon)``.
    ratio : float or Fraction, optional
        Without `proposed`: a public factor above 1, by default ``1 + 1 / ln n``. An answer is the
        true range times ``ratio**Z``, with ``Z`` of scale ``1 / ((1 - test_share) epsilon)``; with
        a larger ratio, fewer datasets are refused.
    test_share, assume_sorted
        As in `dpfast.ptr.quantile`.
    epsilon, delta : float, Fraction or Decimal
        The loss: both numbers together.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". Without
        `proposed` it must be "replace", and `ids` are not allowed.

    Returns
    -------
    float or NoAnswer
        The private range, from 0 to ``hi - lo``, or `dpfast.NO_ANSWER`. The range of no rows counts
        as ``hi - lo``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `dpfast.ptr.quantile`.

    Notes
    -----
    Cost: one read of the data, and the rows at about ``4 t`` ranks around each quartile. Here ``t``
    is about ``ln(1 / (2 delta)) / epsilon1``, where ``epsilon1`` is the test's part of epsilon.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 1000, 20_001)
    >>> wide = {"bounds": (-1e9, 1e9), "neighbors": "replace"}
    >>> found = dp.ptr.iqr(x, epsilon=4.0, delta=1e-9, **wide)
    >>> 200 < found < 1200
    True
    >>> 300 < dp.ptr.iqr(x, bounds=(0, 1000), proposed=5, epsilon=2.0, delta=1e-9) < 700
    True
    """


@releases
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
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[float | NoAnswer]:
    """Release a statistic of your own by propose-test-release, or no answer if data fail a test.

    You propose a sensitivity. A private test decides whether the data are far from all data with a
    larger local sensitivity. If they are, the statistic is released with noise for the proposal.

    Privacy
    -------
    Write D for `distance`. The call is (`epsilon`, `delta`)-DP, whether there is an answer or not,
    if you have proved two properties for all neighbors x and x'. dpfast cannot check them.

    1. D(x) and D(x') differ by at most 1;
    2. if D(x) >= 1, then the statistics of x and of x', clamped to `bounds`, differ by at most
       `proposed`.

    One such D is the smallest number of rows that have to change until the local sensitivity of the
    statistic is above `proposed`. A lower bound on this number that has the first property has the
    second, too. The test spends the share `test_share` of epsilon and all of delta, and the noise
    spends the rest (Dwork and Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py``). The
    neighboring relation is the relation for which you have proved the properties.

    Parameters
    ----------
    data : object
        The data, in any form that the two functions take.
    statistic : callable
        ``statistic(data)``, a number, which is clamped to `bounds`.
    distance : callable
        ``distance(data, proposed)``, a number of rows of at least 0. It is rounded down, and it may
        be infinite. Distances beyond four times the threshold of the test count as four times the
        threshold.
    bounds : (float, float)
        Public limits of the answer, in its units.
    proposed : float
        The sensitivity that the noise is calibrated to, above 0, chosen without the data. An answer
        has noise of scale ``proposed / ((1 - test_share) epsilon)``.
    test_share
        As in `dpfast.ptr.quantile`.
    epsilon, delta : float, Fraction or Decimal
        The loss: both numbers together.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the loss is proved: by default "add-remove"; in a budget for
        "replace" it must be given. `distance` must be valid for this relation.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block. The budget pays whether there is an answer or not.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float or NoAnswer
        The private value, within `bounds`, or `dpfast.NO_ANSWER`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        If a function does not return a number, or `distance` returns a negative number. Exceptions
        that the functions raise are passed on. All of this depends on the data, and the spent
        budget is not refunded.

    Notes
    -----
    Cost: one call of each function.

    Examples
    --------
    The number of distinct names, where most names have many rows:

    >>> import dpfast as dp
    >>> rows = ["a"] * 50 + ["b"] * 60 + ["c"] * 70
    >>> def distance(x, proposed):  # one row changes the number by 1 at most
    ...     return float("inf") if proposed >= 1 else 0
    >>> found = dp.ptr.release(rows, lambda x: len(set(x)), distance, bounds=(0, 100), proposed=1,
    ...                        epsilon=20, delta=1e-6)
    >>> 0 <= found < 10
    True
    """
    proved = relation_of_proof(neighbors, budget)
    lo, hi = checks.bounds(bounds)
    for name, function in (("statistic", statistic), ("distance", distance)):
        if not callable(function):
            checks.fail_type(name, "a function", function)

    def measure(data: Any, size: float, most: int) -> Measured:
        value = _number(statistic(data), "statistic")
        if math.isnan(value):
            _refuse("statistic")
        steps = _number(distance(data, size), "distance")
        if not steps >= 0:
            _refuse("distance")
        return Measured(min(max(value, lo), hi), most if steps >= most else math.floor(steps))

    loss, name = privacy.loss(epsilon, delta), "propose-test-release"
    mechanism = proposal(name, measure, (lo, hi), loss, proved, proposed, test_share)
    return Prepared(mechanism, data, budget, rng)


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        _refuse(name)


def _refuse(name: str) -> NoReturn:
    rule = "a number" if name == "statistic" else "a number of rows, at least 0"
    raise DataError(f"{name} must return {rule}; the value that it returned is not shown") from None
