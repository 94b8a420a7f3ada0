"""Dates, times and durations in statistics of numbers, with bounds of the same type.

The declared type of a column determines its unit, and so the bounds in this unit. A row is clamped
to the bounds and read as the whole number of units by which it exceeds the lower bound (for a sum,
by which it exceeds 0). A row without a time is missing. This is a nondecreasing function of the row
alone. So all proofs about numbers between bounds hold, also by group. Answers are converted back,
which is post-processing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.statistics import MOST_CELLS
from ..tables.batches import MemoryColumn, numbers
from ..tables.columns import refuse_type
from ..tables.time_columns import TimeColumn, time_column
from ..tables.times import Binned, Clipped, Numbering, Times, as_numpy, numbered, times_of

#: Durations are clamped to this many units from 0 if their bounds are drawn.
LARGEST = 1 << 62

#: The kind of an answer about times: a time, the difference of two, a sum of durations, or a
#: number.
Answer = Literal["point", "span", "total", "number"]


@dataclass(frozen=True, slots=True)
class Units:
    """How a column of times is read as whole numbers of its unit, and answers converted back.

    Parameters
    ----------
    times : Times
        The type of the column.
    number : callable
        A function that makes numbers from counts of the unit.
    zone : tzinfo, optional
    answer : {"point", "span", "total", "number"}
    lower : int
        The count of units that is subtracted from points in time.
    """

    times: Times
    number: Numbering
    zone: dt.tzinfo | None = None
    answer: Answer = "span"
    lower: int = 0

    def back(self, answer: Any) -> Any:
        """Convert an answer, or an array of answers, from whole units to times or durations."""
        if self.answer == "number":
            return answer
        if self.answer == "point":
            return self.times.point(answer, self.lower, self.zone)
        return self.times.span(answer)

    @property
    def edges(self) -> Any:
        """The edges of bins, as times."""
        assert isinstance(self.number, Binned)
        return self.back(np.array(self.number.edges, object) - self.lower)

    def of(self, column: MemoryColumn) -> NDArray[np.float64]:
        """Return the rows of a column of times as numbers, NaN where a row has no time.

        Raises
        ------
        DataError
            If the column does not have the declared type, which can happen in a partition of an
            engine.
        """
        if times_of(column) != self.times:
            refuse_type()
        counts = numbered(column, self.number)
        assert counts.mask is not None
        values = counts.array.astype(np.float64)
        values[counts.mask] = np.nan
        return values


def read(column: MemoryColumn, units: Units | None) -> NDArray[Any]:
    """Return the rows of a column as numbers; times as numbers of units."""
    return numbers(column) if units is None else units.of(column)


def clipped(times: Times, answer: Answer, bounds: Any, nan: Any) -> tuple[Any, Any, Units]:
    """Return bounds and the replacement of missing times as numbers, and the `Units` of both.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If bounds or replacement do not have the type of the column.
    """
    if checks.is_auto(bounds):
        if times.dtype.kind == "M":  # dates are far from 0, where bounds are drawn
            rule = f"a pair of {times.several}, because 'auto' finds only bounds near 0"
            checks.fail("bounds", rule, bounds)
        units = Units(times, Clipped(-LARGEST, LARGEST, 0), None, answer)
    else:
        lo, hi, zone = limits(times, bounds)
        lower = 0 if answer == "total" else lo
        bounds = lo - lower, hi - lower
        units = Units(times, Clipped(lo, hi, lower), zone, answer, lower)
    nan = nan if nan is None or isinstance(nan, str) else times.count("nan", nan) - units.lower
    return bounds, nan, units


def in_bins(times: Times, bins: Any, bounds: Any) -> Units:
    """Return the `Units` by which times are read as numbers of bins.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If bins or bounds do not have the type of the column.
    """
    edges, zone = edges_of(times, bins, bounds)
    return Units(times, Binned(tuple(edges)), zone, "point", edges[0])


def refuse_dates(column: str | None, data: Any) -> NoReturn:
    """Refuse to add up dates."""
    if column is not None:
        checks.fail("column", "a column of numbers or durations, because dates have no sum", column)
    checks.fail_kind("data", "numbers or durations", data, " of dates, which have no sum")


def edges_of(times: Times, bins: Any, bounds: Any) -> tuple[list[int], dt.tzinfo | None]:
    """Return the edges of bins as whole numbers of units, and their time zone."""
    rule = f"at least 2 {times.several} in ascending order"
    if isinstance(bins, (Sequence, np.ndarray)):
        edges, zone = times.ascending("bins", rule, bins)
    else:
        lo, hi, zone = limits(times, bounds)
        parts = checks.whole("bins", bins, 1, MOST_CELLS)
        if parts > hi - lo:
            checks.fail("bounds", f"far enough apart for {parts} bins", bounds)
        edges = [lo + (hi - lo) * i // parts for i in range(parts + 1)]
    if any(a == b for a, b in pairwise(edges)):
        checks.fail("bins", rule, bins)
    return edges, zone


def are_times(values: Any) -> bool:
    """Tell whether any of some values is a date, a time or a duration."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "Mm"
    return isinstance(values, (list, tuple)) and any(as_numpy(x) is not None for x in values)


def time_column_of(data: Any, axis: Any, ids: Any, weights: Any) -> tuple[TimeColumn | None, Any]:
    """Return the column of times, None if data are not times, and the data to be read."""
    if type(data) is np.ndarray and data.dtype.kind not in "mM":
        return None, data
    named = [name for name in (ids, weights) if isinstance(name, str)]
    rows, column = time_column(data, named if axis is None else [])
    return column, rows


def limits(times: Times, bounds: Any) -> tuple[int, int, dt.tzinfo | None]:
    """Return public bounds of a column of times as whole numbers of its unit, and a time zone."""
    rule = f"a pair of {times.several}, the lower one first"
    counts, zone = times.ascending("bounds", rule, bounds)
    if len(counts) != 2:
        checks.fail("bounds", rule, bounds)
    return counts[0], counts[1], zone
