"""Private quantiles, minimum, maximum and interquartile range: the public functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..._core.types import Number
from ...measurement.functions import function_of
from .statistic import (
    Iqr,
    Maximum,
    Median,
    Minimum,
    Percentile,
    Quantile,
    Quantiles,
)
from .statistic import percentile as percentile_of


@function_of(Quantile)
def quantile(data: Any, **arguments: Any) -> Any:
    """Release a quantile of a column, or of each of several columns.

    The statistic is a quantile of the data clamped to `bounds`. If it lies between two rows, the
    method decides what is estimated. "smooth" estimates the value of rank ``min(max(1, ceil(q n)),
    n)``, so ``q = 0.5`` is the lower median. "exponential" has the target rank ``q (n - 1) + 1``,
    as `numpy.quantile` does, so the median of an even number of rows lies between the two middle
    rows.

    The answer lies within `bounds`. It is a multiple of `granularity`, which by default is 1 for a
    column with an integer type. Without a granularity it is on a public grid whose steps are about
    ``2**-40`` of the distance of the bounds.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss: pure `epsilon`,
    (`epsilon`, `delta`), or `rho`-zCDP. Only the value is released.

    ``method="smooth"`` adds noise of scale ``S / alpha`` to the order statistic, where ``S`` is a
    `beta`-smooth upper bound on the local sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007).
    ``alpha`` and ``beta`` come from the exact worst case over shifts and dilations of the chosen
    noise distribution. The noisy value is correctly rounded to the grid, so the answer is
    post-processing of the mechanism with real numbers.

    ``method="exponential"`` draws a point ``o`` of the grid with probability proportional to
    ``base(o) exp(-epsilon u(o) / (2 D))``. ``u(o)`` is the distance from the rank of ``o`` to the
    target rank ``q (n - 1) + 1``, for q rounded to a multiple of ``2**-32``. Ranks are counted as
    follows. Each row counts as the point of the grid at or next below it. A point with rows has the
    ranks of these rows; with a `granularity`, some ranks at either end of equal rows are left out.
    A point between rows of ranks i and i + 1 has the rank i near the first row, i + 1 near the
    second row, and i + 1/2 elsewhere.

    A replaced row changes ``u`` by at most D = 1, and an added or removed row by at most D = max(q,
    1 - q) (proof: ``dpfast/statistics/quantiles/exponential.py``). So the draw is `epsilon`-DP
    (McSherry and Talwar, FOCS 2007; for quantiles Smith, STOC 2011). Its range is bounded, so it
    costs less than ``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly:
    `dpfast.privacy.Draws`). The draw is exact. ``base`` is the base measure, the weight of each
    point before the data are seen. Half of it is spread evenly over all points and half over round
    numbers. A little is near 0: above 0 for high quantiles, and below 0 for low quantiles
    (``dpfast/noise/grid.py``). The base measure is public, so it costs nothing.

    If the candidates are at most ``2**17`` integers or multiples of `granularity`, and the loss is
    an `epsilon`, the draw is permute-and-flip with the same u and equal weights (McKenna and
    Sheldon, NeurIPS 2020). Its errors can be half as large, and large errors are never more likely.
    This draw is `epsilon`-DP, but its range is not bounded, so it costs more in zCDP: pass `rho` if
    the budget is in rho.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        Any real dtype: a NumPy array, a column of pandas, Polars or Arrow, or what `dpfast.scan`
        returns. A column of dates, times or durations needs bounds of that type. The answer then
        has a NumPy type in the unit of the column, or with a time zone a Python type.
    q : float or Fraction
        The quantile, 0 to 1; a decimal is taken exactly: ``0.9`` is nine tenths.
    bounds : (float, float), or "auto"
        Public limits of the values, in the data's units; values outside are clamped. The bounds
        must not come from the data. "auto" draws bounds for a quarter of the loss, as in
        `dpfast.sum`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. Each
        column has an equal part of the loss; `bounds` is then one pair, or one pair for each
        column.
    noise : str, default "auto"
        The noise distribution of ``method="smooth"``. For every kind of loss: "polyplace",
        "polyplace-finite-variance", "cauchy", "student-t" or "generalized-cauchy"; these give a
        pure loss, so the budget is not charged `delta`. For (`epsilon`, `delta`) also "laplace" or
        "gaussian", and for `rho` also "arsinh-normal". "auto" is "polyplace" below an epsilon of 4,
        "arsinh-normal" below a rho of 4, and otherwise "cauchy".
    method : {"auto", "smooth", "exponential"}, default "auto"
        "auto" is "smooth" if a `noise` distribution is named. Otherwise it is "exponential" with
        `ids`, for an epsilon below 12, for a rho below 8, and for any rho with `where` under
        "replace"; it is "smooth" in all other cases. The choice does not depend on the data. The
        error of "exponential" is about ``2 D / epsilon`` ranks. The error of "smooth" is far larger
        for a small epsilon, and falls faster as epsilon grows. "exponential" is pure, so the budget
        is not charged `delta`.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public. Whether "raise" raises an error depends on the data, so the
        spend is not refunded. "drop" is refused where the number of rows is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private. Under "replace" a replaced row may then enter or leave the mask. The
        loss of "exponential" covers this. For "smooth" it counts as two steps, so noise is made for
        half of epsilon, or a quarter of rho.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    assume_sorted : bool, default False
        Whether to trust that the data ascend, and read only what is needed.
    granularity : float, Fraction or Decimal, optional
        A public number. The answer is a multiple of this number within `bounds`, and rows are
        rounded to its nearest multiple; a decimal is taken exactly. Use it for a column of whole
        years or of cents, so that a value that many rows share is found exactly. By default it is 1
        for a column with an integer type, and otherwise there is none. It is refused for times and
        with ``bounds="auto"``.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, or ndarray of float64, shape (d,), with `axis`
        The private value, in the data's units.

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
    Cost: one read of the data, and time and memory for the rows at w ranks around the quantile. w
    is about ``120 D / epsilon`` for "exponential", and ``(2 / beta) ln(R / S)`` for "smooth", where
    R is the distance of the bounds. The first call of a process with "smooth" also makes a table of
    the noise distribution, which takes some tens of milliseconds.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> salaries = np.arange(20_000, 120_000, dtype=np.float64)
    >>> top = dp.quantile(salaries, 0.9, bounds=(0, 1e6), epsilon=1.0)
    >>> 100_000 < top < 120_000
    True
    """


@function_of(Median)
def median(data: Any, **arguments: Any) -> Any:
    """Release the median of a column, or of each of several columns: `quantile` at one half.

    Privacy
    -------
    Neighbors are defined as in `quantile`. The call satisfies the requested loss, by noise for the
    smooth sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007), or by an exact draw of the
    exponential mechanism (McSherry and Talwar, FOCS 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), or "auto"
    noise, method
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
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
    assume_sorted : bool, default False
    granularity : float, Fraction or Decimal, optional
        As in `quantile`.

    Returns
    -------
    float, or ndarray of float64, shape (d,), with `axis`
        The private value, within `bounds`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `quantile`.

    Notes
    -----
    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 50 < dp.median(ages, bounds=(0, 120), epsilon=1.0) < 58
    True
    >>> table = {"age": ages, "pay": 1000.0 * ages}
    >>> limits = [(0, 120), (0, 200_000)]
    >>> dp.median(table, axis=0, bounds=limits, epsilon=2.0, granularity=10).round(-4).tolist()
    [0.0, 50000.0]
    """


@function_of(Quantiles)
def quantiles(data: Any, **arguments: Any) -> Any:
    """Release many quantiles of a column, or of each of several columns, for one loss.

    The answers lie within `bounds`, on a public grid of about ``2**-40`` of their distance, and
    increase with the quantile.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). All answers together satisfy the requested loss, pure
    `epsilon` or `rho`-zCDP. Both methods are draws of exponential mechanisms (McSherry and Talwar,
    FOCS 2007), whose cost is less than ``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021;
    exactly: `dpfast.privacy.Draws`).

    ``method="recursive"`` draws the middle quantile, splits the rows at it, and repeats this on
    either side (Kaplan, Schnapp and Stemmer, ICML 2022). The draws have the ranks and the base
    measure of ``dpfast.quantile(..., method="exponential")``, which favors round numbers. For m
    quantiles there are ``floor(log2 m) + 1`` levels of draws, and each level gets an equal part of
    the loss. Rows that equal a drawn quantile are divided between its two sides, so that a row
    counts once on each level (``dpfast/statistics/quantiles/recursive.py`` has the proof).

    ``method="joint"`` draws all m answers at once, as one tuple (Gillenwater, Joseph and Kulesza,
    ICML 2021). The utility of a tuple is ``-sum_j |count_j - (q_j - q_(j-1)) n|``, where
    ``count_j`` is the number of rows between consecutive answers. All points of the grid have equal
    weights. Epsilon is divided by the exact range of the changes of this utility: 4 if a row is
    replaced (2 if the quantiles are all 0 or all 1), and ``2 (1 - g) + 2 (1 - g')`` if a row is
    added or removed. Here g is the least of the ``m + 1`` gaps between 0, the quantiles and 1, and
    g' the least gap that is not 0 (``dpfast/statistics/quantiles/joint.py`` has the proof). The
    weights have a relative rounding error of at most ``8 (m + 2)**2 2**-53``. Epsilon is reduced by
    four times this error, so the requested loss holds.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    qs : sequence of float or Fraction, shape (m,)
        The quantiles, each 0 to 1, in any order; a quantile may occur twice.
    bounds : (float, float), or "auto"
        As in `quantile`.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of all answers: one of the two arguments.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". With the
        recursive method the answers are about twice as accurate under "add-remove", because a
        replaced row can be on both sides of a split.
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. Each
        column has an equal part of the loss.
    method : {"auto", "recursive", "joint"}, default "auto"
        "auto" is "joint" for 2 to 9 quantiles of few rows under "replace": n epsilon / m (or n
        sqrt(8 rho) / m) is at most about 100, and n is known before the rows are read. Otherwise it
        is "recursive". The choice depends on public numbers alone. "recursive" reads the data about
        once, and finds values that many rows share. "joint" sorts all rows, and is mostly more
        accurate if values are spread out, above all under "replace" (``benchmarks/crossings.py``
        measures by how much).
    assume_sorted, granularity
        As in `quantile`.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private. The mask costs nothing, because the loss for a replaced row also
        covers a row that enters or leaves it.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).

    Returns
    -------
    ndarray of float64, shape (m,) or, with `axis`, (m, d)
        The private values, in the data's units and in the order of `qs`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``, unsorted data under `assume_sorted`, or more than
        ``2**31 - 1`` rows for "joint".

    Notes
    -----
    Cost: "recursive" reads the data about once, and sorts the rows at some hundred ``log2(m) /
    epsilon`` ranks around each quantile. "joint" sorts all of the data, and then takes time O(m n)
    and 12 m bytes a row: about a second for nine quantiles of a million rows. From some tens of
    quantiles on, its time grows as O(m**2 n).

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> low, middle, high = dp.quantiles(ages, [0.25, 0.5, 0.75], bounds=(0, 120), epsilon=1.0)
    >>> bool(30 < low < 42 and 50 < middle < 58 and 66 < high < 78)
    True
    >>> table = np.stack([ages, 1000 * ages], axis=1)
    >>> dp.quantiles(table, [0.5, 0.9], bounds=[(0, 120), (0, 2e5)], epsilon=2, axis=0).shape
    (2, 2)
    """


@overload
def percentile(data: Any, q: Number, **arguments: Any) -> float | NDArray[np.float64]: ...
@overload
def percentile(
    data: Any, q: Sequence[Number] | NDArray[Any], **arguments: Any
) -> NDArray[np.float64]: ...
@function_of(Percentile, percentile_of)
def percentile(data: Any, **arguments: Any) -> Any:
    """Release one or several percentiles q of a column: `quantile` or `quantiles` at q / 100.

    Privacy
    -------
    Neighbors are defined as in `quantile`. The call satisfies the requested loss, for all answers
    together. If q is one number, the answer is released as by `quantile`, and if q is a list, as by
    `quantiles`. Both use exact draws of exponential mechanisms (McSherry and Talwar, FOCS 2007).
    One number may instead get noise for its smooth sensitivity (Nissim, Raskhodnikova and Smith,
    STOC 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    q : float or Fraction, or sequence of these, shape (m,)
        0 to 100; a decimal is taken exactly: ``99.9`` is 999 thousandths.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clamped.
    method : str, default "auto"
        If q is one number, a method of `quantile`. If q is a list, "auto", "recursive" or "joint",
        as in `quantiles`.
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    noise, assume_sorted
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
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
    granularity : float, Fraction or Decimal, optional
        As in `quantile`. A list of percentiles is drawn by exponential mechanisms, which are pure,
        so the budget is not charged `delta`.

    Returns
    -------
    float, or ndarray of float64, shape (m,), or (d,) or (m, d) with `axis`
        The private values, in the data's units and in the order of `q`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `quantile`.

    Notes
    -----
    A draw estimates the value that `numpy.percentile` returns. ``method="smooth"`` adds noise to
    the value that `numpy.percentile` returns with ``method="inverted_cdf"``. `quantile` explains
    why.

    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> dp.percentile(ages, [25, 50, 75], bounds=(0, 120), epsilon=1.0).round(-1).tolist()
    [40.0, 50.0, 70.0]
    """


@function_of(Minimum)
def minimum(data: Any, **arguments: Any) -> Any:
    """Release a low value of a column as its private minimum.

    No private answer can depend strongly on one row, so the target is a row near the minimum. By
    default it is the row about ``28 / epsilon`` ranks above the minimum, or the middle row if there
    are too few rows. With fewer ranks, answers would often lie in the empty range below all rows.
    With more ranks, they would lie farther from the minimum. If at least ``28 / epsilon`` rows
    share the least value, this value is found exactly.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss.

    ``method="exponential"`` draws a point ``o`` of a public grid with probability proportional to
    ``base(o) exp(-epsilon u(o) / 2)``, where ``u(o)`` is the distance from the rank of ``o``, which
    is defined in `quantile`, to the target rank ``min(T, (n + 1) / 2)``. T depends on the loss
    alone. A row that is replaced, added or removed changes u by at most 1, so the draw is
    `epsilon`-DP (McSherry and Talwar, FOCS 2007). Its range is bounded, so it costs less than
    ``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly: `dpfast.privacy.Draws`). The
    public base measure is the same as in `quantile`.

    ``method="smooth"`` adds noise to the least row itself, scaled to its smooth sensitivity
    (Nissim, Raskhodnikova and Smith, STOC 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    bounds, noise
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
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
    granularity : float, Fraction or Decimal, optional
        As in `quantile`.
    method : {"auto", "smooth", "exponential"}, default "auto"
        "auto" is "smooth" if a `noise` distribution is named, and otherwise "exponential". The
        noise of "smooth" is scaled at least to the distance from the lower bound to the least row,
        because a new row may be at the bound. So "smooth" is better only if a row lies near the
        bound, or for a large epsilon: above about 3 if the lowest rows are far apart, and above 8
        otherwise (``benchmarks/crossings.py``).

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private value, within `bounds`, on a public grid of about ``2**-40`` of their distance.
        Without rows the answer depends on the bounds alone.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `trimmed_mean`.

    Notes
    -----
    Choose a lower bound near the possible values. An answer in the empty range between the bound
    and the least row is improbable, by a factor of about a millionth. But if rows lie closer
    together than a millionth of the width of this range, such answers still occur, and a wider
    range makes them more frequent.

    ``dp.quantile(data, 0, method="exponential")`` has the minimum itself as its target (T = 0). Its
    answer may lie anywhere between the lower bound and the least rows.

    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 0 <= dp.minimum(ages, bounds=(0, 120), epsilon=1.0) < 19
    True
    """


@function_of(Maximum)
def maximum(data: Any, **arguments: Any) -> Any:
    """Release a high value of a column as its private maximum.

    As in `minimum`, the default target is not the maximum itself, but the row about ``28 /
    epsilon`` ranks below it.

    Privacy
    -------
    Neighbors are defined as in `minimum`. The call satisfies the requested loss, by an exact draw
    of the exponential mechanism (McSherry and Talwar, FOCS 2007) or by smooth sensitivity (Nissim,
    Raskhodnikova and Smith, STOC 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), or "auto"
    noise, method
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
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
    granularity : float, Fraction or Decimal, optional
        As in `minimum`.

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private value, within `bounds`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `minimum`.

    Notes
    -----
    Choose an upper bound near the possible values, for the reason that `minimum` gives.

    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 90 <= dp.maximum(ages, bounds=(0, 120), epsilon=1.0) <= 120
    True
    """


@function_of(Iqr)
def iqr(data: Any, **arguments: Any) -> Any:
    """Release the interquartile range of a column.

    The statistic is the third quartile minus the first quartile of the data clamped to `bounds`.
    The quartiles are the values of ranks ``ceil(n / 4)`` and ``ceil(3 n / 4)``.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss.

    ``method="recursive"`` and ``method="joint"`` draw both quartiles as `quantiles` does, by
    exponential mechanisms (McSherry and Talwar, FOCS 2007), and release their difference.
    ``method="smooth"`` adds noise to the range itself, for a smooth bound on its local sensitivity
    (Nissim, Raskhodnikova and Smith, STOC 2007). Under "replace" this is the larger of the two
    quartiles' bounds, because both quartiles change in the same direction. Under "add-remove" it is
    the sum of the two bounds.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    bounds, noise
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
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
    granularity : float, Fraction or Decimal, optional
        As in `quantile`.
    method : {"auto", "smooth", "recursive", "joint"}, default "auto"
        "auto" is "smooth" if a `noise` distribution is named. Otherwise it is "recursive" with
        `ids`, for an epsilon below 1/2 and for a rho below 1/4 (below 2 and 6 with `where` under
        "replace"); it is "smooth" in all other cases. The choice does not depend on the data. If
        many rows share a value, "recursive" finds the quartiles exactly at any loss. "joint" is
        better if values are spread out (``benchmarks/crossings.py``).

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private range, from 0 to ``hi - lo``, on a public grid of about ``2**-40 (hi - lo)``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `trimmed_mean`.

    Notes
    -----
    Cost: one read of the data; "joint" sorts the data. The noise of `dpfast.ptr.iqr` does not
    depend on the bounds.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 33 < dp.iqr(ages, bounds=(0, 120), epsilon=1.0) < 40
    True
    """
