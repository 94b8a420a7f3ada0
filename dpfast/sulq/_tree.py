"""A decision tree: which attribute divides a node, and how many rows of each class it has."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._native import cross

__all__ = ["Nodes", "Tree", "pruned"]


@dataclass(slots=True)
class Nodes:
    """A tree that grows. Node 0 is the root.

    Attributes
    ----------
    split, child, last : list of int
        A row at node i goes to child[i] + its code in the attribute split[i], or to child[i] +
        last[i] if its code is none of a value. A leaf is its own child, with last 0.
    used : list of frozenset
        The attributes on the way to each node.
    """

    split: list[int] = field(default_factory=lambda: [0])
    child: list[int] = field(default_factory=lambda: [0])
    last: list[int] = field(default_factory=lambda: [0])
    used: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])

    def __len__(self) -> int:
        return len(self.split)

    def divide(self, node: int, attribute: int, values: int) -> range:
        """Give a leaf a child for each value and one for rows of no value; those of values."""
        first = len(self)
        self.split[node], self.child[node], self.last[node] = attribute, first, values
        ways = values + 1
        self.split += [0] * ways
        self.child += range(first, first + ways)
        self.last += [0] * ways
        self.used += [self.used[node] | {attribute}] * ways
        return range(first, first + values)

    def leaves(self) -> list[int]:
        """Nodes that are not divided."""
        return [i for i, own in enumerate(self.child) if own == i]

    def native(self, width: int) -> cross.Tree:
        """The same for the kernels."""
        split, child, last = (
            np.array(own, np.uint32) for own in (self.split, self.child, self.last)
        )
        return cross.Tree(split, child, last, width)


@dataclass(frozen=True)
class Tree:
    """What was learned, all of it private.

    Attributes
    ----------
    feature : int64 array of shape (nodes,)
        The column by which a node divides its rows; -1 for a leaf. Node 0 is the root.
    children : int64 array of shape (nodes,)
        The first of its children. They follow one another in the order of the column's values, and
        the last of them is for rows of none of these values. -1 for a leaf.
    values : int64 array of shape (nodes,)
        How many values the column has; 0 for a leaf.
    counts : float64 array of shape (nodes, classes)
        Rows of each class at each node, with noise.
    deviation : float
        The standard deviation of the noise in the count of a leaf.
    """

    feature: NDArray[np.int64]
    children: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.float64]
    deviation: float

    @property
    def depth(self) -> int:
        """Of the deepest leaf; 0 for a tree of nothing but its root."""
        depth = np.zeros(len(self.feature), np.int64)
        for i in np.flatnonzero(self.feature >= 0).tolist():  # a child comes after its parent
            first = self.children[i]
            depth[first : first + self.values[i] + 1] = depth[i] + 1
        return int(depth.max())

    @property
    def leaves(self) -> int:
        """How many nodes are not divided."""
        return int(np.count_nonzero(self.feature < 0))

    def native(self, width: int) -> cross.Tree:
        """The same for the kernels."""
        own = np.arange(len(self.feature))
        leaf = self.feature < 0
        return cross.Tree(
            np.where(leaf, 0, self.feature).astype(np.uint32),
            np.where(leaf, own, self.children).astype(np.uint32),
            self.values.astype(np.uint32),
            width,
        )

    def chances(self) -> NDArray[np.float64]:
        """The probability of each class at each node.

        Counts below 0 are 0. A leaf with no more rows than noise may look like, three standard
        deviations of their sum, has the probabilities of its parent.
        """
        found = np.maximum(self.counts, 0.0)
        many = found.shape[1]
        total = found.sum(axis=1, keepdims=True)
        found = np.where(total > 0, found / np.where(total > 0, total, 1.0), 1.0 / many)
        few = self.counts.sum(axis=1) <= 3.0 * self.deviation * math.sqrt(many)
        few &= self.feature < 0
        for i in np.flatnonzero(self.feature >= 0).tolist():
            own = slice(int(self.children[i]), int(self.children[i] + self.values[i] + 1))
            found[own] = np.where(few[own, None], found[i], found[own])
        return found


def pruned(nodes: Nodes, leaves: NDArray[np.float64], deviation: float) -> Tree:
    """The tree without divisions that noise may have made, from the noisy counts of its leaves.

    A division is worth what its leaves predict right beyond what the node would, the largest counts
    of each added up. Noise of that deviation alone is worth up to deviation sqrt(2 ln classes) a
    leaf; what is not worth more is undone.
    """
    classes = leaves.shape[1]
    counts = np.zeros((len(nodes), classes))
    counts[nodes.leaves()] = leaves
    right, ends = np.zeros(len(nodes)), np.ones(len(nodes))
    divided = np.zeros(len(nodes), np.bool_)
    price = deviation * math.sqrt(2.0 * math.log(classes)) if classes > 1 else 0.0
    for i in range(len(nodes) - 1, -1, -1):
        first, last = nodes.child[i], nodes.last[i]
        if first != i:
            below = slice(first, first + last + 1)
            counts[i] = counts[below].sum(axis=0)
        right[i] = counts[i].max()
        if first != i:
            worth, many = right[below].sum(), ends[below].sum()
            if worth - right[i] > price * many:
                right[i], ends[i], divided[i] = worth, many, True
    return _cut(nodes, counts, divided, deviation)


def _cut(
    nodes: Nodes, counts: NDArray[np.float64], divided: NDArray[np.bool_], deviation: float
) -> Tree:
    """The nodes that can be reached where only some of them are divided, in their order."""
    kept, first = [0], []
    for i in kept:  # which grows
        first.append(len(kept) if divided[i] else -1)
        if divided[i]:
            kept += range(nodes.child[i], nodes.child[i] + nodes.last[i] + 1)
    at = np.array(kept)
    own = divided[at]
    return Tree(
        np.where(own, np.array(nodes.split)[at], -1).astype(np.int64),
        np.array(first, np.int64),
        np.where(own, np.array(nodes.last)[at], 0).astype(np.int64),
        counts[at],
        deviation,
    )
