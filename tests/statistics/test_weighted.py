"""Sums and means with weights: exact without noise, missing numbers, errors."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.measurement import linear, statistic
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api

from ..support.noise import Recorder

pa = pytest.importorskip("pyarrow")

STATISTICS = {"sum": api.sum, "mean": api.mean}
LIMITS = {"sum": (-0.5, 2.0), "mean": (0.25, 2.0)}


def recorded(name, data, weights, **kw):
    """The moves, the integers that noise is added to, and the exact answer."""
    recorder = Recorder()
    kw = {"bounds": (-1.0, 2.5), "weight_bounds": LIMITS[name], **kw}
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", recorder),
    ):
        found = STATISTICS[name](data, weights=weights, epsilon=1, **kw)
    return recorder.asked, recorder.values, found


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_without_noise_it_is_the_statistic(relation):
    rng = np.random.default_rng(0)
    data, weights = rng.normal(1, 2, (2, 30_000))
    x = np.clip(data, -1, 2.5)
    for name in ["sum", "mean"]:
        w = np.clip(weights, *LIMITS[name])
        _, vector, found = recorded(name, data, weights, neighbors=relation)
        exact = (w * x).sum() if name == "sum" else np.average(x, weights=w)
        assert found == pytest.approx(exact, rel=1e-7)
        order = rng.permutation(len(data))
        assert recorded(name, data[order], weights[order], neighbors=relation)[1] == vector
        assert recorded(name, pa.array(data), weights.tolist(), neighbors=relation)[1] == vector
        where = data > 0
        some = recorded(name, data, weights, where=where, neighbors=relation)[2]
        exact = (w * x)[where].sum() if name == "sum" else np.average(x[where], weights=w[where])
        assert some == pytest.approx(exact, rel=1e-7)


def test_equal_weights():
    """As good as none, but for the grid."""
    data = np.random.default_rng(1).uniform(0, 1, 1000)
    kw = {"bounds": (0, 1), "weights": np.ones(1000), "weight_bounds": (1, 1), "epsilon": 100}
    rng = InsecureGenerator(1)
    assert api.sum(data, rng=rng, **kw) == pytest.approx(data.sum(), rel=1e-3)
    assert api.mean(data, rng=rng, **kw) == pytest.approx(data.mean(), rel=1e-3)


def test_missing_numbers():
    data, weights = [0.0, math.nan, 1.0, 2.0], [1.0, 1.0, math.nan, 2.0]
    with pytest.raises(DataError):
        recorded("sum", data, weights, nan="raise")
    assert recorded("sum", data, weights, nan="drop", neighbors="add-remove")[2] == 4.0
    assert recorded("sum", data, weights, nan="upper")[2] == 2.5 + 2 + 4


def test_no_rows():
    for relation in ["replace", "add-remove"]:
        assert recorded("sum", [], [], neighbors=relation)[2] == 0
        assert recorded("mean", [], [], neighbors=relation)[2] == 0.75


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(
    ("kw", "error", "words"),
    [
        ({"weights": None}, ArgumentError, "weight_bounds must be given with weights"),
        ({"weight_bounds": None}, ArgumentError, "weight_bounds must be given with weights"),
    ],
)
def test_bad_arguments_cost_nothing(name, kw, error, words):
    budget = dp.Budget(epsilon=1)
    given = {"weights": [1.0, 1.0, 1.0], "weight_bounds": (0, 1), **kw}
    with pytest.raises(error, match=words):
        STATISTICS[name](np.zeros(3), bounds=(0, 1), epsilon=0.5, budget=budget, **given)
    assert budget.remaining["epsilon"] == 1


def test_weights_of_a_mean_are_not_negative():
    for limits in [(-1, 1), (0, 0)]:
        with pytest.raises(ArgumentError, match="not negative, and not both 0"):
            api.mean([1.0], bounds=(0, 1), weights=[1.0], weight_bounds=limits, epsilon=1)
