"""scikit-learn's own checks of an estimator, and why some of them cannot hold here."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from dpfast import Budget, scan
from dpfast.budget.allocation import paid
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
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

from ..support.pairwise import quick_rows

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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [KMeans, PCA, TruncatedSVD], ids=lambda k: k.__name__)
def test_the_checks_that_can_apply_pass(kind):
    made = kind(1, bounds=(-10, 10), rho=50)
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= set(FAILS), bad
    assert sum(one["status"] == "passed" for one in every) >= 25


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
        found = super().predict(X)
        return self.classes_[np.where(found > 0, len(self.classes_) - 1, 0)]

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_regressors_pass():
    made = LinearRegression(bounds=(-4, 4), y_bounds=(-3, 3), rho=500, neighbors="replace")
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= set(FAILS), bad
    assert sum(one["status"] == "passed" for one in every) >= 29


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_classifiers_pass():
    made = Coded(bounds=(-10, 10), rho=500, neighbors="replace")
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= set(FAILS), bad
    assert sum(one["status"] == "passed" for one in every) >= 35


#: Why classifiers that know the classes cannot pass some more.
PUBLIC = "classes are public, not read from labels"
CLASSES = {
    "check_classifiers_classes": PUBLIC,
    "check_classifiers_train": PUBLIC,  # there are columns for those that do not occur
    "check_classifiers_regression_target": PUBLIC,
    "check_supervised_y_no_nan": "a label that is none of the classes counts nowhere",
}
#: What it is told of the rows and labels of those checks.
LABELLED = [
    ID3Classifier(bins=8, bounds=(-10, 10), classes=[-1, 0, 1, 2, 3], rho=50),
    NaiveBayes(bounds=(-10, 10), classes=[-1, 0, 1, 2, 3], rho=50),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", LABELLED, ids=lambda m: type(m).__name__)
def test_the_checks_of_classifiers_with_public_classes(made):
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= set(FAILS) | set(CLASSES), bad
    assert sum(one["status"] == "passed" for one in every) >= 25


def test_not_fitted_is_also_the_error_of_scikit_learn():
    from sklearn.exceptions import NotFittedError as Theirs

    for kind in (NotFittedError, Theirs, ValueError, AttributeError):
        with pytest.raises(kind, match="call fit first"):
            KMeans(2, bounds=(0, 1), rho=1).predict([[0.0]])


def test_missing_values_are_allowed_where_they_have_a_meaning():
    for nan, allowed in ("raise", False), ("lower", True), ("drop", True), (0.5, True):
        made = KMeans(2, bounds=(0, 1), rho=1, nan=nan)
        assert made.__sklearn_tags__().input_tags.allow_nan is allowed


# --- the columns that were learned from ----------------------------------------------------------


TWO = {"bounds": [(-9, 9)] * 2, "rho": 1}
OF_TWO_COLUMNS = [
    KMeans(2, **TWO),
    PCA(1, **TWO),
    TruncatedSVD(1, **TWO),
    Perceptron(**TWO),
    LinearRegression(y_bounds=(-9, 9), **TWO),
    NaiveBayes(classes=[-1, 1], **TWO),
    ID3Classifier([[0, 1]] * 2, classes=[-1, 1], rho=1),
]


@pytest.mark.parametrize("made", OF_TWO_COLUMNS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("width", [1, 3])
def test_bounds_for_another_number_of_columns_are_refused_in_the_same_words(made, width):
    budget = Budget(rho=9)
    name = "categories" if isinstance(made, ID3Classifier) else "bounds"
    words = f"{name} must be for as many columns as the data have, {width}, got '2 of them'"
    with pytest.raises(ArgumentError, match=f"^{words}$"):
        made.fit(np.zeros((4, width)), np.array([1, -1, 1, -1]), budget=budget)
    assert not budget.history


LEARNERS = [
    KMeans(2, bounds=(0, 1), rho=50),
    PCA(2, bounds=(0, 1), rho=50),
    TruncatedSVD(2, bounds=(0, 1), rho=50),
    Perceptron(bounds=(0, 1), rho=50),
    LinearRegression(bounds=(0, 1), y_bounds=(-1, 1), rho=50),
    NaiveBayes(bounds=(0, 1), classes=[-1, 1], rho=50),
    ID3Classifier(bins=4, bounds=(0, 1), classes=[-1, 1], rho=50),
]
EVERY = pytest.mark.parametrize("made", LEARNERS, ids=lambda m: type(m).__name__)
CALLS = ("predict", "predict_proba", "decision_function", "transform")
X = np.random.default_rng(1).uniform(0, 1, (500, 2))
Y = np.where(X[:, 0] > 0.5, 1, -1)
TABLE = {"a": X[:, 0], "b": X[:, 1]}


def fitted(made, rows):
    """A copy that has learned."""
    return type(made)(**made.get_params()).fit(rows, Y)


def calls(found):
    """Its methods that take rows alone, and `score` with labels."""
    own = [getattr(found, name) for name in CALLS if hasattr(found, name)]
    if hasattr(found, "score"):
        own.append(lambda rows: found.score(rows, Y[: len(rows["a" if "a" in rows else "c"])]))
    return own


@EVERY
def test_other_columns_than_were_learned_from_are_refused(made):
    found = fitted(made, TABLE)
    assert found.feature_names_in_.tolist() == ["a", "b"] and found.n_features_in_ == 2
    wrong = [
        ({"b": X[:, 1], "a": X[:, 0]}, "X must be of the columns a, b in this order"),
        ({"a": X[:, 0], "c": X[:, 1]}, "X must be of the columns a, b in this order"),
        ({"a": X[:, 0]}, "X must be of 2 columns, as in fit, got '1 of them'"),
        ({**TABLE, "c": X[:, 1]}, "X must be of 2 columns, as in fit, got '3 of them'"),
    ]
    for call in calls(found):
        for rows, message in wrong:
            with pytest.raises(ArgumentError, match=message):
                call(rows)
        call(TABLE)


@EVERY
def test_columns_without_names_are_taken_in_their_order(made):
    found = fitted(made, TABLE)
    for call in calls(found)[:1]:
        assert (call(X) == call(TABLE)).all()
    found.fit(X, Y)  # now by number
    assert not hasattr(found, "feature_names_in_")
    for call in calls(found)[:1]:
        assert (call({"b": X[:, 0], "a": X[:, 1]}) == call(X)).all()


@pytest.mark.parametrize("made", LEARNERS[3:], ids=lambda m: type(m).__name__)
def test_the_column_of_labels_is_none_of_the_features(made):
    """It may stand anywhere in the table, and is not there when rows are new."""
    found = type(made)(**made.get_params()).fit({"y": Y, **TABLE}, "y")
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.score({**TABLE, "y": Y}, "y") == found.score(TABLE, Y) == found.score(X, Y)
    with pytest.raises(ArgumentError, match="in this order"):
        found.score({"b": X[:, 1], "y": Y, "a": X[:, 0]}, "y")


def test_texts_in_an_array_have_no_names():
    words = np.array([["x", "p"], ["y", "q"]] * 50)
    made = ID3Classifier([["x", "y"], ["p", "q"]], classes=[0, 1], rho=50)
    found = made.fit(words, np.arange(100) % 2)
    assert not hasattr(found, "feature_names_in_")
    table = {"a": words[:, 0].tolist(), "b": words[:, 1].tolist()}
    assert (found.predict(table) == found.predict(words)).all()


@EVERY
def test_what_was_learned_can_be_stored(made):
    found = fitted(made, TABLE)
    again = pickle.loads(pickle.dumps(found))
    for call, other in zip(calls(found), calls(again), strict=True):
        assert np.array_equal(call(TABLE), other(TABLE))


@pytest.mark.parametrize("made", LEARNERS[1:5], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("one", [np.nan, np.inf, -np.inf])
def test_rows_that_lead_to_no_answer_are_refused(made, one):
    found = fitted(made, X)
    call = found.transform if hasattr(found, "transform") else found.predict
    rows = np.array([[0.5, 0.5], [one, -one], [one, one]])
    with np.errstate(all="raise"), pytest.raises(DataError, match="X holds NaN or infinite"):
        call(rows)
    if hasattr(found, "score"):
        with np.errstate(all="raise"), pytest.raises(DataError, match="X holds NaN or infinite"):
            found.score(rows, [1, -1, 1])


@pytest.mark.parametrize("made", LEARNERS[1:3], ids=lambda m: type(m).__name__)
def test_places_along_components_may_be_any_rows(made):
    found = fitted(made, X)
    places = found.transform(X)
    back = found.inverse_transform(places)
    assert back == pytest.approx(X, abs=1e-12)
    assert (found.inverse_transform({"p": places[:, 0], "q": places[:, 1]}) == back).all()
    with pytest.raises(ArgumentError, match="X must be of 2 columns, one for each component"):
        found.inverse_transform(places[:, :1])
    for bad in (places * 1j, None, [["a", "b"]]):
        with pytest.raises((ArgumentTypeError, DataError)):
            found.inverse_transform(bad)


def test_what_an_earlier_fit_learned_does_not_stay():
    found = fitted(LEARNERS[4], X)
    assert found.n_rows_ == pytest.approx(500, abs=50)
    found.set_params(fit_intercept=False).fit(X, Y)
    assert not hasattr(found, "n_rows_")


# --- memory ---------------------------------------------------------------------------------------


def peak_of(act):
    """The most that NumPy and Python held at once, in bytes."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@quick_rows(1)
@EVERY
def test_no_more_than_chunks_are_in_memory(made, tmp_path, monkeypatch):
    """Whatever has to be converted, or read from a file: 6 MB of float64 here."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    pa, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    rows = np.tile(X.astype(np.float32), (700, 1))
    labels = np.tile(Y.astype(np.float32), 700)
    found = fitted(made, X)
    table = {"y": labels, "a": rows[:, 0], "b": rows[:, 1]}
    parquet.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=1 << 15)
    file = scan(tmp_path / "rows.parquet", column=["a", "b"])
    own = "y" if hasattr(found, "score") else None
    found.fit(file, own)  # what is imported and compiled once is in memory by now
    columns = np.asfortranarray(rows)
    for data, y in ((rows, labels), (columns, labels), (file, own)):
        assert peak_of(lambda data=data, y=y: found.fit(data, y)) < 3 * 2**20
    if own:
        assert peak_of(lambda: found.score(file, own)) < 3 * 2**20
    whole = peak_of(lambda: np.asarray(rows, np.float64))
    assert whole > 5 * 2**20  # what it would be otherwise
