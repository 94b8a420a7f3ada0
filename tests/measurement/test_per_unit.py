"""`per_unit`: the total of a unit is clamped, and not the number of its rows."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.noise.shared import SharedNoise
from dpfast.statistics.totals import count
from dpfast.summaries import units

from ..support.views import quoted

RNG = np.random.default_rng(35)
ENDS = [(0, 5), (-1, 1), (5, 10), (-7, 2), (-9, -4)]
X = RNG.integers(-2, 4, 60).astype(float)
IDS = RNG.integers(0, 12, 60)
KEYS = np.array(["a", "b"])[RNG.integers(0, 2, 60)]
RELATIONS = ["add-remove", "replace"]


@pytest.fixture
def silent(monkeypatch):
    """No noise."""
    for noise in (IntegerNoise, BoxNoise):
        monkeypatch.setattr(noise, "add", lambda self, values, generator: list(values))
    for noise in (IntegerNoise, SharedNoise):
        monkeypatch.setattr(noise, "draw", lambda self, size, generator: np.zeros(size, np.int64))


def due(x, ids, ends):
    return sum(np.clip(x[ids == who].sum(), *ends) for who in set(ids.tolist()))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("ends", ENDS)
def test_totals_of_units_are_clamped(silent, ends, relation):
    kw = {"per_unit": ends, "epsilon": 1, "neighbors": relation}
    own = {"bounds": (-2, 3), **kw}
    assert dp.sum(X, ids=IDS, **own) == pytest.approx(due(X, IDS, ends))
    both = dp.sum(
        np.stack([X, -X], axis=1), axis=0, ids=IDS, **own | {"bounds": [(-2, 3), (-3, 2)]}
    )
    assert both == pytest.approx([due(X, IDS, ends), due(-X, IDS, ends)])
    groups = dp.group_by({"k": KEYS, "x": X, "i": IDS}, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(-2, 3), per_unit=ends, epsilon=1)["sum"]
    assert found == pytest.approx([due(X[k == KEYS], IDS[k == KEYS], ends) for k in "ab"], abs=1e-6)
    if ends[0] >= 0:
        ones = np.ones(60)
        assert dp.count(X, ids=IDS, **kw) == due(ones, IDS, ends)
        assert dp.count_nonzero(X, ids=IDS, **kw) == due(ones[X != 0], IDS[X != 0], ends)
        found = groups.agg({"n": dp.Count(per_unit=ends)}, epsilon=1)["n"]
        assert found.tolist() == [due(ones[k == KEYS], IDS[k == KEYS], ends) for k in "ab"]


def test_a_unit_without_a_number_counts_nothing(silent):
    x, ids = np.array([1.0, np.nan, np.nan]), [1, 2, None]
    assert dp.sum(x, bounds=(0, 9), ids=ids, per_unit=(5, 9), epsilon=1) == 5
    assert dp.count(x, ids=ids, nan="drop", per_unit=(5, 9), epsilon=1) == 5
    table = {"k": ["a"] * 3, "x": x, "i": ids}
    groups = dp.group_by(table, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(0, 9), per_unit=(5, 9), epsilon=1)["sum"]
    assert found == pytest.approx([5, 0], abs=1e-6)


def swings(call, ends, **kw):
    """By how much a unit that comes, and one that is replaced, moves the exact sum."""
    units_ = [[]] + [
        list(rows) for n in (1, 2, 3) for rows in combinations_with_replacement((-4, 0, 5, 9), n)
    ]
    found = []
    for rows in units_:
        kw |= {"ids": [0] * len(rows), "per_unit": ends, "epsilon": 1}
        found.append(call(np.array(rows, float), **kw))
    return max(map(abs, found)), max(found) - min(found)


@pytest.mark.parametrize("ends", ENDS)
def test_no_unit_moves_the_sum_by_more_than_the_noise_is_for(silent, ends):
    kw = {"bounds": (-4, 9)}
    alone, replaced = swings(dp.sum, ends, **kw)
    assert alone == max(map(abs, ends)) or ends == (-9, -4)
    for relation, far in zip(RELATIONS, (alone, replaced), strict=True):
        own = {**kw, "per_unit": ends, "ids": IDS, "neighbors": relation}
        made = quoted(dp.sum, X, epsilon=1, **own)
        cell = made.inner.columns[0].cells.grid
        assert made.inner.plan().sizes[0] * cell >= far - 1e-9
        assert made.loss.epsilon == 1 and made.neighbors == relation
        lo, hi = ends
        due = max(abs(lo), abs(hi)) if relation == "add-remove" else max(hi - lo, abs(lo), abs(hi))
        assert made.inner.plan().sizes[0] * cell == pytest.approx(due)
        one = Sensitivity.of_one(made.inner.plan().sizes[0])
        plain = integer_noise(dp.privacy.Pure(1), one)
        assert made.inner.integer_noise.deviation == pytest.approx(plain.deviation)


def test_planted_faults_are_found(silent, monkeypatch):
    """A unit without rows that counts the lower end, or a total that nothing clamps."""
    right = units.clamped_counts
    assert swings(dp.count, (2, 3))[1] == 3

    def missing(counts, most, ends):
        return np.clip(counts, *map(np.uint64, ends))

    x, ids = np.array([1.0, np.nan]), [1, 2]
    kw = {"ids": ids, "nan": "drop", "per_unit": (2, 3), "epsilon": 1}
    assert dp.count(x, **kw) == 2
    with monkeypatch.context() as patch:
        patch.setattr(count, "clamped_counts", missing)
        assert dp.count(x, **kw) == 4
    with monkeypatch.context() as patch:
        patch.setattr(count, "clamped_counts", lambda counts, most, ends: right(counts, most, None))
        assert swings(dp.count, (0, 2))[1] > 2


@pytest.mark.parametrize(
    ("kw", "rule"),
    [
        ({"ids": None}, "left out without ids"),
        ({"max_rows": 3}, "max_rows must be left out with per_unit"),
        ({"bounds": "auto"}, "bounds must be numbers, with per_unit"),
        ({"weights": X, "weight_bounds": (0, 1)}, "left out with weights"),
        ({"per_unit": (2, 1)}, "per_unit"),
        ({"per_unit": (1e-15, 1.1e-15)}, "farther apart"),
    ],
)
def test_bad_arguments(kw, rule):
    budget = dp.Budget(epsilon=2)
    with pytest.raises(ArgumentError, match=rule):
        own = {"bounds": (-2, 3), "ids": IDS, "per_unit": (0, 5), "budget": budget}
        dp.sum(X, **own | kw, epsilon=1)
    assert not budget.history
