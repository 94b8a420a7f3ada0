"""Smooth sensitivity of the median of sorted data beside one reading of the same array.

`extra_info["ns_per_row"]` is the figure to compare between sizes. The cases named after a shape use
a beta so small that no window is narrower than the data.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.sensitivity import DIVIDE, FORWARD, Column

from .conftest import record, rows

FLOOR = 2.0**-1000
SHAPES = {
    "uniform": lambda n: np.sort(np.random.default_rng(0).random(n)),
    "equal gaps": lambda n: np.arange(n) / n,
    "all equal": lambda n: np.full(n, 0.5),
    "exponential gaps": lambda n: np.cumsum(np.random.default_rng(0).exponential(size=n)) / (2 * n),
    "convex": lambda n: np.linspace(0, 1, n) ** 3,
    "concave": lambda n: np.cbrt(np.linspace(0, 1, n)),
}
RANKS = {"lowest": 0.0, "median": 0.5, "highest": 1.0}


def widest(benchmark, data, beta, q=0.5):
    """The kernel over all of `data`, checked against its other method or the end pair."""
    n = len(data)
    m = max(1, int(q * n))
    found = Column(data, 1, n, 0.0, 1.0)
    got = benchmark.pedantic(found.smooth_replace, (m, beta, FLOOR), rounds=5, warmup_rounds=1)
    record(benchmark, n)
    assert got >= np.exp(-beta * n)
    if n <= 1_000_000:
        assert abs(got / found.smooth_replace(m, beta, FLOOR, DIVIDE | FORWARD) - 1) < 2.0**-40


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.benchmark(group="smooth sensitivity, no early stop")
def test_nothing_stops_early(benchmark, shape, n):
    widest(benchmark, SHAPES[shape](rows(n)), 1e-9)


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.benchmark(group="smooth sensitivity, many pairs near the best")
def test_many_pairs_near_the_best(benchmark, shape, n):
    n = rows(n)
    widest(benchmark, SHAPES[shape](n), 3 / n)


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.benchmark(group="smooth sensitivity, all ranks of one side tie for the best")
def test_one_side_ties_for_the_best(benchmark, rank, n):
    """Exponential growth at rate beta, hardly bent: an envelope of the upper ranks is deep."""
    n = rows(n)
    t = np.arange(1, n + 1) / n
    data = np.exp(4 * (t - 1)) * (1 - 1e-6 * (t - 0.5) ** 2)
    widest(benchmark, data, 4 / n, RANKS[rank])


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1e-9, 3e-8])
@pytest.mark.benchmark(group="smooth sensitivity, no early stop")
def test_a_hundred_million_rows(benchmark, beta):
    n = rows(100_000_000)
    data = np.arange(n, dtype=np.float64)
    data /= n
    widest(benchmark, data, beta)


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.benchmark(group="smooth sensitivity, no early stop")
def test_floor_max(benchmark, n):
    data = np.arange(rows(n)) / rows(n)
    assert benchmark.pedantic(np.max, (data,), rounds=5, warmup_rounds=1) < 1
    record(benchmark, len(data))


@pytest.mark.slow
@pytest.mark.benchmark(group="smooth sensitivity, beta 0.1, sorted")
def test_ordinary_beta_on_a_hundred_million_rows(benchmark):
    n = rows(100_000_000)
    data = np.arange(n, dtype=np.float64)
    got = benchmark(
        dp.sensitivity.smooth,
        dp.Median(bounds=(0, 2 * n), assume_sorted=True),
        data,
        beta=0.1,
        neighbors="replace",
    )
    assert abs(got - 11 * np.exp(-1)) < 0.1


@pytest.mark.slow
@pytest.mark.benchmark(group="smooth sensitivity, beta 0.1, sorted")
def test_floor_max_on_a_hundred_million_rows(benchmark):
    data = np.arange(rows(100_000_000), dtype=np.float64)
    assert benchmark.pedantic(np.max, (data,), rounds=3) == len(data) - 1


@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.benchmark(group="smooth sensitivity, add-remove, sorted")
def test_add_remove(benchmark, q):
    data = np.arange(rows(1_000_000)) / rows(1_000_000)
    quantile = dp.Quantile(q=q, bounds=(0, 1), assume_sorted=True)
    got = benchmark(dp.sensitivity.smooth, quantile, data, beta=0.01)
    assert got > dp.sensitivity.local(quantile, data)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.benchmark(group="smooth sensitivity, 100 rows")
def test_a_hundred_rows(benchmark, neighbors):
    data = np.random.default_rng(0).random(100)
    median = dp.Median(bounds=(0, 1))
    got = benchmark(dp.sensitivity.smooth, median, data, beta=0.5, neighbors=neighbors)
    assert 0 < got < 1
