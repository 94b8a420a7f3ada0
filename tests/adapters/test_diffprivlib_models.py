"""Models by diffprivlib's names: they learn, pay first, and no text of scikit-learn sees rows."""

import numpy as np
import pytest

import dpfast.adapters.diffprivlib as ours
from dpfast.adapters.diffprivlib.refusals import BudgetError, Refused
from dpfast.errors import DpfastError

from ..support.lazy import Lazy

base = Lazy("sklearn.base")
models = Lazy("dpfast.adapters.diffprivlib.models")

X = np.random.default_rng(5).random((500, 2))
Y = (X[:, 0] > 0.5).astype(int)
BOTH = {"bounds": (0, 1), "classes": [0, 1]}
MODELS = {
    "StandardScaler": {"bounds": (0, 1)},
    "GaussianNB": BOTH,
    "LinearRegression": {"bounds_X": (0, 1), "bounds_y": (0, 1)},
    "LogisticRegression": {"data_norm": 2, "classes": [0, 1]},
    "PCA": {"bounds": (0, 1), "n_components": 1},
    "KMeans": {"bounds": (0, 1), "n_clusters": 2},
    "RandomForestClassifier": BOTH,
    "DecisionTreeClassifier": BOTH,
}


@pytest.fixture(autouse=True)
def fresh():
    ours.BudgetAccountant.pop_default()
    yield
    ours.BudgetAccountant.pop_default()


def made(name, **kw):
    return getattr(models, name)(**MODELS[name], **kw)


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_a_model_learns_and_is_paid_once(name):
    with ours.BudgetAccountant(30, 0) as payer:
        model = base.clone(made(name, epsilon=20)).fit(X, Y)
        assert payer.total() == (20, 0)
        with pytest.raises(BudgetError):
            model.fit(X, Y)
    if name in ("GaussianNB", "LogisticRegression", "RandomForestClassifier"):
        assert np.mean(model.predict(X) == Y) > 0.85
    method = "transform" if hasattr(model, "transform") else "predict"
    assert len(getattr(model, method)(X)) == len(X)
    with pytest.raises(Lazy("sklearn.exceptions").NotFittedError, match="not fitted"):
        getattr(made(name), method)


def looked_at(monkeypatch, fit):
    """Which checks of scikit-learn are called with data in a fit."""
    validation, seen = pytest.importorskip("sklearn.utils.validation"), []

    def spy(name):
        def call(*args, **kw):
            seen.append(name)
            raise AssertionError(name)

        return call

    for name in ("check_array", "check_X_y", "_assert_all_finite", "column_or_1d"):
        monkeypatch.setattr(validation, name, spy(name))
    try:
        fit()
    except Exception as error:
        return seen, error
    return seen, None


HOSTILE = np.where(X > 0.9, np.nan, X)


def test_rows_are_not_looked_at_before_the_spend(monkeypatch):
    """Hostile rows and labels, and a budget that is too small: its refusal is all there is."""
    ours.BudgetAccountant(2.0**-29, 0).set_default()
    for name in ("GaussianNB", "LinearRegression", "StandardScaler"):
        seen, error = looked_at(monkeypatch, lambda n=name: made(n).fit(HOSTILE, np.arange(500)))
        assert seen == [] and type(error) is BudgetError, name


def test_a_check_of_scikit_learn_is_caught(monkeypatch):
    """Planted: rows are validated as scikit-learn does it."""
    seen, _ = looked_at(monkeypatch, lambda: Lazy("sklearn.utils.validation").check_array(HOSTILE))
    assert seen == ["check_array"]


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_no_text_of_others_about_rows(name):
    with pytest.raises(DpfastError, match="not refunded"):
        made(name).fit(np.full((9, 2), np.nan), np.zeros(9, int))


@pytest.mark.full
def test_what_is_refused():
    with pytest.raises(Refused, match="classes="):
        models.GaussianNB(bounds=(0, 1)).fit(X, Y)
    with pytest.raises(Refused, match="fitted in one call"):
        made("StandardScaler").partial_fit(X)
    with pytest.raises(Refused, match="not in the learner"):
        models.PCA(whiten=True, bounds=(0, 1)).fit(X)
    with pytest.raises(Refused, match="seed"):
        made("KMeans", random_state=1).fit(X)
    assert len(ours.BudgetAccountant.load_default(None)) == 0
    with pytest.warns(ours.DiffprivlibCompatibilityWarning):
        models.KMeans(2, bounds=(0, 1), verbose=3)
