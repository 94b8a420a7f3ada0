"""Aggregators of block outputs: by definition on small inputs, neighbor by neighbor."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate import aggregators
from dpfast.aggregate.aggregators import attention, mean, output_grid, trimmed, winsorized
from dpfast.aggregate.aggregators.output_grid import sorted_cells
from dpfast.noise.distributions import Cauchy, Laplace
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator

from ..reference.aggregate import aggregators as reference
from ..reference.aggregate.aggregators import sorted_with_bounds
from ..support.pairwise import pairwise, quick_rows

NAMES = [name for name in aggregators.AGGREGATORS if name != "auto"]
LOSSES = [Pure(1), Approx(1, Fraction(1, 10**6)), ZCDP(Fraction(1, 2))]


def draws_of(aggregator, z, home, monkeypatch):
    """(distribution, value, scale) of each noise draw of a release, which then adds none."""
    seen = []

    def noisy(distribution, value, scale, widest, generator):
        assert scale <= widest  # or the grid would be finer than it claims
        seen.append((distribution, value, scale))
        return float(value)

    with monkeypatch.context() as patch:
        patch.setattr(home, "noisy", noisy)
        aggregator.release(np.array(z, np.float64), InsecureGenerator(1))
    return seen


@quick_rows(3)
@pytest.mark.parametrize("k", [5, 8191, 1, 8192, 8193, 30_000])
def test_cells_are_those_of_each_number_by_itself(k):
    """And their sums, part by part, of all cells and of some; and the sorted cells beside them."""
    grid = output_grid.OutputGrid(-1.5, 2.25, k)
    z = np.random.default_rng(k).normal(0, 3, (k, 2))[:, 1]  # with gaps between
    cells = [grid.cell(x) for x in z]
    assert grid.cells(z).tolist() == cells and 0 <= min(cells) <= max(cells) <= grid.span
    for x, cell in zip(z, cells, strict=True):
        if -1.5 < x < 2.25:
            assert abs(Fraction(x) / Fraction(grid.step) - grid.first - cell) <= Fraction(1, 2)
    assert grid.number(0) >= -1.5 and grid.number(grid.span) <= 2.25
    assert grid.total(z) == sum(cells)
    low, high = grid.cell(-0.5), grid.cell(1.0)
    assert grid.total(z, low, high) == sum(min(max(c, low), high) - low for c in cells)
    assert (sorted_cells(grid, z) == sorted_with_bounds(cells, grid.span)).all()


@pytest.mark.parametrize("blocks", [1, 600, 2048, 4096, 1 << 20, 1 << 24])
@pytest.mark.parametrize(
    "bounds",
    [
        *[(0.0, 1.0), (-1e300, 1e300), (1.0, math.nextafter(2.0, 3)), (0.1, 0.7)],
        *[(-1e130, -1e-206), (1e-206, 1e130), (-1e130, 0.0)],  # a quotient underflows
    ],
)
def test_sums_of_cells_are_exact_and_cells_lie_within_the_bounds(blocks, bounds):
    grid = output_grid.OutputGrid(*bounds, blocks)
    assert grid.span * blocks <= 2**53 and grid.span > 2**24
    lo, hi, step = *map(Fraction, bounds), Fraction(grid.step)
    assert lo <= grid.first * step < lo + step
    assert hi - step < (grid.first + grid.span) * step <= hi


@quick_rows(8)
@pytest.mark.parametrize("beta", [0.05, 0.4, 1.5])
@pytest.mark.parametrize(
    "k, trim", [(1, 0), (2, 0), (3, 0), (3, 1), (4, 1), (5, 1), (5, 2), (6, 2)]
)
def test_trimmed_span_by_definition(k, trim, beta):
    domain = (0, 100, 300, 1000) if k > 4 else (0, 100, 300, 700, 1000)
    exact = reference.smooth(lambda z: reference.trimmed_sum(z, trim), domain, k, beta)
    for z, wanted in exact.items():
        found = trimmed.trimmed_span(sorted_with_bounds(np.array(z), 1000), trim, beta)
        assert max(1.0, wanted) <= found <= max(1.0, wanted) * (1 + 2.0**-41), z


def test_the_definition_tells_a_wrong_corner():
    """A formula without the one-sided pairs is told from the right one by the same comparison."""
    wrong = 0
    exact = reference.smooth(lambda z: reference.trimmed_sum(z, 1), (0, 100, 300, 1000), 4, 0.4)
    for z, wanted in exact.items():
        x = sorted_with_bounds(np.array(z), 1000)
        pairs = [(i, j) for i in range(0, 2) for j in range(4, 6)]
        bound = max((x[j] - x[i]) * math.exp(-0.4 * (j - i - 2)) for i, j in pairs)
        wrong += bound < wanted * 0.999
    assert wrong > 5


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_attention_by_definition(k):
    """The bound is that of plain radii; it is smooth; the centre stays within it."""
    domain, span, beta = (0, 1, 5, 8), 8, 0.3
    bound, centre = {}, {}
    for z in reference.multisets(domain, k):
        x = sorted_with_bounds(np.array(z), span)
        bound[z] = attention.attention_span(x, beta)
        wanted = max(1.0, 2 * reference.attention_bound(z, span, beta))
        assert wanted <= bound[z] <= wanted * (1 + 2.0**-41)
        length, at = attention._shortest(x, attention.majority(k))
        centre[z] = 2 * x[at] + length
    for z in bound:
        for y in reference.neighbors(z, domain):
            assert abs(centre[z] - centre[y]) <= min(bound[z], bound[y])
            assert bound[z] <= math.exp(beta) * (1 + 2.0**-41) * bound[y]


def test_a_bare_majority_is_too_few():
    """With one point less in the ball the centre would leave the bound."""
    z, y = (0, 0, 8, 8), (0, 8, 8, 8)
    few = attention.majority(4) - 1
    centres = []
    for points in (z, y):
        length, at = attention._shortest(sorted_with_bounds(np.array(points), 8), few)
        centres.append(2 * sorted_with_bounds(np.array(points), 8)[at] + length)
    assert few == 2 and abs(centres[0] - centres[1]) == 16
    radii = [2 * reference.radius(p, few + t, 8) for p in (z, y) for t in (0, 1)]
    assert min(radii[0] + radii[1], radii[2] + radii[3]) < 16


K, EPSILON, NEAR = 4, 0.8, 1e-7
#: Smith's rule for the window: 4 blocks**(1/3 + 1/10).
WIDENING = 4.0 * math.pow(K, 1 / 3 + 1 / 10)


def worst_winsorized(rate, scale, widening):
    """The largest loss over all neighbors of inputs over a domain, for all outcomes."""
    domain = (0.0, NEAR, 2 * NEAR, 1 - NEAR, 1.0)
    return max(
        reference.winsorized_loss(z, y, rate, scale, widening)
        for z in reference.multisets(domain, K)
        for y in reference.neighbors(z, domain)
    )


def test_the_published_winsorized_mean_spends_three_epsilon():
    found = worst_winsorized(EPSILON / 4, 1 / (2 * EPSILON), WIDENING)
    assert 2.99 * EPSILON < found <= 3 * EPSILON * (1 + 1e-9)


def test_ours_spends_epsilon(monkeypatch):
    monkeypatch.setattr(winsorized, "WIDENING", WIDENING)
    aggregator = aggregators.WidenedWinsorizedMean(K, 0.0, 1.0, Pure(EPSILON))
    assert [q.q for q in aggregator.quartiles] == [Fraction(1, 4), Fraction(3, 4)]
    rates = {q.rate for q in aggregator.quartiles}
    assert len(rates) == 1 and 0 <= EPSILON / 8 - rates.pop() < 1e-15
    found = worst_winsorized(EPSILON / 8, 2 / EPSILON, WIDENING)
    assert 0.99 * EPSILON < found <= EPSILON * (1 + 1e-9)
    # And this is the noise that is added: the width over epsilon / 2, in sums of cells.
    windows, true = [], winsorized.WidenedWinsorizedMean.window
    monkeypatch.setattr(
        winsorized.WidenedWinsorizedMean,
        "window",
        lambda self, a, b: windows.append(true(self, a, b)) or windows[-1],
    )
    z = [0.1, 0.2, 0.7, 0.9]
    ((distribution, value, scale),) = draws_of(aggregator, z, winsorized, monkeypatch)
    low, high = windows[0]
    due = (high - low) * 2 / EPSILON
    assert distribution == Laplace() and scale == pytest.approx(due, rel=1e-12)
    cells = aggregator.grid.cells(np.array(z))
    assert value == sum(min(max(c, low), high) - low for c in cells.tolist())


@pytest.mark.parametrize("loss", LOSSES)
def test_the_split_adds_up(loss):
    found = aggregators.WidenedWinsorizedMean(50, 0.0, 1.0, loss)
    parts = [q.loss for q in found.quartiles] + [found.noise.loss]
    if isinstance(loss, ZCDP):
        assert sum(p.rho for p in parts) == loss.rho
    else:
        assert sum(p.epsilon for p in parts) == loss.epsilon
        assert all(isinstance(q.loss, Pure) for q in found.quartiles)
        assert isinstance(found.noise.loss, Pure) == isinstance(found.loss, Pure)


KINDS = {"trimmed-mean": aggregators.TrimmedMean, "attention": aggregators.Attention}


def end_to_end(name, loss, monkeypatch, k, is_local=False):
    """The largest loss over all neighbors with Cauchy noise, whose loss of a pair is known."""
    of_choice, distributions = output_grid.calibrate_loss, {}
    domain, made = (0.0, 0.25, 0.5, 1.0), {}
    with monkeypatch.context() as patch:
        patch.setattr(output_grid, "calibrate_loss", lambda _, loss: of_choice("cauchy", loss))
        made = KINDS[name](k, 0.0, 1.0, loss)
    for z in reference.multisets(domain, k):
        ((distribution, value, scale),) = draws_of(made, z, output_grid, monkeypatch)
        assert distribution == Cauchy()
        if is_local:
            x = sorted_with_bounds(made.grid.cells(np.array(z)), made.grid.span)
            of_attention = name == "attention"
            span = attention.attention_span if of_attention else trimmed.trimmed_span
            scale = span(x, *(() if of_attention else (made.cut,)), 1e9) / made.calibration.alpha
        distributions[z] = value, scale
    return max(
        reference.cauchy_loss(distributions[z], distributions[y])
        for z in distributions
        for y in reference.neighbors(z, domain)
    )


@pairwise
@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("epsilon", ["0.2", "1"])
@pytest.mark.parametrize("name", KINDS)
def test_exact_loss_over_all_neighbors(name, epsilon, k, monkeypatch):
    """No pair exceeds epsilon."""
    part = end_to_end(name, Pure(Fraction(epsilon)), monkeypatch, k) / float(epsilon)
    assert (0.8 if name == "trimmed-mean" else 0.1) <= part <= 1 + 1e-12


@pytest.mark.parametrize("name", KINDS)
def test_local_sensitivity_is_caught(name, monkeypatch):
    """The planted fault: noise scaled to the local sensitivity, at distance 0."""
    assert end_to_end(name, Pure(1), monkeypatch, 5, is_local=True) > 2


#: What is known of the distributions of those that cost less in zCDP than any pure loss.
KNOWN = {"mean": {"cells": 0}, "exponential-median": {"bounded_range": True}}


@pytest.mark.parametrize("loss", LOSSES, ids=["pure", "approx", "zcdp"])
@pytest.mark.parametrize("name", NAMES)
def test_a_release(name, loss):
    z = np.random.default_rng(4).normal(math.pi, 0.2, 400)
    aggregator = aggregators.make(name, 400, 0.0, 10.0, loss)
    found = [aggregator.release(z, InsecureGenerator(seed)) for seed in range(21)]
    assert all(isinstance(x, float) and 0 <= x <= 10 for x in found)
    assert np.median(found) == pytest.approx(math.pi, abs=0.6 if name == "attention" else 0.1)
    assert len(set(found)) > 2
    for same in (z, z[::-1].copy(), np.sort(z)):  # the order of blocks says nothing
        assert found[0] == aggregator.release(same, InsecureGenerator(0))
    spent = aggregator.loss
    if isinstance(spent, Pure):
        assert spent.epsilon == loss.epsilon
        assert isinstance(spent, Draws) == (name in KNOWN)
        assert name not in KNOWN or spent == Draws(loss.epsilon, **KNOWN[name])
    else:
        assert spent == loss
    still = aggregators.make(name, 7, 2.5, 2.5, loss)
    assert still.release(np.arange(7.0), InsecureGenerator(1)) == 2.5


@pytest.mark.parametrize(
    "blocks, loss, wanted",
    [
        (15, Pure(100), "mean"),
        (16, Pure(1), "trimmed-mean"),
        (100, Pure(Fraction(1, 10)), "mean"),
        (160, Approx(Fraction(1, 10), Fraction(1, 10**6)), "trimmed-mean"),
        (100, ZCDP(Fraction(1, 2)), "trimmed-mean"),
        (100, ZCDP(Fraction(1, 1000)), "mean"),
    ],
)
def test_the_public_rule(blocks, loss, wanted):
    assert aggregators.default(blocks, loss) == wanted


CANDIDATES = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])


@pytest.mark.parametrize("shrink, private", [(1.0, True), (0.1, False)])
def test_exact_loss_of_vectors(shrink, private, monkeypatch):
    """Coordinates are independent: their largest losses add up. A tenth of the noise is caught."""
    aggregator = attention.VectorAttention(4, ((0.0, 1.0),) * 2, CANDIDATES, Pure(1))
    corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.5)]
    distributions = {}
    for z in reference.multisets(corners, 4):
        draws = draws_of(aggregator, z, attention, monkeypatch)
        assert all(distribution == Cauchy() for distribution, *_ in draws)
        distributions[z] = [(at, shrink * scale) for _, at, scale in draws]
    worst = max(
        sum(map(reference.cauchy_loss, distributions[z], distributions[y]))
        for z in distributions
        for i in range(4)
        for v in corners
        if (y := tuple(sorted((*z[:i], v, *z[i + 1 :]), key=corners.index))) in distributions
    )
    assert (worst <= 1) == private


@pytest.mark.parametrize("at_once", [1, 1 << 16])
@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_the_noise_of_vectors_by_definition(k, at_once, monkeypatch):
    """The scale of each coordinate from distances in plain numbers; both in cells of the grid."""
    monkeypatch.setattr(attention, "_AT_ONCE", at_once)
    rng = np.random.default_rng(k)
    aggregator = attention.VectorAttention(k, ((0.0, 1.0),) * 2, CANDIDATES, Pure(2))
    step, first = aggregator.grids[0].step, (k + 1) // 2 + 1
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    farthest = np.abs(CANDIDATES[:, None] - corners).sum(axis=2).max(axis=1).min()
    for _ in range(20):
        z = rng.choice([0.0, 0.25, 0.5, 1.0], (k, 2))
        far = np.sort(np.abs(CANDIDATES[:, None] - z).sum(axis=2), axis=1)
        radii = [*far.min(axis=0)[first - 1 :], *[farthest] * (k + 3)]
        exact = max(math.exp(-aggregator.beta * t) * sum(radii[t : t + 2]) for t in range(k + 2))
        draws = [draw[1:] for draw in draws_of(aggregator, z, attention, monkeypatch)]
        for _, scale in draws:
            assert scale * aggregator.alpha * step == pytest.approx(exact, rel=1e-11)
        if k > 1:  # the centre is the first of those whose ball of so many is the smallest
            centre = aggregator.centres[int(np.argmin(far[:, first - 1]))]
            assert [at for at, _ in draws] == centre.tolist()


@pytest.mark.parametrize("loss", LOSSES, ids=["pure", "approx", "zcdp"])
@pytest.mark.parametrize("method", ["smooth", "exponential"])
def test_the_medians_are_the_public_median(method, loss):
    """The same bits as `dpfast.median`, whose distribution and loss have tests of their own."""
    z = np.random.default_rng(8).gamma(2.0, 0.1, 60)
    made = aggregators.make(f"{method}-median", 60, 0.0, 1.0, loss)
    asked = {
        name: getattr(loss, name) for name in ("epsilon", "delta", "rho") if hasattr(loss, name)
    }
    asked |= {"bounds": (0, 1), "method": method, "neighbors": "replace"}
    for seed in range(5):
        wanted = dp.median(z, rng=InsecureGenerator(seed), **asked)
        assert made.release(z, InsecureGenerator(seed)) == wanted


@quick_rows(1)
@pytest.mark.parametrize("loss", [Pure(8), Approx(8, Fraction(1, 10**9))], ids=repr)
def test_a_mean_has_staircase_noise_for_a_large_epsilon(loss):
    """It is that of one integer of the range's sensitivity, and .41 of Laplace's in deviation."""
    aggregator, bits = aggregators.Mean(50, 0.0, 10.0, loss), InsecureGenerator(6)
    assert aggregator.loss == Pure(8) and type(aggregator.loss) is Pure
    assert aggregator.staircase.staircase.step >= aggregator.grid.span
    off = np.array([aggregator.release(np.full(50, 2.0), bits) for _ in range(4000)]) - 2.0
    due, laplace = mean.deviation_of(loss) * 10 / 50, math.sqrt(2) / 8 * 10 / 50
    exact = aggregator.staircase.deviation * 10 / 50 / aggregator.grid.span
    assert due == pytest.approx(exact, rel=1e-3)
    assert np.sqrt((off**2).mean()) == pytest.approx(due, rel=0.1)
    assert due < 0.5 * laplace and np.sqrt((off**2).mean()) < 0.6 * laplace  # the control
    assert aggregators.Mean(50, 0.0, 10.0, Pure(1)).staircase is None
    assert aggregators.Mean(50, 0.0, 10.0, ZCDP(30)).staircase is None
