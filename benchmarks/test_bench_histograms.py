"""Histograms beside `np.histogram` and `np.histogramdd`.

pytest benchmarks/test_bench_histograms.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.statistics.histogram import histogram

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, PAIRS = rows(20_000_000), rows(20_000_000) // 10
BINS = [10, 100, 10_000]


@pytest.fixture(scope="module", params=["float64", "float32", "int32", "uint8"])
def data(request):
    return np.random.default_rng(0).normal(50, 12, N).clip(0, 100).astype(request.param)


@pytest.fixture(params=BINS)
def bins(request):
    return request.param


def uneven(bins):
    return np.sort(np.random.default_rng(1).uniform(0, 100, bins + 1))


def near(counts, exact):
    """Noise above 60 has a probability of exp(-30) a bin."""
    return abs(counts - exact).max() < 60


def test_even(benchmark, data, bins):
    counts, edges = benchmark(lambda: histogram(data, bins=bins, bounds=(0, 100), epsilon=1.0))
    assert near(counts, np.histogram(data, edges)[0])


def test_even_rival(benchmark, data, bins):
    found = benchmark.pedantic(lambda: np.histogram(data, bins, (0, 100))[0], rounds=3)
    assert found.sum() == N


def test_edges(benchmark, data, bins):
    edges = uneven(bins)
    counts, _ = benchmark(lambda: histogram(data, bins=edges, epsilon=1.0))
    assert near(counts, np.histogram(data, edges)[0])


def test_edges_rival(benchmark, data, bins):
    edges = uneven(bins)
    assert benchmark.pedantic(lambda: np.histogram(data, edges)[0], rounds=3).sum() > 0


def test_categories(benchmark, data):
    ages = np.arange(101.0)
    whole = np.rint(data).astype(data.dtype)
    counts, _ = benchmark(lambda: histogram(whole, categories=ages, epsilon=1.0))
    assert near(counts, np.bincount(whole.astype(np.int64), minlength=101))


def test_categories_rival(benchmark, data):
    whole = np.rint(data).astype(data.dtype)
    found = benchmark.pedantic(lambda: np.histogram(whole, 101, (-0.5, 100.5))[0], rounds=3)
    assert found.sum() == N


def test_two_columns(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 2))
    kw = {"bins": 20, "bounds": [(-2, 2)] * 2, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, **kw))
    assert near(counts, np.histogram2d(*values.T, edges)[0])


def test_two_columns_of_some_rows(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 2))
    where = np.random.default_rng(3).random(len(values)) < 0.5
    kw = {"bins": 20, "bounds": [(-2, 2)] * 2, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, where=where, **kw))
    assert near(counts, np.histogram2d(*values[where].T, edges)[0])


def test_two_columns_of_some_rows_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 2))
    where = np.random.default_rng(3).random(len(values)) < 0.5
    found = benchmark.pedantic(
        lambda: np.histogram2d(*values[where].T, 20, [(-2, 2)] * 2)[0], rounds=3
    )
    assert found.sum() > 0


def test_two_columns_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 2))
    found = benchmark.pedantic(lambda: np.histogram2d(*values.T, 20, [(-2, 2)] * 2)[0], rounds=3)
    assert found.sum() > 0


def test_three_columns(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 3))
    kw = {"bins": 8, "bounds": [(-2, 2)] * 3, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, **kw))
    assert near(counts, np.histogramdd(values, edges)[0])


def test_three_columns_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (PAIRS, 3))
    found = benchmark.pedantic(lambda: np.histogramdd(values, 8, [(-2, 2)] * 3)[0], rounds=3)
    assert found.sum() > 0


def test_release_of_many_bins(benchmark):
    values = np.random.default_rng(3).uniform(0, 1, rows(1_000_000))
    kw = {"bins": 1_000_000, "bounds": (0, 1), "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, _ = benchmark(lambda: histogram(values, **kw))
    assert abs(int(counts.sum()) - len(values)) < 30_000


@pytest.mark.parametrize("private", [True, False], ids=["dpfast", "np.histogram"])
def test_weights(benchmark, data, bins, private):
    weights = np.random.default_rng(2).random(N)

    def release():
        return histogram(
            data, bins=bins, bounds=(0, 100), weights=weights, weight_bounds=(0, 1), epsilon=1.0
        )[0]

    def rival():
        return np.histogram(data, bins, (0, 100), weights=weights)[0]

    found = benchmark.pedantic(release if private else rival, rounds=3)
    assert near(found, np.histogram(data, bins, (0, 100), weights=weights)[0])
