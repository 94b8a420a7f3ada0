"""A private decision tree: ID3 on noisy counts, or on choices by the exponential mechanism.

A round is for all nodes of a level. They divide the rows among them, and with u attributes that are
not used on the way, the same number at each node of a level, a row is in one cell (attribute,
value, class) of each of u tables. So one that comes or goes moves u counts by 1: u in the l1 norm
and sqrt(u) in the l2 norm; one that is replaced twice as many. The last round counts the classes at
the leaves, where a row moves one count.

A choice instead of counts makes an attribute known, and nothing else (`criteria`, `rounds`): one
round for each level again, of whatever number of attributes. How large a node is it does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import sulq as cross
from .._kernels.statistics import tally
from ..budget.budget import Budget
from ..errors import DataError
from ..rng import Generator
from ..sources.words import Words
from .classifier import PublicClassifier
from .coded import BLOCK, Attributes, Classes, Coder
from .criteria import CRITERIA, noisy, spread, worth
from .rounds import Part, Rounds, loss_of
from .targets import Labelled, Piece, labelled
from .tree import Nodes, Tree, pruned

Own = TypeVar("Own", bound="ID3Classifier")

#: Counts of a level, at most: 256 MB. Nodes that find no room are leaves.
MOST_CELLS = 1 << 25
#: Columns among which the exponential mechanism chooses.
MOST_CHOICES = 1 << 12


class ID3Classifier(PublicClassifier):
    """A decision tree over public categories, learned from noisy counts alone.

    Privacy
    -------
    Neighbours are datasets that differ in one row, with its label, added or removed, or replaced
    (`neighbors`). The tree, its counts included, satisfies the loss that is asked for, all rounds
    together. (ID3 of Blum, Dwork, McSherry and Nissim, PODS 2005, with noise for the joint
    sensitivity of a level; Friedman and Schuster, KDD 2010, for `splits` "exponential", with the
    bounded range of scores that all move in one direction.) With ``criterion="entropy"`` and
    "exponential" that is a statement about datasets of at most `most_rows` rows; a larger one is
    refused, which shows that it is larger.

    Parameters
    ----------
    categories : sequence of str, float or bool, or one such sequence a column
        The public values of the columns, as in `dpfast.histogram`: texts, or numbers or truth
        values in ascending order. One list of numbers is that of every column.
    classes : sequence of str, float or bool
        The public labels, in the same form.
    bins, bounds
        For columns of numbers, instead of `categories` or beside them: as in `dpfast.histogram`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of `fit`: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation.
    max_depth : int, default 3
        How many attributes decide, at most. There are so many rounds (or as many as attributes, if
        these are fewer) and one for the leaves.
    criterion : {"entropy", "gini", "max"}, default "gini"
        What is made small by a division: the bits that tell the class of a row, the rows that are
        guessed wrong by a guess that follows the classes of a node, or those that are not of its
        commonest class.
    splits : {"exponential", "counts"}, default "exponential"
        How attributes are chosen: by the exponential mechanism, or from noisy counts of each value
        and class.
    most_rows : int, optional
        How many rows there are at most, a public number that ``criterion="entropy"`` with
        "exponential" needs; by default, for ``neighbors="replace"``, the number of rows.

    Attributes
    ----------
    tree_ : Tree
        `feature`, `children`, `values` and `counts` of each node, `depth`, `leaves`; see there.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns have names
    loss_ : Pure, Approx or ZCDP
        What was spent.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        By `fit`, for a bad argument; nothing has been spent.
    BudgetError
        By `fit`, when the budget has too little left; nothing has been spent.
    DataError
        By `fit`, for more than `most_rows` rows; the spent budget is not refunded.

    Notes
    -----
    A number or text that is none of its column's values, NaN and null too, counts as one value
    more, which is not divided any further. A row whose label is none of the classes counts nowhere.

    Cost: a read of the data for each level. All nodes of a level are counted in one pass, up to
    2**25 cells of node, value and class; with "counts" a node is a leaf, too, if it seems to have
    less rows than the noise of its cells. Rounds that a small tree does not need count the leaves
    again, and the counts are averaged. What leaves differ by is kept as far as noise does not
    explain it (after James and Stein), and divisions are undone that it explains altogether: that
    looks at released numbers only.

    A choice is mostly better: with counts, the loss of a level is for those of all attributes.
    And every level more leaves less loss for each. Two or three levels are usual, more are good
    only where there are many rows. With fewer than about 1000 / epsilon rows, two levels of
    three bins tell more rows right than three levels of eight.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> sky = np.repeat(["sun", "rain", "cloud"], 4000)
    >>> windy = np.tile([0, 1], 6000)
    >>> play = np.where(sky == "rain", windy == 0, sky == "sun")
    >>> made = dp.sulq.ID3Classifier(
    ...     [["sun", "cloud", "rain"], [0, 1]], classes=[False, True], max_depth=2, epsilon=1
    ... )
    >>> made = made.fit({"sky": sky, "windy": windy}, play, budget=dp.Budget(epsilon=1))
    >>> made.predict({"sky": ["sun", "rain", "rain"], "windy": [1, 1, 0]})
    array([ True, False,  True])
    """

    tree_: Tree

    def __init__(
        self,
        categories: Any = None,
        *,
        classes: Any,
        bins: Any = None,
        bounds: Any = None,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        neighbors: str = "add-remove",
        max_depth: int = 3,
        criterion: str = "gini",
        splits: str = "exponential",
        most_rows: int | None = None,
    ) -> None:
        self.categories = categories
        self.classes = classes
        self.bins = bins
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.neighbors = neighbors
        self.max_depth = max_depth
        self.criterion = criterion
        self.splits = splits
        self.most_rows = most_rows

    def fit(
        self: Own,
        X: Any,
        y: Any = None,
        *,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Own:
        """Learn the tree.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : array_like of shape (n,), or str
            The label of each row, or the name of the column of X that is.
        budget : Budget, optional
            Pays before data or randomness are touched.
        rng : Generator, optional
            By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        ID3Classifier
            This object.
        """
        loss = loss_of(self.epsilon, self.delta, self.rho)
        relation = checks.neighbors(self.neighbors)
        depth = checks.whole("max_depth", self.max_depth, 1)
        criterion = checks.choice("criterion", self.criterion, CRITERIA)
        exact = checks.choice("splits", self.splits, ("exponential", "counts")) == "exponential"
        if self.most_rows is not None:
            checks.whole("most_rows", self.most_rows, 1)
        classes = Classes(self.classes)
        public = Attributes(self.bins, self.bounds, self.categories)
        own = classes.axis.words
        source = labelled(X, y, public.words, own, public.said, relation)
        coder = Coder(public.axes(source.width))
        if exact and coder.width > MOST_CHOICES:
            checks.fail("splits", f"'counts' for more than {MOST_CHOICES} columns", self.splits)
        most = self._most(relation, source.length) if exact and criterion == "entropy" else None
        depth = min(depth, coder.width)
        rounds = Rounds(
            source,
            loss=loss,
            neighbors=relation,
            rounds=depth + 1,
            name="ID3",
            budget=budget,
            rng=rng,
            parts=[_counts(1, 1 if exact else coder.width, relation)],  # as far as any goes
        )
        grown = _Growth(coder, classes, rounds, criterion, most)
        for level in range(depth):
            if not grown.open:
                break
            if exact:
                grown.choose(level)
            else:
                grown.count(level)
        self.tree_ = grown.finish(depth)
        self.classes_ = classes.given
        self._learned(loss, coder.width, source.names)
        return self

    def _words(self) -> Sequence[Words | None]:
        return Attributes(self.bins, self.bounds, self.categories).words

    def _ready(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        public = Attributes(self.bins, self.bounds, self.categories)
        coder, tree = Coder(public.axes(self.n_features_in_)), self.tree_
        native, steps, chances = tree.native(coder.width), tree.depth, tree.chances()

        def likely(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            codes = np.empty(rows.shape, np.uint32)
            node = np.empty(len(rows), np.uint32)
            coder.codes(rows, codes)
            native.walk(codes, steps, node)
            found: NDArray[np.float64] = chances[node]
            return found

        return likely

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _most(self, relation: str, length: int | None) -> int:
        if self.most_rows is not None:
            return int(self.most_rows)
        if relation == "replace" and length is not None:
            return max(1, length)
        rule = "given for criterion='entropy' with splits='exponential', a public number"
        checks.fail("most_rows", rule, None)


def _counts(size: int, tables: int, neighbors: str) -> Part:
    """So many cells of tables, in each of which a row is in one cell."""
    moved = tables * (2 if neighbors == "replace" else 1)
    return Part(size, moved, moved, moved)


class _Growth:
    """A tree that grows level by level, from released numbers alone.

    Attributes
    ----------
    open : list of int
        Nodes of the present level that may be divided.
    """

    def __init__(
        self, coder: Coder, classes: Classes, rounds: Rounds, criterion: str, most: int | None
    ) -> None:
        self._coder, self._classes, self._rounds = coder, classes, rounds
        self._criterion, self._most = criterion, most
        self._nodes = Nodes()
        self.open = self._room([0])

    def count(self, level: int) -> None:
        """Divide the nodes of a level by noisy counts of values and classes."""
        unused = [self._unused(node) for node in self.open]
        values, many = self._coder.values.tolist(), len(self._classes)

        def total(source: Labelled) -> list[int]:
            tables = self._tables(source, level)
            own = [tables[a][:, s] for s, each in enumerate(unused) for a in each]
            return [int(x) for table in own for x in table.ravel()]

        sizes = [[(values[a] + 1) * many for a in each] for each in unused]
        part = _counts(sum(map(sum, sizes)), len(unused[0]), self._rounds.neighbors)
        found, at = np.array(self._rounds.ask(total, [part]), np.float64), 0
        deviation = self._rounds.noise(part).deviation
        chosen: list[int | None] = []
        for each, cells in zip(unused, sizes, strict=True):
            rows, scores = [], []
            for a, size in zip(each, cells, strict=True):
                table = found[at : at + size].reshape(values[a] + 1, 1, many)
                rows.append(table.sum())
                scores.append(float(noisy(self._criterion, table)[0]))
                at += size
            few = deviation * sum(cells) / len(cells)
            large = sum(rows) / len(rows) > few
            chosen.append(each[int(np.argmax(scores))] if large else None)
        self._divide(chosen)

    def choose(self, level: int) -> None:
        """Divide the nodes of a level by attributes that the exponential mechanism chooses."""
        unused = [self._unused(node) for node in self.open]
        places = np.array(unused)

        def scores(source: Labelled) -> NDArray[np.int64]:
            tables = self._tables(source, level)
            if self._most is not None and sum(table.sum() for table in tables[:1]) > self._most:
                raise DataError(f"there are more than most_rows={self._most} rows")
            every = np.stack([worth(self._criterion, table) for table in tables], axis=1)
            return np.take_along_axis(every, places, axis=1)

        found = self._rounds.choose(scores, spread(self._criterion, self._most or 1))
        self._divide([each[i] for each, i in zip(unused, found, strict=True)])

    def finish(self, depth: int) -> Tree:
        """Count the classes at the leaves with all rounds that are left."""
        leaves, many = self._nodes.leaves(), len(self._classes)
        exact: list[int] = []

        def total(source: Labelled) -> list[int]:
            if not exact:
                exact[:] = self._reduce(source, depth, leaves, self._tally).tolist()
            return exact

        part = _counts(len(leaves) * many, 1, self._rounds.neighbors)
        times = self._rounds.remaining
        deviation = self._rounds.noise(part).deviation / times**0.5
        answers = [self._rounds.ask(total, [part]) for _ in range(times)]
        counts = np.array(answers, np.float64).mean(axis=0).reshape(len(leaves), many)
        return pruned(self._nodes, counts, deviation)

    def _unused(self, node: int) -> list[int]:
        return [a for a in range(self._coder.width) if a not in self._nodes.used[node]]

    def _divide(self, chosen: Sequence[int | None]) -> None:
        values = self._coder.values.tolist()
        below: list[int] = []
        for node, attribute in zip(self.open, chosen, strict=True):
            if attribute is not None:
                below += self._nodes.divide(node, attribute, values[attribute])
        self.open = self._room(below)

    def _room(self, nodes: list[int]) -> list[int]:
        """As many of some nodes as there is room to count."""
        each = int(self._coder.values.sum(dtype=np.int64)) + self._coder.width
        return nodes[: MOST_CELLS // (each * (len(self._classes) + 1))]

    def _tables(self, source: Labelled, level: int) -> list[NDArray[np.int64]]:
        """Rows of each value, node and class, the last value being none, for each attribute."""
        many, slots = len(self._classes), len(self.open)
        keys = slots * many
        at, _ = cross.cells(self._coder.values, keys)
        found = self._reduce(source, level, self.open, self._cross)
        return [
            found[start : start + (v + 1) * (keys + 1)]
            .reshape(v + 1, keys + 1)[:, :keys]
            .reshape(v + 1, slots, many)
            for start, v in zip(at.tolist(), self._coder.values.tolist(), strict=True)
        ]

    def _cross(self, keys: int) -> tuple[int, Callable[..., None]]:
        values = self._coder.values

        def add(codes: NDArray[np.uint32], key: NDArray[np.uint32], out: NDArray[np.int64]) -> None:
            cross.count(codes, key, keys, values, out)

        return cross.cells(values, keys)[1], add

    def _tally(self, keys: int) -> tuple[int, Callable[..., None]]:
        def add(codes: NDArray[np.uint32], key: NDArray[np.uint32], out: NDArray[np.int64]) -> None:
            tally(key, out)

        return keys + 1, add

    def _reduce(
        self,
        source: Labelled,
        steps: int,
        nodes: Sequence[int],
        what: Callable[[int], tuple[int, Callable[..., None]]],
    ) -> NDArray[np.int64]:
        """Exact counts of the rows at some nodes, so many steps from the root."""
        coder, classes, many = self._coder, self._classes, len(self._classes)
        native = self._nodes.native(coder.width)
        slot = np.full(len(self._nodes), cross.NONE, np.uint32)
        slot[list(nodes)] = np.arange(len(nodes))
        size, add = what(len(nodes) * many)

        def summarise(pieces: Iterator[Piece]) -> NDArray[np.int64]:
            out = np.zeros(size, np.int64)
            table, room = np.empty((BLOCK, coder.width), np.uint32), np.empty((2, BLOCK), np.uint32)
            for rows, labels in pieces:
                codes, node, key = table[: len(rows)], room[0, : len(rows)], room[1, : len(rows)]
                coder.codes(rows, codes)
                native.walk(codes, steps, node)
                native.keys(node, classes.codes(labels), slot, many, key)
                add(codes, key, out)
            return out

        return source.reduce(summarise, np.add, BLOCK)
