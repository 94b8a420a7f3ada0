"""How many private keys there are decides no error: what is limited is what is shown."""

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import DataError
from dpfast.groups import counts
from dpfast.summaries import sparse

BINS = 100
LOSS = {"epsilon": 50, "delta": 1e-13}


def table(rare, common=2, size=3000):
    keys = np.concatenate([np.arange(size) % common, 1000 + np.arange(rare)])
    return {"key": keys, "x": np.arange(len(keys)) % BINS, "w": (np.arange(len(keys)) % 7) / 8}


def asked(data, weights=False, **kw):
    more = {"weights": "w", "weight_bounds": (0, 1)} if weights else {}
    given = {"bins": BINS, "bounds": (0, BINS), **more}
    return dp.group_by(data, "key").histogram("x", **given, **LOSS, **kw)


def answers_alike(rare):
    """That keys which are not shown, and rows that are left out, change neither error nor size."""
    data = table(rare)
    assert asked(data)["key"].tolist() == [0, 1]
    assert asked(data, where=data["key"] < 1000)["key"].tolist() == [0, 1]


def test_keys_that_are_not_shown_decide_no_error(monkeypatch):
    monkeypatch.setattr(counts, "MOST", 3 * BINS)
    for rare in (0, 1, 2, 300):
        answers_alike(rare)
    budget = dp.Budget(epsilon=50, delta=1e-13)
    with pytest.raises(DataError, match="bins for the number of shown groups"):
        asked(table(0, common=4), budget=budget)
    assert len(budget.history) == 1


def test_a_limit_of_keys_that_are_held_is_caught(monkeypatch):
    """Planted: the number of cells is looked at where rows are added."""
    monkeypatch.setattr(counts, "MOST", 3 * BINS)
    right = counts.GroupHistogram.add

    def add(self, totals, codes, values):
        if (codes.max(initial=-1) + 1) * self.axis.native.bins > counts.MOST:
            raise DataError("there are too many keys for so many bins")
        return right(self, totals, codes, values)

    monkeypatch.setattr(counts.GroupHistogram, "add", add)
    answers_alike(1)
    with pytest.raises(DataError, match="too many keys"):
        answers_alike(300)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("pending", [0, 1 << 20])
def test_counts_are_those_of_public_keys(weights, pending, monkeypatch):
    monkeypatch.setattr(sparse, "PENDING", pending)
    data = {name: np.tile(x, 60) for name, x in table(0, common=3, size=6000).items()}
    found = asked(data, weights)
    for at, key in enumerate(found["key"]):
        own = data["key"] == key
        exact = np.bincount(data["x"][own], data["w"][own] if weights else None, minlength=BINS)
        given = [found[f"histogram {b}"][at] for b in range(BINS)]
        assert np.abs(given - exact).max() < 30 and exact.max() > 300
