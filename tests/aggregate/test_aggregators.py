"""Aggregators of block outputs, numbers and vectors: by definition on small inputs, neighbor by
neighbor."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.aggregate import aggregators
from dpfast.aggregate.aggregators import attention, mean, output_grid, trimmed, winsorized
from dpfast.aggregate.aggregators.mean import VectorMean
from dpfast.aggregate.aggregators.output_grid import MOST_COORDINATES, sorted_cells
from dpfast.aggregate.aggregators.vector import Coordinates, make_vector, share
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.additive import additive
from dpfast.noise.distributions import Cauchy, Gaussian, Laplace
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator

from ..reference.aggregate import aggregators as reference
from ..reference.aggregate.aggregators import sorted_with_bounds
from ..support.lazy import norm
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


K, EPSILON, NEAR = 4, 0.8, 1e-7
#: Smith's rule for the window: 4 blocks**(1/3 + 1/10).
WIDENING = 4.0 * math.pow(K, 1 / 3 + 1 / 10)


def worst_winsorized(rate, scale, widening):
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


# ---- Vectors of block outputs. ----

#: Three coordinates of unlike spans, the spans of their grids too.
BOUNDS = ((0.0, 1.0), (-3.0, 700.0), (1.0, 1.001))
SPENT_BY = {
    "pure": Pure(1),
    "approx": Approx(1, Fraction(1, 20)),
    "approx for Laplace": Approx(20, Fraction(1, 10**9)),
    "zcdp": ZCDP(Fraction(1, 2)),
    "zcdp for Laplace": ZCDP(40),
}


def noise_of(made, z, monkeypatch):
    """(distribution, values, scales) of the one draw of a joint mean, which then adds none."""
    seen = []

    def noisy_vector(distribution, values, scales, generator):
        seen.append((distribution, values, scales))
        return np.array(values, np.float64)

    with monkeypatch.context() as patch:
        patch.setattr(mean, "noisy_vector", noisy_vector)
        found = made.release(np.array(z, np.float64), InsecureGenerator(1))
    return (*seen[0], found)


def part_spent(distribution, moves, loss):
    """Whether independent noise, given moves in units of scales, is within a loss, and how nearly.

    By the definitions: l1 lengths for Laplace, l2 lengths for Gaussian noise.
    """
    far = math.sqrt(math.fsum(m * m for m in moves))
    if distribution == Laplace():
        if isinstance(loss, ZCDP):
            return sum(ZCDP.of_pure(Draws(Fraction(m), cells=0)).rho for m in moves if m) / loss.rho
        return math.fsum(moves) / float(loss.epsilon)
    assert distribution == Gaussian()
    if isinstance(loss, ZCDP):
        return far * far / 2 / float(loss.rho)
    epsilon, half = float(loss.epsilon), far / 2
    below = math.exp(epsilon) * norm.cdf(-half - epsilon / far)
    return (norm.cdf(half - epsilon / far) - below) / float(loss.delta)


def worst_mean(made, loss, monkeypatch):
    inputs = list(product(product(*BOUNDS), repeat=2))
    distributions = {z: noise_of(made, z, monkeypatch)[:3] for z in inputs}
    found = 0.0
    for z, y in product(inputs, inputs):
        if (z[0] == y[0]) != (z[1] == y[1]):
            (distribution, before, scales), (_, after, others) = distributions[z], distributions[y]
            assert scales == others
            moves = [abs(a - b) / s for a, b, s in zip(before, after, scales, strict=True)]
            found = max(found, part_spent(distribution, moves, loss))
    return found


@quick_rows(3)
@pytest.mark.parametrize("kind", list(SPENT_BY))
def test_the_joint_mean_spends_its_loss_and_no_more(kind, monkeypatch):
    """Planted: noise as if one coordinate moved at a time."""
    loss = SPENT_BY[kind]
    made = make_vector("mean", 2, BOUNDS, loss)
    assert isinstance(made, VectorMean)
    assert len({g.span for g in made.grids}) == 3
    distribution = noise_of(made, [[0, 0, 1]] * 2, monkeypatch)[0]
    assert (distribution == Laplace()) == (kind == "pure" or "Laplace" in kind)
    assert 0.999 < worst_mean(made, loss, monkeypatch) <= 1 + 1e-9
    object.__setattr__(made, "noise", additive(loss))
    assert worst_mean(made, loss, monkeypatch) > 1.5


def test_the_joint_mean_is_the_mean(monkeypatch):
    z = np.random.default_rng(1).normal([0.5, 300, 1.0005], [1, 500, 1e-3], (600, 3))
    _, _, _, found = noise_of(make_vector("mean", 600, BOUNDS, Pure(1)), z, monkeypatch)
    lo, hi = np.array(BOUNDS).T
    assert found == pytest.approx(np.clip(z, lo, hi).mean(axis=0), rel=1e-11)


def test_coordinates_that_cannot_move_take_no_share():
    bounds = ((2.0, 2.0), *BOUNDS, (-1.0, -1.0))
    for name in ("mean", "trimmed-mean", "exponential-median"):
        made = make_vector(name, 30, bounds, Pure(1))
        assert made.loss.epsilon == 1 and made.loss.draws == 3
        found = made.release(np.zeros((30, 5)), InsecureGenerator(1))
        assert found[0] == 2 and found[4] == -1
    assert make_vector("mean", 30, bounds, Pure(1)).noise == additive(Pure(1), 3)
    still = make_vector("mean", 30, bounds[::4], Pure(1))
    assert still.release(np.ones((30, 2)), InsecureGenerator(1)).tolist() == [2, -1]


APART = [name for name in aggregators.AGGREGATORS if name not in ("auto", "mean")]


@pairwise
@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("loss", [Pure(1), ZCDP(Fraction(1, 3)), Approx(2, Fraction(1, 1000))])
@pytest.mark.parametrize("name", APART)
def test_shares_add_up_exactly(name, loss, d):
    made = make_vector(name, 40, ((0.0, 1.0),) * d, loss)
    assert isinstance(made, Coordinates) and len(made.parts) == d
    (each,) = {part.loss for part in made.parts}
    if isinstance(each, ZCDP):
        assert made.loss == loss and (not isinstance(loss, ZCDP) or d * each.rho == loss.rho)
        return
    assert made.loss.epsilon == loss.epsilon == d * each.epsilon
    # A delta that no part uses is not charged; one that is used is charged whole.
    assert (made.loss.delta > 0) == (each.delta > 0)
    if each.delta > 0:
        assert d * each.delta == loss.delta == made.loss.delta
    elif d > 1:
        ranged = name == "exponential-median"
        assert made.loss == Draws(loss.epsilon, draws=d, bounded_range=ranged)


@pairwise
@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.5", "0.999999"])
@pytest.mark.parametrize("name, gain", [("trimmed-mean", 2), ("exponential-median", 8)])
def test_the_better_of_two_compositions(name, gain, epsilon, delta):
    """rho is that of the formula, never more; and it is used from where it is worth more."""
    loss = Approx(Fraction(epsilon), Fraction(delta))
    exact = lambda x: mpmath.mpf(x.numerator) / x.denominator  # noqa: E731
    with mpmath.workdps(60):
        log = -mpmath.log(exact(loss.delta))
        for d in (1, 3, 10, 40, 4000):
            each = share(name, ((0.0, 1.0),) * d, loss)
            rho = (mpmath.sqrt(log + exact(loss.epsilon)) - mpmath.sqrt(log)) ** 2
            if isinstance(each, ZCDP):
                used = exact(d * each.rho)
                assert used + 2 * mpmath.sqrt(used * log) <= exact(loss.epsilon)
                assert used >= rho * (1 - 1e-12)
            else:
                assert each == Approx(loss.epsilon / d, loss.delta / d)
            better = gain * rho / d > (exact(loss.epsilon) / d) ** 2 and rho / d >= 2**-40
            assert isinstance(each, ZCDP) == better


def test_a_coordinate_is_what_it_is_alone():
    """Each part releases its own column, in order, with its own bounds."""
    z = np.random.default_rng(2).uniform([0, -3, 1], [1, 700, 1.001], (50, 3))
    made, bits = make_vector("trimmed-mean", 50, BOUNDS, Pure(3)), InsecureGenerator(5)
    parts = [aggregators.TrimmedMean(50, lo, hi, Pure(1)) for lo, hi in BOUNDS]
    wanted = [p.release(c.copy(), bits) for p, c in zip(parts, z.T, strict=True)]
    assert made.release(z, InsecureGenerator(5)).tolist() == wanted


TINY = [
    Approx(Fraction(1, 10**3), Fraction(1, 10**6)),
    Approx(Fraction(1, 10**4), Fraction(9, 10)),
    ZCDP(Fraction(1, 10**9)),
    Pure(Fraction(1, 10**4)),
]


@quick_rows(2)
@pytest.mark.parametrize("name", ["auto", "mean", *APART])
@pytest.mark.parametrize("d", [2, 100])
def test_a_small_loss_has_shares_that_do(name, d):
    """What one coordinate could do with is no error for many."""
    bounds, least = ((0.0, 1.0),) * d, Fraction(d, 2**30)
    for loss in TINY:
        made = make_vector(name, 12, bounds, loss)
        assert made.release(np.ones((12, d)), InsecureGenerator(1)).shape == (d,)
    make_vector("mean", 12, bounds, Pure(least))
    with pytest.raises(ArgumentError, match=f"epsilon .* for each of {d} coordinates"):
        make_vector(name, 12, bounds, Pure(least * Fraction(999, 1000)))
    for d, blocks, chosen in [(1, 40, "trimmed-mean"), (4, 40, "mean"), (4, 64, "trimmed-mean")]:
        own = share("auto", bounds[:1] * d, Pure(1))  # which decides
        assert aggregators.choose("auto", blocks, own) == chosen
    assert isinstance(make_vector("auto", 40, bounds[:1] * 4, Pure(1)), VectorMean)


CENTRES = np.array([[0.5, 0.0, 1.0], [0.25, 100.0, 1.0005]])


def test_attention_with_centres_is_joint():
    assert isinstance(make_vector("attention", 9, BOUNDS, Pure(1)), Coordinates)
    mine = CENTRES.copy()
    for centres in (mine, CENTRES.tolist()):
        made = make_vector("attention", 9, BOUNDS, SPENT_BY["approx"], centres)
        assert isinstance(made, attention.VectorAttention) and made.loss == Pure(1)
        before = made.centres.copy()
        mine[:] = 0.75
        assert (made.candidates == CENTRES).all() and (made.centres == before).all()


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(*[st.floats(-1e200, 1e200)] * 2).map(sorted), min_size=1, max_size=5),
    name=st.sampled_from(aggregators.AGGREGATORS),
    loss=st.sampled_from(list(SPENT_BY.values())),
    blocks=st.integers(1, 40),
    seed=st.integers(0, 2**31),
)
def test_a_release_is_within_its_bounds(pairs, name, loss, blocks, seed):
    lo, hi = np.array(pairs).T
    try:
        made = make_vector(name, blocks, tuple(map(tuple, pairs)), loss)
    except ArgumentError as error:
        assert "apart" in str(error)  # bounds that are nearer than their grid
        return
    z = np.random.default_rng(seed).uniform(size=(blocks, len(pairs))) * (hi - lo) * 1.5 + lo
    found, again = (made.release(z, InsecureGenerator(seed)) for _ in range(2))
    assert found.dtype == np.float64 and found.shape == (len(pairs),)
    assert (lo <= found).all() and (found <= hi).all() and found.tolist() == again.tolist()
    assert type(made.loss) in (type(loss), Pure, Draws)


VECTOR = {"name": "attention", "blocks": 9, "bounds": BOUNDS, "loss": Pure(1), "centres": CENTRES}


@pytest.mark.parametrize(
    "word, changes",
    [
        ("aggregator", [{"name": "medium"}]),
        ("centres", [{"name": name} for name in ("mean", "trimmed-mean", "auto")]),
        ("centres", [{"centres": c} for c in (CENTRES[:, :2], CENTRES[:0], CENTRES[0], "here")]),
        ("centres", [{"centres": c} for c in (CENTRES - 1, [[0.5, 0.0, math.nan]], [[1, 2], [3]])]),
        ("blocks", [{"blocks": 0}]),
        ("bounds", [{"bounds": ()}, {"bounds": (*BOUNDS[:2], (2.0, 1.0))}]),
        ("bounds", [{"bounds": ((0.0, 1.0),) * (MOST_COORDINATES + 1), "centres": None}]),
        ("bounds", [{"bounds": ((0.0, 5e-324),), "centres": None, "blocks": 1 << 12}]),
        ("epsilon", [{"loss": Pure(1000)}]),
        ("rho", [{"loss": ZCDP(Fraction(1, 2**80))}]),
        ("delta", [{"name": name, "centres": None} for name in aggregators.AGGREGATORS]),
    ],
)
def test_bad_arguments(word, changes):
    make_vector(**VECTOR)
    for change in changes:
        if word == "delta":
            change = {**change, "loss": Approx(1, Fraction(1, 10**400))}
        with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{word}"):
            make_vector(**(VECTOR | change))


@pytest.mark.parametrize("d", [1, 2, 7])
def test_what_the_theorem_of_cauchy_noise_asks_for(d):
    """alpha + d beta is epsilon, but for the margins: beta would be d times too large without d."""
    centres = np.zeros((1, d))
    found = attention.VectorAttention(9, ((0.0, 1.0),) * d, centres, Pure(Fraction(2)))
    assert 2 * (1 - 1e-6) < found.alpha + d * found.beta <= 2
    assert found.alpha == pytest.approx(1, rel=1e-6)
    with pytest.raises(ArgumentError, match="epsilon must be larger for 3000 coordinates"):
        tiny, many = Pure(Fraction(1, 2**29)), ((0.0, 1.0),) * 3000
        attention.VectorAttention(9, many, np.zeros((1, 3000)), tiny)


def test_the_bar_of_a_joint_mean_holds():
    """In 19 of 20 answers (2,000 are seeded); one half as wide does not."""
    z, rng = np.random.default_rng(5).uniform(0, 5, (50, 2)), InsecureGenerator(11)
    made = VectorMean(50, ((0, 10), (-3, 5)), Pure(1))
    off = np.abs([made.release(z, rng) - z.mean(axis=0) for _ in range(2_000)])
    held = (off <= made.half_width(0.05)).mean(axis=0)
    assert (held > 0.93).all() and (held < 0.97).all()
    assert ((off <= np.array(made.half_width(0.05)) / 2).mean(axis=0) < 0.9).all()
