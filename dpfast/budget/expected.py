"""`expected_error`: the error bar of an answer, before the answer is released and paid for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import checks
from .._core.advice import advise
from .._core.error_bars import ErrorBar
from .mechanism import Mechanism, expected
from .release import WithBar, prepare


def expected_error(
    function: Callable[..., object] | Mechanism[Any],
    /,
    *args: Any,
    confidence: float = 0.95,
    rows: int | None = None,
    **kwargs: Any,
) -> ErrorBar:
    """Return the error bar that the answer of a call would have, without running the call.

    Arguments are checked, and nothing is spent or read. For a vector, `confidence` holds for each
    number separately.

    Parameters
    ----------
    function : callable
        A release of this library, such as ``dp.mean``, or a method of `dpfast.group_by`. Or the
        `mechanism` of a `dpfast.extend.Prepared`, without further arguments.
    *args, **kwargs
        The arguments of the call. A budget is not spent: only its neighboring relation is used.
    confidence : float, default 0.95
        The probability that the error is within the bar: greater than 0 and less than 1.
    rows : int, optional
        The number of rows that count, in each group if there are groups. By default it is the
        actual number if that is public: under "replace", with rows as the privacy unit, without
        `where`. If the answer for this many rows would be mostly noise, a `dpfast.PrivacyAdvice`
        says so.

    Returns
    -------
    ErrorBar
        ``half_width`` is a bound on the distance between the answer and the statistic of the
        clamped rows, in the units of the answer (for times, of their column). For quantiles,
        ``ranks`` is a bound on the number of rows between the answer and the quantile. Both are
        None if the scale of the noise is secret, or if the number of rows is needed and private.
        ``note`` is the reason, or the assumption of the error bar. For several statistics by group,
        ``half_width`` and ``ranks`` are dicts by name; unknown entries are None.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If an argument breaks its rule, or `function` is not a release.

    See Also
    --------
    dpfast.Budget.cost

    Notes
    -----
    The error bar depends on public numbers alone. Its derivation is in the source of the method
    `error` of each mechanism. Where the error bar is only an upper bound, it may be a few times too
    wide.

    Cost: microseconds to milliseconds, for the checks of the arguments.

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
    public_rows = None if rows is None else checks.whole("rows", rows)
    kwargs.pop("rng", None)
    if isinstance(function, Mechanism):
        mechanism, after = function, None
    else:
        prepared = prepare(function, *args, **kwargs)
        mechanism, after = prepared.mechanism, prepared.after
        if public_rows is None and mechanism.has_public_rows:
            public_rows = prepared.source.length
    bar = expected(mechanism, public_rows, share)
    if rows is not None and public_rows is not None:
        advise_bar(mechanism, bar, max(1, public_rows))
    return after.bar(bar) if isinstance(after, WithBar) else bar


def advise_bar(mechanism: Mechanism[Any], bar: ErrorBar, rows: int) -> None:
    """Warn that an answer will be noise, for a public number of rows (of each group).

    An answer counts as noise if its half-width is at least as large as the error of a guess without
    data. That is the number of rows (times the largest weight) for a count, half of the range for
    other answers, and half of the rows for a quantile, in ranks. Of several columns one noisy
    answer is enough, and the warning shows the longest bar.
    """
    part: Any = mechanism
    while (inner := part.parameters.get("inner")) and "statistic" not in part.parameters:
        part = inner  # a ratio names a statistic although it contains sums
    rows = min(rows, 1 << 60)  # a larger number makes no difference, and might not fit in a float
    for name, statistic in part.parameters.get("statistics", {mechanism.name: part}).items():
        bars = bar.half_width, bar.ranks
        width, ranks = (of[name] if isinstance(of, dict) else of for of in bars)
        pairs = (np.asarray(width), _half_range(statistic, rows)), (np.asarray(ranks), rows / 2)
        if any(sizes.dtype.kind == "f" and (sizes >= most).any() for sizes, most in pairs):
            size = ErrorBar(bar.confidence, *(sizes.max() for sizes, _ in pairs))
            why = "it is noise: spend more, or take more rows or larger groups"
            advise(f"{name} of {rows} rows will be known {size}, so {why}")


def _half_range(part: Any, rows: int) -> Any:
    """Return the error of a guess without data: half of the range, or the whole for counts."""
    match part:
        case object(statistic=object(name="count" | "histogram" | "marginals", limits=limits)):
            return rows * (limits or (1, 1))[1]
        case object(statistic=object(name=name, limits=limits, bounds=tuple(bounds))):
            half, most = np.ptp(bounds, -1) / 2, rows * (limits or (1, 1))[1]
            of_spread = {"variance": half**2 / 2, "standard deviation": half / 2}
            halves = {"mean": half, "proportion": half, "sum": most * half, **of_spread}
            return halves.get(name, math.inf)
    return math.inf
