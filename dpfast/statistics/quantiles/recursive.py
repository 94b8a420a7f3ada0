"""Many private quantiles by a recursion of exponential mechanisms over parts of the rows.

    RecursiveQuantiles(lo, hi, neighbors, nan, loss, assume_sorted=False, lattice=None, qs=qs)

`qs` is a tuple of Fractions in [0, 1], in any order, with duplicates allowed. The other arguments
are as in `exponential`. The release returns a float64 array in the order of `qs`, which ascends if
`qs` does.

The middle quantile is drawn first. Then the quantiles below it are drawn from the rows below it,
the quantiles above it from the rows above it, and so on (Kaplan, Schnapp and Stemmer, ICML 2022).
For m different quantiles there are L = floor(log2 m) + 1 levels, each of which spends 1 / L of the
loss.

**Nodes.** A node is a range of cells with some quantiles to find in it. Every row has a mass in
every node; in the root node its mass is 1. A node releases a cell v. The rows below v go to the
left child with their masses, and the rows above v to the right child. If a node has children, it
also releases a fraction, a multiple of ``2**-32``: this part of the mass of each row at v goes to
the left child, and the rest to the right child. So a row at an end of a node may have only a part
of its mass in the node.

So, given the released cells and fractions, the masses of a row are a function of this row alone.
Over the nodes of a level they add up to at most 1. (It would also be private to give all rows at v
to one side, or half of them to each side. But this would shift every quantile on that side by up to
the number of these rows.)

`exponential` defines the positions of cells in a node. It proves that an added row of mass s
changes the utility by at most D s, and that replacing a row of mass s by a row of mass s' changes
it by at most ``b = D max(s, s') + (1 - D) min(s, s')``. Here D = max(q', 1 - q'), where q' is the
relative position of the quantile in the node.

**Loss.** With ``c = e / (2 k)`` in a node, its log-probabilities change by numbers of an interval
of length ``e b / k``. These lengths add up over the nodes of a level. In zCDP their costs r(e) add
up. r(e) is convex in e, and concave in ``e**2`` (`privacy.Draws`). As it is convex in e, both sums
are convex in the masses of each of the two rows. So they are largest if the whole mass of a row is
in one node.

* Adding: the largest sum is D / k. It is 1 for **k = D**.
* Replacing, both rows in one node: ``k >= b`` is needed, and b is 1.
* Replacing, in two nodes: ``D1 / k1 + D2 / k2 <= 1`` holds for **k = 2 D**.
  ``(D1 / k1)**2 + (D2 / k2)**2 <= 1`` holds for **k = max(1, sqrt(2) D)**. A level of one node
  needs no more than **k = 1**.

So a level has bounded range e. In zCDP, with the last k, it costs at most ``2 r(e / sqrt(2))``: two
costs whose squared arguments add up to ``e**2`` have the largest sum if they are equal, and this
sum is at least r(e). The losses of the levels add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.error_bars import RANKS, ErrorBar
from ..._kernels.rng import BitStream
from ...privacy import ZCDP, Pure
from ...rng import Generator
from ...sensitivity.ranks import rank_rule
from ...tables import Source
from ..ranked import Drawn
from .draws import CUT, PARTS, Column, DrawParams, draw, width
from .exponential import aim_of


class Node(NamedTuple):
    """Public parameters of one draw of the recursion: for the quantile `q`, of index `number`."""

    number: int
    q: Fraction
    params: DrawParams
    left: Node | None
    right: Node | None


@lru_cache(maxsize=256)
def plan(qs: tuple[Fraction, ...], loss: Pure | ZCDP, neighbors: str) -> Node:
    """Return the tree of draws for ascending different quantiles; see this module's docstring."""
    levels = len(qs).bit_length()

    def node(i: int, j: int, low: Fraction, high: Fraction, level: int) -> Node | None:
        if i >= j:
            return None
        middle = (i + j) // 2
        q = qs[middle]
        # Quantiles are different, so at most one of the ends is that of a q of 0 or 1.
        fraction = (q - low) / (high - low)
        # All levels but the last are full.
        alone = level == 0 or len(qs) == 1 << level
        params = aim_of(loss, levels, fraction, neighbors, alone, (i == 0, j == len(qs)))
        left = node(i, middle, low, q, level + 1)
        right = node(middle + 1, j, q, high, level + 1)
        return Node(middle, q, params, left, right)

    root = node(0, len(qs), Fraction(0), Fraction(1), 0)
    assert root is not None
    return root


def draw_all(
    column: Column, n: int, root: Node, count: int, stream: BitStream, *, cut: float = CUT
) -> list[int]:
    """Draw the ascending cells of all quantiles of a plan, by the whole recursion, exactly."""
    cells = [0] * count
    waiting = [(root, column.ends(n))]
    while waiting:
        (number, q, params, left, right), (low, high) = waiting.pop()
        column.base = column.base.aimed(q)
        divides = left is not None or right is not None
        end = draw(column, (low, high), params, n, stream, divides=divides, cut=cut)
        cells[number] = end.cell
        if right is not None:
            waiting.append((right, (end, high)))
        if left is not None:
            waiting.append((left, (low, end)))
    return cells


@dataclass(frozen=True, slots=True)
class RecursiveQuantiles(Drawn[NDArray[np.float64]]):
    """The mechanism of recursive quantiles: the middle quantile first, then those on each side."""

    qs: tuple[Fraction, ...] = field(kw_only=True)
    different: tuple[Fraction, ...] = field(init=False, repr=False)
    root: Node = field(init=False)
    reach: int = field(init=False, repr=False)
    order: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.qs:
            checks.fail("qs", "at least one quantile", self.qs)
        different = tuple(sorted(set(self.qs)))
        object.__setattr__(self, "different", different)
        self.prepare(len(different).bit_length())
        root = plan(different, self.loss, self.neighbors)
        object.__setattr__(self, "root", root)
        reach = width(_slowest(root), self.base.total) + 1 if self.lo < self.hi else 0
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "order", tuple(map(different.index, self.qs)))

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}

    @property
    def name(self) -> str:
        return "quantiles " + ", ".join(str(q) for q in self.qs)

    @property
    def rate(self) -> float:
        """The rate c of the first draw, which is the middle quantile."""
        return self.root.params.rate

    def reduce(self, source: Source) -> tuple[Column, int]:
        ranks = self.ranks_of(source)
        column = Column(ranks, self.lo, self.hi, self.grid, self.base, self.lattice)
        length, reach = ranks.length, self.reach
        rules = [rank_rule(q) for q in self.different]
        if self.lo < self.hi and (length is None or length > reach):
            # The target ranks of later draws depend on the errors of earlier ones.
            ranks.prefetch([(rule, 2 * reach) for rule in rules], column.edges_of)
        window = self.present(column.look(rules[self.root.number], reach))
        return column, window.n

    def finish(self, summary: tuple[Column, int], generator: Generator) -> NDArray[np.float64]:
        column, n = summary
        if self.lo == self.hi:
            return np.full(len(self.qs), self.lo)
        cells = draw_all(column, n, self.root, len(self.different), generator.stream())
        return np.array([self.value(cells[i]) for i in self.order])

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each quantile in ranks, summed over the draws that lead to it.

        The error of a draw has two parts: the errors of the two ends of its range, interpolated at
        the position between them, and the draw's own error g, as in `ExponentialQuantile.error`. A
        draw that divides a cell has `PARTS` candidates for each cell, one of which is within a rank
        of the target if the cell has at most `PARTS` rows. At most one draw on each level leads to
        a quantile.
        """
        if self.lo == self.hi:
            return ErrorBar(confidence, 0.0, 0.0)
        failure = (1 - confidence) / len(self.different).bit_length()
        errors: dict[int, float] = {}

        def walk(node: Node | None, low: float, high: float) -> None:
            if node is None:
                return
            error = low + node.params.fraction / PARTS * (high - low)
            leaf = node.left is None and node.right is None
            base = self.base.aimed(node.q)
            total = base.total / base.uniform / failure * (1 if leaf else PARTS)
            error += math.log(total) / node.params.rate + (not leaf)
            errors[node.number] = error
            walk(node.left, low, error)
            walk(node.right, error, high)

        walk(self.root, 0.0, 0.0)
        return ErrorBar(confidence, None, [errors[i] for i in self.order], RANKS)


def _slowest(node: Node) -> float:
    children = (child for child in (node.left, node.right) if child is not None)
    return min([node.params.rate, *map(_slowest, children)])
