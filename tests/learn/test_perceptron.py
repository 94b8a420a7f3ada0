"""The private perceptron: what a row moves in each round, replayed; what is kept, refused, paid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.learn import Perceptron
from dpfast.rng import InsecureGenerator

from ..reference.learn import margin as plain
from ..support import learners
from ..support.names import shown
from ..support.pairwise import every_value


def recorded(x, y, recorder=None, **kw):
    kw = kw if "radius" in kw else {"bounds": (-1, 1), **kw}
    return learners.recorded(Perceptron, x, y, recorder, **kw)


def classes(n=3000, d=3, seed=0, noise=0.0):
    g = np.random.default_rng(seed)
    x, w = g.uniform(-1, 1, (n, d)), g.normal(size=d)
    return x, np.where(x @ w + 0.2 + noise * g.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("step", ["shrinking", "constant"])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_the_perceptron(step, intercept):
    """On a public grid that all coordinates are on."""
    x, y = classes(150, 2)
    x = np.rint(x * 8) / 8
    rows = [[Fraction(v) for v in row] + [Fraction(intercept)] for row in x.tolist()]
    path = plain.perceptron(rows, y.tolist(), 6, step == "shrinking", 4)
    _, values, made = recorded(x, y, step=step, fit_intercept=intercept, max_iter=6)
    counts = [v[0] for v in values if len(v) == 1]
    assert counts == [n for _, n in path]
    w, least = min(path[1:], key=lambda one: one[1])
    assert made.mistakes_ == least and made.n_iter_ == len(path)
    assert made.coef_[0] == pytest.approx([float(v) for v in w[:2]])
    assert made.intercept_ == pytest.approx([float(w[2])])


def test_rows_outside_of_the_ball_are_shortened():
    x, y = classes()
    wild = np.where(x > 0.6, np.inf, np.where(x < -0.3, -1e300, x))
    lengths = np.sqrt((np.clip(wild, -1, 1) ** 2).sum(axis=1, keepdims=True))
    shorter = np.clip(wild, -1, 1) / np.maximum(lengths, 1)
    one, other = recorded(wild, y, radius=1)[2], recorded(shorter, y, radius=1)[2]
    assert one.coef_ == pytest.approx(other.coef_) and one.mistakes_ == other.mistakes_


def test_classes_with_a_margin_are_parted():
    x, y = classes(20_000, 2)
    w, b = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0], 0.0
    keep = abs(x @ w[:2] + w[2]) > 0.2 + b
    x, y = x[keep], np.where(x[keep] @ w[:2] + w[2] > 0, 1, -1)
    for step in "shrinking", "constant":
        made = Perceptron(bounds=(-1, 1), rho=0.5, step=step, max_iter=20).fit(
            x, y, rng=InsecureGenerator(1)
        )
        assert made.score(x, y) > 0.99 and made.n_iter_ < 20  # it has stopped by itself


def test_mistakes_are_those_of_what_is_kept():
    x, y = classes(5000, noise=0.3)
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y, rng=InsecureGenerator(1))
    wrong = np.count_nonzero(made.predict(x) != y)
    assert made.mistakes_ == pytest.approx(wrong, abs=100)
    assert made.score(x, y) == pytest.approx(1 - wrong / len(x))


def test_predictions():
    x, y = classes()
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    sides = x @ made.coef_[0] + made.intercept_[0]
    assert made.decision_function(x) == pytest.approx(sides)
    assert (made.predict(x) == np.where(sides > 0, 1, -1)).all()
    assert (made.classes_ == [-1, 1]).all()


@every_value
@pytest.mark.parametrize("other", [0.0, 2.0, -2.0, math.nan, math.inf, 1 + 2.0**-52], ids=shown)
@pytest.mark.parametrize("kw", [{"bounds": (-1, 1)}, {"radius": 1.5, "neighbors": "replace"}])
def test_a_row_with_another_label_counts_nowhere(other, kw):
    """Neither before the spend nor after it: all rounds are those of the rows that are left."""
    x, y = classes(500, noise=0.4)
    y = y.astype(np.float64)
    some = [0, 7, 499]
    y[some] = other
    x[7] = np.nan  # a row that counts nowhere is not missed either
    without = np.delete(x, some, axis=0), np.delete(y, some)
    budget = dp.Budget(rho=1, neighbors=kw.get("neighbors", "add-remove"))
    Perceptron(rho=1, **kw).fit(x, y, budget=budget)
    assert len(budget.history) == 1
    assert recorded(x, y, **kw)[1] == recorded(*without, **kw)[1]
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    assert recorded(frame, "y", **kw)[1] == recorded(*without, **kw)[1]
