"""Chi-square of every way to select against what mpmath computes, and planted faults.

`misfit` takes indices that some sampler has drawn and the distribution that they should have, and
answers in units of its limit: a sound sampler stays below 1 but for one run in a thousand million.
The faults go through the same function and have to exceed 1.
"""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy import special

import dpfast as dp
from dpfast._kernels.noise import Script
from dpfast.rng import InsecureGenerator

from ..reference.selection import exponential as twin
from ..support.pairwise import quick_rows

ALPHA = 1e-9
DRAWS = 100_000


# --- the measure ----------------------------------------------------------------------------------


def pooled(due, counts):
    """Cells in the order of their mass, put together until 25 are due in each."""
    order = np.argsort(-due)
    due, counts = due[order], counts[order]
    group = np.minimum(np.cumsum(due) // 25, due.sum() // 25 - 1).astype(np.int64)
    group = np.unique(group, return_inverse=True)[1]
    return np.bincount(group, due), np.bincount(group, counts)


def chi_square(counts, distribution):
    """Of counts against probabilities, in units of the limit."""
    if np.any(counts[distribution == 0]):
        return math.inf
    due, seen = pooled(distribution * counts.sum(), counts)
    if len(due) == 1:
        return 0.0
    return ((seen - due) ** 2 / due).sum() / special.chdtri(len(due) - 1, ALPHA)


def slope(draws, distribution):
    """How far the mean log-probability of the draws is off, in units of the limit."""
    x = np.log(distribution, where=distribution > 0, out=np.zeros(len(distribution)))
    mean = distribution @ x
    spread = math.sqrt(max(distribution @ (x - mean) ** 2, 1e-300) / len(draws))
    return abs(x[draws].mean() - mean) / spread / special.ndtri(1 - ALPHA / 2)


def misfit(draws, distribution, cells=None):
    """The worse of the two, chi-square over candidates or over `cells` of them."""
    counts = np.bincount(draws, minlength=len(distribution)).astype(float)
    if cells is None:
        chi = chi_square(counts, distribution)
    elif np.any(counts[distribution == 0]):
        return math.inf
    else:
        cells = np.unique(cells, return_inverse=True)[1]
        chi = chi_square(np.bincount(cells, counts), np.bincount(cells, distribution))
    return (
        chi if np.ptp(distribution[distribution > 0]) == 0 else max(chi, slope(draws, distribution))
    )


def pairs_misfit(draws, distribution):
    """Chi-square of neighboring draws against independence; for a handful of candidates."""
    both = draws[:-1:2] * len(distribution) + draws[1::2]
    counts = np.bincount(both, minlength=len(distribution) ** 2).astype(float)
    return chi_square(counts, np.outer(distribution, distribution).ravel())


def same_distribution(a, b):
    """Chi-square of two samples (rows are outcomes) against one distribution, in units of its
    limit."""
    kinds = np.unique(np.concatenate([a, b]), axis=0, return_inverse=True)[1].reshape(-1)
    n = kinds.max() + 1
    seen = np.array([np.bincount(k, minlength=n) for k in (kinds[: len(a)], kinds[len(a) :])])
    often = seen.sum(axis=0) >= 50
    rest = seen[:, ~often].sum(axis=1, keepdims=True)
    seen = np.hstack([seen[:, often], rest]) if rest.sum() >= 50 else seen[:, often]
    if seen.shape[1] == 1:
        return 0.0
    due = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    return ((seen - due) ** 2 / due).sum() / special.chdtri(seen.shape[1] - 1, ALPHA)


def floats(distribution):
    return np.array([float(p) for p in distribution])


# --- the ways to draw -----------------------------------------------------------------------------


def by_size(scores, draws, call=dp.selection.exponential, seed=1, **options):
    options = {"sensitivity": 1, "rng": InsecureGenerator(seed)} | options
    return call(scores, size=draws, **options)


def one_by_one(scores, draws, call=dp.selection.exponential, seed=2, **options):
    options = {"sensitivity": 1, "rng": InsecureGenerator(seed)} | options
    return np.array([call(scores, **options) for _ in range(draws)])


def by_rows(scores, draws, call=dp.selection.exponential, seed=3, **options):
    """One draw from each row of a matrix in which every row is rolled by another amount."""
    options = {"sensitivity": 1, "rng": InsecureGenerator(seed)} | options
    n = len(scores)
    turn = np.arange(draws) % n
    place = (np.arange(n) - turn[:, None]) % n
    return (call(scores[place], axis=-1, **options) - turn) % n


def by_columns(scores, draws, call=dp.selection.exponential, seed=4, **options):
    options = {"sensitivity": 1, "rng": InsecureGenerator(seed)} | options
    return call(np.broadcast_to(scores[:, None], (len(scores), draws)), axis=0, **options)


WAYS = {f.__name__: f for f in (by_size, one_by_one, by_rows, by_columns)}


# --- few candidates -------------------------------------------------------------------------------

_rng = np.random.default_rng(5)
SMALL = {
    "five": (np.array([0.0, 0.5, 1.0, 2.5, 2.5]), 1.0),
    "two far": (np.array([0.0, -1.0, -2.0, -41.0, -200.0]), 2.0),
    "64": (_rng.normal(size=64) * 2, 2.0),
    "65": (_rng.normal(size=65) * 2, 2.0),
    "ties": (np.repeat([3.0, 1.0, 2.0], [3, 50, 17]), 1.5),
    "0 to 200": (np.linspace(-200, 0, 1000), 0.5),
    "thousand": (_rng.normal(size=1000) * 4, 1.0),
    "one against a thousand": (np.where(np.arange(1000) == 700, 7.0, 0.0), 2.0),
    "all equal": (np.full(100, -3.5), 1.0),
    "excluded": (np.array([-np.inf, 1.0, -np.inf, 0.0, 2.0, -np.inf]), 1.0),
    "int8, whole range": (np.array([-128, 127, 0, 100, 120, 126], np.int8), 0.02),
    "int64 beyond 2**53": (2**62 + np.array([0, 1, 2, 3, 5, 5]), 1.0),
    "int64, whole range": (np.array([-(2**63), 2**63 - 1, 0, 2**63 - 2**60, 2**63 - 2**59]),
        2.0**-58),
    "uint64": (np.array([2**64 - 1, 2**64 - 2, 2**64 - 4, 2**64 - 8], np.uint64), 0.5),
    "float32": (_rng.normal(size=40).astype(np.float32), 4.0),
    "float16": (_rng.normal(size=20).astype(np.float16), 4.0),
    "bool": (np.array([True, False, False, True, False]), 2.0),
    "byte-swapped": (_rng.normal(size=30).astype(">f8"), 4.0),
    "reversed view": ((_rng.normal(size=60))[::-2], 3.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def distributions():
    return {name: floats(twin.exponential(s, eps / 2)) for name, (s, eps) in SMALL.items()}


@quick_rows(1)
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("way", WAYS)
def test_exponential(distributions, name, way):
    (scores, epsilon), distribution = SMALL[name], distributions[name]
    draws = {"by_size": DRAWS, "one_by_one": 10_000}.get(
        way, min(DRAWS, 10**7 // len(distribution))
    )
    found = WAYS[way](scores, draws, epsilon=epsilon)
    assert found.shape == (draws,) and found.dtype == np.int64
    assert misfit(found, distribution) < 1


# One wrong only in its scale needs scores that differ to be noticed.
SCALED = [name for name, (s, _) in SMALL.items() if name != "all equal"]


@quick_rows(3)
@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("factor", [1.05, 1 / 1.05])
def test_a_scale_five_per_cent_off_is_caught(distributions, name, factor):
    (scores, epsilon), distribution = SMALL[name], distributions[name]
    found = by_size(scores, 4 * DRAWS, epsilon=epsilon * factor)
    assert misfit(found, distribution) > 1
    assert misfit(by_size(scores, 4 * DRAWS, epsilon=epsilon), distribution) < 1


@quick_rows(3)
@pytest.mark.parametrize("way", WAYS)
def test_draws_are_independent(way):
    scores, distribution = SMALL["five"][0], floats(twin.exponential(SMALL["five"][0], 0.5))
    found = WAYS[way](scores, 20_000, epsilon=1.0)
    assert pairs_misfit(found, distribution) < 1
    # Control: each draw handed out twice.
    assert pairs_misfit(np.repeat(found, 2)[: len(found)], distribution) > 1


def test_loss_and_sensitivity_set_the_scale():
    scores = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    for options, c in (
        ({"epsilon": 2.0, "sensitivity": 4}, 0.25),
        ({"epsilon": 2.0, "sensitivity": 4, "monotone": True}, 0.5),
        ({"rho": 0.474474647, "sensitivity": 2}, 0.5),
        ({"rho": 0.474474647, "sensitivity": 2, "monotone": True}, 1.0),
    ):
        found = by_size(scores, DRAWS, **options)
        assert misfit(found, floats(twin.exponential(scores, c))) < 1
        assert misfit(found, floats(twin.exponential(scores, 2 * c))) > 1


@quick_rows(1)
@pytest.mark.parametrize("way", [by_size, one_by_one])
@pytest.mark.parametrize("n", [6, 1000])
def test_base_weights(way, n):
    rng = np.random.default_rng(n)
    scores, base = rng.integers(0, 5, n), np.log(rng.integers(1, 9, n))
    base[n // 2] = -np.inf
    distribution = floats(twin.exponential(scores, 0.5, base))
    assert distribution[n // 2] == 0
    found = way(scores, 20_000, base=base, epsilon=1.0)
    assert misfit(found, distribution) < 1
    # Controls: no base, and a base that is scaled like the scores.
    assert misfit(way(scores, 20_000, epsilon=1.0), distribution) > 1
    assert misfit(found, floats(twin.exponential(scores, 0.5, base / 2))) > 1


# --- planted faults -------------------------------------------------------------------------------


def test_ties_broken_by_index_are_caught(distributions):
    scores, _ = SMALL["ties"]
    first = np.array([np.flatnonzero(scores == s)[0] for s in scores])
    assert misfit(first[by_size(scores, DRAWS, epsilon=1.5)], distributions["ties"]) > 1


def test_scores_cast_to_float_are_caught(distributions):
    for name in ("int64 beyond 2**53", "uint64"):
        scores, epsilon = SMALL[name]
        found = by_size(scores.astype(np.float64), DRAWS, epsilon=epsilon)
        assert misfit(found, distributions[name]) > 1


def test_excluded_candidates_are_never_drawn_and_would_be_caught(distributions):
    scores, epsilon = SMALL["excluded"]
    found = by_size(np.where(scores == -np.inf, -60.0, scores), DRAWS, epsilon=epsilon)
    assert misfit(found, distributions["excluded"]) < 1
    assert misfit(np.append(found, 0), distributions["excluded"]) > 1


# --- blocks ---------------------------------------------------------------------------------------

N = 20_001
LEVELS = np.array([0.0, 1.0, 2.5, 6.0])


def _levels(order):
    level = np.random.default_rng(6).choice(4, N, p=[0.7, 0.2, 0.09, 0.01])
    level.sort()
    if order == "reversed":
        level = level[::-1].copy()
    elif order == "shuffled":
        np.random.default_rng(7).shuffle(level)
    elif order == "striped":  # a full block's worth of each level in turn, whatever the block
        level = np.arange(N) // 64 % 4
    return LEVELS[level]


def _heavy(at):
    scores = np.zeros(N)
    scores[at] = math.log(N)  # as likely as all others together, at c = 1
    return scores


def cells_of(scores):
    """Level by stretch of the index, and candidates beside the ends by themselves."""
    level = np.unique(scores, return_inverse=True)[1]
    return level * 20 + np.arange(len(scores)) * 20 // len(scores)


BIG = {order: _levels(order) for order in ("sorted", "reversed", "shuffled", "striped")}
BIG |= {f"winner at {at}": _heavy(at) for at in (0, 63, 64, 255, 256, 8191, 8192, N - 1, N - 2)}
BIG["excluded but every seventh"] = np.where(np.arange(N) % 7 == 3, _levels("shuffled"), -np.inf)
BIG["first half excluded"] = np.where(np.arange(N) > N // 2, _levels("shuffled"), -np.inf)
BIG["integers"] = (_levels("shuffled") * 2).astype(np.int64) + 2**60
BIG["strided"] = np.repeat(_levels("shuffled"), 3)[1::3]


def distribution_of(scores, c):
    """The exponential mechanism's distribution where few scores are distinct."""
    level, where, many = np.unique(scores, return_inverse=True, return_counts=True)
    inside = floats(twin.exponential(level, c, [math.log(m) for m in many.tolist()]))
    return (inside / many)[where]


@quick_rows(6)
@pytest.mark.parametrize("draws", [50_000, pytest.param(4_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BIG)
def test_blocks(name, draws):
    scores = BIG[name]
    distribution, cells = distribution_of(scores, 1.0), cells_of(scores)
    found = by_size(scores, draws, epsilon=2.0)
    assert misfit(found, distribution, cells) < 1
    assert draws == 50_000 or misfit(found, distribution_of(scores, 1.05), cells) > 1


@quick_rows(1)
@pytest.mark.parametrize("name", ["shuffled", "striped", "winner at 64"])
def test_calls_over_blocks(name):
    scores = BIG[name]
    distribution, cells = distribution_of(scores, 1.0), cells_of(scores)
    found = one_by_one(scores, 2_000, epsilon=2.0)
    assert misfit(found, distribution, cells) < 1
    assert misfit(found, distribution_of(scores, 1.3), cells) > 1


def test_bounds_of_blocks_taken_for_weights_are_caught():
    """The planted fault: a block drawn by its bound, and any candidate of it kept."""
    rng = np.random.default_rng(9)
    for name in ("shuffled", "winner at 64"):
        scores = BIG[name]
        for block in (16, 64, 1024):
            start = np.arange(0, N, block)
            bound = np.exp(np.maximum.reduceat(scores, start) - scores.max())
            size = np.diff(np.append(start, N))
            drawn = rng.choice(len(start), 50_000, p=bound * size / (bound @ size))
            found = start[drawn] + (rng.random(50_000) * size[drawn]).astype(np.int64)
            assert misfit(found, distribution_of(scores, 1.0), cells_of(scores)) > 1


def test_a_lost_last_block_is_caught():
    scores = _levels("reversed")
    found = by_size(scores[: N // 64 * 64 - 512], 200_000, epsilon=0.2)
    cells = np.arange(N) * 39 // N
    distribution = distribution_of(scores, 0.1)
    assert misfit(found, distribution, cells) > 1
    assert misfit(by_size(scores, 200_000, epsilon=0.2), distribution, cells) < 1


# --- permute-and-flip -----------------------------------------------------------------------------

FLIPPED = {
    "five": SMALL["five"],
    "three ties": (np.array([1.0, 1.0, 1.0]), 1.0),
    "64": SMALL["64"],
    "65": SMALL["65"],
    "ties": SMALL["ties"],
    "0 to 200": (np.linspace(-200, 0, 300), 0.5),
    "one against a thousand": (np.where(np.arange(1000) == 700, 7.0, 0.0), 2.0),
    "excluded": SMALL["excluded"],
    "int64 beyond 2**53": SMALL["int64 beyond 2**53"],
    "int8, whole range": SMALL["int8, whole range"],
}  # fmt: skip


flips = partial(by_size, call=dp.selection.permute_and_flip, seed=11)
FLIP_WAYS = {
    "flips": flips,
    "flips_one_by_one": partial(one_by_one, call=dp.selection.permute_and_flip, seed=12),
    "flips_by_rows": partial(by_rows, call=dp.selection.permute_and_flip, seed=13),
}


@quick_rows(1)
@pytest.mark.parametrize("name", FLIPPED)
@pytest.mark.parametrize("way", FLIP_WAYS)
def test_permute_and_flip(name, way):
    scores, epsilon = FLIPPED[name]
    distribution = twin.permute_and_flip(scores, epsilon / 2)
    found = FLIP_WAYS[way](scores, 10_000, epsilon=epsilon)
    assert misfit(found, distribution) < 1


@quick_rows(1)
@pytest.mark.parametrize("name", ["five", "64", "0 to 200"])
def test_permute_and_flip_is_told_from_other_distributions(name):
    """Controls: a scale that is 5 % off, and the exponential mechanism; and the other way round."""
    scores, epsilon = FLIPPED[name]
    distribution = twin.permute_and_flip(scores, epsilon / 2)
    flipped = flips(scores, DRAWS, epsilon=epsilon)
    assert misfit(flipped, distribution) < 1
    for factor in (1.05, 1 / 1.05):
        assert misfit(flipped, twin.permute_and_flip(scores, epsilon / 2 * factor)) > 1
    gumbel = floats(twin.exponential(scores, epsilon / 2))
    assert misfit(flipped, gumbel) > 1
    assert misfit(by_size(scores, DRAWS, epsilon=epsilon), distribution) > 1


def flip_distribution_of(scores, c):
    """Permute-and-flip's distribution where few of many scores are distinct."""
    level, where, many = np.unique(scores, return_inverse=True, return_counts=True)
    coin = np.where(level == -np.inf, 0.0, np.exp(c * (level - level[-1]).astype(float)))
    # As in the twin, with a degree that no quadrature reaches: the integrand is smooth, though,
    # on a scale that the nodes follow.
    node, weight = np.polynomial.legendre.leggauss(200)
    cut = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 60)])
    distribution = np.zeros(len(level))
    for low, high in itertools.pairwise(cut):
        t = (low + high) / 2 + (high - low) / 2 * node
        inside = np.log1p(-np.outer(t, coin))
        rest = np.exp((inside @ many)[:, None] - inside)
        distribution += coin * (weight @ rest) * (high - low) / 2
    return distribution[where]


@quick_rows(2)
@pytest.mark.parametrize("name", BIG)
def test_permute_and_flip_over_blocks(name):
    scores = BIG[name]
    distribution, cells = flip_distribution_of(scores, 1.0), cells_of(scores)
    assert abs(distribution.sum() - 1) < 1e-10
    found = flips(scores, 1_000, epsilon=2.0)
    assert misfit(found, distribution, cells) < 1


# --- top k ----------------------------------------------------------------------------------------


def tops(scores, k, draws, c, seed=21):
    """`draws` ordered answers; c is that of one of the k draws, whose epsilon is the k-th part."""
    generator = InsecureGenerator(seed)
    loss = {"sensitivity": 1, "epsilon": 2 * c * k, "rng": generator}
    return np.array([dp.selection.top_k(scores, k, **loss) for _ in range(draws)])


def tops_of_rows(scores, k, draws, c, seed=22):
    table = np.broadcast_to(scores, (draws, len(scores)))
    loss = {"sensitivity": 1, "epsilon": 2 * c * k, "rng": InsecureGenerator(seed)}
    return dp.selection.top_k(table, k, **loss)


def order_misfit(found, distribution):
    """Chi-square of ordered tuples."""
    code = {order: i for i, order in enumerate(distribution)}
    counts = np.zeros(len(distribution))
    for order in map(tuple, found.tolist()):
        if order not in code:
            return math.inf
        counts[code[order]] += 1
    return chi_square(counts, floats(distribution.values()))


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("way", [tops, tops_of_rows])
@pytest.mark.parametrize(("scores", "k", "c"), [
    (np.array([0.0, 1.0, 2.0, 2.5, 4.0]), 3, 0.5),
    (np.array([0.0, 1.0, 2.0, 2.5]), 4, 0.6),
    (np.array([0, 30, 3, 3, 31]), 2, 0.4),
    (np.array([-np.inf, 0.0, 1.0, -np.inf, 8.0]), 3, 1.0),
    (2**60 + np.array([0, 1, 2, 3]), 2, 0.5),
    (np.zeros(5), 2, 1.0),
], ids=["three of five", "all of four", "far ones", "excluded", "integers", "ties"])  # fmt: skip
def test_top_k_is_peeling_and_one_shot_gumbel(way, scores, k, c):
    distribution = twin.peeling(scores, c, k)
    found = way(scores, k, 8_000, c)
    assert order_misfit(found, distribution) < 1
    if scores.dtype.kind == "f" and np.isfinite(scores).all():
        gumbel = twin.gumbel_top(scores, c, k, 200_000, np.random.default_rng(23))
        assert order_misfit(gumbel, distribution) < 1
        assert same_distribution(gumbel, found) < 1
    # Control: the best two in the wrong order, where order says something.
    if np.ptp(scores[np.isfinite(scores)]):
        assert order_misfit(found[:, ::-1], distribution) > 1


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.05, 1 / 1.05])
def test_top_k_with_a_wrong_scale_is_caught(factor):
    scores, k, c = np.array([0.0, 1.0, 2.0, 2.5, 4.0]), 3, 0.5
    distribution = twin.peeling(scores, c, k)
    assert order_misfit(tops(scores, k, 100_000, c), distribution) < 1
    assert order_misfit(tops(scores, k, 100_000, c * factor), distribution) > 1


@pytest.mark.full
def test_top_k_in_place_of_k_draws_is_caught():
    """Controls: one mechanism's draws with repeats struck out wrongly, and one-shot Laplace."""
    scores, k, c = np.array([0.0, 1.0, 2.0, 2.5, 4.0]), 3, 0.5
    distribution = twin.peeling(scores, c, k)
    rng = np.random.default_rng(24)
    laplace = scores * c + rng.laplace(size=(DRAWS, len(scores)))
    assert order_misfit(np.argsort(-laplace, axis=1)[:, :k], distribution) > 1
    flipped = scores * c + rng.exponential(size=(DRAWS, len(scores)))
    assert order_misfit(np.argsort(-flipped, axis=1)[:, :k], distribution) > 1


def gumbel_tops(scores, k, draws, c, seed=25):
    rng = np.random.default_rng(seed)
    parts = [twin.gumbel_top(scores, c, k, 100, rng) for _ in range(draws // 100)]
    return np.concatenate(parts)


def summaries(found, scores):
    """What orders of many candidates may be compared by: levels and places of first, last, all."""
    level = np.unique(scores, return_inverse=True)[1][found]
    stretch = found * 8 // len(scores)
    yield from (np.sum(level == v, axis=1) for v in range(level.max() + 1))
    yield from (level[:, 0], level[:, -1], stretch[:, 0], stretch[:, -1])


def worst_summary(a, b, scores):
    pairs = zip(summaries(a, scores), summaries(b, scores), strict=True)
    return max(same_distribution(x[:, None], y[:, None]) for x, y in pairs)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("k", [2, 40])
@pytest.mark.parametrize("name", ["shuffled", "striped", "sorted", "winner at 64"])
def test_top_k_over_blocks(name, k):
    scores = BIG[name]
    found = tops(scores, k, 600, 1.0)
    assert all(len(set(order)) == k for order in found.tolist())
    assert worst_summary(found, gumbel_tops(scores, k, 800, 1.0), scores) < 1
    # Control: another scale. Two draws say little about it where one candidate is heavy.
    if k == 40:
        assert worst_summary(found, gumbel_tops(scores, k, 800, 0.5), scores) > 1


# --- noisy max ------------------------------------------------------------------------------------


@pytest.mark.full
def test_noisy_max():
    """By default the noise is exponential for an epsilon and Gumbel for a rho."""
    scores, noisy = SMALL["five"][0], partial(by_size, call=dp.selection.noisy_max, seed=31)
    distributions = {
        "exponential": twin.permute_and_flip(scores, 0.5),
        "gumbel": floats(twin.exponential(scores, 0.5)),
    }
    added = {
        "exponential": np.random.default_rng(32).exponential,
        "gumbel": np.random.default_rng(33).gumbel,
    }
    for name, distribution in distributions.items():
        ours = noisy(scores, DRAWS, epsilon=1.0, noise=name)
        theirs = np.argmax(scores * 0.5 + added[name](size=(DRAWS, len(scores))), axis=1)
        assert misfit(ours, distribution) < 1 and misfit(theirs, distribution) < 1
        assert same_distribution(ours[:, None], theirs[:, None]) < 1
        other = distributions["gumbel" if name == "exponential" else "exponential"]
        assert misfit(ours, other) > 1
    assert misfit(noisy(scores, DRAWS, epsilon=1.0), distributions["exponential"]) < 1
    assert misfit(noisy(scores, DRAWS, rho=0.125), distributions["gumbel"]) < 1


# --- far candidates -------------------------------------------------------------------------------
#
# One that lies 41 to 200 below the best (in units of 1 / c) is drawn about never, and must be drawn
# just so often: Gumbels from 53 bits lie between -3.6 and 36.7, which gives it probability 0. Here
# the random words are scripted. A draw is a proposal and a coin; whether the coin keeps a proposal
# is monotone in the number that its words make, so bisection finds its probability to 2**-640.

WORDS = 10
#: They follow, so that a number that is not yet told from the probability is below it. As a
#: proposal they name run 0, as a coin they keep it.
ZEROS = [0] * 4


class Scripted(dp.rng.Generator):
    """Hands out given words in place of random ones."""

    def __init__(self, words):
        self.script = Script(words)

    def stream(self):
        return self.script


def split(number):
    return [number >> 64 * (WORDS - 1 - i) & (1 << 64) - 1 for i in range(WORDS)]


def boundary(keeps):
    """The least number of WORDS words that is not kept: the probability in units of 2**-640."""
    low, high = 0, 1 << 64 * WORDS
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if keeps(middle) else (low, middle)
    return low


def first(above, holds):
    """The least word above a word at which something no longer holds."""
    low, high = above, (1 << 64) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def ceiling(x):
    """A probability in units of 2**-640, rounded up."""
    with twin.mp.workprec(900):
        return int(twin.mp.ceil(twin.mp.ldexp(x(), 64 * WORDS)))


PAIRS = {
    "gap, 0": lambda gap: np.array([gap, 0.0]),
    "0, -gap": lambda gap: np.array([0.0, -gap]),
    "a neighbor, two nearer": lambda gap: np.array([gap - 1, 1.0]),
    "a neighbor, two farther": lambda gap: np.array([gap + 1, -1.0]),
}


@quick_rows(1)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("gap", [43.0, 57.25, 100.0, 200.0])
def test_far_candidates_by_the_exponential_mechanism(gap, pair):
    """Through the public function: the words for which the far one is drawn, to the last bit."""
    scores = PAIRS[pair](gap)
    distance = float(scores[0] - scores[1])

    def draw(words):
        rng = Scripted([*words, *ZEROS])
        found = dp.selection.exponential(scores, sensitivity=1, epsilon=2.0, rng=rng)
        return found, rng.script.used

    # Proposals: first the places of the near one, then those of the far one, its W = 1.
    place = first(0, lambda w: draw([w, 0]) == (0, 2))
    end = first(place, lambda w: draw([w, *[0] * WORDS])[0] == 1)
    bound, odd = divmod(place, end - place)
    assert odd == 0
    # The near one's coin is 2**shift / W.
    coin = first(0, lambda w: draw([0, w]) == (0, 2)) / 2.0**64
    shift = round(math.log2(coin * bound))
    assert abs(coin - 2.0**shift / bound) < 2.0**-45
    # The far one's is exp(-distance) 2**shift.
    kept = boundary(lambda u: draw([place, *split(u)])[0] == 1)
    assert kept == ceiling(lambda: twin.mp.exp(-distance) * 2**shift)
    # Control: a distance that is off by a unit in the last place.
    far = math.nextafter(distance, 1000)
    assert kept != ceiling(lambda: twin.mp.exp(-far) * 2**shift)


@quick_rows(1)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("gap", [43.0, 57.25, 100.0, 200.0])
def test_far_candidates_by_permute_and_flip(gap, pair):
    """The far one stands first here: a pick of 0 among two heads is the far one."""
    scores = PAIRS[pair](gap)[::-1]
    distance = float(scores[1] - scores[0])

    def heads(u):
        word, *rest = split(u)
        rng = Scripted([word, 0, *rest, *ZEROS])
        return dp.selection.permute_and_flip(scores, sensitivity=1, epsilon=2.0, rng=rng) == 0

    kept = boundary(heads)
    assert kept == ceiling(lambda: twin.mp.exp(-distance))
    far = math.nextafter(distance, 1000)
    assert kept != ceiling(lambda: twin.mp.exp(-far))
