"""Sums and means by group with weights."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.groups.step import Step
from dpfast.groups.weighted import WeightedMean
from dpfast.sources.forms import column_form

RNG = np.random.default_rng(4)
N = 3000
TABLE = {"k": RNG.integers(0, 5, N), "x": RNG.normal(10, 6, N), "w": RNG.uniform(-1, 6, N)}
LARGE = {"epsilon": 400}
X, W = {"bounds": (-3, 25)}, {"weights": "w", "weight_bounds": (0, 4)}


def grouped(table=TABLE, **kw):
    return dp.group_by(table, "k", keys=np.arange(6), **kw)


def by_hand(table=TABLE):
    x, w = np.clip(table["x"], -3, 25), np.clip(table["w"], 0, 4)
    frame = pd.DataFrame({"k": table["k"], "w": w, "wx": w * x}).dropna()
    sums = frame.groupby("k").sum().reindex(range(6), fill_value=0)
    return sums["wx"].to_numpy(), (sums["wx"] / sums["w"]).to_numpy()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_in_the_limit_they_are_those_of_pandas(threads, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
    sums, means = by_hand()
    assert np.abs(grouped().sum("x", **X, **W, **LARGE)["sum"] - sums).max() < 5
    assert np.abs(grouped().mean("x", **X, **W, **LARGE)["mean"] - means)[:5].max() < 0.02
    own = {"a": dp.stat.sum("x", **X, **W), "b": dp.stat.mean("x", **X, **W), "c": dp.stat.count()}
    both = grouped().agg(own, **LARGE)
    assert np.abs(both["a"] - sums).max() < 15 and np.abs(both["b"] - means)[:5].max() < 0.1
    found = dp.group_by(TABLE, "k").agg(own, epsilon=400, delta=1e-6)
    assert np.abs(found["b"] - means[:5]).max() < 0.1


def test_missing_numbers_and_weights():
    table = {name: column.copy() for name, column in TABLE.items()}
    table["x"][::7], table["w"][::5] = math.nan, math.nan
    sums, means = by_hand(table)
    assert np.abs(grouped(table).sum("x", **X, **W, **LARGE, nan="drop")["sum"] - sums).max() < 5
    found = grouped(table).mean("x", **X, **W, **LARGE, nan="drop")["mean"]
    assert np.abs(found - means)[:5].max() < 0.02
    filled = {**table, "x": np.nan_to_num(table["x"], nan=25.0)}
    filled["w"] = np.nan_to_num(table["w"], nan=4.0)
    found = grouped(table).sum("x", **X, **W, **LARGE, nan="upper")["sum"]
    assert np.abs(found - by_hand(filled)[0]).max() < 5
    with pytest.raises(DataError, match="NaN or null"):
        grouped(table).mean("x", **X, **W, epsilon=1)


def rows_of(statistic, x, w):
    """What single rows add to both sums, in cells."""
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
    statistic = WeightedMean("x", bounds, "drop", weights="w", limits=(0.0, 3.7))
    x = np.concatenate([RNG.uniform(*bounds, 200), [*bounds, -math.inf, math.inf]])
    w = np.concatenate([RNG.uniform(0, 3.7, 200), [3.7, 3.7, 9, 3.7]])
    added = rows_of(statistic, x, w)
    most = statistic.sensitivity.largest
    assert added.min() >= 0 and added.sum(axis=1).max() <= most
    assert added.sum(axis=1).max() >= most - 3
    twice = WeightedMean("x", bounds, "drop", weights="w", limits=(0.0, 3.7), step=Step("replace"))
    assert twice.sensitivity.l1 == 2 * most
    # The control: a sensitivity of half the bounds of the weights would be caught.
    half = WeightedMean("x", bounds, "drop", weights="w", limits=(0.0, 1.85))
    assert rows_of(statistic, x, w).sum(axis=1).max() * statistic.products.grid > (
        half.sensitivity.largest * half.products.grid
    )


def test_errors():
    for kw in ({"weights": "w"}, {"weight_bounds": (0, 1)}):
        with pytest.raises(ArgumentError, match="weight_bounds must be given with weights"):
            grouped().sum("x", **X, epsilon=1, **kw)
    with pytest.raises(ArgumentError, match="weight_bounds must be not negative"):
        dp.stat.mean("x", **X, weights="w", weight_bounds=(-1, 1))
    with pytest.raises(ArgumentError, match="'v'"):
        grouped().sum("x", **X, weights="v", weight_bounds=(0, 1), epsilon=1)


def test_a_row_that_rounding_helps_reaches_the_sensitivity():
    """Both products round up beside nearly a whole cell more, so no smaller bound would hold."""
    bounds = (0.16536885274717894, 0.9872298556243644)
    most, x = 22.522229469237345, 0.23817514527143274
    statistic = WeightedMean("x", bounds, "drop", weights="w", limits=(0.0, most))
    (added,) = rows_of(statistic, np.array([x]), np.array([most]))
    assert added.sum() == statistic.sensitivity.largest
