"""Private bounds: exact counts, the law by its definition, its loss over all neighbors."""

import itertools
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast._kernels.statistics import MAGNITUDES, magnitudes
from dpfast.measurement import outer_bounds, tails
from dpfast.measurement.automatic_bounds import SHARE
from dpfast.rng import InsecureGenerator

from ..reference.statistics import bounds as twin
from ..support.pairwise import every_value, quick_rows
from ..support.views import quoted

SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-40, 2.0**380, 1.7e308, -1.7e308]
WHAT_IS_NO_NUMBER = [np.inf, -np.inf, np.nan]
KINDS = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


def rows_of(kind, size):
    random = np.random.default_rng(size)
    if kind[0] == "f":
        rows = random.lognormal(0, 9, size) * random.choice([-1, 1], size)
        rows[: len(SPECIAL + WHAT_IS_NO_NUMBER)] = (SPECIAL + WHAT_IS_NO_NUMBER)[:size]
        # A NaN that an infinity differs from in its last bits only.
        if kind == "f8" and size > 20:
            rows[20] = np.array([0x7FF0000000000001], np.uint64).view(np.float64)[0]
    else:
        limits = np.iinfo(kind)
        rows = random.integers(limits.min, limits.max, size, kind, endpoint=True)
    with np.errstate(over="ignore"):
        return rows.astype(kind)


@every_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 1_500])
def test_the_kernel_counts_as_its_twin(kind, size):
    rows = rows_of(kind, size)
    counts = np.zeros(MAGNITUDES, np.int64)
    counts[0x7FF0] = 3  # what was counted before is kept
    missing = magnitudes(rows, counts)
    cells = [twin.cell(float(x)) for x in rows]
    expected = np.bincount([k for k in cells if k is not None], minlength=MAGNITUDES)
    expected[0x7FF0] += 3
    assert missing == cells.count(None)
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("kind", ["f8", "f4", "i2"])
def test_many_rows_are_counted_in_several_tables(kind):
    rows = np.tile(rows_of(kind, 1_501), 200)
    counts, single = np.zeros(MAGNITUDES, np.int64), np.zeros(MAGNITUDES, np.int64)
    assert magnitudes(rows, counts) == 200 * magnitudes(rows[:1_501], single)
    assert np.array_equal(counts, 200 * single)


def test_tails_are_counts_of_rows():
    rows = rows_of("f8", 60)
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    here = [x for x in rows.tolist() if x == x]
    assert np.array_equal(tails.NUMBERS, twin.NUMBERS)
    assert np.array_equal(tails.beyond(summary, above=True), twin.above(here))
    assert np.array_equal(tails.beyond(summary, above=False), twin.above([-x for x in here])[::-1])
    assert tails.rows(summary) == len(here)
    assert summary[tails.MISSING] == 60 - len(here)


DATA = {
    "none": [],
    "one": [3.0],
    "mixed": [-2.5] * 30 + [0.0] * 5 + list(np.linspace(0.1, 90, 200)),
    "two cells": [1.0] * 40 + [1.07] * 40,
    "negative": list(np.linspace(-900, -30, 100)),
}


@every_value
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("share", "c"), [(0.0, 0.25), (0.25, 3.0)])
def test_the_sampler_has_the_weights_of_the_definition(name, share, c):
    rows = np.array(DATA[name], np.float64)
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    both = outer_bounds.sides(summary, Fraction(share), c)
    for side, expected in zip(both, twin.both_ends(rows.tolist(), share, c), strict=True):
        places = np.unique(np.r_[np.argsort(expected)[:40], np.arange(0, len(expected), 500)])
        exact = np.array([float(side.exact(i)) for i in places.tolist()])
        assert np.allclose(exact, expected[places], rtol=1e-12)
        assert np.all(np.abs(side.about - expected) <= side.slack)


#: Those of columns of tables, by name: beyond 1 they fall by a factor of e^2 and of e^4 an octave.
OTHERS = {"any size": (1 / 256, 1 / 8, 640), "about 1": (1 / 256, 1 / 2, 640)}


@quick_rows(1)
@pytest.mark.parametrize("name", OTHERS)
def test_other_priors_are_as_defined_and_cost_the_same(name, monkeypatch):
    weights = twin.prior(*OTHERS[name])
    assert outer_bounds.PRIORS[name].tolist() == weights.tolist()
    monkeypatch.setattr(twin, "prior", lambda: weights)
    rows = np.array(DATA["mixed"])
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    both = outer_bounds.sides(summary, Fraction(0), 0.25, outer_bounds.PRIORS[name])
    for side, expected in zip(both, twin.both_ends(rows.tolist(), 0, 0.25), strict=True):
        assert np.all(np.abs(side.about - expected) <= side.slack)
    pairs = [*neighbors(0), *((rows, [*rows, more]) for rows, more in MANY)]
    assert worst(pairs, 0.0, 1.0) <= 1 + 1e-9
    assert worst(pairs, 0.0, 1.0, apart=None) > 1.05  # the planted fault is found here, too


def test_counts_of_numbers_are_those_of_rows():
    numbers, counts = np.array([-3.0, -0.0, 2.0**-50, 1.5, 1e300]), np.array([2, 1, 0, 5, 3])
    rows = tails.of_chunk(tails.Chunk(np.repeat(numbers, counts), 0))
    assert tails.of_counts(numbers, counts).tolist() == rows.tolist()


def far_off(rows, share, c, size, planted=0.0):
    """How many standard deviations the worst of the likely answers is off the definition."""
    summary = tails.of_chunk(tails.Chunk(np.array(rows, np.float64), 0))
    stream = InsecureGenerator(4).stream()
    found = outer_bounds.draw(summary, Fraction(share), c, stream, size)
    assert np.all(found[:, 0] < found[:, 1])
    negated = [-x for x in rows]
    worst = 0.0
    for mine, given in ((found[:, 1], rows), (len(twin.NUMBERS) - 1 - found[:, 0], negated)):
        expected = twin.marginal(given, share, c + planted) * size
        seen = np.bincount(mine, minlength=len(expected))
        octaves = np.arange(0, len(expected), 16)  # where one number is hardly likelier than others
        for parts in (np.arange(len(expected)), octaves):
            here, due = np.add.reduceat(seen, parts), np.add.reduceat(expected, parts)
            off = (np.abs(here - due) / np.sqrt(due + (due == 0)))[due > 30]
            worst = max(worst, float(off.max(initial=0)))
    return worst


LAWS = {
    "spread": ([5.0] * 30 + [5.5] * 3 + [6.0] * 2, 0.0, 1.0),
    "one end is sure, and the other one is not": (list(np.linspace(-900, -30, 100)), 0.25, 1.0),
}


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", LAWS)
def test_draws_have_the_law_of_the_definition(name):
    assert far_off(*LAWS[name], 4_000) < 5


@pytest.mark.full
def test_draws_at_another_rate_are_caught():
    assert far_off(*LAWS["spread"], 4_000, planted=-0.4) > 5


VALUES = [-3.0, 2.0**-50, 1.0, 1.03, 1.07, 5.0]


def neighbors(most):
    """Rows of a few values, and the same with one more."""
    for size in range(most + 1):
        for rows in itertools.combinations_with_replacement(VALUES, size):
            for value in VALUES:
                yield list(rows), [*rows, value]


MANY = [
    ([1.0] * 9 + [1.07] * 9, 1.07),
    ([1.0] * 9 + [1.07] * 9, 1.03),
    ([1.0] * 7 + [1.07] * 30 + [1.13] * 7, 1.07),
    ([-3.0] * 6 + [5.0] * 6, 1.0),
    ([-3.0] * 20 + [5.0] * 20, 5.0),
    ([1.0] * 100, 5.0),
    ([1.0] * 100, -1.0),
]


def worst(pairs, share, c, apart=1):
    return max(twin.loss(a, b, share, c, apart) for a, b in pairs) / c


@quick_rows(1)
@pytest.mark.parametrize(("share", "c"), [(0.0, 1.0), (0.25, 4.0)])
def test_no_neighbors_differ_by_more_than_the_loss(share, c):
    pairs = [*neighbors(0), *((rows, [*rows, more]) for rows, more in MANY)]
    assert worst(pairs, share, c) <= 1 + 1e-9


@pytest.mark.full
@pytest.mark.parametrize(("share", "c"), [(0.0, 0.3), (0.0, 1.0), (0.0, 6.0), (0.25, 4.0)])
def test_no_neighbors_of_many_differ_by_more_than_the_loss(share, c):
    assert worst(neighbors(3), share, c) <= 1 + 1e-9


def test_ends_that_do_not_know_of_each_other_would_cost_more():
    """The planted fault: two draws that do not know of each other, for the loss of one."""
    pairs = [(rows, [*rows, more]) for rows, more in MANY]
    assert worst(pairs, 0.0, 1.0, apart=None) > 1.05


def test_no_data_take_many_attempts():
    random = np.random.default_rng(3)
    stream = InsecureGenerator(4).stream()
    asked = 0
    attempts = outer_bounds.Draw.attempts

    def counted(self, size, level, stream):
        nonlocal asked
        asked += size
        return attempts(self, size, level, stream)

    cases = 0
    with patch.object(outer_bounds.Draw, "attempts", counted):
        for c in (2.0**-20, 0.05, 1.0, 2.0**10):
            for rows in (*DATA.values(), [2.0**300] * 50, random.normal(0, 1, 400)):
                for share in (Fraction(0), outer_bounds.MOST_SHARE):
                    summary = tails.of_chunk(tails.Chunk(np.array(rows, np.float64), 0))
                    lo, hi = outer_bounds.draw(summary, share, c, stream)
                    assert lo < hi
                    cases += 1
    assert asked < 4 * cases


def test_bounds_hold_nearly_all_rows():
    random = np.random.default_rng(5)
    generator = InsecureGenerator(6)
    for rows in (random.lognormal(10, 0.6, 20_000), random.normal(0, 1, 20_000)):
        for _ in range(20):
            lo, hi = dp.bounds(rows, epsilon=1, rng=generator)
            assert np.sum(rows < lo) < 40
            assert np.sum(rows > hi) < 40
            assert hi - lo < 30 * np.ptp(rows)


def test_a_share_of_the_rows_may_lie_beyond():
    rows = np.random.default_rng(5).lognormal(10, 0.6, 20_000)
    lo, hi = dp.bounds(rows, q=0.1, epsilon=1, rng=InsecureGenerator(6))
    assert hi < np.quantile(rows, 0.99)
    assert lo > np.quantile(rows, 0.005)


def test_missing_rows():
    rows = np.r_[np.linspace(10, 20, 5_000), np.full(5_000, np.nan)]
    generator = InsecureGenerator(6)
    with pytest.raises(dp.errors.DataError, match="NaN"):
        dp.bounds(rows, epsilon=1, nan="raise", rng=generator)
    assert dp.bounds(rows, epsilon=1, nan="lower", rng=generator)[1] < 50
    assert dp.bounds(rows, epsilon=1, nan=900, rng=generator)[1] > 800


def test_the_loss_is_that_of_one_draw():
    rows = [1.0, 2.0]
    budget = dp.Budget(rho=10)
    pure = quoted(dp.bounds, rows, epsilon=1, relation="add-remove")
    assert pure.rate == 1
    assert quoted(dp.bounds, rows, epsilon=1, relation="replace").rate == 0.5
    assert (
        budget.cost(dp.bounds, rows, epsilon=1) == dp.privacy.Draws(1, bounded_range=True).to_zcdp()
    )
    both = quoted(dp.bounds, np.ones((2, 2)), axis=0, epsilon=1, relation="add-remove")
    assert both.rate == 0.5
    assert both.loss.epsilon == 1


STATISTICS = {
    "mean": (dp.mean, {}),
    "sum": (dp.sum, {}),
    "variance": (dp.variance, {}),
    "median": (dp.median, {}),
    "quantiles": (dp.quantiles, {"qs": [0.2, 0.8]}),
    "iqr": (dp.iqr, {}),
    "trimmed mean": (dp.trimmed_mean, {}),
    "histogram": (dp.histogram, {"bins": 4}),
    "tree histogram": (dp.tree_histogram, {"bins": 4}),
}


@every_value
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("loss", [{"epsilon": 1.0}, {"rho": 0.3}])
def test_one_spend_pays_for_bounds_and_answer(name, loss):
    release, kw = STATISTICS[name]
    rows = np.random.default_rng(1).lognormal(3, 0.5, 2_000)
    budget = dp.Budget(**loss)
    release(rows, bounds="auto", budget=budget, **loss, **kw)
    (entry,) = budget.history
    assert not any(budget.remaining.values())
    assert "a quarter of it for bounds" in entry.what
    parts = dp.Budget(**loss).cost(release, rows, bounds="auto", parts=True, **loss, **kw)
    whole = privacy_sum(parts.values())
    assert next(iter(parts)) == "bounds"
    assert privacy_sum([parts["bounds"]]) == SHARE * whole
    assert whole == Fraction(str(next(iter(loss.values()))))


def privacy_sum(losses):
    return sum(getattr(loss, "rho", None) or loss.epsilon for loss in losses)


def test_nothing_costs_more_than_its_part():
    """The statistic that is made of drawn bounds is charged no more than what was left for it."""
    for release, kw in STATISTICS.values():
        for loss in ({"epsilon": 2.0}, {"rho": 0.3}):
            found = quoted(release, [1.0], bounds="auto", relation="add-remove", **loss, **kw)
            for pair in ((0.0, 1.0), (-3.0, 0.0), (2.0**379, 2.0**380)):
                inner = found.make(pair)
                assert privacy_sum([inner.loss]) <= privacy_sum([found.remaining_loss])
                assert inner.neighbors == found.neighbors


def test_no_statistic_refuses_bounds_that_can_be_drawn():
    numbers = tails.NUMBERS
    places = [0, 1, 6719, 6720, 6721, 6722, 9000, -2, -1]
    places = [p % len(numbers) for p in places]
    pairs = [(i, j) for i in places for j in places if i < j]
    pairs += [(i, i + 1) for i in range(0, len(numbers) - 1, 611)]
    for release, kw in STATISTICS.values():
        for relation in ("replace", "add-remove"):
            found = quoted(release, [1.0], bounds="auto", relation=relation, epsilon=1, **kw)
            for i, j in pairs:
                found.make(outer_bounds.widened(float(numbers[i]), float(numbers[j])))


def test_auto_refuses_what_it_does_not_know():
    budget = dp.Budget(epsilon=1)
    days = np.array(["2020-01-01"], "datetime64[D]")
    for call in (
        lambda: dp.median(days, bounds="auto", epsilon=1, budget=budget),
        lambda: dp.histogram([1.0], bins=[0, 1], bounds="auto", epsilon=1, budget=budget),
        lambda: dp.mean([1.0], bounds="automatic", epsilon=1, budget=budget),
        lambda: dp.covariance([[1.0, 2]], bounds="auto", epsilon=1, budget=budget),
        lambda: dp.bounds([1.0], q=0.3, epsilon=1, budget=budget),
        lambda: dp.bounds([1.0], epsilon=2.0**-1000, budget=budget),
    ):
        with pytest.raises((dp.errors.ArgumentError, dp.errors.ArgumentTypeError)):
            call()
    assert not budget.history


# ---- Covariances, durations and groups. ----

PAIRED = np.random.default_rng(2).multivariate_normal([10, 50], [[4, 3], [3, 25]], 20_000)


@pytest.mark.parametrize(
    "kw",
    [
        {"epsilon": 4},
        {"rho": 1, "neighbors": "replace"},
        {"epsilon": 8, "ids": np.arange(20_000) // 2, "max_rows": 2},
        {"epsilon": 4, "where": np.arange(20_000) % 2 > 0},
    ],
    ids=str,
)
def test_a_covariance_finds_bounds_of_each_column(kw):
    due = np.cov(PAIRED.T)
    frame = pd.DataFrame(PAIRED, columns=["a", "b"])
    for data in (PAIRED, frame):
        found = dp.covariance(data, bounds="auto", rng=InsecureGenerator(3), **kw)
        assert found.shape == (2, 2) and np.abs(found - due).max() < 3
    budget = dp.Budget(**{name: kw[name] for name in ("epsilon", "rho") if name in kw})
    dp.covariance(PAIRED, bounds="auto", budget=budget, **kw)
    assert len(budget.history) == 1 and not any(budget.remaining.values())


def test_bounds_of_a_covariance_are_not_refused_and_cost_their_part():
    ends = [*tails.NUMBERS[[0, 1, 5000]], 0.0, *tails.NUMBERS[[6722, 9000, -1]]]
    pairs = [outer_bounds.widened(float(a), float(b)) for a in ends for b in ends if a < b]
    for loss in ({"epsilon": 2.0}, {"rho": 0.3}):
        for relation in ("replace", "add-remove"):
            found = quoted(dp.covariance, PAIRED[:3], bounds="auto", relation=relation, **loss)
            assert list(dp.Budget(**loss).cost(
                dp.covariance, PAIRED, bounds="auto", parts=True, **loss
            )) == ["bounds", "covariance"]  # fmt: skip
            for one in pairs:
                inner = found.make([one, (0.0, 1.0)])
                assert privacy_sum([inner.loss]) <= privacy_sum([found.remaining_loss])


def test_durations_have_bounds_that_are_durations():
    spans = np.random.default_rng(3).exponential(3600, 20_000).astype("m8[s]")
    low, high = dp.bounds(spans, epsilon=2, rng=InsecureGenerator(1))
    due = dp.bounds(spans.astype(int), epsilon=2, rng=InsecureGenerator(1))
    assert (low, high) == (np.timedelta64(int(due[0]), "s"), np.timedelta64(round(due[1]), "s"))
    for call in (dp.mean, dp.median, dp.sum, dp.std):
        kw = {"bounds": "auto", "epsilon": 2, "rng": InsecureGenerator(1)}
        due = call(spans.astype(int), **kw | {"rng": InsecureGenerator(1)})
        assert call(spans, **kw) == np.timedelta64(round(due), "s")
    days = spans.astype("M8[s]")
    for call in (
        lambda **kw: dp.bounds(days, epsilon=1, **kw),
        lambda **kw: dp.mean(days, bounds="auto", epsilon=1, **kw),
    ):
        budget = dp.Budget(epsilon=1)
        with pytest.raises(dp.errors.ArgumentError, match="bounds must be"):
            call(budget=budget)
        assert not budget.history
