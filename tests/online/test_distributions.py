"""Whole transcripts of multiplicative weights and MWEM on tiny universes: their exact
distributions, with planted faults, and that the shipped code has them."""

import itertools
from collections import Counter

import numpy as np
import pytest

from dpfast.online import mwem
from dpfast.online.plan import plan
from dpfast.privacy import Draws, Pure
from dpfast.rng import InsecureGenerator

from ..reference.online import median as online_median
from ..reference.online import multiplicative_weights as online_weights
from ..reference.online import mwem as online_mwem
from ..reference.online import sparse
from ..support.lazy import chisquare

QUERIES = [(1, 0), (0.5, 1)]
DATABASES = [(j, 4 - j) for j in range(5)]
GAP = 0.2


def small_plan(epsilon, hard=2, queries=2):
    return plan(Pure(epsilon), 4, hard, queries, 0.5, 2)


def distribution(kind, counts, made, threshold, queries=QUERIES, divisors=(1, 1, 1)):
    """Of transcripts; the candidates of the median mechanism are of two rows."""
    a, b, c = divisors
    scales = float(made.scales.threshold) / a, float(made.scales.query) / b, made.scales.positives
    shared = 2, queries, threshold, scales, float(made.noise.scale) / c
    if kind == "MedianMechanism":
        return online_median.distribution(counts, online_median.multisets(2, 2), *shared)
    return online_weights.distribution(counts, GAP, *shared)


KINDS = pytest.mark.parametrize("kind", ["MedianMechanism", "PrivateMultiplicativeWeights"])


@pytest.mark.full
@KINDS
@pytest.mark.parametrize("epsilon", [pytest.param(4, marks=pytest.mark.slow), 8])
def test_no_transcript_of_any_neighbors_costs_more(epsilon, kind):
    """All databases of four rows over two elements, two queries, the second of which has a vector
    of its own; all transcripts with their hard answers."""
    made = small_plan(epsilon)
    assert made.bits == 2 and made.spent == Pure(epsilon)
    found = [distribution(kind, h, made, 2) for h in DATABASES]
    assert [sum(one.values()) for one in found] == pytest.approx([1] * 5, abs=1e-6)
    worst = max(sparse.loss(a, b) for a, b in itertools.pairwise(found))
    assert 0.2 * epsilon < worst <= epsilon + 1e-6


@pytest.mark.full
@KINDS
@pytest.mark.parametrize("fault, divisors", [
    (None, (1, 1, 1)), ("no threshold noise", (1e9, 1, 1)), ("wrong scale", (4, 4, 4)),
    ("exact answers", (1, 1, 1e9))
])  # fmt: skip
def test_planted_faults_are_caught_by_the_enumeration(fault, divisors, kind):
    """A query asked thirty times, with one hard answer: easy answers must not add up."""
    made, many = small_plan(4, 1), [(1, 0)] * 30
    found = [distribution(kind, h, made, 6, many, divisors) for h in [(4, 0), (3, 1), (2, 2)]]
    worst = max(sparse.loss(*pair) for pair in itertools.pairwise(found))
    assert worst > 4 if fault else 0.3 * 4 < worst <= 4 + 1e-6


def p_value(seen, exact):
    size = seen.total()
    assert not seen.keys() - exact.keys()
    kept = [t for t in exact if exact[t] * size >= 5]
    counts = [[seen[t], exact[t] * size] for t in kept]
    rest = size - sum(seen[t] for t in kept), size * (1 - sum(exact[t] for t in kept))
    return chisquare(*zip(*counts, *[rest] * (rest[1] >= 1), strict=True), sum_check=False).pvalue


def mwem_distribution(counts, epsilon, divisors=(1, 1), rounds=2):
    choice, noise, spent = mwem._shares(Pure(epsilon), rounds, 2)
    assert noise.distribution == "laplace" and spent == Draws(epsilon, draws=2 * rounds)
    scale = float(noise.scale) / divisors[1]
    return online_mwem.distribution(
        counts, [(1, 0), (0, 0.5)], 1, rounds, 1, choice * divisors[0], scale
    )


def mwem_loss(epsilon, divisors=(1, 1)):
    found = [mwem_distribution(h, epsilon, divisors) for h in [(4, 0), (3, 1), (2, 2)]]
    assert [sum(one.values()) for one in found] == pytest.approx([1] * 3, abs=1e-4)
    return max(sparse.loss(a, b, 1e-6) for a, b in itertools.pairwise(found))


def test_no_transcript_of_mwem_costs_more():
    """Two rounds: which query is chosen, what is told of it, and what that leads to."""
    assert 0.3 * 8 < mwem_loss(8) <= 8 + 1e-6


@pytest.mark.parametrize("divisors", [(1, 6), (8, 3)], ids=["exact measurements", "wrong scales"])
def test_faults_of_mwem_are_caught_by_the_enumeration(divisors):
    assert mwem_loss(8, divisors) > 8


@pytest.mark.full
def test_the_shipped_mwem_has_the_distribution():
    """Both choices and the side of what is told; half the noise fails."""
    choice, noise, _ = mwem._shares(Pure(8), 2, 2)
    generator, queries, seen = InsecureGenerator(5), np.array([(1, 0), (0, 0.5)]), Counter()
    for _ in range(2500):
        fit = mwem._Fit(mwem._Queries(queries, 2, 1), 4, 2, 1)
        rounds = mwem._Measurements("", fit, 2, choice, noise, Pure(8), lambda found: found)
        found = rounds.finish(rounds.reduce(np.array((3, 1))), generator)
        sides = [answer > 4 for answer in found.noisy]
        seen[tuple(zip(found.measured_queries, sides, strict=True))] += 1
    for divide in (1, 2):
        exact: Counter = Counter()
        for transcript, p in mwem_distribution((3, 1), 8, (divide, divide)).items():
            exact[tuple((q, a > 4) for q, a in transcript)] += p
        assert (p_value(seen, exact) > 1e-4) == (divide == 1)


def test_the_twin_of_mwem_makes_the_same_distribution():
    g = np.random.default_rng(2)
    queries = np.rint(g.random((5, 6)) * 16) / 16
    held = mwem._Queries(queries, 6, 4)
    fit = mwem._Fit(held, 100, 6, 3)
    steps = [
        (int(q), int(a)) for q, a in zip(g.integers(0, 5, 8), g.integers(0, 1600, 8), strict=True)
    ]
    for query, noisy in steps:
        fit.learn(query, noisy)
    pairs = [(q, a / 1600) for q, a in steps]
    exact = online_mwem.fitted(queries.tolist(), pairs, 3, 6)
    np.testing.assert_allclose(fit.current.distribution, exact, rtol=1e-6)
