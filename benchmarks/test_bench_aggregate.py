"""Sample and aggregate as a whole call, beside the machine's floor and NumPy's way.

pytest benchmarks/test_bench_aggregate.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 5e7 rows (2e7 where rows are moved or a
second pass is made), 1,000 blocks. Cases of one target are in one group, the yardstick first.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = 1000
N, SOME = rows(50_000_000), rows(20_000_000)
CONTIGUOUS = "mean of contiguous blocks"
RANDOM = "mean of random blocks"
SUMS = "sums and extremes of random blocks"


def run(benchmark, work):
    return benchmark.pedantic(work, rounds=5, warmup_rounds=1)


def aggregate(data, estimator, bounds, **more):
    """A call with so large a loss that its answer shows whether the blocks were right."""
    more |= {
        "blocks": BLOCKS,
        "epsilon": 400.0,
        "neighbors": "replace",
        "rng": InsecureGenerator(1),
    }
    return dp.sample_and_aggregate(data, estimator, bounds=bounds, **more)


# --- means: at most 1.5 of np.sum, and 0.2 of NumPy's permutation ---------------------------------


@pytest.mark.benchmark(group=CONTIGUOUS)
def test_floor_sum(benchmark, unsorted_floats):
    assert math.isfinite(run(benchmark, unsorted_floats.sum))


@pytest.mark.benchmark(group=CONTIGUOUS)
def test_mean_of_contiguous_blocks(benchmark, unsorted_floats):
    work = lambda: aggregate(unsorted_floats, "mean", (0, 100), partition="contiguous")  # noqa: E731
    assert abs(run(benchmark, work) - unsorted_floats.mean()) < 0.01


@pytest.mark.benchmark(group=RANDOM)
def test_rival_mean_of_a_permutation(benchmark, unsorted_floats):
    rng = np.random.default_rng(1)
    whole = unsorted_floats[: len(unsorted_floats) // BLOCKS * BLOCKS]
    work = lambda: rng.permutation(whole).reshape(BLOCKS, -1).mean(1)  # noqa: E731
    found = benchmark.pedantic(work, rounds=3)
    np.testing.assert_allclose(found.mean(), whole.mean(), rtol=1e-10)


@pytest.mark.benchmark(group=RANDOM)
def test_mean_of_random_blocks(benchmark, unsorted_floats):
    found = run(benchmark, lambda: aggregate(unsorted_floats, "mean", (0, 100)))
    # A block's mean weighs its rows by its size, so the average is not quite that of all rows.
    spread = 12 / math.sqrt(len(unsorted_floats))
    assert abs(found - unsorted_floats.mean()) < 0.01 + 6 * spread


# --- others that are functions of sums and extremes -----------------------------------------------


@pytest.mark.benchmark(group=SUMS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("name", ["mean", "var", "max"])
def test_single_numbers(benchmark, unsorted_floats, name, dtype):
    x = unsorted_floats[:SOME].astype(dtype)
    found = run(benchmark, lambda: aggregate(x, name, (0, 400)))
    parts = np.array_split(x.astype(float), BLOCKS)
    due = np.array([getattr(part, name)() for part in parts])
    assert abs(found - due.mean()) < 1 + 10 * due.std() / math.sqrt(BLOCKS)


@pytest.mark.benchmark(group=SUMS)
@pytest.mark.parametrize("partition", ["contiguous", "random"])
@pytest.mark.parametrize("name", ["correlation", "least-squares"])
def test_rows_of_four_columns(benchmark, unsorted_floats, name, partition):
    x = unsorted_floats[:SOME].reshape(-1, 4)
    bounds = [(-1, 1)] * 6 if name == "correlation" else [(-200, 200)] + [(-2, 2)] * 3
    work = lambda: aggregate(x, name, bounds, partition=partition)  # noqa: E731
    found = run(benchmark, work)
    due = np.zeros(6) if name == "correlation" else np.array([x[:, 3].mean(), 0, 0, 0])
    assert found.shape == due.shape
    assert np.abs(found[1:] - due[1:]).max() < 0.3
