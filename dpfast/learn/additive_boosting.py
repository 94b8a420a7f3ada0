"""Private additive models: one score for each public bin of each column, from noisy gradients.

The scores are weights of the indicators of a `Design` in which every column has bins or categories.
A round is a gradient over all indicators (`gradient_rounds`). The DP-EBM paper treats columns one
after the other. This needs the same noise, because d queries that a row changes by 1 have the loss
of one query that a row changes by 1 in d entries. But it needs d times as many reads of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core import checks
from .._core.types import Bounds, NanPolicy
from ..privacy import Loss
from ..sulq.rounds import Rounds
from .columns import Classes, Floats, expect_size
from .design import REACH, Design
from .estimator import Binned, BoundsOfSome, Training, Weighted
from .gradient_rounds import ClassAnswers, Gradients, TargetAnswers, learned, times_of
from .logistic_regression import likely
from .rows import Rows
from .scored import ProbabilisticClassifier, Regressor


@dataclass(eq=False, repr=False, kw_only=True)
class _Additive(Weighted, Binned):
    """The common part of the additive classifier and the additive regressor."""

    bounds: BoundsOfSome | None = None  # repeated here, because `Weighted` has no bounds
    max_iter: int = 5

    _name = "additive boosting"

    def _design(self, width: int) -> Design:
        return Design(self._columns().for_width(width), "drop")

    def _boost(self, rounds: Rounds, gradients: Gradients) -> Floats:
        """Learn the scores of each column's bins; return the noisy row count of each class."""
        weights, counts, means = learned(rounds, gradients)
        spans = gradients.design.spans
        self.intercept_: Any = weights[0]
        self.n_iter_ = rounds.rounds
        self.bin_counts_ = [means[span] * max(float(counts.sum()), 0.0) for span in spans]
        self.term_scores_: list[Floats] = []
        for span in spans:
            middle = means[span] @ weights[span]
            self.term_scores_.append(weights[span] - middle)
            self.intercept_ = self.intercept_ + middle
        return counts

    def _scores(self) -> Callable[[Floats], Floats]:
        """Return the function from rows to scores: sums of one learned term for each column."""
        design = self._design(self.n_features_in_)
        shapes = np.concatenate([[self.intercept_], *self.term_scores_])
        weights = shapes.reshape(len(shapes), -1)
        return lambda rows: design.scores(design.vectors(rows), weights) / REACH


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveBoostingClassifier(_Additive, ProbabilisticClassifier):
    """Classify rows by a sum of learned terms, one a column: an explainable boosting machine.

    Each column has public bins or categories. The term of a column is a score for each of them. A
    row is classified by the sum of its scores, so the effect of each column can be read and drawn.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). Everything that `fit` learns satisfies the requested loss. Each round is a vector
    of exact integer sums, with noise for its joint sensitivity (``dpfast/learn/gradient_rounds.py``
    has the proof). This is DP-EBM (Nori, Caruana, Bu, Shen and Kulkarni, ICML 2021) with three
    differences: the bins are public, noise is for the joint sensitivity of all columns, and the
    first round counts the bins.

    Parameters
    ----------
    categories : sequence of str, float or bool, or one such sequence a column
        The public values of the columns, as in `dpfast.histogram`.
    classes : sequence of str, float or bool
        The public labels.
    bins, bounds
        For columns of numbers: the number of bins or their edges, and the bounds, as in
        `dpfast.histogram`. Alone, or together with `categories` for other columns.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    max_iter : int, default 5
        The number of rounds, 2 or more.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    term_scores_ : list of d float64 arrays, (bins, 1) for two classes or (bins, classes)
        For each column, the score that each bin adds: for the second of two classes, or for each
        class. The average of these scores over the rows is 0.
    intercept_ : float64 array of shape (1,) or (classes,)
        The constant of each score.
    bin_counts_ : list of d float64 arrays
        For each column, the number of rows in each bin, with noise.
    class_count_ : float64 array of shape (classes,)
        The number of rows of each class, with noise.
    classes_ : ndarray
        The labels, in the order of `classes`.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data for each round. A number outside of all bins counts in the nearest
    bin. NaN, null, and values that are not categories add nothing to a score. A row whose label is
    not a class is ignored.

    Every bin has noise, so use few bins for few rows. For 20,000 rows and an epsilon of 1, use 8
    bins for each column. With a delta or a larger loss, use twice as many.

    Examples
    --------
    Rows are of class True if x is far from 0:

    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(-3, 3, 20_001)
    >>> y = np.abs(x) > 1.5
    >>> ebm = dp.learn.AdditiveBoostingClassifier(
    ...     bins=8, bounds=(-3, 3), classes=[False, True], epsilon=1
    ... )
    >>> ebm = ebm.fit(x[:, None], y, budget=dp.Budget(epsilon=1))
    >>> ebm.predict([[-2.5], [0.0], [2.5]])
    array([ True, False,  True])
    """

    _takes_nan = True

    classes: ArrayLike

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        times, classes = times_of(self.max_iter), Classes(self.classes)
        gradients = Gradients(self._design(rows.width), ClassAnswers(classes), "drop", relation)

        def learn(rounds: Rounds) -> None:
            self.class_count_ = self._boost(rounds, gradients)
            self.classes_ = classes.labels

        return Training(times, gradients.parts, learn)

    def _numbers(self) -> Callable[[Floats], Floats]:
        scores = self._scores()
        return lambda rows: likely(scores(rows))


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveBoostingRegressor(_Additive, Regressor):
    """Predict numbers by a sum of learned terms, one a column: an explainable boosting machine.

    Each column has public bins or categories. The term of a column is a number for each of them.
    The prediction is the sum of these numbers, so the effect of each column can be read and drawn.

    Privacy
    -------
    As in `AdditiveBoostingClassifier`, for rows with their targets.

    Parameters
    ----------
    categories, bins, bounds
        As in `AdditiveBoostingClassifier`.
    y_bounds : (float, float)
        Public limits of the target. Values outside are clamped.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    max_iter : int, default 5
        The number of rounds, 2 or more.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN among the targets is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    term_scores_ : list of d float64 arrays of shape (bins,)
        For each column, the number that each bin adds to the prediction. The average of these
        numbers over the rows is 0.
    intercept_ : float
        The constant of the prediction.
    n_rows_ : float
        The number of rows, with noise.
    bin_counts_, n_iter_
        As in `AdditiveBoostingClassifier`.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data for each round. A number outside of all bins counts in the nearest
    bin. The loss function is Huber's: residuals are limited to half of the width of `y_bounds`.
    Predictions are within `y_bounds`.

    Examples
    --------
    Learn the square of x:

    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(-3, 3, 20_001)
    >>> ebm = dp.learn.AdditiveBoostingRegressor(bins=8, bounds=(-3, 3), y_bounds=(0, 9), epsilon=1)
    >>> ebm = ebm.fit(x[:, None], x**2, budget=dp.Budget(epsilon=1))
    >>> ebm.score(x[:, None], x**2) > 0.8
    True
    >>> bool(abs(ebm.predict([[2.0]])[0] - 4) < 1.5)
    True
    """

    y_bounds: Bounds
    nan: NanPolicy = "raise"

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        missing_rule = checks.nan_policy(self.nan, relation)
        target = checks.bounds(self.y_bounds, "y_bounds")
        expect_size([target], 500, "y_bounds", self.y_bounds)
        answers = TargetAnswers(target, missing_rule)
        times, design = times_of(self.max_iter), self._design(rows.width)
        gradients = Gradients(design, answers, missing_rule, relation)

        def learn(rounds: Rounds) -> None:
            self.n_rows_ = float(self._boost(rounds, gradients).sum())
            self.intercept_ = float(self.intercept_[0] * answers.half + answers.middle)
            self.term_scores_ = [scores[:, 0] * answers.half for scores in self.term_scores_]

        return Training(times, gradients.parts, learn)

    def _numbers(self) -> Callable[[Floats], Floats]:
        scores = self._scores()
        return lambda rows: np.clip(scores(rows), *self.y_bounds)
