"""The functions that return global, local and smooth sensitivities. Only a global one is public."""

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
        The public number of rows. Sums, means, variances and trimmed means need it under "replace".
        A mean refuses it under "add-remove".
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
    The global sensitivities, with R = hi - lo and n = `rows`:

    * quantile, minimum, maximum, interquartile range: R;

    * mean: ``R / n``, or under "add-remove" ``R / 2``, because the mean of no rows is the middle of
      the bounds;

    * sum: R, or under "add-remove" ``max(abs(lo), abs(hi))``;

    * variance: ``R**2 (n - 1) / n**2``, or ``R**2 / n`` with ddof=1;

    * trimmed mean that cuts off m rows at each end: ``R / (n - 2 m)``;

    * winsorized mean: ``(m + 1) R / n``.

    Cost: negligible.

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

    With ``at_distance=0`` it is the local sensitivity: the largest change of the statistic between
    the data and a neighbor. With ``at_distance=k`` it is the largest local sensitivity of all
    datasets that differ from the data in at most k rows. Do not calibrate noise to it, because
    neighbors may have very different local sensitivities.

    Parameters
    ----------
    statistic : KnownSensitivity
        A statistic such as `dpfast.Median(bounds=(0, 10))`; `smooth` lists the statistics.
    data : array_like, shape (n,), or source
        Numbers, which are read as float64 and clamped to the bounds of the statistic. Its argument
        `nan` says how missing values are treated.
    at_distance : int, default 0
        The number k of rows in which the other datasets may differ from the data.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Variances, trimmed and winsorized means support only "replace".

    Returns
    -------
    float
        The exact number in the units of the statistic, rounded up by a relative ``2**-44`` at most.
        For quantiles, minimum and maximum it is rounded to the nearest float64. For an
        interquartile range, a winsorized mean and a standard deviation it is an upper bound.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Cost: a pass over unsorted data, then at most O(k). A variance, and a mean under "add-remove",
    need a sort of the column. A quantile other than the median needs a branch-and-bound search over
    2 k ranks under "add-remove".

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
    """NOT PRIVATE. Return the smooth sensitivity of a statistic, or of your own function A(k).

    Let ``LS(y)`` be the local sensitivity of data y, and let d be the number of rows in which y
    differs from `data`. The smooth sensitivity is the maximum of ``exp(-beta d) LS(y)`` over all y.
    Noise from a suitable distribution, scaled to the smooth sensitivity, makes a private release
    (`dpfast.smooth_release`). The smooth sensitivity itself depends on the data, so it must not be
    published.

    Parameters
    ----------
    statistic : KnownSensitivity or callable
        A statistic of one column: `dpfast.Sum`, `Mean`, `Proportion`, `Variance`, `Std`,
        `Quantile`, `Percentile`, `Median`, `Minimum`, `Maximum`, `Iqr`, `TrimmedMean` or
        `WinsorizedMean`. A statistic of a graph: `TreeCost` or `Triangles` of `dpfast.sensitivity`.
        Your own statistic, which inherits `dpfast.extend.KnownSensitivity`. Or a function ``A(k,
        *data)`` that returns a number of at least 0. If Numba compiled it, the loop over k is
        compiled too.
    *data : array_like, shape (n,), or source
        The data, as in `local`. For a function, its arguments after k.
    beta : float
        Above 0. The results for two neighbors differ by a factor of at most ``exp(beta)``.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Your proof about a function has to hold for this relation.
    stop : int, optional
        Public, only for a function: it is called for k = 0 .. `stop`. Without `most` you promise
        that ``A(k) = A(stop)`` for all larger k and any data. Under "replace" the number of rows is
        such a k.
    most : float, optional
        Public, only for a function: an upper bound of A(k) for any data and any k, such as the
        global sensitivity. The search ends at the first k beyond which the maximum cannot grow.
        Beyond `stop`, A(k) counts as `most`. A function needs `stop` or `most`, or both.

    Returns
    -------
    float
        The smooth sensitivity in the units of the statistic, rounded up by a factor of at most ``1
        + 2**-41``. With R = hi - lo it is at least ``max(R 2**-1000, 2**-1022)``. It is zero if the
        bounds are equal (except for a sum under "add-remove"), and for no rows under "replace".

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        As in `local`. Also if an A(k) is not a finite number of at least 0, or is above `most`.

    Notes
    -----
    The result is exact for quantiles, minimum, maximum, graphs and sums. Under "replace" it is also
    exact for means, trimmed means and variances. For all others it is a smooth upper bound: for the
    interquartile range, the standard deviation and a winsorized mean (at most 1.7 times too large
    in small cases), and under "add-remove" for trimmed means, means and variances. For means and
    variances the bound under "add-remove" depends only on the number of rows. The proofs are in
    ``dpfast/sensitivity``.

    Cost: a pass over unsorted data, then O(w), where w is about ``(2 / beta) ln(R / S)`` ranks for
    a result S. A quantile other than the median takes about O(w) under "add-remove", and O(w**2) at
    worst. A variance needs a sort under "replace".

    Noise that is scaled to the result for a function is private only if you have proved two
    properties for all neighbors x, x' and every k. dpfast cannot check them:

    1. ``A_x(0)`` is at least the local sensitivity of the statistic at x;
    2. ``A_x(k) <= A_x'(k + 1)``.

    The largest local sensitivity within k changed rows has both properties. So does the maximum of
    g over all datasets within k changed rows, for any g that is at least the local sensitivity, and
    so do sums of such functions. The function must not return a float below the proved number:
    round up, by the same factor for all data. Cost: one call for each k up to `stop`. With `most`
    it is up to about ``ln(most / S) / beta`` calls; this number, and so the time, depends on the
    data.

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
        rule = "a statistic of known sensitivity, such as dpfast.Median(bounds=(0, 9))"
        checks.fail_kind("statistic", rule, statistic)
    return statistic
