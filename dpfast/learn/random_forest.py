"""A private random forest: public random splits, and noisy class counts at all leaves.

*One round for all trees.* A row is in one leaf of each of T trees. So an added row changes T counts
by 1, which is T in L1 norm and sqrt(T) in L2 norm. A replaced row changes 2 T counts. With Gaussian
noise, one more tree makes the counts of all trees noisier. But the sum over all trees is as
accurate as before, and averages over more splits.

Rows could be divided among the trees instead. Then each tree has the whole loss, for a T-th of the
rows. For `epsilon` alone, the relative noise of a count is the same, but each tree sees fewer rows.
For `rho` and `delta` it is larger by the square root of T. So every row is used in every tree.

*Splits* are drawn before any row is read. They are public, and the same for the same seed. A tree
of depth h has 2**h - 1 nodes with a column and a threshold. Both are drawn uniformly, the threshold
between the bounds of the numbers that can reach the node. The categories of a column are numbered
in an order that is drawn for each tree. Values that are not categories come before all others.

*A leaf* estimates the fractions of the classes. Their difference from equal fractions is shrunk by
the factor n / (n + 2 s sqrt(K)), for n rows of K classes and noise of standard deviation s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..privacy import Loss, Pure
from ..rng import InsecureGenerator
from ..statistics.histogram import Bins
from ..sulq.parts import Part
from ..sulq.rounds import Rounds
from .columns import Classes, Floats, Layout, NumberColumn
from .estimator import Training
from .id3 import LEAST
from .rows import Rows
from .scored import MixedClassifier

#: The most counts. The default number of trees: for a pure loss, and for other losses.
MOST_COUNTS, FEW, MANY = 1 << 25, 5, 100
MOST_DEPTH = 20


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(MixedClassifier):
    """Learn trees with random public splits, from noisy counts of classes at their leaves.

    The splits of all trees are drawn at random before any row is read. The rows decide only the
    counts at the leaves. So one round is enough for all trees.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). The counts are one round of noisy sums, with noise for the joint sensitivity of
    all leaves (Blum, Dwork, McSherry and Nissim, PODS 2005), and satisfy the requested loss.
    Everything else is computed from the counts and from public numbers. Splits that do not depend
    on rows are from Jagannathan, Pillaipakkamnatt and Wright, "A practical differentially private
    random decision tree classifier", ICDMW 2009.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column, optional
        Public limits of columns of numbers, as in `KMeans`. None for a column of categories.
    categories : sequence of str, float or bool, or one such sequence a column, optional
        The public values of columns of categories, as in `dpfast.histogram`. If there are also
        columns of numbers: a sequence with an entry for each column, which is None for a column of
        numbers.
    classes : sequence of str, float or bool
        The public labels.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    n_estimators : int, optional
        The number of trees. By default 100, or 5 with `epsilon` alone.
    max_depth : int, default 5
        The number of splits on the way to a leaf, at most 20.
    random_state : int, default 0
        A public seed for the random splits.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN in columns of numbers is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row. In a column of categories, NaN is no category.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    leaf_counts_ : float64 array of shape (trees, 2**max_depth, classes)
        The number of rows of each class at each leaf, with noise.
    leaf_proba_ : float64 array of the same shape
        The fractions of the classes at each leaf, computed from the counts. Some may be below 0.
    classes_ : ndarray
        The labels, in the order of `classes`.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data. For each row it takes about 10 ns for each split on the way to a
    leaf, in each tree. A row whose label is not a class is ignored.

    A random forest suits few rows, for example 100 flowers at an epsilon of 1. With many rows,
    `AdditiveBoostingClassifier` usually classifies more rows correctly.

    Examples
    --------
    Rows are of class True if their first number is above 4:

    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.arange(3000) % 10, np.arange(3000) % 7], axis=1)
    >>> y = x[:, 0] > 4
    >>> forest = dp.learn.RandomForestClassifier(bounds=(0, 10), classes=[False, True], epsilon=1)
    >>> forest = forest.fit(x, y, budget=dp.Budget(epsilon=1))
    >>> forest.predict([[1, 3], [9, 3]])
    array([False,  True])
    """

    _name = "random forest"

    n_estimators: int | None = None
    max_depth: int = 5
    random_state: int = 0

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        trees = FEW if isinstance(loss, Pure) else MANY
        if self.n_estimators is not None:
            trees = checks.whole("n_estimators", self.n_estimators, 1)
        classes = Classes(self.classes)
        depth = checks.whole("max_depth", self.max_depth, 1, MOST_DEPTH)
        shape = trees, 2**depth, len(classes)
        size = shape[0] * shape[1] * shape[2]
        if size > MOST_COUNTS:
            rule = f"smaller (or max_depth smaller): there are more than {MOST_COUNTS} counts"
            checks.fail("n_estimators", rule, trees)
        missing_rule = checks.nan_policy(self.nan, relation)
        splits = self._splits(rows.width, trees, depth, missing_rule)
        part = Part.of_counts(size, trees, relation)

        def learn(rounds: Rounds) -> None:
            noisy = rounds.ask(lambda rows: splits.counts(rows, classes, missing_rule), [part])
            self._learn(np.array(noisy, np.float64).reshape(shape), rounds.deviation(part))
            self.classes_ = classes.labels

        return Training(1, [part], learn)

    def _learn(self, counts: Floats, deviation: float) -> None:
        """Set all learned attributes from released numbers."""
        many, rows = counts.shape[2], counts.sum(axis=2, keepdims=True)
        whole = np.maximum(rows, 0.0) + 2.0 * max(deviation, LEAST) * many**0.5
        self.leaf_counts_ = counts
        self.leaf_proba_ = 1.0 / many + (counts - rows / many) / whole

    def _splits(
        self, width: int, trees: int, depth: int, missing_rule: str | float
    ) -> RandomSplits:
        seed = checks.whole("random_state", self.random_state, 0)
        return RandomSplits(self._columns().for_width(width), trees, depth, seed, missing_rule)

    def _numbers(self) -> Callable[[Floats], Floats]:
        trees, leaves, many = self.leaf_proba_.shape
        missing_rule = checks.nan_policy(self.nan, "add-remove")
        splits = self._splits(self.n_features_in_, trees, leaves.bit_length() - 1, missing_rule)

        def likelihood(rows: Floats) -> Floats:
            absent, leaves_by_tree = splits.leaves(rows)
            shares = np.zeros((len(rows), many))
            for leaf, learned in zip(leaves_by_tree, self.leaf_proba_, strict=True):
                shares += learned[leaf]
            shares = np.maximum(shares, 0.0)
            shares /= shares.sum(axis=1, keepdims=True)
            if splits.layout.skip:
                shares[absent] = np.nan  # NaN is refused later
            return shares

        return likelihood


class RandomSplits:
    """The random splits of all trees, which depend on public facts and a seed alone.

    Parameters
    ----------
    columns : sequence of NumberColumn or Bins
        The columns.
    trees, depth : int
    seed : int
    nan : str or float
        The replacement of a NaN in a column of numbers.

    Attributes
    ----------
    feature : intp array of shape (trees, 2**depth - 1)
        The column at each node; node i has the children 2 i + 1 and 2 i + 2.
    threshold : float64 array of the same shape
        Rows with a number above the threshold go to the second child.
    """

    def __init__(
        self,
        columns: Sequence[NumberColumn | Bins],
        trees: int,
        depth: int,
        seed: int,
        nan: str | float = "drop",
    ) -> None:
        self.layout, self.depth = Layout(columns, nan), depth
        generator = InsecureGenerator(seed)
        ends = np.array([_ends(x) for x in columns])
        drawn = _uniform(generator, (trees, 2, 2**depth - 1))
        self.feature = (drawn[:, 0] * len(columns)).astype(np.intp)
        self.threshold = np.empty((trees, 2**depth - 1))
        for tree in range(trees):
            self.threshold[tree] = _thresholds(self.feature[tree], drawn[tree, 1], ends)
        self._ranks = [_orders(generator, trees, int(v)) for v in self.layout.coder.values]

    def leaves(self, rows: Floats) -> tuple[NDArray[np.bool_], Iterator[NDArray[np.intp]]]:
        """Return which rows have a NaN, and the leaf of each row, tree by tree."""
        numbers, absent = self.layout.filled(rows)
        table = rows.copy()
        table[:, [*self.layout.numbers]] = numbers
        codes = np.minimum(self.layout.codes(rows), self.layout.coder.values)
        return absent, self._walk(table, codes)

    def _walk(self, table: Floats, codes: NDArray[np.uint32]) -> Iterator[NDArray[np.intp]]:
        row_numbers = np.arange(len(table))
        for tree, (feature, threshold) in enumerate(zip(self.feature, self.threshold, strict=True)):
            for j, code, ranks in zip(self.layout.axes, codes.T, self._ranks, strict=True):
                table[:, j] = ranks[tree][code]
            node = np.zeros(len(table), np.intp)
            for _ in range(self.depth):
                node = 2 * node + 1 + (table[row_numbers, feature[node]] > threshold[node])
            yield node - len(feature)

    def counts(self, rows: Rows, classes: Classes, nan: str | float) -> list[int]:
        """Return the number of rows by tree, leaf and class."""
        shape = len(self.feature), 2**self.depth, len(classes)
        trees, leaves, many = shape

        def add(x: Floats, labels: NDArray[Any], sums: NDArray[np.int64]) -> int:
            absent, leaves_by_tree = self.leaves(x)
            codes = np.minimum(classes.codes(labels), many).astype(np.intp)
            if self.layout.skip:
                codes[absent] = many
            for counts, leaf in zip(sums.reshape(shape), leaves_by_tree, strict=True):
                table = np.bincount(leaf * (many + 1) + codes, minlength=leaves * (many + 1))
                counts += table.reshape(leaves, many + 1)[:, :many]
            return int(np.count_nonzero(absent))

        return rows.sums(trees * leaves * many, add, nan)


def _orders(generator: InsecureGenerator, trees: int, values: int) -> Floats:
    """Return a random rank of each category in each tree; -1 for a value that is no category."""
    order = _uniform(generator, (trees, values)).argsort(axis=1, kind="stable")
    ranks: Floats = np.full((trees, values + 1), -1.0)
    ranks[:, :-1] = order.argsort(axis=1, kind="stable")
    return ranks


def _ends(column: NumberColumn | Bins) -> tuple[float, float]:
    return (-0.5, column.native.bins - 0.5) if isinstance(column, Bins) else column.bounds


def _thresholds(feature: NDArray[np.intp], drawn: Floats, ends: Floats) -> Floats:
    """Return the threshold of each node, at a drawn fraction of the node's range of the column."""
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
    return np.asarray((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)
