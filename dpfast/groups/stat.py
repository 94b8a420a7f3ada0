"""Statistics by group, said without a loss and without data: what `group_by(...).agg` is given.

Each takes the arguments of the plain function of its name, and checks them as that does. The column
is the name of one of the table. ``dp.stat.mean`` is `dpfast.Mean` by another name, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.types import Auto, Bounds, NanPolicy, Number
from ..statistics.quantiles.api import hundredths
from ..statistics.quantiles.statistic import Quantile, Quantiles
from ..statistics.table import TABLE

__all__ = sorted(entry.name for entry in TABLE if entry.by_group)


def percentile(
    column: str,
    q: Number | Sequence[Number],
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Any:
    """Draw a percentile of a column in each group, or several: `quantile`, `quantiles` of q/100.

    Parameters
    ----------
    column : str
    q : float or Fraction, or sequence of these
        0 to 100. Each of several has a column of its own in the answer, by its quantile.
    bounds : (float, float) or "auto"
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
