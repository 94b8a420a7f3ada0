"""Sensitivities of a minimum spanning tree's cost: public edges, one private weight replaced.

Weights are clamped and counted from the lower bound, so they lie in [0, R]. Of the edges that cross
a cut, let w_t be the t-th lightest weight (R if there are fewer). Then

    A(k) = the largest over all cuts of max(w_(k+1), w_(k+2) - w_1)

(Nissim, Raskhodnikova and Smith, STOC 2007, section 3.2; tests compare it with the definition). The
first number is at least t if and only if some cut has at most k edges lighter than t. The second is
at least t - w_1 if and only if some cut with the lightest weight w_1 has at most k + 1 such edges.
The lightest edge of a cut is in a minimum spanning tree, and every cut crosses the tree. For a tree
edge e, consider the cuts that separate its ends. Let c_e(t) be the smallest number of edges lighter
than t in such a cut. Then

    S = the largest over t and e of max(t e^(-beta c_e(t)), (t - w_e) e^(-beta (c_e(t) - 1))),

where the second number counts only for w_e < t. (If a cut that separates the ends of e has an edge
lighter than w_e, its w_(k+2) - w_1 is larger than the number that is counted for it.) c_e(t) is the
capacity of a minimum cut among the edges lighter than t, which takes one flow. It is 0 for t <=
w_e, and grows with t. Only the distinct weights and R are tried as t. For a forest the same holds
for each component.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.extras import extra
from .._core.types import Bounds, Neighbors
from ..errors import DataError
from .known import KnownSensitivity, only
from .ranks import effective_floor
from .rounding import float_up, inflated, rounded_up

#: How errors name the statistic.
_TREE = "a spanning tree, because neighbors differ in one weight"


@dataclass(frozen=True, eq=False)
class TreeCost(KnownSensitivity):
    """The cost of a minimum spanning tree of a graph, for the functions of `dpfast.sensitivity`.

    The data are the weights of the edges. The edges are public, and neighbors differ in one weight
    ("replace"). For a graph that is not connected, it is the cost of a minimum spanning forest.

    Parameters
    ----------
    edges : array_like of int, shape (m, 2)
        Pairs of different vertices.
    bounds : (float, float)
        Public limits of a weight; weights are clamped to them.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    The local and the smooth sensitivity are NOT PRIVATE. Their data are one number for each edge.
    Both are exact, up to rounding. They compute maximum flows, which need SciPy: for each edge of
    the tree up to ``log2(m)`` flows for the local sensitivity, and up to ``log2(m)`` for each size
    of a cut for the smooth one. The global sensitivity is ``hi - lo``. (As a function of one weight
    w, the cost is a constant plus the smaller of w and the heaviest weight on the best detour.)

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> square = dp.sensitivity.TreeCost([(0, 1), (1, 2), (2, 3), (3, 0)], bounds=(0, 10))
    >>> weights = [1, 2, 3, 4]
    >>> round(dp.sensitivity.local(square, weights, neighbors="replace"), 6)
    3.0
    >>> round(dp.sensitivity.smooth(square, weights, beta=0.5, neighbors="replace"), 3)
    5.459
    """

    edges: ArrayLike
    bounds: Bounds = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", checks.bounds(self.bounds))
        rule = "pairs of different vertices, whole numbers of at least 0"
        ends = checks.array("edges", self.edges, rule)
        if ends.size == 0:
            ends = np.zeros((0, 2), np.int64)
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            checks.fail_kind("edges", rule, self.edges)
        if ends.size and (ends.min() < 0 or (ends[:, 0] == ends[:, 1]).any()):
            checks.fail_kind("edges", rule, self.edges)
        object.__setattr__(self, "edges", ends)

    def global_sensitivity(self, rows: int | None, neighbors: Neighbors) -> float:
        only("replace", _TREE, neighbors)
        lo, hi = checks.bounds(self.bounds)
        return float_up(Fraction(hi) - Fraction(lo))

    def local_sensitivity(self, data: Any, at_distance: int, neighbors: Neighbors) -> float:
        cuts, best = self._cuts(data, neighbors), 0.0
        for edge in cuts.tree:
            # w_(k + 1) of some cut, and w_(k + 2) - w_1 of some cut with this lightest edge.
            weight = cuts.weight(edge)
            best = max(best, _highest(cuts, edge, at_distance, best))
            best = max(best, _highest(cuts, edge, at_distance + 1, best + weight) - weight)
        return rounded_up(best)

    def smooth_sensitivity(self, data: Any, beta: float, neighbors: Neighbors) -> float:
        cuts = self._cuts(data, neighbors)
        best = effective_floor(0.0, 0.0, cuts.reach) if cuts.tree else 0.0
        for edge in cuts.tree:
            best = max(best, _best(cuts, edge, beta, best))
        return inflated(best)

    def _cuts(self, weights: Any, neighbors: str) -> _Cuts:
        only("replace", _TREE, neighbors)
        return _Cuts(np.asarray(self.edges), weights, checks.bounds(self.bounds))


class _Cuts:
    """NOT PRIVATE. A graph with clamped weights (less the lower bound), and its minimum cuts."""

    def __init__(self, ends: NDArray[Any], weights: Any, bounds: tuple[float, float]) -> None:
        lo, hi = bounds
        rule = "one real number for each edge"
        array = checks.array("data", weights, rule)
        if array.dtype.kind not in "iuf" or array.shape != (len(ends),):
            checks.fail_kind("data", rule, weights)
        values = array.astype(np.float64)
        if np.isnan(values).any():
            raise DataError("data must be numbers, got NaN")
        self.reach = hi - lo
        values = np.clip(values, lo, hi) - lo
        order = np.argsort(values, kind="stable")
        vertices, numbers = np.unique(ends, return_inverse=True)
        self._nodes = len(vertices)
        self._ends = numbers.reshape(-1, 2).astype(np.int32)[order]
        self._weights = values[order]
        #: The thresholds: all distinct weights, and the largest possible weight.
        self.levels = np.unique(np.append(values, self.reach))
        self._lighter = np.searchsorted(self._weights, self.levels)
        self._flows: dict[int, Any] = {}
        self.tree = self._kruskal() if self.reach else []

    def _kruskal(self) -> list[int]:
        """Return the numbers of the edges of a minimum spanning forest, the lightest first."""
        parent = list(range(self._nodes))

        def root(v: int) -> int:
            while parent[v] != v:
                parent[v] = v = parent[parent[v]]
            return v

        forest = []
        for edge, (u, v) in enumerate(self._ends.tolist()):
            a, b = root(u), root(v)
            if a != b:
                parent[a] = b
                forest.append(edge)
        return forest

    def weight(self, edge: int) -> float:
        return float(self._weights[edge])

    def first(self, edge: int) -> int:
        """Return the index of the first level above an edge's weight, or the number of levels."""
        return int(np.searchsorted(self.levels, self._weights[edge], side="right"))

    def capacity(self, edge: int, level: int) -> int:
        """Return c_e(t), a minimum cut's size, for an edge and the threshold ``levels[level]``."""
        module = extra("scipy.sparse.csgraph", "a cut of a graph")
        network = self._flows.get(level)
        if network is None:
            network = self._flows[level] = self._network(int(self._lighter[level]))
        u, v = self._ends[edge].tolist()
        return int(module.maximum_flow(network, u, v).flow_value)

    def _network(self, count: int) -> Any:
        from scipy.sparse import csr_array

        ends, n = self._ends[:count], self._nodes
        u, v = np.concatenate([ends, ends[:, ::-1]]).T
        return csr_array((np.ones(2 * count, np.int32), (u, v)), shape=(n, n), dtype=np.int32)


def _highest(cuts: _Cuts, edge: int, most: int, reached: float) -> float:
    """Return the highest threshold with a cut of up to `most` lighter edges, if above `reached`."""
    low = cuts.first(edge) - 1  # at this threshold the cut is still empty
    high = len(cuts.levels)
    while high - low > 1:
        middle = (low + high) // 2
        if cuts.levels[middle] <= reached or cuts.capacity(edge, middle) <= most:
            low = middle
        else:
            high = middle
    return float(cuts.levels[low])


def _best(cuts: _Cuts, edge: int, beta: float, best: float) -> float:
    """Return the larger of `best` and a tree edge's candidates for the smooth sensitivity."""
    weight, first, last = cuts.weight(edge), cuts.first(edge), len(cuts.levels) - 1

    def worth(level: int, size: int) -> float:
        """Return the larger of the two candidates at a threshold with a minimum cut of `size`."""
        t = float(cuts.levels[level])
        alone = t * math.exp(-beta * size)
        return max(alone, (t - weight) * math.exp(-beta * (size - 1))) if size else alone

    best = max(best, weight)  # the highest threshold with an empty cut is the weight of the edge
    if first > last:
        return best
    ends = first, cuts.capacity(edge, first), last, cuts.capacity(edge, last)
    for level, size in (ends[:2], ends[2:]):
        best = max(best, worth(level, size))
    pending = [ends]
    while pending:
        low, least, high, most = pending.pop()
        # The size of a cut grows with the threshold. If both ends have equal sizes, the highest
        # threshold of this size was checked before.
        if high - low < 2 or least == most or worth(high - 1, least) <= best:
            continue
        middle = (low + high) // 2
        size = cuts.capacity(edge, middle)
        best = max(best, worth(middle, size))
        pending += [(low, least, middle, size), (middle, size, high, most)]
    return best
