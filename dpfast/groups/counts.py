"""Counts of rows by group and bin: the histogram of each group, in one vector of counts.

With weights the vector holds sums of weights. The k rows that a step changes in one group may be in
any bins, and a person may have fractions of rows in all bins, as in `statistics.histogram`. In
every norm these rows change the vector of all bins by no more than they would change one sum. The
reason: the vectors that k rows can add are convex combinations of corners, and a norm is largest at
a corner. At a corner all rows are in one bin, with one weight. For staircase noise, the k rows are
k moves of one sum, by a weight each. With fractions of rows, they are one move of each sum, by k
weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.attributes import same_as
from .._kernels import groups as _native
from ..errors import DataError
from ..measurement.columns_by_name import labels
from ..measurement.matches import numbers_of
from ..measurement.times import read
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..statistics.consistent import not_below_0
from ..statistics.histogram import MOST_OF_SQL, PARTS, Bins, Histogram, rounded
from ..summaries.cells import Cells, cells, in_units
from ..summaries.sparse import Sparse, distinct, join
from ..summaries.units import CARRY, shifted, words_of
from ..tables.base import Feature
from ..tables.batches import MemoryColumn, numbers
from ..tables.sql.store import SqlRows
from .keys import MOST
from .of_column import DatabaseSums, Integers, Kept
from .sums import Counted
from .weighted import WithWeights, clamped


def shown(room: Sparse, kept: NDArray[np.int64], groups: int) -> NDArray[Any]:
    """Return the sums of the kept groups as a dense array, by group and bin."""
    bins = room.bins
    if len(kept) * bins > MOST:
        raise DataError("there are too many bins for the number of shown groups: pass fewer bins")
    (cells, sums), row_of_group = room.total(), np.full(groups, -1)
    row_of_group[kept] = np.arange(len(kept))
    at = row_of_group[cells // bins]
    shown_sums = np.zeros((len(kept) * bins, room.width), sums.dtype)
    shown_sums[(at * bins + cells % bins)[at >= 0]] = sums[at >= 0]
    return shown_sums.reshape(len(kept), bins, room.width)


def dense(room: Sparse, groups: int) -> NDArray[Any]:
    """Return the sums of all groups as a dense array by bin, with a last entry for no group."""
    cells, sums = room.total()
    all_sums = np.zeros((groups + 1, room.bins, room.width), sums.dtype)
    all_sums.reshape(-1, room.width)[cells] = sums
    return all_sums


@dataclass(frozen=True)
class GroupHistogram(Counted):
    """Numbers of rows of each group in public bins; a row is in at most one bin.

    Parameters
    ----------
    statistic : Histogram
        The histogram of one column.
    sparse : bool, default False
        Whether keys are private.
    """

    statistic: Histogram
    sparse: bool = False

    def __post_init__(self) -> None:
        if not self.statistic.single:
            bins, categories = self.statistic.bins, self.statistic.categories
            rule = "for one column, because a histogram by group has one"
            checks.fail("bins", rule, bins if categories is None else categories)

    column = same_as("statistic.column")

    @property
    def axis(self) -> Bins:
        """The public bins of the only axis."""
        return self.statistic.axes[0]

    @property
    def labels(self) -> list[str]:
        """Return the labels of the bins: their categories, or their lower edges."""
        edges = self.axis.edges if self.units is None else np.asarray(self.units.edges)
        listed = edges.tolist() if len(edges) == self.axis.native.bins else edges[:-1].tolist()
        return labels(listed) if edges.dtype.kind == "f" else list(map(str, listed))

    def names(self, name: str) -> list[str]:
        return [*(f"{name} {label}" for label in self.labels), f"{name} error"]

    growing = same_as("axis.native.bins")

    @property
    def sensitivity(self) -> Sensitivity:
        return self.step.vectors(self.largest, self.coordinates)

    @property
    def coordinates(self) -> int:
        """The largest number of bins of a group in which rows on one side of a step may be."""
        bins = self.axis.native.bins
        return bins if self.step.of_units else min(self.step.rows, bins)

    @property
    def cells(self) -> Cells:
        fine = self.fine
        return Cells(2.0**-fine, 1 << fine, 0)

    @property
    def fine(self) -> int:
        """The log2 of the number of parts into which a row is divided for counting."""
        return PARTS if self.step.of_units else 0

    largest = same_as("cells.last")

    def error(self, failure: float) -> float | None:
        size = super().error(failure)
        # Totals are rounded to whole counts.
        return size if size is None or not self.fine else size + 0.5

    @property
    def lost_of_row(self) -> float | None:
        return float(self.largest * self.cells.grid)  # a lost row changes one bin

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return not self.statistic.nonnegative

    def total_error(self, groups: int, failure: float) -> float:
        return super().total_error(groups, failure) + bool(self.fine) * groups / 2

    def room(self, groups: int) -> Any:
        bins = self.axis.native.bins
        if self.sparse or self.step.of_units:
            return Sparse(bins, self.width)
        return np.zeros((groups + 1, bins, self.width), np.uint64)

    @property
    def reading(self) -> tuple[Any, ...]:
        words = self.axis.words
        return (self.column, self.units) if words is None else (self.column, words)

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        return self.axis.words is not None

    def read(self, columns: Mapping[str, MemoryColumn]) -> NDArray[Any]:
        column = columns[self.column or ""]
        if self.axis.words is None:
            return read(column, self.units)
        return numbers_of(column, self.axis.words, f"column {self.column!r}")

    def add(self, totals: Any, codes: NDArray[np.int32], values: Any) -> int:
        bins = self.axis.native.bins
        binned = np.zeros(len(codes), np.uint32)
        self.axis.native.place(self.placed(values), 1, binned)
        if isinstance(totals, Sparse):
            totals.add(codes, binned, partial(self.sum, values))
            return 0
        # Indices of cells fit in int32: public keys were checked for it.
        inside = (binned < bins) & (codes >= 0) & (codes < len(totals) - 1)
        cells = np.where(inside, codes * np.int32(bins) + binned.view(np.int32), np.int32(-1))
        self.sum(values, cells, totals.reshape(-1, self.width))
        return 0

    def bound(self, room: Any, codes: NDArray[np.int32], groups: int) -> Any:
        bounded_sums = room.of_units(self.step.rows, self.cells.first, codes)
        return bounded_sums if self.sparse else dense(bounded_sums, groups)

    def placed(self, values: Any) -> Any:
        """Return the values that decide the bin of each row, out of all values read."""
        return values

    def sum(self, values: Any, cells: NDArray[np.int32], room: NDArray[np.uint64]) -> None:
        """Add rows to the sums of their cells, each a pair of a group and a bin."""
        _native.count(cells, room.reshape(-1))

    def integers(self, rows: SqlRows) -> Integers:
        if self.axis.native.bins > MOST_OF_SQL:
            checks.fail("bins", f"at most {MOST_OF_SQL} in a database", self.axis.native.bins)
        bins = self.axis.of_row(rows, rows.names.index(self.column or ""))
        return Integers(self.features_of(rows), bins)

    def features_of(self, rows: SqlRows) -> list[Feature]:
        """Return the features that a row of a database adds to its bin."""
        return [Feature(0 * rows.present(), 0, 1 << self.fine, self.step.rows)]

    def packed(self, sums: NDArray[np.object_]) -> NDArray[Any]:
        """Return exact sums from a database in the form (64-bit words) of sums in memory."""
        return words_of(sums[:, 0]) if self.step.of_units else sums.astype(np.uint64)

    def gathered(self, answer: DatabaseSums) -> Any:
        groups, codes, sums, bins, _ = answer
        assert bins is not None
        inside = codes >= 0
        pairs = codes[inside] * np.int64(self.axis.native.bins) + bins[inside]
        cells, which = distinct(pairs)
        totals = np.zeros((len(cells), len(sums)), object)
        np.add.at(totals, which, np.stack(sums, axis=1)[inside])
        sparse_sums = Sparse(self.axis.native.bins, 2 if self.step.of_units else self.width)
        sparse_sums.append(cells, self.packed(totals))
        return sparse_sums if self.sparse else dense(sparse_sums, groups)

    def merge(self, room: Any, more: Any) -> None:
        if isinstance(room, Sparse):
            room.merge(more)
        else:
            join(room.reshape(-1, room.shape[-1]), more.reshape(-1, room.shape[-1]))

    def columns(
        self, name: str, room: Any, groups: int, kept: Kept, generator: Generator
    ) -> dict[str, NDArray[Any]]:
        if isinstance(room, Sparse):
            assert kept is not None
            room, kept = shown(room, kept, groups), None
            groups = len(room)
        return super().columns(name, room, groups, kept, generator)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        noise = self.noise
        sums = self.exact(totals.reshape(-1, totals.shape[-1]), noise.shift)
        sums += noise.draw(len(sums), generator)
        answer = self.answer(sums)
        if self.statistic.nonnegative:
            answer = not_below_0(answer)
        by_bin = np.ascontiguousarray(answer.reshape(totals.shape[:2]).T)
        named = zip(self.names(name), by_bin, strict=False)
        return {**dict(named), **self.error_bar(name, len(totals))}

    def exact(self, totals: NDArray[Any], shift: int) -> NDArray[np.int64]:
        """Return exact integer sums in units of ``2**shift`` cells, rounded down."""
        if totals.dtype == np.int64:
            return shifted(totals, shift)
        return np.asarray(totals[:, 0].view(np.int64) >> shift)

    def answer(self, sums: NDArray[np.int64]) -> NDArray[Any]:
        """Return the released numbers, from noisy integer sums."""
        return rounded(sums, self.noise.shift - self.fine)


class WeightedHistogram(WithWeights, GroupHistogram):
    """Sums of the weights of rows of each group in public bins; a number that is NaN has no bin."""

    width: ClassVar[int] = 2
    fine: ClassVar[int] = 0

    @property
    def cells(self) -> Cells:
        return cells(*self.limits)

    @property
    def largest(self) -> int:
        return max(abs(self.cells.first), abs(self.cells.last))

    @property
    def growing(self) -> int:
        return super().growing if self.cells.first >= 0 else 0

    @property
    def sensitivity(self) -> Sensitivity:
        step = self.step
        # A replaced row may leave one bin of a group and enter another bin of the same group.
        of_one = replace(step, every=None).numbers(self.cells.first, self.cells.last)
        moved = step.moves * step.rows, self.largest
        if step.of_units:  # a row may be divided among all bins
            moved = step.moves * self.coordinates, step.rows * self.largest
        return replace(of_one, l0=of_one.l0 * self.coordinates, moved=moved)

    @property
    def reading(self) -> tuple[Any, ...]:
        return (*super().reading, self.weights, self.limits)

    def integers(self, rows: SqlRows) -> Integers:
        if self.step.of_units:
            rule = "left out if ids are given in a database (or take the rows out by .to_pyarrow())"
            checks.fail("weights", rule, self.weights)
        return super().integers(rows)

    def features_of(self, rows: SqlRows) -> list[Feature]:
        u = rows.cell(rows.names.index(self.weights), self.cells)
        return [Feature(u, self.cells.span), Feature(0 * u, 0, 1)]

    def packed(self, sums: NDArray[np.object_]) -> NDArray[Any]:
        total, count = sums.T
        words = [total & 2**64 - 1, count + (total >> 64 << CARRY)]
        return np.stack(words, axis=-1).astype(np.uint64)

    def read(self, columns: Mapping[str, MemoryColumn]) -> Any:
        weights = numbers(columns[self.weights])
        return super().read(columns), clamped(weights, self.limits, "raise")

    def placed(self, values: Any) -> Any:
        return values[0]

    def sum(self, values: Any, cells: NDArray[np.int32], room: NDArray[np.uint64]) -> None:
        grid = self.cells
        _native.add(values[1], cells, 1.0 / grid.grid, grid.first, grid.span, -1, room)

    def exact(self, totals: NDArray[Any], shift: int) -> NDArray[np.int64]:
        if totals.dtype == np.int64:
            return shifted(totals, self.shift + shift)
        sums, contiguous = np.empty(len(totals), np.int64), np.ascontiguousarray(totals)
        _native.combine(contiguous, 1, self.cells.first, 0, self.shift + shift, sums)
        return sums

    def answer(self, sums: NDArray[np.int64]) -> NDArray[Any]:
        shift = self.shift + self.noise.shift
        return in_units(np.ldexp(sums + 0.5, shift) if shift else sums, self.cells.grid)
