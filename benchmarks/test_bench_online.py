"""Streams of queries: values beside a threshold and the noise alone; queries over candidates and
the product of their counts with the query.

Run with `pytest benchmarks/test_bench_online.py`; DPFAST_ISA=avx2 or baseline forces a narrower
path. The way of the textbooks (NumPy's Laplace noise, neither secure nor exact), and the product in
float32 by BLAS, are timed in the same test.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise.distributions.discrete import laplace_integers
from dpfast.online.public_distribution import PublicDistribution
from dpfast.rng import SecureGenerator

from .conftest import SMOKE, beside, rows

N = rows(1_000_000)
UNIVERSE, CANDIDATES = rows(10_000_000), rows(490_314, 816)
MWEM_UNIVERSE = rows(100_000, 2_000)


def test_values_of_a_sparse_vector(benchmark):
    g = np.random.default_rng(0)
    values = g.integers(0, 200, N)
    places = np.sort(g.choice(N, 20, replace=False))
    values[places] = 100_000

    def streams():
        stream = dp.online.SparseVector(positives=21, threshold=50_000, epsilon=1)
        return (stream,), {}

    found = benchmark.pedantic(
        lambda stream: stream.answer_many(values), setup=streams, rounds=5, warmup_rounds=1
    )
    assert np.flatnonzero(found.above).tolist() == places.tolist()
    assert len(found.above) == N
    noise, bits = np.empty(N, np.int64), SecureGenerator().stream()
    calls = {
        "the noise": lambda: laplace_integers(noise, Fraction(50), bits, None, bits.word),
        "`Generator.laplace` and `>=` (neither exact nor secure)": lambda: np.flatnonzero(
            values + g.laplace(0, 50, N) >= 50_000.5
        ),
    }
    beside(benchmark, calls, N)


@pytest.mark.parametrize(("universe", "size"), [(16, 8), (8, 10), (4, 50)])
def test_queries_over_all_candidates(benchmark, universe, size):
    """Easy queries, so that all candidates stay. `of counts @ query` is meant to be at most 1.5."""
    size = size if not SMOKE else 3
    rounds = 3 if SMOKE else 40
    stream = dp.online.MedianMechanism(
        np.full(universe, 10**6), epsilon=1, queries=1000, accuracy=0.2, size=size
    )
    counts = np.ascontiguousarray(stream._alive._counts.T, np.float32)
    g = np.random.default_rng(0)
    # By symmetry the median is near that of the data; no weight is 0, which would be skipped.
    query = np.full(universe, 0.25)
    query[g.permutation(universe)[: universe // 2]] = 0.75
    answer = benchmark.pedantic(
        lambda: stream.answer(query), rounds=rounds, iterations=1, warmup_rounds=1
    )
    assert not answer.hard and abs(answer - 0.5) < 0.2
    product = counts @ (4 * query).astype(np.float32)
    assert np.array_equal(stream._alive.sums((4 * query).astype(np.int64)), product)
    single = query.astype(np.float32)
    beside(benchmark, {"`counts @ query`": lambda: counts @ single}, len(counts))
    assert universe != 16 or len(counts) == CANDIDATES


@pytest.mark.parametrize("work", ["query", "update"])
def test_multiplicative_weights(benchmark, work):
    """A query beside `np.dot`, an update of the distribution beside `np.exp`, over the universe."""
    size = UNIVERSE
    g = np.random.default_rng(0)
    query = g.random(size)
    if work == "query":
        stream = dp.online.PrivateMultiplicativeWeights(
            np.full(size, 100), epsilon=1, queries=1000, accuracy=0.3
        )
        answer = benchmark.pedantic(
            lambda: stream.answer(query), rounds=5, iterations=1, warmup_rounds=1
        )
        assert not answer.hard and abs(answer - query.mean()) < 0.3
        other = g.random(size)
        calls = {"`np.dot`": lambda: np.dot(query, other)}
    else:
        hypothesis = PublicDistribution(size)
        benchmark.pedantic(
            lambda: hypothesis.move(0.1, query, 24), rounds=5, iterations=1, warmup_rounds=1
        )
        exact = np.exp(0.6 * query) if benchmark.stats else np.exp(0.1 * query)
        moved = hypothesis.distribution
        np.testing.assert_allclose(
            moved / moved[0], exact / exact[0], rtol=1e-6
        )  # of rounded queries
        out = np.empty(size)
        calls = {"`np.exp`": lambda: np.exp(query, out=out)}
    beside(benchmark, calls)


def test_mwem(benchmark):
    """Beside its matrix products: queries with the data, and with the distribution each round."""
    universe, count, rounds = MWEM_UNIVERSE, 100 if SMOKE else 1_000, 30
    g = np.random.default_rng(0)
    queries = g.integers(0, 2, (count, universe), dtype=np.uint8)
    histogram = g.multinomial(10**7, g.dirichlet(np.ones(universe) / 50))
    fitted = benchmark.pedantic(
        lambda: dp.online.MWEM(histogram, queries, rounds=rounds, epsilon=1), rounds=2
    )
    wide = queries.astype(np.float64)
    wrong = np.abs(wide @ (fitted.distribution - histogram / 10**7)).max()
    assert wrong < np.abs(wide @ (1 / universe - histogram / 10**7)).max()
    vector = fitted.distribution
    beside(benchmark, {"its products": lambda: [wide @ vector for _ in range(rounds + 1)]})
