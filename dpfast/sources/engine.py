"""Rows that an engine of the user's holds in partitions: Dask or Spark.

A partition is data in memory to the task that is given it, so a task makes of it what would be made
of such data anywhere else, and passes over that. What travels to a task is this recipe, which is
public numbers, and what comes back is a summary.

Engines repeat tasks, lose them and run them twice at a time. So a summary is a value: a function
that merges two changes neither, and each summary carries the numbers of its partitions, of which
each is counted once. A partition that has other rows when it is asked again is an error after the
spend. Nothing is drawn but in the driver, and a pass is over when `reduce` returns.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.threads import alone
from .._kernels.sources import Key, hashes
from ..errors import ArgumentTypeError, DataError, DpfastError
from .arrow import arrow_numbers, arrow_times
from .base import Choosing, Chunk, RandomWords, RowChunk, RowSource, Source, Table, WithRows
from .forms import Arrow, Form, Named, Objects, Values, local_form, source_of
from .ids import no_column
from .key_words import KeyWords, array_kind, arrow_kind
from .pick import distinct
from .table import coded_of, rows_of
from .words import Words

S = TypeVar("S")

RULE = "data of an engine"
#: The log2 of more rows than a partition has.
MOST_ROWS = 40
#: Summaries that are merged at a time.
TREE = 8


class Piece(NamedTuple):
    """Rows on their way to a place: `number` is where they began, `rows` their bytes."""

    place: int
    number: int
    rows: bytes


class Arrived(NamedTuple):
    """The pieces that have come to some places."""

    values: list[Piece]

    @classmethod
    def of(cls, form: Form) -> Arrived:
        """Return the pieces of a table of them."""
        columns = chosen(form, Piece._fields).columns.values()
        each = [c.chunked.to_pylist() if isinstance(c, Arrow) else _listed(c) for c in columns]
        return cls(list(map(Piece, *each)))

    def reduce(self, summarise: Callable[[Arrived], S], merge: Callable[[S, S], S]) -> S:
        return summarise(self)


def _listed(column: Objects | Values) -> list[Any]:
    return list(column.rows) if isinstance(column, Objects) else column.array.tolist()


class Part(NamedTuple, Generic[S]):
    """A summary, and the rows of each partition that it is of, by number."""

    rows: Mapping[int, int]
    summary: S


@dataclass(frozen=True)
class Task(Generic[S]):
    """What is done with a partition: a function without state that can be sent and repeated.

    Parameters
    ----------
    make : callable
        ``make(form)`` is what can be passed over, of the form of a partition.
    summarise, merge : callable
        As `Source.reduce` takes them; `merge` changes neither argument.
    types : mapping
        The types that are declared of the columns that are read, as `types_of` returns them.
    """

    make: Callable[[Form], Any]
    summarise: Callable[[Any], S]
    merge: Callable[[S, S], S]
    types: Mapping[str | None, Any] = field(default_factory=dict)

    def __call__(self, number: int, partition: Any) -> Part[S]:
        """Return the summary of a partition.

        Raises
        ------
        DataError
            If the partition has another type than its table declares, or cannot be read.
        """
        rows = Counted(self.summarise, (number + 1) << MOST_ROWS)
        made = self.make(expect_types(partition, self.types))
        with alone():
            found = made.reduce(rows, partial(_both, self.merge))
        return Part({number: found[0]}, found[1])

    def join(self, parts: Sequence[Part[S]]) -> Part[S]:
        """Return the summary of several, each partition of which counts once."""
        return reduce(self._joined, parts)

    def _joined(self, a: Part[S], b: Part[S]) -> Part[S]:
        if not a.rows.keys().isdisjoint(b.rows):
            more, less = (a, b) if len(a.rows) >= len(b.rows) else (b, a)
            if more.rows.items() >= less.rows.items():
                return more
            raise DataError("a partition was summarized twice, in ways that cannot be told apart")
        return Part({**a.rows, **b.rows}, self.merge(a.summary, b.summary))


def _both(merge: Callable[[S, S], S], a: tuple[int, S], b: tuple[int, S]) -> tuple[int, S]:
    return a[0] + b[0], merge(a[1], b[1])


@dataclass(frozen=True)
class Counted(Generic[S]):
    """Counts the rows of a chunk beside its summary.

    Rows are numbered from `first` on: in the order of partitions, with gaps between them, for
    nobody knows how many rows those before have.
    """

    summarise: Callable[[Any], S]
    first: int

    def __call__(self, chunk: Any) -> tuple[int, S]:
        if hasattr(chunk, "start"):
            chunk = chunk._replace(start=chunk.start + self.first)
        rows = chunk.rows if hasattr(chunk, "rows") else chunk.values
        many = rows if isinstance(rows, int) else len(rows)
        return many + getattr(chunk, "nulls", 0), self.summarise(chunk)


class Engine(ABC):
    """A table or an array in partitions, which can be passed over as often as asked.

    Attributes
    ----------
    name : str
        What errors call it.
    like : Form
        A partition without rows: its types are those that are declared.
    lengths : sequence of int or None
        Rows of each partition; None when that is not known without reading.
    """

    name: str
    like: Form
    lengths: Sequence[int] | None = None
    _seen: Mapping[int, int] | None = None

    @abstractmethod
    def run(self, task: Task[S], columns: Sequence[str] | None) -> Part[S] | None:
        """Run a task on all partitions, of a table on these columns only, and join what it makes.

        None if there is no partition.
        """

    @abstractmethod
    def together(self, column: str, columns: Sequence[str]) -> Engine:
        """Return some columns of the rows that have an id, all rows of an id in one partition."""

    @abstractmethod
    def exchange(self, task: Task[list[Piece]], columns: Sequence[str] | None) -> Engine:
        """Return a table of the pieces that a task makes, all pieces of a place in one partition.

        Its columns are the fields of `Piece`.
        """

    @property
    def length(self) -> int | None:
        """Rows; None when that is not known without reading."""
        return None if self.lengths is None else sum(self.lengths)

    def typed(self, task: Task[S], columns: Sequence[str] | None) -> Task[S]:
        """Return a task that refuses partitions of other types than are declared."""
        return replace(task, types=types_of(self.like, columns))

    def __reduce__(self) -> NoReturn:
        raise TypeError("data of an engine stay with the driver")

    def reduce(self, task: Task[S], columns: Sequence[str] | None) -> S:
        """Make a pass: the summary of all partitions.

        Raises
        ------
        DataError
            If the engine fails, or a partition has other rows than in the pass before.
        """
        found, kind = None, ""
        try:
            found = self.run(self.typed(task, columns), columns)
        except (DpfastError, MemoryError):
            raise
        except Exception as error:  # whose message may quote a row, so it is let go
            kind = type(error).__name__
        if kind:
            raise DataError(f"{self.name} failed while it read the rows ({kind})")
        if found is None:
            return task.make(self.like).reduce(task.summarise, task.merge)  # type: ignore[no-any-return]
        rows = {number: many for number, many in found.rows.items() if many}
        if self._seen is None:
            self._seen = rows
        lengths = self._seen
        if self.lengths is not None:
            lengths = {number: many for number, many in enumerate(self.lengths) if many}
        if not rows == self._seen == lengths:
            raise DataError(f"{self.name} must have the same rows whenever it is read, and has not")
        return found.summary


def types_of(form: Form, columns: Sequence[str] | None = None) -> dict[str | None, Any]:
    """Return the type of each of some columns, or of all; that of an array under the name None.

    A type is that of the values, in whatever form they lie: of a dictionary that of its entries.
    """
    if not isinstance(form, Named):
        return {None: _type_of(form)}
    some = form if columns is None else chosen(form, columns)
    return {name: _type_of(column) for name, column in some.columns.items()}


def _type_of(form: Form) -> tuple[Any, ...]:
    """Return the type of the values, the shape of a row, and whether some can be masked."""
    if isinstance(form, Values):
        dtype, is_masked = form.array.dtype, isinstance(form.given, np.ma.MaskedArray)
        kind = array_kind(dtype) if dtype.kind in "USTO" else dtype.newbyteorder("=")
        return kind, form.aware, form.array.shape[1:], is_masked
    if not isinstance(form, Arrow):
        return "objects", False, (), False
    kind, is_aware = form.chunked.type, False
    times, numbers = arrow_times(kind), arrow_numbers(kind)
    if times is not None:
        kind, is_aware = times.dtype, times.aware
    elif numbers is None or arrow_kind(kind) == "nothing":
        kind = arrow_kind(kind)
    else:
        kind = np.dtype(np.bool_) if numbers.cast == "uint8" else numbers.dtype
    return kind, is_aware, (), False


def expect_types(data: Any, types: Mapping[str | None, Any]) -> Form:
    """Return the form of a partition whose types are those that are declared.

    Raises
    ------
    DataError
        If they are not, whichever rows have caused that.
    """
    found, columns = {}, [name for name in types if name is not None]
    with suppress(ArgumentTypeError):  # of what is no table
        form = local_form(data, "data", RULE)
        found = types_of(form, columns or None)
    for name, declared in types.items():
        own = found.get(name, (None,))
        # Categories of text of which a partition has none are of no type.
        if own != declared and (own[0], declared[0]) != ("nothing", "text"):
            refuse_type()
    return form


def refuse_type() -> NoReturn:
    raise DataError("a partition must have the types that its table declares, and has not")


def places(column: Any, parts: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the partition that each id goes to, and which rows have an id.

    Equal ids go to one place whatever form they have, by the words that bounding compares. The key
    of hashes is no secret: it only spreads the ids, which the engine sees anyway.
    """
    key = Key(bytes(32))
    words = KeyWords(key, "ids", is_id=True).of(column)
    found = np.empty(len(words.low), np.uint64)
    hashes(key, words.low, words.high, found)
    return (found % np.uint64(parts)).astype(np.int64), words.presence()


# --- what is made of a partition, which travels -------------------------------------------------


def chosen(form: Form, names: Sequence[str]) -> Named:
    """Return some columns of the form of a table."""
    columns = form.columns if isinstance(form, Named) else {}
    if not all(name in columns for name in names):
        refuse_type()
    return Named({name: columns[name] for name in names}, columns)


@dataclass(frozen=True)
class Column:
    """A column as a source: that of a name, or all there is."""

    name: str | None

    def __call__(self, form: Form) -> Source:
        if self.name is not None:
            form = chosen(form, [self.name]).columns[self.name]
        return source_of(form)


@dataclass(frozen=True)
class Rows:
    """Rows of some columns, those with words as text, with the ids of one more; or of a matrix."""

    names: Sequence[str] | None
    ids: str | None = None
    words: Sequence[Words | None] | None = None

    def __call__(self, form: Form) -> RowSource:
        if self.names is None:
            return rows_of(form, self.ids)
        table = chosen(form, self.columns or ())
        return rows_of(table, self.ids) if self.words is None else coded_of(table, self.words)

    @property
    def columns(self) -> Sequence[str] | None:
        return self.names if self.names is None or self.ids is None else [*self.names, self.ids]


@dataclass(frozen=True)
class Alone(Rows):
    """Rows of one number, of a column that is no table."""

    def __call__(self, form: Form) -> RowSource:
        (name,) = self.names or ()
        return rows_of(chosen(form, [name]).columns[name])


# --- what releases read -------------------------------------------------------------------------


class EngineRows(Choosing):
    """Rows of several numbers, or records, of an engine: a `RowSource`."""

    array = None

    def __init__(self, engine: Engine, make: Rows) -> None:
        self._engine, self._make = engine, make
        like = make(engine.like)
        self.dtype, self.width, self.length = like.dtype, like.width, engine.length

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        task = Task(self._make, summarise, merge)
        return self._engine.reduce(task, self._make.columns)

    def exchange(
        self,
        cut: Callable[[RowChunk], list[Piece]],
        summarise: Callable[[Arrived], S],
        merge: Callable[[S, S], S],
    ) -> S:
        """Cut the rows into pieces, bring those of a place together, and pass over these."""
        task = self._engine.typed(Task(self._make, cut, operator.add), self._make.columns)
        pieces = self._engine.exchange(task, self._make.columns)
        return pieces.reduce(Task(Arrived.of, summarise, merge), None)

    def only(self, columns: Collection[Any] | None) -> RowSource:
        make = self._make
        if columns is None or make.names is None or make != Rows(make.names):
            return self
        names = [name for name in make.names if name in columns] or make.names[:1]
        return EngineRows(self._engine, Rows(names))


class EngineColumns(WithRows):
    """Some columns of the table of an engine."""

    def __init__(self, engine: Engine, names: Sequence[str]) -> None:
        self.engine = engine
        self.names = tuple(names)
        self.length = engine.length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.names))})"

    def __getitem__(self, columns: str | Sequence[str]) -> EngineColumns:
        """Return one column by its name, or a table of several."""
        if not isinstance(columns, str):
            for name in columns:
                self.form(name, "column")
            return EngineTable(self.engine, distinct(list(columns)))
        self.form(columns, "column")
        return EngineColumn(self.engine, columns)

    def form(self, name: str, argument: str) -> Objects | Values | Arrow:
        """Return a column without rows, of the type of the one of that name."""
        columns = self.engine.like.columns if isinstance(self.engine.like, Named) else {}
        return columns[name] if name in columns else no_column(name, columns, argument)

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        if ids is not None and not isinstance(ids, str):
            refuse_array("ids", ids)
        if ids is not None:
            self.form(ids, "ids")
        return EngineRows(self.engine, Rows([name for name in self.names if name != ids], ids))

    def beside(self, column: str) -> Table:
        self.form(column, "weights")
        return EngineTable(self.engine, [*(n for n in self.names if n != column), column])

    def coded(self, words: Sequence[Words | None]) -> RowSource:
        return EngineRows(self.engine, Rows(self.names, None, words))


class EngineTable(EngineColumns, Table):
    """Named columns of an engine."""

    def columns_alone(self) -> list[Source]:
        return [EngineColumn(self.engine, name) for name in self.names]


class EngineColumn(EngineColumns):
    """One column of an engine, or all there is: a `Source`, which drops nulls, or rows."""

    nulls = None

    def __init__(self, engine: Engine, name: str | None, make: Column | None = None) -> None:
        super().__init__(engine, () if name is None else (name,))
        self._make = Column(name) if make is None else make

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type that is declared.

        Raises
        ------
        ArgumentTypeError
            If it is not one of numbers: what else a column is good for is for a release to say.
        """
        return self._make(self.engine.like).dtype

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        task = Task(self._make, summarise, merge)
        return self.engine.reduce(task, self.names or None)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return None

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        if isinstance(ids, str) and not self.names and isinstance(self.engine.like, Named):
            return EngineRows(self.engine, Rows(None, ids))  # of records
        if ids is not None:
            refuse_array("ids", ids)
        return EngineRows(self.engine, Alone(self.names) if self.names else Rows(None))


def of_engine(source: Any) -> bool:
    """Tell whether rows are those of an engine, whose order nobody promises."""
    return isinstance(checks.attribute(source, "base", source), (EngineRows, EngineColumns))


def refuse_array(argument: str, value: Any) -> NoReturn:
    """Refuse an array beside the rows of an engine."""
    rule = "left out, or the name of a column, for data of an engine (filter or join them there)"
    checks.fail_kind(argument, rule, value)
