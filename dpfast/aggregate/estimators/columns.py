"""Columns of rows for estimators: checks against the bounds, and statistics without a sort.

`source.reduce` may call from several threads. There is one tally for each thread, not for each
chunk, because a tally has an entry for each block and a chunk may be short. Tallies are exact. So
the result does not depend on the chunks, or on which thread summarized them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...errors import ArgumentError
from ...tables.base import RowChunk, RowSource
from ..blocks.partition import ContiguousLabels, KeyedLabels, Partition, tiles
from ..blocks.tallies import CHUNK, Moments, Tally
from .base import Bound, Floats, Job

T = TypeVar("T", bound=Tally[Any])


@dataclass(frozen=True, slots=True)
class Columns:
    """The number and the names of the columns of a row.

    `count` is the number of columns. `names` is None if they have no names. `is_row` is False if a
    row is a single number.
    """

    count: int
    names: tuple[str, ...] | None
    is_row: bool

    @property
    def width(self) -> int | None:
        """The length of an answer with a number for each column; None for a scalar."""
        return self.count if self.is_row else None

    def floats(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as an array of numbers: as they are, or the named columns of a table."""
        if self.names is None:
            return rows
        table = np.empty((self.count, len(rows)))
        for column, name in zip(table, self.names, strict=True):
            column[...] = rows[name]
        return table.T

    def column(self, rows: NDArray[Any], j: int) -> NDArray[Any]:
        """Return column `j` of rows."""
        if self.names is not None:
            return rows[self.names[j]]
        return rows if rows.ndim == 1 else rows[:, j]

    def index_of(self, name: str, value: int | str) -> int:
        """Return the index of a column from its index or its name."""
        if isinstance(value, str):
            if self.names is None or value not in self.names:
                listed = "the columns have no names" if self.names is None else repr(self.names)
                checks.fail(name, f"the index of a column, or its name ({listed})", value)
            return self.names.index(value)
        if not -self.count <= value < self.count:
            checks.fail(name, f"from {-self.count} to {self.count - 1}", value)
        return value % self.count


def columns(source: RowSource) -> Columns:
    """Return the columns of a source whose rows are numbers.

    Raises
    ------
    ArgumentTypeError
        If a named column contains values that are not numbers.
    """
    names = source.dtype.names
    if names is None:
        return Columns(1 if source.width is None else source.width, None, source.width is not None)
    for name in names:
        field = source.dtype[name]
        if field.kind not in "biuf":
            checks.fail_type(f"column {name!r} of data", "numbers for this estimator", field)
    return Columns(len(names), names, True)


class ByColumn(ABC):
    """The base of estimators of numeric columns, mostly with one answer for each column."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the estimator in the ledger."""

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Return the estimator checked against bounds and columns, before anything is spent.

        Parameters
        ----------
        source : Source
            The rows.
        width : int
            The number of pairs of bounds.

        Returns
        -------
        Bound
            The object that computes answers for blocks of these rows.

        Examples
        --------
        `dpfast.sample_and_aggregate` calls it:

        >>> import numpy as np, dpfast as dp
        >>> from dpfast.tables.data import as_rows
        >>> rows = as_rows(np.zeros((10, 3)))
        >>> dp.estimators.LeastSquares().bind(rows, 3).name
        'least-squares'
        """
        read = columns(source)
        count = self._width(read)
        if width != count:
            due, got = _pairs(count), _pairs(width)
            rule = f"bounds must be {due} for {self.name!r} of these data, got {got}"
            raise ArgumentError(rule)
        return self._bound(read)

    def _width(self, columns: Columns) -> int | None:
        """Return the number of answers, None for a scalar."""
        return columns.width

    @abstractmethod
    def _bound(self, columns: Columns) -> Bound:
        """Return the estimator, checked for these columns."""


def _pairs(count: int | None) -> str:
    """Return the text that says which bounds `count` answers need, for errors."""
    if count is None:
        return "one pair (lo, hi)"
    return f"a sequence of {count} pair{'s' * (count != 1)} (lo, hi)"


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
    free: list[T] = []  # list.append and list.pop are atomic

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
    # Without column names nothing is converted. So tiles are not needed.
    for tile in [chunk] if columns.names is None else tiles(chunk, CHUNK):
        rows = columns.floats(tile.rows)
        if isinstance(labels, ContiguousLabels):
            tally.add_ranges(labels, tile.start, rows)
        else:
            tally.add_rows(labels, tile.start, rows)
