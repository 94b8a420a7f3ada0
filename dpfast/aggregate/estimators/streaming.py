"""Passes over the rows for estimators that need no sort of the rows by block.

`source.reduce` may call from several threads. A tally is kept for each thread rather than for each
chunk, because a tally is as long as there are blocks and a chunk may be short. Tallies are exact:
the result depends neither on the chunks nor on which thread summarized them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ...tables.base import RowChunk, RowSource
from ..blocks.partition import ContiguousLabels, KeyedLabels, Partition, tiles
from ..blocks.tallies import CHUNK, Moments, Tally
from .base import Bound, Floats, Job
from .columns import ByColumn, Columns

T = TypeVar("T", bound=Tally[Any])


@dataclass(frozen=True, slots=True)
class Passes:
    """A `Bound` that reads the rows in passes; `compute` returns its outputs."""

    name: str
    compute: Callable[[RowSource, Partition], Floats]

    def outputs(self, source: RowSource, partition: Partition, job: Job) -> Floats:
        answers = self.compute(source, partition)
        if job.tick is not None:
            job.tick(partition.blocks)
        return answers


class Streamed(ByColumn):
    """An estimator that reads the rows in passes."""

    def _bound(self, columns: Columns) -> Bound:
        return Passes(self.name, partial(self._compute, columns=columns))

    @abstractmethod
    def _compute(self, source: RowSource, partition: Partition, columns: Columns) -> Floats:
        """Return the answers, shape (blocks, d)."""


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
    shift: Floats | None = None,
) -> Moments:
    """Return counts and sums of each block, with `products` about `shift`, in one pass."""
    count = columns.count
    return tallied(
        source, partition, columns, lambda: Moments(partition.blocks, count, products, shift)
    )


def centered(
    source: RowSource,
    partition: Partition,
    columns: Columns,
    products: bool | Sequence[tuple[int, int]] = True,
) -> Moments:
    """Return moments with products about the means of the blocks, in two passes."""
    means = moments(source, partition, columns).means()
    return moments(source, partition, columns, products, means)


def _add(tally: Tally[Any], partition: Partition, columns: Columns, chunk: RowChunk) -> None:
    labels = partition.labels
    dtype = chunk.rows.dtype
    may_be_missing = dtype.names is not None or dtype.kind == "f"
    if isinstance(labels, KeyedLabels) or (partition.drop and may_be_missing):
        for tile in tiles(chunk, CHUNK):
            named, rows = partition.split(tile)
            tally.add(named, columns.floats(rows))
        return
    # Without names there is no conversion, so no need for tiles.
    for tile in [chunk] if columns.names is None else tiles(chunk, CHUNK):
        rows = columns.floats(tile.rows)
        if isinstance(labels, ContiguousLabels):
            tally.add_ranges(labels, tile.start, rows)
        else:
            tally.add_rows(labels, tile.start, rows)
