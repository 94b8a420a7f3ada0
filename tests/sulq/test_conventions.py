"""scikit-learn's own checks of an estimator, and why some of them cannot hold here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpfast.budget.allocation import paid
from dpfast.rng import InsecureGenerator
from dpfast.sulq import (
    PCA,
    ID3Classifier,
    KMeans,
    LinearRegression,
    NaiveBayes,
    NotFittedError,
    Perceptron,
    TruncatedSVD,
    rounds,
)

checks = pytest.importorskip("sklearn.utils.estimator_checks")


@pytest.fixture(autouse=True)
def _the_same_noise_every_time(monkeypatch):
    """Some checks ask for a score, which noise may spoil."""
    one = InsecureGenerator(1)

    def seeded(allocation, source, budget, rng):
        return paid(allocation, source, budget, rng or one)

    monkeypatch.setattr(rounds, "paid", seeded)


RANDOM = "the noise is fresh every time"
MESSAGE = "it is refused, in this library's words"
PRIVATE = "the number of rows is private, so few rows are no error"
LIST = "bounds are one pair for all columns, so nothing says how many a list has"
FAILS = {
    "check_fit_idempotent": RANDOM,
    "check_transformer_general": RANDOM,
    "check_transformer_data_not_an_array": RANDOM,
    "check_pipeline_consistency": RANDOM,
    "check_n_features_in_after_fitting": MESSAGE,
    "check_complex_data": MESSAGE,
    "check_dtype_object": MESSAGE,
    "check_fit2d_predict1d": MESSAGE,
    "check_estimator_sparse_tag": MESSAGE,
    "check_estimator_sparse_array": MESSAGE,
    "check_estimator_sparse_matrix": MESSAGE,
    "check_estimators_empty_data_messages": PRIVATE,
    "check_fit2d_1sample": PRIVATE,
    "check_estimators_nan_inf": "infinite numbers are clipped",
    "check_classifier_data_not_an_array": RANDOM,
    "check_regressor_data_not_an_array": RANDOM,
    "check_regressors_int": RANDOM,
    "check_requires_y_none": MESSAGE,
    "check_supervised_y_2d": MESSAGE,
    "check_supervised_y_no_nan": "infinite numbers are clipped",
    "check_regressors_train": LIST,
    "check_classifiers_train": LIST,
    "check_fit1d": "a column of numbers is rows of one number",
}


class Coded(Perceptron):
    """A perceptron for any two classes: the checks have theirs, and -1 and 1 are these."""

    def fit(self, X, y=None, *, budget=None, rng=None):
        from sklearn.utils.multiclass import check_classification_targets

        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        check_classification_targets(y)
        names, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(names) > 2:
            raise ValueError("Only binary classification is supported. Unknown label type: others")
        super().fit(X, 2 * codes - 1 if len(names) > 1 else np.ones(len(codes)))
        self.classes_ = names
        return self

    def predict(self, X):
        result = super().predict(X)
        return self.classes_[np.where(result > 0, len(self.classes_) - 1, 0)]

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


#: Why classifiers that know the classes cannot pass some more.
PUBLIC = "classes are public, not read from labels"
CLASSES = {
    "check_classifiers_classes": PUBLIC,
    "check_classifiers_train": PUBLIC,  # there are columns for those that do not occur
    "check_classifiers_regression_target": PUBLIC,
    "check_supervised_y_no_nan": "a label that is none of the classes counts nowhere",
}
KNOWN: dict[str, Any] = {"classes": [-1, 0, 1, 2, 3], "rho": 50}
REPLACED: dict[str, Any] = {"rho": 500, "neighbors": "replace"}
#: What is told of the rows and labels of those checks, and how many pass at least.
CHECKED = [
    *((kind(1, bounds=(-10, 10), rho=50), 25) for kind in (KMeans, PCA, TruncatedSVD)),
    (LinearRegression(bounds=(-4, 4), y_bounds=(-3, 3), **REPLACED), 29),
    (Coded(bounds=(-10, 10), **REPLACED), 35),
    (ID3Classifier(bins=8, bounds=(-10, 10), **KNOWN), 25),
    (NaiveBayes(bounds=(-10, 10), **KNOWN), 25),
]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("made", "passed"), CHECKED, ids=lambda one: type(one).__name__)
def test_the_checks_that_can_apply_pass(made, passed):
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= set(FAILS) | set(CLASSES if hasattr(made, "classes") else ()), bad
    assert sum(one["status"] == "passed" for one in every) >= passed


def test_not_fitted_is_also_the_error_of_scikit_learn():
    from sklearn.exceptions import NotFittedError as Theirs

    for kind in (NotFittedError, Theirs, ValueError, AttributeError):
        with pytest.raises(kind, match="call fit first"):
            KMeans(2, bounds=(0, 1), rho=1).predict([[0.0]])


def test_missing_values_are_allowed_where_they_have_a_meaning():
    for nan, allowed in ("raise", False), ("lower", True), ("drop", True), (0.5, True):
        made = KMeans(2, bounds=(0, 1), rho=1, nan=nan)
        assert made.__sklearn_tags__().input_tags.allow_nan is allowed
