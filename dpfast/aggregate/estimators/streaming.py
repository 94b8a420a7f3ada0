"""Passes over the rows for estimators that need no sort of the rows by block.

`source.reduce` may call from several threads. A tally is kept for each thread rather than for each
chunk, because a tally is as long as there are blocks and a chunk may be short. Tallies are exact:
the result depends neither on the chunks nor on which thread summarized them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...sources.base import RowChunk, RowSource
from ..blocks import ContiguousLabels, KeyedLabels, Moments, RandomLabels
from ..blocks.partition import Partition, tiles
from .base import Job
from .columns import Columns

#: Rows that are converted, labeled and added at once, so that they stay in the cache.
PIECE = 1 << 14

Labels = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A `Bound` that reads the rows in passes; `compute` returns its outputs."""

    name: str
    compute: Callable[[RowSource, Partition], NDArray[np.float64]]

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> NDArray[np.float64]:
        answers = self.compute(source, partition)
        if job.tick is not None:
            job.tick(partition.blocks)
        return answers


class Tally(Protocol):
    """A statistic of each block to which rows are added."""

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
    """A tally of labeled rows, whatever the labels depend on."""

    @abstractmethod
    def add(self, labels: Labels, rows: NDArray[Any]) -> None: ...

    def add_rows(
        self, labels: RandomLabels | ContiguousLabels, start: int, rows: NDArray[Any]
    ) -> None:
        for at in range(0, len(rows), PIECE):
            some = rows[at : at + PIECE]
            self.add(labels.read(start + at, len(some)), some)

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        self.add_rows(labels, start, rows)


T = TypeVar("T", bound=Tally)


def tallied(source: RowSource, partition: Partition, columns: Columns, make: Callable[[], T]) -> T:
    """Return the tally of all rows of `source`, in one pass; `make` makes empty tallies."""
    free: list[T] = []  # append and pop are atomic

    def summarize(chunk: RowChunk) -> None:
        try:
            tally = free.pop()
        except IndexError:
            tally = make()
        _add(tally, partition, columns, chunk)
        free.append(tally)

    source.reduce(summarize, lambda a, b: None)
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
    """Return counts and sums of each block, with `products` about `shift`, in one pass."""

    def make() -> Moments:
        return Moments(partition.blocks, columns.count, products, shift)

    return tallied(source, partition, columns, make)


def _add(tally: Tally, partition: Partition, columns: Columns, chunk: RowChunk) -> None:
    labels = partition.labels
    whole = columns.names is None  # no conversion, so no need for pieces
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
