"""Spanning trees and triangles by definition: every weighting, every graph, of a few vertices."""

import itertools
import math

import numpy as np


def tree_cost(count, edges, weights):
    parent = list(range(count))

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    cost = 0
    for weight, (u, v) in sorted(zip(weights, edges, strict=True)):
        if root(u) != root(v):
            parent[root(u)] = root(v)
            cost += weight
    return cost


class Weightings:
    """All weightings of a graph by 0 .. top; A[k] is the largest local sensitivity within k."""

    def __init__(self, count, edges, top, most):
        self.edges, self.top = edges, top
        self.all = list(itertools.product(range(top + 1), repeat=len(edges)))
        shape = (top + 1,) * len(edges)
        cost = np.array([tree_cost(count, edges, w) for w in self.all], float).reshape(shape)
        local = np.zeros(shape)
        for axis in range(len(edges)):
            high, low = (f(cost, axis=axis, keepdims=True) for f in (np.max, np.min))
            local = np.maximum(local, np.maximum(high - cost, cost - low))
        self.at_distance = [local]
        for _ in range(most):
            last = self.at_distance[-1]
            grown = [last, *(last.max(axis=a, keepdims=True) for a in range(len(edges)))]
            self.at_distance.append(np.maximum.reduce(np.broadcast_arrays(*grown)))

    def smooth(self, beta):
        return np.max([np.exp(-beta * k) * a for k, a in enumerate(self.at_distance)], axis=0)


def cuts(count, edges):
    """The edges of every cut of a connected graph."""
    found = []
    for bits in range(1, 1 << (count - 1)):
        side = [(bits >> v) & 1 for v in range(count)]
        found.append([e for e, (u, v) in enumerate(edges) if side[u] != side[v]])
    return found


def tree_at_distance(count, edges, weights, top, k, alone=False):
    """max over cuts of max(w_(k+1), w_(k+2) - w_1); `alone` leaves out the second, a fault."""
    best = 0.0
    for cut in cuts(count, edges):
        w = sorted(weights[e] for e in cut) + [top] * (k + 2)
        best = max(best, w[k], 0 if alone else w[k + 1] - w[0])
    return best


def triangle_graphs(nodes, most):
    """(adjacency matrices, A[k]) of all graphs on so many vertices."""
    pairs = list(itertools.combinations(range(nodes), 2))
    place = {p: 1 << i for i, p in enumerate(pairs)}
    graphs = np.arange(1 << len(pairs))
    count = np.zeros(len(graphs))
    for a, b, c in itertools.combinations(range(nodes), 3):
        triangle = place[a, b] | place[a, c] | place[b, c]
        count += (graphs & triangle) == triangle
    local = np.max([abs(count - count[graphs ^ bit]) for bit in place.values()], axis=0)
    at_distance = [local]
    for _ in range(most):
        last = at_distance[-1]
        at_distance.append(
            np.maximum.reduce([last, *(last[graphs ^ bit] for bit in place.values())])
        )
    matrices = np.zeros((len(graphs), nodes, nodes), int)
    for (i, j), bit in place.items():
        matrices[:, i, j] = matrices[:, j, i] = (graphs & bit) != 0
    return matrices, at_distance


def triangles_at_distance(matrix, k, halves=True):
    """By pairs of vertices; without `halves` every edge makes a common neighbor, a fault."""
    n, best = len(matrix), 0
    for i, j in itertools.combinations(range(n), 2):
        others = [v for v in range(n) if v not in (i, j)]
        a = sum(matrix[i][v] and matrix[j][v] for v in others)
        b = sum(matrix[i][v] != matrix[j][v] for v in others)
        best = max(best, min(a + ((k + min(k, b)) // 2 if halves else k), n - 2))
    return best


def smooth(at, beta, most):
    return max(math.exp(-beta * k) * at(k) for k in range(most + 1))
