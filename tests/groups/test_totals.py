"""Totals of answers by group: they are what the rows add up to, and their bars hold."""

import copy
import pickle

import numpy as np
import pytest

import dpfast as dp
from dpfast.groups import sums
from dpfast.rng import InsecureGenerator

ROWS, GROUPS, RUNS = 2000, 20, 120
TABLE = {
    "k": np.arange(ROWS) % GROUPS,
    "x": np.arange(ROWS) % 7 - 1.0,
    "who": np.arange(ROWS) // 2,
}
PEOPLE = {"ids": "who", "max_rows": 1}
STATISTICS = {
    "n": dp.stat.count(),
    "s": dp.stat.sum("x", bounds=(-1, 5)),
    "long": dp.stat.sum("x", bounds=(-1, 2.0**40)),
}
SHARED = {"n": dp.stat.count(), "people": dp.stat.count_distinct()}
TRUTH = {
    "n": ROWS, "people": ROWS, "s": TABLE["x"].sum(), "long": TABLE["x"].sum(),
}  # fmt: skip
CASES = {
    "laplace": (STATISTICS, {}, {"epsilon": 1}, 1.6),
    "staircase": (STATISTICS, {}, {"epsilon": 12}, 1.6),
    "gaussian": (STATISTICS, {}, {"rho": 0.1}, 1.6),
    "shared": (SHARED, PEOPLE, {"rho": 0.1}, 2.5),
}


def totals(name):
    """Of many runs, how far each total is off, and the bars."""
    statistics, people, loss, _ = CASES[name]
    groups = dp.group_by(TABLE, "k", keys=[*range(GROUPS)], **people)
    runs = [groups.agg(statistics, rng=InsecureGenerator(i), **loss) for i in range(RUNS)]
    bars = runs[0].totals()
    assert [key for key in bars if " " not in key] == list(statistics)
    off = {key: np.array([run[key].sum() for run in runs]) - TRUTH[key] for key in statistics}
    return off, {key: bars[f"{key} error"][0] for key in statistics}


@pytest.mark.parametrize("name", CASES)
def test_bars_of_totals_hold(name):
    """Seeds are fixed, so that nothing fails by chance: 95 of 100 are within."""
    off, bars = totals(name)
    for key, errors in off.items():
        assert np.mean(abs(errors) > bars[key]) <= 0.13  # 4 deviations more
        assert bars[key] <= CASES[name][3] * np.quantile(abs(errors), 0.95) + 1


def test_a_bar_of_one_group_is_too_short_for_all(monkeypatch):
    """Planted: the noise of a group, and that of groups as if none of it were common."""
    within = sums.total_within
    for name, fault in (
        ("gaussian", lambda noise, shift, groups, failure: within(noise, shift, 1, failure)),
        ("shared", lambda noise, shift, groups, failure: groups**0.5 * noise.within(failure)),
    ):
        monkeypatch.setattr(sums, "total_within", fault)
        with pytest.raises(AssertionError):
            test_bars_of_totals_hold(name)


def test_totals_are_the_sums_of_what_adds_up():
    given = {"bounds": (-1, 5)}
    more = {
        "mean": dp.stat.mean("x", **given),
        "q": dp.stat.median("x", **given),
        "cut": dp.stat.count(nonnegative=True),
        "ratio": dp.stat.ratio("x", other="who", bounds=[(0, 9), (0, 9)]),
        "bins": dp.stat.histogram("x", bins=2, **given),
    }
    groups = dp.group_by(TABLE, "k", keys=[0, 1], other_key=-1)
    answer = groups.agg(STATISTICS | more, epsilon=9)
    found = answer.totals()
    assert list(found) == ["n", "n error", "s", "s error", "long", "long error"]
    assert found["n"] == answer["n"].sum() and found.groups == 1
    for twin in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert twin.to_dict() == answer.to_dict() and twin.by == ["k"] and not twin.totals()
    assert not groups.top_k(1, epsilon=1).totals()


def test_totals_of_private_keys_are_of_those_shown():
    found = dp.group_by(TABLE, "k").count(epsilon=100, delta=1e-6)
    assert found.totals()["count"] == found["count"].sum() == ROWS


def test_totals_say_nothing_where_bars_hold_a_bias():
    people = {**PEOPLE, "max_groups": 2, "rows_limit": 3}
    answer = dp.group_by(TABLE, "k", keys=[0, 1], **people).count(epsilon=1)
    assert not answer.totals()
