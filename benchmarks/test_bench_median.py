"""The whole private median beside NumPy's floors; `test_bench_rivals.py` has other libraries."""

import numpy as np
import pytest

import dpfast as dp

from .conftest import rows

N = rows(50_000_000)
BOUNDS = (0.0, 100.0)
ASKED = {"bounds": BOUNDS, "epsilon": 1.0, "neighbors": "replace"}
DTYPES = ("float64", "float32", "int64", "int32", "uint8")


@pytest.fixture(scope="module")
def columns(unsorted_floats):
    clipped = np.clip(unsorted_floats, 0, 250)
    return {t: unsorted_floats if t == "float64" else clipped.astype(t) for t in DTYPES}


def check(value, data):
    assert abs(value - np.median(data[:100_001])) < 1.5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.benchmark(group="median of unsorted data")
def test_dpfast(benchmark, columns, dtype, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    data = columns[dtype]
    value = benchmark.pedantic(dp.median, (data,), ASKED, rounds=7, warmup_rounds=1)
    check(value, data)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.benchmark(group="median of unsorted data")
def test_floor_max(benchmark, columns, dtype):
    data = columns[dtype]
    assert benchmark.pedantic(np.max, (data,), rounds=7, warmup_rounds=1) <= 250


@pytest.mark.benchmark(group="median of unsorted data")
def test_floor_partition(benchmark, columns):
    data = columns["float64"]
    middle = (len(data) - 1) // 2
    part = benchmark.pedantic(np.partition, (data, middle), rounds=3, warmup_rounds=1)
    check(part[middle], data)


@pytest.mark.benchmark(group="median of 100 rows")
def test_dpfast_small(benchmark):
    data = np.random.default_rng(1).normal(50.0, 12.0, 100)
    value = benchmark(dp.median, data, **ASKED)
    assert BOUNDS[0] <= value <= BOUNDS[1]


@pytest.mark.benchmark(group="median of 100 rows")
def test_floor_median_small(benchmark):
    data = np.random.default_rng(1).normal(50.0, 12.0, 100)
    assert 40 < benchmark(np.median, data) < 60
