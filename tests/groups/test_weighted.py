"""Sums and means by group with weights."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast._kernels.groups import combine
from dpfast.groups.counts import WeightedHistogram
from dpfast.groups.step import Step
from dpfast.groups.weighted import WeightedMean, clamped
from dpfast.tables.forms import column_form

RNG = np.random.default_rng(4)
N = 3000
TABLE = {"k": RNG.integers(0, 5, N), "x": RNG.normal(10, 6, N), "w": RNG.uniform(-1, 6, N)}
LARGE = {"epsilon": 400}
X, W = {"bounds": (-3, 25)}, {"weights": "w", "weight_bounds": (0, 4)}


def grouped(table=TABLE, **kw):
    return dp.group_by(table, "k", keys=np.arange(6), **kw)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_in_the_limit_they_are_those_of_pandas(threads, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
    x, w = np.clip(TABLE["x"], -3, 25), np.clip(TABLE["w"], 0, 4)
    frame = pd.DataFrame({"k": TABLE["k"], "w": w, "wx": w * x}).groupby("k").sum()
    both = frame.reindex(range(6), fill_value=0)
    sums, means = both["wx"].to_numpy(), (both["wx"] / both["w"]).to_numpy()
    assert np.abs(grouped().sum("x", **X, **W, **LARGE)["sum"] - sums).max() < 5
    assert np.abs(grouped().mean("x", **X, **W, **LARGE)["mean"] - means)[:5].max() < 0.02
    own = {"a": dp.stat.sum("x", **X, **W), "b": dp.stat.mean("x", **X, **W), "c": dp.stat.count()}
    both = grouped().agg(own, **LARGE)
    assert np.abs(both["a"] - sums).max() < 15 and np.abs(both["b"] - means)[:5].max() < 0.1
    found = dp.group_by(TABLE, "k").agg(own, epsilon=400, delta=1e-6)
    assert np.abs(found["b"] - means[:5]).max() < 0.1


def weighted_mean(bounds, most, **given):
    own = {"bounds": bounds, "nan": "drop", "weights": "w", "weight_bounds": (0, most)}
    return WeightedMean(dp.Mean("x", **own), **given)


def rows_of(statistic, x, w):
    found = []
    for pair in zip(x, w, strict=True):
        room = statistic.room(1)
        columns = {"x": np.array([pair[0]]), "w": np.array([pair[1]])}
        pieces = {name: column_form(own, name, "numbers") for name, own in columns.items()}
        statistic.add(room, np.zeros(1, np.int32), statistic.read(pieces))
        found.append(room[0, :, 0].tolist())
    return np.array(found)


@pytest.mark.parametrize("bounds", [(-3, 25), (0, 1), (2, 2.5), (-1e6, 1e-3)])
def test_a_row_adds_no_more_than_the_sensitivity_says(bounds):
    statistic = weighted_mean(bounds, 3.7)
    x = np.concatenate([RNG.uniform(*bounds, 200), [*bounds, -math.inf, math.inf]])
    w = np.concatenate([RNG.uniform(0, 3.7, 200), [3.7, 3.7, 9, 3.7]])
    added = rows_of(statistic, x, w)
    most = statistic.sensitivity.largest
    assert added.min() >= 0 and added.sum(axis=1).max() <= most
    assert added.sum(axis=1).max() >= most - 3
    twice = weighted_mean(bounds, 3.7, step=Step("replace"))
    assert twice.sensitivity.l1 == 2 * most
    # The control: a sensitivity of half the bounds of the weights would be caught.
    half = weighted_mean(bounds, 1.85)
    assert rows_of(statistic, x, w).sum(axis=1).max() * statistic.cells.grid > (
        half.sensitivity.largest * half.cells.grid
    )


@pytest.mark.parametrize("bins", [{"bins": [0.0, 5, 12, 20]}, {"categories": [0.25, 3.0, 7.5]}])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_histograms_of_weights_are_those_of_numpy(bins, relation):
    limits = (-1.0, 2.0)
    x = np.round(RNG.uniform(0, 20, 3000) * 4) / 4
    w, k = RNG.uniform(-2, 3, 3000), RNG.integers(0, 3, 3000)
    w[::50] = np.nan  # such rows are in no bin
    groups = dp.group_by({"k": k, "x": x, "w": w}, "k", keys=[2, 0, 9], neighbors=relation)
    found = groups.histogram("x", **bins, weights="w", weight_bounds=limits, epsilon=400)
    clipped = np.where(np.isnan(w), 0, np.clip(w, *limits))
    for i, key in enumerate([2, 0, 9]):
        if "bins" in bins:
            due, _ = np.histogram(x[k == key], bins["bins"], weights=clipped[k == key])
        else:
            due = [clipped[(k == key) & (x == c)].sum() for c in bins["categories"]]
        own = [column[i] for name, column in found.items() if name not in ("k", "histogram error")]
        np.testing.assert_allclose(own, due, atol=0.1)
    assert (found["histogram error"] < 0.2).all()


def of_people(rows, relation, groups=1):
    made = dp.stat.histogram("x", bins=[0, 1, 2, 3], weights="w", weight_bounds=(-1, 2.5))
    statistic = WeightedHistogram(made, step=Step(relation, groups, rows))
    each = list(itertools.product((0.5, 1.5, 2.5, 9.0), (-4.0, -1.0, 0.3, 2.5)))
    found = []
    for own in itertools.combinations_with_replacement(each, rows):
        x, w = (np.array(column) for column in zip(*own, strict=True))
        room, codes = statistic.room(1), np.zeros(rows, np.int32)
        statistic.add(room, codes, (x, clamped(w, statistic.limits, "raise")))
        sums = np.empty(3, np.int64)
        combine(room[0].copy(), 1, statistic.cells.first, 0, 0, sums)
        found.append(sums)
    return statistic, np.array(found)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_person_moves_bins_by_no_more_than_the_sensitivity_says(rows, relation):
    statistic, every = of_people(rows, relation)
    said, floats = statistic.sensitivity, every.astype(float)
    apart = floats if relation == "add-remove" else (floats[:, None] - floats).reshape(-1, 3)
    # Under replace those of two groups, and those of one.
    two = 1 if relation == "add-remove" else 2
    l1 = max(np.abs(apart).sum(axis=1).max(), two * np.abs(floats).sum(axis=1).max())
    l2 = max((apart**2).sum(axis=1).max(), two * (floats**2).sum(axis=1).max())
    assert l1 == said.l1 and l2 == pytest.approx(float(said.l2_squared), rel=1e-12)
    assert np.abs(apart).max() == said.linf
    moves, far = said.moved
    assert np.abs(floats).max() <= rows * far and moves == two * rows
    assert (np.ceil(np.abs(apart) / far).sum(axis=1)).max() <= moves
    # The control: what one row moves is too little for two.
    if rows == 2:
        alone = replace(statistic, step=Step(relation)).sensitivity
        assert l1 > alone.l1 and l2 > alone.l2_squared
