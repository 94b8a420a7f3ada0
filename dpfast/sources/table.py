"""Rows of one number or of several: what an estimator that is handed whole rows reads.

A `Source` is one column of numbers, from which nulls are dropped. Here every row keeps its place,
because blocks are a function of row numbers, and a missing number is NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .base import Choosing, RowSource, Source, WithRows, named_dtype, refuse_columns
from .foreign import ForeignRows
from .forms import Form, Named, Objects, Values, form_of
from .ids import as_ids, no_column
from .memory import F8, Column, MemoryRows, MemorySource, as_column, in_place
from .words import RULE as TEXT
from .words import Words, matched, words_column

RULE = "rows of numbers"


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


def rows_of(
    form: Form,
    ids: Any = None,
    workers: int | None = None,
    name: str = "data",
    width: int | None = None,
) -> RowSource:
    """Return the rows of a form; see `as_rows`."""
    if isinstance(form, WithRows):
        return form.rows(ids, workers)
    if isinstance(form, RowSource):
        if ids is not None:
            checks.fail_kind("ids", "left out, for such data bring their own", ids)
        return form
    columns, without = named_columns(form), None
    if columns is not None and isinstance(ids, str):
        without = ids
        ids = columns.pop(ids) if ids in columns else no_column(ids, columns)
    beside = None if ids is None else as_ids(ids)
    if columns is None and isinstance(form, Source) and not isinstance(form, MemorySource):
        return ForeignRows(form, beside)
    if columns is None:
        column = as_column(form, name, RULE, width)
    elif isinstance(form, Values) and not isinstance(form.given, np.ma.MaskedArray):
        column = records(form.array, without, name)
    else:
        column = of_numbers(columns, name)
    return MemoryRows(column, beside, workers)


def named_columns(form: Form) -> dict[str, Any] | None:
    """Return the columns that have names, each still to be told what it is, if there are any."""
    if isinstance(form, Named):
        return dict(form.columns)
    if isinstance(form, Values) and form.array.dtype.names is not None:
        return {str(key): form.given[key] for key in form.array.dtype.names}
    return None


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
    if not any(words):
        return features_of(form, width, name, several=len(words) > 1)
    if isinstance(form, Objects) and (width is None or len(words) > 1):
        refuse_objects(form, name)
    return coded_rows(form, words, name)


def features_of(form: Form, width: int | None, name: str, several: bool = False) -> RowSource:
    """Return rows of several columns of numbers; see `feature_rows`."""
    if isinstance(form, Objects) and (width is None or several):
        refuse_objects(form, name)
    return rows_of(form, name=name, width=width)


def refuse_objects(form: Objects, name: str) -> NoReturn:
    """Refuse data of which nobody says how many columns they have."""
    rule = "an array or a table, or bounds a pair for each column"
    checks.fail_kind(name, rule, form.rows, ", which does not say what its columns are")


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
        return beside_of(form, column, argument, name)
    if isinstance(form, WithRows):
        table = form.beside(column)
        return table.coded(_every(words, own, len(table.names)))
    fields = put_last(form, column, argument)
    coded = matched(list(fields), _every(words, own, len(fields)))
    return MemoryRows(of_words(fields, coded, name))


def beside_of(form: Form, column: str, argument: str, name: str) -> RowSource:
    """Return the rows of numbers of which the column of that name is the last."""
    if isinstance(form, WithRows):
        return form.beside(column).rows()
    return MemoryRows(of_numbers(put_last(form, column, argument), name))


def put_last(form: Form, column: str, argument: str) -> dict[str, Any]:
    """Return the named columns of a form, that of the given name behind all others."""
    fields = named_columns(form) or {}
    if column not in fields:
        no_column(column, fields, argument)
    last = fields.pop(column)
    return {**fields, column: last}


def _every(words: Sequence[Words | None], own: Words | None, columns: int) -> list[Words | None]:
    """Return the words of all columns, of which the last has its own; None for numbers."""
    return [*(words or [None] * (columns - 1)), own]


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
    form = form_of(data, name, TEXT)
    if isinstance(form, WithRows):
        return form.coded(words)
    fields = named_columns(form)
    if fields is None and isinstance(form, Values) and form.array.ndim == 2:
        fields = {str(j): form.given[:, j] for j in range(form.array.shape[1])}
    if fields is not None:
        return MemoryRows(of_words(fields, matched(list(fields), words), name))
    (own,) = matched([name], words).values()
    return MemoryRows(words_column(form, own, name))


def only(source: RowSource, columns: Collection[Any] | None) -> RowSource:
    """Return the rows of a source for somebody who looks at no other columns; see `Choosing`."""
    return source.only(columns) if isinstance(source, Choosing) else source


def of_numbers(columns: Mapping[str, Any], name: str) -> Column:
    """Return columns of numbers as records of float64."""
    rule = "numbers (choose columns, or give it as ids)"
    each = {key: single(columns[key], f"column {key!r} of {name}", rule) for key in columns}
    return beside_one_another(each, name)


def of_words(columns: Mapping[str, Any], words: Mapping[str, Words], name: str) -> Column:
    """Return columns as records of float64, those of text as the numbers of their words."""
    rule, each = "numbers, or have categories that are text", {}
    for key, column in columns.items():
        title, own = f"column {key!r} of {name}", words.get(key)
        each[key] = single(column, title, rule) if own is None else words_column(column, own, title)
    return beside_one_another(each, name)


def single(data: Any, title: str, rule: str) -> Column:
    """Return a column of one number a row."""
    column = as_column(data, title, rule)
    if column.width is not None:
        checks.fail_kind(title, "one number a row", data)
    return column


def beside_one_another(columns: dict[str, Column], name: str) -> Column:
    """Return columns as records; those of different lengths fail in the pass."""
    if not columns:
        checks.fail_kind(name, "a table with a column of numbers", columns)
    length = next(iter(columns.values())).length
    if all(column.length == length for column in columns.values()):
        return side_by_side(columns)
    return Column(named_dtype(tuple(columns)), length, refuse_columns)


def records(array: NDArray[Any], without: str | None, name: str) -> Column:
    """Return a structured array; with `without`, all its fields but that one.

    Its fields keep their types, in native byte order.
    """
    rule = "a one-dimensional array of records without objects"
    if array.ndim != 1 or not array.dtype.names:
        checks.fail_kind(name, rule, array, f" of {array.ndim} dimensions and {array.dtype}")
    kept = [field for field in array.dtype.names if field != without]
    if not kept:
        checks.fail("ids", "the name of one column of several", without)
    if any(array.dtype[field].hasobject for field in kept):
        checks.fail_kind(name, rule, array, f" of {array.dtype}")
    if without is None:
        native = np.dtype((np.void, array.dtype.newbyteorder("=")))
        direct = in_place(array, native)
    else:
        native = np.dtype([(field, array.dtype[field].newbyteorder("=")) for field in kept])
        direct = None

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        for field in kept:
            out[field] = array[field][start:stop]

    return Column(native, len(array), fill, None, direct)


def together(columns: Sequence[Column]) -> NDArray[Any] | None:
    """Return columns at equal distances in one memory, as those of a table often are, as a matrix.

    It is valid as long as the columns are. Columns with memories of their own make no matrix:
    NumPy may touch what lies between the columns of one.
    """
    arrays = [column.apart for column in columns if column.width is None]
    first = arrays[0] if arrays else None
    if first is None or len(arrays) < len(columns):
        return None
    kinds = {
        None if array is None else (array.dtype, array.shape, array.strides, id(_owner(array)))
        for array in arrays
    }
    places = [array.__array_interface__["data"][0] for array in arrays if array is not None]
    steps = {after - before for before, after in itertools.pairwise(places)} or {F8.itemsize}
    if len(kinds) > 1 or len(steps) > 1:
        return None
    shape, strides = (len(first), len(arrays)), (first.strides[0], steps.pop())
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def _owner(array: NDArray[Any]) -> Any:
    """Return the object that owns the memory of an array."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return owner


def side_by_side(columns: Mapping[str, Column]) -> Column:
    """Columns of one number a row and of one length, as records of float64."""
    made = list(columns.values())
    length, kind, matrix = made[0].length, named_dtype(tuple(columns)), together(made)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        if matrix is not None:
            out.view(np.float64).reshape(len(out), len(made))[...] = matrix[start:stop]
            return
        for key, column in columns.items():
            column.fill(start, stop, out[key])

    def only(names: Collection[Any] | None) -> Column:
        if names is None:
            return whole
        chosen = {name: column for name, column in columns.items() if name in names}
        return side_by_side(chosen or {next(iter(columns)): made[0]})

    direct = None
    if matrix is not None and matrix.dtype == F8 and matrix.flags.c_contiguous:
        direct = matrix.view(kind).reshape(length)
    whole = Column(kind, length, fill, None, direct, only=only)
    return whole
