"""Minimum, interquartile range and trimmed means beside NumPy and SciPy, and one read of the data.

pytest benchmarks/test_bench_extremes.py --benchmark-sort=fullname
"""

import numpy as np
import pytest

import dpfast as dp

pytest.importorskip("pytest_benchmark")

BOUNDS = (0.0, 100.0)
LOSS = {"bounds": BOUNDS, "epsilon": 1.0, "neighbors": "replace"}
SIDES = (np.greater, np.less)
GROUP = {
    "extreme": pytest.mark.benchmark(group="least of unsorted float64"),
    "median": pytest.mark.benchmark(group="median of some rows of unsorted float64"),
    "range": pytest.mark.benchmark(group="interquartile range of unsorted float64"),
    "trimmed": pytest.mark.benchmark(group="trimmed mean of unsorted float64"),
}


def run(benchmark, f, data):
    return benchmark.pedantic(f, (data,), rounds=5, warmup_rounds=1)


@GROUP["extreme"]
def test_floor_min(benchmark, unsorted_floats):
    assert run(benchmark, np.min, unsorted_floats) == unsorted_floats.min()


@GROUP["extreme"]
@pytest.mark.parametrize("method", ["auto", "smooth"])
def test_minimum(benchmark, unsorted_floats, method):
    found = run(benchmark, lambda x: dp.minimum(x, method=method, **LOSS), unsorted_floats)
    assert 0 <= found <= 100
    if method == "auto":
        assert np.count_nonzero(unsorted_floats < found) < 100


@GROUP["extreme"]
def test_minimum_of_some_rows(benchmark, unsorted_floats):
    where = unsorted_floats > 50
    asked = LOSS | {"bounds": (50.0, 100.0)}  # none far from every row
    found = run(benchmark, lambda x: dp.minimum(x, where=where, **asked), unsorted_floats)
    assert 50 <= found < 52


@GROUP["extreme"]
def test_floor_min_of_some_rows(benchmark, unsorted_floats):
    where = unsorted_floats > 50
    assert run(benchmark, lambda x: np.min(x[where]), unsorted_floats) > 50


@GROUP["median"]
def test_rival_median_of_some_rows(benchmark, unsorted_floats):
    where = unsorted_floats > 50
    assert 50 < run(benchmark, lambda x: np.median(x[where]), unsorted_floats) < 100


@GROUP["median"]
def test_median_of_some_rows(benchmark, unsorted_floats):
    where = unsorted_floats > 50
    found = run(benchmark, lambda x: dp.median(x, where=where, **LOSS), unsorted_floats)
    above, below = (np.count_nonzero(side(unsorted_floats[where], found)) for side in SIDES)
    assert abs(above - below) < 100 + 0.01 * len(unsorted_floats)


@GROUP["range"]
def test_rival_percentile(benchmark, unsorted_floats):
    lower, upper = run(benchmark, lambda x: np.percentile(x, [25, 75]), unsorted_floats)
    assert 15 < upper - lower < 17


@GROUP["range"]
@pytest.mark.parametrize("method", ["recursive", "smooth"])
def test_iqr(benchmark, unsorted_floats, method):
    found = run(benchmark, lambda x: dp.iqr(x, method=method, **LOSS), unsorted_floats)
    assert 15 < found < 17


@GROUP["trimmed"]
def test_rival_trim_mean(benchmark, unsorted_floats):
    stats = pytest.importorskip("scipy.stats")
    assert 49 < run(benchmark, lambda x: stats.trim_mean(x, 0.1), unsorted_floats) < 51


@GROUP["trimmed"]
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ["trimmed_mean", "winsorized_mean"])
def test_means(benchmark, unsorted_floats, name, neighbors):
    f = getattr(dp, name)
    found = run(benchmark, lambda x: f(x, **{**LOSS, "neighbors": neighbors}), unsorted_floats)
    assert 49 < found < 51


@GROUP["trimmed"]
def test_trimmed_mean_of_some_rows(benchmark, unsorted_floats):
    where = unsorted_floats > 40
    found = run(benchmark, lambda x: dp.trimmed_mean(x, where=where, **LOSS), unsorted_floats)
    assert 40 < found < 60
