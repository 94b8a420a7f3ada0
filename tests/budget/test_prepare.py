"""What a call would run is found without a spend, a row or a random bit, and by one road."""

from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget import release

X = np.arange(50.0)
BOUNDS = {"bounds": (0, 60)}
GROUPS = dp.group_by({"k": [0, 1] * 25, "x": X}, "k", keys=[0, 1])
#: Calls of every kind: functions, methods, values that are measured, classes, learners.
CALLS = {
    "median": partial(dp.extend.prepare, dp.median, X, **BOUNDS, epsilon=0.5),
    "mean": partial(dp.extend.prepare, dp.mean, X, **BOUNDS, epsilon=0.5),
    "automatic": partial(dp.extend.prepare, dp.mean, X, bounds="auto", epsilon=0.5),
    "partial": partial(dp.extend.prepare, partial(dp.median, **BOUNDS), X, epsilon=0.5),
    "histogram": partial(dp.extend.prepare, dp.histogram, X, bins=[0, 9, 60], epsilon=0.5),
    "draw": partial(dp.extend.prepare, dp.selection.exponential, X, sensitivity=1, epsilon=0.5),
    "groups": partial(dp.extend.prepare, GROUPS.mean, "x", **BOUNDS, epsilon=0.5),
    "keys": partial(dp.extend.prepare, dp.select_keys, ["a"] * 99, epsilon=0.5, delta=0.1),
    "mechanism": partial(dp.extend.prepare, dp.mechanism(dp.count, epsilon=0.5), X),
    "measurement": partial(dp.extend.prepare, dp.Mean(**BOUNDS).measure(epsilon=0.5), X),
    "stream": partial(dp.extend.prepare, dp.online.SparseVector, positives=2, epsilon=0.5),
    "one of it": partial(dp.extend.prepare, dp.online.AboveThreshold, epsilon=0.5),
    "rounds": partial(dp.extend.prepare, dp.sulq.NoisySums, X, epsilon=0.5, queries=2),
    "learner": partial(
        dp.extend.prepare,
        dp.learn.PCA(1, bounds=(0, 1), epsilon=0.5, delta=0.1).fit,
        np.ones((40, 2)),
    ),
}


class Touched(Exception):
    """A bit was drawn."""


class Silent(dp.rng.SecureGenerator):
    """A generator that nobody may draw from."""

    def stream(self):
        raise Touched

    def bytes(self, length):
        raise Touched


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_spent_read_or_drawn_before_it_runs(name, monkeypatch):
    seen = []
    budget = dp.Budget(epsilon=9, delta=0.5)
    monkeypatch.setattr(release.Prepared, "run", lambda one: seen.append(one))
    prepared = CALLS[name](budget=budget, rng=Silent())
    assert prepared.mechanism.loss.epsilon <= 0.5 and prepared.budget is budget
    assert not seen and not budget.history and budget.neighbors is None


@pytest.mark.parametrize("name", CALLS)
def test_what_is_prepared_is_what_a_call_pays(name):
    budget = dp.Budget(epsilon=9, delta=0.5)
    prepared = CALLS[name](budget=budget)
    assert prepared.run() is not None
    (entry,) = budget.history
    assert entry.loss == prepared.mechanism.loss and entry.what == prepared.mechanism.what


def test_a_function_that_runs_where_it_should_prepare_is_caught():
    """Planted: it pays before anybody looks at its price."""

    @dp.extend.releases
    def hasty(data, *, epsilon, budget=None):
        dp.count(data, epsilon=epsilon, budget=budget)
        return dp.extend.prepare(dp.count, data, epsilon=epsilon, budget=budget)

    budget = dp.Budget(epsilon=1)
    assert budget.cost(hasty, X, epsilon=0.25).epsilon == 0.25
    assert budget.history and not dp.Budget(epsilon=1).history
    assert budget.cost(dp.count, X, epsilon=0.25).epsilon == 0.25 and len(budget.history) == 1
