"""Rows with weights: as often as they say, exactly; what a neighbor costs; errors."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.learn import (
    PCA,
    AdditiveBoostingClassifier,
    AdditiveBoostingRegressor,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    RandomForestClassifier,
    StandardScaler,
    TruncatedSVD,
    weights,
)
from dpfast.learn.estimator import Estimator
from dpfast.sulq import rounds
from dpfast.sulq.parts import Boxes, Matrix, Part

from ..reference.learn import weights as reference
from ..support.pairwise import every_value, quick_rows
from . import test_replay as replay

pa = pytest.importorskip("pyarrow")

BOUNDS = [(0, 4), (0, 2)]
LIMITS = (0.75, 3.0)
BOTH = {"bounds": [(0, 4), None], "categories": [None, [0.0, 2.0]], "classes": [-1, 1]}
SIDES = {"bounds": BOUNDS, "classes": [-1, 1]}
LINE = {"bounds": BOUNDS, "y_bounds": (0, 2)}
START = [[0, 0], [4, 2], [2, 1]]


def side(rows):
    return np.where(rows[:, 0] > 1, 1, -1)


def second(rows):
    return rows[:, 1]


#: Each learner with what it needs, and the labels of rows.
LEARNERS = {
    "k-means": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 3, "init": START, "max_iter": 1}),
    "k-means of its own rounds": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 2}),
    "scaling": (StandardScaler, None, {"bounds": BOUNDS}),
    "components": (PCA, None, {"bounds": BOUNDS}),
    "singular vectors": (TruncatedSVD, None, {"bounds": BOUNDS}),
    "bayes": (NaiveBayes, side, BOTH),
    "regression": (LinearRegression, second, {**LINE, "ridge": 1}),
    "regression in rounds": (LinearRegression, second, LINE),
    "forest": (RandomForestClassifier, side, {**SIDES, "n_estimators": 3}),
    "logistic": (LogisticRegression, side, {**SIDES, "max_iter": 3}),
    "perceptron": (Perceptron, side, {"bounds": BOUNDS, "max_iter": 3}),
    "boosting": (AdditiveBoostingClassifier, side, {**SIDES, "bins": 2, "max_iter": 3}),
    "boosting of numbers": (AdditiveBoostingRegressor, second, {**LINE, "bins": 2, "max_iter": 3}),
}


def fitted(name, rows, beside=None, **kw):
    """A learner of rows, with weights `beside` them."""
    kind, label, more = LEARNERS[name]
    made = kind(**more, **kw)
    arguments = [rows] if label is None else [rows, label(rows)]
    given = {} if beside is None else {"sample_weight": beside}
    return made, lambda **to: made.fit(*arguments, **given, **to)


def table(rows, width=3):
    return np.array(rows, np.float64).reshape(-1, width)


@pytest.mark.parametrize("limits", [(0, 1), (0, 5), (0.75, 3.0), (1e-20, 3e-20), (2, 2)])
def test_a_row_counts_as_often_as_its_weight_says(limits):
    lo, hi = limits
    generator = np.random.default_rng(0)
    values = [*generator.uniform(-1, 2, 300) * hi, lo, hi, 0.0, -0.0, -np.inf, np.inf, 1.0]
    made = weights.weights_of(np.array(values), limits, Rows(len(values)), "add-remove", "raise")
    found, missing = made.times(0, len(values))
    assert found.tolist() == [reference.times(w, lo, hi) for w in values] and not missing
    assert Fraction(made.unit) == reference.unit(hi) and made.most * Fraction(made.unit) <= hi
    assert 2**15 <= made.most <= 2**16


@pytest.mark.parametrize(
    ("nan", "often"), [("raise", 0), ("drop", 0), ("lower", 1), ("upper", 4), (2, 2)]
)
def test_missing_weights_count_as_is_said(nan, often):
    made = weights.weights_of(np.array([1.0, math.nan]), (1, 4), Rows(2), "add-remove", nan)
    found, missing = made.times(0, 2)
    assert found.tolist() == [1 << 13, often << 13] and missing == 1


class Rows:
    """As much of a source as the arguments need."""

    def __init__(self, length):
        self.length = length


def learned(made):
    """All that was learned but what was paid, and standard errors, which weights have none of."""
    found = {name: value for name, value in vars(made).items() if name.endswith("_")}
    return {k: v for k, v in found.items() if k not in ("loss_", "coef_standard_error_")}


def same(a, b):
    if isinstance(a, list):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@every_value
@pytest.mark.parametrize("form", ["arrays", "table"])
@pytest.mark.parametrize("name", list(LEARNERS))
def test_whole_weights_are_rows_that_are_there_so_often(name, form):
    """Without noise what is learned is the same to the last bit, in all rounds."""
    generator = np.random.default_rng(2)
    rows = generator.uniform(-0.5, 4.5, (400, 2)).round(1)
    beside = generator.integers(0, 6, 400)
    often = np.repeat(rows, beside, axis=0)

    def fit(rows, **given):
        kind, label, more = LEARNERS[name]
        made = kind(**more, rho=1, neighbors="add-remove", weight_bounds=(0, 5))
        if label is None:
            return made.fit(pa.table([*rows.T], ["a", "b"]) if form == "table" else rows, **given)
        if form == "arrays":
            return made.fit(rows, label(rows), **given)
        return made.fit(pa.table([*rows.T, label(rows)], ["a", "b", "y"]), "y", **given)

    exact = patch.object(rounds._Sums, "finish", lambda self, summary, generator: list(summary))
    with exact, patch.object(rounds.Rounds, "deviation", lambda self, part, uses=1: 1.0):
        one, other = learned(fit(rows, sample_weight=beside)), learned(fit(often))
    assert one.keys() == other.keys() and len(one) > 1
    for key, value in one.items():
        assert same(value, other[key]), key


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


@quick_rows(5)
@pytest.mark.parametrize("relation", replay.RELATIONS)
@pytest.mark.parametrize("loss", ["epsilon", "approx", "rho", "little rho"])
@pytest.mark.parametrize("name", RUNS)
def test_all_rounds_together_cost_what_was_paid(name, relation, loss):
    assert 0.05 < worst(name, relation, loss) <= 1


@every_value
@pytest.mark.parametrize("name", ["scaling", "bayes", "forest", "pca", "logistic"])
@pytest.mark.parametrize("loss", ["epsilon", "rho"])
def test_weights_that_are_not_clipped_are_caught(name, loss, monkeypatch):
    right = weights.Weights.times

    def times(self, start, stop):
        found, missing = right(self, start, stop)
        more = weights.beside_of(self.column, start, stop) > 3 * LIMITS[1]
        return np.where(more, 3 * found, found).astype(np.uint32), missing

    monkeypatch.setattr(weights.Weights, "times", times)
    assert worst(name, "add-remove", loss) > 1


@quick_rows(4)
@pytest.mark.parametrize("name", RUNS)
def test_noise_for_rows_that_count_once_is_caught(name, monkeypatch):
    for kind in (Part, Matrix, Boxes):
        monkeypatch.setattr(kind, "of_rows", lambda self, times, rows: self)
    assert worst(name, "add-remove", "epsilon") > 100


@pytest.mark.parametrize("name", ["k-means", "scaling", "forest", "bayes"])
def test_noise_for_one_row_is_caught_where_one_goes_and_one_comes(name, monkeypatch):
    def of_one(right):
        return lambda self, times, rows: right(self, times, 1)

    for kind in (Part, Boxes):
        monkeypatch.setattr(kind, "of_rows", of_one(kind.of_rows))
    assert worst(name, "replace", "epsilon") > 1


ROWS = np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 1.0]])


@every_value
@pytest.mark.parametrize("name", list(LEARNERS))
@pytest.mark.parametrize(
    ("kw", "beside", "error", "words"),
    [
        ({}, [1.0] * 3, ArgumentError, "weight_bounds must be given with sample_weight"),
        ({"weight_bounds": (1, 0)}, [1.0] * 3, ArgumentError, "weight_bounds"),
        ({"weight_bounds": (-1, 1)}, [1.0] * 3, ArgumentError, "weight_bounds must be not neg"),
        ({"weight_bounds": (0, 0)}, [1.0] * 3, ArgumentError, "weight_bounds must be not neg"),
        ({"weight_bounds": (0, 1e300)}, [1.0] * 3, ArgumentError, "weight_bounds must be not neg"),
        ({"weight_bounds": (0, 1)}, np.ones((3, 2)), ArgumentError, "sample_weight must be one"),
        ({"weight_bounds": (0, 1)}, np.array(["x"] * 3), ArgumentTypeError, "sample_weight"),
        ({"weight_bounds": (0, 1)}, "w", ArgumentTypeError, "sample_weight must be one number"),
        ({"weight_bounds": (0, 1)}, np.ones(3, complex), ArgumentTypeError, "sample_weight"),
        ({"weight_bounds": (0, 1)}, [1.0] * 2, ArgumentError, "sample_weight must be as long as"),
    ],
)
def test_bad_arguments_cost_nothing(name, kw, beside, error, words):
    budget = dp.Budget(rho=1, neighbors="replace")
    _, fit = fitted(name, ROWS, beside, rho=1, **kw)
    with pytest.raises(error, match=words):
        fit(budget=budget)
    assert budget.remaining["rho"] == 1


@every_value
@pytest.mark.parametrize("name", list(LEARNERS))
@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ([1.0] * 2, "sample_weight must have one entry for each row"),
        ([1.0] * 4, "sample_weight must have one entry for each row"),
        ([1.0, np.nan, 1.0], "data hold NaN"),
    ],
)
def test_what_depends_on_the_rows_is_an_error_after_the_spend(name, beside, words):
    budget = dp.Budget(rho=1, neighbors="add-remove")
    _, fit = fitted(name, ROWS, beside, rho=1, weight_bounds=(0, 1))
    with pytest.raises(DataError, match=words):
        fit(budget=budget)
    assert budget.remaining["rho"] == 0


def test_rows_of_an_engine_have_no_weights():
    frame = pytest.importorskip("dask.dataframe").from_pandas(
        pytest.importorskip("pandas").DataFrame({"a": [0.0, 1.0]}), npartitions=2
    )
    budget = dp.Budget(rho=1)
    made = StandardScaler(bounds=(0, 1), rho=1, weight_bounds=(0, 1))
    with pytest.raises(ArgumentTypeError, match="sample_weight must be left out for data of an"):
        made.fit(frame, sample_weight=[1.0, 1.0], budget=budget)
    assert budget.remaining["rho"] == 1


def test_bounds_are_found_for_rows_without_their_weights():
    rows = np.random.default_rng(4).uniform(-30, 30, (20_000, 2))
    kw = {"bounds": "auto", "epsilon": 2, "n_clusters": 2, "weight_bounds": (0, 1)}
    made = KMeans(**kw).fit(rows, sample_weight=np.arange(20_000) % 2)
    # 600 rows lie beyond 28, and the noise of the counts has a deviation of 25.
    assert (made.bounds_[:, 1] >= 28).all()
    assert abs(made.cluster_counts_.sum() - 10_000) < 1_000


def test_transforms_and_predictions_take_weights():
    rows, beside = np.array([[0.0], [1.0]]).repeat(4000, 0), [0.0] * 4000 + [1.0] * 4000
    scaler = StandardScaler(bounds=(0, 1), rho=9, weight_bounds=(0, 1))
    assert np.abs(scaler.fit_transform(rows, None, beside)[4000:]).max() < 10
    assert scaler.mean_[0] > 0.9
    centers = KMeans(1, bounds=(0, 1), rho=9, weight_bounds=(0, 1))
    assert set(centers.fit_predict(rows, sample_weight=beside)) == {0}
    assert centers.cluster_centers_[0, 0] > 0.9
