"""Private logistic regression: rounds of noisy gradients over numbers and indicators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._core import checks
from ..privacy import Loss
from ..sulq.rounds import Rounds
from .columns import Classes, Floats
from .design import REACH, Design
from .estimator import Training, as_fitted
from .gradient_rounds import ClassAnswers, Gradients, learned, times_of
from .rows import Rows
from .scored import MixedClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(MixedClassifier):
    """Learn class probabilities with linear log-odds, from noisy gradients alone.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). Everything that `fit` learns satisfies the requested loss. Each round is a vector
    of exact integer sums, the gradient of the loss function over all rows, with noise for its joint
    sensitivity (``dpfast/learn/gradient_rounds.py`` has the proof). Noisy sums are from SuLQ (Blum,
    Dwork, McSherry and Nissim, PODS 2005), and noisy gradients of a convex loss function from Song,
    Chaudhuri and Sarwate, GlobalSIP 2013.

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
    max_iter : int, default 5
        The number of rounds, 2 or more.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN in columns of numbers is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row. In a column of categories, NaN is no category.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    coef_ : float64 array of shape (1, m) for two classes, or (classes, m)
        The coefficients in the score of the second of two classes, or of each class. In the order
        of the columns, there is one for a column of numbers, and one for each value of a column of
        categories.
    intercept_ : float64 array of shape (1,) or (classes,)
        The constant of the score.
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
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data for each round. A row whose label is not a class is ignored. A value
    that is not a category of its column adds nothing to any score. Numbers outside of their bounds
    are clamped, also by `predict`.

    With more than two classes there is one multinomial model. It has less noise than separate
    models of each class against the others. Noise acts as a penalty: directions in which rows
    differ by less than the noise get small weights.

    Five rounds are enough for 20,000 rows at an epsilon of 1. More rounds help with a larger loss
    or more rows.

    Examples
    --------
    Rows are "late" if x is above 7:

    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 10, 20_001)
    >>> y = np.where(x > 7, "late", "early")
    >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=["early", "late"], epsilon=1)
    >>> model = model.fit(x[:, None], y, budget=dp.Budget(epsilon=1))
    >>> model.predict([[1.0], [9.0]])
    array(['early', 'late'], dtype='<U5')
    >>> model.score(x[:, None], y) > 0.9
    True
    >>> model.decision_function([[1.0], [9.0]]) > 0
    array([False,  True])
    """

    _name = "logistic regression"

    max_iter: int = 5
    fit_intercept: bool = True

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        times = times_of(self.max_iter)
        constant = checks.flag("fit_intercept", self.fit_intercept)
        missing_rule = checks.nan_policy(self.nan, relation)
        classes = Classes(self.classes)
        design = Design(self._columns().for_width(rows.width), missing_rule)
        gradients = Gradients(design, ClassAnswers(classes), missing_rule, relation)

        def learn(rounds: Rounds) -> None:
            weights, self.class_count_, _ = learned(rounds, gradients, constant=constant)
            scale, middle = design.scale[:, None], design.middle[:, None]
            slopes = weights[design.numbers] * scale
            self.intercept_ = weights[0] - (slopes * middle).sum(axis=0)
            weights[design.numbers] = slopes
            self.coef_ = np.ascontiguousarray(weights[1:].T)
            self.classes_, self.n_iter_ = classes.labels, times

        return Training(times, gradients.parts, learn)

    @as_fitted
    def decision_function(self, X: object) -> Floats:
        """Return the score of each class for each row, or the score of the second of two classes.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows. Errors are raised as by `predict_proba`.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without labels.

        Returns
        -------
        float64 array of shape (n,) or (n, classes)
            The scores. The score of the second of two classes is above 0 if this class is likelier.
        """
        scores = self._apply(X, len(self.coef_), self._scores())
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def _scores(self) -> Callable[[Floats], Floats]:
        missing_rule = checks.nan_policy(self.nan, "add-remove")
        design = Design(self._columns().for_width(self.n_features_in_), missing_rule)
        weights = np.vstack([self.intercept_, self.coef_.T])
        slopes = weights[design.numbers]
        weights[0] += design.middle @ slopes
        weights[design.numbers] = slopes / np.where(design.scale > 0, design.scale, 1.0)[:, None]

        def scores(rows: Floats) -> Floats:
            vectors = design.vectors(rows)
            sums = design.scores(vectors, weights) / REACH
            if missing_rule in ("raise", "drop"):
                sums[vectors.absent] = np.nan  # NaN is refused later
            return sums

        return scores

    def _numbers(self) -> Callable[[Floats], Floats]:
        scores = self._scores()
        return lambda rows: likely(scores(rows))


def likely(scores: Floats) -> Floats:
    """Return class probabilities from scores; a single score is the score of the second class."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    numbers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(numbers / numbers.sum(axis=1, keepdims=True))
