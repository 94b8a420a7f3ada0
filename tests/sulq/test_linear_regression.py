"""Private least squares: exact products, what a row moves by enumeration, what is kept."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpfast.errors import DataError
from dpfast.rng import InsecureGenerator
from dpfast.sources import memory
from dpfast.sulq import LinearRegression, rounds
from dpfast.sulq.gram_matrix import GramMatrix
from dpfast.sulq.linear_regression import _Normal

from ..reference.sulq import margin as plain
from ..reference.sulq import noisy_sums as reference
from ..support import learners

RELATIONS = ["replace", "add-remove"]
recorded = partial(learners.recorded, LinearRegression, bounds=(0, 1), y_bounds=(-1, 2), ridge=0)


def table(n=3000, d=3, seed=0, noise=0.1):
    g = np.random.default_rng(seed)
    x = g.uniform(0, 1, (n, d))
    return x, np.clip(x @ g.normal(0, 0.5, d) + 0.3 + noise * g.normal(size=n), -1, 2)


# --- exact sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_integers_are_those_of_the_definition(intercept):
    x, y = table(700)
    x[3] = [math.inf, -math.inf, 0.5]
    bounds, target = [(0.1, 0.9), (0.0, 1.0), (7.0, 7.0)], (-0.5, 1.5)
    _, values, _ = recorded(x, y, bounds=bounds, y_bounds=target, fit_intercept=intercept)
    normal = _Normal([*bounds, target], "raise", intercept)
    columns = normal._limits.columns.T.tolist()
    joined = np.column_stack([x, y]).tolist()
    sums, both, _ = plain.pairs(joined, columns, False)
    at = list(itertools.combinations_with_replacement(range(4), 2))
    squares = [v for (i, j), v in zip(at, both, strict=True) if i == j]
    upper = [v for (i, j), v in zip(at, both, strict=True) if i != j]
    c = normal.gram.constant
    expected = [*squares, *upper]
    if intercept:
        expected = [len(x) * c**2, *squares, *(c * s for s in sums), *upper]
    assert list(itertools.chain(*values)) == expected


@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_least_squares(intercept):
    x, y = table()
    wide = x * [1.0, 100.0, 1e-3] + [0.0, -40.0, 0.0]
    bounds = [(0, 1), (-40, 60), (0, 1e-3)]
    made = recorded(wide, y, bounds=bounds, fit_intercept=intercept)[2]
    exact = np.column_stack([wide, np.ones(len(x))]) if intercept else wide
    expected = np.linalg.lstsq(exact, y, rcond=None)[0]
    assert made.coef_ == pytest.approx(expected[:3], rel=1e-4)
    assert made.intercept_ == pytest.approx(expected[3] if intercept else 0.0, abs=1e-5)
    assert made.predict(wide) == pytest.approx(exact @ expected, abs=1e-4)
    left = ((y - exact @ expected) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert made.score(wide, y) == pytest.approx(1 - left, abs=1e-6)


@pytest.mark.full
def test_predictions_and_scores_are_of_all_rows_in_their_order(monkeypatch):
    """Rows that go up, so that the mean of y is another one in each piece."""
    x = np.linspace(0, 1, 3 << 16)[:, None]
    y = 0.5 * x[:, 0] + 0.02 * np.sin(99 * x[:, 0])
    made = recorded(x, y)[2]
    line = x[:, 0] * made.coef_[0] + made.intercept_
    expected = 1 - ((y - line) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    monkeypatch.setenv("DPFAST_NUM_THREADS", "3")
    for direct in 1 << 23, 160_016:
        monkeypatch.setattr(memory.MemoryRows, "DIRECT", direct)
        assert made.predict(x) == pytest.approx(line, rel=1e-12)
        assert made.score(x, y) == pytest.approx(expected, rel=1e-9) and expected < 0.999


def test_missing_targets():
    x, y = table(500)
    y[9] = np.nan
    with pytest.raises(DataError, match="NaN"):
        LinearRegression(bounds=(0, 1), y_bounds=(-1, 2), rho=1).fit(x, y)
    without = recorded(np.delete(x, 9, axis=0), np.delete(y, 9))[1]
    assert recorded(x, y, nan="drop")[1] == without
    for nan, number in (0.25, 0.25), ("upper", 2.0):
        filled = recorded(x, np.nan_to_num(y, nan=number))[1]
        assert recorded(x, y, nan=nan)[1] == filled


# --- what a row moves -----------------------------------------------------------------------------

DOMAIN = [(0.0, 0.0, -1.0), (1.0, 1.0, 2.0), (1.0, 0.0, 2.0), (0.5, 0.5, 0.5), (0.0, 0.0, 2.0)]


def worst(relation, loss, **kw):
    """The largest part of the loss that a row takes, over all neighbors."""
    kw = {"neighbors": relation, "rho": None, **loss, **kw}

    def integers(data):
        rows = np.array(data).reshape(-1, 3)
        return recorded(rows[:, :2], rows[:, 2], **kw)[:2]

    return reference.worst(integers, DOMAIN, relation, 0 if "epsilon" in loss else 1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_row_uses_more_than_the_loss(relation, intercept, monkeypatch):
    kw = {"fit_intercept": intercept}
    # A replaced row reaches the bound where two rows are at right angles, seen from the origin.
    least = 0.99 if relation == "add-remove" else 0.4
    assert least < worst(relation, {"rho": 1}, **kw) <= 1
    assert least < worst(relation, {"epsilon": 1}, **kw) <= 1
    right = GramMatrix.parts

    def less(self, neighbors):  # the planted fault: what a row moves is taken for less
        parts = right(self, neighbors)
        return [rounds.Part(p.size, p.l1 // 3, p.l2_squared // 3, p.l0, Fraction(1)) for p in parts]

    monkeypatch.setattr(GramMatrix, "parts", less)
    assert worst(relation, {"rho": 1}, **kw) > 1


# --- what is learned ------------------------------------------------------------------------------


def test_the_ridge_of_the_noise_helps():
    x, y = table(300, 6)

    def result(ridge):
        made = [
            LinearRegression(bounds=(0, 1), y_bounds=(-1, 2), rho=0.1, ridge=ridge).fit(
                x, y, rng=InsecureGenerator(s)
            )
            for s in range(10)
        ]
        return np.mean([abs(m.coef_).max() for m in made])

    exact = abs(recorded(x, y)[2].coef_).max()
    assert result("noise") < 2 * exact < result(0.0)
    assert abs(recorded(x, y, ridge=1e9)[2].coef_).max() < 1e-3 * exact


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_few_rows_are_no_error(n, intercept):
    x, y = table(n)
    for relation in RELATIONS:
        for kw in ({}, {"ridge": 0.0}, {"bounds": (0.5, 0.5)}, {"y_bounds": (0.5, 0.5)}):
            given = {"bounds": (0, 1), "y_bounds": (-1, 2), **kw}
            made = LinearRegression(
                rho=0.01, neighbors=relation, fit_intercept=intercept, **given
            ).fit(x, y)
            assert np.isfinite(made.coef_).all() and math.isfinite(made.intercept_)


def test_a_target_of_one_value():
    made = recorded(*table(), y_bounds=(0.5, 0.5))[2]
    assert (made.coef_ == 0).all() and made.intercept_ == 0.5


def test_a_mean_beyond_the_bounds_is_taken_for_noise():
    normal = _Normal([(0.0, 1.0), (2.0, 4.0)], "raise", True)
    matrix = np.zeros((3, 3))
    matrix[0, 0], matrix[0, 2] = 3.0, 300 * normal.reach[1]
    coef, constant = normal.solve(matrix, 1.0, None)
    assert coef == [0.0] and constant == pytest.approx(4.0)


def test_squares_below_0_count_as_0():
    normal = _Normal([(0.0, 1.0), (0.0, 1.0)], "raise", False)
    r, t = normal.reach
    matrix = np.array([[-5 * r * r, 0.5 * r * t], [0.5 * r * t, t * t]])
    coef, constant = normal.solve(matrix, 1.0, 2.0)
    assert coef == pytest.approx([0.25]) and constant == 0
