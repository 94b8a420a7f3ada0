"""Sensitivities of the cost of a minimum spanning tree: public graph, one private weight changes.

Weights are clamped and counted from the lower bound, so they lie in [0, R]. Of the edges that cross
a cut, let w_t be the t-th lightest weight (R if there are fewer). Then

    A(k) = the largest over all cuts of max(w_(k+1), w_(k+2) - w_1)

(Nissim, Raskhodnikova and Smith, STOC 2007, section 3.2; tests compare it with the definition). The
first is at least t if and only if some cut has at most k edges lighter than t; the second is at
least t - w_1 if and only if some cut whose lightest weight is w_1 has at most k + 1. The lightest
edge of a cut is in a minimum spanning tree, and every cut crosses the tree. So with c_e(t), the
fewest edges lighter than t of a cut that parts the ends of the tree edge e,

    S = the largest over t and e of max(t e^(-beta c_e(t)), (t - w_e) e^(-beta (c_e(t) - 1))),

the second for w_e < t. (A cut that parts the ends of e and has a lighter edge than w_e has a larger
w_(k+2) - w_1 than what is counted, so nothing is counted that is not there.) c_e(t) is the
capacity of a minimum cut among the edges lighter than t, one flow each; it is 0 while t <= w_e, and
grows with t, which only the distinct weights and R need to be.
A forest is the same, one component at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core import checks
from .._core.extras import extra
from .._core.types import Bounds, Number
from ..errors import DataError
from .quantile import global_quantile
from .ranks import effective_floor
from .rounding import inflated, rounded_up


class _Cuts:
    """A graph of clamped weights, and c_e(t) for the edges e of a minimum spanning forest.

    NOT PRIVATE. Weights count from the lower bound on.
    """

    def __init__(self, edges: Any, weights: Any, bounds: Any) -> None:
        lo, hi = checks.bounds(bounds)
        rule = "pairs of different vertices, whole numbers of at least 0"
        ends = checks.array("edges", edges, rule)
        if ends.size == 0:
            ends = np.zeros((0, 2), np.int64)
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            checks.fail_kind("edges", rule, edges)
        if ends.size and (ends.min() < 0 or (ends[:, 0] == ends[:, 1]).any()):
            checks.fail_kind("edges", rule, edges)
        rule = "one real number for each edge"
        given = checks.array("weights", weights, rule)
        if given.dtype.kind not in "iuf" or given.shape != (len(ends),):
            checks.fail_kind("weights", rule, weights)
        values = given.astype(np.float64)
        if np.isnan(values).any():
            raise DataError("weights must be numbers, got NaN")
        self.reach = hi - lo
        values = np.clip(values, lo, hi) - lo
        order = np.argsort(values, kind="stable")
        vertices, numbers = np.unique(ends, return_inverse=True)
        self._nodes = len(vertices)
        self._ends = numbers.reshape(-1, 2).astype(np.int32)[order]
        self._weights = values[order]
        #: Thresholds: the distinct weights and the largest possible weight.
        self.levels = np.unique(np.append(values, self.reach))
        self._lighter = np.searchsorted(self._weights, self.levels)
        self._flows: dict[int, Any] = {}
        self.tree = self._kruskal() if self.reach else []

    def _kruskal(self) -> list[int]:
        """Return the edges of a minimum spanning forest as places, the lightest first."""
        parent = list(range(self._nodes))

        def root(v: int) -> int:
            while parent[v] != v:
                parent[v] = v = parent[parent[v]]
            return v

        forest = []
        for place, (u, v) in enumerate(self._ends.tolist()):
            a, b = root(u), root(v)
            if a != b:
                parent[a] = b
                forest.append(place)
        return forest

    def weight(self, edge: int) -> float:
        return float(self._weights[edge])

    def first(self, edge: int) -> int:
        """Return the first level above the edge's weight (or the number of levels)."""
        return int(np.searchsorted(self.levels, self._weights[edge], side="right"))

    def capacity(self, edge: int, level: int) -> int:
        """Return c_e(t) for the edge and the threshold ``levels[level]``."""
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


def global_tree_cost(*, bounds: Bounds) -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of a tree's cost.

    Parameters
    ----------
    bounds : (float, float)
        Public limits of a weight; values outside count as the limit.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    As a function of one weight w, the cost is a constant plus the smaller of w and the heaviest
    weight on the best detour.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_tree_cost(bounds=(0, 3))
    3.0
    """
    return global_quantile(bounds=bounds)


def local_tree_cost(
    edges: ArrayLike, weights: ArrayLike, *, bounds: Bounds, at_distance: int = 0
) -> float:
    """NOT PRIVATE. Return the local sensitivity of a spanning tree's cost within a distance.

    The edges are public, their weights private; neighbors differ in one weight.

    Parameters
    ----------
    edges : array_like of int, shape (m, 2)
        Pairs of different vertices. A graph that is not connected has a spanning forest.
    weights : array_like, shape (m,)
        One number for each edge, clamped to `bounds`.
    bounds : (float, float)
        Public limits of a weight.
    at_distance : int, default 0
        The number of weights that may be changed first.

    Returns
    -------
    float
        The exact number, rounded up by some units at most.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        If a weight is NaN.
    MissingExtraError
        If SciPy is not installed.

    Notes
    -----
    Cost: up to ``log2(m)`` maximum flows for each edge of the tree.

    Examples
    --------
    >>> import dpfast as dp
    >>> square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> round(dp.sensitivity.local_tree_cost(square, [1, 2, 3, 4], bounds=(0, 10)), 6)
    3.0
    """
    k = checks.whole("at_distance", at_distance)
    cuts = _Cuts(edges, weights, bounds)
    best = 0.0
    for edge in cuts.tree:
        # w_(k + 1) of some cut, and w_(k + 2) - w_1 of some cut with this lightest edge.
        best = max(best, _highest(cuts, edge, k, best))
        best = max(best, _highest(cuts, edge, k + 1, best + cuts.weight(edge)) - cuts.weight(edge))
    return rounded_up(best)


def _highest(cuts: _Cuts, edge: int, most: int, known: float) -> float:
    """Return the highest threshold with a cut of at most `most` edges, if above `known`."""
    low = cuts.first(edge) - 1  # here the cut is empty
    high = len(cuts.levels)
    while high - low > 1:
        middle = (low + high) // 2
        if cuts.levels[middle] <= known or cuts.capacity(edge, middle) <= most:
            low = middle
        else:
            high = middle
    return float(cuts.levels[low])


def smooth_tree_cost(
    edges: ArrayLike, weights: ArrayLike, *, beta: Number, bounds: Bounds
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the cost of a minimum spanning tree.

    The edges are public, their weights private; neighbors differ in one weight.

    Parameters
    ----------
    edges : array_like of int, shape (m, 2)
        Pairs of different vertices. A graph that is not connected has a spanning forest.
    weights : array_like, shape (m,)
        One number for each edge, clamped to `bounds`.
    beta : float
        Smoothness, above 0.
    bounds : (float, float)
        Public limits of a weight.

    Returns
    -------
    float
        At least the smooth sensitivity and at most ``1 + 2**-41`` times it, and at least
        ``max(R 2**-1000, 2**-1022)``. Zero without edges or for equal bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        If a weight is NaN.
    MissingExtraError
        If SciPy is not installed.

    Notes
    -----
    Exact. Cost: for each edge of the tree a maximum flow at some thresholds, by bisection between
    those where the least cut can still win; at most ``log2(m)`` for each size of a cut.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> S = dp.sensitivity.smooth_tree_cost(square, [1, 2, 3, 4], beta=0.5, bounds=(0, 10))
    >>> round(S, 3)
    5.459
    """
    smoothness = checks.positive("beta", beta)
    cuts = _Cuts(edges, weights, bounds)
    best = effective_floor(0.0, 0.0, cuts.reach) if cuts.tree else 0.0
    for edge in cuts.tree:
        best = max(best, _best(cuts, edge, smoothness, best))
    return inflated(best)


def _best(cuts: _Cuts, edge: int, beta: float, best: float) -> float:
    """Return the largest candidate of one edge of the tree, if it is above `best`."""
    weight, first, last = cuts.weight(edge), cuts.first(edge), len(cuts.levels) - 1

    def worth(level: int, size: int) -> float:
        """Return the larger candidate at a threshold, for a cut of this size."""
        t = float(cuts.levels[level])
        alone = t * math.exp(-beta * size)
        return max(alone, (t - weight) * math.exp(-beta * (size - 1))) if size else alone

    best = max(best, weight)  # the highest threshold with an empty cut
    if first > last:
        return best
    ends = first, cuts.capacity(edge, first), last, cuts.capacity(edge, last)
    for level, size in (ends[:2], ends[2:]):
        best = max(best, worth(level, size))
    pending = [ends]
    while pending:
        low, least, high, most = pending.pop()
        # Sizes grow with the threshold: between equal ones the highest threshold has been seen.
        if high - low < 2 or least == most or worth(high - 1, least) <= best:
            continue
        middle = (low + high) // 2
        size = cuts.capacity(edge, middle)
        best = max(best, worth(middle, size))
        pending += [(low, least, middle, size), (middle, size, high, most)]
    return best
