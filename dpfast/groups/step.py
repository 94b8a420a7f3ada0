"""The sensitivities of answers by group: what one step between neighbors can change.

A step between neighbors adds or removes one row (add-remove), or replaces one row (replace). With
ids it does so with all rows of one person. Let a step touch L0 groups, and k rows in each of them.
For a row, L0 = 1 and k = 1. The group of a row is a part of the row, so the size of a group is
private under both relations.

*Under add-remove.* Consider a vector of integers for each group, to which a row adds a vector of L1
norm s. Its L2 norm is at most s. A step changes the vectors of all groups by at most L0 k s in L1,
and by at most sqrt(L0) k s in L2. If draws by group are independent, each draw gets an L0-th of the
loss. For L0 = 1 each draw has the whole loss. This is exact parallel composition (McSherry, SIGMOD
2009, for groups that are a partition).

*Under replace* the removed rows touch up to L0 groups, and so do the added rows. Call these the two
sides of the step.

* Vectors that are not negative. In a group that both sides touch, the inner product of both vectors
  is not negative. So the squared norm of their difference is at most the sum of their squared
  norms. Hence L1 is at most 2 L0 k s, and L2 is at most sqrt(2 L0) k s.
* Numbers between lo and hi. Let m = max(|lo|, |hi|), and let w be the width of the possible sums of
  1 to k rows. In a group that one side touches, the sum changes by at most k m. In a group that
  both sides touch, it changes by at most w, and the group takes one of the L0 groups of each side.
  So L2^2 is at most L0 max(w^2, 2 (k m)^2). Because w <= 2 k m, L1 is at most 2 L0 k m.
* A public number of groups. Let there be d groups in all, with 2 L0 > d. Then both sides share at
  least 2 L0 - d groups. Let both sides touch b groups, and let exactly one side touch o groups.
  Then o + b <= d and o + 2 b <= 2 L0. L1 is at most o k m + b w, and L2^2 is at most
  o (k m)^2 + b w^2. Both bounds are linear in b and o, so they are largest at a corner: b = 0 with
  o = min(d, 2 L0), or b = 2 L0 - d with o = d - b, or b = L0 with o = 0. Counts have w = k m. So
  for L0 = d their L1 is d k, and their L2 is sqrt(d) k.
* Independent draws. Either up to L0 groups, which both sides touch, change by two steps of
  add-remove, or up to 2 L0 groups change by one step. So the draw of a group may cost
  epsilon / (2 L0) for one step. In zCDP two steps cost four times as much as one, so it may cost
  rho / (4 L0).

*Moves.* A move is what the rows of one side do to the sums of one group. Under add-remove there are
at most L0 moves, and under replace at most 2 L0; a group that both sides touch has two. A move
changes a sum by at most k m. If a row adds at most s_i in size to sum i of its group, a move
changes the sums of the group by a vector of the box with half-widths k s_i.

*Staircase noise.* Noise of epsilon / n for n moves is epsilon-DP (`noise.calibrated_integer`; for
vectors `noise.stairs`), because a move changes no probability by more than a factor of
e^(epsilon / n).

For a draw whose loss is stated for one row, k rows in one group are k steps: see `rows`.
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
    """The numbers of groups, and of rows in each, that a step between neighbors touches.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}
    groups : int
        L0: the largest number of groups of a person; 1 without ids.
    rows : int
        k (L-infinity): the largest number of rows of a person in a group; 1 without ids.
    every : int, optional
        d: the number of all groups, if it is public.
    of_units : bool, default False
        Whether the rows belong to units with ids, for which parts of rows may count.
    """

    neighbors: Neighbors
    groups: int = 1
    rows: int = 1
    every: int | None = None
    of_units: bool = False

    @property
    def sides(self) -> int:
        """The number of sides of a step: 1 under add-remove, 2 under replace."""
        return 2 if self.neighbors == "replace" else 1

    @property
    def moves(self) -> int:
        """The number of moves of a step; a group that both sides touch has two."""
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

        A row adds a vector of an L1 norm of at most `size`, and an L2 norm of at most `length`. By
        default `length` is `size`.
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
        """Return the numbers of moved groups; rows can only increase `growing` sums of a group."""
        every = growing * (self.every or 0) if self.sides == 1 else 0
        return Groups(self.moves, self.groups, every)

    def draw_loss(self, loss: Pure | ZCDP) -> Pure | ZCDP:
        """Return the loss allowed to the draw of one group, for one row added or removed."""
        if isinstance(loss, ZCDP):
            return ZCDP(loss.rho / (self.groups * self.sides**2))
        return Pure(loss.epsilon / (self.groups * self.sides))


#: One row is added or removed.
ROW = Step("add-remove")
