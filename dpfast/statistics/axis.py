"""What `axis` means: a row is a record, so the columns of some rows have an answer each."""

from __future__ import annotations

import numbers
from typing import Any

from .._core import checks
from ..sources import as_source
from ..sources.columns import has_columns
from ..sources.untyped import is_untyped

RECORDS = (
    "0 (or -2) for data of several columns, and left out for one: a row is a record, so a column "
    "has an answer and a row has none"
)


def each_column(axis: Any, data: Any) -> bool:
    """Whether each column has an answer of its own.

    Data without a dtype, like a list, are of one column or of several as `axis` says.
    """
    if axis is not None and (
        isinstance(axis, bool) or not isinstance(axis, numbers.Integral) or axis not in (0, -2)
    ):
        checks.fail("axis", RECORDS, axis)
    several = has_columns(data) or (axis is not None and is_untyped(data))
    if several and axis is None:
        checks.fail("axis", RECORDS, axis)
    if axis is not None and not several:
        as_source(data)  # what is no data at all says so itself
        checks.fail("axis", "left out for one column of data", axis)
    return several


def said(bounds: Any) -> int | None:
    """How many columns the bounds say that there are; None if one pair stands for all."""
    pairs, several = checks.pairs(bounds)
    return len(pairs) if several else None


def pairs_for(bounds: Any, width: int) -> tuple[tuple[float, float], ...]:
    """The bounds of each of some columns."""
    pairs, several = checks.pairs(bounds)
    if several and len(pairs) != width:
        rule = f"one pair, or one for each column of the data, {width}"
        checks.fail("bounds", rule, f"{len(pairs)} of them")
    return pairs if several else pairs * width
