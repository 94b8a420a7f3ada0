"""Rows of one number or of several: what an estimator that is handed whole rows reads.

A `Source` is one column of numbers, from which nulls are dropped. Here every row keeps its place,
because blocks are a function of row numbers, and a missing number is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ._base import chunk_dtype
from .array import threads

__all__ = ["RowChunk", "RowSource", "as_rows"]

S = TypeVar("S")


class RowChunk(NamedTuple):
    """Some consecutive rows of a source, none left out.

    `rows` has shape (r,), or (r, width) and C order; it is read-only by agreement and valid only
    until `summarise` returns. `start` is the number of its first row in the whole data. `ids` are
    the ids of these rows, in any form that `KeyedLabels.read` takes; None if none were asked for.
    """

    rows: NDArray[Any]
    start: int
    ids: Any = None


class RowSource(Protocol):
    """Rows that can be passed over as often as asked, always in the same chunks."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a number, in native byte order; a structured dtype for columns with names."""
        ...

    @property
    def width(self) -> int | None:
        """Columns of a matrix; None for single numbers and for named columns."""
        ...

    @property
    def length(self) -> int | None:
        """Rows; None when that is not known without reading."""
        ...

    @property
    def array(self) -> NDArray[Any] | None:
        """All rows, where they lie in memory in this dtype and in C order; else None."""
        ...

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        """Summarise every chunk and merge the summaries, as `Source.reduce` does."""
        ...


class ArrayRows:
    """An array in memory."""

    def __init__(self, array: NDArray[Any], ids: Any, workers: int) -> None:
        self.array: NDArray[Any] | None = array
        self.dtype = array.dtype
        self.width = array.shape[1] if array.ndim == 2 else None
        self.length: int | None = len(array)
        self._rows = array
        self._ids = ids

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        return summarise(RowChunk(self._rows, 0, self._ids))


def as_rows(
    data: Any, ids: Any = None, workers: int | None = None, name: str = "data"
) -> RowSource:
    """The rows of anything that holds some, with the ids beside them if asked for."""
    workers = threads() if workers is None else workers
    array = np.ascontiguousarray(data)
    if array.dtype.names is None:
        array = array.astype(chunk_dtype(array.dtype, name), copy=False)
    if array.ndim not in (1, 2):
        _check.fail_kind(name, "rows of numbers", data, f" of {array.ndim} dimensions")
    return ArrayRows(array, ids, workers)
