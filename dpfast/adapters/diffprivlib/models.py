"""diffprivlib's models, as estimators of scikit-learn over the learners of dpfast.

`fit` checks arguments, pays, and then reads rows. It does not use scikit-learn's checks of data,
because their messages may reveal rows. Classes are declared by ``classes=``.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any, ClassVar, Self

import numpy as np

from dpfast import learn
from dpfast.extend import extra

from .accountant import BudgetAccountant, spending
from .layout import limits
from .refusals import generator_of, ignored, payable, real, refuse

_Estimator: Any = extra("sklearn.base", "dpfast.adapters.diffprivlib.models").BaseEstimator


def _takes(first: str = "", others: bool = True, **plain: Any) -> Any:
    """Return a constructor that stores its arguments; only `first` may be passed by position.

    With `others`, the constructor accepts unknown arguments, and warns that they are ignored.
    """
    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    for name, default in (plain | {"random_state": None, "accountant": None}).items():
        kind = Parameter.POSITIONAL_OR_KEYWORD if name == first else Parameter.KEYWORD_ONLY
        parameters.append(Parameter(name, kind, default=default))
    if others:
        parameters.append(Parameter("unused_args", Parameter.VAR_KEYWORD))
    face = Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = face.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *named = bound.arguments.items()
        for name, value in named:
            if name == "unused_args":
                ignored(value)
            else:
                setattr(self, name, value)

    __init__.__signature__ = face  # type: ignore[attr-defined]
    return __init__


class Model(_Estimator):  # type: ignore[misc]
    """A learner of dpfast under diffprivlib's name; learned attributes end in ``_``."""

    epsilon: Any
    random_state: Any = None
    accountant: Any = None

    #: The class of the learner in dpfast.
    _kind: ClassVar[Any]
    #: The arguments that are passed to the learner, by their names here.
    _passes: ClassVar[tuple[str, ...]]
    #: Options that must be left out, each with the reason.
    _refuses: ClassVar[tuple[tuple[str, str], ...]] = ()

    def _arguments(self, width: int | None) -> dict[str, Any]:
        """Return the learner's arguments; `width` is the number of columns, or None if unknown."""
        return self._read(self._passes, width)

    def _read(self, names: tuple[str, ...], width: int | None) -> dict[str, Any]:
        arguments = {}
        for name in names:
            argument, read = _READ.get(name, (name, None))
            value = getattr(self, name)
            arguments[argument] = value if read is None else read(value, width)
        return arguments

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to rows, and spend its epsilon from the accountant.

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
        for name, reason in self._refuses:
            if np.any(getattr(self, name)):
                refuse(reason, name)
        arguments = self._arguments(shape[1] if len(shape) == 2 else None)
        learner = self._kind(**arguments, epsilon=self.epsilon, neighbors="replace")
        generator = generator_of(self.random_state)
        with spending():
            learner.fit(X, y, budget=payer.budget, rng=generator)
        self._fitted = learner
        return self

    @property
    def n_classes_(self) -> int:
        """The number of declared classes."""
        return len(self.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute or method of the fitted learner."""
        learner = vars(self).get("_fitted")
        public = not name.startswith("_")
        if learner is None and public and name in _METHODS:
            kind = extra("sklearn.exceptions", "an estimator").NotFittedError
            raise kind(f"this {type(self).__name__} is not fitted yet: call fit first")
        if learner is None or not public:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(learner, name)


_METHODS = {"predict", "predict_proba", "transform", "inverse_transform", "decision_function"}


class _Transformer(Model):
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the model to rows, and return the transformed rows, which are not private."""
        return self.fit(X, y).transform(X)


class StandardScaler(_Transformer):
    """Means and standard deviations of columns within bounds, by which rows are scaled."""

    __init__ = _takes(
        others=False, epsilon=1.0, bounds=None, copy=True, with_mean=True, with_std=True
    )
    _kind, _passes = learn.StandardScaler, ("bounds", "with_mean", "with_std")

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Refuse to fit rows in parts, because each further fit would be a separate release."""
        refuse("refit")


class GaussianNB(Model):
    """Naive Bayes with a normal distribution for each class and column."""

    __init__ = _takes(
        others=False, epsilon=1.0, bounds=None, priors=None, var_smoothing=1e-9, classes=None
    )
    _kind, _passes = learn.NaiveBayes, ("bounds", "classes")
    _refuses = (("priors", "structure"),)


class LinearRegression(Model):
    """Linear regression by least squares, with rows and targets within bounds."""

    __init__ = _takes(epsilon=1.0, bounds_X=None, bounds_y=None, fit_intercept=True, copy_X=True)
    _kind, _passes = learn.LinearRegression, ("bounds_X", "bounds_y", "fit_intercept")


class LogisticRegression(Model):
    """Logistic regression of rows of bounded norm, by which each column is bounded."""

    __init__ = _takes(
        epsilon=1.0, data_norm=None, tol=1e-4, C=1.0, fit_intercept=True, max_iter=100, verbose=0,
        warm_start=False, n_jobs=None, classes=None,
    )  # fmt: skip
    _kind, _passes = learn.LogisticRegression, ("data_norm", "classes", "fit_intercept")
    _refuses = (("warm_start", "refit"),)


class PCA(_Transformer):
    """Principal components of columns within bounds."""

    __init__ = _takes(
        "n_components", n_components=None, epsilon=1.0, data_norm=None, centered=False, bounds=None,
        copy=True, whiten=False,
    )  # fmt: skip
    _kind, _refuses = learn.PCA, (("whiten", "structure"),)

    def _arguments(self, width: int | None) -> dict[str, Any]:
        if isinstance(self.n_components, (str, float)):
            refuse("structure", "n_components by the data")
        limits_of = "data_norm" if self.bounds is None else "bounds"
        return self._read(("n_components", limits_of), width)


class KMeans(Model):
    """Cluster centers of columns within bounds."""

    __init__ = _takes("n_clusters", n_clusters=8, epsilon=1.0, bounds=None)
    _kind, _passes = learn.KMeans, ("n_clusters", "bounds")


class RandomForestClassifier(Model):
    """A classifier by a forest of random trees."""

    __init__ = _takes(
        "n_estimators", n_estimators=10, epsilon=1.0, bounds=None, classes=None, n_jobs=1,
        verbose=0, max_depth=5, warm_start=False, shuffle=False,
    )  # fmt: skip
    _kind, _refuses = learn.RandomForestClassifier, (("warm_start", "refit"),)
    _passes = ("bounds", "classes", "n_estimators", "max_depth")


class DecisionTreeClassifier(Model):
    """A classifier by a single random tree."""

    __init__ = _takes(
        "max_depth", max_depth=5, epsilon=1, bounds=None, classes=None, criterion=None
    )
    _kind, _passes = learn.RandomForestClassifier, ("bounds", "classes", "max_depth")

    def _arguments(self, width: int | None) -> dict[str, Any]:
        return super()._arguments(width) | {"n_estimators": 1}


def _column_bounds(bounds: Any, width: int | None) -> Any:
    """Return a pair of bounds for each column, or one pair if the number of columns is unknown."""
    pairs = limits(bounds, width)
    return pairs if width is None or isinstance(pairs, list) else [pairs] * width


def _target(bounds: Any, _: int | None) -> Any:
    return limits(bounds, None)


def _declared(classes: Any, _: int | None) -> Any:
    return refuse("classes") if classes is None else classes


def _ball(norm: Any, _: int | None) -> tuple[float, float]:
    """Return the bounds of each column of rows of at most this norm."""
    if norm is None:
        refuse("bounds", "data_norm")
    size = real("data_norm", norm)
    return -size, size


#: The learner's name of an argument, and the function that converts the argument's value.
_READ = {
    "bounds": ("bounds", _column_bounds),
    "bounds_X": ("bounds", _column_bounds),
    "bounds_y": ("y_bounds", _target),
    "classes": ("classes", _declared),
    "data_norm": ("bounds", _ball),
}
