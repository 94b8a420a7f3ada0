"""Histograms beside `np.histogram` and `np.histogramdd`.

pytest benchmarks/test_bench_histograms.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.statistics.histogram import axes_of, histogram

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(20_000_000)
BINS = [10, 100, 10_000]


@pytest.fixture(scope="module", params=["float64", "float32", "int32", "uint8"])
def data(request):
    return np.random.default_rng(0).normal(50, 12, N).clip(0, 100).astype(request.param)


@pytest.fixture(params=BINS)
def bins(request):
    return request.param


def uneven(bins):
    return np.sort(np.random.default_rng(1).uniform(0, 100, bins + 1))


def counted(axis, data):
    counts = np.zeros(axis.bins + 1, np.int64)
    axis.histogram(data, counts)
    return counts[:-1]


def test_even(benchmark, data, bins):
    (axis,), _ = axes_of(bins, (0, 100), None)
    found = benchmark(lambda: counted(axis.native, data))
    assert (found == np.histogram(data, axis.edges)[0]).all()


def test_even_rival(benchmark, data, bins):
    found = benchmark.pedantic(lambda: np.histogram(data, bins, (0, 100))[0], rounds=3)
    assert found.sum() == N


def test_edges(benchmark, data, bins):
    edges = uneven(bins)
    (axis,), _ = axes_of(edges, None, None)
    found = benchmark(lambda: counted(axis.native, data))
    assert (found == np.histogram(data, edges)[0]).all()


def test_edges_rival(benchmark, data, bins):
    edges = uneven(bins)
    assert benchmark.pedantic(lambda: np.histogram(data, edges)[0], rounds=3).sum() > 0


def test_categories(benchmark, data):
    ages = np.arange(101.0)
    (axis,), _ = axes_of(None, None, ages)
    whole = np.rint(data).astype(data.dtype)
    found = benchmark(lambda: counted(axis.native, whole))
    assert (found == np.bincount(whole.astype(np.int64), minlength=101)).all()


def test_categories_rival(benchmark, data):
    whole = np.rint(data).astype(data.dtype)
    found = benchmark.pedantic(lambda: np.histogram(whole, 101, (-0.5, 100.5))[0], rounds=3)
    assert found.sum() == N


def test_two_columns(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 2))
    kw = {"bins": 20, "bounds": [(-2, 2)] * 2, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, **kw))
    assert abs(counts - np.histogram2d(*values.T, edges)[0]).max() < 60


def test_two_columns_of_some_rows(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 2))
    where = np.random.default_rng(3).random(len(values)) < 0.5
    kw = {"bins": 20, "bounds": [(-2, 2)] * 2, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, where=where, **kw))
    assert abs(counts - np.histogram2d(*values[where].T, edges)[0]).max() < 60


def test_two_columns_of_some_rows_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 2))
    where = np.random.default_rng(3).random(len(values)) < 0.5
    found = benchmark.pedantic(
        lambda: np.histogram2d(*values[where].T, 20, [(-2, 2)] * 2)[0], rounds=3
    )
    assert found.sum() > 0


def test_two_columns_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 2))
    found = benchmark.pedantic(lambda: np.histogram2d(*values.T, 20, [(-2, 2)] * 2)[0], rounds=3)
    assert found.sum() > 0


def test_three_columns(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 3))
    kw = {"bins": 8, "bounds": [(-2, 2)] * 3, "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, edges = benchmark(lambda: histogram(values, **kw))
    assert abs(counts - np.histogramdd(values, edges)[0]).max() < 60


def test_three_columns_rival(benchmark):
    values = np.random.default_rng(2).normal(0, 1, (N // 10, 3))
    found = benchmark.pedantic(lambda: np.histogramdd(values, 8, [(-2, 2)] * 3)[0], rounds=3)
    assert found.sum() > 0


def test_release_of_many_bins(benchmark):
    values = np.random.default_rng(3).uniform(0, 1, rows(1_000_000))
    kw = {"bins": 1_000_000, "bounds": (0, 1), "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, _ = benchmark(lambda: histogram(values, **kw))
    assert abs(int(counts.sum()) - len(values)) < 30_000
