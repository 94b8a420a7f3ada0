"""Windows of order statistics beside the floor (`np.max`, one read of the data) and `np.partition`.

pytest benchmarks/test_bench_order.py --benchmark-sort=fullname
DPFAST_BENCH_N=1000000 makes it a smoke run; the default is 5e7 rows.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from dpfast.summaries.order import Ranks

pytest.importorskip("pytest_benchmark")

N = int(os.environ.get("DPFAST_BENCH_N", "50_000_000"))
WIDTH = 5_000


def median(n):
    return (n + 1) // 2


MIDDLE = median(N)


def column(dtype):
    rng = np.random.default_rng(0)
    if np.dtype(dtype).itemsize == 1:
        return rng.integers(0, 256, N, dtype=np.uint8).view(dtype)
    data = rng.standard_normal(N)
    data *= 1e4
    return data.astype(dtype)


@pytest.fixture(
    scope="module",
    params=["float64", "float32", "int64", "int32", "int16", "uint8"],
    ids=str,
)
def data(request):
    return column(request.param)


@pytest.fixture(scope="module")
def expected(data):
    last = MIDDLE + WIDTH
    part = np.partition(data, last - 1)[:last]
    part.sort()
    return part[-2 * WIDTH - 1 :]


def test_floor_max(benchmark, data):
    assert benchmark(data.max) == data.max()


def test_rival_partition(benchmark, data, expected):
    found = benchmark.pedantic(np.partition, (data, MIDDLE - 1), rounds=3)
    assert found[MIDDLE - 1] == expected[WIDTH]


def test_window(benchmark, data, expected):
    found = benchmark(lambda: Ranks(data).window(median, WIDTH))
    assert found.first == MIDDLE - WIDTH
    np.testing.assert_array_equal(found.values, expected)


def test_window_two_rounds(benchmark, data, expected):
    """A narrow window, then a wider one from what the first pass kept."""

    def run():
        ranks = Ranks(data)
        ranks.window(median, 20)
        return ranks.window(median, WIDTH)

    np.testing.assert_array_equal(benchmark(run).values, expected)


@pytest.mark.parametrize("pattern", ["all equal", "two values", "sorted", "organ pipe", "half NaN"])
def test_adversarial(benchmark, pattern):
    rng = np.random.default_rng(1)
    data = {
        "all equal": lambda: np.full(N, 3.0),
        "two values": lambda: rng.integers(0, 2, N).astype(np.float64),
        "sorted": lambda: np.arange(float(N)),
        "organ pipe": lambda: np.abs(np.arange(float(N)) - N / 2),
        "half NaN": lambda: np.where(rng.random(N) < 0.5, np.nan, rng.random(N)),
    }[pattern]()
    found = benchmark(lambda: Ranks(data).window(median, 100))
    whole = np.sort(data[~np.isnan(data)])
    m = median(found.n)
    assert found.n == len(whole)
    np.testing.assert_array_equal(found.values, whole[m - 101 : m + 100])


@pytest.mark.parametrize("form", ["strided", "swapped", "mapped"])
def test_not_in_place(benchmark, form, tmp_path):
    data = column("float64")
    if form == "strided":
        view = data.repeat(2)[::2]
    elif form == "swapped":
        view = data.astype(">f8")
    else:
        np.save(tmp_path / "column.npy", data)
        view = np.load(tmp_path / "column.npy", mmap_mode="r")
    found = benchmark.pedantic(lambda: Ranks(view).window(median, 100), rounds=5)
    assert found.values[100] == np.partition(data, MIDDLE - 1)[MIDDLE - 1]


def test_sorted_twice_as_long(benchmark):
    n = 2 * N
    data = np.arange(n, dtype=np.float64)
    found = benchmark(lambda: Ranks(data, assume_sorted=True).window(median, 1000))
    assert found.values[1000] == median(n) - 1


@pytest.mark.parametrize("n", [100, 1_000, 10_000, 100_000, 1_000_000])
def test_small(benchmark, n):
    data = np.random.default_rng(2).standard_normal(n)
    found = benchmark(lambda: Ranks(data).window(median, 40))
    np.testing.assert_array_equal(found.values, np.sort(data)[median(n) - 41 : median(n) + 40])


@pytest.mark.parametrize("n", [100, 1_000, 10_000, 100_000, 1_000_000])
def test_small_rival_partition(benchmark, n):
    data = np.random.default_rng(2).standard_normal(n)
    found = benchmark(np.partition, data, median(n) - 1)
    assert found[median(n) - 1] == np.sort(data)[median(n) - 1]
