"""Sensitivities of the number of triangles of a graph, with one edge added or removed.

Let a_ij be the number of common neighbors of the vertices i and j, and b_ij the number of vertices
that are adjacent to exactly one of them. If the edge (i, j) is added or removed, the number of
triangles changes by a_ij. After k changed edges, i and j have at most min(a_ij + floor((k + min(k,
b_ij)) / 2), N - 2) common neighbors, because each of the first b_ij takes one edge, and each
further one takes two. A(k) is the largest of these numbers over all pairs (Nissim, Raskhodnikova
and Smith, STOC 2007, section 3.3). Of all pairs with the same a, only the pair with the largest b
counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Neighbors
from .known import KnownSensitivity, only
from .rounding import inflated, largest

#: Rows of the adjacency matrix that are multiplied at a time.
_ROWS = 512
#: float32 adds up this many ones exactly.
_MOST = 1 << 24
#: How errors name the statistic.
_TRIANGLES = "triangles, because neighbors differ in one added or removed edge"


@dataclass(frozen=True)
class Triangles(KnownSensitivity):
    """The number of triangles of a graph, for the functions of `dpfast.sensitivity`.

    The data are the edges. Neighbors are graphs on the same vertices that differ in one edge, which
    is added or removed. (For graphs that differ in one vertex with all its edges, the global
    sensitivity would be of order N**2.)

    Parameters
    ----------
    nodes : int, optional
        The public number of vertices, N. If it is given, the data are pairs of different vertices,
        numbered 0 .. N - 1. A pair that occurs twice is one edge. If it is not given, the data are
        a symmetric matrix of 0 and 1 with zeros on its diagonal.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    The local and the smooth sensitivity are NOT PRIVATE. Both are exact. The global sensitivity is
    ``max(N - 2, 0)``, which needs `nodes`. Cost: a product of N by N matrices of float32, which
    must fit into memory, and at most 2 N distances.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import dpfast as dp
    >>> path, triangles = [(0, 1), (1, 2), (2, 3)], dp.sensitivity.Triangles(nodes=4)
    >>> dp.sensitivity.local(triangles, path), dp.sensitivity.local(triangles, path, at_distance=1)
    (1.0, 2.0)
    >>> round(dp.sensitivity.smooth(triangles, path, beta=0.1), 3)
    1.81
    >>> dp.sensitivity.global_(triangles)
    2.0
    """

    nodes: int | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None:
            checks.whole("nodes", self.nodes, 0, 1 << 53)

    def global_sensitivity(self, rows: int | None, neighbors: Neighbors) -> float:
        only("add-remove", _TRIANGLES, neighbors)
        if self.nodes is None:
            checks.fail("nodes", "given for the global sensitivity", None)
        return float(max(self.nodes - 2, 0))

    def local_sensitivity(self, data: Any, at_distance: int, neighbors: Neighbors) -> float:
        only("add-remove", _TRIANGLES, neighbors)
        matrix = _adjacency(data, self.nodes)
        n = len(matrix)
        return float(_at(_fronts(matrix), n, min(at_distance, 2 * n)))

    def smooth_sensitivity(self, data: Any, beta: float, neighbors: Neighbors) -> float:
        only("add-remove", _TRIANGLES, neighbors)
        matrix = _adjacency(data, self.nodes)
        n = len(matrix)
        if n < 3:
            return 0.0
        front, least = _fronts(matrix), 2.0**-1022
        best = largest(lambda k: _at(front, n, k), beta=beta, most=n - 2, stop=2 * n, least=least)
        return inflated(best)


def _adjacency(graph: Any, nodes: Any) -> NDArray[np.float32]:
    """Return the checked graph as a symmetric adjacency matrix of 0 and 1."""
    rule = "a symmetric matrix of 0 and 1 with zeros on its diagonal, or pairs of nodes"
    array = checks.array("data", graph, rule)
    if array.dtype.kind not in "biuf":
        checks.fail_kind("data", rule, graph)
    if nodes is None:
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            checks.fail_kind("data", rule, graph)
        adjacent = array != 0
        sound = not adjacent.diagonal().any() and (adjacent == adjacent.T).all()
        if not sound or not ((array == 0) | (array == 1)).all():
            checks.fail_kind("data", rule, graph)
        return np.asarray(adjacent.astype(np.float32))
    count = checks.whole("nodes", nodes, 0, _MOST)
    pairs = array.reshape(0, 2).astype(np.int64) if array.size == 0 else array
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        checks.fail_kind("data", rule, graph)
    if pairs.size and (
        pairs.min() < 0 or pairs.max() >= count or (pairs[:, 0] == pairs[:, 1]).any()
    ):
        checks.fail_kind("data", rule + ", numbered from 0 and different", graph)
    matrix = np.zeros((count, count), np.float32)
    matrix[pairs[:, 0], pairs[:, 1]] = 1
    matrix[pairs[:, 1], pairs[:, 0]] = 1
    return matrix


def _fronts(matrix: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return the pairs (a_ij, b_ij) of a graph that no other pair exceeds in both numbers."""
    n = len(matrix)
    degree = matrix.sum(axis=1, dtype=np.float64).astype(np.int64)
    most = np.full(max(n - 1, 1), -1, np.int64)
    for start in range(0, n, _ROWS):
        part = matrix[start : start + _ROWS]
        a = (part @ matrix).astype(np.int64)
        edge = part.astype(np.int64)
        b = degree[start : start + _ROWS, None] + degree - 2 * a - 2 * edge
        keep = np.ones(a.shape, bool)  # all pairs except those of a vertex with itself
        keep[np.arange(len(part)), np.arange(start, start + len(part))] = False
        np.maximum.at(most, a[keep], b[keep])
    front: list[tuple[int, int]] = []
    for common in range(len(most) - 1, -1, -1):
        if most[common] >= 0 and (not front or most[common] > front[-1][1]):
            front.append((common, int(most[common])))
    return front


def _at(front: list[tuple[int, int]], nodes: int, k: int) -> int:
    return max((min(a + (k + min(k, b)) // 2, nodes - 2) for a, b in front), default=0)
