"""A private random forest: public divisions, and noisy counts of the classes at all leaves.

*One round for all trees.* A row is in one leaf of each of T trees, so it changes T counts by 1
each, and where it is replaced, 2 T of them. That is a vector of L1 norm T and L2 norm the square
root of T: with Gaussian noise a tree more makes the counts of all others noisier, but their sum
over the trees is as exact as before, and goes by more trees. Rows could be divided among the trees
instead, each of which then has all of the loss for a T-th of the rows. For `epsilon` alone a count
then is as exact in proportion, but what is summed are other rows in each tree; for the rest it is
worse by the square root of T. So every row is in every tree.

*A leaf* says how classes are shared at it. What differs from equal shares is kept in proportion to
n / (n + 2 s sqrt(K)), for n rows of K classes and noise of deviation s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks, nan_policy
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from ..privacy import Loss, Pure
from ..statistics.histogram import Bins
from .categories import Classes, Columns
from .class_sums import NumberColumn, columns_of
from .decision_tree import LEAST
from .estimator import BoundsOfSome, CategoriesEach, ProbabilisticClassifier, Training, Weighted
from .labeled_rows import LabeledRows, Piece
from .random_splits import RandomSplits
from .rounds import Part, Rounds
from .row_matrices import Floats, nan_fills

#: Numbers of counts, and of trees: with an epsilon alone, and otherwise.
MOST_COUNTS, FEW, MANY = 1 << 25, 5, 100


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(Weighted, ProbabilisticClassifier):
    """Trees that divide at random places, and noisy counts of classes at their leaves.

    Privacy
    -------
    Neighbors are datasets that differ in one row, with its label, added or removed, or replaced
    (`neighbors`). The counts satisfy the loss that is asked for, and all else is computed from them
    and from public numbers: one round of noisy sums (Blum, Dwork, McSherry and Nissim, PODS 2005)
    for the joint sensitivity of all leaves. (Divisions that look at no row: Jagannathan,
    Pillaipakkamnatt and Wright, "A practical differentially private random decision tree
    classifier", ICDMW 2009.)

    Parameters
    ----------
    bounds : (float, float), or a pair for each column, optional
        Public limits of columns of numbers, as in `KMeans`. None for a column of categories.
    categories : sequence of str, float or bool, or one such sequence a column, optional
        The public values of columns of categories, as in `dpfast.histogram`. With `bounds`, a
        sequence of one for each column, None for a column of numbers.
    classes : sequence of str, float or bool
        The public labels, in the same form.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    n_estimators : int, optional
        Number of trees; by default 100, or 5 with `epsilon` alone.
    max_depth : int, default 5
        Number of divisions on the way to a leaf, 20 at most.
    random_state : int, default 0
        A public number from which the divisions are drawn.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN in columns of numbers, as in `quantile`; "drop" leaves out the whole
        row. In a column of categories it is none of them.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    leaf_counts_ : float64 array of shape (trees, 2**max_depth, classes)
        Number of rows of each class at each leaf, with noise.
    leaf_proba_ : float64 array of the same shape
        The shares of classes that are made of them; some may be below 0.
    classes_ : ndarray
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data, and about 10 ns a row for each division on its way in each tree. A
    row whose label is none of the classes counts nowhere.

    It is good where there are few rows: 100 flowers at an epsilon of 1. Where there are many,
    `AdditiveBoostingClassifier` mostly tells more rows right.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.arange(3000) % 10, np.arange(3000) % 7], axis=1)
    >>> y = x[:, 0] > 4
    >>> forest = dp.sulq.RandomForestClassifier(bounds=(0, 10), classes=[False, True], epsilon=1)
    >>> forest = forest.fit(x, y, budget=dp.Budget(epsilon=1))
    >>> forest.predict([[1, 3], [9, 3]])
    array([False,  True])
    """

    _name = "random forest"

    bounds: BoundsOfSome | None = None
    categories: CategoriesEach | None = None
    classes: ArrayLike
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    neighbors: Neighbors | None = None
    n_estimators: int | None = None
    max_depth: int = 5
    random_state: int = 0
    nan: NanPolicy = "raise"
    weight_bounds: Bounds | None = None

    leaf_counts_: Floats = field(init=False)
    leaf_proba_: Floats = field(init=False)

    def _training(self, rows: LabeledRows, loss: Loss, relation: str) -> Training:
        trees = FEW if isinstance(loss, Pure) else MANY
        if self.n_estimators is not None:
            trees = checks.whole("n_estimators", self.n_estimators, 1)
        classes = Classes(self.classes)
        depth, most = checks.whole("max_depth", self.max_depth, 1), 20
        if depth > most:
            checks.fail("max_depth", f"at most {most}", self.max_depth)
        shape = trees, 2**depth, len(classes)
        size = shape[0] * shape[1] * shape[2]
        if size > MOST_COUNTS:
            rule = f"so many that there are at most {MOST_COUNTS} counts"
            checks.fail("n_estimators", rule, trees)
        policy = checks.nan_policy(self.nan, relation)
        forest = self._forest(rows.width, trees, depth, policy)
        part = Part.of_counts(size, trees, relation)

        def total(rows: LabeledRows) -> list[int]:
            missing, *counts = rows.reduce(
                lambda pieces: forest.counts(pieces, classes, shape), np.add
            ).tolist()
            nan_policy.refuse(policy, missing)
            return [int(count) for count in counts]

        def learn(rounds: Rounds) -> None:
            counts = np.array(rounds.ask(total, [part]), np.float64).reshape(shape)
            self._learn(counts, rounds.deviation(part))
            self.classes_ = classes.labels

        return Training(1, [part], learn)

    def _learn(self, counts: Floats, deviation: float) -> None:
        """Compute everything that is learned from released numbers."""
        many, rows = counts.shape[2], counts.sum(axis=2, keepdims=True)
        whole = np.maximum(rows, 0.0) + 2.0 * max(deviation, LEAST) * many**0.5
        self.leaf_counts_ = counts
        self.leaf_proba_ = 1.0 / many + (counts - rows / many) / whole

    def _columns(self) -> Columns[NumberColumn | Bins]:
        return columns_of(self.bounds, self.categories)

    def _forest(self, width: int, trees: int, depth: int, policy: str | float) -> _Forest:
        seed = checks.whole("random_state", self.random_state, 0)
        return _Forest(self._columns().each(width), trees, depth, seed, policy)

    def _likelihood(self) -> Callable[[Floats], Floats]:
        trees, leaves, many = self.leaf_proba_.shape
        policy = checks.nan_policy(self.nan, "add-remove")
        forest = self._forest(self.n_features_in_, trees, leaves.bit_length() - 1, policy)

        def likelihood(rows: Floats) -> Floats:
            rows, absent = forest.filled(rows)
            shares = np.zeros((len(rows), many))
            for leaf, learned in zip(forest.splits.leaves(rows), self.leaf_proba_, strict=True):
                shares += learned[leaf]
            shares = np.maximum(shares, 0.0)
            shares /= shares.sum(axis=1, keepdims=True)
            if policy in ("raise", "drop"):
                shares[absent] = np.nan  # which is refused
            return shares

        return likelihood


class _Forest:
    """Divisions, and what becomes of rows with a NaN."""

    def __init__(
        self,
        each: list[NumberColumn | Bins],
        trees: int,
        depth: int,
        seed: int,
        policy: str | float,
    ) -> None:
        self.splits = RandomSplits(each, trees, depth, seed)
        pairs = {j: x.bounds for j, x in enumerate(each) if isinstance(x, NumberColumn)}
        self._numbered = [*pairs]
        fills, self._skip = nan_fills(policy, pairs.values())
        self._fills = np.array(fills)

    def filled(self, rows: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return rows with numbers for NaN in columns of numbers, and which had one."""
        numbers = rows[:, self._numbered]
        missing = np.isnan(numbers)
        absent: NDArray[np.bool_] = np.logical_or.reduce(missing, axis=1)
        if absent.any():
            rows = rows.copy()
            rows[:, self._numbered] = np.where(missing, self._fills, numbers)
        return rows, absent

    def counts(
        self, pieces: Iterator[Piece], classes: Classes, shape: tuple[int, int, int]
    ) -> NDArray[np.int64]:
        """Count rows by tree, leaf and class, after those that have a NaN."""
        trees, leaves, many = shape
        counts = np.zeros((trees, leaves * (many + 1)), np.int64)
        missing = 0
        for rows, labels in pieces:
            rows, absent = self.filled(rows)
            missing += int(np.count_nonzero(absent))
            codes = np.minimum(classes.codes(labels), many).astype(np.intp)
            if self._skip:
                codes[absent] = many
            for own, leaf in zip(counts, self.splits.leaves(rows), strict=True):
                own += np.bincount(leaf * (many + 1) + codes, minlength=len(own))
        kept = counts.reshape(trees, leaves, many + 1)[:, :, :many]
        return np.concatenate([[missing], kept.ravel()])
