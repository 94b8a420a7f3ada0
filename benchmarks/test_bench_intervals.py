"""Quantiles by the exponential mechanism beside `np.max` (one read of the data) and `np.sort`.

pytest benchmarks/test_bench_intervals.py --benchmark-sort=fullname
"""

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.release import release
from dpfast.privacy import Pure
from dpfast.statistics.quantiles.exponential import ExponentialQuantile
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles
from dpfast.tables.memory import ArraySource

from .conftest import rows

pytest.importorskip("pytest_benchmark")

DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
LO, HI = 0.0, 100.0
N = rows(10_000_000)


@pytest.fixture(scope="module")
def ten_million():
    return np.random.default_rng(0).normal(50.0, 12.0, N)


def nine(data, neighbors="replace"):
    mechanism = RecursiveQuantiles(LO, HI, neighbors, "raise", Pure(1), qs=DECILES)
    return release(ArraySource(data), mechanism, budget=None, rng=None)


def one(data):
    mechanism = ExponentialQuantile(LO, HI, "replace", "raise", Pure(1), q=Fraction(1, 2))
    return release(ArraySource(data), mechanism, budget=None, rng=None)


def check(found, data):
    wanted = np.quantile(data[:1_000_001], np.arange(1, 10) / 10)
    assert np.abs(found - wanted).max() < 1


@pytest.mark.benchmark(group="deciles of 1e7 unsorted float64")
def test_deciles(benchmark, ten_million):
    check(benchmark.pedantic(nine, (ten_million,), rounds=7, warmup_rounds=1), ten_million)


@pytest.mark.benchmark(group="deciles of 1e7 unsorted float64")
def test_floor_sort(benchmark, ten_million):
    found = benchmark.pedantic(np.sort, (ten_million,), rounds=7, warmup_rounds=1)
    check(found[len(found) * np.arange(1, 10) // 10], ten_million)


@pytest.mark.benchmark(group="deciles of 1e7 unsorted float64")
def test_floor_max(benchmark, ten_million):
    assert benchmark(np.max, ten_million) == ten_million.max()


@pytest.mark.parametrize("shape", ["integers", "nearly half equal"])
@pytest.mark.benchmark(group="deciles of 1e7 rows with ties")
def test_deciles_of_ties(benchmark, ten_million, shape):
    if shape == "integers":
        data = ten_million.astype(np.int64)
    else:
        data = np.where(np.arange(len(ten_million)) % 20 < 9, 0.1, ten_million)
    found = benchmark.pedantic(nine, (data,), rounds=5, warmup_rounds=1)
    wanted = np.quantile(data[:1_000_001], np.arange(1, 10) / 10)
    assert np.abs(found - wanted).max() < 1.5


@pytest.mark.benchmark(group="median of unsorted data")
def test_exponential_median(benchmark, unsorted_floats):
    found = benchmark.pedantic(one, (unsorted_floats,), rounds=7, warmup_rounds=1)
    assert abs(found - np.median(unsorted_floats[:100_001])) < 1


@pytest.mark.benchmark(group="median of unsorted data")
def test_smooth_median(benchmark, unsorted_floats):
    found = benchmark.pedantic(
        dp.median,
        (unsorted_floats,),
        {"bounds": (LO, HI), "epsilon": 1.0, "neighbors": "replace"},
        rounds=7,
        warmup_rounds=1,
    )
    assert abs(found - np.median(unsorted_floats[:100_001])) < 1


@pytest.mark.benchmark(group="median of unsorted data")
def test_median_floor_max(benchmark, unsorted_floats):
    assert benchmark.pedantic(np.max, (unsorted_floats,), rounds=7, warmup_rounds=1) > 90


@pytest.mark.parametrize("n", [100, 10_000])
@pytest.mark.benchmark(group="quantiles of few rows")
def test_few_rows(benchmark, n):
    data = np.random.default_rng(1).normal(50.0, 12.0, n)
    found = benchmark(nine, data)
    assert (np.diff(found) >= 0).all()
