"""A private decision tree: ID3 by choices of the exponential mechanism, or by noisy counts.

*With counts*, a round counts the rows at all nodes of a level. Each row is at one node of a level.
Let u attributes be unused on the way to a node; u is the same for all nodes of a level. For each of
these u attributes there is a table of counts by value and class, and a row is in one cell of each
table. So an added or removed row changes u counts by 1: by u in L1 norm, and by sqrt(u) in L2 norm.
A replaced row changes twice as many counts. The last round counts the classes at the leaves, where
a row changes one count.

*With the exponential mechanism*, a round releases the chosen attribute of each node of a level, and
nothing else (`score`, `rounds`). The loss of a level does not depend on the number of attributes. A
choice does not reveal the size of a node.

*Scores.* An attribute splits rows well if little uncertainty about the class of a row remains. Let
N[v, c] rows have the value v and the class c, and let N[v] rows have the value v. The score of an
attribute is minus the

* entropy: the sum of N[v, c] log2(N[v] / N[v, c]), which is the length of a code of the classes;
* gini: the sum over v of N[v] - sum of N[v, c]^2 / N[v]. This is the expected number of wrong
  guesses, if the class of a row is guessed by the frequencies of the classes among the rows with
  the same value;
* max: the number of rows that are not in the most frequent class of their value. (The code counts
  the rows that are in it, which is the same score up to a constant.)

*Sensitivity.* An added row adds 1 to one N[v, c]. None of the three quantities decreases then. Each
of them is concave in N[v, .], is proportional to it, and is 0 for a single class. So for two sets
of rows together it is at least the sum of its values for each set. It increases by at most

* entropy: (m + 1) log2(m + 1) - m log2 m < log2(m + 1) + 1 / ln 2, where m is the number of other
  rows. The increase is largest if all of them are in one other class (Friedman and Schuster, KDD
  2010);
* gini: 1 - ((S + 2 k + 1) / (N + 1) - S / N), where S is the sum of the N[v, c]^2, and k rows are
  in the class of the added row. This is largest for k = 0 and S = N^2: 2 N / (N + 1), which is less
  than 2;
* max: 1.

So all scores change in the same direction, by numbers from an interval of this length.

In the code scores are integers, for entropy and gini in units of 2^-20. For gini the term of each v
is rounded down. A change of less than 2 becomes a change of at most 2^21 units. For entropy four
rounded numbers n log2 n change. Rounding moves each by at most 1 / 2, and inexact logarithms move
all together by less than another 1 / 2. So the change is larger by at most 3 units, in either
direction.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._kernels import learn as cross
from .._kernels.statistics import tally
from ..errors import DataError
from ..noise.distributions.base import context
from ..privacy import Loss
from ..sulq.parts import Part
from ..sulq.rounds import Rounds
from .columns import BLOCK, Classes, Coder, Floats
from .estimator import Binned, Training
from .rows import Block, Rows
from .scored import ProbabilisticClassifier

CRITERIA = ("entropy", "gini", "max")
_UNIT = 20
_BITS = 120


@lru_cache(maxsize=1 << 16)
def _information(n: int) -> int:
    """Return n log2 n in units of 2**-20, rounded."""
    if n < 2:
        return 0
    mp = context(_BITS)
    return int(mp.nint(mp.ldexp(n * mp.log(n, 2), _UNIT)))


def _informations(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `_information` of each count; it is computed once for each distinct count."""
    distinct, index = np.unique(counts, return_inverse=True)
    values = np.array([_information(n) for n in distinct.tolist()], np.int64)
    return values[index].reshape(counts.shape)


def spread(criterion: str, rows: int) -> int:
    """Return the length of the interval by which one row can change a score."""
    if criterion == "max":
        return 1
    if criterion == "gini":
        return 2 << _UNIT
    mp = context(_BITS)
    return int(mp.ceil(mp.ldexp(mp.log(rows, 2) + 1 / mp.log(2), _UNIT))) + 6


def score(criterion: str, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the exact score of an attribute in each set of rows, for the exponential mechanism.

    Counts have the shape (values, sets, classes).
    """
    if criterion == "max":
        return np.asarray(counts.max(axis=2).sum(axis=0))
    total = counts.sum(axis=2)
    if criterion == "gini":
        # Squares fit in int64 if counts are below 2**31. Larger counts become Python integers.
        exact = counts if total.max(initial=0) < 1 << 31 else counts.astype(object)
        n = exact.sum(axis=2)
        safe = np.maximum(n, 1)
        wrong = n * n - (exact * exact).sum(axis=2)
        whole, remainder = wrong // safe, wrong % safe
        units = whole * (1 << _UNIT) + remainder * (1 << _UNIT) // safe
        return np.asarray(-units.sum(axis=0).astype(np.int64))
    return np.asarray(_informations(counts).sum(axis=(0, 2)) - _informations(total).sum(axis=0))


def noisy_score(criterion: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score of an attribute from noisy counts clamped at 0, in rows or in bits."""
    n = np.maximum(counts, 0.0)
    total = n.sum(axis=2)
    if criterion == "max":
        return np.asarray(n.max(axis=2).sum(axis=0) - total.sum(axis=0))
    if criterion == "gini":
        right = (n * n).sum(axis=2) / np.where(total > 0, total, 1.0)
        return np.asarray((right - total).sum(axis=0))
    return np.asarray(_plogp(n).sum(axis=(0, 2)) - _plogp(total).sum(axis=0))


def _plogp(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return n * np.log2(np.where(n > 0, n, 1.0))


#: The least deviation of the noise that is used. Counts without noise are exact integers.
LEAST = 2.0**-40


class _Shape:
    """The structure of a decision tree: numbered nodes, of which node 0 is the root."""

    __slots__ = ()

    feature: list[int] | NDArray[np.int64]
    children: list[int] | NDArray[np.int64]
    values: list[int] | NDArray[np.int64]

    def below(self, node: int) -> slice:
        """Return the child nodes of a divided node."""
        first = int(self.children[node])
        return slice(first, first + int(self.values[node]) + 1)

    def native(self, width: int) -> cross.Tree:
        """Return this tree in the format of the kernels, where a leaf is its own child."""
        feature, nodes = np.asarray(self.feature), np.arange(len(self.feature))
        leaf = feature < 0
        columns = np.where(leaf, 0, feature), np.where(leaf, nodes, self.children), self.values
        split, child, last = (np.asarray(x, np.uint32) for x in columns)
        return cross.Tree(split, child, last, width)


@dataclass(slots=True)
class Nodes(_Shape):
    """A tree that grows; `used` holds the attributes on the path to each node."""

    feature: list[int] = field(default_factory=lambda: [-1])
    children: list[int] = field(default_factory=lambda: [-1])
    values: list[int] = field(default_factory=lambda: [0])
    used: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])

    def __len__(self) -> int:
        return len(self.feature)

    def divide(self, node: int, attribute: int, values: int) -> range:
        """Divide a leaf by an attribute, and return a child for each value."""
        first, ways = len(self), values + 1
        self.feature[node], self.children[node], self.values[node] = attribute, first, values
        self.feature += [-1] * ways
        self.children += [-1] * ways
        self.values += [0] * ways
        self.used += [self.used[node] | {attribute}] * ways
        return range(first, first + values)

    def leaves(self) -> list[int]:
        """Return the leaves: the nodes that are not split."""
        return [i for i, attribute in enumerate(self.feature) if attribute < 0]


@dataclass(frozen=True)
class Tree(_Shape):
    """A learned decision tree. All its numbers are private.

    Attributes
    ----------
    feature : int64 array of shape (nodes,)
        The column by which each node divides its rows; -1 for a leaf. Node 0 is the root.
    children : int64 array of shape (nodes,)
        The number of the first child; -1 for a leaf. The children follow in the order of the
        column's values, and the last child is for rows with none of these values.
    values : int64 array of shape (nodes,)
        The number of values of the column; 0 for a leaf.
    counts : float64 array of shape (nodes, classes)
        The number of rows of each class at each node, with noise.
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
        """The depth of the deepest leaf; 0 for a tree with only a root."""
        depth = np.zeros(len(self.feature), np.int64)
        # A child has a larger index than its parent.
        for i in np.flatnonzero(self.feature >= 0).tolist():
            depth[self.below(i)] = depth[i] + 1
        return int(depth.max())

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each class at each node.

        Counts below 0 count as 0. The differences between a node and its children are shrunk by the
        part that noise explains. A child without rows has the probabilities of its parent.
        """
        chances = np.empty_like(self.counts)
        chances[0] = _shares(self.counts[:1], np.full(self.counts.shape[1], 1.0))[0]
        # A child has a larger index than its parent.
        for i in np.flatnonzero(self.feature >= 0).tolist():
            below = self.below(i)
            counts = self.counts[below]
            like = np.maximum(counts.sum(axis=1, keepdims=True), 0.0) * chances[i]
            kept = _kept(counts, self.deviation[below])
            chances[below] = _shares(like + kept * (counts - like), chances[i])
        return chances


def _shares(counts: NDArray[np.float64], default: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of each class from noisy counts, or the default if none is positive."""
    rows = np.maximum(counts, 0.0)
    rows = np.where(rows.any(axis=1, keepdims=True), rows, default)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _kept(counts: NDArray[np.float64], deviation: NDArray[np.float64]) -> float:
    """Return the shrinkage factor of differences between children: the part noise does not explain.

    This is 1 - E / S, or 0 if that is negative (after James and Stein). Let p_k be the share of
    class k among all children together. A child with n rows then has n p_k expected rows of class
    k. S is the sum of the squared differences between counts and these expectations, in standard
    deviations of the noise. E is the mean of S if there is only noise: for one child with K counts
    and noise of variance 1 it is K - 2 + K (p_1^2 + .. + p_K^2).
    """
    children, many = counts.shape
    p = _shares(counts.sum(axis=0, keepdims=True), np.full(many, 1.0))[0]
    differences = counts - counts.sum(axis=1, keepdims=True) * p
    squares = float(((differences / np.maximum(deviation, LEAST)[:, None]) ** 2).sum())
    noise = children * (many - 2 + many * float((p**2).sum()))
    return max(0.0, 1.0 - noise / squares) if squares > 0 else 0.0


def pruned(nodes: Nodes, leaves: NDArray[np.float64], deviation: float) -> Tree:
    """Return the tree without the splits that noise explains, from noisy counts of its leaves.

    A split remains if noise does not explain all differences between its children, or if a split
    below it remains.
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
    for i in reached:  # the list grows while it is read
        children.append(len(reached) if divided[i] else -1)
        if divided[i]:
            reached += range(len(nodes))[nodes.below(i)]
    at = np.array(reached)
    split = divided[at]
    feature = np.where(split, np.array(nodes.feature)[at], -1)
    values = np.where(split, np.array(nodes.values)[at], 0)
    return Tree(feature, np.array(children, np.int64), values, counts[at], spread[at])


#: The most counts of a level: 256 MB. Nodes beyond this limit remain leaves.
MOST_CELLS = 1 << 25
#: The default depth of a tree with many rows. The loss has SHARES parts, and one more for the
#: number of rows. 12 parts can be divided equally among two, three or four rounds.
USUAL, SHARES = 3, 12
#: The leaves of a tree must have at least this many rows on average, in standard deviations of the
#: noise in a count. Otherwise the tree is less deep.
FULL = 2.5
#: The most columns among which the exponential mechanism chooses.
MOST_CHOICES = 1 << 12


@dataclass(eq=False, repr=False, kw_only=True)
class ID3Classifier(Binned, ProbabilisticClassifier):
    """Learn a decision tree over public categories or bins of the columns.

    The tree is grown level by level (ID3). Each node divides its rows by the values of one column.
    By default the exponential mechanism chooses the column. Noisy counts of the classes at the
    leaves give the predictions.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). The tree and its counts satisfy the requested loss, all rounds together. The
    algorithm is ID3 of Blum, Dwork, McSherry and Nissim, PODS 2005, with noise for the joint
    sensitivity of a level. With ``splits="exponential"`` it follows Friedman and Schuster, KDD
    2010, and uses that all scores move in the same direction (bounded range).

    With ``criterion="entropy"`` and "exponential" the loss holds for datasets of at most
    `most_rows` rows. A larger dataset is refused, and this error reveals that it is larger.

    Parameters
    ----------
    categories : sequence of str, float or bool, or one such sequence a column
        The public values of the columns, as in `dpfast.histogram`: texts, or numbers or truth
        values in ascending order. A single list of numbers is for every column.
    classes : sequence of str, float or bool
        The public labels.
    bins, bounds
        For columns of numbers: the number of bins or their edges, and the bounds, as in
        `dpfast.histogram`. Alone, or together with `categories` for other columns.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    max_depth : int, optional
        The largest number of columns that are tested on the way to a leaf. By default 3, or fewer
        if noise would hide the rows of a leaf. To find this out, a thirteenth of the loss pays for
        a noisy number of rows.
    criterion : {"entropy", "gini", "max"}, default "gini"
        The impurity of the child nodes, which a split minimizes. "entropy": the entropy of the
        classes. "gini": the expected errors of a guess that is drawn by the class frequencies of a
        node. "max": the number of rows outside the most frequent class.
    splits : {"exponential", "counts"}, default "exponential"
        How the column of a split is chosen: by the exponential mechanism, or from noisy counts of
        each value and class.
    most_rows : int, optional
        A public limit on the number of rows. Only ``criterion="entropy"`` with "exponential" needs
        it. Under "replace" it is by default the number of rows.

    Attributes
    ----------
    tree_ : Tree
        The tree: `feature`, `children`, `values` and `counts` of each node, `depth` and `leaves`.
    classes_ : ndarray
        The labels, in the order of `classes`.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        By `fit`, as in `KMeans`.
    DataError
        By `fit`, if there are more than `most_rows` rows. The spent budget is not refunded.

    Notes
    -----
    Cost: one read of the data for each level. All nodes of a level are counted in one pass, up to
    2**25 cells of node, value and class.

    *Which values count.* A number or text that is not a value of its column, including NaN and
    null, counts as one additional value. Its node is not split further. A row whose label is not a
    class is ignored.

    *Which options to choose.* "exponential" is usually better, because with "counts" all columns
    share the loss of a level. Each further level leaves less loss for the others. Two or three
    levels are usual, and more help only with many rows.

    *What happens after the counts.* Rounds that a small tree does not need improve the counts of
    the leaves. Differences between leaves are shrunk by the part that noise explains (James and
    Stein), and splits that noise explains fully are removed. This uses released numbers only. With
    "counts" a node also becomes a leaf if it seems to have fewer rows than the noise of its cells.

    Examples
    --------
    Rows say yes in sunshine, and in rain without wind:

    >>> import numpy as np, dpfast as dp
    >>> sky = np.repeat(["sun", "rain", "cloud"], 4000)
    >>> windy = np.tile([0, 1], 6000)
    >>> play = np.where(sky == "rain", windy == 0, sky == "sun")
    >>> tree = dp.learn.ID3Classifier(
    ...     [["sun", "cloud", "rain"], [0, 1]], classes=[False, True], max_depth=2, epsilon=1
    ... )
    >>> tree = tree.fit({"sky": sky, "windy": windy}, play, budget=dp.Budget(epsilon=1))
    >>> tree.predict({"sky": ["sun", "rain", "rain"], "windy": [1, 1, 0]})
    array([ True, False,  True])
    """

    _name = "ID3"
    _takes_nan = True

    classes: ArrayLike
    max_depth: int | None = None
    criterion: Literal["entropy", "gini", "max"] = "gini"
    splits: Literal["exponential", "counts"] = "exponential"
    most_rows: int | None = None

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        depth = USUAL if self.max_depth is None else checks.whole("max_depth", self.max_depth, 1)
        criterion = checks.choice("criterion", self.criterion, CRITERIA)
        exact = checks.choice("splits", self.splits, ("exponential", "counts")) == "exponential"
        if self.most_rows is not None:
            checks.whole("most_rows", self.most_rows, 1)
        classes, coder = Classes(self.classes), Coder(self._columns().for_width(rows.width))
        if exact and coder.width > MOST_CHOICES:
            checks.fail("splits", f"'counts' for more than {MOST_CHOICES} columns", self.splits)
        most = self._most(relation, rows.length) if exact and criterion == "entropy" else None
        depth = min(depth, coder.width)
        # The parts are for the largest possible depth.
        parts = [Part.of_counts(1, 1 if exact else coder.width, relation)]

        chosen = self.max_depth is None

        def learn(rounds: Rounds) -> None:
            growth = _Growth(coder, classes, rounds, criterion, most)
            levels = growth.levels(depth) if chosen else depth
            divide = growth.choose if exact else growth.count
            for level in range(levels):
                if growth.open:
                    divide(level)
            self.tree_ = growth.finish(levels)
            self.classes_ = classes.labels

        return Training(1 + SHARES if chosen else depth + 1, parts, learn)

    def _numbers(self) -> Callable[[Floats], Floats]:
        coder, tree = Coder(self._columns().for_width(self.n_features_in_)), self.tree_
        native, steps, chances = tree.native(coder.width), tree.depth, tree.chances()

        def likelihood(rows: Floats) -> Floats:
            codes, node = np.empty(rows.shape, np.uint32), np.empty(len(rows), np.uint32)
            coder.codes(rows, codes)
            native.walk(codes, steps, node)
            return chances[node]

        return likelihood

    def _most(self, relation: str, length: int | None) -> int:
        if self.most_rows is not None:
            return int(self.most_rows)
        if relation == "replace" and length is not None:
            return max(1, length)
        rule = "given, as a public number, for criterion='entropy' with splits='exponential'"
        checks.fail("most_rows", rule, None)


class _Growth:
    """A decision tree that grows level by level, from released numbers alone.

    Attributes
    ----------
    open : list of int
        The nodes of the present level that may be divided.
    """

    def __init__(
        self, coder: Coder, classes: Classes, rounds: Rounds, criterion: str, most: int | None
    ) -> None:
        self._coder, self._classes, self._rounds = coder, classes, rounds
        self._criterion, self._most, self._uses = criterion, most, 1
        self._nodes = Nodes()
        self.open = self._room([0])

    def levels(self, most: int) -> int:
        """Return the tree depth, up to `most`, that a noisy row count allows."""
        changes = 0 if self._rounds.neighbors == "replace" else 1

        def total(source: Rows) -> list[int]:
            return [source.reduce(lambda blocks: sum(len(x) for x, _ in blocks), operator.add)]

        (rows,) = self._rounds.ask(total, [Part(1, changes, changes, 1)])
        values = float(np.mean(self._coder.values))
        for depth in range(most, 0, -1):
            self._uses = SHARES // (depth + 1)
            noise = self._rounds.deviation(Part.of_counts(1, 1, self._rounds.neighbors), self._uses)
            if rows >= FULL * noise * values**depth:
                break
        return depth

    def count(self, level: int) -> None:
        """Divide the nodes of a level by the attributes that score best on noisy counts."""
        unused, many = self._unused(), len(self._classes)
        values = self._coder.values
        sizes = [(values[attributes] + 1).astype(np.int64) * many for attributes in unused]

        def total(source: Rows) -> list[int]:
            tables = self._tables(source, level)
            counted = [tables[a][:, s] for s, attributes in enumerate(unused) for a in attributes]
            return [int(x) for table in counted for x in table.ravel()]

        ends = np.cumsum(np.concatenate(sizes))
        part = Part.of_counts(int(ends[-1]), len(unused[0]), self._rounds.neighbors)
        noisy = np.array(self._rounds.ask(total, [part], self._uses), np.float64)
        deviation = self._rounds.deviation(part, self._uses)
        noisy_tables, chosen = iter(np.split(noisy, ends[:-1])), list[int | None]()
        for attributes, cells in zip(unused, sizes, strict=True):
            tables = [next(noisy_tables).reshape(-1, 1, many) for _ in attributes]
            scores = [float(noisy_score(self._criterion, table)[0]) for table in tables]
            rows = sum(table.sum() for table in tables)
            few = deviation * int(cells.sum()) / len(attributes)
            chosen.append(
                attributes[int(np.argmax(scores))] if rows / len(attributes) > few else None
            )
        self._divide(chosen)

    def choose(self, level: int) -> None:
        """Divide the nodes of a level by attributes that the exponential mechanism chooses."""
        unused = self._unused()
        candidates = np.array(unused)

        def scores(source: Rows) -> NDArray[np.int64]:
            tables = self._tables(source, level)
            if self._most is not None and sum(table.sum() for table in tables[:1]) > self._most:
                raise DataError(f"most_rows must be at least the number of rows, got {self._most}")
            every = np.stack([score(self._criterion, table) for table in tables], axis=1)
            return np.take_along_axis(every, candidates, axis=1)

        chosen = self._rounds.choose(scores, spread(self._criterion, self._most or 1), self._uses)
        self._divide([attributes[i] for attributes, i in zip(unused, chosen, strict=True)])

    def finish(self, depth: int) -> Tree:
        """Count the classes at the leaves with all remaining rounds, and return the pruned tree."""
        leaves, many = self._nodes.leaves(), len(self._classes)

        def total(source: Rows) -> list[int]:
            return self._reduce(source, depth, leaves)[:-1].ravel().tolist()

        left = self._rounds.remaining
        part = Part.of_counts(len(leaves) * many, 1, self._rounds.neighbors)
        deviation = self._rounds.deviation(part, left)
        noisy = np.array(self._rounds.ask(total, [part], left), np.float64)
        return pruned(self._nodes, noisy.reshape(len(leaves), many), deviation)

    def _unused(self) -> list[list[int]]:
        """Return for each open node the attributes that its path from the root does not use."""
        used = self._nodes.used
        return [[a for a in range(self._coder.width) if a not in used[node]] for node in self.open]

    def _divide(self, chosen: Sequence[int | None]) -> None:
        values = self._coder.values.tolist()
        below: list[int] = []
        for node, attribute in zip(self.open, chosen, strict=True):
            if attribute is not None:
                below += self._nodes.divide(node, attribute, values[attribute])
        self.open = self._room(below)

    def _room(self, nodes: list[int]) -> list[int]:
        """Return the first nodes: as many as have counts that fit in memory."""
        cells = int(self._coder.values.sum(dtype=np.int64)) + self._coder.width
        return nodes[: MOST_CELLS // (cells * (len(self._classes) + 1))]

    def _tables(self, source: Rows, level: int) -> list[NDArray[np.int64]]:
        """Count rows by value, open node and class for each attribute; the last value is "none"."""
        many, slots = len(self._classes), len(self.open)
        counts = self._reduce(source, level, self.open, crossed=True)
        tables = self._coder.tables(counts, slots * many)
        return [table.reshape(len(table), slots, many) for table in tables]

    def _reduce(
        self, source: Rows, steps: int, nodes: Sequence[int], crossed: bool = False
    ) -> NDArray[np.int64]:
        """Count the rows of each class at `nodes`, which are `steps` steps from the root.

        If `crossed`, the rows of each value of each attribute are counted; see `Coder.tables`.
        """
        coder, classes, many = self._coder, self._classes, len(self._classes)
        keys = len(nodes) * many
        size = cross.cells(coder.values, keys)[1] if crossed else keys + 1
        native = self._nodes.native(coder.width)
        slot = np.full(len(self._nodes), cross.NONE, np.uint32)
        slot[list(nodes)] = np.arange(len(nodes))

        def summarize(blocks: Iterator[Block]) -> NDArray[np.int64]:
            out = np.zeros(size, np.int64)
            table, room = np.empty((BLOCK, coder.width), np.uint32), np.empty((2, BLOCK), np.uint32)
            for rows, labels in blocks:
                codes, node, key = table[: len(rows)], room[0, : len(rows)], room[1, : len(rows)]
                coder.codes(rows, codes)
                native.walk(codes, steps, node)
                native.keys(node, classes.codes(labels), slot, many, key)
                if crossed:
                    cross.count(codes, key, keys, coder.values, out)
                else:
                    tally(key, out)
            return out

        return source.reduce(summarize, np.add, BLOCK)
