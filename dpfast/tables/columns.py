"""Columns of tables: in memory, in files and streams, in the partitions of an engine.

A `Store` reads its columns by name, as often as asked, and says of each what its type is. What a
release is given of it are `Columns`: a `Table` of some, or one `TableColumn`. A batch of a file and
a partition of an engine are data in memory to whoever is given them, so both become numbers, words
and ids as such data do anywhere.
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

#: Rows of a batch: enough that the calls for it cost little, few enough for a cache.
ROWS = 1 << 17


class Want(NamedTuple):
    """Which columns a pass reads; those of `text` as cells where no type is declared.

    Those of `words` have few different entries, and may come as dictionaries.
    """

    names: tuple[str, ...]
    text: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Batch(NamedTuple):
    """Some consecutive rows, from number `start` on: a piece of each column, by name.

    It is valid until whoever is given it returns. An empty table makes one batch without columns.
    """

    start: int
    rows: int
    columns: Mapping[str, MemoryColumn]


def chosen(table: Readable, names: Sequence[str]) -> Table:
    """Return some columns of a table in memory."""
    if not (isinstance(table, Table) and set(names) <= set(table.names)):
        refuse_type()
    return table.store.table(names)


def refuse_type() -> NoReturn:
    """Raise the error of rows that are not of the type that was declared of them."""
    raise DataError("a partition has other types than its table declares: convert its columns")


@dataclass(frozen=True)
class Rows:
    """Which rows are made of data in memory; it may travel to where these are.

    Parameters
    ----------
    names : tuple of str, or None
        The columns; None for all of a matrix.
    ids : str, optional
        The column of ids, which is none of these.
    words : dict of str to Words, optional
        Of the columns that are text.
    is_table : bool
        Whether a row is a record; else it is a number of the one column.
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
        """All columns that are read; None for all there are."""
        return self.names if self.names is None or self.ids is None else (*self.names, self.ids)


class Store:
    """Columns by name that are read as often as asked.

    Attributes
    ----------
    length : int or None
        Rows; None when that is not known without reading.
    pieces : dict of str to MemoryColumn
        The columns, where they lie in memory.
    given : object
        What the columns were made of, if it is known.
    lies_apart : bool
        Whether each column is best read by itself.
    has_order : bool
        Whether rows have numbers, by which arrays can stand beside them.
    engine : str
        What reads the rows: "memory", "files", "dask", "spark", or the kind of a database.
    keep : callable or None
        What says which rows are kept, where conditions do; how many these are is private.
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
        """What `repr` calls it: a file, the table of a database, or the data of an engine."""
        return "memory"

    @abstractmethod
    def name_of(self, column: Any, argument: str) -> str:
        """Return the name of the column that `argument` names; refuse one that is not there."""

    @abstractmethod
    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        """Return a column of no rows, of the type of the one that is there.

        Where columns have no types, `is_text` says which one is wanted.
        """

    def cells(self, name: str) -> CellTexts | None:
        """Return what the cells of a column of a file of text can be; None of a typed column."""
        return None

    def check_numbers(self, name: str) -> None:
        """Refuse a column that holds no numbers, by its type."""
        self.typed(name).column(f"column {name!r} of data", "numbers")

    def alike(self, key: Hashable, make: Callable[[], S]) -> S:
        """Return what `make` returns; releases of one grouping side by side make it once a key."""
        return make()

    @abstractmethod
    def column(self, name: str) -> Readable:
        """Return one column as data."""

    def table(self, names: Sequence[str]) -> Table:
        """Return some columns as data."""
        return Table(self, names)

    @abstractmethod
    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        """Return rows; `ids`, if they are no column, are as many as there are rows."""

    @abstractmethod
    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> S:
        """Make a pass over batches of some columns, as `Batches.reduce` does."""

    def adding(self, names: Sequence[str]) -> Any:
        """Return `SqlRows` of some columns, of a database; None where rows are read."""
        return None

    def once(self, twice: bool) -> Self:
        """Return what reads the rows for one release: itself, where the rows keep their order."""
        return self

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have all passes of a release agree about the columns `names`, which choose the rows."""
        del names, key  # the rows keep their order


class Elsewhere(Store):
    """Columns that do not lie in memory: what is read of them are passes.

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
        """Return the type of a column of numbers; `name` is None for data without columns."""

    @abstractmethod
    def describe(self, rows: Rows) -> tuple[np.dtype[Any], int | None]:
        """Return the dtype and the width of rows; refuse rows that these columns do not have."""

    @abstractmethod
    def reduce_column(
        self, name: str | None, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]
    ) -> S:
        """Make a pass over a column of numbers, as `Source.reduce` does."""

    @abstractmethod
    def reduce_rows(
        self, rows: TableRows, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]
    ) -> S:
        """Make a pass over rows, as `RowSource.reduce` does."""

    def nulls(self, name: str | None) -> int | None:
        """As `Source.nulls`."""
        return None

    def sample_column(
        self, name: str | None, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """As `Source.sample`."""
        return None

    def with_numbers(self, name: str, numbers: AsNumbers) -> Self:
        """Return the same columns, of which one of times is read as whole numbers."""
        some = copy(self)
        some.as_numbers = {**self.as_numbers, name: numbers}
        return some

    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> RowSource:
        return with_ids(TableRows(self, make, workers), ids)


class Columns(WithRows):
    """Some columns of a table, of which one more may stand beside."""

    #: Whether a row is a record.
    is_table = True

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self.store = store
        self.names = tuple(names)
        self.held_columns = store.held_columns
        self.length = store.length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.names))}; {self.store.title})"

    def __getitem__(self, columns: Any) -> Any:
        """Return one column by its name or number, or a table of several."""
        names = [self.store.name_of(column, "column") for column in wanted_columns(columns)]
        if isinstance(columns, (list, tuple)):
            return self.store.table(distinct(names))
        return self.store.column(names[0])

    def once(self, twice: bool) -> Self:
        """Return the same columns for one release; `twice` is said by `StreamReader.once`."""
        store = self.store.once(twice)
        if store is self.store:
            return self
        some = copy(self)
        some.store = store
        return some

    def source(self, name: str) -> Source:
        source = self if self.store.original is None else self.store.original
        checks.fail_kind(name, "one column, not a table", source, f": name one, as {self.first}")

    @property
    def first(self) -> str:
        """How a message names the first column."""
        collected = ".collect()" if type(self.store.original).__name__ == "LazyFrame" else ""
        return f"data{collected}[{next(iter(self.names), 'a')!r}]"

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        column = None
        if isinstance(ids, str):
            column, ids = self.store.name_of(ids, "ids"), None
            if self.names == (column,):
                checks.fail("ids", "a column beside those of the data", column)
        names = tuple(name for name in self.names if name != column)
        return self.store.rows(Rows(names, column, is_table=self.is_table), ids, workers)

    def with_column(self, column: str, argument: str = "weights") -> Table:
        name = self.store.name_of(column, argument)
        return self.store.table([*(other for other in self.names if other != name), name])

    def coded(self, words: Sequence[Words | None], ids: Any = None) -> RowSource:
        column, ids = (ids, None) if isinstance(ids, str) else (None, ids)
        return self.store.rows(Rows(self.names, column, matched(self.names, words)), ids)


class Table(Columns):
    """Named columns: rows for `dpfast.sample_and_aggregate`, and no one column.

    Attributes
    ----------
    names : tuple of str
    length : int or None
        Rows; None when that is not known without reading.
    """


class TableColumn(Columns):
    """One column, or all there is: a `Source`, which drops nulls, or rows, which do not.

    A column of text or of dates is none of numbers: whoever reads it as one gets the error that
    says so, and others say what its words or keys are.
    """

    store: Elsewhere
    is_table = False

    def __init__(self, store: Elsewhere, name: str | None) -> None:
        super().__init__(store, () if name is None else (name,))
        self.name = name

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type that is declared, or the error that it is not one of numbers."""
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
    """Rows of several numbers, or records, of a table: a `RowSource`.

    Several columns make records of float64. One column of files that is no table makes float64
    where the schema allows nulls, and its own dtype where it does not.
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
