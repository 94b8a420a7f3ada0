"""Rows of one number or of several: what an estimator that is handed whole rows reads.

A `Source` is one column of numbers, from which nulls are dropped. Here every row keeps its place,
because blocks are a function of row numbers, and a missing number is NaN.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .array import ArraySource, ColumnSource, RowsSource
from .base import Source
from .foreign import ForeignRows
from .forms import Form, Named, Objects, Values, form_of
from .ids import as_ids, no_column
from .passes import MemoryRows
from .row_source import Choosing, RowSource, WithRows, named_dtype, refuse_columns
from .stretches import Column, as_column, records, side_by_side
from .words import RULE as TEXT
from .words import Words, matched, words_column

RULE = "rows of numbers"
#: Sources of this library that hold their column in memory.
IN_MEMORY = (ArraySource, ColumnSource, RowsSource)


def as_rows(
    data: Any,
    ids: Any = None,
    workers: int | None = None,
    name: str = "data",
    width: int | None = None,
) -> RowSource:
    """The rows of anything that holds some, with the ids beside them if asked for.

    Parameters
    ----------
    data : array, list, column, table, mapping of names to columns, or source
        A NumPy array of one or two dimensions keeps its dtype (in native byte order; bool becomes
        uint8 and float16 float32), and so does a structured array. A masked array, an Arrow
        column, and what has no dtype, like a list, are float64, NaN where there is no number. A
        table (of pandas, Polars or Arrow, a mapping, `dpfast.scan` with a
        list of columns) makes records of float64. A `Source` is one column, of float64 if it can
        have nulls.
    ids : array, list, column or str, optional
        As many ids as there are rows, or the name of a column, which then is no part of the rows.
    workers : int, optional
        Threads of a pass; the library's default if left out. They do not change the rows.
    name : str
        What messages call the data.
    width : int, optional
        How many numbers a row has of what has no dtype, and does not say so itself; by default it
        is one column.

    Returns
    -------
    RowSource
        Nothing has been read. Which dtype it has is a matter of types and schemas: no number, and
        no null, has a say in it, nor in whether there is an error.

    Raises
    ------
    ArgumentTypeError
        Data or ids of a kind that cannot be read; a column that holds no numbers.
    ArgumentError
        Ids that name no column.
    SourceError
        The same in a file.
    MissingExtraError
        Without pyarrow, when the data need it.

    Notes
    -----
    A list may hold what is no number, or rows of another length: that is a fact about the rows and
    shows in the pass, as a `DataError`. So do ids, and columns beside the first, that are more or
    fewer than the rows, whose number may be private.
    """
    form = form_of(data, name, RULE)
    if isinstance(form, WithRows):
        return form.rows(ids, workers)
    if isinstance(form, Values) and form.array.dtype.names is not None:
        return _records(form.given, ids, workers, name)
    if isinstance(form, Named):
        columns = form.columns
        if isinstance(ids, str):
            others = {key: column for key, column in columns.items() if key != ids}
            ids = columns[ids] if ids in columns else no_column(ids, columns)
            columns = others
        return table_rows(columns, ids, workers, name)
    if isinstance(form, RowSource):
        if ids is not None:
            checks.fail_kind("ids", "left out, for such data bring their own", ids)
        return form
    beside = None if ids is None else as_ids(ids)
    if isinstance(form, Source) and not isinstance(form, IN_MEMORY):
        return ForeignRows(form, beside)
    return MemoryRows(as_column(form, name, RULE, width), beside, workers)


def feature_rows(
    data: Any, width: int | None, words: Sequence[Words | None] = (), name: str = "X"
) -> RowSource:
    """Rows of several columns; `words` as in `coded_rows`, if there are any.

    `width` is how many columns the call says that there are, or None.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        As in `as_rows` and `coded_rows`; for data without a dtype, like a list, of which neither
        they nor the call say how many columns they have.
    """
    form = form_of(data, name, RULE)
    if isinstance(form, Objects) and (width is None or len(words) > 1):
        rule = "an array or a table, or bounds a pair for each column"
        checks.fail_kind(name, rule, data, ", which does not say what its columns are")
    return coded_rows(form, words, name) if any(words) else as_rows(form, name=name, width=width)


def with_column(
    data: Any,
    column: str,
    argument: str,
    name: str = "data",
    words: Sequence[Words | None] = (),
    own: Words | None = None,
) -> RowSource:
    """The rows of a table, or of one column of a file, with the column of that name as the last.

    `argument` is what asks for it. Of the other columns those with `words`, as in `coded_rows`, are
    text, and so is this one if it has its `own`.
    """
    form = form_of(data, name, RULE)
    if isinstance(form, WithRows):
        table = form.beside(column)
        every = _every(words, own, len(table.names))
        return table.coded(every) if any(every) else table.rows()
    fields = _fields(form) or {}
    if column not in fields:
        no_column(column, fields, argument)
    last = fields.pop(column)
    fields = {**fields, column: last}
    return table_rows(
        fields, None, None, name, matched(list(fields), _every(words, own, len(fields)))
    )


def _every(words: Sequence[Words | None], own: Words | None, columns: int) -> list[Words | None]:
    """The words of all columns, of which the last has its own; without any, all are numbers."""
    return [*(words or [None] * (columns - 1)), own]


def coded_rows(data: Any, words: Sequence[Words | None], name: str = "data") -> RowSource:
    """Rows of columns of which some are text, which is read as the numbers of public words.

    Parameters
    ----------
    data : column, table, mapping of names to columns, or something scanned
        As in `as_rows`.
    words : sequence of Words or None
        For each column, in order; None for one of numbers.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        As in `as_rows`; for a column that holds no text, and for another number of columns.
    """
    form = form_of(data, name, TEXT)
    if isinstance(form, WithRows):
        return form.coded(words)
    fields = _fields(form)
    if fields is None and isinstance(form, Values) and form.array.ndim == 2:
        fields = {str(j): form.given[:, j] for j in range(form.array.shape[1])}
    if fields is not None:
        return table_rows(fields, None, None, name, matched(list(fields), words))
    (own,) = matched([name], words).values()
    return MemoryRows(words_column(form, own, name))


def _fields(form: Form) -> dict[str, Any] | None:
    """The columns that have names; None if there are none."""
    if isinstance(form, Named):
        return dict(form.columns)
    if isinstance(form, Values) and form.array.dtype.names is not None:
        return {str(key): form.given[key] for key in form.array.dtype.names}
    return None


def only(source: RowSource, columns: Collection[Any] | None) -> RowSource:
    """The rows of a source for somebody who looks at no other columns; see `Choosing`."""
    return source.only(columns) if isinstance(source, Choosing) else source


def table_rows(
    columns: Mapping[str, Any],
    ids: Any,
    workers: int | None,
    name: str,
    words: Mapping[str, Words] | None = None,
) -> RowSource:
    """Records of float64 from columns of one length; `ids` are values.

    Columns of text are read as numbers of `words`.
    """
    if not columns:
        checks.fail_kind(name, "a table with a column of numbers", columns)
    coded = {} if words is None else words
    rule = "numbers (choose columns, or give it as ids)"
    if coded:
        rule = "numbers, or have categories that are text"
    made = {
        key: as_column(column, f"column {key!r} of {name}", rule)
        if key not in coded
        else words_column(column, coded[key], f"column {key!r} of {name}")
        for key, column in columns.items()
    }
    length = next(iter(made.values())).length
    for key, column in made.items():
        if column.width is not None:
            checks.fail_kind(f"column {key!r} of {name}", "one number a row", columns[key])
    if all(column.length == length for column in made.values()):
        whole = side_by_side(made)
    else:
        whole = Column(named_dtype(tuple(made)), length, refuse_columns)
    return MemoryRows(whole, None if ids is None else as_ids(ids), workers)


def _records(data: NDArray[Any], ids: Any, workers: int | None, name: str) -> RowSource:
    """A structured array, which keeps the types of its fields; masked, it is a table."""
    if isinstance(data, np.ma.MaskedArray):
        fields = {str(key): data[key] for key in data.dtype.names or ()}
        if isinstance(ids, str):
            ids = fields.pop(ids) if ids in fields else no_column(ids, fields)
        return table_rows(fields, ids, workers, name)
    data = np.asarray(data)
    without = ids if isinstance(ids, str) else None
    if without is not None:
        names = data.dtype.names or ()
        ids = data[without] if without in names else no_column(without, names)
    column = records(data, without, name)
    return MemoryRows(column, None if ids is None else as_ids(ids), workers)
