"""What transformers answer with: arrays, or tables of pandas where that is asked for."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.release import Prepared
from dpfast.errors import ArgumentError, MissingExtraError
from dpfast.learn import PCA, KMeans, NotFittedError, TruncatedSVD
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds

from ..support.pairwise import quick_rows

pd = pytest.importorskip("pandas")
sklearn = pytest.importorskip("sklearn")
checks = pytest.importorskip("sklearn.utils.estimator_checks")

ROWS = np.random.default_rng(1).uniform(0, 1, (40, 3))
TABLE = pd.DataFrame(ROWS, columns=["a", "b", "c"], index=[f"row {i}" for i in range(40)])
EVERY = pytest.mark.parametrize("kind", [KMeans, PCA, TruncatedSVD], ids=lambda k: k.__name__)


def made_of(kind):
    return kind(2, bounds=(0, 1), rho=50)


@quick_rows(4)
@EVERY
@pytest.mark.parametrize(
    "check",
    [
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_global_output_transform_pandas",
        "check_fit_idempotent",
    ],
)
def test_the_checks_that_noise_spoils_pass_with_the_same_noise_for_each_fit(
    kind, check, monkeypatch
):
    monkeypatch.setattr(
        rounds,
        "Prepared",
        lambda s, source, budget, rng, after: Prepared(
            s, source, budget, InsecureGenerator(1), after
        ),
    )
    getattr(checks, check)(kind.__name__, made_of(kind))


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


@EVERY
@pytest.mark.parametrize("form", ["arrow", "polars", 1, True, b"pandas", ["pandas"]])
def test_another_form_is_refused(kind, form):
    result = made_of(kind).set_output(transform="pandas")
    with pytest.raises((ArgumentError, TypeError), match="transform must be"):
        result.set_output(transform=form)
    assert isinstance(result.fit_transform(ROWS), pd.DataFrame)


@EVERY
def test_a_form_that_cannot_be_had_costs_nothing(kind, monkeypatch):
    budget = dp.Budget(rho=50)
    with (
        sklearn.config_context(transform_output="polars"),
        pytest.raises(ArgumentError, match="scikit-learn's transform_output must be"),
    ):
        made_of(kind).fit_transform(ROWS, budget=budget)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        made_of(kind).set_output(transform="pandas").fit_transform(ROWS, budget=budget)
    assert budget.history == ()
    assert made_of(kind).fit_transform(ROWS).shape == (40, 2)


@EVERY
def test_names_of_columns_are_compared(kind):
    with pytest.raises(NotFittedError):
        made_of(kind).get_feature_names_out()
    result = made_of(kind).fit(TABLE)
    assert len(result.get_feature_names_out(["a", "b", "c"])) == 2
    for bad in (["a", "b"], "abc", ["c", "b", "a"], np.array(["a", "b", "x"])):
        with pytest.raises(ArgumentError, match="input_features must be of"):
            result.get_feature_names_out(bad)
    assert len(result.fit(ROWS).get_feature_names_out(["p", "q", "r"])) == 2
