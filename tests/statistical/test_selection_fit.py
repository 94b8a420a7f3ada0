"""Chi-square of every way to select against what mpmath computes, and planted faults.

`misfit` takes indices that some sampler has drawn and the distribution that they should have, and
answers in units of its limit: a sound sampler stays below 1 but for one run in a thousand million.
The faults go through the same function and have to exceed 1.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.noise import Script
from dpfast.rng import InsecureGenerator

from ..reference.selection import exponential as twin
from ..support.lazy import special
from ..support.pairwise import quick_rows

ALPHA = 1e-9
DRAWS = 100_000


# --- the measure ----------------------------------------------------------------------------------


def chi_square(counts, distribution):
    """Of counts against probabilities, in units of the limit; 25 are due in each cell at least."""
    if np.any(counts[distribution == 0]):
        return math.inf
    order, due = np.argsort(-distribution), distribution * counts.sum()
    group = np.minimum(np.cumsum(due[order]) // 25, due.sum() // 25 - 1).astype(np.int64)
    group = np.unique(group, return_inverse=True)[1]
    due, seen = np.bincount(group, due[order]), np.bincount(group, counts[order])
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
    if np.any(counts[distribution == 0]):
        return math.inf
    cells = np.arange(len(distribution)) if cells is None else cells
    cells = np.unique(cells, return_inverse=True)[1]
    chi = chi_square(np.bincount(cells, counts), np.bincount(cells, distribution))
    is_flat = np.ptp(distribution[distribution > 0]) == 0
    return chi if is_flat else max(chi, slope(draws, distribution))


def pairs_misfit(draws, distribution):
    """Chi-square of neighboring draws against independence; for a handful of candidates."""
    both = draws[:-1:2] * len(distribution) + draws[1::2]
    counts = np.bincount(both, minlength=len(distribution) ** 2).astype(float)
    return chi_square(counts, np.outer(distribution, distribution).ravel())


def same_distribution(a, b):
    """Chi-square of two samples (rows are outcomes) against one distribution, in such units."""
    kinds = np.unique(np.concatenate([a, b]), axis=0, return_inverse=True)[1].reshape(-1)
    seen = np.array([np.bincount(k, minlength=kinds.max() + 1) for k in np.split(kinds, [len(a)])])
    often = seen.sum(axis=0) >= 50
    rest = seen[:, ~often].sum(axis=1, keepdims=True)
    seen = np.hstack([seen[:, often], rest]) if rest.sum() >= 50 else seen[:, often]
    if seen.shape[1] == 1:
        return 0.0
    due = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    return ((seen - due) ** 2 / due).sum() / special.chdtri(seen.shape[1] - 1, ALPHA)


def floats(distribution):
    return np.array([float(p) for p in distribution])


# --- few candidates -------------------------------------------------------------------------------

#: All at once, one at a time, and each of a row or column of its own.
WAYS = ["size", "calls", "rows", "columns"]


def drawn(scores, draws, way="size", call=dp.selection.exponential, **options):
    """Indices that are drawn in one of the ways."""
    seed = 1 + WAYS.index(way) + 10 * (call is dp.selection.permute_and_flip)
    options = {"sensitivity": 1, "rng": InsecureGenerator(seed)} | options
    if way == "size":
        return call(scores, size=draws, **options)
    if way == "calls":
        return np.array([call(scores, **options) for _ in range(draws)])
    n, turn = len(scores), np.arange(draws) % len(scores)
    if way == "columns":
        return call(np.broadcast_to(scores[:, None], (n, draws)), axis=0, **options)
    place = (np.arange(n) - turn[:, None]) % n  # every row is rolled by another amount
    return (call(scores[place], axis=-1, **options) - turn) % n


_rng = np.random.default_rng(5)
SMALL = {
    "five": (np.array([0.0, 0.5, 1.0, 2.5, 2.5]), 1.0),
    "two far": (np.array([0.0, -1.0, -2.0, -41.0, -200.0]), 2.0),
    "64": (_rng.normal(size=64) * 2, 2.0),
    "65": (_rng.normal(size=65) * 2, 2.0),
    "ties": (np.repeat([3.0, 1.0, 2.0], [3, 50, 17]), 1.5),
    "0 to 200": (np.linspace(-200, 0, 300), 0.5),
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
FLIPPED = ["five", "64", "65", "ties", "0 to 200", "one against a thousand", "all equal"]
FLIPPED += ["excluded", "int64 beyond 2**53", "int8, whole range"]


@cache
def exact(name, call=dp.selection.exponential):
    scores, epsilon = SMALL[name]
    if call is dp.selection.exponential:
        return floats(twin.exponential(scores, epsilon / 2))
    return twin.permute_and_flip(scores, epsilon / 2)


OF_EACH = [(dp.selection.exponential, name, way) for name in SMALL for way in WAYS]
OF_EACH += [(dp.selection.permute_and_flip, n, way) for n in FLIPPED for way in WAYS[:3]]


@quick_rows(3, full=40)
@pytest.mark.parametrize(("call", "name", "way"), OF_EACH)
def test_draws_have_the_distribution(call, name, way):
    scores, epsilon = SMALL[name]
    draws = DRAWS if call is dp.selection.exponential else 10_000
    draws = 10_000 if way == "calls" else min(draws, 10**7 // len(scores))
    found = drawn(scores, draws, way, call, epsilon=epsilon)
    assert found.shape == (draws,) and found.dtype == np.int64
    assert misfit(found, exact(name, call)) < 1


@quick_rows(2)
@pytest.mark.parametrize("name", [name for name in SMALL if name != "all equal"])
@pytest.mark.parametrize("factor", [1.05, 1 / 1.05])
def test_a_scale_five_per_cent_off_is_caught(name, factor):
    scores, epsilon = SMALL[name]
    assert misfit(drawn(scores, 4 * DRAWS, epsilon=epsilon * factor), exact(name)) > 1
    assert misfit(drawn(scores, 4 * DRAWS, epsilon=epsilon), exact(name)) < 1


@quick_rows(3)
@pytest.mark.parametrize("way", WAYS)
def test_draws_are_independent(way):
    found = drawn(SMALL["five"][0], 2_500 if way == "calls" else 20_000, way, epsilon=1.0)
    assert pairs_misfit(found, exact("five")) < 1
    # Control: each draw handed out twice.
    assert pairs_misfit(np.repeat(found, 2)[: len(found)], exact("five")) > 1


def test_loss_and_sensitivity_set_the_scale():
    scores = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    for options, c in (
        ({"epsilon": 2.0, "sensitivity": 4}, 0.25),
        ({"epsilon": 2.0, "sensitivity": 4, "monotone": True}, 0.5),
        ({"rho": 0.474474647, "sensitivity": 2}, 0.5),
        ({"rho": 0.474474647, "sensitivity": 2, "monotone": True}, 1.0),
    ):
        found = drawn(scores, DRAWS, **options)
        assert misfit(found, floats(twin.exponential(scores, c))) < 1
        assert misfit(found, floats(twin.exponential(scores, 2 * c))) > 1


@quick_rows(1)
@pytest.mark.parametrize("way", ["size", "calls"])
@pytest.mark.parametrize("n", [6, 1000])
def test_base_weights(way, n):
    rng = np.random.default_rng(n)
    scores, base = rng.integers(0, 5, n), np.log(rng.integers(1, 9, n))
    base[n // 2] = -np.inf
    distribution = floats(twin.exponential(scores, 0.5, base))
    found = drawn(scores, 20_000, way, base=base, epsilon=1.0)
    assert distribution[n // 2] == 0 and misfit(found, distribution) < 1
    # Controls: no base, and a base that is scaled like the scores.
    assert misfit(drawn(scores, 20_000, way, epsilon=1.0), distribution) > 1
    assert misfit(found, floats(twin.exponential(scores, 0.5, base / 2))) > 1


def test_ties_by_index_scores_cast_to_float_and_excluded_candidates_are_caught():
    scores, _ = SMALL["ties"]
    first = np.array([np.flatnonzero(scores == s)[0] for s in scores])
    assert misfit(first[drawn(scores, DRAWS, epsilon=1.5)], exact("ties")) > 1
    for name in ("int64 beyond 2**53", "uint64"):
        scores, epsilon = SMALL[name]
        assert misfit(drawn(scores.astype(float), DRAWS, epsilon=epsilon), exact(name)) > 1
    scores, epsilon = SMALL["excluded"]
    found = drawn(np.where(scores == -np.inf, -60.0, scores), DRAWS, epsilon=epsilon)
    assert misfit(found, exact("excluded")) < 1
    assert misfit(np.append(found, 0), exact("excluded")) > 1


@quick_rows(1)
@pytest.mark.parametrize("name", ["five", "64", "0 to 200"])
def test_permute_and_flip_is_told_from_other_distributions(name):
    """Controls: a scale that is 5 % off, and the exponential mechanism; and the other way round."""
    (scores, epsilon), call = SMALL[name], dp.selection.permute_and_flip
    flipped = drawn(scores, DRAWS, call=call, epsilon=epsilon)
    assert misfit(flipped, exact(name, call)) < 1
    for factor in (1.05, 1 / 1.05):
        assert misfit(flipped, twin.permute_and_flip(scores, epsilon / 2 * factor)) > 1
    assert misfit(flipped, exact(name)) > 1
    assert misfit(drawn(scores, DRAWS, epsilon=epsilon), exact(name, call)) > 1


# --- blocks ---------------------------------------------------------------------------------------

N = 20_001


def _levels(order):
    level = np.random.default_rng(6).choice(4, N, p=[0.7, 0.2, 0.09, 0.01])
    level.sort()
    if order == "reversed":
        level = level[::-1].copy()
    elif order == "shuffled":
        np.random.default_rng(7).shuffle(level)
    elif order == "striped":  # a full block's worth of each level in turn, whatever the block
        level = np.arange(N) // 64 % 4
    return np.array([0.0, 1.0, 2.5, 6.0])[level]


def cells_of(scores):
    """Level by stretch of the index, and candidates beside the ends by themselves."""
    level = np.unique(scores, return_inverse=True)[1]
    return level * 20 + np.arange(len(scores)) * 20 // len(scores)


BIG = {order: _levels(order) for order in ("sorted", "reversed", "shuffled", "striped")}
# One is as likely as all others together, at c = 1.
BIG |= {
    f"winner at {at}": np.where(np.arange(N) == at, math.log(N), 0.0)
    for at in (0, 63, 64, 255, 256, 8191, 8192, N - 1, N - 2)
}
BIG["excluded but every seventh"] = np.where(np.arange(N) % 7 == 3, _levels("shuffled"), -np.inf)
BIG["first half excluded"] = np.where(np.arange(N) > N // 2, _levels("shuffled"), -np.inf)
BIG["integers"] = (_levels("shuffled") * 2).astype(np.int64) + 2**60
BIG["strided"] = np.repeat(_levels("shuffled"), 3)[1::3]


def distribution_of(scores, c):
    """The exponential mechanism's distribution where few scores are distinct."""
    level, where, many = np.unique(scores, return_inverse=True, return_counts=True)
    inside = floats(twin.exponential(level, c, [math.log(m) for m in many.tolist()]))
    return (inside / many)[where]


def flip_distribution_of(scores, c):
    """Permute-and-flip's distribution where few of many scores are distinct."""
    level, where, many = np.unique(scores, return_inverse=True, return_counts=True)
    coin = np.where(level == -np.inf, 0.0, np.exp(c * (level - level[-1]).astype(float)))
    # As in the twin, with a degree that no quadrature reaches: the integrand is smooth, though,
    # on a scale that the nodes follow.
    node, weight = np.polynomial.legendre.leggauss(200)
    distribution = np.zeros(len(level))
    for low, high in itertools.pairwise([0.0, *np.geomspace(1e-9, 1.0, 60)]):
        t = (low + high) / 2 + (high - low) / 2 * node
        inside = np.log1p(-np.outer(t, coin))
        rest = np.exp((inside @ many)[:, None] - inside)
        distribution += coin * (weight @ rest) * (high - low) / 2
    return distribution[where]


@quick_rows(4)
@pytest.mark.parametrize("draws", [50_000, pytest.param(4_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BIG)
def test_blocks(name, draws):
    scores = BIG[name]
    distribution, cells = distribution_of(scores, 1.0), cells_of(scores)
    found = drawn(scores, draws, epsilon=2.0)
    assert misfit(found, distribution, cells) < 1
    assert draws == 50_000 or misfit(found, distribution_of(scores, 1.05), cells) > 1


@quick_rows(1)
@pytest.mark.parametrize("name", ["shuffled", "striped", "winner at 64"])
def test_calls_over_blocks(name):
    scores = BIG[name]
    found = drawn(scores, 2_000, "calls", epsilon=2.0)
    assert misfit(found, distribution_of(scores, 1.0), cells_of(scores)) < 1
    assert misfit(found, distribution_of(scores, 1.3), cells_of(scores)) > 1


@quick_rows(1)
@pytest.mark.parametrize("name", BIG)
def test_permute_and_flip_over_blocks(name):
    scores = BIG[name]
    distribution, cells = flip_distribution_of(scores, 1.0), cells_of(scores)
    assert abs(distribution.sum() - 1) < 1e-10
    found = drawn(scores, 1_000, call=dp.selection.permute_and_flip, epsilon=2.0)
    assert misfit(found, distribution, cells) < 1


def test_bounds_of_blocks_taken_for_weights_are_caught():
    """The planted fault: a block drawn by its bound, and any candidate of it kept."""
    rng = np.random.default_rng(9)
    for name, block in itertools.product(("shuffled", "winner at 64"), (16, 64, 1024)):
        scores, start = BIG[name], np.arange(0, N, block)
        bound = np.exp(np.maximum.reduceat(scores, start) - scores.max())
        size = np.diff(np.append(start, N))
        at = rng.choice(len(start), 50_000, p=bound * size / (bound @ size))
        found = start[at] + (rng.random(50_000) * size[at]).astype(np.int64)
        assert misfit(found, distribution_of(scores, 1.0), cells_of(scores)) > 1


def test_a_lost_last_block_is_caught():
    scores = BIG["reversed"]
    cells, distribution = np.arange(N) * 39 // N, distribution_of(scores, 0.1)
    found = drawn(scores[: N // 64 * 64 - 512], 200_000, epsilon=0.2)
    assert misfit(found, distribution, cells) > 1
    assert misfit(drawn(scores, 200_000, epsilon=0.2), distribution, cells) < 1


# --- top k and noisy max --------------------------------------------------------------------------


def tops(scores, k, draws, c, of_rows=False):
    """`draws` ordered answers; c is that of one of the k draws, whose epsilon is the k-th part."""
    loss = {"sensitivity": 1, "epsilon": 2 * c * k, "rng": InsecureGenerator(21 + of_rows)}
    if of_rows:
        return dp.selection.top_k(np.broadcast_to(scores, (draws, len(scores))), k, **loss)
    return np.array([dp.selection.top_k(scores, k, **loss) for _ in range(draws)])


def order_misfit(found, distribution):
    """Chi-square of ordered tuples."""
    code = {order: i for i, order in enumerate(distribution)}
    orders = [code.get(order) for order in map(tuple, found.tolist())]
    if None in orders:
        return math.inf
    counts = np.bincount(orders, minlength=len(code)).astype(float)
    return chi_square(counts, floats(distribution.values()))


THREE = np.array([0.0, 1.0, 2.0, 2.5, 4.0]), 3, 0.5


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize(("scores", "k", "c"), [
    THREE,
    (np.array([0.0, 1.0, 2.0, 2.5]), 4, 0.6),
    (np.array([0, 30, 3, 3, 31]), 2, 0.4),
    (np.array([-np.inf, 0.0, 1.0, -np.inf, 8.0]), 3, 1.0),
    (2**60 + np.array([0, 1, 2, 3]), 2, 0.5),
    (np.zeros(5), 2, 1.0),
], ids=["three of five", "all of four", "far ones", "excluded", "integers", "ties"])  # fmt: skip
def test_top_k_is_peeling_and_one_shot_gumbel(of_rows, scores, k, c):
    distribution = twin.peeling(scores, c, k)
    found = tops(scores, k, 8_000, c, of_rows)
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
    scores, k, c = THREE
    assert order_misfit(tops(scores, k, 100_000, c), twin.peeling(scores, c, k)) < 1
    assert order_misfit(tops(scores, k, 100_000, c * factor), twin.peeling(scores, c, k)) > 1


@pytest.mark.full
@pytest.mark.parametrize("kind", ["laplace", "exponential"])
def test_top_k_of_one_shot_of_other_noise_is_caught(kind):
    scores, k, c = THREE
    noisy = scores * c + getattr(np.random.default_rng(24), kind)(size=(DRAWS, len(scores)))
    assert order_misfit(np.argsort(-noisy, axis=1)[:, :k], twin.peeling(scores, c, k)) > 1


def worst_summary(a, b, scores):
    """What orders of many may be compared by: levels and places of first, last, all."""

    def summaries(found):
        level = np.unique(scores, return_inverse=True)[1][found]
        stretch = found * 8 // len(scores)
        yield from (np.sum(level == v, axis=1) for v in range(level.max() + 1))
        yield from (level[:, 0], level[:, -1], stretch[:, 0], stretch[:, -1])

    pairs = zip(summaries(a), summaries(b), strict=True)
    return max(same_distribution(x[:, None], y[:, None]) for x, y in pairs)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("k", [2, 40])
@pytest.mark.parametrize("name", ["shuffled", "striped", "sorted", "winner at 64"])
def test_top_k_over_blocks(name, k):
    scores, rng = BIG[name], np.random.default_rng(25)
    found = tops(scores, k, 600, 1.0)
    assert all(len(set(order)) == k for order in found.tolist())

    def gumbel(c):
        return np.concatenate([twin.gumbel_top(scores, c, k, 100, rng) for _ in range(8)])

    assert worst_summary(found, gumbel(1.0), scores) < 1
    # Control: another scale. Two draws say little about it where one candidate is heavy.
    assert k == 2 or worst_summary(found, gumbel(0.5), scores) > 1


@pytest.mark.full
def test_noisy_max():
    """By default the noise is exponential for an epsilon and Gumbel for a rho."""
    (scores, _), call = SMALL["five"], dp.selection.noisy_max
    distributions = {
        "exponential": exact("five", dp.selection.permute_and_flip),
        "gumbel": exact("five"),
    }
    for (name, right), wrong in zip(
        distributions.items(), reversed(distributions.values()), strict=True
    ):
        ours = drawn(scores, DRAWS, call=call, epsilon=1.0, noise=name)
        added = getattr(np.random.default_rng(32), name)(size=(DRAWS, len(scores)))
        theirs = np.argmax(scores * 0.5 + added, axis=1)
        assert misfit(ours, right) < 1 and misfit(theirs, right) < 1 < misfit(ours, wrong)
        assert same_distribution(ours[:, None], theirs[:, None]) < 1
        loss = {"epsilon": 1.0} if name == "exponential" else {"rho": 0.125}
        assert misfit(drawn(scores, DRAWS, call=call, **loss), right) < 1


# --- far candidates -------------------------------------------------------------------------------
#
# One that lies 41 to 200 below the best (in units of 1 / c) is drawn about never, and must be drawn
# just so often: Gumbels from 53 bits lie between -3.6 and 36.7, which gives it probability 0. Here
# the random words are scripted. A draw is a proposal and a coin; whether the coin keeps a proposal
# is monotone in the number that its words make, which is compared with its probability to 2**-640.

WORDS = 10


class Scripted(dp.rng.Generator):
    """Hands out given words in place of random ones, and then zeros.

    These let a number that is not yet told from the probability be below it. As a proposal they
    name run 0, as a coin they keep it.
    """

    def __init__(self, *words):
        self.script = Script([*words, *[0] * 4])

    def stream(self):
        return self.script


def words_of(number):
    return [number >> 64 * (WORDS - 1 - i) & (1 << 64) - 1 for i in range(WORDS)]


def first(above, holds):
    """The least word above a word at which something no longer holds."""
    low, high = above, (1 << 64) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def is_the_probability(keeps, distance, shift=0):
    """Whether as many numbers are kept as exp(-distance) 2**shift says, to the last one."""
    with twin.mp.workprec(900):
        least = int(twin.mp.ceil(twin.mp.ldexp(twin.mp.exp(-distance), 64 * WORDS + shift)))
    return keeps(least - 1) and not keeps(least)


#: The better score and the worse one, some of them on a neighbor.
PAIRS = [
    (gap + a, b) for gap in (43.0, 57.25, 100.0, 200.0) for a, b in ((0, 0.0), (-1, 1), (1, -1))
]
PAIRS += [(0.0, -gap) for gap in (43.0, 57.25, 100.0, 200.0)]


@quick_rows(4)
@pytest.mark.parametrize("pair", PAIRS)
def test_far_candidates_by_the_exponential_mechanism(pair):
    """Through the public function: the words for which the far one is drawn, to the last bit."""
    scores, distance = np.array(pair), pair[0] - pair[1]

    def draw(*words):
        rng = Scripted(*words)
        found = dp.selection.exponential(scores, sensitivity=1, epsilon=2.0, rng=rng)
        return found, rng.script.used

    # Proposals: first the places of the near one, then those of the far one, its W = 1.
    place = first(0, lambda w: draw(w, 0) == (0, 2))
    end = first(place, lambda w: draw(w, *[0] * WORDS)[0] == 1)
    bound, left = divmod(place, end - place)
    # The near one's coin is 2**shift / W.
    coin = first(0, lambda w: draw(0, w) == (0, 2)) / 2.0**64
    shift = round(math.log2(coin * bound))
    assert left == 0 and abs(coin - 2.0**shift / bound) < 2.0**-45

    def keeps(number):
        return draw(place, *words_of(number))[0] == 1

    assert is_the_probability(keeps, distance, shift)
    # Control: a distance that is off by a unit in the last place.
    assert not is_the_probability(keeps, math.nextafter(distance, 1000), shift)


@quick_rows(4)
@pytest.mark.parametrize("pair", PAIRS)
def test_far_candidates_by_permute_and_flip(pair):
    """The far one stands first here: a pick of 0 among two heads is the far one."""
    scores, distance = np.array(pair[::-1]), pair[0] - pair[1]

    def heads(number):
        word, *rest = words_of(number)
        rng = Scripted(word, 0, *rest)
        return dp.selection.permute_and_flip(scores, sensitivity=1, epsilon=2.0, rng=rng) == 0

    assert is_the_probability(heads, distance)
    assert not is_the_probability(heads, math.nextafter(distance, 1000))
