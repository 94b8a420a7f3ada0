"""Nine quantiles in one draw, beside the sort that it needs and the recursive method."""

import numpy as np
import pytest

import dpfast as dp

QS = np.arange(1, 10) / 10
BOUNDS = (-10.0, 10.0)
ROWS = 300_000


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).normal(size=ROWS)


def close(found, data):
    ranks = np.searchsorted(np.sort(data), found)
    assert np.abs(ranks - QS * len(data)).max() < 2000


@pytest.mark.parametrize("method", ["joint", "recursive"])
def test_deciles(benchmark, data, method):
    benchmark.group = f"deciles of {ROWS} rows"
    options = {"bounds": BOUNDS, "epsilon": 1.0, "method": method, "neighbors": "replace"}
    close(benchmark.pedantic(dp.quantiles, (data, QS), options, rounds=5, warmup_rounds=1), data)


def test_the_floor_a_sort(benchmark, data):
    benchmark.group = f"deciles of {ROWS} rows"
    ordered = benchmark.pedantic(np.sort, (data,), rounds=5, warmup_rounds=1)
    close(ordered[(QS * ROWS).astype(int)], data)


def test_deciles_of_ten_rows(benchmark):
    """What a call costs beside the data."""
    rows = np.linspace(0, 1, 10)
    got = benchmark(dp.quantiles, rows, QS, bounds=(0, 1), epsilon=1.0, method="joint")
    assert len(got) == 9 and (np.diff(got) >= 0).all()
