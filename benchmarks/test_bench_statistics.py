"""Sensitivities of statistics and propose-test-release, beside a reading or a sort of the data."""

import numpy as np
import pytest

import dpfast as dp

from .conftest import record, rows

N = rows(10_000_000)
KW = dict(epsilon=1.0, delta=1e-9, rng=dp.rng.InsecureGenerator(1))
REPLACE = {"neighbors": "replace"}
KNOWN = KW | REPLACE


def timed(benchmark, n, function, *args, **kw):
    got = benchmark.pedantic(function, args, kw, rounds=3, warmup_rounds=1)
    record(benchmark, n)
    return got


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).random(N)


FLOORS = {
    "np.sort": np.sort,
    "np.partition": lambda x: np.partition(x, len(x) // 2),
    "np.clip sum": lambda x: np.clip(x, 0, 1).sum(),
}


@pytest.mark.parametrize("name", FLOORS)
@pytest.mark.benchmark(group="statistics, floors")
def test_floor(benchmark, data, name):
    timed(benchmark, len(data), FLOORS[name], data)


SMOOTH = {
    "median": dp.Median,
    "mean": dp.Mean,
    "trimmed mean": dp.TrimmedMean,
    "winsorized mean": dp.WinsorizedMean,
    "interquartile range": dp.Iqr,
    "maximum": dp.Maximum,
    "variance": dp.Variance,
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.benchmark(group="statistics, smooth sensitivity")
def test_smooth(benchmark, data, name):
    statistic = SMOOTH[name](bounds=(0, 1))
    got = timed(benchmark, len(data), dp.sensitivity.smooth, statistic, data, beta=0.1, **REPLACE)
    assert 0 < got <= 1 / len(data) + 0.1


CALLS = {
    "mean": lambda x: dp.ptr.mean(x, bounds=(0, 1), proposed=100 / len(x), **KW),
    "median": lambda x: dp.ptr.quantile(x, 0.5, bounds=(0, 1), proposed=500 / len(x), **KNOWN),
    "interquartile range": lambda x: dp.ptr.iqr(x, bounds=(0, 1), proposed=500 / len(x), **KNOWN),
    "interquartile range, scale-free": lambda x: dp.ptr.iqr(x, bounds=(-1e9, 1e9), **KNOWN),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.benchmark(group="propose-test-release")
def test_proposals(benchmark, data, name):
    got = timed(benchmark, len(data), CALLS[name], data)
    if len(data) >= 1_000_000:
        assert abs(got - 0.5) < (0.4 if "free" in name else 0.1)


@pytest.mark.parametrize("nodes", [500, 2000])
@pytest.mark.benchmark(group="triangles")
def test_triangles(benchmark, nodes):
    n = min(nodes, rows(nodes * nodes) // nodes)
    upper = np.triu(np.random.default_rng(0).random((n, n)) < 0.05, 1)
    graph = upper | upper.T
    got = timed(
        benchmark, n * n, dp.sensitivity.smooth, dp.sensitivity.Triangles(), graph, beta=0.1
    )
    assert got > 0


@pytest.mark.parametrize("nodes", [30, 150])
@pytest.mark.benchmark(group="spanning trees")
def test_trees(benchmark, nodes):
    rng = np.random.default_rng(0)
    edges = [(i, (i + s) % nodes) for i in range(nodes) for s in (1, 2, 7)]
    weights, tree = rng.random(len(edges)), dp.sensitivity.TreeCost(edges, bounds=(0, 1))
    got = timed(
        benchmark, len(edges), dp.sensitivity.smooth, tree, weights, beta=0.1, **REPLACE,
    )  # fmt: skip
    assert 0 < got <= 1 + 1e-9
