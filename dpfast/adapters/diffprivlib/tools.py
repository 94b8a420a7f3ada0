"""diffprivlib's tools: statistics of arrays with public bounds.

Each tool takes arguments by diffprivlib's names. It is one release of dpfast, and the accountant
pays before a row is read. With an axis, all answers together cost the loss. An answer NaN would
reveal a row, so tools without "nan" in their names raise DataError after the spend.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpfast as dp
from dpfast.extend import checks

from .accountant import BudgetAccountant, spending
from .layout import Layout, limits, numbers
from .refusals import generator_of, ignored, payable, refuse


def _paying(epsilon: Any, random_state: Any, accountant: Any) -> tuple[BudgetAccountant, Any]:
    """Return the accountant of a call, and a function that runs releases which it pays for."""
    payer = BudgetAccountant.load_default(accountant)
    payable(epsilon)
    shared = {"neighbors": "replace", "budget": payer.budget, "rng": generator_of(random_state)}

    def released(release: Any, *data: Any, epsilon: Any = epsilon, **more: Any) -> Any:
        with spending():
            return release(*data, epsilon=epsilon, **shared, **more)

    return payer, released


def _statistic(release: Callable[..., Any], drops: bool, clips: Any = None) -> Callable[..., Any]:
    """Return a tool of diffprivlib made of a release of bounded columns, such as `dp.mean`."""

    def tool(
        array: Any,
        epsilon: Any = 1.0,
        bounds: Any = None,
        axis: Any = None,
        dtype: Any = None,
        keepdims: Any = False,
        random_state: Any = None,
        accountant: Any = None,
        **unused_args: Any,
    ) -> Any:
        ignored(unused_args)
        kind = None if dtype is None else np.dtype(dtype)
        layout = Layout.of(array, axis, keepdims)
        pairs = limits(bounds, layout.columns)
        payer, released = _paying(epsilon, random_state, accountant)
        if drops and layout.columns is not None:
            # Checked for all columns, so that either all are paid for or none.
            payer.check(epsilon, 0)
            share = Fraction(str(epsilon)) / layout.columns
            column_bounds = pairs if isinstance(pairs, list) else [pairs] * layout.columns
            answers: Any = [
                released(release, column, bounds=arguments, where=_present(column), epsilon=share)
                for column, arguments in zip(layout.rows.T, column_bounds, strict=True)
            ]
        else:
            mask = _present(layout.rows) if drops else None
            arguments = {"bounds": pairs, "axis": layout.axis, "where": mask}
            answers = released(release, layout.rows, **arguments, nan="raise")
        private = np.asarray(answers)
        if clips is not None:
            low, high = np.asarray(pairs, np.float64).T * len(layout.rows)
            private = np.minimum(np.maximum(private, low), high)  # twice as fast as np.clip
        return layout.answer(private, kind)

    tool.__doc__ = f"""Release `{release.__name__}` of an array.

    Parameters
    ----------
    array : array_like
    epsilon : float, default 1
        The loss of all answers together.
    bounds : (float, float) or (array, array)
        Public limits.
    axis, dtype, keepdims
        As in NumPy. The `dtype` is the type of the answer; rows are not cast to it.
    random_state : None
    accountant : BudgetAccountant, optional

    Returns
    -------
    float, int or array

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        If an argument is wrong, or too little of the budget is left. Nothing has been spent.
    DataError
        If there is a NaN, and the tool does not leave NaN out. The loss has been spent.
    """
    return tool


def _present(rows: NDArray[Any]) -> Any:
    """Return the mask of rows that are not NaN, or None for types without NaN."""
    return ~np.isnan(rows) if rows.dtype.kind == "f" else None


mean, nanmean = _statistic(dp.mean, False), _statistic(dp.mean, True)
var, nanvar = _statistic(dp.variance, False), _statistic(dp.variance, True)
std, nanstd = _statistic(dp.std, False), _statistic(dp.std, True)
sum, nansum = _statistic(dp.sum, False, True), _statistic(dp.sum, True, True)


def count_nonzero(
    array: Any,
    epsilon: Any = 1.0,
    axis: Any = None,
    keepdims: Any = False,
    random_state: Any = None,
    accountant: Any = None,
) -> Any:
    """Release the number of entries that are neither 0 nor empty text."""
    layout = Layout.of(array, axis, keepdims, words=True)
    _, released = _paying(epsilon, random_state, accountant)
    counts = np.asarray(released(dp.count_nonzero, layout.rows, axis=layout.axis))
    return layout.answer(np.clip(counts, 0, len(layout.rows)), np.dtype(np.intp))


def quantile(
    array: Any,
    quant: Any,
    epsilon: Any = 1.0,
    bounds: Any = None,
    axis: Any = None,
    keepdims: Any = False,
    random_state: Any = None,
    accountant: Any = None,
    **unused_args: Any,
) -> Any:
    """Release quantiles of an array, all together for one loss."""
    ignored(unused_args)
    wanted = [checks.fraction("quant", q) for q in np.ravel(np.asarray(quant, object)).tolist()]
    if not all(0 <= q <= 1 for q in wanted):
        checks.fail("quant", "a number between 0 and 1", quant)
    layout = Layout.of(array, axis, keepdims)
    pairs = limits(bounds, layout.columns)
    _, released = _paying(epsilon, random_state, accountant)
    arguments = {"bounds": pairs, "axis": layout.axis, "nan": "raise"}
    if len(wanted) == 1:
        return layout.answer(np.asarray(released(dp.quantile, layout.rows, wanted[0], **arguments)))
    answers = released(dp.quantiles, layout.rows, wanted, **arguments)
    return np.stack([layout.answer(quantile) for quantile in np.asarray(answers)])


def percentile(array: Any, percent: Any, *args: Any, **kwargs: Any) -> Any:
    """Release percentiles of an array, all together for one loss; see `quantile`."""
    percents = np.ravel(np.asarray(percent, object)).tolist()
    return quantile(array, [checks.fraction("percent", p) / 100 for p in percents], *args, **kwargs)


def median(array: Any, *args: Any, **kwargs: Any) -> Any:
    """Release the median of an array; see `quantile`."""
    return quantile(array, 0.5, *args, **kwargs)


def _columns(sample: Any) -> tuple[Any, int]:
    """Return a matrix of rows, or a list of columns, as data of dpfast, and the number of columns.

    Columns of pandas stay unchanged, so that the release can compare their indexes.
    """
    if not isinstance(sample, (list, tuple)):
        rows = numbers(sample, "sample")
        if rows.ndim not in (1, 2):
            checks.fail_kind("sample", "rows of numbers", sample)
        width = 1 if rows.ndim == 1 else rows.shape[1]
        return rows.reshape(-1) if width == 1 else rows, width
    arrays = [numbers(column, "sample") for column in sample]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        checks.fail("sample", "columns of one length", [array.shape for array in arrays])
    columns = [
        column if hasattr(column, "iloc") else array
        for column, array in zip(sample, arrays, strict=True)
    ]
    named = {f"{i}": column for i, column in enumerate(columns)}
    return columns[0] if len(columns) == 1 else named, len(columns)


def histogramdd(
    sample: Any,
    epsilon: Any = 1.0,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: Any = None,
    random_state: Any = None,
    accountant: Any = None,
    **unused_args: Any,
) -> Any:
    """Release the counts of rows in the bins of a histogram of several columns."""
    ignored(unused_args)
    data, width = _columns(sample)
    if weights is not None:
        refuse("weights")
    axis_bins = [bins] * width if np.ndim(bins) == 0 else list(bins)
    if len(axis_bins) != width:
        checks.fail("bins", f"given for each of {width} columns", bins)
    spans = [None] * width if range is None else list(range)
    numbered = [np.ndim(axis) == 0 for axis in axis_bins]  # given as a number of bins, not as edges
    if any(is_number and span is None for is_number, span in zip(numbered, spans, strict=True)):
        refuse("bounds", "range")
    spans = [span if is_number else None for is_number, span in zip(numbered, spans, strict=True)]
    _, released = _paying(epsilon, random_state, accountant)
    if width == 1:  # six times as fast as a table with one column
        counts, edge = released(dp.histogram, data, bins=axis_bins[0], bounds=spans[0])
        edges = [edge]
    else:
        bounds = spans if any(spans) else None
        counts, edges = released(dp.histogram, data, bins=axis_bins, bounds=bounds)
    counts = np.maximum(counts, 0)
    if density:
        sizes = np.ones(())
        for axis_edges in edges:
            sizes = np.multiply.outer(sizes, np.diff(axis_edges))
        counts = counts / max(counts.sum(), 1) / sizes
    return counts, edges


def histogram(
    sample: Any,
    epsilon: Any = 1.0,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Release the counts of numbers in the bins of a histogram."""
    column = numbers(sample, "sample").reshape(-1, 1)
    span = None if range is None else [range]
    axis_bins = bins if np.ndim(bins) == 0 else [bins]
    counts, edges = histogramdd(column, epsilon, axis_bins, span, weights, density, *args, **kwargs)
    return counts, edges[0]


def histogram2d(
    array_x: Any, array_y: Any, epsilon: Any = 1.0, bins: Any = 10, *args: Any, **kwargs: Any
) -> Any:
    """Release the counts of pairs of numbers in the bins of a two-dimensional histogram."""
    same = np.ndim(bins) == 1 and len(bins) != 2  # the same edges for both axes
    pairs = [array_x, array_y]
    counts, edges = histogramdd(pairs, epsilon, [bins, bins] if same else bins, *args, **kwargs)
    return counts, *edges
