"""Statistics by group, without a loss and without data, as arguments of `group_by(...).agg`.

Each takes the arguments of the plain function of the same name, and checks them as this function
does. The argument `column` is the name of a column of the table. ``dp.stat.mean`` is `dpfast.Mean`
by another name, and so on.
"""

from __future__ import annotations

from ..statistics.quantiles.statistic import percentile  # noqa: F401  one, or several of them
from ..statistics.table import TABLE

__all__ = sorted(entry.name for entry in TABLE if entry.by_group)


for _entry in TABLE:
    if _entry.by_group:
        globals().setdefault(_entry.name, _entry.kind)
