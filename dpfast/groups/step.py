"""The sensitivities of answers by group: what one step between neighbors can change.

A step is one row, or with ids all rows of one person, that is added or removed (add-remove) or
replaced (replace). Let it touch L0 groups and k rows in each: 1 and 1 for a row. The group of a row
is a part of the row, so the size of a group is private under both relations.

*Under add-remove* a vector of integers by group, to which a row adds a vector of L1 norm s, and so
of L2 norm at most s, changes by L0 k s in L1, and by sqrt(L0) k s in L2. If draws by group are
independent, each gets an L0-th of the loss. For L0 = 1 each has all of it, which is exact parallel
composition (McSherry, SIGMOD 2009, for groups that are a partition).

*Under replace* the removed rows touch up to L0 groups, and so do the added rows.

* Vectors that are not negative: in a group that both sides touch, the squared norm of the
  difference is at most the sum of both squared norms, as the inner product is not negative. So L1
  is 2 L0 k s, and L2 is sqrt(2 L0) k s.
* Numbers between lo and hi, m = max(|lo|, |hi|): in a group that one side touches, the sum changes
  by at most k m; in a group that both touch, by at most the width w of the possible sums of 1 to k
  rows. Such a group takes one of the L0 groups of each side, so L2^2 is at most
  L0 max(w^2, 2 (k m)^2); L1 is 2 L0 k m, as w <= 2 k m.
* Where there are d groups in all and 2 L0 > d, both sides share at least 2 L0 - d of them. Let both
  sides touch b groups, and one side o groups. Then o + b <= d and o + 2 b <= 2 L0, L1 is at most
  o k m + b w, and L2^2 at most o (k m)^2 + b w^2. Both are linear in b and o, so they are largest
  at a corner: b = 0 with o = min(d, 2 L0), b = 2 L0 - d with o = d - b, or b = L0 alone. Counts
  have w = k m, and so an L1 of d k and an L2 of sqrt(d) k for L0 = d.
* Independent draws: a group that both sides touch changes by two steps of add-remove, and there are
  at most L0 such groups; or 2 L0 groups change by one step. So a step in a group may cost
  epsilon / (2 L0), and in zCDP, where two steps cost four times as much, rho / (4 L0).

* Moves: the removed rows are at most L0 moves, each of the numbers of one group, and so are the
  added rows. A move changes a sum by at most k m. It changes several sums of one group, to each of
  which a row adds at most s_i in size, by a vector of the box of half widths k s_i. This holds
  wherever the moves are: under add-remove with L0 moves, and for a group that both sides touch.

*Staircase noise* of epsilon / n for n moves is therefore epsilon-DP (`noise.calibrated_integer`;
for vectors `noise.stairs`), for a move changes no probability by more than e^(epsilon / n).

k rows in one group are k steps for a draw whose loss is that of a row: see `rows`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._core.types import Neighbors
from ..measurement.choice import Groups
from ..measurement.features import Basis
from ..noise.sensitivity import Sensitivity
from ..privacy import ZCDP, Pure


@dataclass(frozen=True, slots=True)
class Step:
    """How many groups a step between neighbors touches on either side, and rows in each group.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}
    groups : int
        L0: 1 for rows, with ids the most groups of a person.
    rows : int
        k, L-infinity: 1 for rows, with ids the most rows of a person in a group.
    every : int, optional
        d, how many groups there are, where that is public.
    of_units : bool, default False
        Whether rows are those of units with ids, of which parts of rows may count.
    """

    neighbors: Neighbors
    groups: int = 1
    rows: int = 1
    every: int | None = None
    of_units: bool = False

    @property
    def sides(self) -> int:
        """1 for a step that adds or removes; 2 for a step that replaces."""
        return 2 if self.neighbors == "replace" else 1

    @property
    def moves(self) -> int:
        """The number of groups that gain or lose rows, a group on both sides counted twice."""
        return self.groups * self.sides

    def numbers(self, first: int, last: int) -> Sensitivity:
        """Return the sensitivity of all groups' sums of integers from `first` to `last`."""
        k, largest = self.rows, self.rows * max(abs(first), abs(last))
        moves = self.moves
        if self.sides == 1:
            return Sensitivity(
                moves, moves * largest, moves * largest**2, largest, (moves, largest)
            )
        width = max(last, k * last) - min(first, k * first)
        alone = moves if self.every is None else min(moves, self.every)
        corners = [(alone, 0), (2 * alone - moves, moves - alone), (0, self.groups)]
        l1 = max(single * largest + both * width for single, both in corners)
        square = max(single * largest**2 + both * width**2 for single, both in corners)
        moved = moves if width > largest else alone, largest
        return Sensitivity(alone, l1, square, max(width, largest), moved)

    def vectors(self, size: int, coordinates: int, length: int | None = None) -> Sensitivity:
        """Return the sensitivity of sums by group of nonnegative vectors.

        Their L1 norm is at most `size`, their L2 norm at most `length`, by default `size`.
        """
        largest, touched = self.rows * size, self.moves
        longest = largest if length is None else self.rows * length
        many = touched * coordinates
        moved = many, largest
        return Sensitivity(many, touched * largest, touched * longest**2, largest, moved)

    def sensitivity(self, linear: Basis) -> Sensitivity | None:
        """Return the sensitivity of sums by group; None for several sums without a norm."""
        if linear.norm is not None:
            return self.vectors(linear.norm, len(linear.features))
        first, *more = linear.features
        return None if more else self.numbers(first.lo, first.hi)

    def groups_moved(self, growing: int = 0) -> Groups:
        """Return in how many groups neighbors differ; rows only add to `growing` sums of each."""
        every = growing * (self.every or 0) if self.sides == 1 else 0
        return Groups(self.moves, self.groups, every)

    def draw_loss(self, loss: Pure | ZCDP) -> Pure | ZCDP:
        """Return the loss allowed to the draw of one group, for one row added or removed."""
        if isinstance(loss, ZCDP):
            return ZCDP(loss.rho / (self.groups * self.sides**2))
        return Pure(loss.epsilon / (self.groups * self.sides))


#: One row is added or removed.
ROW = Step("add-remove")
