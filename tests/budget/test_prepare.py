"""What a call would run is found without a spend, a row or a random bit, and by one road."""

from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget import release

X = np.arange(50.0)
BOUNDS = {"bounds": (0, 60)}
GROUPS = dp.group_by({"k": [0, 1] * 25, "x": X}, "k", keys=[0, 1])
PCA = dp.learn.PCA(1, bounds=(0, 1), epsilon=0.5, delta=0.1)
#: Calls of every kind: functions, methods, values that are measured, classes, learners.
CALLS = {
    "median": (dp.median, X, BOUNDS),
    "mean": (dp.mean, X, BOUNDS),
    "automatic": (dp.mean, X, {"bounds": "auto"}),
    "partial": (partial(dp.median, **BOUNDS), X, {}),
    "histogram": (dp.histogram, X, {"bins": [0, 9, 60]}),
    "draw": (dp.selection.exponential, X, {"sensitivity": 1}),
    "groups": (GROUPS.mean, "x", BOUNDS),
    "keys": (dp.select_keys, ["a"] * 99, {"delta": 0.1}),
    "stream": (dp.online.SparseVector, None, {"positives": 2}),
    "one of it": (dp.online.AboveThreshold, None, {}),
    "rounds": (dp.sulq.NoisySums, X, {"queries": 2}),
    "mechanism": (dp.mechanism(dp.count, epsilon=0.5), X, None),
    "measurement": (dp.Mean(**BOUNDS).measure(epsilon=0.5), X, None),
    "learner": (PCA.fit, np.ones((40, 2)), None),
}


def prepare(name, **more):
    call, data, asked = CALLS[name]
    own = {} if asked is None else {"epsilon": 0.5, **asked}
    return dp.extend.prepare(call, *([] if data is None else [data]), **own, **more)


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
    seen, budget = [], dp.Budget(epsilon=9, delta=0.5)
    with monkeypatch.context() as patch:
        patch.setattr(release.Prepared, "run", seen.append)
        prepared = prepare(name, budget=budget, rng=Silent())
    assert prepared.mechanism.loss.epsilon <= 0.5 and prepared.budget is budget
    assert not seen and not budget.history and budget.neighbors is None
    assert prepare(name, budget=budget).run() is not None
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
    assert budget.history
    assert budget.cost(dp.count, X, epsilon=0.25).epsilon == 0.25 and len(budget.history) == 1
