"""Data of several columns, for statistics of each column alone.

What holds its columns apart (a mapping, a data frame, an Arrow table, a matrix in Fortran order)
gives one `Source` for each, which is read where it lies. Everything else gives whole rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _check
from . import as_source
from ._base import Source, chunk_dtype
from ._rows import RowSource, Table, WithRows
from .array import ArraySource
from .table import as_rows, columns_of_table

__all__ = ["Apart", "by_column", "has_columns"]


class Apart:
    """Columns of as many rows each, one source a column.

    Attributes
    ----------
    columns : list of Source
    length : int or None
        Rows; None when that is not known without reading.
    """

    def __init__(self, columns: dict[str, Source], name: str) -> None:
        if not columns:
            _check.fail_kind(name, "a table with a column of numbers", columns)
        lengths = {key: column.length for key, column in columns.items()}
        self.length = next(iter(lengths.values()))
        for key, length in lengths.items():
            if length != self.length:
                rule = f"of {self.length} rows as the first is"
                _check.fail(f"column {key!r} of {name}", rule, length)
        self.columns = list(columns.values())


def has_columns(data: Any) -> bool:
    """Whether data are made of rows of several numbers, or of named columns."""
    if isinstance(data, WithRows):
        return isinstance(data, Table)
    if isinstance(data, np.ndarray):
        return data.ndim == 2 or data.dtype.names is not None
    if isinstance(data, (list, tuple)):
        first = next((row for row in data if row is not None), None)
        return isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1
    if isinstance(data, Source):
        return False
    if isinstance(data, Mapping) or hasattr(data, "columns"):  # of pandas, Polars and Arrow
        return True
    if isinstance(data, RowSource):
        return data.dtype.names is not None or (data.width or 1) > 1
    return getattr(data, "ndim", 1) == 2


def by_column(data: Any, name: str = "data") -> Apart | RowSource:
    """The columns of anything that has some.

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If a column holds no numbers, or is of another length than the first.
    """
    if isinstance(data, np.ndarray) and data.ndim == 2 and _lie_apart(data):
        if not data.shape[1]:
            _check.fail_kind(name, "a matrix of numbers", data, " without columns")
        chunk_dtype(data.dtype, name)
        mask = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
        plain = np.asarray(np.ma.getdata(data))
        return Apart(
            {
                str(j): ArraySource(plain[:, j], None if mask is None else mask[:, j], name)
                for j in range(plain.shape[1])
            },
            name,
        )
    table = None if isinstance(data, (np.ndarray, WithRows)) else columns_of_table(data, name)
    if table is None:
        return as_rows(data, name=name)
    columns = {key: as_source(one, f"column {key!r} of {name}") for key, one in table.items()}
    return Apart(columns, name)


def _lie_apart(array: np.ndarray[Any, Any]) -> bool:
    down, across = (abs(stride) for stride in array.strides)
    return down < across
