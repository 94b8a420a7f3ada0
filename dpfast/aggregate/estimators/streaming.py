"""Passes over the rows for estimators that need no block side by side.

`source.reduce` may call from several threads. A tally is kept for each thread rather than for each
chunk, because a tally is as long as there are blocks and a chunk may be short. Tallies are exact:
neither the chunks nor who summarised which of them can be seen in what comes out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...sources.row_source import RowChunk, RowSource
from ..blocks import ContiguousLabels, KeyedLabels, Moments, RandomLabels
from ..blocks.partition import Partition, tiles
from .columns import Columns

#: Rows that are converted, labelled and added at once: they stay in the cache.
PIECE = 1 << 14

Labels = NDArray[np.uint32]


class Tally(Protocol):
    """Something of each block that rows are added to."""

    def add(self, labels: Labels, rows: NDArray[Any]) -> None:
        """Add rows, of shape (n,) or (n, columns), under labels."""
        ...

    def add_rows(self, labels: RandomLabels, start: int, rows: NDArray[Any]) -> None:
        """Add rows, counted from `start` in the whole data, under their random labels."""
        ...

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        """Add rows, counted from `start` in the whole data, under fixed ranges."""
        ...

    def merge(self, other: Self) -> Self:
        """Add what another tally has seen."""
        ...


class ByLabel(ABC):
    """A tally that wants labels, wherever they come from."""

    @abstractmethod
    def add(self, labels: Labels, rows: NDArray[Any]) -> None: ...

    def add_rows(self, labels: RandomLabels, start: int, rows: NDArray[Any]) -> None:
        for at in range(0, len(rows), PIECE):
            some = rows[at : at + PIECE]
            self.add(labels.read(start + at, len(some)), some)

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        for at in range(0, len(rows), PIECE):
            some = rows[at : at + PIECE]
            self.add(labels.read(start + at, len(some)), some)


T = TypeVar("T", bound=Tally)


def tallied(source: RowSource, partition: Partition, columns: Columns, make: Callable[[], T]) -> T:
    """One pass: all rows of `source`, added to tallies that `make` makes, and these merged."""
    free: list[T] = []  # append and pop are atomic

    def summarise(chunk: RowChunk) -> None:
        try:
            tally = free.pop()
        except IndexError:
            tally = make()
        _add(tally, partition, columns, chunk)
        free.append(tally)

    source.reduce(summarise, lambda one, other: None)
    total = free.pop() if free else make()
    for tally in free:
        total = total.merge(tally)
    return total


def moments(
    source: RowSource,
    partition: Partition,
    columns: Columns,
    products: bool | Sequence[tuple[int, int]] = False,
    shift: NDArray[np.float64] | None = None,
) -> Moments:
    """Counts and sums of each block, with `products` about `shift`, in one pass."""

    def make() -> Moments:
        return Moments(partition.blocks, columns.count, products, shift)

    return tallied(source, partition, columns, make)


def _add(tally: Tally, partition: Partition, columns: Columns, chunk: RowChunk) -> None:
    labels = partition.labels
    whole = columns.names is None  # no conversion, so nothing to cut it up for
    if isinstance(labels, KeyedLabels) or (partition.drop and _may_be_missing(chunk.rows.dtype)):
        for piece in tiles(chunk, PIECE):
            named, rows = partition.split(piece)
            tally.add(named, columns.floats(rows))
        return
    for piece in [chunk] if whole else tiles(chunk, PIECE):
        rows = columns.floats(piece.rows)
        if isinstance(labels, ContiguousLabels):
            tally.add_ranges(labels, piece.start, rows)
        else:
            tally.add_rows(labels, piece.start, rows)


def _may_be_missing(dtype: np.dtype[Any]) -> bool:
    return dtype.names is not None or dtype.kind == "f"
