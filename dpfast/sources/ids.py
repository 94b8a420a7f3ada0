"""Ids beside rows: what they may be made of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from .._core import checks
from .arrow import family, looked_up_chunks
from .base import Ids
from .forms import Arrow, Objects, column_form
from .pick import nearest

RULE = "a one-dimensional column of integers, text or bytes"


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
        column = form.chunked
        if family(column.type) is None:
            checks.fail_kind("ids", RULE, column, f" of Arrow type {column.type}")
        return Ids(looked_up_chunks(column), is_arrow=True)
    array = form.array
    if array.ndim != 1 or array.dtype.kind not in "biuUSTO":
        checks.fail_kind("ids", RULE, form.given, f" of {array.ndim} dimensions and {array.dtype}")
    return Ids(form.given if isinstance(form.given, np.ma.MaskedArray) else array)


def no_column(ids: Any, names: Collection[str], argument: str = "ids") -> NoReturn:
    """Raise the error about ids, or another argument, that name no column of a table."""
    hint = nearest(str(ids), names)
    each = "id" if argument == "ids" else "number"
    checks.fail(argument, f"the name of a column{hint} or one {each} for each row", ids)
