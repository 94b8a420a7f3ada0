"""Data of several columns, for statistics of each column alone.

What holds its columns apart (a mapping, a data frame, an Arrow table, a matrix in Fortran order)
gives one `Source` for each, which is read where it lies. Everything else gives whole rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .base import (
    Chunk,
    RandomWords,
    RowChunk,
    RowSource,
    Source,
    Table,
    chunk_dtype,
    refuse_columns,
)
from .forms import Form, Named, Values
from .memory import ArraySource, as_source
from .table import features_of

S = TypeVar("S")


class Apart:
    """Columns of as many rows each, one source a column; else a pass refuses them.

    Attributes
    ----------
    columns : list of Source
    length : int or None
        Rows; None when that is not known without reading.
    """

    def __init__(self, columns: dict[str, Source], name: str) -> None:
        if not columns:
            checks.fail_kind(name, "a table with a column of numbers", columns)
        self.columns = list(columns.values())
        lengths = {column.length for column in self.columns}
        self.length = lengths.pop()
        if lengths:
            self.length = None
            self.columns = [_Uneven(column.dtype) for column in self.columns]


def by_column(form: Form, name: str = "data", width: int | None = None) -> Apart | RowSource:
    """Return the columns of anything that has some.

    `width` is how many there are of data without a dtype, like a list, which do not say so.

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If a column holds no numbers.
    """
    if isinstance(form, Named):
        columns = form.columns.items()
        return Apart(
            {key: as_source(one, f"column {key!r} of {name}") for key, one in columns}, name
        )
    if isinstance(form, Values) and form.array.ndim == 2 and _lie_apart(form.array):
        array, mask = form.array, form.mask
        if not array.shape[1]:
            checks.fail_kind(name, "a matrix of numbers", form.given, " without columns")
        chunk_dtype(array.dtype, name)
        return Apart(
            {
                str(j): ArraySource(array[:, j], None if mask is None else mask[:, j], name)
                for j in range(array.shape[1])
            },
            name,
        )
    return features_of(form, width, name)


def each_alone(form: Form, width: int | None = None, name: str = "data") -> list[Source]:
    """Return one source for each column, of anything that has some, wherever its numbers lie.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        As `by_column`.
    """
    if isinstance(form, Table):
        return form.columns_alone()
    found = by_column(form, name, width)
    if isinstance(found, Apart):
        return found.columns
    keys: Sequence[Any] = found.dtype.names or range(found.width or 1)
    if found.array is None:
        return [_OfRows(found, key) for key in keys]
    named = found.dtype.names is not None
    return [ArraySource(found.array[key] if named else found.array[:, key]) for key in keys]


class _Uneven:
    """A column that is not as long as the others are. The number of rows may be private."""

    length: int | None = None
    nulls: int | None = None

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        refuse_columns()

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return None


class _OfRows:
    """One column of some rows. A missing number is NaN there already, so there is no null."""

    nulls = 0

    def __init__(self, rows: RowSource, key: str | int) -> None:
        self._rows = rows
        self._key = key
        self.dtype = chunk_dtype(rows.dtype[key] if isinstance(key, str) else rows.dtype)
        self.length = rows.length

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        def part(chunk: RowChunk) -> S:
            return summarise(
                Chunk(np.ascontiguousarray(self._of(chunk.rows), self.dtype), chunk.start)
            )

        return self._rows.reduce(part, merge)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """None: a look at some rows costs no less than a pass."""
        return None

    def _of(self, rows: NDArray[Any]) -> NDArray[Any]:
        if isinstance(self._key, str):
            return rows[self._key]
        return rows if rows.ndim == 1 else rows[:, self._key]


def _lie_apart(array: np.ndarray[Any, Any]) -> bool:
    down, across = (abs(stride) for stride in array.strides)
    return down < across
