"""Totals of answers by group: they are what the rows add up to, and their bars hold."""

import copy
import pickle

import numpy as np
import pytest

import dpfast as dp
from dpfast.extend import integer_noise
from dpfast.groups import sums
from dpfast.groups.lost import Lost
from dpfast.rng import InsecureGenerator

ROWS, GROUPS, RUNS, DAY = 2000, 20, 60, np.timedelta64(1, "D")
TABLE = {
    "k": np.arange(ROWS) % GROUPS,
    "x": np.arange(ROWS) % 7 - 1.0,
    "who": np.arange(ROWS) // 2,
    "days": (np.arange(ROWS) % 7).astype("m8[D]"),
    "twice": np.arange(ROWS) // 40 * 20 + np.arange(ROWS) % 20,
}
PEOPLE = {"ids": "who", "max_rows": 1}
#: Half of all rows are left out.
LOST = {"ids": "twice", "max_rows": 1, "max_groups": 1, "rows_limit": 2}
STATISTICS = {
    "n": dp.stat.count(),
    "s": dp.stat.sum("x", bounds=(-1, 5)),
    "long": dp.stat.sum("x", bounds=(-1, 2.0**40)),
}
BINS = {"bins": dp.stat.histogram("x", bins=[-1, 2, 6])}
SHARED = {"n": dp.stat.count(), "people": dp.stat.count_distinct()} | BINS
OTHERS = {"days": dp.stat.sum("days", bounds=(DAY * 0, DAY * 9))} | BINS
SUM = TABLE["x"].sum()
TRUTH = {
    "n": ROWS, "people": ROWS, "s": SUM, "long": SUM, "days": TABLE["days"].sum(),
    "bins -1": (TABLE["x"] < 2).sum(), "bins 2": (TABLE["x"] >= 2).sum(), "rows lost": ROWS / 2,
}  # fmt: skip
#: Statistics, bounds of people, a loss, and how often a bar is of the 95th percent of errors.
CASES = {
    "laplace": (STATISTICS, {}, {"epsilon": 1}, 1.5),
    "staircase": (STATISTICS, {}, {"epsilon": 12}, 1.5),
    "gaussian": (STATISTICS, {}, {"rho": 0.1}, 1.5),
    "others": (OTHERS, {}, {"epsilon": 1}, 1.5),
    "shared": (SHARED, PEOPLE, {"rho": 0.1}, 1.5),
    "shared laplace": (SHARED, PEOPLE, {"epsilon": 1}, 1.5),
    "lost": ({"n": dp.stat.count(), "s": STATISTICS["s"]}, LOST, {"epsilon": 1}, 6.0),
}


def totals(name):
    """Of many runs, how far each total is off, and the bars."""
    statistics, people, loss, _ = CASES[name]
    groups = dp.group_by(TABLE, "k", keys=[*range(GROUPS)], **people)
    runs = [groups.agg(statistics, rng=InsecureGenerator(i), **loss) for i in range(RUNS)]
    bars = runs[0].totals()
    assert [*bars] == [*runs[0]][1:] and "no totals" not in bars.note
    keys = [key for key in bars if "error" not in key]
    assert all(bars[key] == runs[0][key].sum() for key in keys)
    off = {key: np.array([run[key].sum() for run in runs]) - TRUTH[key] for key in keys}
    return off, {key: bars["bins error" if "bins" in key else f"{key} error"][0] for key in keys}


FULL = [pytest.param(name, marks=pytest.mark.full) for name in ("staircase", "shared laplace")]


@pytest.mark.parametrize("name", ["laplace", "gaussian", "others", "shared", "lost", *FULL])
def test_bars_of_totals_hold(name):
    """Seeds are fixed, so that nothing fails by chance: 95 of 100 are within."""
    off, bars = totals(name)
    for key, errors in off.items():
        assert np.mean(abs(errors) > bars[key]) <= 0.16  # 4 deviations more
        assert bars[key] <= CASES[name][3] * np.quantile(abs(errors), 0.95) + 1


def test_a_bar_of_one_group_is_too_short_for_all(monkeypatch):
    """Planted: the noise of a group, and of groups as if none were common or rows were lost."""
    within = sums.total_within
    for name, fault in (
        ("gaussian", lambda noise, shift, groups, failure: within(noise, shift, 1, failure)),
        ("shared", lambda noise, shift, groups, failure: groups**0.5 * noise.half_width(failure)),
    ):
        monkeypatch.setattr(sums, "total_within", fault)
        with pytest.raises(AssertionError):
            test_bars_of_totals_hold(name)
    monkeypatch.undo()
    monkeypatch.setattr(Lost, "widen", lambda *_: None)
    with pytest.raises(AssertionError):
        test_bars_of_totals_hold("lost")


def test_totals_are_the_sums_of_what_adds_up():
    given = {"bounds": (-1, 5)}
    more = {
        "mean": dp.stat.mean("x", **given),
        "q": dp.stat.median("x", **given),
        "cut": dp.stat.count(nonnegative=True),
        "ratio": dp.stat.ratio("x", other="who", bounds=[(0, 9), (0, 9)]),
        "bins": dp.stat.histogram("x", bins=2, nonnegative=True, **given),
    }
    groups = dp.group_by(TABLE, "k", keys=[0, 1], other_key=-1)
    answer = groups.agg(STATISTICS | more, epsilon=9)
    found = answer.totals()
    assert list(found) == ["n", "n error", "s", "s error", "long", "long error"]
    assert found["n"] == answer["n"].sum() and found.groups == 1
    assert found.note == (
        "no totals of 'mean', 'q', 'cut', 'ratio', 'bins': "
        "only counts and sums add up, where none is cut at 0"
    )
    for twin in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert twin.to_dict() == answer.to_dict() and twin.by == ["k"] and not twin.totals()
    assert not groups.top_k(1, epsilon=1).totals()


def test_totals_of_private_keys_are_of_those_shown():
    found = dp.group_by(TABLE, "k").count(epsilon=100, delta=1e-6)
    assert found.totals()["count"] == found["count"].sum() == ROWS


def test_the_noise_of_the_sum_of_few_numbers_is_counted_out():
    """The bar is the least h that the sum of all noise exceeds in 5 of 100 cases."""
    noise = integer_noise(dp.privacy.Pure(1))
    p = np.exp(-1.0)
    law = (1 - p) / (1 + p) * p ** abs(np.arange(-40.0, 41))
    for groups in (1, 2, 5):
        whole = law
        for _ in range(groups - 1):
            whole = np.convolve(whole, law)
        size = abs(np.arange(len(whole)) - len(whole) // 2)
        least = next(h for h in range(99) if whole[size > h].sum() <= 0.05)
        assert least <= sums.total_within(noise, 0, groups, 0.05) <= least + 1
