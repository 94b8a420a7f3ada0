"""A decision tree: which attribute divides a node, and how many rows of each class it has."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._kernels import sulq as cross

#: The least noise that counts, of integers that are all exact below it.
LEAST = 2.0**-40


class _Shape:
    """Nodes by the number of each, of which 0 is the root; those of a `Tree`."""

    __slots__ = ()

    feature: list[int] | NDArray[np.int64]
    children: list[int] | NDArray[np.int64]
    values: list[int] | NDArray[np.int64]

    def below(self, node: int) -> slice:
        """Return the children of a node that is divided."""
        first = int(self.children[node])
        return slice(first, first + int(self.values[node]) + 1)

    def native(self, width: int) -> cross.Tree:
        """Return the same for the kernels, where a leaf is its own child."""
        feature, nodes = np.asarray(self.feature), np.arange(len(self.feature))
        leaf = feature < 0
        columns = np.where(leaf, 0, feature), np.where(leaf, nodes, self.children), self.values
        split, child, last = (np.asarray(x, np.uint32) for x in columns)
        return cross.Tree(split, child, last, width)


@dataclass(slots=True)
class Nodes(_Shape):
    """A tree that grows; the attributes `used` are those on the way to each node."""

    feature: list[int] = field(default_factory=lambda: [-1])
    children: list[int] = field(default_factory=lambda: [-1])
    values: list[int] = field(default_factory=lambda: [0])
    used: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])

    def __len__(self) -> int:
        return len(self.feature)

    def divide(self, node: int, attribute: int, values: int) -> range:
        """Give a leaf a child for each value, which are returned, and one for rows of no value."""
        first, ways = len(self), values + 1
        self.feature[node], self.children[node], self.values[node] = attribute, first, values
        self.feature += [-1] * ways
        self.children += [-1] * ways
        self.values += [0] * ways
        self.used += [self.used[node] | {attribute}] * ways
        return range(first, first + values)

    def leaves(self) -> list[int]:
        """Return the nodes that are not divided."""
        return [i for i, attribute in enumerate(self.feature) if attribute < 0]


@dataclass(frozen=True)
class Tree(_Shape):
    """A decision tree that was learned; all of it is private.

    Attributes
    ----------
    feature : int64 array of shape (nodes,)
        The column by which a node divides its rows; -1 for a leaf. Node 0 is the root.
    children : int64 array of shape (nodes,)
        The first of its children. They follow one another in the order of the column's values, and
        the last of them is for rows of none of these values. -1 for a leaf.
    values : int64 array of shape (nodes,)
        Number of values of the column; 0 for a leaf.
    counts : float64 array of shape (nodes, classes)
        Number of rows of each class at each node, with noise.
    deviation : float64 array of shape (nodes,)
        The standard deviation of the noise in each count of a node.
    """

    feature: NDArray[np.int64]
    children: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf; 0 for a tree of nothing but its root."""
        depth = np.zeros(len(self.feature), np.int64)
        for i in np.flatnonzero(self.feature >= 0).tolist():  # a child comes after its parent
            depth[self.below(i)] = depth[i] + 1
        return int(depth.max())

    @property
    def leaves(self) -> int:
        """Number of nodes that are not divided."""
        return int(np.count_nonzero(self.feature < 0))

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each class at each node.

        Counts below 0 are 0. How the children of a node differ from its probabilities is kept as
        far as noise does not explain it, and a child without rows has the probabilities of the
        node.
        """
        chances = np.empty_like(self.counts)
        chances[0] = _shares(self.counts[:1], np.full(self.counts.shape[1], 1.0))[0]
        for i in np.flatnonzero(self.feature >= 0).tolist():  # a child comes after its parent
            below = self.below(i)
            counts = self.counts[below]
            like = np.maximum(counts.sum(axis=1, keepdims=True), 0.0) * chances[i]
            kept = _kept(counts, self.deviation[below])
            chances[below] = _shares(like + kept * (counts - like), chances[i])
        return chances


def _shares(counts: NDArray[np.float64], default: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of each class, from noisy counts; the default, if there are none."""
    rows = np.maximum(counts, 0.0)
    rows = np.where(rows.any(axis=1, keepdims=True), rows, default)
    shares: NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
    return shares


def _kept(counts: NDArray[np.float64], deviation: NDArray[np.float64]) -> float:
    """Return the fraction of the differences between children that noise does not explain.

    That is 1 - E / S, or 0 (after James and Stein). S is the sum of the squared differences of
    their counts from their number of rows in the shares p of all together, in deviations, and E its
    mean for noise alone. Of K counts with noise of variance 1 the squares of those
    less p_k times their sum have the mean K - 2 + K (p_1^2 + .. + p_K^2).
    """
    children, many = counts.shape
    p = _shares(counts.sum(axis=0, keepdims=True), np.full(many, 1.0))[0]
    apart = counts - counts.sum(axis=1, keepdims=True) * p
    squares = float(((apart / np.maximum(deviation, LEAST)[:, None]) ** 2).sum())
    noise = children * (many - 2 + many * float((p**2).sum()))
    return max(0.0, 1.0 - noise / squares) if squares > 0 else 0.0


def pruned(nodes: Nodes, leaves: NDArray[np.float64], deviation: float) -> Tree:
    """Return the tree without divisions that noise explains, from noisy counts of its leaves.

    A division stays where something is kept of what its children differ by, or below it.
    """
    counts = np.zeros((len(nodes), leaves.shape[1]))
    counts[nodes.leaves()] = leaves
    spread, divided = np.full(len(nodes), deviation), np.zeros(len(nodes), np.bool_)
    for i in range(len(nodes) - 1, -1, -1):
        if nodes.feature[i] < 0:
            continue
        below = nodes.below(i)
        counts[i] = counts[below].sum(axis=0)
        spread[i] = math.hypot(*spread[below])
        divided[i] = divided[below].any() or _kept(counts[below], spread[below]) > 0
    reached, children = [0], []
    for i in reached:  # which grows
        children.append(len(reached) if divided[i] else -1)
        if divided[i]:
            reached += range(len(nodes))[nodes.below(i)]
    at = np.array(reached)
    split = divided[at]
    feature = np.where(split, np.array(nodes.feature)[at], -1)
    values = np.where(split, np.array(nodes.values)[at], 0)
    return Tree(feature, np.array(children, np.int64), values, counts[at], spread[at])
