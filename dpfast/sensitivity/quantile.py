"""Sensitivities of the lower quantile, an order statistic, for both neighbouring relations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from .._core import checks, nan_policy
from ..sources import as_source
from ..summaries.order import Ranks, Window
from .ranks import FARTHEST, column, effective_floor, of_nothing, rank_rule, reach, starts
from .rounding import float_up

#: Computed bounds exceed the true smooth sensitivity by a factor of up to 1 + 2**-41, unevenly. So
#: they are (beta + 2**-41)-smooth: noise is to be calibrated for ``beta + BETA_SLACK``.
BETA_SLACK = 2.0**-40

_HALF = Fraction(1, 2)
#: The first window reaches pairs worth e**-20 of the range; a wider one is seldom needed.
_FIRST_REACH = 20.0


class Found(NamedTuple):
    """What one look at the ranks gives; NOT PRIVATE."""

    value: float
    sensitivity: float
    n: int
    missing: int


def smooth_from_ranks(
    ranks: Ranks,
    q: Fraction,
    *,
    beta: float,
    lo: float,
    hi: float,
    neighbors: str,
    floor: float = 0.0,
) -> Found:
    """NOT PRIVATE. The q-quantile of a column and a smooth bound on its local sensitivity.

    Arguments are taken as checked. `floor`, like everything but `ranks`, is public: the bound is
    the larger of the smooth sensitivity and the floor, which is `beta`-smooth too. Pairs of ranks
    at a distance ``k`` weigh ``exp(-beta k)``, so a window of ``ln(R / S) / beta`` ranks round the
    quantile decides. The first window gives a lower bound of S, which gives the window that is
    certainly wide enough; mostly it is the first.
    """
    rule = rank_rule(q)
    if not hi > lo:
        window = ranks.window(rule, 0)
        return Found(lo, 0.0, window.n, window.nan)
    least = effective_floor(floor, lo, hi)
    width = first_width(beta, lo, hi, least)
    window = ranks.window(rule, width)
    n = window.n
    if n == 0 and neighbors == "replace":
        return Found(of_nothing(q, lo, hi), floor, 0, window.nan)  # no neighbours: nothing changes
    smooth = _smooth(window, q, rule, beta, lo, hi, neighbors, least, width)
    if len(window.values) < n:
        needed = reach(beta, lo, hi, smooth * (1 - 2.0**-40)) + 1
        if needed > width:
            window = ranks.window(rule, needed)
            smooth = _smooth(window, q, rule, beta, lo, hi, neighbors, least, needed)
    if n == 0:
        return Found(of_nothing(q, lo, hi), smooth, 0, window.nan)
    return Found(column(window, lo, hi).value(rule(n)), smooth, n, window.nan)


def first_width(beta: float, lo: float, hi: float, least: float) -> int:
    """Ranks on either side that mostly decide; there may be pairs worth `least` beyond."""
    width = reach(beta, lo, hi, least) + 1
    if beta * FARTHEST > _FIRST_REACH:
        width = min(width, math.ceil(_FIRST_REACH / beta) + 1)
    return width


def _smooth(
    window: Window,
    q: Fraction,
    rule: Any,
    beta: float,
    lo: float,
    hi: float,
    neighbors: str,
    least: float,
    width: int,
) -> float:
    found = column(window, lo, hi)
    if neighbors == "replace":
        return found.smooth_replace(rule(window.n), beta, least)
    if q == _HALF:
        return found.smooth_median(beta, least)
    n = window.n
    levels, first = starts(q, window, (n if len(window.values) == n else min(width, n)) + 2)
    return found.smooth_quantile(levels, first, beta, least)


def local_in_window(
    window: Window, q: Fraction, lo: float, hi: float, distance: int, neighbors: str
) -> float:
    """A(k) of checked arguments, from a window that reaches at least k + 1 ranks either way."""
    n = window.n
    k = min(distance, n + 1)  # all rows and one more: nothing is farther
    found = column(window, lo, hi)
    if neighbors == "replace":
        return found.local_replace(rank_rule(q)(n), k) if n else 0.0
    if q == _HALF:
        return found.local_median(k)
    levels, first = starts(q, window, k + 2)
    return found.local_quantile(levels, first, k)


def _ranks(data: Any, nan: str | float, lo: float, hi: float, assume_sorted: Any) -> Ranks:
    trusted = checks.flag("assume_sorted", assume_sorted)
    missing = nan_policy.replacement(nan, lo, hi)
    return Ranks(as_source(data), missing=missing, assume_sorted=trusted)


def smooth_quantile(
    data: Any,
    q: Any,
    *,
    beta: float,
    bounds: tuple[float, float],
    neighbors: str = "replace",
    assume_sorted: bool = False,
    nan: str | float = "raise",
) -> float:
    """NOT PRIVATE. Smooth sensitivity of the lower q-quantile of `data` clipped to `bounds`.

    The statistic is the order statistic of rank ``min(max(1, ceil(q n)), n)``. Its smooth
    sensitivity is the largest of ``exp(-beta d) LS(y)`` over all datasets ``y`` that differ from
    `data` in ``d`` rows, with ``LS`` the most that one more row can change the statistic. Noise
    scaled to it, of a law that admits `beta`, makes a private release; the number itself tells
    about the data and must not be published.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype. Values are compared as float64.
    q : float or Fraction
        The quantile, 0 to 1, as the decimal that is written.
    beta : float
        Smoothness, above 0: the bound changes by a factor of at most ``exp(beta)`` for one row.
    bounds : (float, float)
        Public limits, in the data's units; values outside count as the limit.
    neighbors : {"replace", "add-remove"}, default "replace"
        Neighbours differ in one row replaced (``n`` public), or added or removed.
    assume_sorted : bool, default False
        Take ascending data at its word and read only what is needed.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null: an error, the lower or upper limit, no row (add-remove only),
        or a replacement number.

    Returns
    -------
    float
        At least the smooth sensitivity and at most ``1 + 2**-41`` times it, in the data's units.
        What lies below ``max(R 2**-1000, 2**-1022)``, with ``R`` the distance of the bounds, is
        raised to that. Zero when the bounds are equal, and for no rows under "replace". Of no rows
        the quantile is the lower limit for ``q <= 1/2``, else the upper.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Exact for both relations, at every `beta`. Cost: a pass over unsorted data, then O(w) for
    "replace" and for ``q = 1/2``, with ``w`` about ``(2 / beta) ln(R / S)`` ranks. Other quantiles
    under "add-remove" have no known linear method; a branch and bound takes about O(w) in practice
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
    rank = checks.quantile(q)
    smoothness = checks.positive("beta", beta)
    lo, hi = checks.bounds(bounds)
    relation = checks.neighbors(neighbors)
    policy = checks.nan_policy(nan, relation)
    found = smooth_from_ranks(
        _ranks(data, policy, lo, hi, assume_sorted),
        rank,
        beta=smoothness,
        lo=lo,
        hi=hi,
        neighbors=relation,
    )
    nan_policy.refuse(policy, found.missing)
    return found.sensitivity


def smooth_median(
    data: Any,
    *,
    beta: float,
    bounds: tuple[float, float],
    neighbors: str = "replace",
    assume_sorted: bool = False,
    nan: str | float = "raise",
) -> float:
    """NOT PRIVATE. Smooth sensitivity of the lower median; `smooth_quantile` at one half.

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
        As `smooth_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As `smooth_quantile`.

    Notes
    -----
    Exact; a pass over unsorted data, then O(w) for both relations.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.smooth_median([3, 1, 2], beta=1.0, bounds=(0, 10)), 4)
    2.943
    """
    return smooth_quantile(
        data,
        _HALF,
        beta=beta,
        bounds=bounds,
        neighbors=neighbors,
        assume_sorted=assume_sorted,
        nan=nan,
    )


def local_quantile(
    data: Any,
    q: Any,
    *,
    bounds: tuple[float, float],
    at_distance: int = 0,
    neighbors: str = "replace",
    assume_sorted: bool = False,
    nan: str | float = "raise",
) -> float:
    """NOT PRIVATE. Local sensitivity of the lower q-quantile, largest within a distance of `data`.

    The most that one more row can change the quantile of any dataset that differs from `data` in at
    most `at_distance` rows; 0 gives the local sensitivity of the data themselves. It must not scale
    noise: neighbours may have very different local sensitivities.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype.
    q : float or Fraction
        The quantile, 0 to 1, as the decimal that is written.
    bounds : (float, float)
        Limits of the values, in the data's units; values outside count as the limit.
    at_distance : int, default 0
        The number ``k`` of rows.
    neighbors : {"replace", "add-remove"}, default "replace"
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
        As `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k) for "replace", O(1) for the median under
    "add-remove", and a branch and bound over ``2 k`` ranks for other quantiles.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_quantile([1, 2, 4, 8, 16], 0.5, bounds=(0, 20))
    4.0
    >>> dp.sensitivity.local_quantile([1, 2, 4, 8, 16], 0.5, bounds=(0, 20), at_distance=1)
    12.0
    """
    rank = checks.quantile(q)
    lo, hi = checks.bounds(bounds)
    relation = checks.neighbors(neighbors)
    policy = checks.nan_policy(nan, relation)
    distance = min(checks.whole("at_distance", at_distance), FARTHEST)
    ranks = _ranks(data, policy, lo, hi, assume_sorted)
    window = ranks.window(rank_rule(rank), distance + 1)
    nan_policy.refuse(policy, window.nan)
    return local_in_window(window, rank, lo, hi, distance, relation)


def local_median(
    data: Any,
    *,
    bounds: tuple[float, float],
    at_distance: int = 0,
    neighbors: str = "replace",
    assume_sorted: bool = False,
    nan: str | float = "raise",
) -> float:
    """NOT PRIVATE. Local sensitivity of the lower median; `local_quantile` at one half.

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
        As `local_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As `smooth_quantile`.

    Notes
    -----
    Cost: a pass over unsorted data, then O(k) at most.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_median([1, 2, 4, 8, 16], bounds=(0, 20), neighbors="add-remove")
    2.0
    """
    return local_quantile(
        data,
        _HALF,
        bounds=bounds,
        at_distance=at_distance,
        neighbors=neighbors,
        assume_sorted=assume_sorted,
        nan=nan,
    )


def global_quantile(*, bounds: tuple[float, float], neighbors: str = "replace") -> float:
    """NOT PRIVATE if `bounds` are not public. Global sensitivity of any quantile.

    Parameters
    ----------
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"replace", "add-remove"}, default "replace"
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
    Cost: none to speak of.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_quantile(bounds=(0, 10))
    10.0
    """
    lo, hi = checks.bounds(bounds)
    checks.neighbors(neighbors)
    return float_up(Fraction(hi) - Fraction(lo))


def global_median(*, bounds: tuple[float, float], neighbors: str = "replace") -> float:
    """NOT PRIVATE if `bounds` are not public. Global sensitivity of the lower median.

    Parameters
    ----------
    bounds : (float, float)
    neighbors : {"replace", "add-remove"}, default "replace"
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
    Cost: none to speak of.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_median(bounds=(0, 10))
    10.0
    """
    return global_quantile(bounds=bounds, neighbors=neighbors)
