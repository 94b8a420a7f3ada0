"""``bounds="auto"`` by group: one draw of bounds for all groups, then the statistic of each.

*What is released.* A quarter of the loss of a statistic pays for the bounds of its column. All rows
that count are used for the bounds, in any group. If keys are public, these are the rows with public
keys; if keys are private, all rows with a key; with ids, the rows that bounding keeps. The
remaining loss pays for the statistic of each group within the drawn bounds.

*Neighbors* are tables that differ in one row, or in all rows of one person. The rows are added or
removed (add-remove), or replaced.

*Loss.* Both releases read the same table, so their losses add up. This holds although the second
release depends on the answer of the first (adaptive composition, `measurement.automatic_bounds`).
With ids, each release uses a separate secret key to choose the rows that it keeps. `step` has the
loss of the statistic.

For the bounds, let a step between neighbors touch L0 groups, and k rows in each, on either side.
The draw ignores groups. So it is a release about one column, in which a step adds or removes L0 k
rows (replace: removes L0 k rows and adds L0 k rows). The number of rows is private. By group
privacy the draw gets a part of the loss for each row (`measurement.unit`, which also has the
coupling of the kept rows). `outer_bounds` has the proof for one added or removed row. A row that
leaves the public keys, or enters them, counts as removed or added.

Under add-remove the rate c of the draw is epsilon / (4 L0 k), and about 1 / c rows may lie beyond a
bound. These are the rows of about 4 / epsilon people; without ids they are 4 / epsilon rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from .._core.attributes import same_as
from .._core.error_bars import ErrorBar, unknown
from .._core.types import Neighbors
from ..measurement.automatic_bounds import NOT_DRAWN, divided, extremes, trial
from ..measurement.outer_bounds import DrawnBounds, drawn_bounds
from ..measurement.statistic import Automatic, Offer
from ..measurement.tails import Counts, of_chunk
from ..measurement.times import Units, read
from ..measurement.unit import one_row
from ..measurement.unit_bounds import tails_of, with_unit_bound
from ..privacy import Loss
from ..rng import Generator
from ..summaries.units import total_sizes
from ..tables import Chunk
from ..tables.batches import MemoryColumn
from ..tables.sql.store import SqlRows
from .counts import GroupHistogram
from .of_column import OfColumn
from .step import Step
from .sums import Counted, OfLinear


class Tails:
    """Numbers of rows beyond public thresholds, for each of some columns, in all groups at once."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def packed(self) -> Tails:
        """Return these tails: they can be sent between processes as they are."""
        return self

    def moved(self, new_codes: NDArray[np.int32]) -> Tails:
        """Return a copy of the tails, which do not depend on the codes of groups."""
        return Tails(self.counts.copy())


@dataclass(frozen=True)
class UnitTails(Counted):
    """Numbers of units beyond public thresholds, by their number of groups or their largest sum.

    Parameters
    ----------
    of_groups : bool
        Whether the size of a unit is its number of groups, not its largest sum.
    like : Counted or OfLinear
        The mechanism that computes the sums of units.
    part : float
        The unit of the sums, as a number of cells.
    """

    of_groups: bool
    like: Counted | OfLinear
    part: float = 1.0

    by_unit: ClassVar[bool] = True

    column = same_as("like.column")

    def room(self, groups: int) -> NDArray[np.uint64]:
        return self.like.room(groups)

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        return self.like.add(totals, codes, values)

    def of_units(self, rows: SqlRows, ids: str, by: Mapping[str, Any]) -> Tails:
        """Return the tails of the sizes of units, computed in a database."""
        sizes = [(feature, self.part) for feature in self.like.integers(rows).features]
        return Tails(tails_of(*rows.unit_sizes(ids, by, self.of_groups, sizes))[None])

    def bound(self, room: NDArray[np.uint64], codes: NDArray[np.int32], groups: int) -> Any:
        """Return the tails of the sizes of units, from the sums of units by group."""
        sizes = np.zeros(codes.max(initial=-1) + 1)
        if self.of_groups:
            np.add.at(sizes, codes, 1)
        else:
            np.maximum.at(sizes, codes, total_sizes(room, self.like.cells.first, self.part))
        return Tails(tails_of(sizes)[None])

    def merge(self, room: Any, more: Any) -> None:
        """Add the sums of more rows, or the tails of other units, to `room`."""
        if isinstance(room, Tails):
            room.counts += more.counts
        else:
            super().merge(room, more)


@dataclass(frozen=True)
class GroupBounds(OfColumn):
    """The draw of bounds for some columns, from the rows of all groups together.

    Parameters
    ----------
    columns : tuple of str
    mechanism : DrawnBounds
        The mechanism for rows that are added or removed.
    units : Units, optional
        How a column of times is read.
    """

    columns: tuple[str, ...]
    mechanism: DrawnBounds
    units: Units | None = None

    @property
    def column(self) -> str:
        return self.columns[0]

    reads = same_as("columns")

    @property
    def reading(self) -> tuple[Any, ...]:
        return (GroupBounds, self.columns, self.units)

    def read(self, columns: Mapping[str, MemoryColumn]) -> list[NDArray[Any]]:
        return [read(columns[name], self.units) for name in self.reads]

    def room(self, groups: int) -> Tails:
        """Return the tails of no rows, to which rows are added."""
        return Tails(np.stack([of_chunk(Chunk(np.empty(0), 0))] * len(self.columns)))

    def add(self, room: Tails, codes: NDArray[np.int32], values: Any) -> int:
        """Add the rows that belong to a group; the draw refuses missing values among them."""
        counted = codes >= 0
        room.counts += [of_chunk(Chunk(column[counted], 0)) for column in values]
        return 0

    def merge(self, room: Tails, more: Tails) -> None:
        """Add the tails of other rows to `room`."""
        room.counts += more.counts

    def draw(self, room: Tails, generator: Generator) -> Any:
        """Draw bounds from tails: a pair for one column, or a tuple of pairs for several."""
        pairs = tuple(self.mechanism.pairs(room.counts, generator))
        return pairs if len(pairs) > 1 else pairs[0]


@dataclass(frozen=True)
class WithBounds(OfColumn):
    """A statistic of each group whose bounds are drawn first, for a part of its loss.

    Parameters
    ----------
    bounds : GroupBounds or UnitTails
    loss : Loss
        The loss of the bounds and the statistic together.
    parts : tuple of Loss
        The loss of the bounds, and the loss of the statistic.
    like : Sums or Quantiles
        The same mechanism with placeholder bounds, which reads the same columns.
    make : callable
        ``make(bounds)`` returns the mechanism of the statistic.
    draw : callable
        ``draw(room, generator)`` returns bounds.
    """

    bounds: GroupBounds | UnitTails
    loss: Loss
    parts: tuple[Loss, Loss]
    like: Any
    make: Callable[[Any], Any] = field(repr=False)
    draw: Callable[[Any, Generator], Any] = field(repr=False)

    column = same_as("bounds.column")
    units = same_as("bounds.units")

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(self.like.reads)

    #: How missing numbers are handled.
    nan = same_as("like.nan")

    def names(self, name: str) -> list[str]:
        """Return the names that columns of the answer may have, except names of bins."""
        names: list[str] = self.like.names(name)
        return names[-1:] if self.has_bins else names

    @property
    def has_bins(self) -> bool:
        """Tell whether names of answer columns depend on bounds that are not drawn yet."""
        return isinstance(self.like, GroupHistogram)

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return an unknown error bar, since the bounds are not drawn yet."""
        return unknown(confidence, NOT_DRAWN)


def with_bounds(
    statistic: Automatic[Any],
    step: Step,
    offered: Offer,
    units: Units | None,
    make: Callable[[Any, Offer], Any],
) -> WithBounds:
    """Return the mechanism of a statistic by group whose bounds are drawn first.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or a part of the loss is too small.
    """
    first, second = parts = divided(offered.loss)
    left, columns = Offer(second, offered.unit), tuple(name or "" for name in statistic.bounded)
    width = len(columns) if len(columns) > 1 else None

    def of(bounds: Any) -> Any:
        return make(replace(statistic, bounds=bounds), left)

    like, cost = trial(of, extremes(width)), one_row(first, step.neighbors, step.groups * step.rows)
    missing = nan_policy.of_rows(statistic.nan, is_private=True)
    bounds = GroupBounds(columns, drawn_bounds(cost, width, "add-remove", missing), units)
    return WithBounds(bounds, offered.loss, parts, like, of, bounds.draw)


def with_limits(loss: Loss, neighbors: Neighbors, make: Callable[[int, Loss], Any]) -> WithBounds:
    """Return the mechanism of a statistic by group whose clamp on units' totals is drawn first.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or a part of the loss is too small.
    """
    drawn = with_unit_bound("per_unit", loss, neighbors, make, lambda room, _: room.counts[0])
    like: Any = drawn.inner
    bounds = UnitTails(False, like, like.sums.part if isinstance(like, OfLinear) else 1.0)

    def draw(room: Tails, generator: Generator) -> int:
        return drawn.bound(drawn.tails(room, generator), generator)

    return WithBounds(bounds, loss, divided(loss), like, drawn.make, draw)
