"""`expected_error`: how far an answer will be off, before it is released and paid for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import checks
from .._core.error_bars import Expected
from .mechanism import expected
from .release import prepare


def expected_error(
    function: Callable[..., object],
    /,
    *args: Any,
    confidence: float = 0.95,
    rows: int | None = None,
    **kwargs: Any,
) -> Expected:
    """Return the error that a share of all answers of a call would not exceed, without running it.

    Arguments are checked, and nothing is spent or read. Each number of a vector has the error bar
    with this confidence, by itself.

    Parameters
    ----------
    function : callable
        A release of this library, such as ``dp.mean``, or a method of `dpfast.group_by`.
    *args, **kwargs
        Its arguments, as it is called. A budget is not spent: it says the neighboring relation.
    confidence : float, default 0.95
        The share of all answers, greater than 0 and less than 1.
    rows : int, optional
        For how many rows, of those that count; by group, of each group. By default as many as there
        are where that is public: under "replace", for rows and not people, without `where`.

    Returns
    -------
    Expected
        `half_width`, in the units of the answer (of times, of their column): how far it is from the
        statistic of the clamped rows, at most. Or `ranks`, for quantiles: how many rows lie
        between. Neither is known where noise is secret, or how many rows there are; `note` is the
        reason, or what the bar rests on.
        Of several statistics by group, `half_width` and `ranks` are by name, None where there is
        none.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If an argument breaks its rule, or the function is no release.

    See Also
    --------
    dpfast.Budget.cost

    Notes
    -----
    It is a function of public numbers alone. What is behind each is in the `error` of its
    mechanism; the bar of a bound is up to some times what it needs to be.

    Cost: that of the checks, microseconds to milliseconds.

    Examples
    --------
    >>> import dpfast as dp
    >>> ages = [23, 35, 41, 58, 62] * 200
    >>> dp.expected_error(dp.count, ages, epsilon=0.1).half_width
    30.0
    >>> mean = dp.expected_error(dp.mean, ages, bounds=(0, 120), epsilon=1, neighbors="replace")
    >>> round(mean.half_width, 3), mean.note
    (0.359, 'by the distribution of the noise')
    >>> median = dp.expected_error(dp.median, ages, bounds=(0, 120), epsilon=1)
    >>> median.half_width is None, round(median.ranks)
    (True, 33)
    """
    share = checks.share("confidence", confidence)
    given = None if rows is None else checks.whole("rows", rows)
    kwargs.pop("rng", None)
    prepared = prepare(function, *args, **kwargs)
    if given is None and prepared.mechanism.has_public_rows:
        given = prepared.source.length
    return expected(prepared.mechanism, given, share)
