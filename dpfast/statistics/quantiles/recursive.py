"""Many quantiles by the exponential mechanism, one after the other.

    RecursiveQuantiles(qs, lo, hi, neighbors, nan, loss, assume_sorted=False)

`qs` is a tuple of Fractions in [0, 1] in any order, duplicates allowed; the other arguments are as
in `exponential`. The release returns a float64 array in the order of `qs`, which ascends if `qs`
does.

The middle one is drawn first, then those below it from the rows below, and those above it from the
rows above, and so on (Kaplan, Schnapp and Stemmer, ICML 2022): L = floor(log2 m) + 1 levels for m
different quantiles, each of which spends one L-th of the loss.

The base measure is that of `grid.Base`, without which a value that many rows share would be found
only by luck. Every row has a mass in every node (a range of cells with some quantiles to find in
it), 1 in the root. What a node releases is a cell v, and a fraction f unless it is a leaf, which
has no quantile left to pass on. The rows below v go to the left child with the mass that they had,
those above to the right, and of those at v the fraction f of their mass goes left, the rest right.
So, given what has been released, the masses are a function of the row alone, and those of a row add
up to at most 1 over the nodes of a level. (To give a tie to one side, or half of it to each, would
be private too, but shift every quantile on that side by up to the size of the tie.) With M the mass
in a node, q' the place of the quantile in the node and D = max(q', 1 - q'), the utility is the
distance of ``q' M`` from the mass below (v, f), or in a leaf from what lies between the mass below
v and the mass up to v. A row of mass s in the node has a part w s of it below, with w from 0 to 1,
and is worth ``s (w - q')``, so:

* Adding a row changes the utility by at most ``b = D s``.
* Replacing a row of mass s by one of mass s' changes it by at most
  ``b = D max(s, s') + (1 - D) min(s, s')``. The change is ``s' (w' - q') - s (w - q')``. If the row
  that goes is the lower one, w >= w', and at the corners of this triangle that is ``q' (s - s')``,
  ``(1 - q') (s' - s)`` or ``-(1 - q') s - q' s'``, none of them larger than b in size. If it is the
  higher one, exchange the rows.
* At the ends, ``q' = 0`` and ``q' = 1``, the utility is the mass below or above, which changes by
  ``s' w' - s w``, or the same with 1 - w. In order, as before, that has the corners 0, -s and
  s' - s, so the *range* of the changes, which in general is at most 2 b, is ``max(s, s')``. That is
  what b = D s with D = 1/2 gives for one row, and for two ``b = max(s, s') / 2``.

With ``c = e / (2 k)`` in a node, its log-probabilities change by amounts whose range is at most
``e b / k``. Ranges add up over the nodes of a level, and in zCDP the costs of these ranges do. The
cost r(e) of a range is convex in e and concave in ``e**2`` (`privacy.Draws`). The first makes both
sums convex in the masses of either row, so they are largest where all of a row is in one node.
Adding: the largest is D / k, which is 1 for **k = D**. Replacing: both rows in one node need
``k >= b``, which is B = 1, or 1/2 at the ends; in two nodes, ``D1 / k1 + D2 / k2 <= 1`` holds for
**k = 2 D**, and ``(D1 / k1)**2 + (D2 / k2)**2 <= 1`` for **k = max(B, sqrt(2) D)**; a level of one
node needs no more than **k = B**. So a level has the range e, and in zCDP with the last k it costs
at most ``2 r(e / sqrt(2))``, for the sum of two costs with such squares is largest where these are
equal, and that is no less than r(e). The levels add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.error_bars import RANKS, Expected
from ..._kernels.rng import BitStream
from ...noise.grid import Base
from ...privacy import ZCDP, Pure
from ...rng import Generator
from ...sensitivity.ranks import rank_rule
from ...sources import Source
from ..ranked import Drawn
from .draws import CUT, PARTS, Column, choose, divide, width
from .exponential import rate_of


class Node(NamedTuple):
    """A step of the recursion, all of it public: quantile `number`, at `place` in its node."""

    number: int
    place: Fraction
    rate: float
    left: Node | None
    right: Node | None


def plan(qs: list[Fraction], loss: Pure | ZCDP, neighbors: str) -> Node:
    """Return the recursion over ascending different quantiles; see the top of this file."""
    levels = len(qs).bit_length()

    def node(i: int, j: int, low: Fraction, high: Fraction, level: int) -> Node | None:
        if i >= j:
            return None
        middle = (i + j) // 2
        q = qs[middle]
        # Quantiles are different, so only 0 or 1 can be at an end, and then the other is not.
        place = (q - low) / (high - low)
        # All levels but the last are full.
        alone = level == 0 or len(qs) == 1 << level
        rate = rate_of(loss, levels, place, neighbors, alone)
        left = node(i, middle, low, q, level + 1)
        right = node(middle + 1, j, q, high, level + 1)
        return Node(middle, place, rate, left, right)

    root = node(0, len(qs), Fraction(0), Fraction(1), 0)
    assert root is not None
    return root


def draw_all(
    column: Column,
    n: int,
    root: Node,
    count: int,
    stream: BitStream,
    *,
    parts: int = PARTS,
    cut: float = CUT,
) -> list[int]:
    """Draw the cells of all quantiles of a plan, ascending: the whole recursion, exactly."""
    cells = [0] * count
    waiting = [(root, (column.first, column.last), (Fraction(0), Fraction(n)))]
    while waiting:
        node, (a, b), (low, high) = waiting.pop()
        target = low + node.place * (high - low)
        position = target
        if a == b:
            cell = a
        elif node.left is None and node.right is None:
            cell = choose(column, target, node.rate, (a, b), stream, cut=cut)
        else:
            cell, position = divide(
                column, target, node.rate, (a, b), (low, high), stream, parts=parts, cut=cut
            )
        cells[node.number] = cell
        if node.right is not None:
            waiting.append((node.right, (cell, b), (position, high)))
        if node.left is not None:
            waiting.append((node.left, (a, cell), (low, position)))
    return cells


@dataclass(frozen=True, slots=True)
class RecursiveQuantiles(Drawn):
    """Many quantiles: the middle one, then those on either side among the rows on that side."""

    qs: tuple[Fraction, ...]
    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Pure | ZCDP
    assume_sorted: bool = False
    grid: float = field(init=False)
    base: Base = field(init=False, repr=False, compare=False)
    root: Node = field(init=False)

    def __post_init__(self) -> None:
        if not self.qs:
            checks.fail("qs", "at least one quantile", self.qs)
        different, loss = sorted(set(self.qs)), self.loss
        self.prepare(len(different).bit_length())
        object.__setattr__(self, "root", plan(different, loss, self.neighbors))

    @property
    def name(self) -> str:
        return "quantiles " + ", ".join(str(q) for q in self.qs)

    @property
    def rate(self) -> float:
        """Return ``c`` of the first draw."""
        return self.root.rate

    def reduce(self, source: Source) -> tuple[Column, int]:
        given = self.column(source)
        column = Column(given.ranks, self.lo, self.hi, self.grid, self.base)
        rules = [rank_rule(q) for q in sorted(set(self.qs))]
        reach = 0
        if self.lo < self.hi:
            reach = width(_slowest(self.root), self.base.total)
            # Targets deep in the recursion are off by what the draws before were off.
            given.ranks.prefetch([(rule, 2 * reach) for rule in rules], column.marks)
        window = given.ranks.window(rules[self.root.number], reach, column.cells)
        given.refuse(window.nan)
        return column, window.n

    def finish(self, summary: tuple[Column, int], generator: Generator) -> NDArray[np.float64]:
        column, n = summary
        if self.lo == self.hi:
            return np.full(len(self.qs), self.lo)
        different = sorted(set(self.qs))
        cells = draw_all(column, n, self.root, len(different), generator.stream())
        released = {q: cell * self.grid for q, cell in zip(different, cells, strict=True)}
        return np.array([released[q] for q in self.qs])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each quantile in ranks: the bound of one draw, draw by draw.

        A draw is off by what the ends of its range are off, in the proportion of its place between
        them, and by g of its own, as in `ExponentialQuantile.error`; one that divides a cell has
        `PARTS` candidates for each cell, one of which is within a rank of the target for up to as
        many rows. On the way to a quantile there are at most as many draws as levels.
        """
        if self.lo == self.hi:
            return Expected(confidence, 0.0, 0.0)
        different = sorted(set(self.qs))
        total = self.base.total
        failure = (1 - confidence) / len(different).bit_length()
        errors: dict[int, float] = {}

        def walk(node: Node | None, low: float, high: float) -> None:
            if node is None:
                return
            error = (1 - float(node.place)) * low + float(node.place) * high
            leaf = node.left is None and node.right is None
            error += math.log(total / failure * (1 if leaf else PARTS)) / node.rate + (not leaf)
            errors[node.number] = error
            walk(node.left, low, error)
            walk(node.right, error, high)

        walk(self.root, 0.0, 0.0)
        ranks = [errors[different.index(q)] for q in self.qs]
        return Expected(confidence, None, ranks, RANKS)


def _slowest(node: Node) -> float:
    children = (child for child in (node.left, node.right) if child is not None)
    return min([node.rate, *map(_slowest, children)])
