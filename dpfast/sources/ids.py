"""Ids beside rows: which kinds there are, and the ids of a stretch of rows."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from .._core import checks
from ..errors import DataError
from .forms import Arrow, Objects, column_form

RULE = "a one-dimensional column of integers, text or bytes"


class Ids:
    """One id a row, which the labels read in the form that they have."""

    def __init__(self, column: Any, is_arrow: bool = False) -> None:
        self._column = column
        self._is_arrow = is_arrow
        self.length = len(column)

    def of(self, start: int, stop: int) -> Any:
        """Return the ids of rows `start` .. `stop - 1`.

        Raises
        ------
        DataError
            If there are not so many: of a file of text, rows are counted only as they are read.
        """
        if stop > self.length:
            raise DataError("ids must be as many as the rows, and are not")
        if self._is_arrow:
            return self._column.slice(start, stop - start)
        return self._column[start:stop]

    def check_end(self, rows: int) -> None:
        """The same after a pass. The number of rows is private where ids are asked for."""
        if rows != self.length:
            raise DataError("ids must be as many as the rows, and are not")


def as_ids(ids: Any) -> Ids:
    """Return the ids of an array, a list or a column of a data frame.

    Raises
    ------
    ArgumentTypeError
        If they are of a kind that has no equality to rely on, like floats.
    """
    if isinstance(ids, (str, bytes)):
        checks.fail("ids", "one id for each row (these data have no columns with names)", ids)
    form = column_form(ids, "ids", RULE)
    if isinstance(form, Objects):
        return Ids(form.rows)
    if isinstance(form, Arrow):
        if family(form.column.type) is None:
            checks.fail_kind("ids", RULE, ids, f" of Arrow type {form.column.type}")
        return Ids(_looked_up(form.column), is_arrow=True)
    array = form.array
    if array.ndim != 1 or array.dtype.kind not in "biuUSTO":
        checks.fail_kind("ids", RULE, ids, f" of {array.ndim} dimensions and {array.dtype}")
    return Ids(ids if isinstance(ids, np.ma.MaskedArray) else array)


def _looked_up(column: Any) -> Any:
    """Return a `pyarrow.ChunkedArray` of ids, each of its arrays as `looked_up` makes it."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return column
    return pa.chunked_array([looked_up(array) for array in column.chunks])


def looked_up(array: Any) -> Any:
    """Return a `pyarrow.Array` of ids, in a form in which pyarrow can look up those of a
    dictionary.
    """
    import pyarrow as pa

    types = pa.types
    if not types.is_dictionary(array.type):
        return array
    kind = array.type.value_type
    if types.is_string_view(kind):  # as Polars writes categories
        words = array.dictionary.cast(pa.large_string())
    elif types.is_binary_view(kind):
        words = array.dictionary.cast(pa.large_binary())
    else:
        return array
    return pa.DictionaryArray.from_arrays(array.indices, words, safe=False)  # see whoever reads it


def family(kind: Any) -> str | None:
    """Return what ids of an Arrow type are: those of one family can be equal. None if they are no
    ids.
    """
    from pyarrow import types

    if types.is_dictionary(kind):
        return None if types.is_dictionary(kind.value_type) else family(kind.value_type)
    if types.is_integer(kind) or types.is_boolean(kind):
        return "integers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return "bytes"
    if types.is_fixed_size_binary(kind):
        return "bytes"
    return "nothing" if types.is_null(kind) else None


def no_column(ids: Any, names: Collection[str], argument: str = "ids") -> NoReturn:
    """The error about ids, or another argument, that name no column of a table."""
    near = difflib.get_close_matches(str(ids), names, 3, 0.6)
    hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    each = "id" if argument == "ids" else "number"
    checks.fail(argument, f"the name of a column{hint} or one {each} for each row", ids)
