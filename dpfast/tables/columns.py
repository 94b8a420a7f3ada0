"""Columns of tables in memory, in files and streams, and in the partitions of an engine.

A `Store` reads its columns by name, any number of times, and knows their types. A release gets
`Columns` of a store: a `Table` of several columns, or one `TableColumn`. A batch of a file, and a
partition of an engine, are data in memory. So the same functions convert both to numbers, words and
ids.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.tables import Key
from ..errors import DataError
from .base import Choosing, Chunk, RandomWords, RowChunk, RowSource, S, Source, WithRows
from .forms import MemoryColumn, Readable
from .ids import with_ids
from .pick import distinct, wanted_columns
from .public_values import CellTexts
from .table import rows_of
from .times import AsNumbers
from .words import Words, matched

#: The number of rows of a batch: enough that calls cost little, and few enough for a cache.
ROWS = 1 << 17


class Want(NamedTuple):
    """The columns that a pass reads. Columns in `text` are text if they have no declared type.

    Columns in `words` have few distinct entries, and may be Arrow dictionaries.
    """

    names: tuple[str, ...]
    text: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Batch(NamedTuple):
    """Some consecutive rows of a table, from number `start` on, as columns by name.

    A batch is valid until the function that takes it returns. An empty table makes one
    batch without columns.
    """

    start: int
    rows: int
    columns: Mapping[str, MemoryColumn]


def chosen(table: Readable, names: Sequence[str]) -> Table:
    """Return some columns of a table in memory, or raise an error if it does not have them."""
    if not (isinstance(table, Table) and set(names) <= set(table.names)):
        refuse_type()
    return table.store.table(names)


def refuse_type() -> NoReturn:
    """Raise the error that the types of a partition differ from those its table declares."""
    raise DataError("a partition has other types than its table declares: convert its columns")


@dataclass(frozen=True)
class Rows:
    """A recipe that makes rows of some columns of data in memory, and can be sent to a worker.

    Parameters
    ----------
    names : tuple of str, or None
        The columns; None for all of a matrix.
    ids : str, optional
        The column of ids, which is not among `names`.
    words : dict of str to Words, optional
        The words of each text column.
    is_table : bool
        Whether a row is a record. If not, a row is a number of the only column.
    """

    names: tuple[str, ...] | None
    ids: str | None = None
    words: Mapping[str, Words] = field(default_factory=dict)
    is_table: bool = True

    def __call__(self, data: Readable) -> RowSource:
        if self.names is None:
            return rows_of(data, self.ids)
        table = chosen(data, self.columns or ())
        if not self.is_table:
            return rows_of(table.store.column(self.names[0]))
        return table.store.rows(self)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of all columns to read, ids included; None for all columns of a matrix."""
        return self.names if self.names is None or self.ids is None else (*self.names, self.ids)


class Store:
    """Named columns that can be read as often as needed.

    Attributes
    ----------
    length : int or None
        Rows; None when that is not known without reading.
    held_columns : dict of str to MemoryColumn
        The columns that are in memory, by name.
    original : object
        The table that the columns come from; None if it is not known.
    lies_apart : bool
        Whether it is best to read each column by itself.
    has_order : bool
        Whether rows have row numbers, so that an array can have an entry for each row.
    engine : str
        The kind of engine that reads the rows: "memory", "files", "dask", "spark", or the kind of a
        database.
    keep : callable or None
        A function that keeps the rows that pass conditions; their number is private. None without
        conditions.
    """

    length: int | None
    held_columns: Mapping[str, MemoryColumn] = {}
    original: Any = None
    lies_apart: bool = False
    has_order: bool = True
    engine: str = "memory"
    keep: Any = None

    @property
    def title(self) -> str:
        """The name of the data in `repr`: of a file, a table of a database, or an engine's data."""
        return "memory"

    @abstractmethod
    def name_of(self, column: Any, argument: str) -> str:
        """Return the name of `column`, given as `argument`; refuse one that does not exist."""

    @abstractmethod
    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        """Return a column without rows that has the type of the column `name`.

        `is_text` requests text if the column has no type.
        """

    def cells(self, name: str) -> CellTexts | None:
        """Return which texts the cells of a column of a text file can be; None if it has a type."""
        return None

    def check_numbers(self, name: str) -> None:
        """Refuse a column whose type holds no numbers."""
        self.typed(name).column(f"column {name!r} of data", "numbers")

    def alike(self, key: Hashable, make: Callable[[], S]) -> S:
        """Return ``make()``, called once for each `key` by releases of one grouping."""
        return make()

    @abstractmethod
    def column(self, name: str) -> Readable:
        """Return the column `name` as data of a release."""

    def table(self, names: Sequence[str]) -> Table:
        """Return the columns `names` as a table, as data of a release."""
        return Table(self, names)

    @abstractmethod
    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        """Return the rows that `make` describes, with `ids`, one for each row."""

    @abstractmethod
    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> S:
        """Summarise the batches of some columns in a pass, as `Batches.reduce` does."""

    def adding(self, names: Sequence[str]) -> Any:
        """Return some columns of a database as `SqlRows`; None if the rows are read here."""
        return None

    def once(self, twice: bool) -> Self:
        """Return a store of these columns for one release: itself if the rows keep their order."""
        return self

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have all passes of a release compare the columns `names`, which choose the rows."""
        del names, key  # nothing to compare: the order of the rows is fixed


class Elsewhere(Store):
    """Columns that are not in memory, and are read in passes.

    Attributes
    ----------
    as_numbers : dict of str to AsNumbers
        Columns of times that are read as whole numbers.
    """

    as_numbers: Mapping[str, AsNumbers] = {}

    def column(self, name: str) -> Readable:
        return TableColumn(self, name)

    @abstractmethod
    def dtype(self, name: str | None) -> np.dtype[Any]:
        """Return the dtype of a column of numbers; `name` is None for data without column names."""

    @abstractmethod
    def describe(self, rows: Rows) -> tuple[np.dtype[Any], int | None]:
        """Return the dtype and the width of the rows that `rows` describes, or refuse them."""

    @abstractmethod
    def reduce_column(
        self, name: str | None, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]
    ) -> S:
        """Summarise a column of numbers in a pass, as `Source.reduce` does."""

    @abstractmethod
    def reduce_rows(
        self, rows: TableRows, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]
    ) -> S:
        """Summarise rows in a pass, as `RowSource.reduce` does."""

    def nulls(self, name: str | None) -> int | None:
        """Return about how many rows of a column are null, as `Source.nulls`."""
        return None

    def sample_column(
        self, name: str | None, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """Return a random sample of a column, or None, as `Source.sample` does."""
        return None

    def with_numbers(self, name: str, numbers: AsNumbers) -> Self:
        """Return these columns, with the column of times `name` read as whole numbers."""
        some = copy(self)
        some.as_numbers = {**self.as_numbers, name: numbers}
        return some

    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        return with_ids(TableRows(self, make, workers), ids)


class Columns(WithRows):
    """Some columns of a table, as data of a release; any other of the table can be added."""

    #: Whether a row is a record with names.
    is_table = True

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self.store = store
        self.names = tuple(names)
        self.held_columns = store.held_columns
        self.length = store.length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.names))}; {self.store.title})"

    def __getitem__(self, columns: Any) -> Any:
        """Return one column by its name or number, or a table of several columns."""
        names = [self.store.name_of(column, "column") for column in wanted_columns(columns)]
        if isinstance(columns, (list, tuple)):
            return self.store.table(distinct(names))
        return self.store.column(names[0])

    def once(self, twice: bool) -> Self:
        """Return these columns for one release; for `twice`, see `StreamReader.once`."""
        store = self.store.once(twice)
        if store is self.store:
            return self
        some = copy(self)
        some.store = store
        return some

    def source(self, name: str) -> Source:
        source = self if self.store.original is None else self.store.original
        checks.fail_kind(
            name, "one column, not a table", source, f": choose one, such as {self.first}"
        )

    @property
    def first(self) -> str:
        """The expression that selects the first column, for error messages."""
        collected = ".collect()" if type(self.store.original).__name__ == "LazyFrame" else ""
        return f"data{collected}[{next(iter(self.names), 'a')!r}]"

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        column = None
        if isinstance(ids, str):
            column, ids = self.store.name_of(ids, "ids"), None
            if self.names == (column,):
                rule = "one of several columns, because no other column would be left as data"
                checks.fail("ids", rule, column)
        names = tuple(name for name in self.names if name != column)
        return self.store.rows(Rows(names, column, is_table=self.is_table), ids, workers)

    def with_column(self, column: str, argument: str = "weights") -> Table:
        name = self.store.name_of(column, argument)
        return self.store.table([*(other for other in self.names if other != name), name])

    def coded(self, words: Sequence[Words | None], ids: Any = None) -> RowSource:
        column, ids = (ids, None) if isinstance(ids, str) else (None, ids)
        return self.store.rows(Rows(self.names, column, matched(self.names, words)), ids)


class Table(Columns):
    """Named columns of a table, whose rows `dpfast.sample_and_aggregate` can read.

    Attributes
    ----------
    names : tuple of str
    length : int or None
        Rows; None when that is not known without reading.
    """


class TableColumn(Columns):
    """One column of a table, or a whole array: a `Source` without nulls, or rows with NaN.

    A column of text or of dates holds no numbers. Reading it as numbers raises an error. It can be
    read as words or keys.
    """

    store: Elsewhere
    is_table = False

    def __init__(self, store: Elsewhere, name: str | None) -> None:
        super().__init__(store, () if name is None else (name,))
        self.name = name

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The declared dtype of the numbers, or the error that the column holds none."""
        return self.store.dtype(self.name)

    @property
    def nulls(self) -> int | None:
        return self.store.nulls(self.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.store.title!r})"

    def source(self, name: str) -> Source:
        _ = self.dtype
        return self

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return self.store.reduce_column(self.name, summarise, merge)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return self.store.sample_column(self.name, count, words)


class TableRows(Choosing):
    """Rows of a table, as numbers, matrix rows or records: a `RowSource`.

    Several columns make records of float64. A single column of files, which is not a table, is
    float64 if the schema allows nulls. Otherwise it has its own dtype.
    """

    array = None

    def __init__(self, store: Elsewhere, make: Rows, workers: int | None = None) -> None:
        self.workers = workers if workers is None else checks.whole("workers", workers, 1)
        self.store, self.make = store, make
        self.dtype, self.width = store.describe(make)
        self.length = store.length

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        return self.store.reduce_rows(self, summarise, merge)

    def only(self, columns: Collection[Any] | None) -> RowSource:
        make = self.make
        if columns is None or make.names is None or not make.is_table or make.ids:
            return self
        names = tuple(name for name in make.names if name in columns) or make.names[:1]
        words = {name: make.words[name] for name in names if name in make.words}
        return TableRows(self.store, Rows(names, words=words), self.workers)
