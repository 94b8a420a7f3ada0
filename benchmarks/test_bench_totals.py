"""Exact sums of cells beside `np.clip(x, lo, hi).sum()`, and beside the floor (`np.max`).

pytest benchmarks/test_bench_totals.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.statistics.covariance import covariance
from dpfast.statistics.totals import api
from dpfast.summaries.cells import FINE, SQUARES, cells

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(50_000_000)
LO, HI = 20.0, 80.0
KW = {"bounds": (LO, HI), "epsilon": 1.0, "neighbors": "replace"}
DTYPES = ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint8"]


@pytest.fixture(scope="module", params=DTYPES)
def data(request):
    return np.random.default_rng(0).normal(50, 12, N).clip(0, 100).astype(request.param)


def test_floor_max(benchmark, data):
    assert benchmark(data.max) == data.max()


def test_rival_clip_sum(benchmark, data):
    kind = data.dtype.type
    found = benchmark.pedantic(lambda: np.clip(data, kind(LO), kind(HI)).sum(), rounds=3)
    assert found > 0


@pytest.mark.parametrize("squares", [False, True], ids=["sum", "squares"])
def test_totals(benchmark, data, squares):
    grid = cells(LO, HI, SQUARES if squares else FINE)
    nan, total, square = benchmark(lambda: grid.native.totals(data, squares))
    clipped = np.clip(data.astype(np.float64), LO, HI)
    assert nan == 0
    assert (grid.first * N + total) * grid.grid == pytest.approx(clipped.sum(), rel=1e-7)
    if squares:
        places = clipped / grid.grid - grid.first
        assert square == pytest.approx(float(places @ places), rel=1e-6)


def test_sum(benchmark, data):
    found = benchmark(lambda: api.sum(data, **KW))
    assert found == pytest.approx(np.clip(data.astype(np.float64), LO, HI).sum(), rel=0.02)


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(50, 12, N)


CLIPPED = {
    "mean": lambda x: np.clip(x, LO, HI).mean(),
    "variance": lambda x: np.clip(x, LO, HI).var(),
}


@pytest.mark.parametrize("name", CLIPPED)
def test_release(benchmark, values, name):
    found = benchmark(lambda: getattr(api, name)(values, **KW))
    assert found == pytest.approx(CLIPPED[name](values), rel=0.02)


@pytest.mark.parametrize("name", CLIPPED)
def test_release_rival(benchmark, values, name):
    assert benchmark.pedantic(lambda: CLIPPED[name](values), rounds=3) > LO


def test_release_of_some_rows(benchmark, values):
    where = values > 50
    found = benchmark.pedantic(lambda: api.mean(values, where=where, **KW), rounds=3)
    assert found == pytest.approx(np.clip(values[where], LO, HI).mean(), rel=0.02)


def test_some_rows_rival(benchmark, values):
    where = values > 50
    found = benchmark.pedantic(lambda: np.clip(values[where], LO, HI).mean(), rounds=3)
    assert found > 50


def test_count_of_a_mask(benchmark, values):
    where = values > 50
    found = benchmark(lambda: api.count(values, where=where, epsilon=1.0))
    assert abs(found - np.count_nonzero(where)) < 40


def test_count_of_a_mask_floor(benchmark, values):
    where = values > 50
    assert benchmark(lambda: np.count_nonzero(where)) > 0


def test_a_release_of_few_rows(benchmark):
    values = np.random.default_rng(0).normal(50, 12, 100)
    found = benchmark(lambda: api.mean(values, **KW))
    assert LO <= found <= HI


def test_release_with_weights(benchmark):
    n = N // 10
    values, weights = np.random.default_rng(0).uniform(0, 1, (2, n))
    kw = {"bounds": (0, 1), "weights": weights, "weight_bounds": (0, 1), "epsilon": 1.0}
    found = benchmark.pedantic(lambda: api.mean(values, **kw), rounds=3)
    assert found == pytest.approx(np.average(values, weights=weights), rel=0.01)


def test_covariance(benchmark):
    data = np.random.default_rng(0).uniform(0, 1, (rows(1_000_000), 8))
    found = benchmark.pedantic(
        lambda: covariance(data, bounds=[(0, 1)] * 8, epsilon=100.0, neighbors="replace"), rounds=3
    )
    assert abs(found - np.cov(data.T)).max() < 0.05


def test_covariance_rival(benchmark):
    data = np.random.default_rng(0).uniform(0, 1, (rows(1_000_000), 8))
    assert benchmark.pedantic(lambda: np.cov(data.T), rounds=3).shape == (8, 8)
