"""Recognise a column of dates, times or durations by its type alone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import checks
from ..errors import DpfastError
from .columns import Columns, Elsewhere, Table
from .data import form_of
from .files import Reader
from .forms import Values
from .memory import MemorySource
from .sql.store import Database
from .sql.times import can_count
from .times import AsNumbers, Numbering, Times, time_source, times_of

RULE = "rows of numbers or of times"


@dataclass(frozen=True)
class TimeColumn:
    """A column of times: its type, and a function that reads its counts as numbers."""

    times: Times
    read: Callable[[Numbering], Any]


def time_column(data: Any, other_columns: Collection[str] = ()) -> tuple[Any, TimeColumn | None]:
    """Return data in a readable form, and their column of times, or None if they are not times.

    No row is read. If files or an engine have several columns, exactly one of them must not be in
    `other_columns`.
    """
    # Columns of files and engines state times by another attribute than the dtype.
    dtype = None if isinstance(data, Columns) else checks.attribute(data, "dtype")
    if isinstance(dtype, np.dtype) and dtype.kind not in "Mm":
        return data, None
    if isinstance(data, (MemorySource, list, tuple, dict, str)):
        return data, None
    try:
        table = form_of(data, "data", RULE)
    except DpfastError:  # whoever reads the data raises the error
        return data, None
    # A reader can be read only once, so the converted data are passed on.
    column = data if isinstance(table, Values) else table
    if not isinstance(table, Columns):
        times = times_of(table)
        if times is None:
            return column, None
        return column, TimeColumn(times, lambda numbers: time_source(table, numbers))
    store, names = (
        table.store,
        [name for name in table.names if name not in other_columns] or table.names,
    )
    is_table = isinstance(table, Table) and not other_columns
    if is_table or len(names) != 1 or not isinstance(store, (Elsewhere, Database)):
        return column, None
    (name,) = names
    if isinstance(store, Reader) and not store.holds_times(name):
        return column, None
    times = times_of(store.typed(name))
    if times is None:
        return column, None
    if isinstance(store, Database) and not can_count(times, store.dialect):
        return column, None
    return column, TimeColumn(
        times, lambda numbers: store.with_numbers(name, AsNumbers(times, numbers)).column(name)
    )
