"""Error bars from public numbers hold as often as they say, and shorter ones would not."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast._core import error_bars
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator

from ..support.noise import box_noise
from ..support.pairwise import quick_rows
from ..support.views import innermost, prepared, quoted

SURE = 0.95
DRAWS = 1000


def upper(count, draws):
    """A proportion that is not exceeded, given what was seen, up to 5 standard deviations."""
    part = count / draws
    return part + 5 * math.sqrt(max(part * (1 - part), 1 / draws) / draws)


def misses(mechanism, summary, truth, width, draws=DRAWS):
    """The largest share of answers, of any coordinate, that are farther off than `width`."""
    rng = InsecureGenerator(5)
    drawn = [mechanism.finish(summary, rng) for _ in range(draws)]
    drawn = [one[0] if isinstance(one, tuple) else one for one in drawn]  # counts, and edges
    answers = np.array(drawn, np.float64)
    far = np.abs(answers - truth) > np.broadcast_to(width, np.shape(truth)) * (1 + 1e-9) + 1e-9
    return np.max(np.mean(far, axis=0))


# --- the noise ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [Pure(0.01), Pure(0.5), Pure(3), ZCDP(0.01), ZCDP(5)], ids=str)
def test_noise_keeps_within_what_is_said_and_a_bit_less_would_not_do(loss):
    noise = integer_noise(loss, Sensitivity.of_one(1))
    drawn = noise.draw(40_000, InsecureGenerator(1))
    for failure in (0.05, 0.003):
        size = noise.half_width(failure)
        far = np.mean(np.abs(drawn) > size)
        assert far <= failure + 5 * math.sqrt(failure / len(drawn))
        # Not wasteful either: a tenth and a few units less is too little.
        least = math.floor(0.9 * size) - 2
        assert noise.scale < 3 or np.mean(np.abs(drawn) > least) > failure


def test_noise_of_one_exactly():
    noise = integer_noise(Pure(0.5), Sensitivity.of_one(1))
    p = math.exp(-0.5)
    for failure in (0.5, 0.05, 1e-3):
        size = noise.half_width(failure)

        def tail(h):
            return 2 * p ** (h + 1) / (1 + p)

        assert tail(size) <= failure < tail(size - 1)
    assert integer_noise(Pure(0.5), Sensitivity.of_one(0)).half_width(0.05) == 0


def test_noise_beyond_the_samplers_range():
    noise = integer_noise(Pure(0.5), Sensitivity.of_one(1 << 60))
    assert noise.shift and noise.half_width(0.05) == pytest.approx(
        2 * math.log(20) * 2**60, rel=1e-6
    )
    wide = integer_noise(ZCDP(0.01), Sensitivity.of_one(1 << 60))
    assert wide.half_width(0.05) == pytest.approx(1.959964 * wide.deviation, rel=1e-6)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 2.0)])
def test_sums_of_two_laplace_numbers(scales):
    x = (np.random.default_rng(2).laplace(size=(400_000, 2)) * scales).sum(axis=1)
    parts = [(lambda u, b=b: 1 / (1 + (b * u) ** 2), np.ones(1), np.ones(1)) for b in scales]
    for failure in (0.3, 0.05):
        size = error_bars.symmetric_sum(parts, math.hypot(*scales) * math.sqrt(2), failure)
        limit = 5.5 * math.sqrt(failure / 400_000)
        assert 0.93 * failure - limit < np.mean(np.abs(x) > size) < failure + limit
    assert error_bars.normal(0.05) == pytest.approx(1.959963984540054)


def test_what_ddof_adds_to_the_error_of_a_variance():
    """By enumeration: v R / (R - ddof) with a noisy R, and v of 0 .. 1/4 that is off."""
    rows, moved, error = 12, Fraction(3), Fraction(1, 50)
    least = rows - moved
    for ddof in (0, 1, 4):
        grown = error_bars.grown_error(error, moved, rows, least, ddof) * least / (least - ddof)
        worst = max(
            abs(
                min(max(v + off, 0), Fraction(1, 4)) * n / (n - ddof)
                - v * Fraction(rows, rows - ddof)
            )
            for v in (Fraction(0), Fraction(1, 8), Fraction(1, 4) - error, Fraction(1, 4))
            for off in (-error, error)
            for n in (least, rows, rows + moved)
        )
        assert worst <= grown
        if ddof:  # without its part it would not do
            assert worst > error * least / (least - ddof)


# --- statistics of sums -------------------------------------------------------------------------

N = 400
#: Where bounds are attained, and elsewhere.
PLACES = {
    "low": np.zeros(N),
    "middle": np.full(N, 50.0),
    "ends": np.repeat([0.0, 100.0], N // 2),
    "few": np.r_[np.zeros(N - 20), np.full(20, 100.0)],
    "spread": np.linspace(0, 100, N),
}
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}]


def check_bar(mechanism, summary, truth, width, shorter):
    """The bar holds as often as it says, and a `shorter` one does not."""
    far = misses(mechanism, summary, truth, width)
    short = misses(mechanism, summary, truth, shorter)
    assert far <= upper(0.05 * DRAWS, DRAWS) < short


def check_bound(worlds, share):
    """The bound holds for all data, and some would not keep within a `share` of it."""
    worst, limit = 0.0, upper(0.05 * 500, 500)
    for mechanism, summary, truth, width in worlds:
        far = misses(mechanism, summary, truth, np.array(width), 500)
        assert far <= limit
        short = misses(mechanism, summary, truth, share * np.array(width), 500)
        worst = max(worst, short)
    assert worst > limit


def case(function, data, **arguments):
    """A mechanism, its summary, its statistic, and the error that is expected."""
    mechanism, rows = prepared(function, data, **arguments)
    return mechanism, mechanism.reduce(rows), mechanism.error(len(data), SURE)


@quick_rows(2)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", ["mean", "variance", "sum"])
def test_with_a_public_n_the_distribution_of_the_noise(name, loss):
    data = PLACES["spread"]
    asked = {"bounds": (0, 100), "neighbors": "replace", **loss}
    mechanism, summary, found = case(getattr(dp, name), data, **asked)
    truth = {"mean": data.mean(), "variance": data.var(), "sum": data.sum()}[name]
    far = misses(mechanism, summary, truth, found.half_width)
    assert abs(far - (1 - SURE)) < 5 * math.sqrt(0.05 / DRAWS)  # neither more nor less
    short = misses(mechanism, summary, truth, 0.7 * found.half_width)
    assert short > upper(0.05 * DRAWS, DRAWS)


@quick_rows(2)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", ["mean", "variance"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_with_a_private_n_a_bound_that_some_data_nearly_attain(name, loss, ddof):
    more = {"ddof": ddof} if name == "variance" else {}
    worlds = []
    for data in PLACES.values():
        mechanism, summary, found = case(
            getattr(dp, name), data, bounds=(0, 100), neighbors="add-remove", **loss, **more
        )
        truth = data.mean() if name == "mean" else data.var(ddof=ddof)
        worlds.append((mechanism, summary, truth, found.half_width))
    check_bound(worlds, 0.3)


@quick_rows(1)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_covariances(neighbors, loss):
    column = np.linspace(0, 100, 20 * N)
    worlds = []
    for data in (np.stack([column, column[::-1]], axis=1), np.zeros((20 * N, 2))):
        mechanism, summary, found = case(
            dp.covariance, data, bounds=[(0, 100)] * 2, neighbors=neighbors, **loss
        )
        worlds.append((mechanism, summary, np.cov(data.T, ddof=0), found.half_width))
    check_bound(worlds, 0.3)


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", ["mean", "variance", "sum"])
def test_each_column_of_a_table(name, neighbors, loss):
    column = np.linspace(0, 100, 10 * N)
    worlds = []
    for data in (np.stack([column] * 3, axis=1), np.zeros((10 * N, 3))):
        mechanism, summary, found = case(
            getattr(dp, name), data, bounds=(0, 100), axis=0, neighbors=neighbors, **loss
        )
        truth = {"mean": data.mean(0), "variance": data.var(0), "sum": data.sum(0)}[name]
        worlds.append((mechanism, summary, truth, found.half_width))
    check_bound(worlds, 0.7 if neighbors == "replace" or name == "sum" else 0.15)


@pytest.mark.full
@quick_rows(3)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ["mean", "variance"])
def test_bounds_of_columns_are_made_of_what_noise_keeps_within(name, neighbors, loss, monkeypatch):
    """Noise of those sizes and no more: the bar covers the answers, and half would not."""
    given = {"bounds": (0, 100), "axis": 0, "neighbors": neighbors, **loss}
    reached = 0.0
    for place, column in PLACES.items():
        data = np.repeat(np.stack([column] * 2, axis=1), 20, axis=0)
        where = np.ones(len(data), bool)
        mechanism, rows = prepared(getattr(dp, name), data, where=where, **given)
        summary = mechanism.reduce(rows)
        width = np.array(mechanism.error(len(data), SURE).half_width)
        truth = data.mean(axis=0) if name == "mean" else data.var(axis=0)
        plan = mechanism.plan(len(data))
        noise, kinds = plan.noise, len(plan.forms[0].features)
        part = (1 - SURE) / kinds
        sizes = [
            plan.size(column, {kind: Fraction(1)}, part)
            for kind in range(kinds)
            for column in range(2 if kind or not plan.counts else plan.counts)
        ]
        # Each of them is rarer than said, and half of it is not.
        rng, zeros, far = InsecureGenerator(3), [0] * len(sizes), np.array(sizes, float)
        vectors = [noise.add(zeros, rng) for _ in range(DRAWS // 2)]
        drawn = np.abs(np.array(vectors, float))
        more, less = np.mean(drawn > far, axis=0), np.mean(drawn > far / 2, axis=0)
        assert np.all(more <= upper(part * DRAWS / 2, DRAWS / 2)) and np.all(less > part), place
        left = iter(vectors)

        def add(self, values, generator, left=left):
            return list(map(operator.add, values, next(left)))

        monkeypatch.setattr(type(noise), "add", add)
        off = np.abs(np.array([mechanism.finish(summary, rng) for _ in vectors]) - truth)
        monkeypatch.undo()
        beyond = np.mean(off > width * (1 + 1e-6), axis=0)
        assert np.all(beyond <= upper((1 - SURE) * DRAWS / 2, DRAWS / 2)), place
        reached = max(reached, float(np.max(np.quantile(off, SURE, axis=0) / width)))
    assert 0.5 < reached <= 1.1


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_counts_of_columns_and_sums_with_weights(loss):
    data = np.stack([PLACES["spread"]] * 3, axis=1)
    for nan in ("keep", "drop"):
        mechanism, summary, found = case(dp.count, data, axis=0, nan=nan, **loss)
        width = found.half_width
        check_bar(mechanism, summary, np.full(3, N), width, 0.6 * width - 1)
    one, weights = PLACES["spread"], np.linspace(0, 1, N)
    weighted = {"bounds": (0, 100), "weights": weights, "weight_bounds": (0, 1), **loss}
    width = quoted(dp.sum, one, **weighted).error(N, SURE).half_width
    rng = InsecureGenerator(5)
    off = np.abs([dp.sum(one, rng=rng, **weighted) - one @ weights for _ in range(DRAWS)])
    assert np.mean(off > width) <= upper(0.05 * DRAWS, DRAWS) < np.mean(off > 0.7 * width)
    mean = quoted(dp.mean, one, **weighted)
    assert "private" in mean.error(N, SURE).note


def test_noise_in_a_box():
    """Against the distribution itself: a gamma number times a uniform point of the box."""
    bits = np.random.default_rng(3)
    for k in (2, 7):
        r = bits.gamma(k + 1, size=200_000)[:, None]
        z = r * bits.uniform(-1, 1, (200_000, k))
        for failure in (0.3, 0.05):
            one = np.mean(np.abs(z[:, 0]) > error_bars.within_box(failure, k))
            assert one == pytest.approx(failure, rel=0.05)
    noise = box_noise(Pure(1.0), [1000] * 7)
    assert noise.distribution == "box"
    rng = InsecureGenerator(6)
    drawn = np.array([noise.add([0] * 7, rng) for _ in range(4000)])
    far = np.abs(drawn) > 1000 * float(noise.half_width(0.05, 0))
    assert np.mean(far) == pytest.approx(0.05, abs=0.006)
    none = box_noise(Pure(1.0), [0, 5])
    assert none.half_width(0.05, 0) == 0 and box_noise(Pure(1.0), [0]).half_width(0.05, 0) == 0


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_counts_and_histograms(loss):
    data = PLACES["spread"]
    mechanism, summary, found = case(dp.count, data, **loss)
    check_bar(mechanism, summary, N, found.half_width, 0.5 * found.half_width - 1)
    mechanism, summary, found = case(dp.histogram, data, bins=4, bounds=(0, 100), **loss)
    width = found.half_width
    check_bar(mechanism, summary, np.full(4, N / 4), width, 0.5 * width - 1)
    public = quoted(dp.count, data, neighbors="replace", **loss)
    assert public.error(N, SURE).half_width == 0


def test_a_bar_is_never_wider_than_what_can_be():
    for name, most in ("mean", 100.0), ("variance", 2500.0):
        for neighbors in ("replace", "add-remove"):
            mechanism = quoted(
                getattr(dp, name), [1.0, 2.0], bounds=(0, 100), epsilon=1e-3, neighbors=neighbors
            )
            assert mechanism.error(2, SURE).half_width == pytest.approx(most)
            assert mechanism.error(None, SURE).half_width is None
            assert "rows" in mechanism.error(None, SURE).note
    one = quoted(dp.mean, [1.0], bounds=(3, 3), epsilon=1)
    assert one.error(None, SURE).half_width == 0


# --- order statistics ---------------------------------------------------------------------------


def ranks_off(data, q, answer):
    """How many rows lie between an answer and the quantile."""
    target = q * len(data)
    return max(0.0, np.sum(data < answer) - target, target - np.sum(data <= answer))


@pytest.mark.parametrize("q", [0.5, 0.1])
def test_ranks_of_the_exponential_mechanism(q):
    """On the worst data: all rows on one cell of the least weight, as many as the bound misses."""
    arguments = {"q": q, "bounds": (0, 100), "epsilon": 0.9, "method": "exponential"}
    mechanism = innermost(quoted(dp.quantile, [1.0], **arguments))
    ranks = mechanism.error(None, SURE).ranks
    grid = mechanism.grid
    x = 12_345_677 * grid
    side = min(q, 1 - q)

    def missed(rows):
        data = np.full(rows, x)
        rng = InsecureGenerator(3)
        answers = [dp.quantile(data, rng=rng, **arguments) for _ in range(300)]
        return np.mean([ranks_off(data, q, a) > 0 for a in answers])

    # Each other cell is off by side * rows or more. Above the bound it is seldom drawn, ...
    assert missed(math.ceil(ranks / side) + 2) <= upper(0.05 * 300, 300)
    # ... and a bound of half as many would failure nearly always.
    assert missed(math.ceil(0.5 * ranks / side)) > 0.5


def test_ranks_of_many_quantiles():
    data = np.linspace(0, 100, 20_000)
    qs = [0.1, 0.25, 0.5, 0.75, 0.9]
    mechanism = quoted(dp.quantiles, data, qs=qs, bounds=(0, 100), epsilon=0.5)
    ranks = mechanism.error(None, SURE).ranks
    assert len(ranks) == 5 and ranks[2] == min(ranks) and max(ranks) < 3 * ranks[2]
    rng = InsecureGenerator(4)
    for _ in range(100):
        found = dp.quantiles(data, qs, bounds=(0, 100), epsilon=0.5, rng=rng)
        assert all(
            ranks_off(data, q, a) <= most for q, a, most in zip(qs, found, ranks, strict=True)
        )
    # All rows on one cell, and too few of them: the first draw misses it.
    few = innermost(quoted(dp.quantiles, [1.0], qs=[0.5], bounds=(0, 100), epsilon=0.5))
    (most,) = few.error(None, SURE).ranks
    data = np.full(int(most), 12_345_677 * few.grid)
    answers = [
        dp.quantiles(data, [0.5], bounds=(0, 100), epsilon=0.5, rng=rng)[0] for _ in range(100)
    ]
    assert np.mean([ranks_off(data, 0.5, a) > 0.5 * most - 2 for a in answers]) > 0.5


@pytest.mark.full
def test_ranks_of_joint_quantiles():
    """On rows that are neighbors on the grid: a bound of a quarter would fail nearly always."""
    arguments = {"qs": [0.5], "bounds": (0, 100), "epsilon": 0.5, "method": "joint"}
    mechanism = innermost(quoted(dp.quantiles, [1.0], **arguments))
    (ranks,) = mechanism.error(None, SURE).ranks

    def missed(rows, most):
        data, rng = (12_345_677 + np.arange(rows)) * mechanism.grid, InsecureGenerator(3)
        answers = [dp.quantiles(data, rng=rng, **arguments)[0] for _ in range(200)]
        return np.mean([ranks_off(data, 0.5, a) > most for a in answers])

    rows = math.ceil(1.2 * ranks)
    assert missed(rows, ranks) <= upper(0.05 * 200, 200)
    assert missed(rows, 0.25 * ranks) > 0.5
    assert missed(math.ceil(4 * ranks), ranks) <= upper(0.05 * 200, 200)


@pytest.mark.full
@pytest.mark.parametrize("method", ["joint", "recursive"])
def test_ranks_of_both_ends_of_a_range(method):
    arguments = {"bounds": (0, 100), "epsilon": 0.5, "method": method}
    both = dp.expected_error(dp.iqr, [1.0], confidence=SURE, **arguments)
    each = innermost(quoted(dp.iqr, [1.0], **arguments)).quartiles.error(None, (1 + SURE) / 2)
    assert both.ranks == max(each.ranks) and both.confidence == SURE
    data, rng = np.linspace(0, 100, 10_001), InsecureGenerator(3)
    answers = np.array([dp.iqr(data, rng=rng, **arguments) for _ in range(200)])
    assert np.mean(100 * abs(answers - 50) > 2 * both.ranks) <= upper(0.05 * 200, 200)
    assert dp.expected_error(dp.iqr, [1.0], **{**arguments, "bounds": (3, 3)}).half_width == 0


SELECTIONS = {
    "exponential": dp.selection.exponential,
    "permute": dp.selection.permute_and_flip,
    "noisy max": dp.selection.noisy_max,
    "top 2": lambda scores, **asked: dp.selection.top_k(scores, 2, **asked)[0],
}


@quick_rows(2)
@pytest.mark.parametrize("name", SELECTIONS)
def test_scores_of_what_is_drawn(name):
    """One candidate is the best by a bit less than the bound, or by half of it."""
    call, asked = SELECTIONS[name], {"sensitivity": 2.0, "epsilon": 0.5}
    function = dp.selection.top_k if name == "top 2" else call
    more = {"k": 2} if name == "top 2" else {}
    bar = dp.expected_error(function, np.zeros(5000), **more, **asked).half_width
    if not more:
        bound = dp.selection.utility_bound(5000, sensitivity=2.0, epsilon=0.5, beta=1 - SURE)
        assert bar == pytest.approx(bound, rel=1e-9)

    def missed(gap):
        rng = InsecureGenerator(3)
        scores = np.full(5000, -gap)
        scores[7] = 0
        return np.mean([call(scores, **asked, rng=rng) != 7 for _ in range(200)])

    assert missed(1.001 * bar) <= upper(0.05 * 200, 200) < missed(0.5 * bar)
    table = dp.expected_error(function, np.zeros((5000, 3)), axis=0, **more, **asked)
    assert table.half_width == bar


@pytest.mark.filterwarnings("ignore::dpfast.errors.SlowWarning")
def test_scores_that_are_computed():
    def score(data, j):
        return float(-j)

    asked = {"sensitivity": 1.0, "epsilon": 1.0}
    found = dp.expected_error(dp.selection.exponential, score, candidates=64, **asked)
    assert found == dp.expected_error(dp.selection.exponential, np.zeros(64), **asked)


def test_a_proposal_that_is_answered():
    data = np.tile(np.linspace(0, 100, 101), 100)
    arguments = {"bounds": (0, 100), "proposed": 0.5, "epsilon": 1.0, "delta": 1e-6}
    mechanism, summary, found = case(dp.ptr.mean, data, **arguments)
    check_bar(mechanism, summary, 50.0, found.half_width, 0.7 * found.half_width)


def test_what_is_secret_has_no_bar():
    smooth = quoted(dp.median, [1.0], bounds=(0, 1), epsilon=2, method="smooth")
    asked = {"blocks": 3, "bounds": (0, 1), "aggregator": "smooth-median", "epsilon": 2}
    blocks = quoted(dp.sample_and_aggregate, [1.0] * 9, "mean", **asked)
    for mechanism in smooth, blocks:
        found = mechanism.error(9, SURE)
        assert found.half_width is None and found.ranks is None and "secret" in found.note
