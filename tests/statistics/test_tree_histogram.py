"""Trees of counts: what a row changes, least squares, ranges, distributions and error bars."""

import math
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.tree import api, consistency
from dpfast.statistics.tree.counts import TreeCounts

from ..support.bars import fewest
from ..support.pairwise import quick_rows
from ..support.views import prepared, quoted
from .test_histogram import farthest

RNG = np.random.default_rng(12)
X = RNG.integers(0, 100, 4000).astype(float)
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}]
NONE = IntegerNoise("laplace", 0, 0, Pure(1))


def exact(data, **kw):
    with patch.object(IntegerNoise, "draw", lambda self, size, generator: np.zeros(size, int)):
        return dp.tree_histogram(data, epsilon=1, **kw)


def matrix(bins, fan_out):
    """Which bins each node has, by definition, the top first."""
    levels, width = [], 1
    for size in reversed(consistency.level_sizes(bins, fan_out)):
        levels.insert(0, [[float(i // width == node) for i in range(bins)] for node in range(size)])
        width *= fan_out
    return np.concatenate(levels)


TREES = [(1, 2), (7, 2), (16, 4), (27, 3), (13, 3), (5, 8), (10, 3), (8, 2)]


@pytest.mark.parametrize(("bins", "fan_out"), TREES)
def test_estimates_are_those_of_least_squares(bins, fan_out):
    nodes = matrix(bins, fan_out)
    noisy = RNG.normal(size=len(nodes))
    ends = np.cumsum(consistency.level_sizes(bins, fan_out))[:-1]
    found = consistency.consistent(np.split(noisy, ends), fan_out)
    right = np.linalg.lstsq(nodes, noisy, rcond=None)[0]
    assert np.allclose(found, right)
    # Planted: the counts of the bins alone.
    assert len(nodes) == bins or not np.allclose(found, noisy[-bins:])
    shares = np.clip(bins - 0.25 - np.arange(bins), 0, 1) - np.clip(0.5 - np.arange(bins), 0, 1)
    own = consistency.weights(bins, fan_out, 0.5, bins - 0.25)
    assert own @ noisy == pytest.approx(shares @ right)
    sums = consistency.level_sums(np.arange(bins), fan_out)
    assert np.concatenate(sums).tolist() == (nodes @ np.arange(bins)).tolist()


@pytest.mark.parametrize(("bins", "fan_out"), [*TREES, (29, 3), (30, 4)])
def test_every_bin_is_like_one_of_those_that_are_named(bins, fan_out):
    """So the bar of a bin is the largest of all."""

    def shape(i):
        own = np.sort(np.abs(consistency.weights(bins, fan_out, i, i + 1)))
        return tuple(own[own > 1e-12].round(9))

    named = {shape(i) for i in consistency.kinds_of_bins(bins, fan_out)}
    assert {shape(i) for i in range(bins)} == named
    given = {"bins": bins, "bounds": (0, bins), "fan_out": fan_out, "epsilon": 1}
    mechanism = quoted(dp.tree_histogram, X, **given)
    tree = mechanism.finish(np.zeros(bins, np.int64), InsecureGenerator(6))
    bars = [tree.half_width(i, i + 1) for i in range(bins)]
    assert mechanism.error(None, 0.95).half_width == pytest.approx(max(bars))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("bins", "fan_out"), [(8, 2), (7, 2), (9, 3), (4, 4)])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(relation, bins, fan_out):
    edges = np.arange(bins + 1.0)
    kw = {"bins": edges.tolist(), "epsilon": 1, "neighbors": relation}

    def sums(*rows):
        made, read = prepared(dp.tree_histogram, [*rows, 0.5], fan_out=fan_out, **kw)
        return np.concatenate(api.level_sums(made.reduce(read), fan_out))

    levels = len(consistency.level_sizes(bins, fan_out))
    most = levels * (2 if relation == "replace" else 1)
    rows = [*(edges[:-1] + 0.5), -1.0, math.nan]
    assert farthest(sums, rows, relation) == (most, most, 1)  # reached
    assert quoted(dp.tree_histogram, [0.5], fan_out=fan_out, **kw).noise.scale == most
    # Planted: the noise of a histogram.
    assert (quoted(dp.histogram, [0.5], **kw).noise.scale < most) == (levels > 1)


@quick_rows(2)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_variance_of_a_range_is_the_one_that_is_said(loss, relation):
    mechanism = quoted(
        dp.tree_histogram, X, bins=27, bounds=(0, 27), fan_out=3, neighbors=relation, **loss
    )
    counts, rng = np.zeros(27, np.int64), InsecureGenerator(4)
    found = np.array([mechanism.finish(counts, rng).counts for _ in range(1500)])
    for first, stop in [(0, 1), (0, 9), (4, 22), (0, 27)]:
        own = consistency.weights(27, 3, first, stop)
        said = mechanism.noise.deviation**2 * float(own @ own)
        drawn = found[:, first:stop].sum(axis=1)
        ratio = drawn.var() / said
        assert abs(ratio - 1) < 0.25 and abs(drawn.mean()) < 5 * math.sqrt(said / 1500)
        # Planted: independent bins.
        flat = mechanism.noise.deviation**2 * (stop - first)
        assert stop - first < 9 or drawn.var() < 0.6 * flat


def test_without_noise_it_is_a_histogram():
    for kw in ({"bins": 20, "bounds": (0, 100)}, {"bins": [0, 3, 50.5, 99]}):
        found = exact(X, **kw)
        counts, edges = np.histogram(X, kw["bins"], kw.get("bounds"))
        assert np.allclose(found.counts, counts) and found.edges.tolist() == edges.tolist()
        assert found.total == pytest.approx(counts.sum())
        assert np.allclose(found.cumulative, np.r_[0, np.cumsum(counts)])
    tree = exact(X, bins=100, bounds=(0, 100))
    assert tree.range(20, 65) == pytest.approx(np.sum((X >= 20) & (X < 65)))
    assert tree.range(-5, 1e9) == pytest.approx(len(X)) and tree.range(7, 7) == 0
    assert tree.cdf(50) == pytest.approx(np.mean(X < 50))
    assert (tree.cdf(-1), tree.cdf(100)) == (0, 1)
    for q in (0.001, 0.25, 0.5, 0.9, 1):
        x = tree.quantile(q)
        assert tree.cdf(x) == pytest.approx(q) and abs(x - np.quantile(X, q)) <= 1
    some = exact(X, bins=[0, 50, 100], where=X > 9)
    assert some.counts.tolist() == np.histogram(X[X > 9], [0, 50, 100])[0].tolist()


def test_what_ascends():
    """From sums that do not; nowhere further from the truth than these are at their worst."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 40).astype(float)
        counts = truth + rng.normal(0, 3, 40)
        tree = TreeCounts(counts, np.arange(41.0), 4, NONE)
        sums, right = np.r_[0, np.cumsum(counts)], np.r_[0, np.cumsum(truth)]
        assert np.abs(tree.cumulative - right).max() <= np.abs(sums - right).max() + 1e-9
        assert (np.diff(sums) < 0).any()  # planted: the sums themselves
        quantiles = [tree.quantile(q) for q in np.linspace(0, 1, 21)]
        shares = [tree.cdf(x) for x in np.linspace(-1, 41, 85)]
        for rising in (tree.cumulative, quantiles, shares):
            assert (np.diff(rising) >= 0).all()
        assert tree.cumulative[0] == 0 <= quantiles[0] <= quantiles[-1] <= 40
        assert (shares[0], shares[-1]) == (0, 1)
    nothing = TreeCounts(np.array([-1.0, -2.0]), np.array([0.0, 1, 2]), 2, NONE)
    assert (nothing.cdf(1), nothing.quantile(0.5)) == (0.5, 1.0)
    # A range within bins takes a share.
    tree = TreeCounts(np.array([10.0, 20, 0]), np.array([0.0, 10, 20, 30]), 4, NONE)
    assert tree.range(5, 12) == pytest.approx(9) and tree.cdf(5) == pytest.approx(5 / 30)
    assert tree.quantile(1 / 3) == pytest.approx(10)


def test_categories():
    words = np.array(["bad", "fair", "good"])[RNG.integers(0, 3, 900)]
    tree = exact(words, categories=["bad", "fair", "good"])
    each = [np.sum(words == one) for one in tree.edges]
    assert np.allclose(tree.counts, each)
    assert tree.range("fair", "good") == pytest.approx(each[1] + each[2])
    assert tree.cdf("fair") == pytest.approx((each[0] + each[1]) / 900)
    assert (tree.quantile(0.01), tree.quantile(0.5), tree.quantile(1)) == ("bad", "fair", "good")
    assert exact(X % 3, categories=[0, 1, 2]).range(1, 1) == pytest.approx(np.sum(X % 3 == 1))
    with pytest.raises(ArgumentError, match="lo must be one of the categories"):
        tree.range("worse", "good")


@quick_rows(2)
@pytest.mark.parametrize(
    "loss", [Pure(9), Pure(3), Pure(0.1), ZCDP(0.01), ZCDP(0.3), ZCDP(9)], ids=str
)
def test_the_bound_is_that_of_the_law_and_hardly_more(loss):
    noise = integer_noise(loss, Sensitivity(2, 2, 2, 1))
    sizes = np.arange(-4000, 4001)
    if noise.distribution == "laplace":
        law = np.exp(-np.abs(sizes) / float(noise.scale))
    else:
        law = np.exp(-((sizes / float(noise.scale)) ** 2) / 2)
    two = np.convolve(law, law) / law.sum() ** 2
    places = np.abs(np.arange(-8000, 8001))
    for failure in (0.5, 0.05, 1e-4):
        bar = noise.weighted_half_width(np.array([1.0, 1.0]), failure)
        need = next(size for size in range(8000) if two[places > size].sum() <= failure)
        assert two[places > bar].sum() <= failure and bar <= need + 1 + 0.05 * noise.deviation
        assert two[places > need - 1].sum() > failure  # a shorter one does not hold
    assert noise.weighted_half_width(np.zeros(3), 0.1) == 0


def test_what_is_refused():
    for bins in ([[0, 1], [0, 1]], None):
        with pytest.raises(ArgumentError, match="bins"):
            dp.tree_histogram(X, bins=bins, bounds=(0, 1), epsilon=1)
    tree, days = exact(X, bins=4, bounds=(0, 100)), np.array(["2024-01-01", "2024-02-01"], "M8[D]")
    dated = exact(days[:1], bins=days)
    for call, error, words in (
        (lambda: tree.range(5, 2), ArgumentError, None),
        (lambda: tree.range("a", 2), ArgumentTypeError, None),
        (lambda: tree.cdf(math.nan), ArgumentError, None),
        (lambda: tree.quantile(1.5), ArgumentError, None),
        (lambda: tree.half_width(0, 9, confidence=1), ArgumentError, None),
        (lambda: dated.cdf("no day"), ArgumentTypeError, "a time"),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.full
@pytest.mark.parametrize(("part", "holds"), [(1.0, True), (0.2, False)])  # planted: a fifth
def test_the_bars_of_a_table_hold(part, holds):
    ages = np.repeat(np.arange(20), 3)
    counts, runs = np.histogram(ages, 4, (0, 20))[0], 150
    kept = np.zeros((2, 4))
    for seed in range(runs):
        rng = InsecureGenerator(seed)
        table = dp.tree_histogram(ages, bins=4, bounds=(0, 20), epsilon=1, rng=rng).table()
        truths = {"count": counts, "share": counts.cumsum() / counts.sum()}
        for row, (name, truth) in enumerate(truths.items()):
            bar = part * table[f"{name} error"] + 1e-9
            kept[row] += abs(table[name] - truth) <= bar
    shares = kept[:, :3] / runs  # that of the last bin is 1
    assert (shares >= fewest(runs)).all() == holds
