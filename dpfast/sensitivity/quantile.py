"""Sensitivities of the lower quantile, an order statistic, for both neighboring relations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from .._core import checks, nan_policy
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from .._kernels.sensitivity import Column
from ..summaries.order import Ranks, Window
from .column import given
from .ranks import FARTHEST, column, effective_floor, of_nothing, rank_rule, reach, starts
from .rounding import float_up

#: Computed bounds exceed the true smooth sensitivity by different factors of up to 1 + 2**-41. So
#: they are (beta + 2**-41)-smooth: noise must be calibrated for ``beta + BETA_SLACK``.
BETA_SLACK = 2.0**-40

_HALF = Fraction(1, 2)
#: The first window reaches pairs worth e**-20 of the range; a wider one is rarely needed.
_FIRST_REACH = 20.0


class Found(NamedTuple):
    """A quantile with its sensitivity and the rows behind it; NOT PRIVATE."""

    value: float
    sensitivity: float
    n: int
    missing: int


class SmoothBound:
    """Smooth bound on the local sensitivity of a quantile: its public numbers, which are checked.

    Pairs of ranks at a distance ``k`` have the weight ``exp(-beta k)``, so a window of
    ``ln(R / S) / beta`` ranks around the quantile decides. The first window gives a lower bound of
    S, and with it the width that is certainly enough. Mostly the first window has it.

    Parameters
    ----------
    q : Fraction
    beta, lo, hi : float
    neighbors : {"replace", "add-remove"}
    floor : float
        The bound is the larger of the smooth sensitivity and the floor, which is `beta`-smooth too.
    """

    __slots__ = ("beta", "floor", "half", "hi", "least", "lo", "q", "replaced", "rule", "width")

    def __init__(
        self, q: Fraction, *, beta: float, lo: float, hi: float, neighbors: str, floor: float = 0.0
    ) -> None:
        self.q, self.beta, self.lo, self.hi, self.floor = q, beta, lo, hi, floor
        self.rule, self.half, self.replaced = rank_rule(q), q == _HALF, neighbors == "replace"
        if hi > lo:
            self.least = effective_floor(floor, lo, hi)
            self.width = first_width(beta, lo, hi, self.least)

    def of(self, ranks: Ranks) -> Found:
        """NOT PRIVATE. Return the quantile of a column and its bound."""
        lo, hi, rule = self.lo, self.hi, self.rule
        if not hi > lo:
            window = ranks.window(rule, 0)
            return Found(lo, 0.0, window.n, window.nan)
        window = ranks.window(rule, self.width)
        n = window.n
        if n == 0 and self.replaced:
            return Found(of_nothing(self.q, lo, hi), self.floor, 0, window.nan)  # no neighbors
        rows = column(window, lo, hi)
        smooth = self._smooth(window, rows, self.width)
        if len(window.values) < n:
            needed = reach(self.beta, lo, hi, smooth * (1 - 2.0**-40)) + 1
            if needed > self.width:
                window = ranks.window(rule, needed)
                rows = column(window, lo, hi)
                smooth = self._smooth(window, rows, needed)
        value = rows.value(rule(n)) if n else of_nothing(self.q, lo, hi)
        return Found(value, smooth, n, window.nan)

    def _smooth(self, window: Window, rows: Column, width: int) -> float:
        n = window.n
        if self.replaced:
            return rows.smooth_replace(self.rule(n), self.beta, self.least)
        if self.half:
            return rows.smooth_median(self.beta, self.least)
        margin = (n if len(window.values) == n else min(width, n)) + 2
        return rows.smooth_quantile(*starts(self.q, window, margin), self.beta, self.least)


def smooth_from_ranks(ranks: Ranks, q: Fraction, **public: Any) -> Found:
    """NOT PRIVATE. Return the q-quantile of a column and its `SmoothBound`."""
    return SmoothBound(q, **public).of(ranks)


def first_width(beta: float, lo: float, hi: float, least: float) -> int:
    """Return how many ranks on either side mostly decide; pairs beyond may be worth `least`."""
    width = reach(beta, lo, hi, least) + 1
    if beta * FARTHEST > _FIRST_REACH:
        width = min(width, math.ceil(_FIRST_REACH / beta) + 1)
    return width


def local_in_window(
    window: Window, q: Fraction, lo: float, hi: float, distance: int, neighbors: str
) -> float:
    """Return A(k) from a window of at least k + 1 ranks either way. Arguments must be checked."""
    n = window.n
    k = min(distance, n + 1)  # all rows and one more: no dataset is farther
    rows = column(window, lo, hi)
    if neighbors == "replace":
        return rows.local_replace(rank_rule(q)(n), k) if n else 0.0
    if q == _HALF:
        return rows.local_median(k)
    return rows.local_quantile(*starts(q, window, k + 2), k)


def smooth_at(
    data: Any, q: Any, beta: Any, bounds: Any, neighbors: Any, assume_sorted: Any, nan: Any
) -> float:
    """Return the smooth sensitivity of a quantile."""
    rank = checks.quantile(q)
    smoothness = checks.positive("beta", beta)
    ranks, lo, hi, relation, policy = given(data, bounds, neighbors, nan, assume_sorted)
    bound = smooth_from_ranks(ranks, rank, beta=smoothness, lo=lo, hi=hi, neighbors=relation)
    nan_policy.refuse(policy, bound.missing)
    return bound.sensitivity


def local_at(
    data: Any, q: Any, bounds: Any, at_distance: Any, neighbors: Any, assume_sorted: Any, nan: Any
) -> float:
    """Return the local sensitivity of a quantile, largest within a distance."""
    rank = checks.quantile(q)
    column = given(data, bounds, neighbors, nan, assume_sorted)
    distance = min(checks.whole("at_distance", at_distance), FARTHEST)
    window = column.ranks.window(rank_rule(rank), distance + 1)
    column.refuse(window.nan)
    return local_in_window(window, rank, column.lo, column.hi, distance, column.neighbors)


def smooth_quantile(
    data: Any,
    q: Number,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the lower q-quantile of clamped data.

    The statistic is the order statistic of rank ``min(max(1, ceil(q n)), n)``. Its smooth
    sensitivity is the largest of ``exp(-beta d) LS(y)`` over all datasets ``y`` that differ from
    `data` in ``d`` rows, where ``LS`` is the most that one more row can change the statistic. Noise
    scaled to it, from a distribution that admits `beta`, makes a private release. The number itself
    depends on the data and must not be published.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype. Values are compared as float64.
    q : float or Fraction
        The quantile, 0 to 1. A float counts as the decimal that is written.
    beta : float
        Smoothness, above 0: the bound changes by a factor of at most ``exp(beta)`` for one row.
    bounds : (float, float)
        Public limits, in the data's units; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        One row is replaced (``n`` is public), or added or removed.
    assume_sorted : bool, default False
        Trust that the data ascend, and read only what is needed.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What NaN and null count as: an error, the lower or upper limit, no row (only with
        "add-remove"), or a replacement number.

    Returns
    -------
    float
        At least the smooth sensitivity and at most ``1 + 2**-41`` times it, in the data's units,
        and at least ``max(R 2**-1000, 2**-1022)`` where ``R = hi - lo``. Zero if the bounds are
        equal, and for no rows under "replace". The quantile of no rows is the lower limit for
        ``q <= 1/2``, and the upper one otherwise.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Exact for both relations, at every `beta`. Cost: a pass over unsorted data, then O(w) for
    "replace" and for ``q = 1/2``, with ``w`` about ``(2 / beta) ln(R / S)`` ranks. No linear method
    is known for other quantiles under "add-remove"; branch and bound takes about O(w) in practice
    and O(w**2) at worst.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> S = dp.sensitivity.smooth_quantile(range(1, 102), 0.5, beta=0.1, bounds=(0, 102))
    >>> round(S, 2)
    4.07
    """
    return smooth_at(data, q, beta, bounds, neighbors, assume_sorted, nan)


def smooth_median(
    data: Any,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the lower median: `smooth_quantile` at 1/2.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    beta : float
    bounds : (float, float)
    neighbors, assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        As for `smooth_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact; a pass over unsorted data, then O(w) for both relations.

    Examples
    --------
    >>> import dpfast as dp
    >>> kw = {"bounds": (0, 10), "neighbors": "replace"}
    >>> round(dp.sensitivity.smooth_median([3, 1, 2], beta=1.0, **kw), 4)
    2.943
    """
    return smooth_at(data, _HALF, beta, bounds, neighbors, assume_sorted, nan)


def local_quantile(
    data: Any,
    q: Number,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the lower q-quantile within a distance.

    It is the most that one more row can change the quantile of any dataset that differs from `data`
    in at most `at_distance` rows; 0 gives the local sensitivity of the data. Do not scale noise to
    it: neighbors may have very different local sensitivities.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    q : float or Fraction
        The quantile, 0 to 1. A float counts as the decimal that is written.
    bounds : (float, float)
        Limits of the values, in the data's units; values outside count as the limit.
    at_distance : int, default 0
        The number ``k`` of rows that may be changed first.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        What one row of difference means.
    assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        The exact difference of two values, rounded to float64. Zero for no rows under "replace".

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k) for "replace", O(1) for the median under
    "add-remove", and branch and bound over ``2 k`` ranks for other quantiles.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_quantile([1, 2, 4, 8, 16], 0.5, bounds=(0, 20))
    2.0
    >>> dp.sensitivity.local_quantile([1, 2, 4, 8, 16], 0.5, bounds=(0, 20), at_distance=1)
    6.0
    """
    return local_at(data, q, bounds, at_distance, neighbors, assume_sorted, nan)


def local_median(
    data: Any,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the lower median: `local_quantile` at 1/2.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    at_distance : int, default 0
    neighbors, assume_sorted, nan
        As in `local_quantile`.

    Returns
    -------
    float
        As for `local_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k) at most.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_median([1, 2, 4, 8, 16], bounds=(0, 20), neighbors="replace")
    4.0
    """
    return local_at(data, _HALF, bounds, at_distance, neighbors, assume_sorted, nan)


def global_quantile(*, bounds: Bounds, neighbors: Neighbors = "add-remove") -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of any quantile.

    Parameters
    ----------
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The same under both.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_quantile(bounds=(0, 10))
    10.0
    """
    lo, hi = checks.bounds(bounds)
    checks.neighbors(neighbors)
    return float_up(Fraction(hi) - Fraction(lo))


def global_median(*, bounds: Bounds, neighbors: Neighbors = "add-remove") -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of the lower median.

    Parameters
    ----------
    bounds : (float, float)
    neighbors : {"add-remove", "replace"}, default "add-remove"
        As in `global_quantile`.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_median(bounds=(0, 10))
    10.0
    """
    return global_quantile(bounds=bounds, neighbors=neighbors)
