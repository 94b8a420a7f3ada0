"""Sums of people by group: what counts of each, by definition and by brute force."""

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.shared import SharedNoise
from dpfast.noise.stairs import JointStaircase
from dpfast.summaries import units

from ..reference.summaries import units as twin
from ..support.pairwise import quick_rows

RNG = np.random.default_rng(34)
N = 400
TABLE = {
    "who": RNG.integers(0, 25, N),
    "shop": np.array(["x", "y", "z"])[RNG.integers(0, 3, N)],
    "pay": RNG.integers(-2, 7, N) / 2,
    "tip": RNG.integers(0, 5, N) / 4,
}
TABLE["pay"][:9] = np.nan
KEYS = ["x", "y", "z"]
BOUNDS = {"bounds": (0, 3)}


@pytest.fixture
def silent(monkeypatch):
    """No noise."""
    for noise in (IntegerNoise, SharedNoise):
        monkeypatch.setattr(noise, "draw", lambda self, size, generator: np.zeros(size, np.int64))

    def none(self, size, generator):
        return np.zeros_like(right(self, size, generator))

    right = JointStaircase.draws
    monkeypatch.setattr(JointStaircase, "draws", none)


def due(shop, most, *columns):
    is_there = (TABLE["shop"] == shop) & ~np.isnan(sum(columns))
    found = np.zeros(1 + len(columns))
    for who in set(TABLE["who"][is_there].tolist()):
        own = is_there & (TABLE["who"] == who)
        part = min(own.sum(), most) / own.sum()
        found += [own.sum() * part, *(column[own].sum() * part for column in columns)]
    return found


@quick_rows(1)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}])
def test_groups_are_sums_of_what_counts_of_each_person(silent, loss):
    x, y = np.clip(TABLE["pay"], 0, 3), TABLE["tip"]
    for most in (1, 3, N):
        found = dp.group_by(TABLE, "shop", keys=KEYS, ids="who", max_rows=most).agg(
            {
                "rows": dp.stat.count(),
                "present": dp.Count(column="pay", nan="drop"),
                "nonzero": dp.CountNonzero(column="pay", nan="drop"),
                "people": dp.stat.count_distinct(),
                "sum": dp.stat.sum("pay", **BOUNDS),
                "mean": dp.stat.mean("pay", **BOUNDS),
                "variance": dp.stat.variance("pay", **BOUNDS),
                "half": dp.Proportion(column="pay", equal=1.5),
                "weighed": dp.Sum(column="pay", weights="tip", weight_bounds=(0, 1), **BOUNDS),
                "weighed mean": dp.Mean(
                    column="pay", weights="tip", weight_bounds=(0, 1), **BOUNDS
                ),
                "ratio": dp.Ratio(column="pay", other="tip", bounds=[(0, 3), (0, 1)]),
                "correlation": dp.Correlation(column="pay", other="tip", bounds=[(0, 3), (0, 1)]),
            },
            **loss,
        )
        nonzero = np.where(TABLE["pay"] == 0, np.nan, TABLE["pay"])
        for i, shop in enumerate(KEYS):
            n, total, squares = due(shop, most, x, x * x)
            assert found["rows"][i] == due(shop, most, y)[0]
            assert (found["present"][i], found["nonzero"][i]) == (n, due(shop, most, nonzero)[0])
            assert found["people"][i] == len(set(TABLE["who"][TABLE["shop"] == shop]))
            near = {"abs": 1e-4, "rel": 1e-4}
            assert found["sum"][i] == pytest.approx(total, **near)
            assert found["mean"][i] == pytest.approx(total / n, **near)
            assert found["variance"][i] == pytest.approx(squares / n - (total / n) ** 2, **near)
            whole, half = due(shop, most, (TABLE["pay"] == 1.5) * 1.0)
            assert found["half"][i] == pytest.approx(half / whole, **near)
            _, product_, weights = due(shop, most, x * y, np.where(np.isnan(x), np.nan, y))
            assert found["weighed"][i] == pytest.approx(product_, **near)
            assert found["weighed mean"][i] == pytest.approx(product_ / weights, **near)
            if "rho" not in loss and most == N:
                own = (TABLE["shop"] == shop) & ~np.isnan(x)
                r = np.corrcoef(x[own], y[own])[0, 1]
                assert found["correlation"][i] == pytest.approx(r, abs=1e-3)


def test_integers_of_two_words():
    numbers = [0, 1, -1, 2**62, -(2**62), 2**63, -(2**63), 2**64 + 5, -(2**100) + 3, 2**120]
    raw = b"".join(number.to_bytes(16, "little", signed=True) for number in numbers)
    words = np.frombuffer(raw, np.int64).reshape(-1, 2)
    for shift in (0, 1, 7, 63, 64, 65, 100):
        due = [min(max(number >> shift, -(2**62)), 2**62) for number in numbers]
        assert units.shifted(words, shift).tolist() == due
    room = words.copy()
    units.add_wide(room, words[::-1].copy())
    both = [a + b for a, b in zip(numbers, numbers[::-1], strict=True)]
    assert [int.from_bytes(one.tobytes(), "little", signed=True) for one in room] == both


def test_features_by_group_are_their_twin():
    room = np.zeros((40, 4), np.uint64)
    room[:, 0], room[:, 1] = RNG.integers(0, 2**50, 40), RNG.integers(0, 9, 40)
    room[:, 2:] = RNG.integers(0, 2**40, (40, 2))
    codes = RNG.integers(-1, 3, 40).astype(np.int32)
    for factors in ((1, 0, 0), (-5, 3, 2**40), (0, -1, 7)):
        words = units.by_group(room, 2, factors, True, codes, 3)
        for group in range(3):

            def feature(own, factors=factors):
                return [sum(a * b for a, b in zip(factors, own, strict=True))]

            found = int.from_bytes(words[group].tobytes(), "little", signed=True)
            assert [found] == twin.bounded(room[codes == group], 2, feature, True)
        assert not words[3].any()
