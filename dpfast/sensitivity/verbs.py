"""Functions of the global, local and smooth sensitivity. NOT PRIVATE, unless global."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import checks
from .._core.types import Neighbors, Number
from .generic import smooth_of_function
from .known import KnownSensitivity


def global_(
    statistic: KnownSensitivity, *, rows: int | None = None, neighbors: Neighbors = "add-remove"
) -> float:
    """NOT PRIVATE unless `rows` and bounds are public. Return the global sensitivity.

    Parameters
    ----------
    statistic : KnownSensitivity
        A statistic such as `dpfast.Mean(bounds=(0, 10))`; `smooth` lists the statistics.
    rows : int, optional
        The public number of rows, which a sum, a mean, a variance and a trimmed mean need under
        "replace"; not allowed for a mean under "add-remove".
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Variances, trimmed and winsorized means support only "replace".

    Returns
    -------
    float
        The least float64 that is not below the exact number, in the units of the statistic.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible. With R = hi - lo it is R for quantiles, extremes and the interquartile range;
    ``R / n`` for a mean, or under "add-remove" ``R / 2``, because the mean of no rows is the middle
    of the bounds; R or ``max(abs(lo), abs(hi))`` for a sum; ``R**2 (n - 1) / n**2`` or, with
    ddof=1, ``R**2 / n`` for a variance; ``R / (n - 2 m)`` for a trimmed mean that leaves out m rows
    at each end, and ``(m + 1) R / n`` for a winsorized mean.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_(dp.Mean(bounds=(0, 10)))
    5.0
    >>> dp.sensitivity.global_(dp.Mean(bounds=(0, 10)), rows=4, neighbors="replace")
    2.5
    """
    count = None if rows is None else checks.whole("rows", rows)
    return _checked(statistic).global_sensitivity(count, checks.neighbors(neighbors))


def local(
    statistic: KnownSensitivity,
    data: Any,
    *,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
) -> float:
    """NOT PRIVATE. Return the largest local sensitivity of a statistic within a distance of data.

    This is the most that one more row can change the statistic of any data that differ in at most
    `at_distance` rows; 0 gives the local sensitivity of the data. Do not scale noise to it:
    neighbors may have very different local sensitivities.

    Parameters
    ----------
    statistic : KnownSensitivity
        A statistic such as `dpfast.Median(bounds=(0, 10))`; `smooth` lists the statistics.
    data : array_like, shape (n,), or source
        Any real dtype; values are read as float64 and clamped to the bounds of the statistic; its
        `nan` says how missing values are treated.
    at_distance : int, default 0
        The number k of rows that may be changed first.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Variances, trimmed and winsorized means support only "replace".

    Returns
    -------
    float
        The exact number, rounded up by a relative ``2**-44`` at most (for quantiles and extremes to
        the nearest float64), in the units of the statistic. For an interquartile range, a
        winsorized mean and a standard deviation an upper bound.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Cost: a pass over unsorted data, then at most O(k), and branch and bound over 2 k ranks for
    quantiles other than the median under "add-remove"; a sort of the column for a variance, and
    for a mean under "add-remove".

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> median, data = dp.Median(bounds=(0, 20)), [1, 2, 4, 8, 16]
    >>> dp.sensitivity.local(median, data)
    2.0
    >>> dp.sensitivity.local(median, data, at_distance=1)
    6.0
    >>> dp.sensitivity.local(median, data, neighbors="replace")
    4.0
    """
    distance = checks.whole("at_distance", at_distance)
    return _checked(statistic).local_sensitivity(data, distance, checks.neighbors(neighbors))


def smooth(
    statistic: KnownSensitivity | Callable[..., Number],
    *data: Any,
    beta: Number,
    neighbors: Neighbors = "add-remove",
    stop: int | None = None,
    most: Number | None = None,
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of a statistic, or of a function A(k) of your own.

    The smooth sensitivity is the largest of ``exp(-beta d) LS(y)`` over all data ``y`` that differ
    from `data` in ``d`` rows, where ``LS`` is the most that one more row can change the statistic.
    Noise scaled to the smooth sensitivity, from a distribution that admits `beta`, makes a private
    release. The smooth sensitivity itself depends on the data and must not be published.

    Parameters
    ----------
    statistic : KnownSensitivity or callable
        Of one column: `dpfast.Sum`, `Mean`, `Proportion`, `Variance`, `Std`, `Quantile`,
        `Percentile`, `Median`, `Minimum`, `Maximum`, `Iqr`, `TrimmedMean`, `WinsorizedMean`. Of a
        graph: `TreeCost` and `Triangles` of `dpfast.sensitivity`. Of your own:
        `dpfast.extend.KnownSensitivity`. Or a function ``A(k, *data)`` that returns a number of at
        least 0, plain or compiled by Numba; the loop is then compiled too.
    *data : array_like, shape (n,), or source
        As in `local`; for a function, the arguments that it is called with.
    beta : float
        Smoothness, above 0: the result changes by a factor of at most ``exp(beta)`` for one row.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        One row is added or removed, or replaced (the number of rows is public). A function has to
        be proved for this relation.
    stop : int, optional
        Public, for a function alone: the function is called for k = 0 .. `stop`. Without `most`,
        you promise that ``A(k) = A(stop)`` for all larger k, for any data (if n rows are replaced,
        n is such a distance).
    most : float, optional
        Public, for a function alone: no A(k) is above `most` for any data, just as no local
        sensitivity is above the global sensitivity. Distances that can no longer give the maximum
        are skipped, and beyond `stop` the bound `most` stands for A(k). A function needs `stop` or
        `most`.

    Returns
    -------
    float
        At least the smooth sensitivity and at most ``1 + 2**-41`` times it, in the units of the
        statistic, and at least ``max(R 2**-1000, 2**-1022)`` for bounds that are R apart. Zero if
        the bounds are equal (except for a sum under "add-remove"), and for no rows under "replace".

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        As in `local`; or if an A(k) is not a number, NaN, negative, infinite or above `most`.

    Notes
    -----
    Exact for quantiles, extremes, graphs and sums under both relations, and under "replace" for
    means, trimmed means and variances. Otherwise a smooth upper bound: for the interquartile range
    and the standard deviation; for a winsorized mean (at most 1.7 times too large in small cases);
    and under "add-remove" for means and variances (bounds that depend on the number of rows alone)
    and trimmed means. Cost: a pass over unsorted data, then O(w) with ``w`` about ``(2 / beta) ln(R
    / S)`` ranks; for quantiles other than the median under "add-remove" no linear method is known,
    and branch and bound takes O(w) in practice and O(w**2) at worst; a sort for a variance under
    "replace". ``dpfast/sensitivity`` has the proofs.

    Noise scaled to the result for a function is private only if you have proved two properties, for
    all neighbors x, x' and every k. Nothing here can check them:

    1. ``A_x(0)`` is at least the local sensitivity of the statistic at x;
    2. ``A_x(k) <= A_x'(k + 1)``.

    Both hold for the largest local sensitivity within k changed rows, for bounds of the form "the
    largest of g(y) over all datasets y within k changed rows", and for their sums. The floats that
    the function returns must not be below the proved numbers: round up, by a factor that is the
    same for all data. Cost: one call a distance, up to `stop`, or with `most` up to
    ``ln(most / S) / beta``, which depends on the data, and so does the time.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.smooth(dp.Median(bounds=(0, 102)), range(1, 102), beta=0.1), 2)
    4.07

    The number v of the 100 rows above 5, times the number of the other rows:

    >>> above = 70
    >>> def A(k):  # one row changes v (100 - v) by at most |100 - 2 v| + 1
    ...     return min(abs(100 - 2 * above) + 2 * k + 1, 101)
    >>> round(dp.sensitivity.smooth(A, beta=0.1, most=101), 2)
    41.0
    """
    smoothness, relation = checks.positive("beta", beta), checks.neighbors(neighbors)
    last = None if stop is None else checks.whole("stop", stop)
    limit = None if most is None else checks.number("most", most)
    if limit is not None and limit < 0:
        checks.fail("most", "a finite number of at least 0", most)
    if callable(statistic) and not isinstance(statistic, (KnownSensitivity, type)):
        if last is None and limit is None:
            checks.fail("stop", "given (or most), so that the search ends", stop)
        return smooth_of_function(statistic, data, smoothness, last, limit)
    checked = _checked(statistic)
    if last is not None or limit is not None:
        name, value = ("most", most) if last is None else ("stop", stop)
        checks.fail(name, "left out for a statistic, which has its own", value)
    if len(data) != 1:
        checks.fail("data", "one argument for a statistic", f"{len(data)} arguments")
    return checked.smooth_sensitivity(data[0], smoothness, relation)


def _checked(statistic: Any) -> KnownSensitivity:
    """Return the statistic, or raise an error if it has no known sensitivities."""
    if not isinstance(statistic, KnownSensitivity):
        rule = "of known sensitivity, such as dpfast.Median(bounds=(0, 9))"
        checks.fail_kind("statistic", rule, statistic)
    return statistic
