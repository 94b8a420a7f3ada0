"""Statistics by group, said without a loss and without data: what `group_by(...).agg` is given.

Each takes the arguments of the plain function of its name, and checks them as that does. The column
is the name of one of the table. ``dp.stat.mean`` is `dpfast.Mean` by another name, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

from .._core import checks
from .._core.types import Bounds, NanPolicy, Number
from ..measurement.times import are_times
from ..statistics.arguments import Arguments
from ..statistics.histogram import Histogram as histogram
from ..statistics.quantiles.api import hundredths
from ..statistics.totals.moments import Mean as mean
from ..statistics.totals.moments import Std as std
from ..statistics.totals.moments import Sum as sum
from ..statistics.totals.moments import Variance as variance
from .ranks import WIDEST, Quantiles
from .sums import Count, Nonzero, People, refuse_auto

__all__ = [
    "count",
    "count_distinct",
    "count_nonzero",
    "histogram",
    "maximum",
    "mean",
    "median",
    "minimum",
    "percentile",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "variance",
]


def count() -> Count:
    """Count the rows of each group.

    Returns
    -------
    Count
        For `GroupBy.agg`.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"n": dp.stat.count()}, epsilon=1)
    >>> list(answer)
    ['carrier', 'n', 'n error']
    """
    return Count(None)


def count_distinct() -> People:
    """Count the people of each group, each once, however many rows they have there.

    Returns
    -------
    People
        For `GroupBy.agg` of groups with `ids`.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "tail": [i // 5 for i in range(1000)]}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"], ids="tail", max_groups=2)
    >>> answer = groups.agg({"x": dp.stat.count_distinct()}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    return People(None)


def count_nonzero(column: str, *, nan: Literal["keep", "drop"] = "keep") -> Nonzero:
    """Count the rows of each group that are not 0; arguments as in `dpfast.count_nonzero`.

    Parameters
    ----------
    column : str
    nan : {"keep", "drop"}, default "keep"

    Returns
    -------
    Nonzero
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.count_nonzero("late")}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    present = checks.choice("nan", nan, ("keep", "drop")) == "drop"
    return Nonzero(checks.text("column", column), present=present)


def quantile(
    column: str,
    q: Number,
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw a quantile of a column in each group; arguments as in `dpfast.quantile`.

    Parameters
    ----------
    column : str
    q : float or Fraction
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> decile = dp.stat.quantile("late", 0.9, bounds=(0, 60), granularity=1)
    >>> answer = groups.agg({"x": decile}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    return Quantiles(**_ranked(column, bounds, nan, granularity), qs=(checks.quantile(q),))


def quantiles(
    column: str,
    qs: Sequence[Number],
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw several quantiles of a column in each group; arguments as in `dpfast.quantiles`.

    Parameters
    ----------
    column : str
    qs : sequence of float or Fraction
        Each has a column of its own in the answer, and an equal share of the loss.
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> quartiles = dp.stat.quantiles("late", [0.25, 0.75], bounds=(0, 60))
    >>> len(groups.agg({"x": quartiles}, epsilon=1)["x 0.75"])
    2
    """
    rule = "at least one quantile between 0 and 1"
    try:
        listed = list(qs)
    except Exception:  # whatever an object thinks of being a sequence
        checks.fail_type("qs", rule, qs)
    if not listed:
        checks.fail("qs", rule, qs)
    found = tuple(checks.quantile(q, f"qs[{i}]") for i, q in enumerate(listed))
    if len(set(found)) < len(found):
        checks.fail("qs", "different from one another", qs)
    return Quantiles(**_ranked(column, bounds, nan, granularity), qs=found)


def percentile(
    column: str,
    q: Number | Sequence[Number],
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw a percentile of a column in each group, or several: `quantile`, `quantiles` of q/100.

    Parameters
    ----------
    column : str
    q : float or Fraction, or sequence of these
        0 to 100. Each of several has a column of its own in the answer, by its quantile.
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.percentile("late", 90, bounds=(0, 60))}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    found = hundredths(q)
    if isinstance(found, list):
        return quantiles(column, found, bounds=bounds, nan=nan, granularity=granularity)
    return quantile(column, found, bounds=bounds, nan=nan, granularity=granularity)


def median(
    column: str,
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw the median of a column in each group: `quantile` at one half.

    Parameters
    ----------
    column : str
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.median("late", bounds=(0, 60))}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    return quantile(column, Fraction(1, 2), bounds=bounds, nan=nan, granularity=granularity)


def minimum(
    column: str,
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw a low value of a column in each group; arguments as in `dpfast.minimum`.

    Parameters
    ----------
    column : str
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.minimum("late", bounds=(0, 60))}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    return Quantiles(**_ranked(column, bounds, nan, granularity), qs=(Fraction(0),), extreme=True)


def maximum(
    column: str,
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Quantiles:
    """Draw a high value of a column in each group; arguments as in `dpfast.maximum`.

    Parameters
    ----------
    column : str
    bounds : (float, float)
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
    granularity : float, Fraction or Decimal, optional

    Returns
    -------
    Quantiles
        For `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.maximum("late", bounds=(0, 60))}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    return Quantiles(**_ranked(column, bounds, nan, granularity), qs=(Fraction(1),), extreme=True)


def _ranked(column: Any, bounds: Any, nan: Any, granularity: Any) -> dict[str, Any]:
    """Return the arguments of a quantile of a column."""
    found = _column(column, bounds, nan)
    if granularity is None:
        return found
    if are_times(bounds):
        checks.fail("granularity", "left out for times", granularity)
    lattice = Arguments(
        bounds, None, 0, None, "add-remove", nan=nan, granularity=granularity
    ).lattice
    assert lattice is not None
    if lattice.last - lattice.first > WIDEST:
        rule = f"a larger number: at most 2**{WIDEST.bit_length()} multiples between the bounds"
        checks.fail("granularity", rule, granularity)
    return found | {"lattice": lattice}


def _column(column: Any, bounds: Any, nan: Any) -> dict[str, Any]:
    """Return the arguments of a statistic of a column.

    What bounds that are times are in units of a column is known with the column.
    """
    name = checks.text("column", column)
    if checks.is_auto(bounds):
        refuse_auto(bounds)
    if are_times(bounds):
        return {"column": name, "bounds": bounds, "nan": nan}
    given = Arguments(bounds, None, 0, None, "add-remove", nan=nan)
    return {"column": name, "bounds": given.interval, "nan": given.policy}
