"""Learners with a private score: classifiers, regressors, and the statistics of their scores."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import (
    Any,
    NamedTuple,
    TypeVar,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Bounds, NanPolicy, Number
from ..budget.budget import Budget
from ..budget.release import Prepared
from ..measurement.around import Around
from ..measurement.statistic import Layout, Offer, Statistic, mechanism_of
from ..measurement.unit import OfUnits, Unit
from ..privacy import Loss
from ..rng import Generator
from ..statistics.histogram import Bins
from ..statistics.totals.moments import Mean
from ..sulq.rounds import loss_of
from ..tables.intake import View
from .columns import Classes, Columns, Floats, NumberColumn, columns_of
from .estimator import BoundsOfSome, CategoriesEach, Estimator, Weighted, as_fitted
from .rows import Block, Rows, answers, labeled_rows

Compared = TypeVar("Compared")
Value = TypeVar("Value", covariant=True)


class Score(NamedTuple):
    """A private score: numbers of each row, a statistic of them, and a formula.

    Parameters
    ----------
    statistic : Statistic
        A sum or a mean of numbers between public limits.
    numbers : callable
        ``numbers(x, y)`` returns these numbers for some rows and their labels, as float64 of shape
        (r, width).
    answer : callable
        A function from the answers for all columns of numbers to the score.
    """

    statistic: Statistic[Any]
    numbers: Callable[[Floats, NDArray[Any]], Floats]
    answer: Callable[[Floats], float]
    width: int = 1


@dataclass(frozen=True, slots=True)
class _Scoring(Around[Value]):
    """The mechanism of a score, on rows whose contributions are already bounded.

    Its noise is for all rows of a person at once, for any choice of these rows.
    """

    title: str

    @property
    def name(self) -> str:
        return self.title


class Scored(Estimator):
    """A learner with a score, which measures how well it describes rows."""

    @abstractmethod
    def _score(self) -> Score:
        """Return the statistic and the formula of the private score."""

    @abstractmethod
    def _exact_score(self, X: Any, y: Any) -> float:
        """Return the exact score of rows, which is NOT PRIVATE."""

    @as_fitted
    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> float:
        """Return a score that measures how well this learner describes rows, private with a loss.

        For classifiers the score is the accuracy. For regressors it is R squared, the coefficient
        of determination, at most 1. For clusters it is minus the sum of the squared distances to
        the nearest center.

        Without a loss this is scikit-learn's score, and NOT PRIVATE: it is an exact statistic of
        these rows. Do not publish the score of secret rows.

        Privacy ------- With a loss the score is a `dpfast.mean` (for clusters a `dpfast.sum`) of
        numbers of each row, and satisfies the loss by the theorem of that function. Neighbors
        differ in one row, or with `ids` in all rows of a person. The learner's `neighbors`, or else
        the budget, determines the relation. Targets, predictions and features are first clamped to
        their public bounds. What the learner has learned counts as public. So for rows that it has
        learned from, the losses of the fit and of the score add up.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows, as in `fit`.
        y : array_like of shape (n,), or str
            The labels or targets, as in `fit`. Learners of clusters ignore `y`.
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, as in `fit`. With ids the privacy unit is
            a person.
        max_rows : int, optional
            With `ids` only: the largest number of rows of a person that count, as in `fit`.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        float
            The score. It is NaN if there are no rows, or if noise hides the variance of the targets
            (for R squared).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError, ArgumentTypeError, BudgetError
            For a bad argument, if the columns differ from the columns in `fit`, or if too little of
            the budget is left. Nothing has been spent.
        DataError
            If a NaN makes the score impossible. A spent budget is not refunded.

        Notes
        -----
        Cost: one read of the data. On rows that the learner has learned from, the score is too
        high, for a private fit only a little. So score other rows, or use `cross_validate`.

        Examples
        --------
        Learn from four fifths of the rows, and score the last fifth:

        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> late, old = (x[:, 0] > 7).astype(int), np.arange(20_001) % 5 > 0
        >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1], epsilon=1)
        >>> model = model.fit(x[old], late[old])
        >>> model.score(x[~old], late[~old], epsilon=0.5) > 0.9
        True
        """
        private = (epsilon, rho, ids, max_rows, budget, rng)
        if all(argument is None for argument in private) and type(delta) is float and not delta:
            return self._exact_score(X, y)
        loss = loss_of(epsilon, delta, rho)
        rows, unit = self._taken(X, y, None, ids, max_rows, budget, self.n_features_in_)
        self._expect(rows.width, rows.names)
        return self._scored(rows, unit, loss, budget, rng).run()

    def _scored(
        self, rows: Rows, unit: Unit, loss: Loss, budget: Budget | None, rng: Generator | None
    ) -> Prepared[float]:
        """Return the release of the private score, which is ready to pay and run."""
        statistic, numbers, answer, width = self._score()
        mechanism = mechanism_of(statistic, Offer(loss, unit), Layout(width, rows.kept is not None))
        title = f"score of {self._name}"
        if isinstance(mechanism, OfUnits):
            mechanism = replace(mechanism, inner=_Scoring(mechanism.inner, title))
        else:
            mechanism = _Scoring(mechanism, title)
        view = View(rows.mapped(width, numbers), True, width, rows.kept, ids=rows.ids)
        scored: Prepared[Any] = Prepared(mechanism, view, budget, rng)
        return scored.then(lambda answers: answer(np.asarray(answers, np.float64)))


class Supervised(Scored):
    """A learner of a label or a target for each row."""

    _supervised = True

    @abstractmethod
    def _numbers(self) -> Callable[[Floats], Floats]:
        """Return the function from rows to numbers, from which predictions are computed."""

    @abstractmethod
    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        """Return predictions from the numbers of rows. They can be compared with labels as read."""

    def _labels(self) -> Bins | None:
        """Return the public labels of the classes; None without classes."""
        return None

    def _read(self, X: Any, y: Any, relation: str, width: int | None = None) -> Rows:
        return labeled_rows(X, y, self._columns(), self._labels(), width, relation)

    def _compared(
        self,
        X: Any,
        y: Any,
        compare: Callable[[NDArray[Any], NDArray[Any]], Compared],
    ) -> list[Compared]:
        """Return the results of `compare` on predictions and labels, one for each block."""
        rows = self._read(X, y, "replace", self.n_features_in_)
        self._expect(rows.width, rows.names)
        numbers = self._numbers()

        def summarize(blocks: Iterator[Block]) -> list[Compared]:
            with np.errstate(invalid="ignore"):  # infinite numbers cause no warning
                return [compare(self._predicted(answers(numbers(x))), y) for x, y in blocks]

        return rows.reduce(summarize, lambda a, b: a + b)


def _agreements(predicted: NDArray[Any], labels: NDArray[Any]) -> tuple[int, int]:
    """Return the number of correct predictions, and the number of labels."""
    return int(np.count_nonzero(predicted == labels)), len(labels)


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(Supervised):
    """A learner that predicts the class of a row."""

    _estimator_type = "classifier"
    classes_: NDArray[np.generic] = field(init=False)

    def _class_indices(self, numbers: Floats) -> NDArray[Any]:
        """Return the index in `classes_` of the predicted class of each row."""
        return np.asarray(numbers.argmax(axis=1))

    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[self._class_indices(numbers)])

    @as_fitted
    def predict(self, X: Any) -> NDArray[np.generic]:
        """Return the likeliest class of each row; the first class if several are equally likely.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without labels.

        Returns
        -------
        array of shape (n,)
            The predicted classes, in the type of `classes_`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.
        DataError
            If a NaN makes the prediction impossible.
        """
        numbers = self._numbers()
        indices = self._apply(
            X, 1, lambda rows: self._class_indices(answers(numbers(rows)))[:, None] + 0.0
        )
        return self.classes_[indices[:, 0].astype(np.intp)]

    def _score(self) -> Score:
        numbers = self._numbers()

        def right(x: Floats, y: NDArray[Any]) -> Floats:
            return np.asarray((self._predicted(answers(numbers(x))) == y)[:, None] + 0.0)

        return Score(Mean(bounds=(0.0, 1.0)), right, lambda shares: float(shares[0]))

    def _exact_score(self, X: Any, y: Any) -> float:
        parts = self._compared(X, y, _agreements)
        right, rows = (sum(part) for part in zip(*parts, strict=True)) if parts else (0, 0)
        return right / rows if rows else math.nan


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(Supervised):
    """A learner that predicts a number for each row."""

    _estimator_type = "regressor"
    y_bounds: Bounds = field(init=False)

    @as_fitted
    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without targets.

        Returns
        -------
        float64 array of shape (n,)
            The predictions. They are within the bounds of the target if the learner has such
            bounds.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.
        DataError
            If a NaN makes the prediction impossible.

        Examples
        --------
        Predict twice x at x = 5:

        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> model = dp.learn.LinearRegression(bounds=(0, 10), y_bounds=(0, 20), rho=0.5)
        >>> model.fit(x, 2 * x[:, 0]).predict([[5.0]]).round()
        array([10.])
        """
        return self._apply(X, 1, self._numbers()).reshape(-1)

    def _predicted(self, numbers: Floats) -> Floats:
        return numbers.reshape(-1)

    def _score(self) -> Score:
        """Return the statistic of R squared: means of t, t**2 and e**2 (2 e is the residual)."""
        lo, hi = checks.bounds(self.y_bounds, "y_bounds")
        middle, half, numbers = (lo + hi) / 2, (hi - lo) / 2 or 1.0, self._numbers()

        def moments(x: Floats, y: NDArray[Any]) -> Floats:
            both = self._predicted(answers(numbers(x))), np.asarray(y, np.float64)
            predicted, target = ((np.clip(values, lo, hi) - middle) / half for values in both)
            return np.stack([target, target**2, ((target - predicted) / 2) ** 2], axis=1)

        def determined(means: Floats) -> float:
            mean, square, left = means.tolist()
            whole = square - mean**2
            return 1.0 - 4.0 * left / whole if whole > 0 else math.nan

        return Score(Mean(bounds=[(-1.0, 1.0), (0.0, 1.0), (0.0, 1.0)]), moments, determined, 3)

    def _exact_score(self, X: Any, y: Any) -> float:
        def compare(predicted: Floats, y: NDArray[Any]) -> tuple[int, float, float, float]:
            target = np.asarray(y, np.float64)
            mean = float(target.mean())
            left = float(((target - predicted) ** 2).sum())
            return len(target), mean, float(((target - mean) ** 2).sum()), left

        parts = self._compared(X, y, compare)
        rows = sum(n for n, _, _, _ in parts)
        mean = sum(n * m for n, m, _, _ in parts) / rows if rows else math.nan
        whole = sum(v + n * (m - mean) ** 2 for n, m, v, _ in parts)
        left = sum(squares for _, _, _, squares in parts)
        return float(1.0 - left / whole) if whole else math.nan


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticClassifier(Classifier):
    """A classifier that predicts the probability of each public class."""

    classes: ArrayLike = field(init=False)

    @abstractmethod
    def _columns(self) -> Columns[Any]:
        """Return public facts about each column: numbers, bins or categories."""

    def _labels(self) -> Bins:
        return Classes(self.classes).axis

    @as_fitted
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, by the learned model.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without labels.

        Returns
        -------
        float64 array of shape (n, classes)
            The probabilities, with a column for each class in the order of `classes_`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.

        Examples
        --------
        The likelier class of two rows, by their probabilities:

        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> late = (x[:, 0] > 7).astype(int)
        >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1], epsilon=1)
        >>> model = model.fit(x, late)
        >>> model.predict_proba([[1.0], [9.0]]).argmax(axis=1)
        array([0, 1])
        """
        return self._apply(X, len(self.classes_), self._numbers())

    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        return self._class_indices(numbers) if self._labels().words else super()._predicted(numbers)


@dataclass(eq=False, repr=False, kw_only=True)
class MixedClassifier(Weighted, ProbabilisticClassifier):
    """A classifier of rows with columns of numbers and columns of categories."""

    bounds: BoundsOfSome | None = None
    categories: CategoriesEach | None = None
    classes: ArrayLike = field()
    nan: NanPolicy = "raise"

    def _columns(self) -> Columns[NumberColumn | Bins]:
        return columns_of(self._bounds, self.categories)
