"""Recognise the data of a call by type: arrays, tables, files, databases and engines.

Everything here depends on types and schemas only. No row is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any

import numpy as np

from .._core import checks
from .base import NO_ROWS, RowSource, S, Source, WithRows
from .batch_reader import lazy_reader
from .columns import Columns, Table
from .dask import dask_form
from .forms import COLUMN, Objects, Readable, is_distributed, is_lazy, is_spark, is_sql, source_of
from .ids import no_column
from .in_memory import local_form
from .memory import MemorySource
from .spark import spark_form
from .sql.store import SqlRows, sql_form
from .table import RULE, coded_of, rows_of
from .words import RULE as TEXT
from .words import Words


def form_of(data: Any, name: str, rule: str) -> Readable:
    """Return `data` as a column, matrix, table, file, source, or data of an engine, by type.

    `rule` says in errors what the argument `name` must be.

    Raises
    ------
    ArgumentTypeError
        For data of a type that cannot be read.
    """
    # The most frequent types.
    if type(data) in (np.ndarray, dict) or isinstance(data, MemorySource):
        return local_form(data, name, rule)
    if is_lazy(data):
        reader = lazy_reader(data)
        return Table(reader, reader.schemas[0].names)
    if not is_distributed(data):
        return local_form(data, name, rule)
    if is_sql(data):
        return sql_form(data, name)
    return spark_form(data) if is_spark(data) else dask_form(data, name)


def once(data: Any, positional: Sequence[Any] = (), relation: str = "add-remove") -> Any:
    """Return data for one release, in which the passes over a stream are compared.

    Each argument in `positional` is None, a name, or has an entry for each row, by row number. If
    conditions select the rows, the relation "replace" is refused, because a replaced row may start
    or cease to pass the conditions.
    """
    if is_lazy(data):
        data = form_of(data, "data", RULE)
    if not isinstance(data, Columns):
        return data
    if relation == "replace" and data.store.keep is not None:
        rule = "'add-remove' if conditions keep rows, because a replaced row may enter or leave"
        checks.fail("neighbors", rule, relation)
    return data.once(any(not isinstance(argument, (str, NoneType)) for argument in positional))


def as_source(data: Any, may_add: bool = False) -> Source:
    """Return a source of one column that reads `data`; a source is returned as it is.

    With `may_add`, the source may be rows in a database, which the database itself sums.
    """
    if isinstance(data, MemorySource):
        return data
    return _with_rows(source_of(form_of(data, "data", COLUMN)), "data", may_add)


def as_rows(
    data: Any,
    ids: Any = None,
    workers: int | None = None,
    name: str = "data",
    width: int | None = None,
    *,
    is_wide: bool = False,
    last: str | None = None,
    argument: str = "weights",
    words: Sequence[Words | None] = (),
    last_words: Words | None = None,
    may_add: bool = False,
) -> RowSource:
    """Return the rows of any readable data as a source, with ids if they are given.

    Parameters
    ----------
    data : array, list, column, table, mapping of names to columns, or source
        A NumPy array of one or two dimensions keeps its dtype, and so does a structured array. The
        byte order becomes native, bool becomes uint8, and float16 becomes float32. A masked array,
        an Arrow column, and data without a dtype, such as a list, are float64, with NaN for missing
        numbers. A table (of pandas, Polars or Arrow, a mapping, `dpfast.scan` with a list of
        columns) makes records of float64. A `Source` is one column, of float64 if it can have
        nulls.
    ids : array, list, column or str, optional
        An id for each row, or the name of the column of ids, which is then not part of the rows.
    workers : int, optional
        The number of threads of a pass. If left out, it is the library's default. It does not
        change the rows.
    name : str
        The name of the data in messages.
    width : int, optional
        The number of columns of data without a dtype, such as a list; by default 1.
    is_wide : bool
        Whether a row has several numbers. Then data without a dtype need a `width`.
    last : str, optional
        The name of a column that is put behind all others. `argument` is the argument that names
        the column.
    words : sequence of Words or None
        For each column, in order: the public words of a text column, which is read as the indices
        of its words, or None for a column of numbers.
    last_words : Words, optional
        The words of the `last` column.
    may_add : bool
        Whether rows of a database are accepted. They can only be added up in the database.

    Returns
    -------
    RowSource
        Nothing has been read. The dtype depends on types and schemas only, and so do errors. No
        number and no null changes them.

    Raises
    ------
    ArgumentTypeError
        If data or ids are of a type that cannot be read, or a column holds no numbers.
    ArgumentError
        If `ids` is not the name of a column.
    SourceError
        If `ids` is not the name of a column of a file, or a column of a file holds no numbers.
    MissingExtraError
        If the data need pyarrow, and it is not installed.

    Notes
    -----
    Whether a list holds values that are not numbers, or rows of another length, depends on the
    rows. So the pass raises this error, as a `DataError`. The pass also raises the error that ids,
    or columns after the first, are more or fewer than the rows, because the number of rows may be
    private.
    """
    rule = TEXT if any(words) and not is_wide and last is None else RULE
    table = form_of(data, name, rule)
    if last is not None:
        if not isinstance(table, WithRows):
            no_column(last, (), argument)
        table = table.with_column(last, argument)
        if last_words is not None or any(words):
            words = [*(words or [None] * (len(table.names) - 1)), last_words]
    if is_wide and isinstance(table, Objects) and (width is None or len(words) > 1):
        rule = "an array or a table, unless bounds has a pair for each column"
        checks.fail_kind(name, rule, table.rows, ", which does not declare its columns")
    if any(words):
        return _with_rows(coded_of(table, words, name, ids), name, may_add)
    return _with_rows(rows_of(table, ids, workers, name, width), name, may_add)


def _with_rows(source: S, name: str, may_add: bool) -> S:
    """Return `source`, or refuse rows in a database unless the caller `may_add` them up there."""
    if isinstance(source, SqlRows) and not may_add:
        checks.fail_kind(name, NO_ROWS, source)
    return source
