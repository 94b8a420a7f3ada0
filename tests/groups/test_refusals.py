"""What groups refuse, and that it is refused before the spend where it is public."""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError

TABLE = {
    "k": np.arange(60) % 3,
    "t": np.array(["a", "b", "c"] * 20),
    "x": np.linspace(0, 1, 60),
    "id": np.arange(60) // 2,
}


@pytest.fixture
def budget():
    return dp.Budget(epsilon=10**6, delta=0.5)


def test_what_is_given_and_answered_is_nobody_elses():
    keys = np.array(["a", "b"])
    groups = dp.group_by(TABLE, "t", keys=keys)
    found = groups.count(epsilon=100)
    found["t"][0], keys[1] = "z", "a"
    assert groups.count(epsilon=100)["t"].tolist() == ["a", "b"]


@pytest.mark.full
def test_numbers_of_rows_and_of_keys_are_not_told(budget):
    people = dp.group_by(
        TABLE, "k", keys=[0], ids="id", max_groups=1, max_rows=1, neighbors="replace"
    )
    own = dp.Budget(epsilon=9, neighbors="replace", ids="id")
    assert own.cost(people.count, epsilon=1, where=np.ones(3, bool)).epsilon == 1
    with pytest.raises(DataError, match="one entry") as caught:
        people.count(epsilon=1, where=np.ones(3, bool), budget=own)
    assert "60" not in str(caught.value) and len(own.history) == 1
    bins = {"bins": 3_000_000, "bounds": (0, 1), "epsilon": 1, "budget": budget}
    with pytest.raises(ArgumentError, match="bins must be at most"):
        dp.group_by(TABLE, "k", keys=np.arange(1000)).histogram("x", **bins)
    assert not budget.history
    # Keys that are held decide nothing, and of those that are shown no number is told.
    held = {"k": np.arange(3000), "x": np.zeros(3000)}
    assert not len(dp.group_by(held, "k").histogram("x", **bins, delta=1e-30)["k"])
    shown = {name: np.repeat(column, 300) for name, column in held.items()}
    with pytest.raises(DataError, match="as many groups as are shown") as caught:
        dp.group_by(shown, "k").histogram("x", **bins, delta=1e-6)
    assert "3000" not in str(caught.value)


def test_bounds_of_people_beyond_the_groups_cost_nothing():
    def error(most):
        groups = dp.group_by(TABLE, "k", keys=[0, 1, 2], ids="id", max_groups=most, max_rows=1)
        return groups.count(epsilon=1)["count error"][0]

    assert error(3) == error(1000) == error(None)
    for name in ("max_groups", "max_rows"):
        with pytest.raises(ArgumentError, match=f"{name} must be at most"):
            dp.group_by(TABLE, "k", keys=[0], ids="id", **{name: 10**30})


def test_weights_and_shares_that_no_float_holds(budget):
    groups = dp.group_by(TABLE, "k", keys=[0, 1])
    for bounds, limits in (((0, 1e200), (0, 1e200)), ((0, 10), (0, 1e308))):
        for call in (groups.sum, groups.mean):
            kw = {"weights": "x", "weight_bounds": limits, "epsilon": 1, "budget": budget}
            with pytest.raises(ArgumentError, match="overflow"):
                call("x", bounds=bounds, **kw)
    stats = {"a": dp.stat.count(), "b": dp.stat.median("x", bounds=(0, 1))}
    for loss in ({"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}):
        with pytest.raises(ArgumentError, match="epsilon must be"):
            groups.agg(stats, **loss, weights={"a": 1e300}, budget=budget)
    assert not budget.history
