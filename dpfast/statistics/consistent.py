"""Post-processing of released counts: consistent with totals, not negative, rounded.

Only numbers that already have noise are used: post-processing costs nothing and reads no row.

*Totals.* Parts p with noise of variance v each, and totals t_k of them over some axes with variance
v_k, have independent noise. The parts x that fit all of them best make

    sum (x - p)^2 / v + sum_k sum (S_k x - t_k)^2 / v_k

least, S_k the sums. Numbers with d axes are a sum of 2^d components, one for each choice of axes on
which it is the same everywhere and sums to 0 along each of the others. S_k multiplies a component
by the number N of cells of a sum, or makes it 0; and t_k has an N-th of the cells. So each is a
mean of those of p and t_k / N with the weights 1 / v and N / v_k (Gauss-Markov: the least variance
of all unbiased estimates; as Hay, Rastogi, Miklau and Suciu have it for trees, VLDB 2010).

*Nonnegative.* The nearest nonnegative parts with the same sum are max(p - s, 0) for one number s
(Duchi, Shalev-Shwartz, Singer and Chandra, ICML 2008).

*Rounded.* Numbers are rounded down, and those with the largest remainders up, until the sum is the
rounded one (Hamilton's method).

Both are done within each exact total by itself, or with all numbers if none is exact. Several exact
totals that cross one another may have no parts that are not negative, or rounded, at all: so one is
taken.
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
    """Return the answers with 0 for negative ones, which is no farther from a nonnegative truth."""
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

    Privacy
    -------
    Post-processing: the function takes answers, and no rows, so it costs nothing (Dwork, McSherry,
    Nissim and Smith, TCC 2006).

    Parameters
    ----------
    parts : array_like of numbers, of any number of axes
        Answers such as the counts of a histogram.
    totals : sequence of array_like, optional
        Answers about sums of the parts: each has the shape of the parts, or 1 along the axes that
        are summed (``keepdims`` of NumPy); a single number is the sum of all parts.
    variances : sequence of float, optional
        Public: the variance of the noise of a part, and then of each of the totals. By default all
        are the same. 0 means that a total is exact, which is allowed for one total; others are from
        1e-100 to 1e100.
    nonnegative : bool, default False
        Whether to return the nearest nonnegative numbers with the same sums. These are biased:
        small counts are too large on average, and large counts too small.
    decimals : int, optional
        Round to this number of decimals, as `numpy.round` does, so that the sum of all rounded
        numbers is their rounded sum. With an exact total, the sums along its axes are rounded, and
        kept.

    Returns
    -------
    float64 array of the shape of the parts
        The consistent parts. Sums of these are the consistent totals.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    dpfast.histogram : `nonnegative` there cuts each count at 0, so that error bars hold.

    Notes
    -----
    Least squares gives the unbiased estimates of least variance; after `nonnegative` or `decimals`
    the estimates are biased. Cost: ``2**d`` passes over the parts for d axes, and a sort.

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
        checks.fail("parts", "an array with an axis, not one number", parts)
    listed = enumerate(items_of("totals", totals, "a list of totals"))
    sums = [_total(f"totals[{i}]", total, numbers) for i, total in listed]
    spread = _variances(variances, 1 + len(sums))
    is_cut = checks.flag("nonnegative", nonnegative)
    if decimals is not None:
        checks.whole("decimals", decimals, -15, 15)
    if not numbers.size:
        return numbers if not sums else checks.fail("totals", "left out without parts", totals)
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
    rule = f"{count} numbers: for the parts {least:g} to {MOST:g}, for each total this or 0"
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
    """Return the least-squares fit of the parts, `answers[0]`, to the totals, its other items."""
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
