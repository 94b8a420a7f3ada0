"""Turn the arguments of a public function into one typed view of the data, by types alone.

A public function calls `read` once, with a function that chooses what is read: `all_columns`,
`each_column`, `one_column`, `whole_rows`, `text_column` or `rows_alone`. `read` reads no row. All
later code uses the view that it returns.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.tables import lies_in_place
from ..errors import ArgumentError, ArgumentTypeError, SourceError
from .base import RowSource, Source, width_of
from .columns import Columns, Elsewhere, Rows, Store, Table
from .data import as_rows, as_source, form_of
from .engine import of_engine, refuse_array
from .filtered import MASK, condition_of, is_expression, passing
from .forms import (
    COLUMN,
    Arrow,
    MemoryColumn,
    Objects,
    Readable,
    Values,
    as_column,
    names_of,
    source_of,
)
from .labels import aligned, labels_of
from .mapped import MappedColumn
from .masked import MaskedSource, mask
from .memory import ArraySource, Column, MemorySource
from .people import IdColumn, split_units
from .public_values import expect_matches, numbers_of
from .sql.store import Database, SqlRows
from .table import RULE, column_of, only_column, refuse_columns
from .times import AsNumbers, Clipped, times_of
from .words import Words, holds_words

#: The name of an argument, and its public numbers, with which a column is compared.
Public: TypeAlias = tuple[str, Sequence[Any]]

RECORDS = "0 (or -2), for an answer of each column, or left out if the data are one column"


@dataclass(slots=True)  # not frozen, which would take a microsecond more for each
class View:
    """The data that a release reads, with the mask, weights and ids that belong to rows.

    Attributes
    ----------
    source : Source, RowSource or list of Source
        One column, whole rows, or a list of columns that are read one by one.
    by_column : bool
        Whether each column has a separate answer.
    width : int
        The number of columns, without the weights.
    where : ndarray of bool or None
        The rows that are used.
    weights : Column or None
        The weights of the rows. If a column of the data holds the weights, it is the last column.
    ids : IdColumn or None
        The id of the privacy unit of each row.
    adds : bool
        Whether the rows can only be added up in a database.
    has_labels : bool
        Whether a pass must be made to compare labels.
    words : dict of str to list of str, optional
        The words of text columns that are read as numbers. If words come from rows, the lists are
        complete only after a pass.
    data : object
        The data of the call, which may have names of columns.
    """

    source: Any
    by_column: bool
    width: int
    where: NDArray[np.bool_] | None
    weights: Column | None = None
    ids: IdColumn | None = None
    adds: bool = False
    has_labels: bool = False
    words: Any = None
    data: Any = None

    @property
    def _sources(self) -> list[Any]:
        """The sources to read: one for each column, or one for all."""
        return self.source if isinstance(self.source, list) else [self.source]

    @property
    def length(self) -> int | None:
        """The number of rows; None when that is not known without reading."""
        length: int | None = self._sources[0].length
        return length

    @property
    def is_whole(self) -> bool:
        """Whether all columns hold integers, by their types."""
        for source in self._sources:
            if not (source.is_whole if isinstance(source, SqlRows) else source.dtype.kind in "iu"):
                return False
        return True

    @property
    def engine(self) -> str:
        """The kind of engine that reads the rows, as `Store.engine`; "memory" if there is none."""
        data = self.data if isinstance(self.data, Columns) else self._sources[0]
        store = checks.attribute(data, "store")
        return store.engine if isinstance(store, Store) else "memory"

    @property
    def named(self) -> tuple[str, ...]:
        """The names of the columns of the data; empty if the columns have no names."""
        return names_of(self.data)

    @property
    def condition(self) -> str | None:
        """The condition that rows must pass to count, as text; None if all rows count."""
        if self.where is not None:
            return MASK
        source = self._sources[0]
        return condition_of(source if isinstance(source, SqlRows) else self.data)

    def chosen(self, most: int, secret: str) -> View:
        """Return a view of at most `most` random rows of each unit, for rows in a database."""
        assert self.ids is not None
        some = [rows.chosen(self.ids.column, most, secret) for rows in self._sources]
        return replace(self, source=some if isinstance(self.source, list) else some[0])

    @property
    def columns(self) -> list[Source]:
        """The sources of columns that are read one by one."""
        assert isinstance(self.source, list)
        return self.source

    @property
    def kept(self) -> Any:
        """The source to read, or the list of sources, with only the rows that `where` keeps."""
        source: Any = self.source
        if self.where is None:
            return source
        if isinstance(source, list):
            return [MaskedSource(column, self.where) for column in source]
        return MaskedSource(source, self.where)


#: A source; whether each column has its own answer; and the number of columns.
Chosen: TypeAlias = tuple[Any, bool, int]


class RowArguments(NamedTuple):
    """The arguments of a call that belong to rows; `ids` only where rows are read whole."""

    axis: Any = None
    weights: Any = None
    ids: Any = None

    @property
    def last(self) -> str | None:
        """The name of the column of weights, if the weights are given by name."""
        return self.weights if isinstance(self.weights, str) else None


def read(
    data: Any,
    what: Callable[..., Chosen],
    *arguments: Any,
    relation: str,
    axis: Any = None,
    where: Any = None,
    weights: Any = None,
    ids: Any = None,
    with_ids: bool = False,
) -> View:
    """Return one view of the data and of the other row arguments, by their types alone.

    Parameters
    ----------
    data : array_like, table, file or source
    what : callable
        One of the functions below, which chooses what is read. It gets the data without ids, and
        the arguments with an entry for each row (`RowArguments`).
    *arguments
        Further arguments of `what`.
    relation : {"replace", "add-remove"}
        The neighboring relation. Under "replace" the number of rows is public, so errors here may
        depend on it.
    axis : {None, 0}
        0 if the data have several columns, each with an answer.
    where : array_like of bool, or pyarrow.compute.Expression, optional
    weights : array_like or str, optional
        One number a row, or the name of a column of the data.
    ids : str or form, optional
        As `ids.checked` returns them.
    with_ids : bool, default False
        Whether rows are read whole, each with its id.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        If an argument cannot be read. The contents of the rows do not matter.
    """
    if is_expression(where):
        data, where = passing(data, where), None
    left, id_column = split_units(data, ids, axis, positional=(where, weights), relation=relation)
    row_arguments = RowArguments(
        axis, weights, id_column.original if with_ids and id_column is not None else None
    )
    source, by_column, width = what(left, row_arguments, *arguments)
    first = source[0] if isinstance(source, list) else source
    if isinstance(first, SqlRows):
        if weights is not None and row_arguments.last is None:
            refuse_array("weights", weights)
        kept = [
            from_column.filtered(where)
            for from_column in (source if isinstance(source, list) else [source])
        ]
        rows = kept if isinstance(source, list) else kept[0]
        return View(rows, by_column, width, None, ids=id_column, adds=True, data=data)
    column = None if row_arguments.last is not None else _weights(weights, first, relation)
    mask = _mask(where, first, relation)
    labels = labels_of(data, where, weights, ids)
    facts = {"has_labels": len(labels) > 1, "data": data}
    return View(aligned(source, labels), by_column, width, mask, column, id_column, **facts)


def plain(data: Any) -> View | None:
    """Return the view of an array that kernels read without a copy; None for any other data.

    The view is the result of `read` for one column without other row arguments.
    """
    if type(data) is np.ndarray and lies_in_place(data):
        return View(ArraySource(data), False, 1, None)
    return None


def _weights(weights: Any, source: Source | RowSource, relation: str) -> Column | None:
    """Return the weights of the rows as a column; None if `weights` is None."""
    if weights is None:
        return None
    if of_engine(source):
        refuse_array("weights", weights)
    weight_column = as_column(
        weights, "weights", "one number for each row, or the name of a column"
    )
    if weight_column.width is not None:
        checks.fail_kind("weights", "one number for each row", weights)
    checks.entries("weights", weight_column.length, source.length, relation)
    return weight_column


def all_columns(
    data: Any, row_arguments: RowArguments, columns: int | None = None, public: Public | None = None
) -> Chosen:
    """Choose one column, or with an axis all columns, to be read in one pass.

    `columns` is the number of columns of a list, which does not state it. `public` numbers are
    compared with each column.
    """
    table, last, width = form_of(data, "data", RULE), row_arguments.last, 1
    by_column = axis_of(row_arguments.axis, table, last is not None)
    source: Any = None
    if row_arguments.weights is None and row_arguments.ids is None:
        source = lying_apart(table) if by_column else source_of(table)
    if source is None:
        many = columns if by_column else None
        rows = as_rows(
            table, row_arguments.ids, width=many, is_wide=by_column, last=last, may_add=True
        )
        source, width = rows, width_of(rows) - (last is not None)
    elif by_column:
        width = len(source)
    if last is not None and not width:
        rule = "one of several columns, because no other column would be left as data"
        checks.fail("weights", rule, last)
    if last is not None and row_arguments.axis is None and width > 1:
        checks.fail("axis", RECORDS, row_arguments.axis)
    if public is not None:
        expect_numbers(repeat(public), table, last)
    return source, by_column, width


def each_column(data: Any, row_arguments: RowArguments, columns: int | None = None) -> Chosen:
    """Choose one column, or with an axis all columns, each to be read separately."""
    table = form_of(data, "data", RULE)
    if not axis_of(row_arguments.axis, table):
        return as_source(table, may_add=True), False, 1
    sources = each_alone(table, columns)
    return sources, True, len(sources)


def one_column(data: Any, row_arguments: RowArguments, public: Public | None = None) -> Chosen:
    """Choose one column, and refuse `public` numbers that cannot occur in it."""
    if public is not None:
        data = form_of(data, "data", COLUMN)
        expect_numbers([public], data)
    return as_source(data, may_add=True), False, 1


def whole_rows(
    data: Any,
    row_arguments: RowArguments,
    argument: str,
    width: int | None,
    words: Sequence[Words | None] = (),
    single: bool = False,
    public: Sequence[Public | None] = (),
) -> Chosen:
    """Choose rows of `width` columns, as many as `argument` has; None for any number.

    Columns with `words` are text, and are read as indices in these lists. For a `single` column,
    data without a dtype, such as a list, are the numbers of the column, and not rows of one number.
    `public` numbers are compared with their columns.
    """
    last = row_arguments.last
    if any(public):
        data = form_of(data, "data", RULE)
        expect_numbers(public, data, last)
    source = as_rows(
        data,
        row_arguments.ids,
        width=None if single else width,
        is_wide=width is None and last is None and not any(words),
        last=last,
        words=words,
        may_add=True,
    )
    data_width = width_of(source) - (last is not None)
    if width is not None:
        checks.columns(argument, width, data_width)
    return source, False, data_width


def text_column(data: Any, row_arguments: RowArguments, words: Words) -> Chosen:
    """Choose a column of text, read as indices of public words, and its weights or ids."""
    if row_arguments.axis is not None:
        rule = f"left out, because {words.name} is text and the data are one column"
        checks.fail("axis", rule, row_arguments.axis)
    source, _, width = whole_rows(data, row_arguments, words.name, 1, [words], True)
    if (
        row_arguments.weights is None
        and row_arguments.ids is None
        and not isinstance(source, SqlRows)
    ):
        source = only_column(source)
    return source, False, width


def expect_numbers(
    public: Iterable[Public | None], table: Readable, without: str | None = None
) -> None:
    """Refuse public numbers that, by the types of their columns, cannot equal any row."""
    columns = [typed for name, typed in declared(table) if name is None or name != without]
    for value, typed in zip(public, columns, strict=False):
        if value is None or isinstance(typed, Objects) or numbers_of(typed) is None:
            continue  # whoever reads the column refuses it
        expect_matches(*value, typed, "the column")


def declared(table: Readable) -> list[tuple[str | None, Objects | Values | Arrow]]:
    """Return the columns of data by name, for their types: columns of files have no rows here.

    Cells of a file of text are numbers here.
    """
    if isinstance(table, Columns):
        return [(name, table.store.typed(name)) for name in table.names]
    if isinstance(table, Values) and table.array.ndim == 2:
        return [(None, Values(column, column)) for column in table.array[:0].T]
    return [(None, table)] if isinstance(table, (Objects, Values, Arrow)) else []


def rows_alone(data: Any, row_arguments: RowArguments) -> Chosen:
    """Choose only the number of rows of any column or table; no value is used.

    If the number is not known without a pass, the pass reads a column as text, in which no cell is
    invalid, or else a column of numbers.
    """
    return _rows_alone(form_of(data, "data", RULE)), False, 1


def _rows_alone(table: Readable) -> Source | SqlRows:
    """Return a source with as many rows as the data, whose values have no meaning."""
    length: int | None = None
    if isinstance(table, Columns):
        length = table.length
        if length is None and table.held_columns:
            return _uneven(ArraySource(np.empty(0)))
    elif isinstance(table, (Values, Arrow)):
        length = _length(table)
    if length is not None:
        return ArraySource(np.broadcast_to(np.uint8(0), length))
    if isinstance(table, Columns) and table.names:
        return _any_column(table)
    return each_alone(table)[0] if has_columns(table) else source_of(table)


def _any_column(columns: Columns) -> Source | SqlRows:
    """Return a source of one of several columns, to find the number of rows.

    If a column's type cannot be read, or differs between files, another column is taken.
    """
    store = columns.store
    if isinstance(store, Database):
        return store.rows(Rows(()))
    typed: dict[str, MemoryColumn] = {}
    refusal: Exception | None = None
    for name in columns.names:
        try:
            typed[name] = store.typed(name, True)
        except (ArgumentTypeError, SourceError) as error:
            refusal = error
    if refusal is not None and not typed:
        raise refusal
    for name, column in typed.items():
        if holds_words(column):  # the values are text
            return only_column(Table(store, [name]).coded([Words([])]))
    name, column = next(iter(typed.items()))
    times = times_of(column)
    if times is not None:
        assert isinstance(store, Elsewhere)
        store = store.with_numbers(name, AsNumbers(times, Clipped(0, 0, 0)))
    return source_of(store.column(name))


def _length(column: Objects | Values | Arrow) -> int:
    """Return how many rows a column or a matrix has."""
    if isinstance(column, Values) and column.array.ndim not in (1, 2):
        column.column("data", "an array of one or two dimensions")
    return column.length


def axis_of(axis: Any, table: Readable, weighted: bool = False) -> bool:
    """Tell whether each column of the data gets a separate answer, and check `axis`.

    Data without a dtype, such as a list, are one column or several columns, depending on `axis`.
    With a column of weights there are several columns; if `axis` is left out, one has an answer.
    """
    if axis is not None and (
        isinstance(axis, bool) or not isinstance(axis, numbers.Integral) or axis not in (0, -2)
    ):
        checks.fail("axis", RECORDS, axis)
    several = has_columns(table) or (axis is not None and isinstance(table, Objects))
    if several and axis is None and not weighted:
        raise ArgumentError(
            f"data must be one column, {several_of(table)}, or pass axis=0 for each column"
        )
    if axis is not None and not several:
        source_of(table)  # raises a better error for what is no column
        checks.fail("axis", "left out for one column of data", axis)
    return several and axis is not None


def has_columns(table: Readable) -> bool:
    """Tell whether data are a matrix, or a table of named columns, by their type."""
    if isinstance(table, Columns):
        return isinstance(table, Table)
    if isinstance(table, Values):
        return table.array.ndim == 2
    if isinstance(table, MemorySource):  # checked before the protocol, which is slow to check
        return False
    if isinstance(table, RowSource) and not isinstance(table, Source):
        return table.dtype.names is not None or (table.width or 1) > 1
    return False


def several_of(table: Any) -> str:
    """Return the part of an error about data with several columns: how to select one."""
    if isinstance(table, Columns):
        kind = "table" if table.store.original is None else type(table.store.original).__name__
        return f"got a {kind} of {_columns(len(table.names))}: choose one, as {table.first}"
    is_array = isinstance(table, Values)
    width = len(table.array.T) if is_array else table.width or len(table.dtype.names or ())
    return f"got {_columns(width)}: choose one, as data[:, 0]"


def _columns(many: int) -> str:
    return f"{many} column{'s' * (many != 1)}"


def lying_apart(table: Readable) -> list[Source] | None:
    """Return a source for each column if columns are stored separately in memory; else None."""
    if isinstance(table, Table) and table.store.lies_apart:
        return columns_of(table)
    if not (isinstance(table, Values) and table.array.ndim == 2):
        return None
    array, mask = table.array, table.mask
    down, across = array.strides
    if abs(down) >= abs(across):
        return None
    if not array.shape[1]:
        checks.fail_kind("data", "a matrix of numbers", table.original, " without columns")
    masks = [None] * array.shape[1] if mask is None else list(mask.T)
    return list(map(ArraySource, array.T, masks))


def columns_of(table: Table, read: Mapping[str, Source] = MappingProxyType({})) -> list[Source]:
    """Return a source for each column of a table; a pass refuses columns of different lengths.

    A column that `read` gives no source for must hold numbers.
    """
    column = table.store.column
    columns = [
        read[name] if name in read else source_of(column(name), f"column {name!r} of data")
        for name in table.names
    ]
    if not columns:
        checks.fail_kind("data", "a table with at least one column of numbers", table)
    is_even = len({column.length for column in columns}) == 1
    return columns if is_even else list(map(_uneven, columns))


def each_alone(table: Readable, width: int | None = None) -> list[Source]:
    """Return a source for each column of any table or matrix.

    `width` is the number of columns of data without a dtype, such as a list.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        If a column holds no numbers.
    """
    columns = columns_of(table) if isinstance(table, Table) else lying_apart(table)
    if columns is not None:
        return columns
    source = as_rows(table, width=width, is_wide=True, may_add=True)
    keys: Sequence[Any] = source.dtype.names or range(source.width or 1)
    if source.array is None:
        return [column_of(source, key) for key in keys]
    named = source.dtype.names is not None
    return [ArraySource(source.array[key] if named else source.array[:, key]) for key in keys]


def _mask(where: Any, source: Source | RowSource, relation: str) -> NDArray[np.bool_] | None:
    """Return `where` as a mask of the rows of a source; None if `where` is None."""
    if where is not None and of_engine(source):
        refuse_array("where", where)
    return mask(where, source.length, relation)


def _uneven(source: Source) -> Source:
    """Return a column whose passes raise that columns differ in length."""
    return MappedColumn(source, None, refuse_columns, length=None)
