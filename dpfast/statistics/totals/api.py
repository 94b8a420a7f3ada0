"""Public functions of counts, sums, means, variances and standard deviations of columns.

The statistics are defined in `count` and `moments`, over `measurement.linear`.
"""

from __future__ import annotations

from typing import Any

from ...measurement.functions import function_of
from .count import Count, CountNonzero
from .moments import Mean, Std, Sum, Variance


@function_of(Count)
def count(data: Any, **arguments: Any) -> Any:
    """Release the number of rows of a column or a table, or of some of its rows.

    With ``axis=0`` the answer is one number for each column.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss. A row changes the count by at most 1; the noise is an exact integer for this
    sensitivity (discrete Laplace, Ghosh, Roughgarden and Sundararajan, STOC 2009; discrete
    Gaussian, Canonne, Kamath and Steinke, NeurIPS 2020). Under "replace" the number of all rows is
    public, and is returned without noise. With ``axis=0`` the loss covers all counts together. A
    row may change each count of present or missing values by 1, so the noise is made as in `sum`
    for numbers between 0 and 1, rounded to whole numbers at random. Without `nan` all columns have
    the same count, and its noise is drawn once.

    Parameters
    ----------
    data : array_like, shape (n,) or (n, d), table, or source
        As in `sum`. Without `axis`, and with ``nan="keep"``, the values of the columns are not
        read: they may be text.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record.
    nan : {"keep", "drop", "only"}, optional
        "keep", the default, counts all rows, "drop" counts the rows with a value, and "only" counts
        the rows that are NaN or null.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``). Rows are counted, not
        people.
    per_unit : (int, int) or "auto", optional
        With `ids`, instead of `max_rows`: public limits to which the number of rows of a person is
        clamped; a person without rows counts 0. Error bars do not include the bias of clamping.
        "auto" draws the limits for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    nonnegative : bool, default False
        Whether a count below 0 is replaced by 0, which costs nothing. Small counts are then too
        large on average; error bars stay valid.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    int, or int64 array of shape (d,)
        The private count. It is unbiased, so it may be negative, unless `nonnegative` is true.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.

    Notes
    -----
    Cost: none if the length is known and no row is left out, otherwise one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 10_300 < dp.count(ages, where=ages >= 65, epsilon=1.0) < 10_500
    True
    >>> table = {"age": ages, "town": np.full(29_200, "Ulm")}
    >>> 29_100 < dp.count(table, epsilon=1.0) < 29_300
    True
    >>> 370 < dp.count(np.where(ages == 90, np.nan, ages), nan="only", epsilon=1.0) < 430
    True
    """


@function_of(CountNonzero)
def count_nonzero(data: Any, **arguments: Any) -> Any:
    """Release the number of rows that are not 0 in a column, or in each of several columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss. A row changes the number by at most 1 under both relations, and the noise is
    an exact integer for this sensitivity, as in `count` (Ghosh, Roughgarden and Sundararajan, STOC
    2009; Canonne, Kamath and Steinke, NeurIPS 2020). With ``axis=0`` the loss covers all numbers
    together, because a row may change each number, and the noise is made as in `sum`.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        Numbers or truth values, as in `sum`.
    nan : {"keep", "drop"}, default "keep"
        Whether a row that is NaN or null counts. NaN is not 0, as in `numpy.count_nonzero`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record.
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
    per_unit : (int, int) or "auto", optional
        With `ids`, instead of `max_rows`: public limits to which the number of a person's rows that
        are not 0 is clamped; a person without rows counts 0. Error bars do not include the bias of
        clamping. "auto" draws the limits for a quarter of the loss
        (``dpfast/measurement/unit_bounds.py``).
    nonnegative : bool, default False
        Whether a count below 0 is replaced by 0, which costs nothing. Small counts are then too
        large on average; error bars stay valid.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    int, or int64 array of shape (d,)
        The private count. It is unbiased, so it may be negative, unless `nonnegative` is true.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `count`.

    Notes
    -----
    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> children = np.repeat([0, 1, 2, 3], [9000, 4000, 3000, 500])
    >>> 7_400 < dp.count_nonzero(children, epsilon=1.0) < 7_600
    True
    """


@function_of(Sum)
def sum(data: Any, **arguments: Any) -> Any:
    """Release the sum of a column, or of each of several columns, rows clamped to public bounds.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (`n` is private), or replaced
    (`n` is public). The call satisfies the requested loss. Rows are clamped and rounded to a public
    grid, and their sum is an exact integer of known sensitivity: ``hi - lo`` for a replaced row,
    ``max(|lo|, |hi|)`` for a row that is added or removed, and ``max(hi, 0) - min(lo, 0)`` for a
    row that is replaced if only some rows are summed. The noise is an exact integer too: discrete
    Laplace or Gaussian, or a rounded Gaussian for `delta`. From an epsilon of about 1.6 on it is a
    staircase (Geng and Viswanath, "The optimal mechanism in differential privacy", ISIT 2014),
    which has .92, .61 and .21 of the standard deviation of Laplace noise at an epsilon of 2, 5 and
    10.

    With `ids` neighbors are datasets that differ in all rows of one person, who is added or
    removed, or is replaced by another person. If a person has c rows, and c is more than `max_rows`
    = m, the person counts as m rows and m / c of the total (``dpfast/summaries/units.py`` has the
    proof). So a person changes a sum by at most m times as much as a row. Noise is calibrated to
    this change, with half of the loss if a person is replaced. With ``bounds="auto"`` rows are
    instead chosen by a fresh secret key, and noise is calibrated to a row's part of the loss (group
    privacy, Dwork, McSherry, Nissim and Smith, TCC 2006; ``dpfast/measurement/unit.py``). With
    `per_unit` a person's total changes a sum by at most ``max(|lo|, |hi|)``, or if a person is
    replaced by at most ``max(hi - lo, |lo|, |hi|)``. With `ids`, `n` is private under both
    relations.

    With ``axis=0`` the loss covers all answers together, because a row may change in all its
    columns. The noise of each answer is proportional to its sensitivity. For `epsilon` and d
    columns, the noise belongs to the norm whose unit ball is the box of all sensitivities (Hardt
    and Talwar, "On the geometry of differential privacy", STOC 2010). Its variance is ``(d + 1) (d
    + 2) / (3 epsilon**2)`` in units of the squared sensitivity, down to a sixth of the variance of
    Laplace noise. For an epsilon of about d and more, a staircase with less variance is used. For
    `rho`, and for `delta` with many columns, the noise is Gaussian. If a row is added or removed,
    noise may instead be added to the number of rows and to sums of distances from the middle of the
    bounds, if this gives less error; the sums are then computed from both
    (``dpfast/measurement/choice.py``; Lebeda, arXiv 2408.06853). For bounds that begin at 0, such
    noise has .61 of the standard deviation of Gaussian noise for 20 columns, and .55 for 100. This
    requires that all columns have the same number of rows: a `nan` other than "drop".

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        One column as in `quantile`, or several: a matrix in any order, a structured array, a
        mapping of names to columns, a table of pandas, Polars or Arrow, `dpfast.scan` with a list
        of columns. Integers beyond 2**53 count as the float64 nearest to them.
    bounds : (float, float), sequence of d such pairs, or "auto"
        Public limits of the values, in the data's units; values outside are clamped. The bounds
        must not come from the data. One pair is for all columns. With "auto" a quarter of the loss
        (of `epsilon` or `rho`, in equal parts for all columns) pays for bounds, drawn as in
        `dpfast.bounds`, and the rest for the answer; public bounds are better.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". A loss
        under "add-remove" also holds under "replace", at twice the epsilon.
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record. The numbers of a row belong
        together, so there is no other axis.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public. Each column drops its own missing values.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id. An id is an integer, text or bytes. Rows without an id, and those that `where` leaves
        out, do not count.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``). If a person has more
        rows, each row counts in part; error bars do not include this bias. Rows without a number
        are left out first.
    per_unit : (float, float) or "auto", optional
        With `ids`, in place of `max_rows`: public limits to which the total of each person is
        clamped; a person without rows counts 0. Error bars do not include the bias of clamping.
        "auto" draws the limits for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    weights : array_like of shape (n,), or str, optional
        The weight of each row, which must be a function of that row alone, or the name of the
        column of weights, which is then not part of the data.
    weight_bounds : (float, float), optional
        Public limits of the weights, with `weights`; weights outside are clamped. A NaN among the
        weights is treated like a NaN among the data. Noise is made for the sensitivity of weighted
        rows.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, or float64 array of shape (d,)
        The private sum. It is unbiased up to the grid, with an error of at most half a cell a row,
        and not clamped. A cell is about ``2**-40`` of ``hi - lo``, or of ``max(|lo|, |hi|)`` if
        that is larger and `n` is private.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``.

    Notes
    -----
    Cost: one read of the data, file or array, in small pieces; with `ids` first a read of the ids,
    with some 30 bytes a row (in a temporary file if memory is short), and two bytes a row.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> hours = np.tile([35.0, 40.0, 45.0], 1000)
    >>> 117_000 < dp.sum(hours, bounds=(0, 100), epsilon=1.0) < 123_000
    True
    >>> table = {"hours": hours, "pay": 20 * hours}
    >>> found = dp.sum(table, axis=0, bounds=[(0, 100), (0, 3000)], epsilon=1.0)
    >>> bool(abs(found / [120_000, 2_400_000] - 1).max() < 0.05)
    True

    A loss about people with three rows each, of which two count:

    >>> table = {"who": np.arange(3000) // 3, "hours": hours}
    >>> found = dp.sum(table, ids="who", max_rows=2, bounds=(0, 100), epsilon=1.0)
    >>> 76_000 < found < 84_000
    True
    """


@function_of(Mean)
def mean(data: Any, **arguments: Any) -> Any:
    """Release the mean of a column, or of each of several columns, rows clamped to public bounds.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (`n` is private), or replaced
    (`n` is public). The call satisfies the requested loss. With a public `n`, noise for a
    sensitivity of ``(hi - lo) / n`` is added to the exact mean. With a private `n`, noise is added
    to two exact integers: the sum of the distances of the rows from the lower bound, and the sum of
    their distances from the upper bound. In units of ``hi - lo`` a row adds 1 to the two sums
    together, so they cost as much as one sum, and their total is a noisy count. (A noisy sum over a
    noisy count, for half of the loss each, has twice the variance;
    ``dpfast/statistics/totals/moments.py`` has the derivation.) From an epsilon of about 2.1 on,
    the number of rows and a centered sum get joint staircase noise instead
    (``dpfast/noise/stairs.py``), with hardly any noise in the number. With ``axis=0`` the loss
    covers all means together, as in `sum`, and the means share one noisy count.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), sequence of d such pairs, or "auto"
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record.
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
    weights : array_like of shape (n,), or str, optional
        The weight of each row, which must be a function of that row alone, or the name of the
        column of weights, which is then not part of the data.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    weight_bounds : (float, float), optional
        Public limits of the weights, with `weights`; weights outside are clamped. The weights must
        not be negative.

    Returns
    -------
    float, or float64 array of shape (d,)
        The private mean, within `bounds`; the middle of the bounds if the noisy count is not
        positive.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Cost: one read of the data.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 53 < dp.mean(ages, bounds=(0, 120), epsilon=1.0, neighbors="add-remove") < 55
    True
    >>> both = np.stack([ages, 2.0 * ages], axis=1)
    >>> dp.mean(both, axis=0, bounds=[(0, 120), (0, 240)], epsilon=1.0).round(-1).tolist()
    [50.0, 110.0]
    """


@function_of(Variance)
def variance(data: Any, **arguments: Any) -> Any:
    """Release the variance of a column, or of each of several columns, rows clamped to bounds.

    Unless `ddof` is given, the variance is the mean squared deviation of the rows from their mean.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (`n` is private), or replaced
    (`n` is public). The call satisfies the requested loss. With a public `n`, noise for a
    sensitivity of ``(hi - lo)**2 (n - 1) / n**2`` is added to the exact variance. With a private
    `n`, noise is added to three exact integers, from which the number of rows, the sum and the sum
    of squares follow. A row adds 1 to the three together (in public units), so they cost as much as
    one (``dpfast/statistics/totals/moments.py`` has the derivation). For a large epsilon the number
    of rows and centered sums get joint staircase noise, as in `mean`. With ``axis=0`` the loss
    covers all variances together, as in `sum`, and the variances share one noisy count.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), sequence of d such pairs, or "auto"
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record.
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
    ddof : int, default 0
        The sum of squared deviations is divided by ``n - ddof``, as in `numpy.var`: with 1 the
        answer is an unbiased estimate for the population of the rows (before noise and clamping).

    Returns
    -------
    float, or float64 array of shape (d,)
        The private variance, within the possible range, 0 to ``(hi - lo)**2 / 4`` (times ``n / (n -
        ddof)``). If a public `n` is at most 1 or `ddof`, the answer is 0; if a noisy `n` is this
        small, the answer is the middle of the possible range. Rows are rounded to the nearest of
        about ``2**30`` values between the bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Cost: one read of the data.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 435 < dp.variance(ages, bounds=(0, 120), epsilon=1.0) < 455
    True
    """


@function_of(Std)
def std(data: Any, **arguments: Any) -> Any:
    """Release the standard deviation of a column, or of each of several: the root of a variance.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The answer is the
    root of the answer of `variance`, which is post-processing, so the call satisfies the requested
    loss (Dwork, McSherry, Nissim and Smith, TCC 2006).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), or sequence of d such pairs
    ddof
        As in `variance`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column; a row is one record.
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

    Returns
    -------
    float, or float64 array of shape (d,)
        The private standard deviation, in the data's units and within the possible range; for dates
        and times a duration.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    The root of an unbiased number is biased: if noise is large compared with the variance, the
    answer is too small on average, and 0 if the noisy variance is not positive.

    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 20.8 < dp.std(ages, bounds=(0, 120), epsilon=1.0) < 21.4
    True
    """
