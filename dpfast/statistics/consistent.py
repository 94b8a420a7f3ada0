"""Post-processing of released counts: consistent with totals, not negative, rounded.

Only numbers that already have noise are used: post-processing costs nothing and reads no row.

*Totals.* The parts p have noise of variance v each. The totals t_k, sums of the parts over some
axes, have noise of variance v_k. All noise is independent. Least squares chooses the parts x for
which

    sum (x - p)^2 / v + sum_k sum (S_k x - t_k)^2 / v_k

is least, where S_k x are the sums of x. An array with d axes is the sum of 2^d components, one for
each set of axes: the component is constant along these axes, and sums to 0 along each other axis.
S_k either multiplies a component by N, the number of entries that a sum adds, or makes it 0. So
each component of x is the weighted mean of the components of p and t_k / N, with the weights 1 / v
and N / v_k. By Gauss and Markov this has the least variance of all unbiased linear estimates (for
trees: Hay, Rastogi, Miklau and Suciu, VLDB 2010).

*Nonnegative.* The nearest nonnegative parts with the same sum are max(p - s, 0) for one number s
(Duchi, Shalev-Shwartz, Singer and Chandra, ICML 2008).

*Rounded.* All numbers are rounded down. Then the numbers with the largest remainders are rounded
up, until the sum is the rounded sum (Hamilton's method).

Both steps are done for each sum of an exact total separately, or for all numbers together if no
total is exact. Only one exact total is allowed: several that cross may have no nonnegative or
rounded parts at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core import checks
from .._core.types import Floats, Number

#: The largest numbers and variances, so that nothing overflows.
MOST = 1e100


def not_below_0(answers: Any) -> Any:
    """Return the answers with 0 in place of negative ones, which increases no error."""
    return max(answers, 0) if isinstance(answers, int) else np.maximum(answers, 0)


def consistent(
    parts: ArrayLike,
    totals: Sequence[ArrayLike] = (),
    *,
    variances: Sequence[Number] | None = None,
    nonnegative: bool = False,
    decimals: int | None = None,
) -> Floats:
    """Make released numbers consistent with released totals, nonnegative, or rounded.

    Noisy counts of towns, for example, do not add up to the noisy count of their country. This
    function returns counts that do.

    Privacy
    -------
    The function takes released answers and reads no rows. This is post-processing, so it costs
    nothing (Dwork, McSherry, Nissim and Smith, TCC 2006).

    Parameters
    ----------
    parts : array_like of numbers, of any number of axes
        Answers such as the counts of a histogram.
    totals : sequence of array_like, optional
        Released sums of the parts. Each total is an array with the number of axes of the parts, and
        the length 1 along the axes that are summed (as with ``keepdims`` of NumPy). A single number
        is the sum of all parts.
    variances : sequence of float, optional
        Public numbers: the variance of the noise of each part, and then the variance of the noise
        of each total. By default all are the same. One total may have 0, which means that it is
        exact; other variances are from 1e-100 to 1e100.
    nonnegative : bool, default False
        Whether to return the nearest nonnegative numbers with the same sums. These numbers are
        biased: small counts are too large on average, and large counts too small.
    decimals : int, optional
        The number of decimals to round to, as in `numpy.round`. Some numbers are rounded up and
        others down, so that the rounded numbers add up to the rounded sum. With an exact total,
        this holds for each of its sums.

    Returns
    -------
    float64 array of the shape of the parts
        The consistent parts. Their sums are the consistent totals.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    dpfast.histogram : `nonnegative` there cuts each count at 0, so that error bars hold.

    Notes
    -----
    The parts are the linear unbiased estimates of least variance. `nonnegative` and `decimals` bias
    them.

    Cost: ``2**d`` passes over the parts for d axes, and a sort.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.consistent([10.0, 20.0, 33.0], [66]).tolist()  # 3 more, shared by 3 parts and the total
    [10.75, 20.75, 33.75]
    >>> dp.consistent([[10, -2], [20, 30]], nonnegative=True, decimals=0).tolist()
    [[10.0, 0.0], [19.0, 29.0]]
    >>> dp.consistent([100 / 3] * 3, decimals=1).tolist()  # for print: the sum is 100.0
    [33.4, 33.3, 33.3]
    """
    numbers = _numbers("parts", parts)
    if not numbers.ndim:
        checks.fail("parts", "an array, not a single number", parts)
    listed = enumerate(items_of("totals", totals, "a list of totals"))
    sums = [_total(f"totals[{i}]", total, numbers) for i, total in listed]
    spread = _variances(variances, 1 + len(sums))
    is_cut = checks.flag("nonnegative", nonnegative)
    if decimals is not None:
        checks.whole("decimals", decimals, -15, 15)
    if not numbers.size:
        return numbers if not sums else checks.fail("totals", "left out if parts are empty", totals)
    whole = np.zeros((1,) * numbers.ndim)
    kept = next((t for t, v in zip(sums, spread[1:], strict=True) if not v), whole)
    if is_cut and kept.min() < 0:
        checks.fail(
            "totals", "at least 0 if they are exact and nonnegative is true", float(kept.min())
        )
    if sums:
        numbers = _agreeing([numbers, *sums], spread)
    # One line of counts for each of the sums that are kept.
    axes = sorted(range(numbers.ndim), key=lambda axis: kept.shape[axis] == 1)
    turned = numbers.transpose(axes)
    lines = turned.reshape(kept.size, -1)
    lines = _nearest(lines) if is_cut else lines
    lines = lines if decimals is None else _rounded(lines, int(decimals))
    return lines.reshape(turned.shape).transpose(np.argsort(axes))


def items_of(name: str, value: Any, rule: str) -> list[Any]:
    """Return the items of a list, or raise an error for a value that is no list."""
    with suppress(Exception):  # an object whose items cannot be read may raise any error
        if not isinstance(value, str):
            return checks.items(value)
    checks.fail_type(name, rule, value)


def _numbers(name: str, value: Any) -> Floats:
    rule = f"an array of finite numbers, at most {MOST:g} in size"
    try:
        numbers = np.asarray(value, np.float64)
    except Exception:  # an object whose conversion raises an error
        checks.fail_type(name, rule, value)
    if not (np.abs(numbers) <= MOST).all():
        checks.fail(name, rule, value)
    return numbers


def _total(name: str, value: Any, parts: Floats) -> Floats:
    total = _numbers(name, value)
    total = total.reshape((1,) * parts.ndim) if total.ndim == 0 else total
    pairs = list(zip(total.shape, parts.shape, strict=False))
    if total.ndim != parts.ndim or any(size not in (1, whole) for size, whole in pairs):
        rule = f"a number, or an array of shape {parts.shape} with 1 for each summed axis"
        checks.fail(name, rule, total.shape)
    return total


def _variances(value: Any, count: int) -> list[float]:
    if value is None:
        return [1.0] * count
    least = 1 / MOST
    rule = f"{count} numbers from {least:g} to {MOST:g}: for the parts, and each total (or 0)"
    listed = items_of("variances", value, rule)
    spread = [checks.number("variances", variance, rule) for variance in listed]
    if len(spread) != count or not spread[0] or any(v and not least <= v <= MOST for v in spread):
        checks.fail("variances", rule, value)
    if spread.count(0.0) > 1:
        checks.fail(
            "variances",
            "0 for at most one total, because several exact totals may contradict each other",
            value,
        )
    return spread


def _agreeing(answers: Sequence[Floats], spread: Sequence[float]) -> Floats:
    """Return the least-squares fit of the parts `answers[0]` to the totals `answers[1:]`."""
    shape = answers[0].shape
    answer = np.zeros(shape)
    for same in product((True, False), repeat=len(shape)):
        weights, weighted = 0.0, np.zeros(1)
        for numbers, variance in zip(answers, spread, strict=True):
            summed = [size if n == 1 else 1 for n, size in zip(numbers.shape, shape, strict=True)]
            if any(n > 1 and not alike for n, alike in zip(summed, same, strict=True)):
                continue  # this total says nothing about this component
            cells = float(np.prod(summed))
            part = _component(numbers, same) / cells
            if not variance:
                weights, weighted = 1.0, part
                break
            weights, weighted = weights + cells / variance, weighted + part * (cells / variance)
        answer += weighted / weights
    return answer


def _component(numbers: Floats, same: Sequence[bool]) -> Floats:
    """Return the component that is constant along `same` axes and sums to 0 along the others."""
    for axis, is_same in enumerate(same):
        mean = numbers.mean(axis=axis, keepdims=True)
        numbers = mean if is_same else numbers - mean
    return numbers


def _nearest(lines: Floats) -> Floats:
    """Return the nearest nonnegative numbers with the same sum, for each line of `lines`.

    The numbers of a line are 0 if its sum is not above 0.
    """
    ordered = -np.sort(-lines, axis=1)
    sums = np.maximum(lines.sum(axis=1, keepdims=True), 0.0)
    shifts = (np.cumsum(ordered, axis=1) - sums) / np.arange(1, lines.shape[1] + 1)
    above = (ordered > shifts).sum(axis=1, keepdims=True)  # counts the leading ones
    shift = np.take_along_axis(shifts, np.maximum(above - 1, 0), axis=1)
    return np.where(above > 0, np.maximum(lines - shift, 0), 0.0)


def _rounded(lines: Floats, decimals: int) -> Floats:
    """Round numbers to `decimals` so that the sum of each line is the rounded sum of that line."""
    unit = 10.0 ** abs(decimals)
    scaled = lines * unit if decimals >= 0 else lines / unit
    down = np.floor(scaled)
    more = np.rint((scaled - down).sum(axis=1, keepdims=True))
    largest = np.argsort(down - scaled, axis=1, kind="stable")
    down += np.argsort(largest, axis=1) < more
    return down / unit if decimals >= 0 else down * unit
