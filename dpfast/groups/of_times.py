"""Columns of dates, times and durations in statistics by group, with bounds of their own kind.

What such bounds are in units of a column is told by the declared type of the column. A row is read
as the whole number of units that it lies above the lower bound (of a sum: above 0), clipped to the
bounds first, as float64, and as NaN where it has no time. That is a function of the row alone,
which never falls: so all that is proved of numbers between bounds holds. Answers are turned back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..measurement.statistic import Bounded
from ..measurement.times import Units, clipped
from ..sources.batches import Piece, numbers
from ..sources.engine import refuse_type
from ..sources.forms import Arrow, Values
from ..sources.times import Times, local_times, numbered
from ..statistics.ranked import OnGrid

S = TypeVar("S", bound=Bounded[Any])


def read(piece: Piece, units: Units | None) -> NDArray[Any]:
    """Return the numbers of a piece, which may be those of times.

    Raises
    ------
    DataError
        If the piece is not of the declared type, as a partition of an engine may be.
    """
    if units is None:
        return numbers(piece)
    column = local_times(piece) if isinstance(piece, (Arrow, Values)) else None
    if column is None or column.times != units.times:
        refuse_type()
    assert isinstance(piece, (Arrow, Values))
    counts = numbered(piece, column.how, units.number)
    assert counts.mask is not None
    values = counts.array.astype(np.float64)
    values[counts.mask] = np.nan
    return values


def times_of(typed: Piece) -> Times | None:
    """Return the type of a column of times; None of any other."""
    column = local_times(typed) if isinstance(typed, (Arrow, Values)) else None
    return None if column is None else column.times


def in_units(statistic: S, typed: Piece) -> tuple[S, Units | None]:
    """Return the statistic of the numbers that a column is read as, and how times are read.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bounds that are not of the kind of the column.
    """
    answer, times = statistic.answer_of_times, times_of(typed)
    if answer is None or times is None:
        return statistic, None
    if answer == "total" and times.dtype.kind == "M":
        rule = "a column of numbers or durations, for dates have no sum"
        checks.fail("column", rule, statistic.column)
    if isinstance(statistic, OnGrid) and statistic.granularity is not None:
        checks.fail("granularity", "left out for times", statistic.granularity)
    bounds, nan, units = clipped(times, answer, statistic.bounds, statistic.nan)
    return replace(statistic, bounds=bounds, nan=nan), units
