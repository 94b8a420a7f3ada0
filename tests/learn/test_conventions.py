"""scikit-learn's checks of an estimator, why some cannot hold here, and tables of transformers."""

import pickle
import sys
from typing import Any

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.release import Prepared
from dpfast.errors import ArgumentError, MissingExtraError
from dpfast.learn import PCA, KMeans, LinearRegression, TruncatedSVD
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds

from ..support.lazy import Lazy
from ..support.pairwise import quick_rows

pd = pytest.importorskip("pandas")
sklearn, checks = Lazy("sklearn"), Lazy("sklearn.utils.estimator_checks")


def seeded(rng_of):
    def made(allocation, source, budget, rng, after):
        return Prepared(allocation, source, budget, rng_of(rng), after)

    return made


@pytest.fixture(autouse=True)
def _the_same_noise_every_time(monkeypatch):
    """Some checks ask for a score, which noise may spoil."""
    one = InsecureGenerator(1)
    monkeypatch.setattr(rounds, "Prepared", seeded(lambda rng: rng or one))


#: The checks that fail, and why they must. The page `docs/guide/learn.md` links to this list.
FAILS = {
    "the noise is fresh every time": "check_fit_idempotent check_classifier_data_not_an_array "
    "check_regressor_data_not_an_array check_regressors_int "
    "check_sample_weight_equivalence_on_dense_data",
    "the number of rows is private: few, or labels or weights of another number, are no error":
    "check_estimators_empty_data_messages check_sample_weights_shape "
    "check_all_zero_sample_weights_error",
    "infinite numbers are clipped": "check_estimators_nan_inf check_supervised_y_no_nan",
    "a column of numbers is rows of one number, and a table is no column": "check_fit1d "
    "check_supervised_y_2d",
    "a type is declared: an object array has none, a list or foreign frame no columns or names":
    "check_dtype_object check_sample_weights_pandas_series check_regressors_train "
    "check_classifiers_train",
}  # fmt: skip
#: More of classifiers that are told the classes, which are public and no label is looked at before
#: the loss is paid: there is a column for those that do not occur.
CLASSES = "check_classifiers_classes check_classifiers_regression_target "
CLASSES += "check_decision_proba_consistency"
FAIL, TOLD = " ".join(FAILS.values()).split(), CLASSES.split()
WEIGHED: dict[str, Any] = {"weight_bounds": (0, 5)}
KNOWN: dict[str, Any] = {"classes": [-1, 0, 1, 2, 3], "rho": 50}
WEIGHTS = KNOWN | WEIGHED
REPLACED: dict[str, Any] = {"rho": 500, "neighbors": "replace", **WEIGHED}
#: What is told of the rows and labels of those checks, and how many pass at least.
CHECKED = [
    *((kind(1, bounds=(-10, 10), rho=50, **WEIGHED), 36) for kind in (PCA, TruncatedSVD, KMeans)),
    (dp.learn.StandardScaler(bounds=(-10, 10), rho=500, **WEIGHED), 36),
    (LinearRegression(bounds=(-4, 4), y_bounds=(-3, 3), **REPLACED), 38),
    (dp.learn.AdditiveBoostingRegressor(bins=8, bounds=(-4, 4), y_bounds=(-3, 3), **REPLACED), 38),
    (dp.learn.ID3Classifier(bins=8, bounds=(-10, 10), **KNOWN), 37),
    (dp.learn.AdditiveBoostingClassifier(bins=8, bounds=(-10, 10), **WEIGHTS), 40),
    *(
        (kind(bounds=(-10, 10), **WEIGHTS), 39)
        for kind in (
            dp.learn.NaiveBayes,
            dp.learn.LogisticRegression,
            dp.learn.RandomForestClassifier,
        )
    ),
]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("made", "passed"), CHECKED, ids=lambda one: type(one).__name__)
def test_the_checks_that_can_apply_pass(made, passed):
    every = checks.check_estimator(made, on_fail=None, on_skip=None)
    bad = {one["check_name"]: one["exception"] for one in every if one["status"] == "failed"}
    assert set(bad) <= {*FAIL, *(TOLD if hasattr(made, "classes") else ())}, bad
    assert sum(one["status"] == "passed" for one in every) >= passed


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


#: What transformers answer with.
ROWS = np.random.default_rng(1).uniform(0, 1, (40, 3))
TABLE = pd.DataFrame(ROWS, columns=["a", "b", "c"], index=[f"row {i}" for i in range(40)])
EVERY = pytest.mark.parametrize("kind", [KMeans, PCA, TruncatedSVD], ids=lambda k: k.__name__)
SPOILED = ["set_output_transform", "set_output_transform_pandas"]
SPOILED += ["global_output_transform_pandas", "fit_idempotent"]


def made_of(kind):
    return kind(2, bounds=(0, 1), rho=50)


@quick_rows(2)
@EVERY
@pytest.mark.parametrize("check", SPOILED)
def test_the_checks_that_noise_spoils_pass_with_the_same_noise_for_each_fit(
    kind, check, monkeypatch
):
    monkeypatch.setattr(rounds, "Prepared", seeded(lambda _: InsecureGenerator(1)))
    getattr(checks, f"check_{check}")(kind.__name__, made_of(kind))


@EVERY
def test_a_table_has_the_index_of_the_rows_and_names_of_the_class(kind):
    result = made_of(kind).fit(TABLE)
    plain = result.transform(TABLE)
    assert type(plain) is np.ndarray and result.set_output() is result
    names = [f"{kind.__name__.lower()}{i}" for i in range(2)]
    assert result.get_feature_names_out().tolist() == names
    for shaped in (result.set_output(transform="pandas"), pickle.loads(pickle.dumps(result))):
        table = shaped.transform(TABLE)
        pd.testing.assert_frame_equal(table, pd.DataFrame(plain, TABLE.index, names))
        assert shaped.transform(ROWS).index.tolist() == list(range(40))
        assert shaped.transform(TABLE[:0]).shape == (0, 2)
    assert type(result.set_output(transform="default").transform(TABLE)) is np.ndarray


@EVERY
def test_scikit_learn_chooses_where_nothing_else_was(kind):
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    own = made_of(kind).set_output(transform="default")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(made_of(kind).fit_transform(TABLE), pd.DataFrame)
        assert type(own.fit_transform(TABLE)) is type(clone(own).fit_transform(TABLE)) is np.ndarray
    pipeline = make_pipeline(made_of(kind)).set_output(transform="pandas")
    names = pipeline.fit_transform(TABLE).columns.tolist()
    assert names == pipeline.get_feature_names_out().tolist()
    assert not hasattr(made_of(kind), "_sklearn_output_config")


def test_a_form_that_cannot_be_had_costs_nothing(monkeypatch):
    budget, fit = dp.Budget(rho=50), made_of(PCA).fit_transform
    polars = sklearn.config_context(transform_output="polars")
    with polars, pytest.raises(ArgumentError, match="scikit-learn's transform_output must be"):
        fit(ROWS, budget=budget)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        made_of(PCA).set_output(transform="pandas").fit_transform(ROWS, budget=budget)
    assert budget.history == () and fit(ROWS).shape == (40, 2)
