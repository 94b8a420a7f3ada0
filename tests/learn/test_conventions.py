"""scikit-learn's own checks of an estimator, and why some of them cannot hold here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpfast.budget.release import Prepared
from dpfast.learn import (
    PCA,
    AdditiveBoostingClassifier,
    AdditiveBoostingRegressor,
    ID3Classifier,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    NotFittedError,
    Perceptron,
    RandomForestClassifier,
    StandardScaler,
    TruncatedSVD,
)
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds

checks = pytest.importorskip("sklearn.utils.estimator_checks")


@pytest.fixture(autouse=True)
def _the_same_noise_every_time(monkeypatch):
    """Some checks ask for a score, which noise may spoil."""
    one = InsecureGenerator(1)

    def seeded(allocation, source, budget, rng, after):
        return Prepared(allocation, source, budget, rng or one, after)

    monkeypatch.setattr(rounds, "Prepared", seeded)


RANDOM = "the noise is fresh every time"
PRIVATE = "the number of rows is private: few, or labels or weights of another number, are no error"
CLIPPED = "infinite numbers are clipped"
PUBLIC = "classes are public, and no label is looked at before the loss is paid"
SHAPE = "a column of numbers is rows of one number, and a table is no column"
TYPE = "a type is declared: an object array has none, a list or foreign frame no columns or names"
#: The checks that fail, and why they must. The page `docs/guide/learn.md` has the same list.
FAILS = {
    "check_fit_idempotent": RANDOM,
    "check_classifier_data_not_an_array": RANDOM,
    "check_regressor_data_not_an_array": RANDOM,
    "check_regressors_int": RANDOM,
    "check_sample_weight_equivalence_on_dense_data": RANDOM,
    "check_estimators_empty_data_messages": PRIVATE,
    "check_sample_weights_shape": PRIVATE,
    "check_all_zero_sample_weights_error": PRIVATE,
    "check_estimators_nan_inf": CLIPPED,
    "check_supervised_y_no_nan": CLIPPED,
    "check_fit1d": SHAPE,
    "check_supervised_y_2d": SHAPE,
    "check_dtype_object": TYPE,
    "check_sample_weights_pandas_series": TYPE,
    "check_regressors_train": TYPE,
    "check_classifiers_train": TYPE,
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

    def _class_indices(self, numbers):
        return np.minimum(super()._class_indices(numbers), len(self.classes_) - 1)


#: More of classifiers that are told the classes: there is a column for those that do not occur.
CLASSES = {
    "check_classifiers_classes": PUBLIC,
    "check_classifiers_regression_target": PUBLIC,
    "check_decision_proba_consistency": PUBLIC,
}
WEIGHED: dict[str, Any] = {"weight_bounds": (0, 5)}
KNOWN: dict[str, Any] = {"classes": [-1, 0, 1, 2, 3], "rho": 50}
WEIGHTS = KNOWN | WEIGHED
REPLACED: dict[str, Any] = {"rho": 500, "neighbors": "replace", **WEIGHED}
#: What is told of the rows and labels of those checks, and how many pass at least.
CHECKED = [
    *((kind(1, bounds=(-10, 10), rho=50, **WEIGHED), 36) for kind in (PCA, TruncatedSVD, KMeans)),
    (StandardScaler(bounds=(-10, 10), rho=500, **WEIGHED), 36),
    (LinearRegression(bounds=(-4, 4), y_bounds=(-3, 3), **REPLACED), 38),
    (AdditiveBoostingRegressor(bins=8, bounds=(-4, 4), y_bounds=(-3, 3), **REPLACED), 38),
    (Coded(bounds=(-10, 10), **REPLACED), 38),
    (ID3Classifier(bins=8, bounds=(-10, 10), **KNOWN), 37),
    (AdditiveBoostingClassifier(bins=8, bounds=(-10, 10), **WEIGHTS), 40),
    *(
        (kind(bounds=(-10, 10), **WEIGHTS), 39)
        for kind in (NaiveBayes, LogisticRegression, RandomForestClassifier)
    ),
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


def test_what_is_refused_is_told_in_the_words_of_scikit_learn():
    sparse = pytest.importorskip("scipy.sparse")
    rows, labels = np.ones((9, 2)), np.ones(9)
    line = LinearRegression(bounds=(0, 1), y_bounds=(0, 1), rho=1)
    for X in (sparse.csr_matrix(rows), sparse.csc_array(rows)):
        for call in (lambda X=X: line.fit(X, labels), lambda X=X: PCA(bounds=(0, 1), rho=1).fit(X)):
            with pytest.raises(TypeError, match="sparse input is not supported"):
                call()
    with pytest.raises(ValueError, match="Complex data not supported"):
        line.fit(rows * 1j, labels)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        line.fit(rows)
    line.fit(rows, labels)
    words = r"X has 1 features, but \w+ is expecting 2 features as input; Reshape your data"
    with pytest.raises(ValueError, match=words):
        line.predict(rows[0])


def test_the_page_has_the_same_list():
    from ..support.pages import GUIDE

    text = (GUIDE / "learn.md").read_text(encoding="utf-8")
    for name in [*FAILS, *CLASSES]:
        assert f"`{name}`" in text, name
