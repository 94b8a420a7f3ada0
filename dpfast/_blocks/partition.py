"""A partition: which block each row of a chunk is in, and which rows count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.table import RowChunk
from .ids import KeyedLabels
from .labels import ContiguousLabels, RandomLabels

__all__ = ["Partition"]

Labels = ContiguousLabels | KeyedLabels | RandomLabels


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
        """The labels of the rows of a chunk that count, and these rows."""
        if isinstance(self.labels, KeyedLabels):
            labels = self.labels.read(chunk.ids)
        else:
            labels = self.labels.read(chunk.start, len(chunk.rows))
        if not self.drop:
            return labels, chunk.rows
        present = ~missing(chunk.rows)
        return labels[present], chunk.rows[present]


def missing(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row holds a NaN."""
    if rows.dtype.names is not None:
        found = np.zeros(len(rows), np.bool_)
        for field in rows.dtype.names:
            found |= missing(rows[field])
        return found
    if rows.dtype.kind != "f":
        return np.zeros(len(rows), np.bool_)
    bad: NDArray[np.bool_] = np.isnan(rows)
    return bad if bad.ndim == 1 else np.asarray(bad.any(axis=tuple(range(1, bad.ndim))))
