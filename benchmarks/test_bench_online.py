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
from dpfast._kernels.rng import isa
from dpfast.noise.distributions.discrete import laplace_integers
from dpfast.online.public_distribution import PublicDistribution
from dpfast.rng import SecureGenerator

from .conftest import SMOKE, rows
from .test_bench_choice import fastest

N = rows(1_000_000)


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
    if benchmark.stats:  # absent under --benchmark-disable
        best = benchmark.stats.stats.min
        noise, bits = np.empty(N, np.int64), SecureGenerator().stream()
        alone = fastest(lambda: laplace_integers(noise, Fraction(50), bits, None, bits.word))
        textbook = fastest(lambda: np.flatnonzero(values + g.laplace(0, 50, N) >= 50_000.5))
        benchmark.extra_info["isa"] = isa()
        benchmark.extra_info["ns each"] = round(best / N * 1e9, 2)
        benchmark.extra_info["ns of the noise"] = round(alone / N * 1e9, 2)
        benchmark.extra_info["of numpy"] = round(best / textbook, 3)


@pytest.mark.parametrize(("universe", "size"), [(16, 8), (8, 10), (4, 50)])
def test_queries_over_all_candidates(benchmark, universe, size):
    """Easy queries, so that all candidates stay. `of blas` is meant to be at most 1.5."""
    size = size if not SMOKE else 3
    rounds = 3 if SMOKE else 40
    stream = dp.online.MedianMechanism(
        np.full(universe, 10**6), epsilon=1, queries=2 * rounds, accuracy=0.2, size=size
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
    if benchmark.stats:  # absent under --benchmark-disable
        single = query.astype(np.float32)
        blas = fastest(lambda: counts @ single, rounds)
        benchmark.extra_info["isa"] = isa()
        benchmark.extra_info["candidates"] = len(counts)
        benchmark.extra_info["ms"] = round(benchmark.stats.stats.min * 1e3, 3)
        benchmark.extra_info["of blas"] = round(benchmark.stats.stats.min / blas, 3)


@pytest.mark.parametrize("work", ["query", "update"])
def test_multiplicative_weights(benchmark, work):
    """A query beside `np.dot`, an update of the distribution beside `np.exp`, over the universe."""
    size = rows(10_000_000)
    g = np.random.default_rng(0)
    query = g.random(size)
    if work == "query":
        stream = dp.online.PrivateMultiplicativeWeights(
            np.full(size, 100), epsilon=1, queries=20, accuracy=0.3
        )
        answer = benchmark.pedantic(
            lambda: stream.answer(query), rounds=5, iterations=1, warmup_rounds=1
        )
        assert not answer.hard and abs(answer - query.mean()) < 0.3
        rival, other = (lambda: np.dot(query, other)), g.random(size)
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
        rival, out = (lambda: np.exp(query, out=out)), np.empty(size)
    if benchmark.stats:  # absent under --benchmark-disable
        best = benchmark.stats.stats.min
        benchmark.extra_info["ms"] = round(best * 1e3, 2)
        benchmark.extra_info["of numpy"] = round(best / fastest(rival, 5), 2)


def test_mwem(benchmark):
    """Beside its matrix products: queries with the data, and with the distribution each round."""
    universe, count, rounds = rows(100_000, 2_000), 100 if SMOKE else 1_000, 30
    g = np.random.default_rng(0)
    queries = g.integers(0, 2, (count, universe), dtype=np.uint8)
    histogram = g.multinomial(10**7, g.dirichlet(np.ones(universe) / 50))
    fitted = benchmark.pedantic(
        lambda: dp.online.MWEM(histogram, queries, rounds=rounds, epsilon=1), rounds=2
    )
    wide = queries.astype(np.float64)
    wrong = np.abs(wide @ (fitted.distribution - histogram / 10**7)).max()
    assert wrong < np.abs(wide @ (1 / universe - histogram / 10**7)).max()
    if benchmark.stats:  # absent under --benchmark-disable
        vector = fitted.distribution
        products = (rounds + 1) * fastest(lambda: wide @ vector, 5)
        benchmark.extra_info["s"] = round(benchmark.stats.stats.min, 2)
        benchmark.extra_info["of the products"] = round(benchmark.stats.stats.min / products, 2)
