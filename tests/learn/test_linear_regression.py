"""Private least squares: first sums, lines, standard errors, and what is kept and refused."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpfast.errors import DataError
from dpfast.learn import LinearRegression, NotFittedError
from dpfast.learn.normal_equations import LINE_REACH, REACH, WEIGHT, Line, Moments, Products
from dpfast.learn.rows import labeled_rows
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support import learners
from ..support.learners import rounds_of
from ..support.pairwise import quick_rows

recorded = partial(learners.recorded, LinearRegression, bounds=(0, 1), y_bounds=(-1, 2), ridge=0)


def table(n=3000, d=3, seed=0, noise=0.1):
    g = np.random.default_rng(seed)
    x = g.uniform(0, 1, (n, d))
    return x, np.clip(x @ g.normal(0, 0.5, d) + 0.3 + noise * g.normal(size=n), -1, 2)


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


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_first_sums_of_three_features_have_joint_noise(relation):
    """With an epsilon alone each has less; what it costs is in `test_replay`."""
    moments, made = Moments([(-1.0, 1.0)] * 4, "raise", True), rounds_of(Pure(1), relation, 4)
    parts = moments.parts_within(Pure(1), relation, Fraction(4)), moments.parts(relation)
    joint, apart = (moments.deviations(made, some, 1) for some in parts)
    assert joint[:2] == apart[:2]
    assert all(a < 0.97 * b for a, b in zip(joint[2:], apart[2:], strict=True))


def test_first_sums_are_those_of_the_definition():
    x, y = table(300)
    x[5] = [math.inf, -2.0, 0.3]
    bounds = [(0.1, 0.9), (0.0, 1.0), (7.0, 7.0), (-0.5, 1.5)]
    moments, one, kept = Moments(bounds, "raise", True), int(REACH), [0, 1]

    def cell(value, pair):
        lo, hi = (Fraction(end) for end in pair)
        away = Fraction(min(max(value, pair[0]), pair[1])) - (lo + hi) / 2
        return round(2 * one * away / (hi - lo)) if hi > lo else 0

    cells = np.array(
        [list(map(cell, row, bounds)) for row in np.column_stack([x, y]).tolist()], object
    )
    z, target = cells[:, kept], cells[:, -1]
    near = moments.total(labeled_rows(x, y))
    exact = [len(x), target.sum(), *z.sum(0), *(one**2 - z**2).sum(0), *(z.T @ target)]
    # A cell's edge may lie in another one in float64: that is one cell, of some rows.
    assert near[0] == exact[0]
    assert np.abs(np.array(near, float) - np.array(exact, float)).max() < 1e-3 * one**2
    assert moments.total(labeled_rows(x, y), targets=True) == near[:2]
    found = moments.products(near, [0.0] * 5)
    w = np.column_stack([np.ones(len(z)), cells[:, [*kept, -1]].astype(float) / one])
    known = np.isfinite(found.variances)
    assert known.sum() == 2 * 4 + 2 * 2 - 1 + 2
    assert found.values[known] == pytest.approx((w.T @ w)[known], abs=1e-3)


def test_a_place_along_a_line_is_a_function_of_its_row_alone():
    g = np.random.default_rng(5)
    d, n = 40, 3000
    own = Moments([(-1.0, 1.0)] * (d + 1), "raise", True)
    x = g.uniform(-1.5, 1.5, (n, d))
    weights = np.rint(g.normal(size=d) * WEIGHT / 8)
    line = Line(own.limits, weights, float(1 << 30))
    places = line.coordinates(x)
    order = g.permutation(n)
    assert (line.coordinates(x[order]) == places[order]).all()
    assert all(line.coordinates(x[i : i + 1])[0] == places[i] for i in range(0, n, 97))
    for row, place in zip(x[:50].tolist(), places.tolist(), strict=False):
        cells = [round(Fraction(min(max(v, -1.0), 1.0)) * int(REACH)) for v in row]
        sums = sum(c * int(w) for c, w in zip(cells, weights.tolist(), strict=True)) - (1 << 30)
        assert place == max(-1.0, min(1.0, sums / LINE_REACH))
    assert np.abs(places).max() == 1.0 and np.abs(places).min() < 0.1


SLOPES = np.array([0.5, -0.2, 0.1])


def lines(runs, n=4000, **kw):
    """Coefficients of other rows each time, less the true ones, over their standard errors."""
    kw = {"bounds": (0, 1), "y_bounds": (-2, 3), "ridge": 0, **kw}
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        x = generator.uniform(0, 1, (n, 3))
        y = x @ SLOPES + 0.4 + generator.normal(0, 0.3, n)
        made = LinearRegression(**kw).fit(x, y, rng=InsecureGenerator(seed))
        yield (made.coef_ - SLOPES) / made.coef_standard_error_


def test_without_noise_standard_errors_are_those_of_least_squares():
    x, y = table(3000, 2, noise=0.2)
    made = LinearRegression(bounds=(0, 1), y_bounds=(-1, 2), ridge=0, rho=500)
    made.fit(x, y, rng=InsecureGenerator(1))
    around = x - x.mean(axis=0)
    left = y - y.mean() - around @ np.linalg.lstsq(around, y - y.mean(), rcond=None)[0]
    covariance = (left @ left) / (len(x) - 3) * np.linalg.inv(around.T @ around)
    assert made.coef_standard_error_ == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.02)


@quick_rows(1)
@pytest.mark.parametrize("kw", [{"rho": 0.2}, {"epsilon": 2}, {"rho": 0.2, "neighbors": "replace"}])
def test_coefficients_are_off_by_their_standard_errors(kw, monkeypatch):
    assert 0.8 < np.sqrt(np.square(list(lines(40, **kw))).mean()) < 1.2
    right = Products._errors

    def without_noise(self, *args):  # planted
        return right(self._replace(variances=np.zeros_like(self.variances)), *args)

    monkeypatch.setattr(Products, "_errors", without_noise)
    assert np.sqrt(np.square(list(lines(40, **kw))).mean()) > 1.25


def test_standard_errors_that_are_not_known_are_none():
    x, y = table(3000, 2, noise=0.2)
    kw = {"bounds": (0, 1), "y_bounds": (-1, 2), "rho": 1}
    known = LinearRegression(**kw).fit(x, y).coef_standard_error_
    assert known.shape == (2,) and (known > 0).all()
    made = LinearRegression(**kw, weight_bounds=(0, 1))
    assert made.fit(x, y, sample_weight=np.ones(3000)).coef_standard_error_ is None
    assert made.fit(x, y, ids=np.arange(3000), max_rows=1).coef_standard_error_ is None
    assert made.fit(x[:40], y[:40]).coef_standard_error_ is None
    made.set_params(ridge=0, fit_intercept=False)
    assert made.fit(x, y).coef_standard_error_ is None
    made.set_params(ridge="noise")
    assert made.fit(x, y).coef_standard_error_ is not None


def test_intervals_of_coefficients_are_of_their_standard_errors():
    x, y = np.arange(2000.0)[:, None] % 10, 3 * (np.arange(2000) % 10) + 1.0
    line = LinearRegression(bounds=(0, 10), y_bounds=(0, 40), epsilon=1)
    with pytest.raises(NotFittedError):
        line.conf_int()
    (low, high), (error,) = line.fit(x, y).conf_int()[0], line.coef_standard_error_
    assert high - low == pytest.approx(2 * 1.96 * error, rel=1e-3)
    assert (low + high) / 2 == pytest.approx(line.coef_[0])
    with pytest.raises(DataError, match="standard errors are unknown"):
        line.fit(x, y, ids=np.arange(2000) // 2, max_rows=2).conf_int()
