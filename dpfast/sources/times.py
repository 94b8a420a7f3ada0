"""Columns of dates, times and durations as columns of whole numbers between public bounds.

Such a column holds counts of its unit: days, say, or nanoseconds. A release reads how many units a
row lies above the lower bound, and its answer is turned back. A row without a time is null.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import DpfastError
from .arrow import Numbers, arrow_times, arrow_values
from .base import Chunk, RandomWords, Source, Table
from .data import form_of
from .engine import Engine, EngineColumn, EngineColumns, Part, Piece, Task, chosen, refuse_type
from .files import Columns, Convert, FileSource, Reader, Want
from .forms import Arrow, Form, Named, Objects, Values
from .memory import ArraySource, ColumnSource, MemorySource
from .pick import Pick

S = TypeVar("S")
T = TypeVar("T")

RULE = "rows of numbers or of times"
I8 = np.dtype(np.int64)
NAT = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Times:
    """The type of a column of times: NumPy's, in a unit, and whether it has a time zone."""

    dtype: np.dtype[Any]
    aware: bool = False

    @property
    def words(self) -> str:
        """What a bound of such a column is called."""
        zone = "with a time zone" if self.aware else "without a time zone"
        return "a duration" if self.dtype.kind == "m" else f"a date or time {zone}"

    @property
    def several(self) -> str:
        """What bounds of such a column are called."""
        return "durations" if self.dtype.kind == "m" else "dates or times"

    def count(self, name: str, value: Any) -> int:
        """Return how many units a public time is from the origin.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For what is no time of this kind, or not a whole number of units.
        """
        found = as_numpy(value)
        has_zone = getattr(value, "tzinfo", None) is not None
        wrong = found is None or found.dtype.kind != self.dtype.kind
        is_numpy = isinstance(value, np.datetime64)
        if wrong or (self.dtype.kind == "M" and not is_numpy and has_zone != self.aware):
            checks.fail_type(name, f"{self.words}, as the data are", value)
        assert found is not None
        if np.isnat(found):
            checks.fail(name, self.words, value)
        try:
            count = found.astype(self.dtype)
            # A count that int64 cannot hold goes round, and does not come back.
            whole = bool(count == found) and bool(count.astype(found.dtype) == found)
        except (OverflowError, TypeError):  # years are no number of seconds
            whole = False
        if not whole:
            unit = np.datetime_data(self.dtype)[0]
            checks.fail(name, f"a whole number of the data's unit, {unit}, that int64 holds", value)
        return int(count.view(np.int64))

    def ascending(self, name: str, rule: str, values: Any) -> tuple[list[int], dt.tzinfo | None]:
        """Return public times that ascend as counts, and the zone of the first.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For what are no such times, or are too far apart, or cannot be told in their zone.
        """
        try:
            each = [values[i] for i in range(len(values))]
        except Exception:  # whatever an object thinks of being a sequence
            each = []
        if isinstance(values, (str, bytes)) or len(each) < 2:
            checks.fail(name, rule, values)
        counts = [self.count(name, one) for one in each]
        if any(a > b for a, b in pairwise(counts)) or counts[-1] - counts[0] >= 2**62:
            checks.fail(name, rule, values)
        zone = getattr(each[0], "tzinfo", None)
        zone = zone if isinstance(zone, dt.tzinfo) else None
        if self.aware:
            ends = np.array([counts[0], counts[-1]], np.int64).view(self.dtype)
            try:
                _in_zone(ends, zone or dt.UTC)
            except Exception:  # of Python's own times, or of a zone of the caller's
                ends = ends[:0]
            if not len(ends):
                checks.fail(name, "times that Python's datetime can tell in their zone", values)
        return counts, zone

    def point(self, counts: Any, lower: int, zone: dt.tzinfo | None) -> Any:
        """Return the time of a count above a lower bound, or those of an array."""
        times = self._of(self.dtype, counts, lower)
        if self.aware:
            times = _in_zone(times, zone or dt.UTC)
        return times if isinstance(counts, np.ndarray) else times[0]

    def span(self, counts: Any) -> Any:
        """Return the duration of a count, or those of an array."""
        unit, many = np.datetime_data(self.dtype)
        spans = self._of(np.dtype(f"m8[{many}{unit}]"), counts, 0)
        return spans if isinstance(counts, np.ndarray) else spans[0]

    @staticmethod
    def _of(dtype: np.dtype[Any], counts: Any, lower: int) -> NDArray[Any]:
        """Return counts as an array, rounded and within int64."""
        each = [lower + round(x) for x in np.atleast_1d(counts).tolist()]
        inside = [min(max(x, NAT + 1), -NAT - 1) for x in each]
        return np.array(inside, np.int64).view(dtype)


def as_numpy(value: Any) -> Any:
    """Return a date, a time or a duration as NumPy's scalar, in UTC; None for anything else."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.datetime_data(value.dtype)[0] == "generic" else value
    for convert in ("to_datetime64", "to_timedelta64"):  # of pandas, to the nanosecond
        if isinstance(value, (dt.datetime, dt.timedelta)) and hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        try:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        except Exception:  # beyond what a datetime holds, or of a zone of the caller's
            return None
    if isinstance(value, dt.date):
        return np.datetime64(value)
    return np.timedelta64(value) if isinstance(value, dt.timedelta) else None


def _in_zone(array: NDArray[Any], zone: dt.tzinfo) -> NDArray[Any]:
    """Return times in UTC as Python's own in a zone, to the microsecond."""
    origin = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    each = [origin + dt.timedelta(microseconds=int(x)) for x in array.astype("M8[us]").view("i8")]
    out = np.empty(len(each), object)
    out[:] = [one.astimezone(zone) for one in each]
    return out


#: What makes whole numbers of counts of a unit.
Numbering: TypeAlias = Callable[[NDArray[Any]], NDArray[np.int64]]


@dataclass(frozen=True)
class TimeColumn:
    """A column of times: its type, what makes the source of what is made of its counts, and how
    Arrow reads these.
    """

    times: Times
    read: Callable[[Numbering], Any]
    how: Numbers | None = None


def time_column(data: Any, beside: Collection[str] = ()) -> tuple[Any, TimeColumn | None]:
    """Return what data are, to be read once, and that as a column of times, if it is one.

    That is told by its type: no row is looked at. Of several columns of files or of an engine one
    has to be left without those whose names stand `beside` it.
    """
    # A column of an engine that holds times has no dtype of numbers, and says so.
    dtype = None if isinstance(data, EngineColumns) else checks.attribute(data, "dtype")
    if isinstance(dtype, np.dtype) and dtype.kind not in "Mm":
        return data, None
    if isinstance(data, (MemorySource, list, tuple, dict, str)):
        return data, None
    try:
        form = form_of(data, "data", RULE)
    except DpfastError:  # what is no data is told by whoever reads it
        return data, None
    # A reader can be read once, so what has been made of it is what goes on.
    given = data if isinstance(form, Values) else form
    if isinstance(form, (Values, Arrow)):
        return given, local_times(form)
    if not isinstance(form, (Columns, EngineColumns)) or (isinstance(form, Table) and not beside):
        return given, None
    names = [name for name in form.names if name not in beside] or form.names
    if len(names) != 1:
        return given, None
    if isinstance(form, Columns):
        return given, _of_file(form.reader, *names)
    engine, (name,) = form.engine, names
    like = chosen(engine.like, [name]).columns[name]
    found = local_times(like) if isinstance(like, (Values, Arrow)) else None
    if found is None:
        return given, None
    times = found.times
    return given, TimeColumn(
        times, lambda numbers: EngineColumn(CountsEngine(engine, name, times, numbers), name)
    )


def _of_file(reader: Reader, name: str) -> TimeColumn | None:
    """Return a column of files as one of times, if it is one."""
    like = reader.typed(name, False) if reader.holds_times(name) else None
    kinds = arrow_times(like.chunked.type) if isinstance(like, Arrow) else None
    if kinds is None:
        return None
    return TimeColumn(
        Times(kinds.dtype, kinds.aware),
        lambda numbers: FileSource(CountsReader(reader, name, kinds.how, numbers), name),
    )


def local_times(form: Values | Arrow) -> TimeColumn | None:
    """Return a column in memory as one of times, if it is one."""
    if isinstance(form, Arrow):
        kinds = arrow_times(form.chunked.type)
        if kinds is None:
            return None
        times = Times(kinds.dtype, kinds.aware)
        own = ColumnSource(form.chunked, "data", kinds.how)
        return TimeColumn(times, partial(TimeSource, own, row_index=form.row_index), kinds.how)
    array, mask = form.array, form.mask
    if array.dtype.kind not in "Mm" or array.ndim != 1:
        return None
    if np.datetime_data(array.dtype)[0] == "generic":
        return None
    source = ArraySource(array.view(array.dtype.str[0] + "i8"), mask)
    return TimeColumn(
        Times(array.dtype.newbyteorder("="), form.aware),
        partial(TimeSource, source, row_index=form.row_index),
    )


@dataclass(frozen=True)
class Clipped:
    """Counts between two others, less a shift."""

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
    """Numbers of the bins between edges; what is outside is outside of 0 .. bins."""

    edges: tuple[int, ...]

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int64]:
        edges = np.array(self.edges, np.int64)
        bins = np.searchsorted(edges, values, "right") - 1
        bins[values == edges[-1]] -= 1  # the last bin has both of its ends
        bins[values > edges[-1]] += 1
        return bins


@dataclass(frozen=True)
class _Read:
    """Makes numbers of the counts of a chunk; those that are no time are null."""

    summarise: Callable[[Chunk], Any]
    numbers: Callable[[NDArray[Any]], NDArray[np.int64]]

    def __call__(self, chunk: Chunk) -> Any:
        values, start, nulls, present = chunk
        here = values != NAT
        numbers = self.numbers(values)
        if here.all():
            return self.summarise(Chunk(numbers, start, nulls, present))
        kept = numbers[here]
        whole = here if not nulls else None
        if present is not None:
            whole = present.copy()
            whole[present] = here
        return self.summarise(Chunk(kept, start, nulls + len(values) - len(kept), whole))


class TimeSource:
    """A column of times as whole numbers: a `Source`.

    Attributes
    ----------
    base : Source
        Of raw counts, `NAT` where there is no time.
    """

    dtype = I8
    row_index: Any = None

    def __init__(self, base: Source, numbers: Numbering, row_index: Any = None) -> None:
        self.base, self.row_index = base, row_index
        self.length = base.length
        self._numbers = numbers

    @property
    def nulls(self) -> int | None:
        """How many rows are null is known by a pass only."""
        return None

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        found: S = self.base.reduce(_Read(summarise, self._numbers), merge)
        return found

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        values = self.base.sample(count, words)
        return None if values is None else self._numbers(values[values != NAT])


class CountsReader(Reader):
    """Files of which a column of times is read as whole numbers, and all others as they are."""

    def __init__(self, reader: Reader, name: str, how: Numbers, numbers: Numbering) -> None:
        self.paths, self.length = reader.paths, reader.length
        self._of, self._name, self._how, self._numbers = reader, name, how, numbers

    def find(self, pick: Pick) -> str:
        return self._of.find(pick)

    def numbers(self, name: str) -> Numbers:
        return Numbers(I8, None) if name == self._name else self._of.numbers(name)

    def may_have_nulls(self, name: str) -> bool:
        return name == self._name or self._of.may_have_nulls(name)

    def holds_text(self, name: str) -> bool:
        return self._of.holds_text(name)

    def ids(self, name: str) -> None:
        self._of.ids(name)

    def typed(self, name: str, is_text: bool) -> Arrow | Values:
        return self._of.typed(name, is_text)

    def nulls(self, name: str) -> int | None:
        return None if name == self._name else self._of.nulls(name)

    def reduce(
        self,
        makers: Sequence[Generator[T]],
        rows_of: Callable[[T], int],
        empty: T,
        length: int | None,
        summarise: Callable[[T], S],
        merge: Callable[[S, S], S],
    ) -> S:
        return self._of.reduce(makers, rows_of, empty, length, summarise, merge)

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        places = {i for i, name in enumerate(want.numbers) if name == self._name}

        def counted(start: int, arrays: Sequence[Any]) -> Iterator[T]:
            pairs = enumerate(arrays)
            return convert(start, [self._counts(a) if i in places else a for i, a in pairs])

        return self._of.makers(want, rows, counted, workers)

    def _counts(self, array: Any) -> Any:
        import pyarrow as pa

        found = numbered(Arrow(pa.chunked_array([array])), self._how, self._numbers)
        return pa.array(found.array, mask=found.mask)

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        if name != self._name:
            return self._of.sample(name, how, count, words)
        values = self._of.sample(name, self._how, count, words)
        return None if values is None else self._numbers(values[values != NAT])


def numbered(form: Values | Arrow, how: Numbers | None, numbers: Numbering) -> Values:
    """Return what is made of the counts of a column of times in memory, masked where there is none.

    `how` is how Arrow is read.
    """
    if isinstance(form, Arrow):
        assert how is not None
        pairs = [arrow_values(chunk.cast(how.cast)) for chunk in form.chunked.chunks]
        each = [
            (numbers(x), (x == NAT) if present is None else ~present | (x == NAT))
            for x, present in pairs
        ]
        array = np.concatenate([np.empty(0, I8), *(own for own, _ in each)])
        mask = np.concatenate([np.empty(0, np.bool_), *(missing for _, missing in each)])
    else:
        counts = form.array.view(form.array.dtype.str[0] + "i8")
        array, mask = numbers(counts), counts == NAT
        mask = mask if form.mask is None else mask | form.mask
    return Values(array, array, mask)


@dataclass(frozen=True)
class Numbered(Generic[S]):
    """Makes something of a partition whose column of times has been made one of whole numbers."""

    make: Callable[[Form], S]
    name: str
    times: Times
    numbers: Numbering

    def __call__(self, form: Form) -> S:
        column = chosen(form, [self.name]).columns[self.name]
        found = local_times(column) if isinstance(column, (Values, Arrow)) else None
        if found is None or found.times != self.times:
            refuse_type()
        assert isinstance(form, Named) and not isinstance(column, Objects)
        own = {self.name: numbered(column, found.how, self.numbers)}
        return self.make(Named({**form.columns, **own}, own))


class CountsEngine(Engine):
    """A table of an engine of which a column of times is read as whole numbers."""

    def __init__(self, engine: Engine, name: str, times: Times, numbers: Numbering) -> None:
        self.name, self.lengths, self._of = engine.name, engine.lengths, engine
        self._read = name, times, numbers
        self._as = partial(Numbered, name=name, times=times, numbers=numbers)
        self.like = self._as(_same)(engine.like)

    def typed(self, task: Task[S], columns: Sequence[str] | None) -> Task[S]:
        return self._of.typed(task, columns)

    def run(self, task: Task[S], columns: Sequence[str] | None) -> Part[S] | None:
        return self._of.run(replace(task, make=self._as(task.make)), columns)

    def together(self, column: str, columns: Sequence[str]) -> Engine:
        return CountsEngine(self._of.together(column, columns), *self._read)

    def exchange(self, task: Task[list[Piece]], columns: Sequence[str] | None) -> Engine:
        return self._of.exchange(replace(task, make=self._as(task.make)), columns)


def _same(form: Form) -> Form:
    return form
