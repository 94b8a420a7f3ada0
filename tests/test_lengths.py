"""What has one entry a row, and has too few or too many: where rows come and go their number is
private, so that is an answer, after the spend and without a number."""

import itertools
import re

import numpy as np
import pytest

import dpfast as dp
from dpfast._core import checks
from dpfast.errors import ArgumentError, DataError
from dpfast.learn import (
    AdditiveBoostingRegressor,
    ID3Classifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    RandomForestClassifier,
)
from dpfast.sulq import RowSets

from .support.battery import CASES
from .support.pairwise import pairwise

N = 331
BESIDE = [(name, row) for name, case in CASES.items() for row in case.rows]
#: What a message may not have: anything like the number of rows.
NUMBER = re.compile(r"33[012]|\d{3}")


def wrong(value, more):
    return np.append(value, value[:1]) if more > 0 else value[: len(value) + more]


def refused(call, relation, private=False, **loss):
    """The error of a call, of the right kind, and whether it was paid for."""
    private = private or relation == "add-remove"
    budget = dp.Budget(neighbors=relation, **(loss or {"epsilon": 2}))
    with pytest.raises(DataError if private else ArgumentError) as error:
        call(budget)
    assert error.value.__context__ is None and "\n" not in str(error.value)
    if private:
        assert len(budget.history) == 1
        assert "is not refunded" in str(error.value) and not NUMBER.search(str(error.value))
    else:
        assert not budget.history
        assert f"{N} rows" in str(error.value)


@pytest.mark.parametrize(("name", "row"), BESIDE, ids=map("-".join, BESIDE))
def test_what_stands_beside_the_rows(name, row):
    for more, relation in itertools.product([-N, -1, 1], ["replace", "add-remove"]):
        beside(name, row, more, relation)


def beside(name, row, more, relation):
    case = CASES[name]
    kw = {**case.kw, row: wrong(case.kw[row], more), "neighbors": relation}
    loss = case.losses[0]

    def call(budget):
        case.call(case.data, **{**kw, **loss}, budget=budget)

    refused(call, relation, "ids" in case.kw, **loss)  # n is private where there are people


LEARNERS = {"perceptron": (Perceptron, {"bounds": (0, 1)}),
    "tree": (ID3Classifier, {"categories": [0, 1], "classes": [-1, 1]}),
    "bayes": (NaiveBayes, {"bounds": (0, 1), "classes": [-1, 1]}),
    "regression": (LinearRegression, {"bounds": (0, 1), "y_bounds": (-1, 1)}),
    "logistic": (LogisticRegression, {"bounds": (0, 1), "classes": [-1, 1]}),
    "forest": (RandomForestClassifier, {"bounds": (0, 1), "classes": [-1, 1]}),
    "boosting": (AdditiveBoostingRegressor,
    {"categories": [0, 1], "y_bounds": (-1, 1), "max_iter": 2})}  # fmt: skip
ROWS = np.arange(2.0 * N).reshape(N, 2) % 2


@pairwise
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("more", [-N, -1, 1])
@pytest.mark.parametrize("learner", list(LEARNERS))
def test_labels_and_weights_of_rows(learner, more, relation):
    kind, kw = LEARNERS[learner]
    made, own = kind(**kw, epsilon=2, neighbors=relation), wrong(np.ones(N), more)
    refused(lambda budget: made.fit(ROWS, own, budget=budget), relation)
    if learner != "tree":
        made = kind(**kw, epsilon=2, neighbors=relation, weight_bounds=(0, 2))
        given = {"sample_weight": own}
        refused(lambda budget: made.fit(ROWS, np.ones(N), **given, budget=budget), relation)


@pairwise
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("more", [-N, -1, 1])
@pytest.mark.parametrize("what", ["rows", "f", "vector", "sets"])
def test_noisy_sums(what, more, relation):
    own = wrong(np.ones(N, bool), more)

    def call(budget):
        sums = dp.sulq.NoisySums(ROWS, epsilon=2, neighbors=relation, queries=1, budget=budget)
        if what == "rows":
            sums.sum("count", rows=own)
        elif what == "f":
            sums.sum(own)
        elif what == "vector":
            sums.sum(np.stack([own, own], axis=1), l2=1)
        else:
            sums.contrasts(np.ones(N), RowSets(own[None]))

    if relation == "add-remove":
        refused(call, relation)
        return
    with pytest.raises(ArgumentError, match=f"as long as the data, {N} rows"):
        call(None)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("more", [-N, -1, 1])
def test_ids(more, neighbors):
    """With ids the number of rows is private under either relation."""
    budget = dp.Budget(epsilon=2, neighbors=neighbors)
    with pytest.raises(DataError, match="ids must have one entry for each row") as error:
        dp.sample_and_aggregate(
            np.ones(N), "mean", blocks=5, bounds=(0, 1), epsilon=2, neighbors=neighbors,
            ids=wrong(np.arange(N), more), budget=budget,
        )  # fmt: skip
    assert len(budget.history) == 1 and not NUMBER.search(str(error.value))


TABLES = {
    "covariance": lambda data, **kw: dp.covariance(data, bounds=[(0, 1)] * 2, **kw),
    "counts": lambda data, **kw: dp.count(data, axis=0, **kw),
    "means": lambda data, **kw: dp.mean(data, axis=0, bounds=(0, 1), **kw),
    "minima": lambda data, **kw: dp.minimum(data, axis=0, bounds=(0, 1), **kw),
    "histogram": lambda data, **kw: dp.histogram(data, bins=2, bounds=[(0, 1)] * 2, **kw),
    "words": lambda data, **kw: dp.histogram(
        {**data, "b": ["x"] * len(data["b"])}, bins=[2, None], bounds=[(0, 1), None],
        categories=[None, ["x"]], **kw
    ),
    "weights": lambda data, **kw: dp.sum(
        data, weights="b", bounds=(0, 1), weight_bounds=(0, 1), **kw
    ),
    "label": lambda data, budget, **kw: Perceptron(bounds=(0, 1), **kw).fit(
        data, "b", budget=budget
    ),
    "aggregate": lambda data, **kw: dp.sample_and_aggregate(
        data, "mean", blocks=5, bounds=[(0, 1)] * 2, **kw
    ),
}  # fmt: skip


@pairwise
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("more", [-N, -1, 1])
@pytest.mark.parametrize("call", list(TABLES))
def test_columns_of_a_table(call, more, relation):
    """A table says nothing of the relation, so whatever it is, the answer comes after the spend."""
    budget = dp.Budget(epsilon=2, neighbors=relation)
    data = {"a": np.ones(N), "b": np.ones(N + more)}
    with pytest.raises(DataError, match="the same number of rows, but these differ") as error:
        TABLES[call](data, epsilon=2, neighbors=relation, budget=budget)
    assert len(budget.history) == 1 and not NUMBER.search(str(error.value))
    even = {"a": np.ones(N), "b": np.ones(N)}
    TABLES[call](even, epsilon=2, neighbors=relation, budget=None)


def test_a_number_that_is_told_too_early_is_caught(monkeypatch):
    """Planted: the length is checked whatever the relation is."""
    right = checks.entries
    monkeypatch.setattr(
        checks, "entries", lambda name, given, rows, _: right(name, given, rows, "replace")
    )
    for name, row in BESIDE:
        if row == "ids":  # of which nothing is checked before a pass
            continue
        with pytest.raises(ArgumentError, match="331 rows"):
            beside(name, row, -1, "add-remove")
    for learner in LEARNERS:
        with pytest.raises(ArgumentError):
            test_labels_and_weights_of_rows(learner, 1, "add-remove")
