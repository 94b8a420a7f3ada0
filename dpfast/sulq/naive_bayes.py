"""Private naive Bayes: what the noisy sums of one round tell of each class, column by column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .._core import checks, nan_policy
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from ..privacy import Loss
from ..statistics.histogram import Bins
from .categories import Classes, Columns
from .class_sums import ClassSums, NumberColumn, columns_of
from .estimator import BoundsOfSome, CategoriesEach, ProbabilisticClassifier, Training, Weighted
from .labeled_rows import LabeledRows
from .rounds import Rounds
from .row_matrices import Floats, expect_scale

#: The least variance, in squares of half the distance of the bounds; and of all.
LEAST, TINY = 2.0**-40, float(np.finfo(np.float64).tiny)


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(Weighted, ProbabilisticClassifier):
    """Classes with independent columns: normal variables, or categories with probabilities.

    Privacy
    -------
    Neighbors are datasets that differ in one row, with its label, added or removed, or replaced
    (`neighbors`). Everything that is learned satisfies the loss that is asked for: one round of
    noisy sums (Blum, Dwork, McSherry and Nissim, PODS 2005) for their joint sensitivity. (The sums
    are those of Vaidya, Shafiq, Basu and Hong, WI 2013; noise is for all of a row at once.)

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
    alpha : float, default 1
        Number of rows that are added to each value of a column of categories, in each class.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN in columns of numbers, as in `quantile`; "drop" leaves out the whole
        row. In a column of categories it is none of them, and counts nowhere.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    class_count_, class_prior_ : float64 array of shape (classes,)
        Number of rows of each class with noise, and their fractions, none of which is below 0.
    theta_, var_ : float64 array of shape (classes, d)
        Means and variances in columns of numbers; NaN elsewhere.
    category_log_prob_ : list of d arrays of shape (classes, values), or None
        Logarithms of the probability of each value in columns of categories.
    classes_ : ndarray
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data. A row whose label is none of the classes counts nowhere.

    A class that seems to have fewer rows than three standard deviations of the noise is taken to be
    spread evenly. A variance is at least the standard deviation of its noise.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.concatenate([np.linspace(0, 4, 5000), np.linspace(5, 9, 5000)])
    >>> y = np.repeat([0, 1], 5000)
    >>> bayes = dp.sulq.NaiveBayes(bounds=(0, 10), classes=[0, 1], epsilon=1)
    >>> bayes = bayes.fit(x[:, None], y, budget=dp.Budget(epsilon=1))
    >>> bayes.predict([[1.0], [8.0]])
    array([0, 1])
    >>> bayes.theta_.round()
    array([[2.],
           [7.]])
    """

    _name = "naive Bayes"

    bounds: BoundsOfSome | None = None
    categories: CategoriesEach | None = None
    classes: ArrayLike
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    neighbors: Neighbors | None = None
    alpha: Number = 1.0
    nan: NanPolicy = "raise"
    weight_bounds: Bounds | None = None

    class_count_: Floats = field(init=False)
    class_prior_: Floats = field(init=False)
    theta_: Floats = field(init=False)
    var_: Floats = field(init=False)
    category_log_prob_: list[Floats | None] = field(init=False)

    def _training(self, rows: LabeledRows, loss: Loss, relation: str) -> Training:
        alpha = expect_scale("alpha", self.alpha)
        policy = checks.nan_policy(self.nan, relation)
        classes = Classes(self.classes)
        sums = ClassSums(self._columns().each(rows.width), len(classes), policy)
        parts = sums.parts(relation, loss)

        def total(rows: LabeledRows) -> list[int]:
            integers, missing = sums.total(rows, classes)
            nan_policy.refuse(policy, missing)
            return integers

        def learn(rounds: Rounds) -> None:
            deviations = [rounds.deviation(part) for part in parts]
            self._learn(sums, rounds.ask(total, parts), deviations, alpha)
            self.classes_ = classes.labels

        return Training(1, parts, learn)

    def _learn(
        self, sums: ClassSums, noisy: list[int], deviations: list[float], alpha: float
    ) -> None:
        """Compute everything that is learned from released numbers."""
        many, width = sums.classes, sums.width
        counts = np.array(noisy[:many], np.float64)
        live = counts > 3.0 * deviations[0]
        kept = np.maximum(counts, 0.0)
        self.class_count_ = counts
        self.class_prior_ = kept / kept.sum() if kept.sum() else np.full(many, 1.0 / many)
        self.theta_, self.var_ = np.full((many, width), np.nan), np.full((many, width), np.nan)
        self.category_log_prob_ = [None] * width
        at = many
        for j, deviation in enumerate(deviations[1:]):
            size = many * sums.values.get(j, 2)
            column_sums = np.array(noisy[at : at + size], np.float64).reshape(-1, many)
            at += size
            if j in sums.values:
                table = np.maximum(column_sums.reshape(many, -1), 0.0) + alpha
                self.category_log_prob_[j] = np.log(table / table.sum(axis=1, keepdims=True))
                continue
            column = sums.numbers[j]
            unit = np.where(live, counts, 1.0) * max(1.0, float(column.reach) ** 2)
            mean = np.where(live, np.clip(column_sums[0] / unit, -1.0, 1.0), 0.0)
            least = np.minimum(np.maximum(deviation / unit, LEAST), 1 / 3)
            rest = np.maximum(1.0 - column_sums[1] / unit - mean**2, least)
            spread = np.where(live, rest, 1 / 3)
            half = column.reach * column.grid
            self.theta_[:, j] = np.clip(column.middle * column.grid + mean * half, *column.bounds)
            self.var_[:, j] = np.maximum(np.minimum(spread, 1.0) * half**2, TINY)

    def _columns(self) -> Columns[NumberColumn | Bins]:
        return columns_of(self._bounds, self.categories)

    def _likelihood(self) -> Callable[[Floats], Floats]:
        each = self._columns().each(self.n_features_in_)
        sums = ClassSums(each, len(self.class_prior_), "drop")
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        learned = [table for table in self.category_log_prob_ if table is not None]
        tables = [np.vstack([table.T, np.zeros(len(prior))]) for table in learned]

        def likelihood(rows: Floats) -> Floats:
            logs = np.tile(prior, (len(rows), 1))
            for j, column in sums.numbers.items():
                x, mean, var = rows[:, j, None], self.theta_[:, j], self.var_[:, j]
                x = np.clip(x, *column.bounds)
                density = -0.5 * (np.log(var) + (x - mean) ** 2 / var)
                logs += np.where(np.isnan(x), 0.0, density)  # NaN tells nothing
            for table, codes in zip(tables, sums.codes(rows).T, strict=True):
                logs += table[np.minimum(codes, len(table) - 1)]
            logs -= logs.max(axis=1, keepdims=True)
            np.exp(logs, out=logs)
            logs /= logs.sum(axis=1, keepdims=True)
            return logs

        return likelihood
