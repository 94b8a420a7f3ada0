"""Ids and keys beside rows: what they may be made of."""

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
    """Return rows, each with its id beside it, if ids are given."""
    if ids is None:
        return rows
    column = as_ids(ids)

    def add_ids(chunk: RowChunk) -> RowChunk:
        stop = chunk.start + len(chunk.rows)
        if stop > len(column):  # of a file of text, rows are counted only as they are read
            _refuse_ids()
        return chunk._replace(ids=column[chunk.start : stop])

    after = expect_rows(len(column), _refuse_ids)
    return MappedRows(rows, add_ids, after=after, width=rows.width, array=rows.array)


def _refuse_ids() -> NoReturn:
    """Raise the error of ids that are not as many as the rows, whose number may be private."""
    raise DataError("there must be one id for each row, but their numbers differ")


def as_ids(ids: Any) -> Any:
    """Return the ids of an array, a list or a column of a data frame, which can be sliced.

    Raises
    ------
    ArgumentTypeError
        If they are of a kind that has no equality to rely on, like floats.
    """
    if isinstance(ids, (str, bytes)):
        no_names(ids)
    return entries(checked(ids))


def checked(ids: Any) -> Any:
    """Return ids as the name of a column, or as the form of one that holds ids.

    Raises
    ------
    ArgumentTypeError
        If they are of a kind that has no equality to rely on, like floats.
    """
    if isinstance(ids, str):
        return checks.text("ids", ids)
    column = column_form(ids, "ids", RULE)
    key_kind(column, "ids", is_id=True)
    return column


def entries(column: MemoryColumn) -> Any:
    """Return the rows of a column as they lie, which can be cut into slices."""
    if isinstance(column, Objects):
        return column.rows
    if isinstance(column, Arrow):
        return column.chunked
    return column.original if isinstance(column.original, np.ma.MaskedArray) else column.array


def as_list(column: Any) -> list[Any]:
    """Return the rows of a column, or of what `entries` returns, as Python objects."""
    rows = entries(column) if isinstance(column, (Objects, Values, Arrow)) else column
    if isinstance(rows, np.ndarray):
        return list(rows.tolist())
    return list(rows if isinstance(rows, (list, tuple)) else rows.to_pylist())


def id_name(ids: Any) -> str:
    """Return the name of an id, as the call or the column says it; "" for ids without a name."""
    return ids if isinstance(ids, str) else title_of(ids)


def no_column(ids: Any, names: Collection[str], argument: str = "ids") -> NoReturn:
    """Raise the error about ids, or another argument, that name no column of a table."""
    mends = {"ids": " or one id for each row", "weights": " or one number for each row"}
    rule = f"the name of a column{nearest(str(ids), names)}{mends.get(argument, '')}"
    checks.fail(argument, rule, ids, f"; the table has: {listed(names)}" if names else "")


def no_names(ids: Any) -> NoReturn:
    """Raise the error about ids by name of data that have no names."""
    checks.fail("ids", "one id for each row (these data have no columns with names)", ids)
