"""`quantile_interval`: a private interval that holds a quantile of the data."""

from __future__ import annotations

from typing import Any

from ...measurement.functions import function_of
from .statistic import QuantileInterval


@function_of(QuantileInterval)
def quantile_interval(data: Any, **arguments: Any) -> Any:
    """Release a quantile of a column with an interval that contains the exact quantile.

    With probability `coverage` the quantile of the clamped rows lies between the ends, for any rows
    and any number of rows. The distance of the ends depends on the data, so half of the loss is
    spent on it. If there are too few rows for the loss, the ends are the bounds.

    Privacy
    -------
    Neighbors are defined as in `dpfast.quantile`. Half of the loss pays for the quantile, by the
    theorem of `dpfast.quantile`. The other half pays for the distance from the quantile to the
    ends, which is drawn by the exponential mechanism (McSherry and Talwar, FOCS 2007). The utility
    is highest for the least distance at which enough rows lie between the quantile and each end. A
    replaced row changes the utility by at most 1, and an added or removed row by at most max(q, 1 -
    q) (proof: ``dpfast/statistics/quantiles/ends.py``). The two losses add up (Dwork, McSherry,
    Nissim and Smith, TCC 2006).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `dpfast.quantile`.
    q : float or Fraction, or a sequence of m such numbers
        The quantile, 0 to 1, or several quantiles, whose ends share the second half of the loss
        equally. At 0 and 1 one of the ends is a bound, because a row may always lie beyond all
        others. For a single q of 0 or 1 the private quantile is drawn as in `dpfast.minimum` or
        `dpfast.maximum`.
    bounds : (float, float), or "auto"
        As in `dpfast.quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    coverage : float, default 0.95
        The least probability that the interval contains the quantile: greater than 0 and less than
        1.
    granularity, method, noise, assume_sorted
        As in `dpfast.quantile`, or for several quantiles as in `dpfast.quantiles`. With a
        granularity the ends are moved outwards by half of it, because rows may lie between its
        multiples. For a column of integers without a granularity the ends are integers.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. Each
        column has an equal part of the loss.
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
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).

    Returns
    -------
    ndarray of float64, shape (3,) or (3, m), or (3, d) or (3, m, d) with `axis`
        The lower end, the private quantile, and the upper end.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. Nothing has been spent.
    BudgetError, DataError
        As in `dpfast.quantile`.

    See Also
    --------
    dpfast.expected_error : The error bar in ranks, which costs no loss.

    Notes
    -----
    Both ends have the same distance from the private quantile, unless one is clamped to a bound.
    About ``(10 to 20) max(q, 1 - q) / epsilon`` rows lie between the quantile and the end on the
    side with fewer rows.

    Cost: as for `dpfast.quantile`.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.linspace(20, 80, 10_000)
    >>> low, middle, high = dp.quantile_interval(ages, 0.5, bounds=(0, 120), epsilon=1)
    >>> bool(49 < low <= middle <= high < 51)
    True
    """
