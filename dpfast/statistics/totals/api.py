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

    With ``axis=0`` the answer is a number for each column.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss. A row changes the count by at most 1, and the noise for this sensitivity is
    an exact integer (discrete Laplace, Ghosh, Roughgarden and Sundararajan, STOC 2009; discrete
    Gaussian, Canonne, Kamath and Steinke, NeurIPS 2020). Under "replace" the number of all rows is
    public, and is returned without noise.

    With ``axis=0`` the loss covers all counts together. If `nan` is "drop" or "only", a row may
    change the count of each column by 1. The noise is then made as in `sum` for columns of zeros
    and ones, and a count that is not whole is rounded up or down at random. If `nan` is "keep", all
    columns have the same count, and its noise is drawn once.

    Parameters
    ----------
    data : array_like, shape (n,) or (n, d), table, or source
        As in `sum`. Without `axis`, and with ``nan="keep"``, no values are read, so the columns may
        hold text.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
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
    Cost: one read of the data; none if the length of the data is known and every row counts.

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
    """Release the number of rows that are not 0, of a column or of each of several columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss. A row changes the number by at most 1 under both relations, and the noise
    for this sensitivity is an exact integer, as in `count` (Ghosh, Roughgarden and Sundararajan,
    STOC 2009; Canonne, Kamath and Steinke, NeurIPS 2020). With ``axis=0`` a row may change all
    numbers, so the loss covers them together, and the noise is made as in `sum`.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        Numbers or truth values, as in `sum`.
    nan : {"keep", "drop"}, default "keep"
        "keep" counts a row that is NaN or null, because NaN is not 0, as in `numpy.count_nonzero`.
        "drop" does not count it.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
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
    """Release the sum of the clamped rows of a column, or of each of several columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. Rows are clamped
    to the bounds lo and hi and rounded to a public grid. Their sum is an exact integer of known
    sensitivity: ``hi - lo`` if a row is replaced, ``max(|lo|, |hi|)`` if a row is added or removed,
    and ``max(hi, 0) - min(lo, 0)`` if a row is replaced and a mask or missing values leave out some
    rows. The noise is an exact integer, too: discrete Laplace noise, Gaussian noise for `rho`, or
    rounded Gaussian noise with `delta`. From an epsilon of about 1.6 on, the noise is a staircase
    (Geng and Viswanath, "The optimal mechanism in differential privacy", ISIT 2014). At an epsilon
    of 2, 5 and 10 it has .92, .61 and .21 of the standard deviation of Laplace noise.

    With `ids` neighbors are datasets that differ in all rows of one person, who is added or
    removed, or is replaced by another person. `n` is then private under both relations. Let m be
    `max_rows`. The c rows of a person count in full if c is at most m. Otherwise each row counts m
    / c, so the person counts as m rows (``dpfast/summaries/units.py`` has the proof). So a person
    changes a sum by at most m times as much as a row does. Noise is calibrated to this change. If a
    person is replaced, it is made for half of the loss.

    With ``bounds="auto"``, m rows of each person are instead chosen by a fresh secret key, and
    noise is calibrated to a row's part of the loss (group privacy, Dwork, McSherry, Nissim and
    Smith, TCC 2006; ``dpfast/measurement/unit.py``). With `per_unit`, lo and hi are the limits of a
    person's total. A person who is added or removed changes a sum by at most ``max(|lo|, |hi|)``,
    and a person who is replaced by at most ``max(hi - lo, |lo|, |hi|)``.

    With ``axis=0`` the loss covers all answers together, because a row may change in all its
    columns. The noise of each answer is proportional to its sensitivity. For `epsilon` and d
    columns, it is the noise of the K-norm mechanism, whose norm has the box of all sensitivities as
    its unit ball (Hardt and Talwar, "On the geometry of differential privacy", STOC 2010). Its
    variance is ``(d + 1) (d + 2) / (3 epsilon**2)`` in units of the squared sensitivity, down to a
    sixth of the variance of Laplace noise. From an epsilon of about d on, a staircase with less
    variance is used. For `rho`, and for `delta` with many columns, the noise is Gaussian.

    If rows are added or removed and this gives less error, noise is instead added to the number of
    rows and to the sums of the rows' signed distances from the middle of the bounds. The sums are
    then computed from both (``dpfast/measurement/choice.py``; Lebeda, arXiv 2408.06853). For bounds
    that begin at 0, this noise has .61 of the standard deviation of Gaussian noise on the sums for
    20 columns, and .55 for 100 columns. All columns must have the same number of rows for this:
    `nan` must not be "drop".

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        One column as in `quantile`, or with `axis` several columns: a matrix in any memory order, a
        structured array, a mapping of names to columns, a table of pandas, Polars or Arrow, or
        `dpfast.scan` with a list of columns. Integers beyond 2**53 count as the float64 nearest to
        them.
    bounds : (float, float), sequence of d such pairs, or "auto"
        Public limits of the values, in the data's units; values outside are clamped. The bounds
        must not come from the data. One pair is for all columns. "auto" draws bounds as
        `dpfast.bounds` does: a quarter of `epsilon` or `rho`, in equal parts for all columns, pays
        for the bounds, and the rest pays for the answer. If public bounds are known, pass them:
        they cost nothing.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". A loss
        under "add-remove" also holds under "replace", at twice the epsilon.
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. There
        is never an answer for each row, so other axes are refused.
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
        id. An id is an integer, text or bytes. Rows without an id do not count, and neither do rows
        that `where` leaves out.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``). If a person has more
        rows, each row counts in part, which makes the person's total smaller; error bars do not
        include this bias. Rows without a number are left out before rows are counted.
    per_unit : (float, float) or "auto", optional
        With `ids`, in place of `max_rows`: public limits to which the total of each person is
        clamped; a person without rows counts 0. Error bars do not include the bias of clamping.
        "auto" draws the limits for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    weights : array_like of shape (n,), or str, optional
        The weight of each row, which must be a function of that row alone, or the name of the
        column of weights, which is then not part of the data.
    weight_bounds : (float, float), optional
        Public limits of the weights, with `weights`; weights outside are clamped. A row whose
        weight is NaN is treated like a row whose number is NaN. Noise is made for the sensitivity
        of weighted rows.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, or float64 array of shape (d,)
        The private sum. It is not clamped, and it is unbiased except for the rounding of each row,
        by at most half a cell of the public grid. A cell is about ``2**-40`` of ``hi - lo``, or of
        ``max(|lo|, |hi|)`` if that is larger and `n` is private.

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
    Cost: one read of the data in small chunks. With `ids`, the sums of each person are held in
    memory, or in temporary files if memory is short. With ``bounds="auto"`` the data are read more
    than once.

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
    """Release the mean of the clamped rows of a column, or of each of several columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. With a public `n`,
    noise for a sensitivity of ``(hi - lo) / n`` is added to the exact mean. With a private `n`,
    noise is added to two exact integers: the sum of the distances of the rows from the lower bound,
    and the sum of their distances from the upper bound. In units of ``hi - lo``, a row adds 1 to
    the two sums together, so they cost as much as one sum. The two noisy sums together are a noisy
    count of the rows. (If the sum and the number of rows each got noise for half of the loss, their
    quotient would have twice the variance; ``dpfast/statistics/totals/moments.py`` has the
    derivation.) From an epsilon of about 2.1 on, joint staircase noise is instead added to the
    number of rows and to the sum of the rows' signed distances from the middle of the bounds
    (``dpfast/noise/stairs.py``). The number of rows then gets hardly any noise. With ``axis=0`` the
    loss covers all means together, as in `sum`, and the means share one noisy count.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), sequence of d such pairs, or "auto"
        As in `sum`.
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
        The private mean, within `bounds`. If the noisy count is not positive, it is the middle of
        the bounds.

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
    """Release the variance of the clamped rows of a column, or of each of several columns.

    The variance is the mean squared deviation of the rows from their mean, unless `ddof` is given.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. With a public `n`,
    noise for a sensitivity of ``(hi - lo)**2 (n - 1) / n**2`` is added to the exact variance. With
    a private `n`, noise is added to three exact integer sums. Let x be a row's distance from the
    lower bound divided by ``hi - lo``: the row adds ``x**2``, ``2 x (1 - x)`` and ``(1 - x)**2`` to
    them. These add up to 1, so the three sums cost as much as one. The number of rows, the mean and
    the variance are computed from the noisy sums (``dpfast/statistics/totals/moments.py`` has the
    derivation). For a large epsilon, joint staircase noise is instead added to the number of rows,
    the sum of the rows' signed distances from the middle of the bounds, and the sum of their
    squares, as in `mean`. With ``axis=0`` the loss covers all variances together, as in `sum`, and
    the variances share one noisy count.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float), sequence of d such pairs, or "auto"
        As in `sum`.
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
    ddof : int, default 0
        The sum of squared deviations is divided by ``n - ddof``, as in `numpy.var`: with 1 the
        answer is an unbiased estimate for the population of the rows (before noise and clamping).

    Returns
    -------
    float, or float64 array of shape (d,)
        The private variance, clamped to its possible range: from 0 to ``(hi - lo)**2 / 4``, times
        ``n / (n - ddof)``. If there are too few rows, at most 1 or at most `ddof`, the answer is 0
        for a public `n`, and ``(hi - lo)**2 / 8`` for a noisy `n`. Rows are rounded to the nearest
        of about ``2**30`` values between the bounds.

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
    """Release the standard deviation of a column, or of each of several columns.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The answer is the
    square root of the answer of `variance`. This is post-processing, so the call satisfies the
    requested loss (Dwork, McSherry, Nissim and Smith, TCC 2006).

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

    Returns
    -------
    float, or float64 array of shape (d,)
        The private standard deviation, in the data's units and clamped to its possible range. For a
        column of dates or times it is a duration.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    The answer is too small on average if the noise is large compared with the variance. It is 0 if
    the noisy variance is not positive.

    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 20.8 < dp.std(ages, bounds=(0, 120), epsilon=1.0) < 21.4
    True
    """
