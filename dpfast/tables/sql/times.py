"""Read dates and times of a database as whole numbers between public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import checks
from ..._core.extras import extra
from ..times import Binned, Clipped, Numbering, Times
from .cells import binary_search
from .dialects import DIALECTS
from .keys import exact

UNITS = {"D": "day", "s": "second", "ms": "millisecond", "us": "microsecond"}


def can_count(times: Times, dialect: str) -> bool:
    """Tell whether a database can count the units of a type of times."""
    # Databases compute times with a zone in the zone of the session.
    has_unit = times.dtype.kind == "M" and np.datetime_data(times.dtype)[0] in UNITS
    return has_unit and not times.aware and DIALECTS[dialect].subtracts_times


def counted(column: Any, times: Times, numbering: Numbering, dialect: str) -> Any:
    """Return a column of times as numbers by a numbering; NULL where a time is missing.

    Raises
    ------
    ArgumentError
        If a public time is none that Python has.
    ArgumentTypeError
        For times that the database does not compare exactly.
    """
    if not can_count(times, dialect):
        checks.fail_kind("data", f"a column of times that {dialect} compares exactly", column)
    x = exact(column, dialect, "data")
    if isinstance(numbering, Binned):
        edges = [literal_of(count, times, "bins") for count in numbering.edges]
        index = binary_search(x, edges[:-1])
        return ((x >= edges[0]) & (x <= edges[-1])).ifelse(index, None)
    assert isinstance(numbering, Clipped)
    lo, hi = (literal_of(count, times, "bounds") for count in (numbering.lo, numbering.hi))
    arms = ((x >= lo) & (x <= hi), x), (x < lo, lo), (x > hi, hi)
    clamped = extra("ibis", "data in a database").cases(*arms)
    units = clamped.delta(lo, unit=UNITS[np.datetime_data(times.dtype)[0]])
    return units.cast("int64") + (numbering.lo - numbering.shift)


def literal_of(count: int, times: Times, argument: str) -> Any:
    """Return a public time, given as its count of units, as a literal."""
    value = np.int64(count).view(times.dtype).item()
    if isinstance(value, int):
        checks.fail(argument, "times that Python's datetime can hold, for a database", value)
    return extra("ibis", "data in a database").literal(value)
