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
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds
from dpfast.sulq.parts import Boxes, Matrix, Part

from ..reference.learn import weights as reference
from ..reference.sulq import noisy_sums
from ..support.pairwise import every_value, quick_rows
from ..support.transcript import recorded, used

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


#: Each learner with what it needs, and the labels of rows. Those of one round are exact sums of
#: rows whatever was released.
ONE_ROUND = {
    "k-means": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 3, "init": START, "max_iter": 1}),
    "scaling": (StandardScaler, None, {"bounds": BOUNDS}),
    "components": (PCA, None, {"bounds": BOUNDS}),
    "singular vectors": (TruncatedSVD, None, {"bounds": BOUNDS}),
    "bayes": (NaiveBayes, side, BOTH),
    "regression": (LinearRegression, second, {**LINE, "ridge": 1}),
    "forest": (RandomForestClassifier, side, {**SIDES, "n_estimators": 3}),
}
LEARNERS = {
    **ONE_ROUND,
    "k-means of its own rounds": (KMeans, None, {"bounds": BOUNDS, "n_clusters": 2}),
    "regression in rounds": (LinearRegression, second, LINE),
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


# --- what is summed -------------------------------------------------------------------------------


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


class Rows:
    """As much of a source as the arguments need."""

    def __init__(self, length):
        self.length = length


def test_forms_and_missing_weights():
    for values in (np.array([3, 0, 1], np.int8), [3, 0, 1], pa.array([3, 0, 1]), [3.0, 0, 1]):
        made = weights.weights_of(values, (0, 4), Rows(3), "replace", "raise")
        assert made.times(0, 3)[0].tolist() == [3 << 13, 0, 1 << 13]
    made = weights.weights_of(np.array([True, False]), (0, 1), Rows(2), "replace", "raise")
    assert made.times(0, 2)[0].tolist() == [1 << 15, 0]
    gone = np.array([1.0, math.nan])
    for nan, often in (
        ("raise", 0),
        ("drop", 0),
        ("lower", 1 << 13),
        ("upper", 1 << 15),
        (2, 1 << 14),
    ):
        made = weights.weights_of(gone, (1, 4), Rows(2), "add-remove", nan)
        found, missing = made.times(0, 2)
        assert found.tolist() == [1 << 13, often] and missing == 1


def test_sums_of_some_rows_add_up_to_sums_of_repeated_rows():
    times = np.array([0, 5, 1, 0, 8, 3], np.uint32)
    for some in (times, times[:0], times[[0, 3]], times[[2]], times[[4]]):
        rows = np.arange(1, len(some) + 1) ** 2
        called = []

        def summarize(places, rows=rows, called=called):
            called.append(len(places))
            return np.array([rows[places].sum(), len(places)])

        found = weights.repeated(some, summarize, np.add)
        assert found.tolist() == [int(rows @ some), int(some.sum())]
        assert len(called) <= max(1, int(some.max(initial=0)).bit_length())


@every_value
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 1}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("name", list(ONE_ROUND))
def test_a_round_is_the_sum_over_rows_by_definition(name, loss):
    """The integers that get noise are those of each row alone, as often as it counts."""
    generator = np.random.default_rng(1)
    rows = generator.uniform(-0.5, 4.5, (12, 2)).round(1)
    beside = np.append(generator.uniform(0, 4, 9), [-1.0, 0.0, np.inf])

    def integers(*of, **more):
        _, fit = fitted(name, *of, neighbors="add-remove", **loss, **more)
        lines = recorded(lambda: fit(rng=InsecureGenerator(0)))
        return np.array([x for _, exact, _ in lines for x in exact], object)

    for limits in (LIMITS, (0, 3.0)):
        often = [reference.times(w, *limits) for w in beside]
        each = [integers(rows[[i]]) * often[i] for i in range(len(rows))]
        assert (integers(rows, beside, weight_bounds=limits) == sum(each)).all()
    assert any((one != 0).any() for one in each)


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


def test_chunks_of_a_file_find_their_weights(tmp_path):
    generator = np.random.default_rng(3)
    rows, beside = generator.uniform(0, 2, (300_000, 2)), generator.integers(0, 4, 300_000)
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table([*rows.T], ["a", "b"]), tmp_path / "rows.parquet", row_group_size=1000)
    found = []
    for data in (rows, dp.scan(tmp_path / "rows.parquet", ["a", "b"])):
        made = StandardScaler(bounds=(0, 2), rho=1, weight_bounds=(0, 3))
        lines = recorded(lambda data=data, made=made: made.fit(data, sample_weight=beside))
        found.append([exact for _, exact, _ in lines])
    assert found[0] == found[1]
    assert found[0][0][0] == int(beside.sum()) << 14 + 20


# --- what it costs --------------------------------------------------------------------------------

LOSSES = {
    "epsilon": (Pure(1), {"epsilon": 1}),
    "approx": (Approx(1, Fraction(1, 10**6)), {"epsilon": 1, "delta": 1e-6}),
    "rho": (ZCDP(Fraction(1, 2)), {"rho": 0.5}),
    "little rho": (ZCDP(Fraction(1, 10**12)), {"rho": 1e-12}),
}
#: Rows with weights: corners, and what is beyond the bounds or has no value.
DOMAIN = [
    (0.0, 0.0, 3.0),
    (4.0, 2.0, 99.0),
    (4.0, 0.0, 0.5),
    (1.7, 0.9, 1.1),
    (-9.0, np.inf, np.inf),
    (np.nan, 2.0, np.nan),
]
DATA = [[], [(4.0, 2.0, 3.0)], [(0.0, 0.0, 3.0), (4.0, 2.0, -5.0), (1.7, 0.9, 2.0)]]
#: More rows, which are those of all neighbors.
MANY = [(0.0, 0.0, 1.0), (4.0, 2.0, 2.0), (4.0, 0.0, 3.0), (0.0, 2.0, 0.0)] * 50


def worst(name, relation, loss, sets=DATA):
    """The largest part of a loss that tells neighbors apart; a weight belongs to its row."""
    claim, kw = loss
    others = [] if name in ONE_ROUND else MANY
    if LEARNERS[name][0].__dataclass_fields__["nan"].init:
        kw = {**kw, "nan": "upper"}
    domain = DOMAIN if "nan" in kw else DOMAIN[:-1]
    result = 0.0
    for seed, rows in enumerate(sets):

        def again(rows, seed=seed):
            data = table([*rows, *others])
            made = {"neighbors": relation, "weight_bounds": LIMITS, **kw}
            fitted(name, data[:, :2], data[:, 2], **made)[1](rng=InsecureGenerator(seed))

        lines = recorded(lambda rows=rows, again=again: again(rows))
        for other in noisy_sums.neighbors(rows, domain, relation):
            part = used(lines, lambda other=other, again=again: again(other), claim)
            result = max(result, float(part))
    return result


#: The part of the loss that some neighbor uses up, at least; rows do not go from one end of a
#: ball to the other everywhere.
LEAST = {"perceptron": 0.1, "regression in rounds": 0.15, "boosting of numbers": 0.15}


@quick_rows(5)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("name", list(LEARNERS))
def test_all_rounds_together_cost_what_was_paid(name, relation, loss):
    assert LEAST.get(name, 0.2) < worst(name, relation, LOSSES[loss]) <= 1


@every_value
@pytest.mark.parametrize("name", ["scaling", "bayes", "forest", "regression", "logistic"])
@pytest.mark.parametrize("loss", ["epsilon", "rho"])
def test_weights_that_are_not_clipped_are_caught(name, loss, monkeypatch):
    right = weights.Weights.times

    def times(self, start, stop):
        found, missing = right(self, start, stop)
        more = weights.beside_of(self.column, start, stop) > 3 * LIMITS[1]
        return np.where(more, 3 * found, found).astype(np.uint32), missing

    monkeypatch.setattr(weights.Weights, "times", times)
    assert worst(name, "add-remove", LOSSES[loss]) > 1


@quick_rows(4)
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "perceptron"])
def test_noise_for_rows_that_count_once_is_caught(name, monkeypatch):
    for kind in (Part, Matrix, Boxes):
        monkeypatch.setattr(kind, "of_rows", lambda self, times, rows: self)
    assert worst(name, "add-remove", LOSSES["epsilon"]) > 100


@pytest.mark.parametrize("name", ["k-means", "scaling", "forest", "bayes"])
def test_noise_for_one_row_is_caught_where_one_goes_and_one_comes(name, monkeypatch):
    def of_one(right):
        return lambda self, times, rows: right(self, times, 1)

    for kind in (Part, Boxes):
        monkeypatch.setattr(kind, "of_rows", of_one(kind.of_rows))
    assert worst(name, "replace", LOSSES["epsilon"]) > 1


def test_noise_is_in_units_of_weights():
    """As that of rows without weights, for the largest weight; twice where rows are replaced."""
    part, loss = Part(1, 1 << 20, 1 << 40, 1), Pure(Fraction(1, 2))
    kw = {"budget": None, "rng": InsecureGenerator(0)}
    plain = rounds.Rounds(None, loss, "add-remove", 2, "x", **kw).deviation(part)
    for hi in (2.0**-7, 1.0, 64.0):
        for relation, steps in ("add-remove", 1), ("replace", 2):
            own = weights.weights_of([1.0], (0, hi), Rows(1), relation, "raise")
            made = rounds.Rounds(None, loss, relation, 2, "x", weights=(own.most, own.unit), **kw)
            assert made.deviation(part) == pytest.approx(steps * hi * plain, rel=1e-4)
            assert made.loss == loss


# --- arguments ------------------------------------------------------------------------------------

ROWS = np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 1.0]])


@pytest.mark.parametrize("name", list(LEARNERS))
def test_without_weights_nothing_changes(name):
    found = []
    for more in ({}, {"weight_bounds": (0, 9)}, {"weight_bounds": "anything"}):
        made, fit = fitted(name, ROWS, rho=1, **more)
        lines = recorded(lambda fit=fit: fit(rng=InsecureGenerator(5)))
        found.append((lines, learned(made)))
    for lines, one in found[1:]:
        assert lines == found[0][0] and all(same(one[key], found[0][1][key]) for key in one)


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
        ([1.0] * 2, "sample_weight must be as many as the rows, and are not"),
        ([1.0] * 4, "sample_weight must be as many as the rows, and are not"),
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


def test_dropped_rows_need_a_relation_under_which_they_may_go():
    budget = dp.Budget(rho=1, neighbors="replace")
    kw = {"rho": 1, "nan": "drop", "weight_bounds": (0, 1)}
    with pytest.raises(ArgumentError, match="nan"):
        StandardScaler(bounds=(0, 1), **kw).fit(ROWS, sample_weight=[1.0] * 3, budget=budget)
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
