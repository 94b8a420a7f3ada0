"""Rows that a user's engine, Dask or Spark, holds in partitions.

A task is sent to a worker as a recipe of public numbers. It reads its partition as any data in
memory are read, and returns a summary.

Engines repeat tasks, lose them, and run them twice at the same time. So the function that merges
two summaries changes neither. Each summary has the numbers of its partitions, and each partition is
counted once. If a partition has other rows in a later pass, this raises an error after the spend.
Only the driver draws random bits. A pass is over when `reduce` returns.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, Generic, NamedTuple, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.owner_log import hide_error, timed
from .._core.threads import alone
from .._kernels.tables import Key, hashes
from ..errors import ArgumentTypeError, DataError, DpfastError
from .arrow import arrow_numbers, arrow_times
from .base import Chunk, RowChunk, RowSource, S, Source
from .columns import Batch, Columns, Elsewhere, Rows, Table, TableRows, Want, chosen, refuse_type
from .forms import Arrow, MemoryColumn, Readable, Values, source_of
from .ids import as_list, no_column
from .in_memory import local_form, named
from .key_words import KeyWords, array_kind, arrow_kind
from .sql.store import SqlRows
from .times import AsNumbers, numbered, times_of

RULE = "data of an engine"
#: A partition has fewer than 2**MOST_ROWS rows.
MOST_ROWS = 40
#: The number of summaries that are merged at a time.
TREE = 8


class Moved(NamedTuple):
    """Rows as bytes that move to the partition `destination`, from the chunk at row `number`."""

    destination: int
    number: int
    rows: bytes


class Arrived(NamedTuple):
    """The rows that have been moved to a partition, as a list of `Moved`."""

    values: list[Moved]

    @classmethod
    def of(cls, table: Readable) -> Arrived:
        """Return the moved rows of a table whose columns are the fields of `Moved`."""
        columns = chosen(table, Moved._fields).held_columns.values()
        return cls(list(map(Moved, *map(as_list, columns))))

    def reduce(self, summarise: Callable[[Arrived], S], merge: Callable[[S, S], S]) -> S:
        return summarise(self)


class Part(NamedTuple, Generic[S]):
    """A summary of some partitions, with the number of rows of each partition."""

    rows: Mapping[int, int]
    summary: S


@dataclass(frozen=True)
class Task(Generic[S]):
    """The work on one partition: a function without state, which can be sent and repeated.

    Parameters
    ----------
    make : callable
        ``make(form)`` is the source for a partition of that type.
    summarise, merge : callable
        As `Source.reduce` takes them; `merge` changes neither argument.
    types : mapping
        The declared types of the columns that are read, as `types_of` returns them.
    as_numbers : mapping
        Columns of times that are read as whole numbers.
    """

    make: Callable[[Readable], Any]
    summarise: Callable[[Any], S]
    merge: Callable[[S, S], S]
    types: Mapping[str | None, Any] = field(default_factory=dict)
    as_numbers: Mapping[str, AsNumbers] = field(default_factory=dict)

    def __call__(self, number: int, partition: Any) -> Part[S]:
        """Return the summary of a partition.

        Raises
        ------
        DataError
            If the partition has another type than its table declares, or cannot be read.
        """
        rows = partial(counted, self.summarise, (number + 1) << MOST_ROWS)
        source = self.make(with_numbers(self.as_numbers, expect_types(partition, self.types)))
        with alone():
            summary = source.reduce(rows, partial(_both, self.merge))
        return Part({number: summary[0]}, summary[1])

    def join(self, parts: Sequence[Part[S]]) -> Part[S]:
        """Return one part that merges several, in which each partition counts once."""
        return reduce(self._joined, parts)

    def _joined(self, a: Part[S], b: Part[S]) -> Part[S]:
        if not a.rows.keys().isdisjoint(b.rows):
            more, less = (a, b) if len(a.rows) >= len(b.rows) else (b, a)
            if more.rows.items() >= less.rows.items():
                return more
            raise DataError("two summaries have a partition in common, which would count twice")
        return Part({**a.rows, **b.rows}, self.merge(a.summary, b.summary))


def _both(merge: Callable[[S, S], S], a: tuple[int, S], b: tuple[int, S]) -> tuple[int, S]:
    return a[0] + b[0], merge(a[1], b[1])


def counted(summarise: Callable[[Any], S], first: int, chunk: Any) -> tuple[int, S]:
    """Return the number of rows of a chunk, and its summary.

    Rows are numbered from `first` on, in the order of partitions. There are gaps between the
    partitions, because the number of rows of earlier partitions is unknown.
    """
    if hasattr(chunk, "start"):
        chunk = chunk._replace(start=chunk.start + first)
    rows = chunk.rows if hasattr(chunk, "rows") else chunk.values
    many = rows if isinstance(rows, int) else len(rows)
    return many + getattr(chunk, "nulls", 0), summarise(chunk)


class Engine(Elsewhere):
    """A table or an array in partitions, which can be read in passes as often as needed.

    Attributes
    ----------
    name : str
        The name of the data in errors.
    like : Readable
        A partition without rows, which has the declared types.
    lengths : sequence of int or None
        Rows of each partition; None when that is not known without reading.
    """

    name: str
    has_order = False
    like: Readable
    lengths: Sequence[int] | None = None
    _seen: Mapping[int, int] | None = None

    @abstractmethod
    def run(self, task: Task[S], columns: Sequence[str] | None) -> Part[S] | None:
        """Run a task on all partitions, and join the summaries; None if there is no partition.

        Of a table, the task reads only `columns`.
        """

    @abstractmethod
    def together(self, column: str, columns: Sequence[str]) -> Engine:
        """Return `columns` of rows with an id, where all rows of an id are in one partition."""

    @abstractmethod
    def exchange(self, task: Task[list[Moved]], columns: Sequence[str] | None) -> Engine:
        """Return the rows that a task moves as a table, each row in its destination's partition.

        The table's columns are the fields of `Moved`.
        """

    @property
    def length(self) -> int | None:  # type: ignore[override]
        """The number of rows; None when that is not known without reading."""
        return None if self.lengths is None else sum(self.lengths)

    @property
    def title(self) -> str:
        return self.name

    @property
    def empty(self) -> Readable:
        """A partition without rows, in which columns of times may be read as numbers."""
        return with_numbers(self.as_numbers, self.like)

    def name_of(self, column: Any, argument: str) -> str:
        columns = self.like.names if isinstance(self.like, Table) else ()
        return str(column) if column in columns else no_column(column, columns, argument)

    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        return cast(MemoryColumn, chosen(self.empty, [name]).held_columns[name])

    def dtype(self, name: str | None) -> np.dtype[Any]:
        return column_of(name, self.empty).dtype

    def describe(self, rows: Rows) -> tuple[np.dtype[Any], int | None]:
        like = rows(self.empty)
        return like.dtype, like.width

    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        if ids is not None:
            refuse_array("ids", ids)
        if not make.is_table and not make.names:
            make = Rows(None, make.ids)
        return super().rows(make, None, workers)

    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> S:
        raise AssertionError("batches of an engine are read by a task in each partition")

    def reduce_column(
        self, name: str | None, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]
    ) -> S:
        task = Task(partial(column_of, name), summarise, merge)
        return self.reduce(task, None if name is None else [name])

    def reduce_rows(
        self, rows: TableRows, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]
    ) -> S:
        return self.reduce(Task(rows.make, summarise, merge), rows.make.columns)

    def declared(self, task: Task[S], columns: Sequence[str] | None) -> Task[S]:
        """Return a task that refuses a partition with other types than the declared ones."""
        return replace(task, types=types_of(self.like, columns), as_numbers=self.as_numbers)

    def __copy__(self) -> Engine:
        some = object.__new__(type(self))
        vars(some).update(vars(self))
        return some

    def __reduce__(self) -> NoReturn:
        raise TypeError("data of an engine stay with the driver")

    def reduce(self, task: Task[S], columns: Sequence[str] | None) -> S:
        """Make a pass over all partitions and return the merged summary.

        Raises
        ------
        DataError
            If the engine fails, or a partition has other rows than in the pass before.
        """
        part, kind, is_interrupted = None, "", False
        try:
            with timed("pass", of=self.name, columns=columns):
                part = self.run(self.declared(task, columns), columns)
        except (DpfastError, MemoryError):
            raise
        except Exception as error:  # the message may quote a row, so the error is not kept
            # The engine stopped its tasks.
            is_interrupted = isinstance(error.__context__, KeyboardInterrupt)
            kind = hide_error(error)
        if is_interrupted:
            raise KeyboardInterrupt
        if kind:
            raise DataError(f"{self.name} failed while it read the rows ({kind})")
        if part is None:
            return cast(S, task.make(self.empty).reduce(task.summarise, task.merge))
        rows = {number: many for number, many in part.rows.items() if many}
        if self._seen is None:
            self._seen = rows
        lengths = self._seen
        if self.lengths is not None:
            lengths = {number: many for number, many in enumerate(self.lengths) if many}
        if not rows == self._seen == lengths:
            raise DataError(
                f"the rows of {self.name} changed between two reads: pass unchanging data"
            )
        return part.summary


def types_of(table: Readable, columns: Sequence[str] | None = None) -> dict[str | None, Any]:
    """Return the types of some or all columns by name; an array has its type under None.

    A type does not depend on the representation: a dictionary has the type of its entries.
    """
    if not isinstance(table, Table):
        return {None: _type_of(table)}
    some = table if columns is None else chosen(table, columns)
    return {name: _type_of(column) for name, column in some.held_columns.items()}


def _type_of(column: Readable) -> tuple[Any, ...]:
    """Return the type of a column's values, the shape of a row, and whether rows can be masked."""
    if isinstance(column, Values):
        dtype, is_masked = column.array.dtype, isinstance(column.original, np.ma.MaskedArray)
        kind = array_kind(dtype) if dtype.kind in "USTO" else dtype.newbyteorder("=")
        return kind, column.aware, column.array.shape[1:], is_masked
    if not isinstance(column, Arrow):
        return "objects", False, (), False
    kind, is_aware = column.chunked.type, False
    times, numbers = arrow_times(kind), arrow_numbers(kind)
    if times is not None:
        kind, is_aware = times.dtype, times.aware
    elif numbers is None or arrow_kind(kind) == "nothing":
        kind = arrow_kind(kind)
    else:
        kind = np.dtype(np.bool_) if numbers.cast == "uint8" else numbers.dtype
    return kind, is_aware, (), False


def expect_types(data: Any, types: Mapping[str | None, Any]) -> Readable:
    """Return a partition in a readable type, or refuse a partition with undeclared types.

    Raises
    ------
    DataError
        If a type differs from the declared type.
    """
    types_found, columns = {}, [name for name in types if name is not None]
    with suppress(ArgumentTypeError):  # the partition is not a table
        table = local_form(data, "data", RULE)
        types_found = types_of(table, columns or None)
    for name, declared in types.items():
        type_found = types_found.get(name, (None,))
        # A partition without any text of a column of categories has no type for it.
        if type_found != declared and (type_found[0], declared[0]) != ("nothing", "text"):
            refuse_type()
    return table


def destinations_of(column: Any, parts: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the partition to which each id is sent, and a mask of the rows that have an id.

    Equal ids go to one partition, in any representation, because bounding compares the same words.
    The key of the hashes is not secret. It only spreads the ids, which the engine sees anyway.
    """
    key = Key(bytes(32))
    words = KeyWords(key, "ids", is_id=True).of(column)
    key_hashes = np.empty(len(words.low), np.uint64)
    hashes(key, words.low, words.high, key_hashes)
    return (key_hashes % np.uint64(parts)).astype(np.int64), words.presence()


# --- reading a partition: this code is sent to workers --------------------------------------------


def column_of(name: str | None, table: Readable) -> Source:
    """Return the column `name` of a partition as a source; None for the only column."""
    return source_of(table if name is None else chosen(table, [name]).held_columns[name])


def with_numbers(columns: Mapping[str, AsNumbers], table: Readable) -> Readable:
    """Return a partition with some columns of times converted to whole numbers."""
    if not isinstance(table, Table) or not columns:
        return table
    read = dict(table.held_columns)
    for name in read.keys() & columns:
        if times_of(read[name]) != columns[name].times:
            refuse_type()
        read[name] = numbered(read[name], columns[name].numbers)
    return named(read)


def exchanged(
    rows: TableRows,
    cut: Callable[[RowChunk], list[Moved]],
    summarise: Callable[[Arrived], S],
    merge: Callable[[S, S], S],
) -> S:
    """Move rows of an engine to the partitions of their destinations, and summarise them there."""
    engine, columns = rows.store, rows.make.columns
    assert isinstance(engine, Engine)
    moved = engine.exchange(engine.declared(Task(rows.make, cut, operator.add), columns), columns)
    return moved.reduce(Task(Arrived.of, summarise, merge), None)


def of_engine(source: Any) -> bool:
    """Tell whether rows are held by an engine or a database, which promises no order of rows."""
    source = checks.attribute(source, "base", source)
    if isinstance(source, (TableRows, Columns)):
        return not source.store.has_order
    return isinstance(source, SqlRows)


def refuse_array(argument: str, value: Any) -> NoReturn:
    """Refuse an array as `argument` for the rows of an engine, which have no order."""
    rule = "left out, or the name of a column: rows of an engine have no order (filter them there)"
    checks.fail_kind(argument, rule, value)
