"""The rows of one group: those whose last column is a public number, without that column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .base import RowChunk, RowSource, Source
from .masked import refuse_mask
from .table import only_column

S = TypeVar("S")


class Keyed:
    """Rows of a source that a mask keeps and whose last column equals a number.

    Which rows these are is told in the pass, so how many is not known before.
    """

    length: int | None = None
    array = None

    def __init__(self, rows: RowSource, key: float, where: NDArray[np.bool_] | None) -> None:
        self._rows, self._key, self._where = rows, key, where
        names = rows.dtype.names
        self.dtype = rows.dtype if names is None else rows.dtype[list(names[:-1])]
        self.width = None if rows.width is None else rows.width - 1

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        key, where, names = self._key, self._where, self._rows.dtype.names

        def part(chunk: RowChunk) -> tuple[S, int]:
            rows: NDArray[Any] = chunk.rows
            keep = (rows[:, -1] if names is None else rows[names[-1]]) == key
            if where is not None:
                own = where[chunk.start : chunk.start + len(rows)]
                if len(own) != len(rows):
                    refuse_mask()
                keep &= own
            kept = rows[keep]
            rest = kept[:, :-1] if names is None else kept[list(names[:-1])]
            return summarise(RowChunk(rest, chunk.start)), len(rows)

        def both(a: tuple[S, int], b: tuple[S, int]) -> tuple[S, int]:
            return merge(a[0], b[0]), a[1] + b[1]

        summary, read = self._rows.reduce(part, both)
        if where is not None and read != len(where):
            refuse_mask()
        return summary


def keyed(rows: RowSource, key: float, where: NDArray[np.bool_] | None) -> Source | RowSource:
    """Return the rows of a group: one column, if one is left, or several."""
    own: Any = Keyed(rows, key, where)
    names = own.dtype.names
    alone = len(names) == 1 if names is not None else own.width == 1
    return only_column(own) if alone else own
