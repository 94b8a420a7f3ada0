"""Histograms of weights: exact sums, what a row changes by enumeration, noise and error bars."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.histogram import of_weights

from ..support.views import prepared, quoted

RNG = np.random.default_rng(17)
X = RNG.normal(40, 20, 3000)
W = RNG.integers(-8, 40, 3000) / 8
LIMITS = {"weight_bounds": (-1, 4)}
BINS = {"bins": 7, "bounds": (0, 100)}
RELATIONS = ["replace", "add-remove"]


def exact(data, weights, **kw):
    """The sums before noise, in the data's units."""
    kw = {**LIMITS, **kw}
    made, rows = prepared(dp.histogram, data, weights=weights, epsilon=1, **kw)
    return made.reduce(rows) * made.cells.grid, made


def by_definition(data, weights, edges, limits=(-1, 4)):
    return np.histogram(data, edges, weights=np.clip(weights, *limits))[0]


def test_sums_are_those_of_numpy():
    edges = np.linspace(0, 100, 8)
    assert exact(X, W, **BINS)[0].tolist() == by_definition(X, W, edges).tolist()
    where = X > 30
    found = exact(X, W, where=where, **BINS)[0]
    assert found.tolist() == by_definition(X[where], W[where], edges).tolist()
    table = {"x": X, "y": W, "w": W}
    both = dp.histogram(
        table, weights="w", bins=[3, 2], bounds=[(0, 100), (-1, 5)], epsilon=500, **LIMITS
    )[0]
    right = np.histogram2d(X, W, [3, 2], [(0, 100), (-1, 5)], weights=np.clip(W, -1, 4))[0]
    assert both.shape == (3, 2)
    assert np.abs(both - right).max() < 0.2  # fails by chance: 12 exp(-25) < 2e-10


@pytest.mark.parametrize("form", ["list", "Arrow", "by name", "text", "float32 weights"])
def test_forms(form):
    given = {**BINS, **LIMITS, "epsilon": 1, "weights": W}
    if form == "text":
        words = np.array(["a", "b"])[(X > 40).astype(int)]
        found, labels = dp.histogram(words, categories=["b", "a"], weights=W, epsilon=500, **LIMITS)
        right = [np.clip(W, -1, 4)[words == one].sum() for one in labels]
        assert np.abs(found - right).max() < 0.2  # fails by chance: 4 exp(-25) < 6e-11
        return
    right = dp.histogram(X, **given, rng=InsecureGenerator(1))[0]
    assert right.dtype == np.float64
    data = {"list": X.tolist(), "Arrow": pa.array(X), "by name": {"x": X, "w": W}}.get(form, X)
    more = {"by name": {"weights": "w"}, "float32 weights": {"weights": W.astype("f4")}}
    found = dp.histogram(data, **{**given, **more.get(form, {})}, rng=InsecureGenerator(1))[0]
    assert found.tolist() == right.tolist()


def test_what_is_missing_is_in_no_bin():
    data, weights = np.array([1.0, 2, math.nan, 3]), np.array([1.0, math.nan, 2, 0.5])
    assert exact(data, weights, bins=[0, 2, 4])[0].tolist() == [1.0, 0.5]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("limits", [(-1, 4), (2, 3), (-5, 5), (0, 1), (-3, -1)])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(relation, limits):
    """By enumeration of a row's bin and weight; the bounds are reached."""
    kw = {"bins": [0, 1, 2], "weight_bounds": limits, "neighbors": relation}
    rows = [(x, w) for x in (0.5, 1.5, 9.0, math.nan) for w in (*limits, 0, 1e300, math.nan)]
    made = exact(np.array([0.5]), np.array([0.0]), **kw)[1]
    unit = made.cells.grid

    def sums(row):
        data, weights = np.array([row, (0.5, 0.25)]).T if row else np.array([[0.5], [0.25]])
        return exact(data, weights, **kw)[0] / unit

    found = [sums(row) for row in rows]
    pairs = itertools.combinations(found, 2)
    if relation == "add-remove":
        pairs = [(one, sums(None)) for one in found]
    moves = [np.abs(a - b) for a, b in pairs]
    said = of_weights(made.cells, relation)
    assert made.noise == integer_noise(made.loss, said)
    assert max(m.sum() for m in moves) == said.l1
    assert max((m**2).sum() for m in moves) == said.l2_squared
    assert max(m.max() for m in moves) == said.linf
    # Planted: a histogram of rows, in cells of 1, and twice the square of a move of one bin.
    assert said.l1 > (2 if relation == "replace" else 1)
    if relation == "replace" and limits == (-5, 5):
        assert said.l2_squared > 2 * max(map(abs, (made.cells.first, made.cells.last))) ** 2


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_noise_and_its_error_bar(loss, relation):
    asked = {"weights": W, "neighbors": relation, **BINS, **LIMITS, **loss}
    made, rows = prepared(dp.histogram, X, **asked)
    summary, rng = made.reduce(rows), InsecureGenerator(3)
    off = np.array([made.finish(summary, rng)[0] for _ in range(1500)]) - summary * made.cells.grid
    deviation = made.noise.deviation * made.cells.grid
    assert abs(off.std() / deviation - 1) < 0.06
    assert abs(off.mean()) < 5 * deviation / math.sqrt(off.size)
    bar, limit = made.error(None, 0.95).half_width, 0.05 + 5 * math.sqrt(0.05 / off.size)
    assert np.mean(np.abs(off) > bar) <= limit < np.mean(np.abs(off) > 0.8 * bar)
    # Planted: the noise of a sum of weights of size 1.
    assert deviation > 2 * quoted(
        dp.histogram, X, weights=W, weight_bounds=(0, 1), neighbors=relation, **BINS, **loss
    ).noise.deviation * made.cells.grid / 4  # fmt: skip


def test_answers_lie_on_a_public_grid_and_do_not_wrap():
    found = dp.histogram(X, weights=W, epsilon=1, **BINS, **LIMITS)[0]
    grid = exact(X, W, **BINS)[1].cells.grid
    assert all(Fraction(one) % Fraction(grid) == 0 for one in found.tolist())
    huge, _ = exact(np.full(9, 0.5), np.full(9, 2.0**50), bins=[0, 1], weight_bounds=(0, 2.0**50))
    assert huge.tolist() == [9 * 2.0**50]
    low, made = exact(np.full(9, 0.5), np.full(9, 1001.5), bins=[0, 1], weight_bounds=(1000, 1002))
    assert low[0] == pytest.approx(9 * 1001.5, abs=9 * made.cells.grid)


def test_noise_of_many_units_does_not_wrap():
    """Laplace noise of scale 2e9, of which one answer in a hundred is beyond 2**33."""
    asked = {"bins": 4000, "bounds": (0, 1), "weights": [1.0], "weight_bounds": (0, 1)}
    rng = InsecureGenerator(1)
    found, _ = dp.histogram([0.0], **asked, epsilon=1e-9, neighbors="replace", rng=rng)
    assert 1.2e10 < np.abs(found).max() < 3e10


def test_equal_parts_of_chunks_merge(monkeypatch):
    from dpfast.statistics.histogram import _WeightSums
    from dpfast.summaries.units import CARRY

    half = np.array([[2**63, 5], [7, 7]], np.uint64)  # the last is of rows in no bin
    both = _WeightSums(half.copy(), 1).merge(_WeightSums(half.copy(), 2))
    assert both.totals[:-1].tolist() == [[0, 10 + (1 << CARRY)]] and both.read == 3
    with dp.threads(3):
        many = exact(np.tile(X, 200), np.tile(W, 200), **BINS)[0]
    assert many.tolist() == (200 * exact(X, W, **BINS)[0]).tolist()


def test_what_is_refused():
    for kw, error, words in [
        ({"weights": W}, ArgumentError, "weight_bounds must be given"),
        ({"weight_bounds": (0, 1)}, ArgumentError, "weight_bounds must be given"),
        ({"weights": np.stack([W, W], 1), **LIMITS}, ArgumentTypeError, "weights must be"),
        ({"weights": "w", **LIMITS}, (ArgumentError, ArgumentTypeError), "."),
    ]:
        with pytest.raises(error, match=words):
            dp.histogram(X, epsilon=1, **BINS, **kw)
