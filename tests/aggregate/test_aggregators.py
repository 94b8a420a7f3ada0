"""Aggregators of block outputs: by definition on small inputs, neighbor by neighbor."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

import dpfast as dp
from dpfast.aggregate import aggregators
from dpfast.aggregate.aggregators import attention, mean, output_grid, trimmed, winsorized
from dpfast.aggregate.aggregators.output_grid import sorted_cells
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise import additive
from dpfast.noise.distributions import Cauchy, Gaussian, Laplace
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator

from ..reference.aggregate import aggregators as reference
from ..reference.aggregate.aggregators import sorted_with_bounds
from ..support.pairwise import every_value, pairwise, quick_rows

NAMES = [name for name in aggregators.AGGREGATORS if name != "auto"]
LOSSES = [Pure(1), Approx(1, Fraction(1, 10**6)), ZCDP(Fraction(1, 2))]
HOMES = {
    "mean": mean,
    "trimmed-mean": output_grid,
    "attention": output_grid,
    "winsorized-mean": winsorized,
}


def noise_of(aggregator, z, home, monkeypatch):
    """(distribution, value, scale) of the one noise draw of a release, which then adds none."""
    seen = []

    def noisy(distribution, value, scale, widest, generator):
        assert scale <= widest  # or the grid would be finer than it claims
        seen.append((distribution, value, scale))
        return float(value)

    with monkeypatch.context() as patch:
        patch.setattr(home, "noisy", noisy)
        found = aggregator.release(np.array(z, np.float64), InsecureGenerator(1))
    return seen[0] if seen else None, found


# ---- The grid ----


def test_cells_are_those_of_each_number_by_itself():
    grid = output_grid.OutputGrid(-1.5, 2.25, 600)
    z = np.random.default_rng(0).normal(0, 3, 2000)
    cells = grid.cells(z)
    assert cells.min() == 0 and cells.max() == grid.span
    assert all(grid.cell(x) == c for x, c in zip(z[:50], cells[:50], strict=True))
    inside = (z > -1.5) & (z < 2.25)
    exact = [Fraction(x) / Fraction(grid.step) - grid.first for x in z[inside]]
    assert all(
        abs(c - x) <= Fraction(1, 2) for c, x in zip(cells[inside].tolist(), exact, strict=True)
    )
    assert grid.number(0) >= -1.5 and grid.number(grid.span) <= 2.25


@pytest.mark.parametrize("blocks", [1, 600, 2048, 4096, 1 << 20, 1 << 24])
@pytest.mark.parametrize(
    "bounds", [(0.0, 1.0), (-1e300, 1e300), (1.0, math.nextafter(2.0, 3)), (0.1, 0.7)]
)
def test_sums_of_cells_are_exact(blocks, bounds):
    grid = output_grid.OutputGrid(*bounds, blocks)
    assert grid.span * blocks <= 2**53
    assert grid.span > 2**24


@pytest.mark.parametrize("bounds", [(-1e130, -1e-206), (1e-206, 1e130), (-1e130, 0.0)])
def test_cells_lie_within_the_bounds_where_a_quotient_underflows(bounds):
    grid = output_grid.OutputGrid(*bounds, 10)
    first = Fraction(grid.first) * Fraction(grid.step)
    last = Fraction(grid.first + grid.span) * Fraction(grid.step)
    lo, hi = map(Fraction, bounds)
    assert lo <= first < lo + Fraction(grid.step)
    assert hi - Fraction(grid.step) < last <= hi


@quick_rows(3)
@pytest.mark.parametrize("k", [1, 5, 8191, 8192, 8193, 30_000])
def test_a_total_is_the_sum_of_cells(k):
    """Part by part, of all cells and of some of them; and the sorted cells beside it."""
    grid = output_grid.OutputGrid(-1.5, 2.25, k)
    z = np.random.default_rng(k).normal(0, 3, (k, 2))[:, 1]  # with gaps between
    cells = [grid.cell(x) for x in z]
    assert grid.cells(z).tolist() == cells
    assert grid.total(z) == sum(cells)
    low, high = grid.cell(-0.5), grid.cell(1.0)
    assert grid.total(z, low, high) == sum(min(max(c, low), high) - low for c in cells)
    assert (sorted_cells(grid, z) == sorted_with_bounds(cells, grid.span)).all()


# ---- Mean ----


@pytest.mark.parametrize(
    "loss", [*LOSSES, Pure(Fraction(1, 10)), ZCDP(50), Approx(8, Fraction(1, 20))]
)
def test_noise_of_a_sensitivity(loss):
    """What the formulas of the theorems give, to 1e-9; never less noise than they ask."""
    found = additive.additive(loss)
    if isinstance(found.loss, ZCDP) and found.distribution == Gaussian():
        exact = math.sqrt(0.5 / float(loss.rho))
    elif found.distribution == Laplace():
        epsilon = found.loss.epsilon if isinstance(found.loss, Pure) else None
        if epsilon is None:
            assert ZCDP.of_pure(Draws(Fraction(1 / found.unit), cells=0)).rho <= loss.rho
            return
        exact = 1 / float(epsilon)
    else:
        epsilon, s = float(loss.epsilon), 1 / found.unit
        delta = norm.cdf(s / 2 - epsilon / s) - math.exp(epsilon) * norm.cdf(-s / 2 - epsilon / s)
        assert delta == pytest.approx(float(loss.delta), rel=1e-6)
        return
    assert exact <= found.unit <= exact * (1 + 1e-9)


@quick_rows(7)
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-3, 0.2])
def test_analytic_gaussian_never_exceeds_delta(epsilon, delta):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(400):
        s = 1 / mpmath.mpf(additive.analytic(epsilon, delta))
        e = mpmath.mpf(epsilon)
        spent = mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)
        assert spent <= delta
        if s < 0.999 * mpmath.sqrt(2 * e):
            assert spent >= delta * (1 - 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_mean_moves_by_what_its_noise_is_for(loss, monkeypatch):
    """All neighbors of all inputs over a domain: exact integers, one scale."""
    aggregator = aggregators.Mean(3, 0.0, 1.0, loss)
    domain = (0.0, 0.1, 0.7, 1.0)
    got = {z: noise_of(aggregator, z, mean, monkeypatch)[0] for z in reference.multisets(domain, 3)}
    moved = max(abs(got[z][1] - got[y][1]) for z in got for y in reference.neighbors(z, domain))
    span = aggregator.grid.span
    assert moved == span
    assert {scale for _, _, scale in got.values()} == {aggregator.noise.scale(span)}
    assert aggregator.noise.scale(span) >= span * aggregator.noise.unit


def test_mean_is_the_mean(monkeypatch):
    z = np.random.default_rng(1).normal(0, 1, 600)
    aggregator = aggregators.Mean(600, -2.0, 3.0, Pure(1))
    _, found = noise_of(aggregator, z, mean, monkeypatch)
    assert found == pytest.approx(np.clip(z, -2, 3).mean(), abs=1e-11)


# ---- Trimmed mean ----


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


def test_the_median_is_a_trimmed_mean(monkeypatch):
    z = np.random.default_rng(2).normal(0.5, 0.1, 101)
    monkeypatch.setattr(aggregators.TrimmedMean, "cut", 50)
    aggregator = aggregators.TrimmedMean(101, 0.0, 1.0, Pure(1))
    _, found = noise_of(aggregator, z, output_grid, monkeypatch)
    assert found == pytest.approx(np.median(z), abs=1e-11)


# ---- Centre of attention ----


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_attention_by_definition(k, monkeypatch):
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


def test_vector_attention_by_definition():
    """All pairs of neighbors over a square domain: radii by plain search, movement in l1."""
    rng = np.random.default_rng(3)
    candidates = np.array([[0.0, 0.0], [0.25, 0.5], [1.0, 0.75], [0.5, 0.5]])
    aggregator = attention.VectorAttention(5, ((0.0, 1.0),) * 2, candidates, Pure(2))
    assert aggregator.alpha + 2 * aggregator.beta <= 2
    moved = 0
    for _ in range(400):
        z = rng.choice([0.0, 0.25, 0.5, 1.0], (5, 2))
        y = z.copy()
        y[rng.integers(5)] = rng.choice([0.0, 0.25, 0.5, 1.0], 2)
        found = []
        for w in (z, y):
            cells = np.stack([g.cells(w[:, i]) for i, g in enumerate(aggregator.grids)], axis=1)
            centre, radii = aggregator.radii(cells)
            far = np.sort(np.abs(cells[None] - aggregator.centres[:, None]).sum(2), axis=1)
            assert radii[:2] == far.min(axis=0)[3:].tolist()  # t0 = 4 of 5
            assert radii[2:] == [aggregator.farthest] * 2
            assert far[centre, 3] == radii[0]
            found.append((aggregator.centres[centre], radii))
        (c1, r1), (c2, r2) = found
        step = np.abs(c1 - c2).sum()
        moved += step > 0
        assert step <= min(r1[0] + r1[1], r2[0] + r2[1])
        assert all(a <= b for a, b in zip(r2, r1[1:], strict=False))
    assert moved > 20


# ---- Winsorized mean: what it spends ----

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
    windows = []
    true = winsorized.WidenedWinsorizedMean.window

    def window(self, a, b):
        windows.append(true(self, a, b))
        return windows[-1]

    monkeypatch.setattr(winsorized.WidenedWinsorizedMean, "window", window)
    z = [0.1, 0.2, 0.7, 0.9]
    (distribution, value, scale), _ = noise_of(aggregator, z, winsorized, monkeypatch)
    low, high = windows[0]
    assert distribution == Laplace() and scale == pytest.approx(
        (high - low) * 2 / EPSILON, rel=1e-12
    )
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


# ---- End to end, exactly ----


def with_cauchy_noise(monkeypatch):
    """Whose loss has a closed form for each pair."""
    of_choice = output_grid.calibrate_loss
    monkeypatch.setattr(output_grid, "calibrate_loss", lambda _, loss: of_choice("cauchy", loss))


def end_to_end(make, home, monkeypatch, k, rescale=lambda z, scale: scale):
    domain = (0.0, 0.25, 0.5, 1.0)
    distributions = {}
    for z in reference.multisets(domain, k):
        (distribution, value, scale), _ = noise_of(make(k), z, home, monkeypatch)
        assert distribution == Cauchy()
        distributions[z] = value, rescale(z, scale)
    return max(
        reference.cauchy_loss(distributions[z], distributions[y])
        for z in distributions
        for y in reference.neighbors(z, domain)
    )


@pairwise
@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("name", ["trimmed-mean", "attention"])
def test_exact_loss_over_all_neighbors(name, epsilon, k, monkeypatch):
    """With Cauchy noise the loss of a pair has a closed form; no pair exceeds epsilon."""
    kind = {"trimmed-mean": aggregators.TrimmedMean, "attention": aggregators.Attention}[name]
    make = lambda k: kind(k, 0.0, 1.0, Pure(Fraction(str(epsilon))))  # noqa: E731
    with_cauchy_noise(monkeypatch)
    found = end_to_end(make, HOMES[name], monkeypatch, k)
    assert found <= epsilon * (1 + 1e-12)
    assert found >= (0.8 if name == "trimmed-mean" else 0.1) * epsilon


@pytest.mark.parametrize("name", ["trimmed-mean", "attention"])
def test_local_sensitivity_is_caught(name, monkeypatch):
    """The planted fault: noise scaled to the local sensitivity, at distance 0."""
    kind = {"trimmed-mean": aggregators.TrimmedMean, "attention": aggregators.Attention}[name]
    make = lambda k: kind(k, 0.0, 1.0, Pure(1))  # noqa: E731
    with_cauchy_noise(monkeypatch)

    def local(z, scale):
        aggregator = make(len(z))
        x = sorted_with_bounds(aggregator.grid.cells(np.array(z)), aggregator.grid.span)
        if name == "attention":
            return attention.attention_span(x, 1e9) / aggregator.calibration.alpha
        return trimmed.trimmed_span(x, aggregator.cut, 1e9) / aggregator.calibration.alpha

    assert end_to_end(make, HOMES[name], monkeypatch, 5, local) > 2


# ---- All of them ----

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
    assert found[0] == aggregator.release(z, InsecureGenerator(0))
    spent = aggregator.loss
    if isinstance(spent, Pure):
        assert spent.epsilon == loss.epsilon
        assert isinstance(spent, Draws) == (name in KNOWN)
        if name in KNOWN:
            assert spent == Draws(loss.epsilon, **KNOWN[name])
    else:
        assert spent == loss


@pytest.mark.parametrize("name", NAMES)
def test_equal_bounds_are_the_answer(name):
    aggregator = aggregators.make(name, 7, 2.5, 2.5, Pure(1))
    assert aggregator.release(np.arange(7.0), InsecureGenerator(1)) == 2.5


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_blocks_says_nothing(name):
    z = np.random.default_rng(5).normal(0, 1, 30)
    aggregator = aggregators.make(name, 30, -2.0, 2.0, Pure(1))
    found = {aggregator.release(w, InsecureGenerator(3)) for w in (z, z[::-1].copy(), np.sort(z))}
    assert len(found) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "z", [np.zeros(4), np.zeros(5, np.float32), np.array([0, 0, 0, 0, np.nan])]
)
def test_the_contract(name, z):
    with pytest.raises(AssertionError):
        aggregators.make(name, 5, 0.0, 1.0, Pure(1)).release(z, InsecureGenerator(1))


@every_value(drop=True)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "change",
    [
        {"blocks": 0},
        {"blocks": 2.5},
        {"lo": 2.0},
        {"lo": math.nan},
        {"hi": math.inf},
        {"loss": Pure(1000)},
        {"loss": ZCDP(Fraction(1, 2**80))},
        {"loss": Approx(1, Fraction(1, 10**400))},
    ],
)
def test_bad_arguments(name, change):
    good = {"blocks": 9, "lo": 0.0, "hi": 1.0, "loss": Pure(1)}
    aggregators.make(name, **good)
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        aggregators.make(name, **(good | change))


@pytest.mark.parametrize(
    "build",
    [
        lambda: aggregators.make("medium", 9, 0.0, 1.0, Pure(1)),
        lambda: attention.VectorAttention(9, ((0.0, 1.0),), np.zeros((0, 1)), Pure(1)),
        lambda: attention.VectorAttention(9, ((0.0, 1.0),), np.array([[np.nan]]), Pure(1)),
    ],
)
def test_bad_extras(build):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        build()


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


# ---- Vectors, whole ----

CANDIDATES = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])


def vector_draws(aggregator, z, monkeypatch):
    seen = []

    def noisy(distribution, value, scale, widest, generator):
        assert distribution == Cauchy() and scale <= widest
        seen.append((value, scale))
        return float(value)

    with monkeypatch.context() as patch:
        patch.setattr(attention, "noisy", noisy)
        aggregator.release(np.array(z), InsecureGenerator(1))
    return seen


@pytest.mark.parametrize("shrink, private", [(1.0, True), (0.1, False)])
def test_exact_loss_of_vectors(shrink, private, monkeypatch):
    """Coordinates are independent: their largest losses add up. A tenth of the noise is caught."""
    aggregator = attention.VectorAttention(4, ((0.0, 1.0),) * 2, CANDIDATES, Pure(1))
    corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.5)]
    distributions = {
        z: [(at, shrink * scale) for at, scale in vector_draws(aggregator, z, monkeypatch)]
        for z in reference.multisets(corners, 4)
    }
    worst = max(
        sum(
            reference.cauchy_loss(a, b)
            for a, b in zip(distributions[z], distributions[y], strict=True)
        )
        for z in distributions
        for i in range(4)
        for v in corners
        if (y := tuple(sorted((*z[:i], v, *z[i + 1 :]), key=corners.index))) in distributions
    )
    assert (worst <= 1) == private


@pytest.mark.parametrize("loss", LOSSES, ids=["pure", "approx", "zcdp"])
def test_a_release_of_vectors(loss):
    z = np.random.default_rng(6).normal([0.52, 0.48], 1e-4, (600, 2))
    aggregator = attention.VectorAttention(600, ((0.0, 1.0),) * 2, CANDIDATES, loss)
    found = np.array([aggregator.release(z, InsecureGenerator(seed)) for seed in range(41)])
    assert found.shape == (41, 2) and found.min() >= 0 and found.max() <= 1
    assert np.median(found, axis=0) == pytest.approx([0.5, 0.5], abs=0.2)
    assert aggregator.loss == (Pure(1) if isinstance(loss, Approx) else loss)
    for bad in (z[:5], z[:, :1], z.astype(np.float32)):
        with pytest.raises(AssertionError):
            aggregator.release(bad, InsecureGenerator(1))


def test_vectors_cannot_be_too_long_for_the_loss():
    with pytest.raises(ArgumentError, match="epsilon"):
        d = 3000
        attention.VectorAttention(9, ((0.0, 1.0),) * d, np.zeros((1, d)), Pure(Fraction(1, 2**29)))


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_the_noise_of_vectors_by_definition(k, monkeypatch):
    """The scale of each coordinate from distances in plain numbers; both in cells of the grid."""
    rng = np.random.default_rng(k)
    aggregator = attention.VectorAttention(k, ((0.0, 1.0),) * 2, CANDIDATES, Pure(2))
    grids = [g.step for g in aggregator.grids]
    assert len(set(grids)) == 1
    first = (k + 1) // 2 + 1
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    farthest = np.abs(CANDIDATES[:, None] - corners).sum(axis=2).max(axis=1).min()
    for _ in range(20):
        z = rng.choice([0.0, 0.25, 0.5, 1.0], (k, 2))
        far = np.sort(np.abs(CANDIDATES[:, None] - z).sum(axis=2), axis=1).min(axis=0)
        radius = lambda t, far=far: far[t - 1] if t <= k else farthest  # noqa: E731
        wanted = max(
            math.exp(-aggregator.beta * t) * (radius(first + t) + radius(first + t + 1))
            for t in range(k + 2)
        )
        for _, scale in vector_draws(aggregator, z, monkeypatch):
            assert scale * aggregator.alpha * grids[0] == pytest.approx(wanted, rel=1e-11)


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


# ---- Staircase noise of a mean. ----


@quick_rows(1)
@pytest.mark.parametrize("loss", [Pure(8), Approx(8, Fraction(1, 10**9))], ids=repr)
def test_a_mean_has_staircase_noise_for_a_large_epsilon(loss):
    """It is that of one integer of the range's sensitivity, and .41 of Laplace's in deviation."""
    z = np.full(50, 2.0)
    aggregator = aggregators.Mean(50, 0.0, 10.0, loss)
    assert aggregator.loss == Pure(8) and type(aggregator.loss) is Pure
    assert aggregator.staircase.staircase.step >= aggregator.grid.span
    bits = InsecureGenerator(6)
    off = np.array([aggregator.release(z, bits) for _ in range(4000)]) - 2.0
    due = mean.deviation_of(loss) * 10 / 50
    assert due == pytest.approx(
        aggregator.staircase.deviation * 10 / 50 / aggregator.grid.span, rel=1e-3
    )
    assert np.sqrt((off**2).mean()) == pytest.approx(due, rel=0.1)
    laplace = math.sqrt(2) / 8 * 10 / 50
    assert due < 0.5 * laplace and np.sqrt((off**2).mean()) < 0.6 * laplace  # the control
    assert aggregators.Mean(50, 0.0, 10.0, Pure(1)).staircase is None
    assert aggregators.Mean(50, 0.0, 10.0, ZCDP(30)).staircase is None
    assert aggregators.Mean(5, 3.0, 3.0, Pure(8)).release(np.full(5, 3.0), bits) == 3.0


@pytest.mark.parametrize("loss", [Pure(1), Pure(9), Approx(1, 1e-9), ZCDP(0.1)], ids=str)
@pytest.mark.parametrize("bounds", [((0, 10),), ((0, 10), (-3, 5))], ids=["one", "two"])
def test_the_bar_of_a_mean_of_blocks_holds(loss, bounds):
    """In 19 of 20 answers (2,000 are seeded); one half as wide does not."""
    z = np.random.default_rng(5).uniform(0, 5, (50, len(bounds)))
    of_one = len(bounds) == 1
    of_blocks = mean.Mean(50, *bounds[0], loss) if of_one else mean.VectorMean(50, bounds, loss)
    generator = InsecureGenerator(11)
    rows = z[:, 0] if of_one else z
    answers = np.array([of_blocks.release(rows, generator) for _ in range(2_000)])
    off = np.abs(answers.reshape(2_000, -1) - z.mean(axis=0))
    half_width = np.array(of_blocks.half_width(0.05))
    held = (off <= half_width).mean(axis=0)
    assert (held > 0.93).all() and (held < 0.97).all()
    assert ((off <= half_width / 2).mean(axis=0) < 0.9).all()
