"""Private cross-validation: for each fold, learn from all other folds and score this fold.

*Folds.* The fold of a row is a hash of its row number by a fresh secret key. With ids it is a hash
of the id, so all rows of a person are in one fold. The number of a row depends on how many rows
come before it. But hashes of different numbers are independent and uniform. So, as in
`measurement.unit`, the folds of two neighbors can be coupled such that all other rows, or people,
are in the same folds. No value of any row decides on a fold.

*Loss.* Let a row, or a person, be added to fold f of k folds. Fold f is read by the score of f, and
by the k - 1 fits that leave out another fold. It is not read by the fit that leaves out f. Given
the answers before them, the other scores do not read it either. So by adaptive composition a row
costs the loss of k - 1 fits and of one score (Dwork, McSherry, Nissim and Smith, TCC 2006; for rho
Bun and Steinke, TCC 2016). Each of these gets a k-th part of the whole loss. The mixture over folds
costs no more, as in `measurement.unit`.

A replaced row is removed and added, perhaps to another fold. These are two steps, each of half of
epsilon, or of a quarter of rho. An (epsilon, delta) is converted to the largest rho that implies
it, and this rho is divided. This needs less Gaussian noise than equal parts of epsilon and delta.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Number
from .._kernels.tables import Key, hashes
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.release import Prepared, paid, releases
from ..measurement.statistic import Layout, Offer, mechanism_of
from ..measurement.unit import one_row
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from ..statistics.totals.moments import Mean
from ..sulq.rounds import loss_of
from ..tables.batches import Batch
from ..tables.engine import of_engine
from ..tables.key_words import KeyWords, WordPairs, secret
from .rows import Rows
from .scored import Scored

#: The most folds.
MOST = 1000


@dataclass(frozen=True)
class CrossValidation:
    """The private scores of a learner, each on a fold of rows that it did not learn from.

    Attributes
    ----------
    scores : float64 array of shape (cv,)
        One score for each fold, as the learner's method `score` with a loss returns it.
    loss : Pure, Approx or ZCDP
        The loss of all scores together, which was spent.
    part : Pure or ZCDP
        The part of the loss that each fit and each score has, for one row or one person.

    Examples
    --------
    The mean of the scores of two folds:

    >>> import numpy as np, dpfast as dp
    >>> scores, loss = np.array([0.5, 1.0]), dp.privacy.Pure(1)
    >>> dp.learn.CrossValidation(scores, loss, dp.privacy.Pure(0.5)).mean
    0.75
    """

    scores: NDArray[np.float64]
    loss: Loss
    part: Loss

    @property
    def mean(self) -> float:
        """The mean of all scores."""
        return float(self.scores.mean())


@releases
def cross_validate(
    estimator: Scored,
    X: Any,
    y: ArrayLike | str | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    cv: int = 5,
    ids: Any = None,
    max_rows: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[CrossValidation]:
    """Score a learner privately on rows that it did not learn from, for one loss.

    Rows are divided at random into `cv` folds. For each fold, a copy of the learner learns from the
    other folds, and is scored on this fold.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label, added or removed, or replaced
    (`neighbors` of the learner). With `ids` they differ in all rows of one person. All scores
    together satisfy the requested loss. A row takes part in `cv` - 1 fits and in one score, and
    each fit and each score spends a `cv`-th part of the loss (Dwork, McSherry, Nissim and Smith,
    TCC 2006; ``dpfast/learn/cross_validation.py`` has the proof). The folds are secret, and do not
    depend on the values of rows. All rows of a person are in the same fold. The fitted copies are
    discarded.

    Parameters
    ----------
    estimator : learner of dpfast.learn that has a score
        The learner. It is not changed, and its own loss is not used.
    X : array_like of shape (n, d), structured array, table, or source
        The rows, as in `fit`.
    y : array_like of shape (n,), or str
        The labels or targets, as in `fit`. Learners of clusters ignore `y`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    cv : int, default 5
        The number of folds, from 2 to 1,000.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int, optional
        With `ids` only: the largest number of rows of a person that count, in each fit and in each
        score.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    CrossValidation
        The result, with the attributes `scores`, `mean` and `part`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, as in `fit`. Nothing has been spent.
    BudgetError
        If the budget has too little left. Nothing has been spent.
    DataError
        As in `fit` and `score`. The spent budget is not refunded.

    Notes
    -----
    Cost: `cv` fits and scores, and one read of the data to number its rows.

    Each fit has only a `cv`-th part of the loss, and ``(cv - 1) / cv`` of the rows. So scores are
    lower than the score of a fit on all rows with the whole loss, and more folds give lower scores.
    scikit-learn's `cross_validate` pays for the fits of such a learner, but its scores are NOT
    PRIVATE.

    Examples
    --------
    Score a logistic regression on four folds, each with a quarter of epsilon:

    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 10, 20_001)[:, None]
    >>> late = (x[:, 0] > 7).astype(int)
    >>> budget = dp.Budget(epsilon=1)
    >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1])
    >>> answer = dp.learn.cross_validate(model, x, late, epsilon=1, cv=4, budget=budget)
    >>> answer.scores.shape, answer.mean > 0.9, answer.part
    ((4,), True, Pure(epsilon=0.25))
    """
    if not isinstance(estimator, Scored):
        checks.fail_kind("estimator", "a learner of dpfast.learn that has a score", estimator)
    folds = checks.whole("cv", cv, 2, MOST)
    whole = loss_of(epsilon, delta, rho)
    rows, unit = estimator._taken(X, y, None, ids, max_rows, budget)
    if of_engine(rows.source):
        rule = "data in memory or in files, because rows of a query engine have no order"
        checks.fail_kind("X", rule, X)
    part = _part(whole, unit.neighbors, folds)
    of_parts = changed(unit, neighbors="add-remove")
    # Both calls raise an error, before anything is spent, if the fit or the score cannot be
    # released.
    estimator._fresh()._prepared(rows, of_parts, part, None, rng)
    mechanism_of(Mean(bounds=(0.0, 1.0)), Offer(part, of_parts), Layout(1, masked=True))

    def validate(allotted: tuple[None, Generator]) -> CrossValidation:
        _, generator = allotted
        numbers = fold_numbers(rows, folds, secret(generator.stream()))
        scores = np.empty(folds)
        for fold in range(folds):
            model, here = estimator._fresh(), numbers == fold
            learned_from, left_out = changed(rows, kept=~here), changed(rows, kept=here)
            with paid():
                model._prepared(learned_from, of_parts, part, None, generator).run()
                scores[fold] = model._scored(left_out, of_parts, part, None, generator).run()
        return CrossValidation(scores, whole, part)

    name, loss = estimator._name, whole.of_zcdp() if isinstance(whole, Approx) else whole
    allocation = Allocation(f"cross-validation of {name}", loss, unit.neighbors, ids=unit.ids)
    return Prepared(allocation, rows, budget, rng, validate)


def _part(whole: Loss, neighbors: Any, folds: int) -> Loss:
    """Return the loss of each fit and score, for one row or person that is added or removed."""
    if isinstance(whole, Approx):
        whole = ZCDP.largest(whole.epsilon, whole.delta)
    step = one_row(whole, neighbors, 1)
    return ZCDP(step.rho / folds) if isinstance(step, ZCDP) else Pure(step.epsilon / folds)


def fold_numbers(rows: Rows, folds: int, key: Key) -> NDArray[np.int64]:
    """Return the fold of each row: a keyed hash of its row number or its id.

    Parameters
    ----------
    rows : Rows
    folds : int
    key : Key
        A fresh secret key.
    """

    def of(words: WordPairs) -> NDArray[np.int64]:
        out = np.empty(len(words.low), np.uint64)
        hashes(key, words.low, words.high, out)
        return (out % np.uint64(folds)).astype(np.int64)

    if rows.ids is None:
        length = rows.source.reduce(lambda chunk: chunk.start + len(chunk.rows), max)
        return of(WordPairs(np.arange(length, dtype=np.uint64), None, None))
    column, ids = rows.ids.column, rows.ids.rows
    words = KeyWords(key, "ids", is_id=True)

    def number(batch: Batch) -> list[tuple[int, NDArray[np.int64]]]:
        return [(batch.start, of(words.of(batch.columns[column])))] if batch.rows else []

    batches = ids.reduce([], [], number, operator.add, column)
    in_order = [numbers for _, numbers in sorted(batches, key=operator.itemgetter(0))]
    return np.concatenate([np.empty(0, np.int64), *in_order])
