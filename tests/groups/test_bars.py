"""Error bars by group hold as often as they say, and shorter ones would not: of answers, of their
totals, of intervals, and of rows that bounding leaves out below a public limit."""

import copy
import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.extend import integer_noise, prepare
from dpfast.groups import sums
from dpfast.groups.lost import LOST, Lost
from dpfast.groups.step import Step
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

ALIKE, RUNS = 400, 5
#: With 5 standard deviations of what is seen.
MOST_OFTEN = 0.05 + 5 * math.sqrt(0.05 * 0.95 / ALIKE / RUNS)
B = {"bounds": (0, 100)}
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 30.0}, {"epsilon": 0.5, "delta": 1e-6}]
#: What a group of 20 rows may hold.
SHAPES = {
    "low": np.zeros(20),
    "few": np.repeat([0.0, 100.0], [18, 2]),
    "ends": np.repeat([0.0, 100.0], 10),
    "spread": np.linspace(0, 100, 20),
}
ONE = {
    "mean": (dp.stat.mean, {}, np.mean),
    "variance": (dp.stat.variance, {}, np.var),
    "variance with ddof": (dp.stat.variance, {"ddof": 1}, lambda x: np.var(x, ddof=1)),
    "std": (dp.stat.std, {}, np.std),
    "std with ddof": (dp.stat.std, {"ddof": 1}, lambda x: np.std(x, ddof=1)),
}


def alike(row, groups=ALIKE):
    data = {"k": np.repeat(np.arange(groups), len(row)), "x": np.tile(row, groups)}
    return dp.group_by(data, "k", keys=np.arange(groups))


@quick_rows(5)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_answers_are_within_their_bars_and_not_within_a_quarter_of_them(name, loss):
    make, more, of = ONE[name]
    far, short, before = [], [], []
    for shape, row in SHAPES.items():
        own, rng, asked = alike(row), InsecureGenerator(3), {"x": make("x", **B, **more)}
        public = dp.expected_error(own.agg, asked, **loss, rows=len(row)).half_width
        found = [own.agg(asked, **loss, rng=rng) for _ in range(RUNS)]
        off = np.abs(np.concatenate([one["x"] for one in found]) - of(row))
        bars = np.concatenate([one["x error"] for one in found])
        assert np.isfinite(bars).all() and (bars >= 0).all(), shape
        far.append(np.mean(off > bars * (1 + 1e-9)))
        short.append(np.mean(off > bars / 4))
        before.append(np.mean(off > public * (1 + 1e-9)))
    assert max(far) <= MOST_OFTEN and max(before) <= MOST_OFTEN
    assert max(short) > MOST_OFTEN  # on some data, a bar that is too short does not pass


def test_a_bar_is_never_longer_than_the_answer_can_be_off():
    own = alike(np.zeros(0), 20)
    for name, most in ("mean", 100), ("variance", 2500), ("std", 50):
        bars = getattr(own, name)("x", **B, epsilon=0.1, rng=InsecureGenerator(1))[f"{name} error"]
        assert (bars <= most * (1 + 1e-9)).all()
        assert (bars >= most / 2 * (1 - 1e-9)).any()  # nothing is known of some of them
    one = alike(np.full(5, 7.0), 3).mean("x", bounds=(7, 7), epsilon=1)
    assert one["mean"].tolist() == [7, 7, 7] and one["mean error"].tolist() == [0, 0, 0]


def test_bars_of_several_statistics_are_by_name():
    own = alike(SHAPES["spread"], 3)
    asked = {
        "n": dp.stat.count(),
        "x": dp.stat.mean("x", **B),
        "q": dp.stat.median("x", **B),
        "w": dp.stat.mean("x", **B, weights="k", weight_bounds=(0, 2)),
    }
    found = dp.expected_error(own.agg, asked, epsilon=1)
    assert list(found.half_width) == list(found.ranks) == list(asked)
    assert found.half_width["n"] > 0 and found.half_width["x"] is found.half_width["w"] is None
    assert found.ranks["q"] > 0 and "rows of each group" in found.note
    told = dp.expected_error(own.agg, asked, epsilon=1, rows=20).half_width
    assert told["x"] > 0 and told["w"] is None
    answer = own.agg(asked, epsilon=1)
    assert {f"{name} error" for name in asked} & set(answer) == {"n error", "x error", "w error"}
    assert answer["n error"][0] == found.half_width["n"]


# ---- Totals of all groups. ----

ROWS, GROUPS, DAY = 2000, 20, np.timedelta64(1, "D")
TABLE = {
    "k": np.arange(ROWS) % GROUPS,
    "x": np.arange(ROWS) % 7 - 1.0,
    "who": np.arange(ROWS) // 2,
    "days": (np.arange(ROWS) % 7).astype("m8[D]"),
    "twice": np.arange(ROWS) // 40 * 20 + np.arange(ROWS) % 20,
}
PEOPLE = {"ids": "who", "max_rows": 1}
#: Half of all rows are left out.
HALF = {"ids": "twice", "max_rows": 1, "max_groups": 1, "rows_limit": 2}
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
    "lost": ({"n": dp.stat.count(), "s": STATISTICS["s"]}, HALF, {"epsilon": 1}, 6.0),
}


@quick_rows(4)
@pytest.mark.parametrize("name", CASES)
def test_bars_of_totals_hold(name):
    statistics, people, loss, most = CASES[name]
    groups = dp.group_by(TABLE, "k", keys=[*range(GROUPS)], **people)
    runs = [groups.agg(statistics, rng=InsecureGenerator(i), **loss) for i in range(60)]
    bars = runs[0].totals()
    assert [*bars] == [*runs[0]][1:] and "no totals" not in bars.note
    for key in [key for key in bars if "error" not in key]:
        assert bars[key] == runs[0][key].sum()
        bar = bars["bins error" if "bins" in key else f"{key} error"][0]
        errors = abs(np.array([run[key].sum() for run in runs]) - TRUTH[key])
        assert np.mean(errors > bar) <= 0.16  # 4 deviations more
        assert bar <= most * np.quantile(errors, 0.95) + 1


#: The noise of a group, and of groups as if none were common or rows were lost.
WITHIN = sums.total_within
FAULTS = {
    "gaussian": (sums, "total_within", lambda noise, shift, _, p: WITHIN(noise, shift, 1, p)),
    "shared": (sums, "total_within", lambda noise, _, n, p: n**0.5 * noise.half_width(p)),
    "lost": (Lost, "widen", lambda *_: None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bar_of_one_group_is_too_short_for_all(name, monkeypatch):
    monkeypatch.setattr(*FAULTS[name])
    with pytest.raises(AssertionError):
        test_bars_of_totals_hold(name)


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
    assert found.note.startswith("no totals of 'mean', 'q', 'cut', 'ratio', 'bins': ")
    for twin in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert twin.to_dict() == answer.to_dict() and twin.by == ["k"] and not twin.totals()
    assert not groups.top_k(1, epsilon=1).totals()
    found = dp.group_by(TABLE, "k").count(epsilon=100, delta=1e-6)
    assert found.totals()["count"] == found["count"].sum() == ROWS


def test_the_noise_of_the_sum_of_few_numbers_is_counted_out():
    noise, p = integer_noise(Pure(1)), np.exp(-1.0)
    law = whole = (1 - p) / (1 + p) * p ** abs(np.arange(-40.0, 41))
    for groups in range(1, 6):
        size = abs(np.arange(len(whole)) - len(whole) // 2)
        least = next(h for h in range(99) if whole[size > h].sum() <= 0.05)
        assert least <= sums.total_within(noise, 0, groups, 0.05) <= least + 1
        whole = np.convolve(whole, law)


# ---- A quantile of each group between two ends that hold it. ----

#: Groups of very different sizes.
SIZES = [3, 100, 1000, 4000] * 25
KEYS = list(range(len(SIZES)))
SIZED = {
    "key": np.repeat(KEYS, SIZES),
    "x": np.random.default_rng(3).normal(50, 10, sum(SIZES)),
    "who": np.arange(sum(SIZES)) // 2,
}
TWO = {"ids": "who", "max_groups": 2, "max_rows": 2}


def sized(data=SIZED, **more):
    return dp.group_by(data, "key", keys=KEYS, **more)


def ends_of(found, name="quantile_interval"):
    return [np.asarray(found[f"{name}{end}"]) for end in (" low", "", " high")]


def test_each_group_has_an_interval_of_its_own():
    budget, rng = dp.Budget(epsilon=1), InsecureGenerator(2)
    found = sized().quantile_interval("x", 0.5, budget=budget, epsilon=1, rng=None, **B)
    assert list(found) == ["key", *(f"quantile_interval{end}" for end in (" low", "", " high"))]
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    low, middle, high = ends_of(sized().quantile_interval("x", 0.5, epsilon=1, rng=rng, **B))
    assert ((low <= middle) & (middle <= high)).all()
    lengths = np.median((high - low).reshape(-1, 4), axis=0)
    assert lengths[0] == 100 and (lengths[1:] < [25, 2, 0.5]).all()


@quick_rows(2)
@pytest.mark.parametrize(
    "of, asked",
    [
        ({}, {"epsilon": 1.0}),
        ({}, {"epsilon": 1.0, "granularity": 1, "q": 0.9}),
        (TWO, {"epsilon": 2.0}),
        ({"neighbors": "replace"}, {"rho": 0.2}),
    ],
    ids=["rows", "lattice", "people", "rho"],
)
def test_intervals_hold(of, asked):
    """Of groups of each size; planted: ends that are an eighth as far away."""
    x, asked = SIZED["x"], {"q": 0.5, **asked}
    x = np.round(x) if "granularity" in asked else x
    true = [np.quantile(own, asked["q"]) for own in np.split(x, np.cumsum(SIZES)[:-1])]
    rng, shares = InsecureGenerator(6), {1: [], 1 / 8: []}
    for _ in range(2):
        found = sized({**SIZED, "x": x}, **of).quantile_interval("x", rng=rng, **B, **asked)
        low, middle, high = ends_of(found)
        for part, held in shares.items():
            ends = (middle + (end - middle) * part for end in (low, high))
            held.append(((next(ends) <= true) & (true <= next(ends))).reshape(-1, 4))
    whole, part = (np.mean(held, axis=(0, 1)) for held in shares.values())
    least = 0.95 - 5.3 * math.sqrt(0.95 * 0.05 / (2 * 25))
    assert (whole >= least).all() and (part[1:] < least).any()


def test_one_group_has_the_draws_of_the_plain_function():
    """The same distances for the same rows, of which a group has no others."""
    plain = dp.QuantileInterval(q=0.3, **B).measure(epsilon=1, dtype="int64")
    groups = dp.group_by({"key": np.zeros(9, int), "x": np.arange(9)}, "key", keys=[0])
    mechanism = prepare(groups.quantile_interval, "x", 0.3, epsilon=1, **B).mechanism
    mechanism = mechanism.statistics["quantile_interval"]
    own, (other,) = mechanism.widths(*mechanism.qs), plain.inner.inner.widths
    assert (own.rate, own.margin, own.reach) == (other.rate, other.margin, other.reach)
    assert own.steps.tolist() == other.steps.tolist()


def test_ends_are_multiples_where_rows_are():
    of = dp.QuantileInterval("age", 0.5, **B), dp.QuantileInterval("x", 0.5, granularity=1, **B)
    groups = sized({**SIZED, "age": SIZED["x"].astype(int)})
    found = groups.agg({"age": of[0], "x": of[1]}, epsilon=20, rng=InsecureGenerator(3))
    ages, x = np.array(ends_of(found, "age"))[:, 3::4], np.array(ends_of(found, "x"))[:, 3::4]
    assert (ages == ages.round()).all() and np.median(ages[2] - ages[0]) <= 1
    assert (x[::2] % 1 == 0.5).all() and (x[1] % 1 == 0).all() and np.median(x[2] - x[0]) == 1


# ---- Rows that bounding leaves out, below a public limit. ----

MOST, LIMIT, AB = 2, 5, ["a", "b"]
WHO = {"ids": "who", "max_rows": MOST, "rows_limit": LIMIT}


def grouped(counts, **more):
    """Rows of people by their numbers in each group: a list of pairs."""
    each = [(who, k) for who, pair in enumerate(counts) for k in (0, 1) for _ in range(pair[k])]
    who, k = np.array(each, int).T
    data = {"who": who, "k": np.array(AB)[k], "x": np.full(len(k), 3.0)}
    data["w"] = np.full(len(k), 3, "m8[D]")
    return dp.group_by(data, "k", keys=AB, **WHO | more)


def by_definition(counts):
    return [sum(min(pair[g], LIMIT) - min(pair[g], MOST) for pair in counts) for g in (0, 1)]


def test_what_is_lost_is_what_the_definition_says(monkeypatch):
    monkeypatch.setattr(IntegerNoise, "draw", lambda self, size, generator: np.zeros(size, int))
    rng = np.random.default_rng(1)
    for _ in range(10):
        counts = rng.integers(0, 9, (6, 2)).tolist()
        answer = grouped(counts).count(epsilon=1, rng=InsecureGenerator(1))
        assert answer[LOST].tolist() == by_definition(counts)
        due = [sum(min(pair[g], MOST) for pair in counts) for g in (0, 1)]
        assert answer["count"].tolist() == due
        assert str(LIMIT) in answer.note and answer.note in repr(answer)


def test_no_person_moves_more_than_the_sensitivity():
    """All neighbors: a person with any numbers of rows comes, or is replaced by another."""
    pairs = list(product(range(8), repeat=2))
    lost = {pair: np.array(by_definition([pair])) for pair in pairs}
    for neighbors, moved in (
        ("add-remove", lost.values()),
        ("replace", (lost[a] - lost[b] for a, b in product(pairs, repeat=2))),
    ):
        own = Lost(step=Step(neighbors, 2, 1, 2, of_units=True), loss=Pure(1), most=MOST, limit=5)
        norm = own.sensitivity
        sizes = [(np.abs(m).sum(), (m**2).sum(), np.abs(m).max()) for m in moved]
        largest = tuple(map(max, zip(*sizes, strict=True)))
        assert largest == (norm.l1, norm.l2_squared, norm.linf)
        assert replace(own, limit=4).sensitivity.l1 < norm.l1  # the control: a smaller limit


def test_the_loss_is_that_of_all_and_a_quarter_is_for_rows_lost():
    groups, budget = grouped([(1, 2)]), dp.Budget(epsilon=1)
    groups.count(epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 0
    wide = dp.expected_error(groups.count, epsilon=1).half_width
    plain = dp.expected_error(grouped([(1, 2)], rows_limit=None).count, epsilon=0.75).half_width
    assert wide["count"] == pytest.approx(plain, abs=1)
    asked = {"statistics": {"n": dp.stat.count()}, "weights": {LOST: 9}, "epsilon": 1}
    few = dp.expected_error(groups.agg, **asked).half_width
    assert few["n"] > 5 * wide["count"] and few[LOST] < wide[LOST]


NO_LIMIT = {
    "rows_limit must be greater than max_rows": [{"rows_limit": 2}, {"max_rows": None}],
    "rows_limit must be": [{"rows_limit": 0}, {"rows_limit": "many"}],
    "left out without ids": [{"ids": None, "max_rows": None}],
    "left out if keys are private": [{"keys": None, "max_groups": 1}],
    "left out if max_groups is 'auto'": [{"max_groups": "auto"}],
}


def test_a_limit_that_makes_no_sense_or_without_a_bar_is_refused_before_the_spend():
    for words, given in NO_LIMIT.items():
        for more in given:
            with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
                dp.group_by({"who": [1, 2], "k": AB}, "k", **{"keys": AB, **WHO} | more)
    groups, paid = grouped([(1, 1)]), {"epsilon": 1, "budget": dp.Budget(epsilon=1)}
    words = "rows_limit must be left out, because only error bars"
    for call, match in (
        (lambda: groups.mean("x", bounds=(0, 4), **paid), words),
        (lambda: groups.top_k(1, **paid), words),
        (lambda: groups.count(per_unit=(0, 3), **paid), words),
        (lambda: groups.agg({LOST: dp.stat.count()}, **paid), "must be named differently"),
    ):
        with pytest.raises(ArgumentError, match=match):
            call()
    assert not paid["budget"].history


def test_bars_of_durations_and_bins_hold_rows_lost_too():
    counts = [(4, 0), (5, 1), (1, 5)] * 30
    asked = {"d": dp.stat.sum("w", bounds=(0 * DAY, 3 * DAY))}
    answer = grouped(counts).agg(asked | {"h": dp.stat.histogram("x", bins=[0, 4])}, epsilon=300)
    lost = np.array(by_definition(counts))
    assert (answer["d error"] / DAY >= 3 * lost).all() and (answer["h error"] >= lost).all()
    assert answer.totals()["d error"][0] / DAY >= 3 * lost.sum()
