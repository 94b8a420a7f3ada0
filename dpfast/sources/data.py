"""What the data of a call are: the one door, for arrays, tables, files and engines.

Everything here is told by types and schemas. No row is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any

import numpy as np

from .base import RowSource, Source
from .batch_reader import lazy_reader
from .columns import Columns, Table
from .dask import dask_form
from .forms import COLUMN, Form, Objects, is_distributed, is_lazy, is_spark, local_form, source_of
from .memory import MemorySource
from .spark import spark_form
from .table import RULE, coded_of, put_last, refuse_objects, rows_of
from .words import RULE as TEXT
from .words import Words


def form_of(data: Any, name: str, rule: str) -> Form:
    """Tell what `data` are: a column, a matrix, a table, a file, a source, or data of an engine.

    `rule` is what the argument `name` must be, for the error about what holds no data.

    Raises
    ------
    ArgumentTypeError
        For what can be read as nothing.
    """
    if type(data) in (np.ndarray, dict) or isinstance(data, MemorySource):  # what most calls have
        return local_form(data, name, rule)
    if is_lazy(data):
        reader = lazy_reader(data)
        return Table(reader, reader.schemas[0].names)
    if not is_distributed(data):
        return local_form(data, name, rule)
    return spark_form(data) if is_spark(data) else dask_form(data, name)


def once(data: Any, positional: Sequence[Any] = ()) -> Any:
    """Return data for one release: a stream as one whose passes in it are compared.

    What is `positional` stands at the rows by their numbers, unless it is None or a name.
    """
    if is_lazy(data):
        data = form_of(data, "data", RULE)
    if not isinstance(data, Columns):
        return data
    return data.once(any(not isinstance(one, (str, NoneType)) for one in positional))


def as_source(data: Any, name: str = "data") -> Source:
    """Return the source that reads `data`; a source is taken as it is."""
    if isinstance(data, MemorySource):
        return data
    return source_of(form_of(data, name, COLUMN), name)


def as_rows(
    data: Any,
    ids: Any = None,
    workers: int | None = None,
    name: str = "data",
    width: int | None = None,
) -> RowSource:
    """Return the rows of anything that holds some, with the ids beside them if asked for.

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
    return rows_of(form_of(data, name, RULE), ids, workers, name, width)


def feature_rows(
    data: Any, width: int | None, words: Sequence[Words | None] = (), name: str = "X"
) -> RowSource:
    """Return rows of several columns; `words` as in `coded_rows`, if there are any.

    `width` is how many columns the call says that there are, or None.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        As in `as_rows` and `coded_rows`; for data without a dtype, like a list, of which neither
        they nor the call say how many columns they have.
    """
    form = form_of(data, name, RULE)
    if len(words) > 1:
        width = None
    if not any(words):
        return rows_of(form, name=name, width=width, is_wide=True)
    if isinstance(form, Objects) and width is None:
        refuse_objects(form, name)
    return coded_of(form, words, name)


def with_column(
    data: Any,
    column: str,
    argument: str,
    name: str = "data",
    words: Sequence[Words | None] = (),
    own: Words | None = None,
) -> RowSource:
    """Return the rows of a table, or of one column of a file, with the column of that name as the
    last.

    `argument` is what asks for it. Of the other columns those with `words`, as in `coded_rows`, are
    text, and so is this one if it has its `own`.
    """
    form = form_of(data, name, RULE)
    if not any(words) and own is None:
        return rows_of(form, name=name, last=column, argument=argument)
    whole = form.beside(column) if isinstance(form, Columns) else put_last(form, column, argument)
    others = len(whole.names if isinstance(whole, Columns) else whole.columns) - 1
    return coded_of(whole, [*(words or [None] * others), own], name)


def coded_rows(data: Any, words: Sequence[Words | None], name: str = "data") -> RowSource:
    """Return rows of columns of which some are text, which is read as the numbers of public words.

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
    return coded_of(form_of(data, name, TEXT), words, name)
