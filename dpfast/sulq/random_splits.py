"""Trees whose divisions are drawn before any row is read: public, and alike for the same seed.

A tree of depth h divides at each of 2**h - 1 nodes by a column and a threshold. Both are uniform:
the threshold between the bounds of what has come to that node. Values of a column of categories are
numbered in an order that is drawn for each tree, those that are none of them before all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rng import InsecureGenerator
from ..statistics.histogram import Bins
from .categories import Coder
from .class_sums import NumberColumn
from .row_matrices import Floats


class RandomSplits:
    """The divisions of all trees.

    Parameters
    ----------
    each : sequence of NumberColumn or Bins
        The columns.
    trees, depth : int
    seed : int

    Attributes
    ----------
    feature : intp array of shape (trees, 2**depth - 1)
        The column at each node; node i has the children 2 i + 1 and 2 i + 2.
    threshold : float64 array of the same shape
        Rows above it go to the second child.
    """

    def __init__(
        self, each: Sequence[NumberColumn | Bins], trees: int, depth: int, seed: int
    ) -> None:
        axes = {j: x for j, x in enumerate(each) if isinstance(x, Bins)}
        self._coder, self._coded, self.depth = Coder([*axes.values()]), [*axes], depth
        generator = InsecureGenerator(seed)
        ends = np.array([_ends(x) for x in each])
        drawn = _uniform(generator, (trees, 2, 2**depth - 1))
        self.feature = (drawn[:, 0] * len(each)).astype(np.intp)
        self.threshold = np.empty((trees, 2**depth - 1))
        for tree in range(trees):
            self.threshold[tree] = _thresholds(self.feature[tree], drawn[tree, 1], ends)
        self._ranks = [self._orders(generator, trees, int(v)) for v in self._coder.values]

    @staticmethod
    def _orders(generator: InsecureGenerator, trees: int, values: int) -> Floats:
        """Return the number of each value in each tree, and that of none of them."""
        order = _uniform(generator, (trees, values)).argsort(axis=1, kind="stable")
        ranks: Floats = np.full((trees, values + 1), -1.0)
        ranks[:, :-1] = order.argsort(axis=1, kind="stable")
        return ranks

    def leaves(self, rows: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the leaf of each row, tree by tree."""
        codes = np.empty((len(rows), len(self._coded)), np.uint32)
        self._coder.codes(np.ascontiguousarray(rows[:, self._coded]), codes)
        codes = np.minimum(codes, self._coder.values)
        table, each = rows.copy(), np.arange(len(rows))
        for tree, (feature, threshold) in enumerate(zip(self.feature, self.threshold, strict=True)):
            for j, code, ranks in zip(self._coded, codes.T, self._ranks, strict=True):
                table[:, j] = ranks[tree][code]
            node = np.zeros(len(rows), np.intp)
            for _ in range(self.depth):
                node = 2 * node + 1 + (table[each, feature[node]] > threshold[node])
            yield node - len(feature)


def _ends(column: NumberColumn | Bins) -> tuple[float, float]:
    if isinstance(column, Bins):
        return -0.5, column.native.bins - 0.5
    return column.bounds


def _thresholds(feature: NDArray[np.intp], drawn: Floats, ends: Floats) -> Floats:
    """Return where each node divides what has come to it, a part of the way that was drawn."""
    nodes = len(feature)
    boxes: Floats = np.empty((2 * nodes + 1, *ends.shape))
    boxes[0] = ends
    thresholds: Floats = np.empty(nodes)
    for node, (j, part) in enumerate(zip(feature.tolist(), drawn.tolist(), strict=True)):
        lo, hi = boxes[node, j]
        at = float(lo * (1.0 - part) + hi * part)
        thresholds[node] = at
        boxes[2 * node + 1 : 2 * node + 3] = boxes[node]
        boxes[2 * node + 1, j, 1] = boxes[2 * node + 2, j, 0] = at
    return thresholds


def _uniform(generator: InsecureGenerator, shape: tuple[int, ...]) -> Floats:
    words: NDArray[Any] = generator.random_raw(shape)
    numbers: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return numbers
