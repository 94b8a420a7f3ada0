"""Check the ids of rows, read them in any representation, and attach them to rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from .._core import checks
from ..errors import DataError
from .base import RowChunk, RowSource
from .forms import Arrow, MemoryColumn, Objects, Values, column_form, title_of
from .key_words import RULE, key_kind
from .mapped import MappedRows, expect_rows
from .pick import listed, nearest


def with_ids(rows: RowSource, ids: Any) -> RowSource:
    """Return rows with an id for each row, if `ids` are given."""
    if ids is None:
        return rows
    column = as_ids(ids)

    def add_ids(chunk: RowChunk) -> RowChunk:
        stop = chunk.start + len(chunk.rows)
        if stop > len(column):  # the rows of a text file are counted only while they are read
            _refuse_ids()
        return chunk._replace(ids=column[chunk.start : stop])

    after = expect_rows(len(column), _refuse_ids)
    return MappedRows(rows, add_ids, after=after, width=rows.width, array=rows.array)


def _refuse_ids() -> NoReturn:
    """Raise the error that ids and rows differ in number, without the numbers."""
    raise DataError("ids must have one entry for each row, but their number differs")


def as_ids(ids: Any) -> Any:
    """Return the ids of an array, a list or a column as a sequence that can be sliced.

    Raises
    ------
    ArgumentTypeError
        If equality of the ids is unreliable, as for floats.
    """
    if isinstance(ids, (str, bytes)):
        no_names(ids)
    return entries(checked(ids))


def checked(ids: Any) -> Any:
    """Return `ids` as the name of a column, or as a column that can hold ids.

    Raises
    ------
    ArgumentTypeError
        If equality of the ids is unreliable, as for floats.
    """
    if isinstance(ids, str):
        return checks.text("ids", ids)
    column = column_form(ids, "ids", RULE)
    key_kind(column, "ids", is_id=True)
    return column


def entries(column: MemoryColumn) -> Any:
    """Return the rows of a column in the object that holds them, which can be sliced."""
    if isinstance(column, Objects):
        return column.rows
    if isinstance(column, Arrow):
        return column.chunked
    return column.original if isinstance(column.original, np.ma.MaskedArray) else column.array


def as_list(column: Any) -> list[Any]:
    """Return the rows of a column, or of an object from `entries`, as Python objects."""
    rows = entries(column) if isinstance(column, (Objects, Values, Arrow)) else column
    if isinstance(rows, np.ndarray):
        return list(rows.tolist())
    return list(rows if isinstance(rows, (list, tuple)) else rows.to_pylist())


def id_name(ids: Any) -> str:
    """Return the name of the ids, from the call or from their column; "" for ids without one."""
    return ids if isinstance(ids, str) else title_of(ids)


def no_column(ids: Any, names: Collection[str], argument: str = "ids") -> NoReturn:
    """Raise the error that `ids`, or another argument, names no column of the table."""
    mends = {"ids": " or one id for each row", "weights": " or one number for each row"}
    rule = f"the name of a column{nearest(str(ids), names)}{mends.get(argument, '')}"
    checks.fail(argument, rule, ids, f"; the table has: {listed(names)}" if names else "")


def no_names(ids: Any) -> NoReturn:
    """Raise the error that `ids` is a name although the data have no named columns."""
    checks.fail("ids", "one id for each row (these data have no columns with names)", ids)
