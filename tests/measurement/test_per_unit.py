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

from ..support.refused import refused
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
    def by_group(x):
        return [due(x[k == KEYS], IDS[k == KEYS], ends) for k in "ab"]

    kw = {"per_unit": ends, "epsilon": 1, "neighbors": relation, "ids": IDS}
    assert dp.sum(X, bounds=(-2, 3), **kw) == pytest.approx(due(X, IDS, ends))
    both = dp.sum(np.stack([X, -X], axis=1), axis=0, bounds=[(-2, 3), (-3, 2)], **kw)
    assert both == pytest.approx([due(X, IDS, ends), due(-X, IDS, ends)])
    groups = dp.group_by({"k": KEYS, "x": X, "i": IDS}, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(-2, 3), per_unit=ends, epsilon=1)["sum"]
    assert found == pytest.approx(by_group(X), abs=1e-6)
    if ends[0] >= 0:
        ones = np.ones(60)
        assert dp.count(X, **kw) == due(ones, IDS, ends)
        assert dp.count_nonzero(X, **kw) == due(ones[X != 0], IDS[X != 0], ends)
        found = groups.agg({"n": dp.Count(per_unit=ends)}, epsilon=1)["n"]
        assert found.tolist() == by_group(ones)


def test_a_unit_without_a_number_counts_nothing(silent):
    x, ids = np.array([1.0, np.nan, np.nan]), [1, 2, None]
    assert dp.sum(x, bounds=(0, 9), ids=ids, per_unit=(5, 9), epsilon=1) == 5
    assert dp.count(x, ids=ids, nan="drop", per_unit=(5, 9), epsilon=1) == 5
    table = {"k": ["a"] * 3, "x": x, "i": ids}
    groups = dp.group_by(table, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(0, 9), per_unit=(5, 9), epsilon=1)["sum"]
    assert found == pytest.approx([5, 0], abs=1e-6)


def swings(call, ends, **kw):
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
    (lo, hi), kw = ends, {"bounds": (-4, 9)}
    alone, replaced = swings(dp.sum, ends, **kw)
    one = max(map(abs, ends))
    assert alone == one or ends == (-9, -4)
    for relation, far, due in zip(
        RELATIONS, (alone, replaced), (one, max(hi - lo, one)), strict=True
    ):
        made = quoted(dp.sum, X, epsilon=1, **kw, per_unit=ends, ids=IDS, neighbors=relation)
        (size,), cell = made.inner.plan().sizes, made.inner.columns[0].cells.grid
        assert size * cell >= far - 1e-9 and size * cell == pytest.approx(due)
        assert made.loss.epsilon == 1 and made.neighbors == relation
        plain = integer_noise(dp.privacy.Pure(1), Sensitivity.of_one(size))
        assert made.inner.integer_noise.deviation == pytest.approx(plain.deviation)


def test_planted_faults_are_found(silent, monkeypatch):
    """A unit without rows that counts the lower end, or a total that nothing clamps."""
    right = units.clamped_counts
    assert swings(dp.count, (2, 3))[1] == 3
    x, kw = np.array([1.0, np.nan]), {"ids": [1, 2], "nan": "drop", "per_unit": (2, 3)}
    assert dp.count(x, **kw, epsilon=1) == 2
    missing = lambda counts, most, ends: np.clip(counts, *map(np.uint64, ends))  # noqa: E731
    monkeypatch.setattr(count, "clamped_counts", missing)
    assert dp.count(x, **kw, epsilon=1) == 4
    monkeypatch.setattr(count, "clamped_counts", lambda counts, most, _: right(counts, most, None))
    assert swings(dp.count, (0, 2))[1] > 2


def test_bad_arguments():
    for kw, rule in (
        ({"ids": None}, "left out without ids"),
        ({"max_rows": 3}, "max_rows must be left out with per_unit"),
        ({"bounds": "auto"}, "bounds must be numbers, with per_unit"),
        ({"weights": X, "weight_bounds": (0, 1)}, "left out with weights"),
        ({"per_unit": (2, 1)}, "per_unit"),
        ({"per_unit": (1e-15, 1.1e-15)}, "farther apart"),
    ):
        own = {"data": X, "bounds": (-2, 3), "ids": IDS, "per_unit": (0, 5), "epsilon": 1}
        refused(dp.sum, rule, ArgumentError, **own | kw)
