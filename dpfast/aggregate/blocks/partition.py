"""A partition: which block each row of a chunk is in, and which rows count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._kernels import aggregate as _native
from ...sources.row_source import RowChunk
from .ids import KeyedLabels
from .labels import ContiguousLabels, RandomLabels

Labels = ContiguousLabels | KeyedLabels | RandomLabels

#: Rows of a tile: labels and rows that are still in the cache when they are used.
TILE = 1 << 16
#: Columns that are looked at one by one, which NumPy does faster than many short rows.
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
        """The labels of the rows of a chunk that count, and these rows.

        The rows are those of the chunk itself where none is left out.
        """
        labels, rows = self.named(chunk), chunk.rows
        if self.drop:
            gone = missing(rows)
            if gone is not None:
                present = ~gone
                return labels[present], rows[present]
        return labels, rows

    def named(self, chunk: RowChunk) -> NDArray[np.uint32]:
        """The labels of all rows of a chunk."""
        if isinstance(self.labels, KeyedLabels):
            return self.labels.read(chunk.ids)
        return self.labels.read(chunk.start, len(chunk.rows))

    def count(self, chunk: RowChunk, counts: NDArray[np.int64]) -> None:
        """Add the numbers of rows of each block to `counts`, if possible without labels."""
        labels = self.labels
        if not self.drop and isinstance(labels, RandomLabels):
            _native.count_random(labels.key, labels.blocks, chunk.start, len(chunk.rows), counts)
        elif not self.drop and isinstance(labels, ContiguousLabels):
            first, cuts = labels.runs(chunk.start, len(chunk.rows))
            counts[first : first + len(cuts) - 1] += np.diff(cuts)
        else:
            for tile in tiles(chunk):
                _native.count(self.split(tile)[0], counts)


def tiles(chunk: RowChunk, rows: int = TILE) -> Iterator[RowChunk]:
    """A chunk in pieces of at most `rows` rows."""
    if len(chunk.rows) <= rows:
        yield chunk
        return
    for at in range(0, len(chunk.rows), rows):
        ids = None if chunk.ids is None else chunk.ids[at : at + rows]
        yield RowChunk(chunk.rows[at : at + rows], chunk.start + at, ids)


def missing(rows: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Whether a row holds a NaN; None where no row does."""
    found: NDArray[np.bool_] | None = None
    for column in _columns(rows):
        bad = np.not_equal(column, column)
        if bad.any():
            bad = bad if bad.ndim == 1 else bad.any(axis=tuple(range(1, bad.ndim)))
            found = bad if found is None else np.logical_or(found, bad, out=found)
    return found


def _columns(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The columns that can hold a NaN."""
    if rows.dtype.names is not None:
        for field in rows.dtype.names:
            yield from _columns(rows[field])
    elif rows.dtype.kind in "fc":
        if rows.ndim == 2 and rows.shape[1] <= FEW:
            yield from rows.T
        else:
            yield rows
