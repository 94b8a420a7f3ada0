"""Rows with weights: as often as they say, exactly; what a neighbor costs; errors."""

import math
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast import learn
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.learn import KMeans, StandardScaler, weights
from dpfast.learn.estimator import Estimator
from dpfast.sulq import rounds
from dpfast.sulq.parts import Boxes, Matrix, Part

from ..reference.learn import weights as reference
from ..support.pairwise import every_value, quick_rows
from . import test_replay as replay

pa = pytest.importorskip("pyarrow")
BOUNDS = [(0, 4), (0, 2)]
LIMITS = (0.75, 3.0)
SIDES, LINE = {"bounds": BOUNDS, "classes": [-1, 1]}, {"bounds": BOUNDS, "y_bounds": (0, 2)}
FEW = {"bins": 2, "max_iter": 3}
START = [[0, 0], [4, 2], [2, 1]]
#: Each learner with what it needs, and the labels of rows.
LEARNERS = {
    "k-means": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 3, "init": START, "max_iter": 1}),
    "k-means of its own rounds": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 2}),
    "scaling": (StandardScaler, None, {"bounds": BOUNDS}),
    "components": (learn.PCA, None, {"bounds": BOUNDS}),
    "singular vectors": (learn.TruncatedSVD, None, {"bounds": BOUNDS}),
    "bayes": (learn.NaiveBayes, replay.side, replay.BOTH | {"nan": "raise"}),
    "regression": (learn.LinearRegression, replay.second, {**LINE, "ridge": 1}),
    "regression in rounds": (learn.LinearRegression, replay.second, LINE),
    "forest": (learn.RandomForestClassifier, replay.side, {**SIDES, "n_estimators": 3}),
    "logistic": (learn.LogisticRegression, replay.side, {**SIDES, "max_iter": 3}),
    "perceptron": (learn.Perceptron, replay.side, {"bounds": BOUNDS, "max_iter": 3}),
    "boosting": (learn.AdditiveBoostingClassifier, replay.side, {**SIDES, **FEW}),
    "boosting of numbers": (learn.AdditiveBoostingRegressor, replay.second, {**LINE, **FEW}),
}


def rows_of(values):
    return SimpleNamespace(length=len(values))


@pytest.mark.parametrize("limits", [(0, 1), (0, 5), (0.75, 3.0), (1e-20, 3e-20), (2, 2)])
def test_a_row_counts_as_often_as_its_weight_says(limits):
    (lo, hi), g = limits, np.random.default_rng(0)
    values = [*g.uniform(-1, 2, 300) * hi, lo, hi, 0.0, -0.0, -np.inf, np.inf, 1.0]
    made = weights.weights_of(np.array(values), limits, rows_of(values), "add-remove", "raise")
    found, missing = made.times(0, len(values))
    assert found.tolist() == [reference.times(w, lo, hi) for w in values] and not missing
    assert Fraction(made.unit) == reference.unit(hi) and made.most * Fraction(made.unit) <= hi
    assert 2**15 <= made.most <= 2**16


@pytest.mark.parametrize(
    ("nan", "often"), [("raise", 0), ("drop", 0), ("lower", 1), ("upper", 4), (2, 2)]
)
def test_missing_weights_count_as_is_said(nan, often):
    values = np.array([1.0, math.nan])
    made = weights.weights_of(values, (1, 4), rows_of(values), "add-remove", nan)
    found, missing = made.times(0, 2)
    assert found.tolist() == [1 << 13, often << 13] and missing == 1


def learned(made):
    """All that was learned but what was paid, and standard errors, which weights have none of."""
    found = {name: value for name, value in vars(made).items() if name.endswith("_")}
    return {k: v for k, v in found.items() if k not in ("loss_", "coef_standard_error_")}


def same(a, b):
    if isinstance(a, list):
        return all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@every_value
@pytest.mark.parametrize("form", ["arrays", "table"])
@pytest.mark.parametrize("name", list(LEARNERS))
def test_whole_weights_are_rows_that_are_there_so_often(name, form):
    generator = np.random.default_rng(2)
    rows = generator.uniform(-0.5, 4.5, (400, 2)).round(1)
    beside = generator.integers(0, 6, 400)
    kind, label, more = LEARNERS[name]

    def fit(rows, **given):
        columns = {"a": rows[:, 0], "b": rows[:, 1]}
        of = [rows, label(rows)] if label else [rows]
        if form == "table":
            of = [pa.table(columns | {"y": of[1]}), "y"] if label else [pa.table(columns)]
        made = kind(**more, rho=1, neighbors="add-remove", weight_bounds=(0, 5))
        return learned(made.fit(*of, **given))

    exact = patch.object(rounds._Sums, "finish", lambda self, summary, generator: list(summary))
    with exact, patch.object(rounds.Rounds, "deviation", lambda self, part, uses=1: 1.0):
        one = fit(rows, sample_weight=beside)
        other = fit(np.repeat(rows, beside, axis=0))
    assert one.keys() == other.keys() and len(one) > 1
    assert [key for key in one if not same(one[key], other[key])] == []


#: What takes weights.
RUNS = [name for name in replay.RUNS if "tree" not in name and name != "sums"]


def worst(name, relation, loss):
    """The largest part of a loss that tells neighbors apart; a weight is a function of its row."""
    right = Estimator._fit

    def fit(self, X, y, _, *of):
        self.weight_bounds = LIMITS
        each = np.abs(X[:, 0] - X[:, 1])
        return right(self, X, y, np.nan_to_num(each) if self.nan == "raise" else each, *of)

    with patch.object(Estimator, "_fit", fit):
        return replay.worst(name, relation, replay.LOSSES[loss])


@quick_rows(5, full=52)
@pytest.mark.parametrize("relation", replay.RELATIONS)
@pytest.mark.parametrize("loss", ["epsilon", "approx", "rho", "little rho"])
@pytest.mark.parametrize("name", RUNS)
def test_all_rounds_together_cost_what_was_paid(name, relation, loss):
    assert 0.05 < worst(name, relation, loss) <= 1


def unclipped(right):
    def times(self, start, stop):
        found, missing = right(self, start, stop)
        more = weights.beside_of(self.column, start, stop) > 3 * LIMITS[1]
        return np.where(more, 3 * found, found).astype(np.uint32), missing

    return times


#: What of rows with weights is wrong: where, for which relation and loss, caught by how much.
FAULTS = {
    **{f"not clipped, {loss}": ([(weights.Weights, "times", unclipped)], "add-remove", loss, 1,
        ("scaling", "bayes", "forest", "pca", "logistic")) for loss in ("epsilon", "rho")},
    "one goes, one comes": ([(kind, "of_rows", lambda right: lambda self, n, _: right(self, n, 1))
        for kind in (Part, Boxes)], "replace", "epsilon", 1,
        ("k-means", "scaling", "forest", "bayes")),
    "counted once": ([(kind, "of_rows", lambda _: lambda self, times, rows: self)
        for kind in (Part, Matrix, Boxes)], "add-remove", "epsilon", 100, RUNS),
}  # fmt: skip


@quick_rows(9)
@pytest.mark.parametrize(
    ("fault", "name"), [(fault, name) for fault, (*_, names) in FAULTS.items() for name in names]
)
def test_too_little_noise_is_caught(fault, name, monkeypatch):
    patches, relation, loss, least, _ = FAULTS[fault]
    for place, attribute, change in patches:
        monkeypatch.setattr(place, attribute, change(getattr(place, attribute)))
    assert worst(name, relation, loss) > least


ROWS = np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 1.0]])
UNIT = {"weight_bounds": (0, 1)}
WEIGHT = "sample_weight must be one number"
#: Bounds of weights, weights, what is told, and the error; the last ones are not before the spend.
WRONG = [
    ({}, [1.0] * 3, "weight_bounds must be given with sample_weight", ArgumentError),
    ({"weight_bounds": (1, 0)}, [1.0] * 3, "weight_bounds", ArgumentError),
    *(({"weight_bounds": own}, [1.0] * 3, "weight_bounds must be at least 0", ArgumentError)
        for own in ((-1, 1), (0, 0), (0, 1e300))),
    (UNIT, np.ones((3, 2)), "sample_weight must be one", ArgumentError),
    (UNIT, [1.0] * 2, "sample_weight must be as long as", ArgumentError),
    *((UNIT, own, WEIGHT, ArgumentTypeError)
        for own in (np.array(["x"] * 3), "w", np.ones(3, complex))),
    *((UNIT, [1.0] * n, "sample_weight must have one entry for each row", DataError)
        for n in (2, 4)),
    (UNIT, [1.0, np.nan, 1.0], "data hold NaN", DataError),
]  # fmt: skip


@every_value
@pytest.mark.parametrize("name", list(LEARNERS))
@pytest.mark.parametrize(("kw", "beside", "words", "error"), WRONG)
def test_bad_arguments_cost_nothing_and_what_depends_on_rows_is_an_error_after_the_spend(
    name, kw, beside, words, error
):
    spent = error is DataError
    relation = "add-remove" if spent else "replace"
    budget = dp.Budget(rho=1, neighbors=relation)
    kind, label, more = LEARNERS[name]
    arguments = [ROWS] if label is None else [ROWS, label(ROWS)]
    given = {} if beside is None else {"sample_weight": beside}
    with pytest.raises(error, match=words):
        kind(**more, rho=1, **kw).fit(*arguments, **given, budget=budget)
    assert budget.remaining["rho"] == (0 if spent else 1)


def test_rows_of_an_engine_have_no_weights():
    frame = pytest.importorskip("dask.dataframe").from_pandas(
        pytest.importorskip("pandas").DataFrame({"a": [0.0, 1.0]}), npartitions=2
    )
    budget = dp.Budget(rho=1)
    made = StandardScaler(bounds=(0, 1), rho=1, weight_bounds=(0, 1))
    with pytest.raises(ArgumentTypeError, match="sample_weight must be left out for data of an"):
        made.fit(frame, sample_weight=[1.0, 1.0], budget=budget)
    assert budget.remaining["rho"] == 1


def test_bounds_are_found_for_rows_without_their_weights_and_predictions_take_weights():
    rows = np.random.default_rng(4).uniform(-30, 30, (20_000, 2))
    kw = {"bounds": "auto", "epsilon": 2, "n_clusters": 2, "weight_bounds": (0, 1)}
    made = KMeans(**kw).fit(rows, sample_weight=np.arange(20_000) % 2)
    # 600 rows lie beyond 28, and the noise of the counts has a deviation of 25.
    assert (made.bounds_[:, 1] >= 28).all()
    assert abs(made.cluster_counts_.sum() - 10_000) < 1_000
    rows, beside = np.array([[0.0], [1.0]]).repeat(4000, 0), [0.0] * 4000 + [1.0] * 4000
    scaler = StandardScaler(bounds=(0, 1), rho=9, weight_bounds=(0, 1))
    assert np.abs(scaler.fit_transform(rows, None, beside)[4000:]).max() < 10
    assert scaler.mean_[0] > 0.9
    centers = KMeans(1, bounds=(0, 1), rho=9, weight_bounds=(0, 1))
    assert set(centers.fit_predict(rows, sample_weight=beside)) == {0}
    assert centers.cluster_centers_[0, 0] > 0.9
