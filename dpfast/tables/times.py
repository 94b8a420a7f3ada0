"""Read dates, times and durations as whole numbers between public bounds.

Such a column holds counts of a unit, such as days or nanoseconds. A release reads how many units a
row lies above the lower bound, and its answer is converted back to a time. A row without a time is
null.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .arrow import Numbers, arrow_times, arrow_values
from .base import Chunk, Source
from .forms import Arrow, Readable, Values
from .mapped import MappedColumn
from .memory import ArraySource, ColumnSource

NAT = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Times:
    """The type of a column of times: a NumPy dtype with its unit, and whether it has a zone."""

    dtype: np.dtype[Any]
    aware: bool = False

    @property
    def words(self) -> str:
        """The name of one bound of a column of this type, for error messages."""
        zone = "with a time zone" if self.aware else "without a time zone"
        return "a duration" if self.dtype.kind == "m" else f"a date or time {zone}"

    @property
    def several(self) -> str:
        """The name of several bounds of a column of this type, for error messages."""
        return "durations" if self.dtype.kind == "m" else "dates or times"

    def count(self, name: str, value: Any) -> int:
        """Return a public date, time or duration as its count of units.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a value that is not a time of this kind, or not a whole number of units.
        """
        moments = as_numpy(value)
        has_zone = getattr(value, "tzinfo", None) is not None
        wrong = moments is None or moments.dtype.kind != self.dtype.kind
        is_numpy = isinstance(value, np.datetime64)
        if wrong or (self.dtype.kind == "M" and not is_numpy and has_zone != self.aware):
            checks.fail_type(name, f"{self.words}, as the data are", value)
        assert moments is not None
        if np.isnat(moments):
            checks.fail(name, self.words, value)
        try:
            count = moments.astype(self.dtype)
            # A count beyond int64 wraps around. Then the conversion back returns another time.
            whole = bool(count == moments) and bool(count.astype(moments.dtype) == moments)
        except (OverflowError, TypeError):  # a unit of years cannot be converted to seconds
            whole = False
        if not whole:
            unit = np.datetime_data(self.dtype)[0]
            checks.fail(name, f"a whole number of the data's unit, {unit}, that int64 holds", value)
        return int(count.view(np.int64))

    def ascending(self, name: str, rule: str, values: Any) -> tuple[list[int], dt.tzinfo | None]:
        """Return ascending public times as counts of units, and the time zone of the first.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If values are not times of this kind, are too far apart, or cannot be converted to their
            zone by Python.
        """
        try:
            edges = [values[i] for i in range(len(values))]
        except Exception:  # an object may raise any error here
            edges = []
        if isinstance(values, (str, bytes)) or len(edges) < 2:
            checks.fail(name, rule, values)
        counts = [self.count(name, edge) for edge in edges]
        if any(a > b for a, b in pairwise(counts)) or counts[-1] - counts[0] >= 2**62:
            checks.fail(name, rule, values)
        zone = getattr(edges[0], "tzinfo", None)
        zone = zone if isinstance(zone, dt.tzinfo) else None
        if self.aware:
            ends = np.array([counts[0], counts[-1]], np.int64).view(self.dtype)
            try:
                _in_zone(ends, zone or dt.UTC)
            except Exception:  # beyond Python's datetime, or an error of a time zone of the caller
                ends = ends[:0]
            if not len(ends):
                checks.fail(name, "times that Python's datetime can hold in their zone", values)
        return counts, zone

    def point(self, counts: Any, lower: int, zone: dt.tzinfo | None) -> Any:
        """Return the times that lie `counts` units above the count `lower`."""
        times = self._of(self.dtype, counts, lower)
        if self.aware:
            times = _in_zone(times, zone or dt.UTC)
        return times if isinstance(counts, np.ndarray) else times[0]

    def span(self, counts: Any) -> Any:
        """Return the durations of `counts` units."""
        unit, many = np.datetime_data(self.dtype)
        spans = self._of(np.dtype(f"m8[{many}{unit}]"), counts, 0)
        return spans if isinstance(counts, np.ndarray) else spans[0]

    @staticmethod
    def _of(dtype: np.dtype[Any], counts: Any, lower: int) -> NDArray[Any]:
        """Return ``lower + counts`` as an array of `dtype`, rounded and clamped to int64."""
        shape = np.atleast_1d(counts).shape
        instants = [lower + round(x) for x in np.ravel(counts).tolist()]
        inside = [min(max(x, NAT + 1), -NAT - 1) for x in instants]
        return np.array(inside, np.int64).view(dtype).reshape(shape)


def as_numpy(value: Any) -> Any:
    """Return a date, time or duration as a NumPy scalar, in UTC; None for anything else."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.datetime_data(value.dtype)[0] == "generic" else value
    for convert in ("to_datetime64", "to_timedelta64"):  # types of pandas, which have nanoseconds
        if isinstance(value, (dt.datetime, dt.timedelta)) and hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        try:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        except Exception:  # beyond the range of datetime, or an error of a time zone of the caller
            return None
    if isinstance(value, dt.date):
        return np.datetime64(value)
    return np.timedelta64(value) if isinstance(value, dt.timedelta) else None


def _in_zone(array: NDArray[Any], zone: dt.tzinfo) -> NDArray[Any]:
    """Return times in UTC as Python's datetimes in a zone, to the microsecond."""
    origin = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    counts = array.astype("M8[us]").view("i8").ravel()
    out = np.empty(len(counts), object)
    out[:] = [(origin + dt.timedelta(microseconds=int(x))).astimezone(zone) for x in counts]
    return out.reshape(array.shape)


#: A function that converts counts of a unit to whole numbers.
Numbering: TypeAlias = Callable[[NDArray[Any]], NDArray[np.int64]]


class AsNumbers(NamedTuple):
    """A column of times to read as numbers: its type, and a function of its counts."""

    times: Times
    numbers: Numbering


def times_of(column: Readable) -> Times | None:
    """Return the type of a column of times in memory; None for any other column."""
    if isinstance(column, Arrow):
        kind = arrow_times(column.chunked.type)
        return None if kind is None else Times(kind.dtype, kind.aware)
    if (
        not isinstance(column, Values)
        or column.array.dtype.kind not in "Mm"
        or column.array.ndim != 1
    ):
        return None
    if np.datetime_data(column.array.dtype)[0] == "generic":
        return None
    return Times(column.array.dtype.newbyteorder("="), column.aware)


def counts_of(column: Readable) -> Numbers:
    """Return how to read the counts of an Arrow column of times."""
    kind = arrow_times(column.chunked.type) if isinstance(column, Arrow) else None
    assert kind is not None
    return kind.how


def _counts(column: Values) -> NDArray[Any]:
    """Return the int64 counts that NumPy stores for times, without a copy."""
    return column.array.view(column.array.dtype.str[0] + "i8")


def numbered(column: Readable, numbers: Numbering) -> Values:
    """Return a column of times in memory as numbers, masked where a time is missing."""
    present = None
    if isinstance(column, Arrow):
        counts, present = arrow_values(column.array.cast(counts_of(column).cast))
    else:
        assert isinstance(column, Values)
        counts = _counts(column)
        present = None if column.mask is None else ~column.mask
    array, mask = numbers(counts), counts == NAT
    return Values(array, array, mask if present is None else mask | ~present)


def time_source(column: Readable, numbers: Numbering) -> Source:
    """Return a source of the numbers of a column of times in memory."""
    if isinstance(column, Arrow):
        base: Source = ColumnSource(column.chunked, "data", counts_of(column))
    else:
        assert isinstance(column, Values)
        base = ArraySource(_counts(column), column.mask)
    change = partial(_numbers, numbers)
    return MappedColumn(base, change, dtype=np.dtype(np.int64), row_index=column.row_index)


def _numbers(numbers: Numbering, chunk: Chunk) -> Chunk:
    """Return the numbers of a chunk of counts; a count that is no time is a null."""
    values, start, nulls, present = chunk
    here = values != NAT
    counts = numbers(values)
    if here.all():
        return Chunk(counts, start, nulls, present)
    kept = counts[here]
    whole = here if not nulls else None
    if present is not None:
        whole = present.copy()
        whole[present] = here
    return Chunk(kept, start, nulls + len(values) - len(kept), whole)


@dataclass(frozen=True)
class Clipped:
    """A numbering of times: counts clamped to `lo` and `hi`, less `shift`."""

    lo: int
    hi: int
    shift: int

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int64]:
        counts = values.astype(np.int64)
        np.clip(counts, self.lo, self.hi, out=counts)
        counts -= self.shift
        return counts


@dataclass(frozen=True)
class Binned:
    """A numbering of times by bins between edges; a time outside is below 0 or above all bins."""

    edges: tuple[int, ...]

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int64]:
        edges = np.array(self.edges, np.int64)
        bins = np.searchsorted(edges, values, "right") - 1
        bins[values == edges[-1]] -= 1  # the last bin includes its right end
        bins[values > edges[-1]] += 1
        return bins
