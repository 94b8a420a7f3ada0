"""diffprivlib's models, as estimators of scikit-learn over the learners of dpfast.

`fit` checks arguments, pays, and then reads rows: scikit-learn's own checks of data, whose messages
tell of rows, are not used. Classes are declared by ``classes=``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from ... import sulq
from ..._core.extras import extra
from .accountant import BudgetAccountant, spending
from .layout import limits
from .refusals import generator_of, ignored, payable, real, refuse

_Estimator: Any = extra("sklearn.base", "dpfast.adapters.diffprivlib.models").BaseEstimator


class Model(_Estimator, ABC):  # type: ignore[misc]
    """A learner of dpfast by another name; what it learns are attributes that end in ``_``."""

    epsilon: Any
    random_state: Any = None
    accountant: Any = None

    @abstractmethod
    def _learner(self, width: int | None) -> Any:
        """Return the learner for rows of a width, where the shape tells it."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array_like of shape (n, d)
        y : array_like of shape (n,), optional
        sample_weight : None
            Ignored with a warning.

        Returns
        -------
        Model
        """
        if sample_weight is not None:
            ignored(["sample_weight"])
        payer = BudgetAccountant.load_default(self.accountant)
        payable(self.epsilon)
        shape: Any = np.shape(X) if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
        if len(getattr(y, "shape", ())) > 1:
            refuse("structure", "more than one target")
        learner = self._learner(shape[1] if len(shape) == 2 else None)
        generator = generator_of(self.random_state)
        with spending():
            learner.fit(X, y, budget=payer.budget, rng=generator)
        self._fitted = learner
        return self

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return len(self.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def __getattr__(self, name: str) -> Any:
        """Return what the learner has: answers for rows, and what it has learned."""
        learner = vars(self).get("_fitted")
        public = not name.startswith("_")
        if learner is None and public and name in _METHODS:
            self._unfitted()
        if learner is None or not public:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(learner, name)

    def _unfitted(self) -> None:
        kind = extra("sklearn.exceptions", "an estimator").NotFittedError
        raise kind(f"this {type(self).__name__} is not fitted yet: call fit first")


_METHODS = {"predict", "predict_proba", "transform", "inverse_transform", "decision_function"}


class _Transformer(Model):
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from rows, and transform them, which is not private."""
        return self.fit(X, y).transform(X)


class StandardScaler(_Transformer):
    """Means and deviations of columns within bounds."""

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        bounds: Any = None,
        copy: Any = True,
        with_mean: Any = True,
        with_std: Any = True,
        random_state: Any = None,
        accountant: Any = None,
    ) -> None:
        self.epsilon, self.bounds, self.copy = epsilon, bounds, copy
        self.with_mean, self.with_std = with_mean, with_std
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        return sulq.StandardScaler(
            bounds=_each(self.bounds, width),
            with_mean=self.with_mean,
            with_std=self.with_std,
            epsilon=self.epsilon,
            neighbors="replace",
        )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Refuse a second part."""
        refuse("refit")


class GaussianNB(Model):
    """Naive Bayes with a normal distribution for each class and column."""

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        bounds: Any = None,
        priors: Any = None,
        var_smoothing: Any = 1e-9,
        classes: Any = None,
        random_state: Any = None,
        accountant: Any = None,
    ) -> None:
        self.epsilon, self.bounds, self.priors = epsilon, bounds, priors
        self.var_smoothing, self.classes = var_smoothing, classes
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        if self.priors is not None:
            refuse("structure", "priors")
        own = {"bounds": _each(self.bounds, width), "classes": _declared(self.classes)}
        return sulq.NaiveBayes(**own, epsilon=self.epsilon, neighbors="replace")


class LinearRegression(Model):
    """Least squares with rows and targets within bounds."""

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        bounds_X: Any = None,
        bounds_y: Any = None,
        fit_intercept: Any = True,
        copy_X: Any = True,
        random_state: Any = None,
        accountant: Any = None,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.epsilon, self.bounds_X, self.bounds_y = epsilon, bounds_X, bounds_y
        self.fit_intercept, self.copy_X = fit_intercept, copy_X
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        return sulq.LinearRegression(
            bounds=_each(self.bounds_X, width),
            y_bounds=limits(self.bounds_y, None),
            fit_intercept=self.fit_intercept,
            epsilon=self.epsilon,
            neighbors="replace",
        )


class LogisticRegression(Model):
    """Logistic regression of rows whose norm, and so each column, is bounded."""

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        data_norm: Any = None,
        tol: Any = 1e-4,
        C: Any = 1.0,
        fit_intercept: Any = True,
        max_iter: Any = 100,
        verbose: Any = 0,
        warm_start: Any = False,
        n_jobs: Any = None,
        classes: Any = None,
        random_state: Any = None,
        accountant: Any = None,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.epsilon, self.data_norm, self.tol, self.C = epsilon, data_norm, tol, C
        self.fit_intercept, self.max_iter, self.verbose = fit_intercept, max_iter, verbose
        self.warm_start, self.n_jobs, self.classes = warm_start, n_jobs, classes
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        if self.warm_start:
            refuse("refit", "warm_start")
        return sulq.LogisticRegression(
            bounds=_ball(self.data_norm),
            classes=_declared(self.classes),
            fit_intercept=self.fit_intercept,
            epsilon=self.epsilon,
            neighbors="replace",
        )


class PCA(_Transformer):
    """Principal components of columns within bounds."""

    def __init__(
        self,
        n_components: Any = None,
        *,
        epsilon: Any = 1.0,
        data_norm: Any = None,
        centered: Any = False,
        bounds: Any = None,
        copy: Any = True,
        whiten: Any = False,
        random_state: Any = None,
        accountant: Any = None,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.n_components, self.epsilon, self.data_norm = n_components, epsilon, data_norm
        self.centered, self.bounds, self.copy, self.whiten = centered, bounds, copy, whiten
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        if self.whiten:
            refuse("structure", "whiten")
        if isinstance(self.n_components, (str, float)):
            refuse("structure", "n_components by the data")
        given = _ball(self.data_norm) if self.bounds is None else _each(self.bounds, width)
        return sulq.PCA(self.n_components, bounds=given, epsilon=self.epsilon, neighbors="replace")


class KMeans(Model):
    """Cluster centers of columns within bounds."""

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        epsilon: Any = 1.0,
        bounds: Any = None,
        random_state: Any = None,
        accountant: Any = None,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.n_clusters, self.epsilon, self.bounds = n_clusters, epsilon, bounds
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        own = {"bounds": _each(self.bounds, width), "epsilon": self.epsilon}
        return sulq.KMeans(self.n_clusters, **own, neighbors="replace")


class RandomForestClassifier(Model):
    """A forest of random trees."""

    def __init__(
        self,
        n_estimators: Any = 10,
        *,
        epsilon: Any = 1.0,
        bounds: Any = None,
        classes: Any = None,
        n_jobs: Any = 1,
        verbose: Any = 0,
        accountant: Any = None,
        random_state: Any = None,
        max_depth: Any = 5,
        warm_start: Any = False,
        shuffle: Any = False,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.n_estimators, self.epsilon, self.bounds = n_estimators, epsilon, bounds
        self.classes, self.n_jobs, self.verbose = classes, n_jobs, verbose
        self.accountant, self.random_state, self.max_depth = accountant, random_state, max_depth
        self.warm_start, self.shuffle = warm_start, shuffle

    def _learner(self, width: int | None) -> Any:
        if self.warm_start:
            refuse("refit", "warm_start")
        return _forest(self, self.n_estimators, width)


class DecisionTreeClassifier(Model):
    """A single random tree."""

    def __init__(
        self,
        max_depth: Any = 5,
        *,
        epsilon: Any = 1,
        bounds: Any = None,
        classes: Any = None,
        random_state: Any = None,
        accountant: Any = None,
        criterion: Any = None,
        **unused_args: Any,
    ) -> None:
        ignored(unused_args)
        self.max_depth, self.epsilon, self.bounds = max_depth, epsilon, bounds
        self.classes, self.criterion = classes, criterion
        self.random_state, self.accountant = random_state, accountant

    def _learner(self, width: int | None) -> Any:
        return _forest(self, 1, width)


def _each(bounds: Any, width: int | None) -> Any:
    """Return a pair for each column, where the shape of the rows tells how many there are."""
    found = limits(bounds, width)
    return found if width is None or isinstance(found, list) else [found] * width


def _forest(model: Any, trees: Any, width: int | None) -> Any:
    return sulq.RandomForestClassifier(
        bounds=_each(model.bounds, width),
        classes=_declared(model.classes),
        n_estimators=trees,
        max_depth=model.max_depth,
        epsilon=model.epsilon,
        neighbors="replace",
    )


def _declared(classes: Any) -> Any:
    return refuse("classes") if classes is None else classes


def _ball(norm: Any) -> tuple[float, float]:
    """Return the bounds of a column of rows of a norm."""
    if norm is None:
        refuse("bounds", "data_norm")
    size = real("data_norm", norm)
    return -size, size
