"""Counts of rows by group and bin: the histogram of each group, in one vector of counts.

With weights it is one vector of sums of their cells. k rows of a step in one group may be in as
many bins. They move all bins together by no more than they would move one sum, in every norm: of
vectors that k rows make up, each of a weight in one bin, those of one bin and one weight are the
corners, and norms are largest there. And they are k moves of one sum by a weight each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import groups as _native
from ..errors import DataError
from ..measurement.matches import numbers_of
from ..measurement.times import read
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..statistics.histogram import MOST_OF_SQL, Bins, Histogram
from ..summaries.cells import Cells, cells, in_units
from ..summaries.units import CARRY
from ..tables.base import Feature
from ..tables.batches import Piece, numbers
from ..tables.sql.store import SqlRows
from .answer import labels
from .keys import MOST
from .of_column import DatabaseSums, Integers
from .sums import Counted, Sums
from .weighted import clamped

#: Cells that are added before they are put together once more.
PENDING = 1 << 20


class Sparse:
    """Sums of the cells that have rows: group times bins plus bin.

    They are no more than rows: how many keys there are decides no error, only how many are shown.
    """

    def __init__(self, statistic: GroupHistogram) -> None:
        self._statistic = statistic
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = []
        self._together = 0

    def append(self, cells: NDArray[np.int64], sums: NDArray[np.uint64]) -> None:
        """Add sums of cells, each once."""
        self._parts.append((cells, sums))
        if sum(len(own) for own, _ in self._parts) > 2 * self._together + PENDING:
            self._together = len(self.total()[0])

    def merge(self, more: Sparse) -> None:
        """Add what another has added up."""
        self.append(*more.total())

    def total(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return all cells, ascending, and their sums."""
        every = np.unique(np.concatenate([np.empty(0, np.int64), *(own for own, _ in self._parts)]))
        room = self._statistic.dense_room(len(every))
        for part, sums in self._parts:
            more = np.zeros_like(room)
            more[np.searchsorted(every, part)] = sums
            self._statistic.join(room, more)
        self._parts = [(every, room[:-1])]
        return self._parts[0]

    def packed(self) -> Sparse:
        """Return the same in as few words as can be, to be sent."""
        self.total()
        return self

    def moved(self, places: NDArray[np.int32]) -> Sparse:
        """Return the same where groups have other places."""
        (cells, sums), bins = self.total(), self._statistic.axis.native.bins
        found = Sparse(self._statistic)
        found.append(places[cells // bins] * np.int64(bins) + cells % bins, sums)
        return found

    def shown(self, kept: NDArray[np.int64], groups: int) -> NDArray[np.uint64]:
        """Return the sums of some groups, bin by bin."""
        bins = self._statistic.axis.native.bins
        if len(kept) * bins > MOST:
            raise DataError("there are too many bins for as many groups as are shown")
        (cells, sums), place = self.total(), np.full(groups, -1)
        place[kept] = np.arange(len(kept))
        at = place[cells // bins]
        room = self._statistic.dense_room(len(kept) * bins)
        room[(at * bins + cells % bins)[at >= 0]] = sums[at >= 0]
        return room[:-1].reshape(len(kept), bins, *room.shape[1:])


def _distinct(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells that occur, ascending, and the place of each among these."""
    end = int(cells.max(initial=-1)) + 1
    if end > 8 * len(cells):
        return np.unique(cells, return_inverse=True)
    occurs = np.zeros(end, np.bool_)
    occurs[cells] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[cells]


@dataclass(frozen=True)
class GroupHistogram(Counted):
    """Numbers of rows of each group in public bins. A row is in one bin at most.

    Parameters
    ----------
    statistic : Histogram
        Of numbers, in one column.
    sparse : bool, default False
        Whether keys are private.
    """

    statistic: Histogram
    sparse: bool = False

    #: A part of a row in each of many bins would be lost.
    adds_units: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.statistic.single:
            bins, categories = self.statistic.bins, self.statistic.categories
            rule = "those of one column"
            checks.fail("bins", rule, bins if categories is None else categories)

    @property
    def column(self) -> str | None:
        return self.statistic.column

    @property
    def axis(self) -> Bins:
        """The bins."""
        return self.statistic.axes[0]

    @property
    def labels(self) -> list[str]:
        """Return what the bins are called: their categories, or their lower edges."""
        edges = self.axis.edges if self.units is None else np.asarray(self.units.edges)
        listed = edges.tolist() if len(edges) == self.axis.native.bins else edges[:-1].tolist()
        return labels(listed) if edges.dtype.kind == "f" else list(map(str, listed))

    def names(self, name: str) -> list[str]:
        return [*(f"{name} {label}" for label in self.labels), f"{name} error"]

    @property
    def growing(self) -> int:
        return self.axis.native.bins

    @property
    def sensitivity(self) -> Sensitivity:
        return self.step.vectors(1, min(self.step.rows, self.axis.native.bins))

    def room(self, groups: int) -> Any:
        if self.sparse:
            return Sparse(self)
        cells = self.dense_room((groups + 1) * self.axis.native.bins - 1)
        return cells.reshape(groups + 1, self.axis.native.bins, *cells.shape[1:])

    def dense_room(self, cells: int) -> NDArray[np.uint64]:
        """Return room for sums of so many cells, and for one that is left out."""
        return np.zeros(cells + 1, np.uint64)

    @property
    def reading(self) -> tuple[Any, ...]:
        words = self.axis.words
        return (self.column, self.units) if words is None else (self.column, words)

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        return self.axis.words is not None

    def read(self, columns: Mapping[str, Piece]) -> NDArray[Any]:
        piece = columns[self.column or ""]
        if self.axis.words is None:
            return read(piece, self.units)
        return numbers_of(piece, self.axis.words, f"column {self.column!r}")

    def add(self, totals: Any, codes: NDArray[np.int32], values: Any) -> int:
        bins = self.axis.native.bins
        place = np.zeros(len(codes), np.uint32)
        self.axis.native.place(self.placed(values), 1, place)
        inside = (place < bins) & (codes >= 0)
        if not self.sparse:  # then all cells have a number: see the check of public keys
            inside &= codes < len(totals) - 1
            own = np.where(inside, codes * np.int32(bins) + place.view(np.int32), np.int32(-1))
            self.sum(own, values, totals.reshape(-1, *totals.shape[2:]))
            return 0
        pairs = codes[inside] * np.int64(bins) + place[inside]
        cells, which = _distinct(pairs)
        own = np.full(len(codes), -1, np.int32)
        own[inside] = which
        room = self.dense_room(len(cells))
        self.sum(own, values, room)
        totals.append(cells, room[:-1])
        return 0

    def placed(self, values: Any) -> NDArray[Any]:
        """Return what has a bin, of what is read."""
        found: NDArray[Any] = values
        return found

    def sum(self, cells: NDArray[np.int32], values: Any, room: NDArray[np.uint64]) -> None:
        """Add rows to their cells."""
        _native.count(cells, room)

    def integers(self, rows: SqlRows) -> Integers:
        if self.step.of_units:  # whose rows are chosen
            return super(Counted, self).integers(rows)
        if self.axis.native.bins > MOST_OF_SQL:
            checks.fail("bins", f"at most {MOST_OF_SQL} in a database", self.axis.native.bins)
        bins = self.axis.of_row(rows, rows.names.index(self.column or ""))
        return Integers(self.features_of(rows), bins)

    def features_of(self, rows: SqlRows) -> list[Feature]:
        """Return what a row of a database adds to its bin."""
        return [Feature(0 * rows.present(), 0, 1)]

    def packed(self, sums: NDArray[np.object_]) -> NDArray[np.uint64]:
        """Return what `dense_room` holds of cells whose sums of these are given."""
        return sums[:, 0].astype(np.uint64)

    def gathered(self, answer: DatabaseSums) -> Any:
        groups, codes, sums, bins = answer
        assert bins is not None
        room, inside = self.room(groups), codes >= 0
        pairs = codes[inside] * np.int64(self.axis.native.bins) + bins[inside]
        cells, which = _distinct(pairs)
        totals = np.zeros((len(cells), len(sums)), object)
        np.add.at(totals, which, np.stack(sums, axis=1)[inside])
        if self.sparse:
            room.append(cells, self.packed(totals))
        else:
            room.reshape(-1, *room.shape[2:])[cells] = self.packed(totals)
        return room

    def merge(self, room: Any, more: Any) -> None:
        if isinstance(room, Sparse):
            room.merge(more)
        else:
            self.join(room, more)

    def columns(
        self,
        name: str,
        room: Any,
        groups: int,
        kept: NDArray[np.int64] | None,
        generator: Generator,
    ) -> dict[str, NDArray[Any]]:
        if isinstance(room, Sparse):
            assert kept is not None
            room, kept = room.shown(kept, groups), None
            groups = len(room)
        return super().columns(name, room, groups, kept, generator)

    def join(self, room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
        """Add other sums of the same cells."""
        Counted.merge(self, room, more)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        counts, noise = totals.view(np.int64), self.noise
        drawn = noise.draw(counts.size, generator).reshape(counts.shape)
        noisy = np.ascontiguousarray((((counts >> noise.shift) + drawn) << noise.shift).T)
        named = zip(self.names(name), noisy, strict=False)
        return {**dict(named), **self.error_bar(name, len(counts))}


class WeightedHistogram(GroupHistogram):
    """Sums of the weights of rows of each group in public bins; one that is NaN is in no bin."""

    @property
    def weights(self) -> str:
        """The column of the weights."""
        return checks.text("weights", self.statistic.weights)

    @property
    def limits(self) -> tuple[float, float]:
        """The public limits of the weights."""
        limits = self.statistic.limits
        assert limits is not None
        return limits

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
        step, bins = self.step, self.axis.native.bins
        # Both sides of a replacement may be in the same group and in different bins.
        of_one = replace(step, every=None).numbers(self.cells.first, self.cells.last)
        moved = step.moves * step.rows, self.largest
        return replace(of_one, l0=of_one.l0 * min(step.rows, bins), moved=moved)

    @property
    def reading(self) -> tuple[Any, ...]:
        return (*super().reading, self.weights, self.limits)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column or "", self.weights)

    def dense_room(self, cells: int) -> NDArray[np.uint64]:
        return np.zeros((cells + 1, 2), np.uint64)

    def features_of(self, rows: SqlRows) -> list[Feature]:
        u = rows.cell(rows.names.index(self.weights), self.cells)
        return [Feature(u, self.cells.span), Feature(0 * u, 0, 1)]

    def packed(self, sums: NDArray[np.object_]) -> NDArray[np.uint64]:
        total, count = sums.T
        words = [total & 2**64 - 1, count + (total >> 64 << CARRY)]
        return np.stack(words, axis=-1).astype(np.uint64)

    def read(self, columns: Mapping[str, Piece]) -> Any:
        own = numbers(columns[self.weights])
        return super().read(columns), clamped(own, self.limits, "raise")

    def placed(self, values: Any) -> NDArray[Any]:
        found: NDArray[Any] = values[0]
        return found

    def sum(self, cells: NDArray[np.int32], values: Any, room: NDArray[np.uint64]) -> None:
        grid = self.cells
        _native.add(values[1], cells, 1.0 / grid.grid, grid.first, grid.span, -1, room)

    def join(self, room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
        Sums.merge(self, room, more)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        noise, each = self.noise, np.ascontiguousarray(totals.reshape(-1, 2))
        shift, sums = self.shift + noise.shift, np.empty(len(each), np.int64)
        _native.combine(each, 1, self.cells.first, 0, shift, sums)
        sums += noise.draw(len(sums), generator)
        noisy = in_units(np.ldexp(sums + 0.5, shift) if shift else sums, self.cells.grid)
        found = np.ascontiguousarray(noisy.reshape(totals.shape[:2]).T)
        named = zip(self.names(name), found, strict=False)
        return {**dict(named), **self.error_bar(name, len(totals))}
