"""Error bars by group hold as often as they say, and shorter ones would not."""

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

GROUPS, RUNS = 400, 5
#: With 5 standard deviations of what is seen.
LIMIT = 0.05 + 5 * math.sqrt(0.05 * 0.95 / GROUPS / RUNS)
BOUNDS = {"bounds": (0, 100)}
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 30.0}, {"epsilon": 0.5, "delta": 1e-6}]
#: What a group of 20 rows may hold.
SHAPES = {
    "low": np.zeros(20),
    "few": np.repeat([0.0, 100.0], [18, 2]),
    "ends": np.repeat([0.0, 100.0], 10),
    "spread": np.linspace(0, 100, 20),
}
STATISTICS = {
    "mean": (dp.stat.mean, {}, np.mean),
    "variance": (dp.stat.variance, {}, np.var),
    "variance with ddof": (dp.stat.variance, {"ddof": 1}, lambda x: np.var(x, ddof=1)),
    "std": (dp.stat.std, {}, np.std),
    "std with ddof": (dp.stat.std, {"ddof": 1}, lambda x: np.std(x, ddof=1)),
}


def grouped(row, groups=GROUPS):
    table = {"k": np.repeat(np.arange(groups), len(row)), "x": np.tile(row, groups)}
    return dp.group_by(table, "k", keys=np.arange(groups))


@quick_rows(6)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", STATISTICS)
def test_answers_are_within_their_bars_and_not_within_half_of_them(name, loss):
    make, more, of = STATISTICS[name]
    far, short, before = [], [], []
    for shape, row in SHAPES.items():
        own, truth, rng = grouped(row), of(row), InsecureGenerator(3)
        asked = {"x": make("x", **BOUNDS, **more)}
        public = dp.expected_error(own.agg, asked, **loss, rows=len(row)).half_width
        found = [own.agg(asked, **loss, rng=rng) for _ in range(RUNS)]
        off = np.abs(np.concatenate([one["x"] for one in found]) - truth)
        bars = np.concatenate([one["x error"] for one in found])
        assert np.isfinite(bars).all() and (bars >= 0).all(), shape
        far.append(np.mean(off > bars * (1 + 1e-9)))
        short.append(np.mean(off > bars / 4))
        before.append(np.mean(off > public * (1 + 1e-9)))
    assert max(far) <= LIMIT and max(before) <= LIMIT
    assert max(short) > LIMIT  # on some data, a bar that is too short does not pass


def test_a_bar_is_never_longer_than_the_answer_can_be_off():
    own = grouped(np.zeros(0), 20)
    for name, most in ("mean", 100), ("variance", 2500), ("std", 50):
        answer = getattr(own, name)("x", **BOUNDS, epsilon=0.1, rng=InsecureGenerator(1))
        bars = answer[f"{name} error"]
        assert (bars <= most * (1 + 1e-9)).all()
        assert (bars >= most / 2 * (1 - 1e-9)).any()  # nothing is known of some of them
    one = grouped(np.full(5, 7.0), 3).mean("x", bounds=(7, 7), epsilon=1)
    assert one["mean"].tolist() == [7, 7, 7] and one["mean error"].tolist() == [0, 0, 0]


def test_bars_of_several_statistics_are_by_name():
    own = grouped(SHAPES["spread"], 3)
    asked = {
        "n": dp.stat.count(),
        "x": dp.stat.mean("x", **BOUNDS),
        "q": dp.stat.median("x", **BOUNDS),
        "w": dp.stat.mean("x", **BOUNDS, weights="k", weight_bounds=(0, 2)),
    }
    found = dp.expected_error(own.agg, asked, epsilon=1)
    assert list(found.half_width) == list(found.ranks) == list(asked)
    assert found.half_width["n"] > 0 and found.half_width["x"] is found.half_width["w"] is None
    assert found.ranks["q"] > 0 and "rows of each group" in found.note
    told = dp.expected_error(own.agg, asked, epsilon=1, rows=20)
    assert told.half_width["x"] > 0 and told.half_width["w"] is None
    answer = own.agg(asked, epsilon=1)
    assert {f"{name} error" for name in asked} & set(answer) == {"n error", "x error", "w error"}
    assert answer["n error"][0] == found.half_width["n"]
