"""A partition: the block of each row of a chunk, and which rows count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sources.base import RowChunk
from .ids import KeyedLabels
from .labels import ContiguousLabels, RandomLabels

Labels = ContiguousLabels | KeyedLabels | RandomLabels

#: Rows of a tile, so that labels and rows are still in the cache when they are used.
TILE = 1 << 16
#: Columns that are scanned one by one, which NumPy does faster than many short rows.
FEW = 64


@dataclass(frozen=True, slots=True)
class Partition:
    """Labels for rows; with `drop`, rows that hold a NaN are in no block.

    A label never depends on what a row holds, so a row that is dropped moves no other.
    """

    labels: Labels
    drop: bool = False

    @property
    def blocks(self) -> int:
        return self.labels.blocks

    def split(self, chunk: RowChunk) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        """Return the labels of the rows of a chunk that count, and these rows.

        If no row is left out, the rows are those of the chunk, without a copy.
        """
        labels, rows = self.named(chunk), chunk.rows
        if self.drop:
            gone = missing(rows)
            if gone is not None:
                present = ~gone
                return labels[present], rows[present]
        return labels, rows

    def named(self, chunk: RowChunk) -> NDArray[np.uint32]:
        """Return the labels of all rows of a chunk."""
        if isinstance(self.labels, KeyedLabels):
            return self.labels.read(chunk.ids)
        return self.labels.read(chunk.start, len(chunk.rows))


def tiles(chunk: RowChunk, rows: int = TILE) -> Iterator[RowChunk]:
    """Yield a chunk in pieces of at most `rows` rows."""
    if len(chunk.rows) <= rows:
        yield chunk
        return
    for at in range(0, len(chunk.rows), rows):
        ids = None if chunk.ids is None else chunk.ids[at : at + rows]
        yield RowChunk(chunk.rows[at : at + rows], chunk.start + at, ids)


def missing(rows: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return which rows hold a NaN; None if no row does."""
    incomplete: NDArray[np.bool_] | None = None
    for column in _columns(rows):
        bad = np.not_equal(column, column)
        if bad.any():
            bad = bad if bad.ndim == 1 else bad.any(axis=tuple(range(1, bad.ndim)))
            incomplete = (
                bad if incomplete is None else np.logical_or(incomplete, bad, out=incomplete)
            )
    return incomplete


def _columns(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the columns that can hold a NaN."""
    if rows.dtype.names is not None:
        for field in rows.dtype.names:
            yield from _columns(rows[field])
    elif rows.dtype.kind in "fc":
        if rows.ndim == 2 and rows.shape[1] <= FEW:
            yield from rows.T
        else:
            yield rows
