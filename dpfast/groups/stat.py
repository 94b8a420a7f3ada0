"""Statistics by group, said without a loss and without data: what `group_by(...).agg` is given.

Each takes the arguments of the plain function of its name, and checks them as that does. The column
is the name of one of the table. ``dp.stat.mean`` is `dpfast.Mean` by another name, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .._core import checks
from .._core.types import Bounds, NanPolicy, Number
from ..statistics.quantiles.api import hundredths
from ..statistics.quantiles.statistic import Quantile, Quantiles
from ..statistics.table import TABLE
from .sums import Count, Nonzero, People

__all__ = sorted(entry.name for entry in TABLE if entry.by_group)


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


def percentile(
    column: str,
    q: Number | Sequence[Number],
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Any:
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
    Quantile or Quantiles
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
    qs = hundredths(q)
    given: Any = {"bounds": bounds, "nan": nan, "granularity": granularity}
    if isinstance(qs, list):
        return Quantiles(column, qs, **given)
    return Quantile(column, qs, **given)


for _entry in TABLE:
    if _entry.by_group:
        globals().setdefault(_entry.name, _entry.kind)
