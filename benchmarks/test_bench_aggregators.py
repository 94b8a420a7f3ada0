"""One release of each aggregator beside the floors: the average and the sort of the same numbers.

pytest benchmarks/test_bench_aggregators.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast import suggest_blocks
from dpfast.aggregate import aggregators
from dpfast.aggregate.aggregators.vector import make_vector
from dpfast.privacy import Approx, Pure
from dpfast.rng import default_generator

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = {"1e3": 1_000, "1e5": rows(100_000, 2_000)}
NAMES = [name for name in aggregators.AGGREGATORS if name != "auto"]
#: How far the centre of attention may be off: the length of half of the outputs over epsilon.
OFF = {"attention": 0.6}


def outputs(k, *shape):
    return np.clip(np.random.default_rng(k).normal(0.5, 0.05, (k, *shape)), 0, 1)


@pytest.mark.parametrize("size", list(BLOCKS))
@pytest.mark.parametrize("name", NAMES)
def test_release(benchmark, name, size):
    benchmark.group = f"one number from {size} blocks"
    z = outputs(BLOCKS[size])
    made = aggregators.make(name, len(z), 0.0, 1.0, Pure(1))
    generator = default_generator()
    benchmark(made.release, z, generator)
    found = np.median([made.release(z, generator) for _ in range(15)])
    assert abs(found - 0.5) < OFF.get(name, 0.05)


@pytest.mark.parametrize("size", list(BLOCKS))
@pytest.mark.parametrize("floor", [np.mean, np.sort], ids=["mean", "sort"])
def test_floor(benchmark, floor, size):
    benchmark.group = f"one number from {size} blocks"
    z = outputs(BLOCKS[size])
    found = benchmark(floor, z)
    assert abs(np.median(found) - 0.5) < 0.05


@pytest.mark.parametrize("name", NAMES)
def test_checks_and_calibration(benchmark, name):
    """What a call pays before it looks at any output."""
    benchmark.group = "making an aggregator"
    made = benchmark(aggregators.make, name, 1_000, 0.0, 1.0, Pure(1))
    assert made.loss.epsilon == 1


D = rows(100, 5)


@pytest.mark.parametrize("name", ["mean", "trimmed-mean", "exponential-median"])
@pytest.mark.benchmark(group=f"vectors of {D} numbers from 1e4 blocks")
def test_vectors(benchmark, name):
    z = outputs(rows(10_000, 500), D)
    made = make_vector(name, len(z), ((0.0, 1.0),) * D, Approx(4 * D, 1e-6))
    generator = default_generator()
    found = benchmark.pedantic(made.release, (z, generator), rounds=5, warmup_rounds=1)
    assert np.abs(found - 0.5).max() < 0.1


@pytest.mark.benchmark(group=f"vectors of {D} numbers from 1e4 blocks")
def test_floor_of_vectors(benchmark):
    z = outputs(rows(10_000, 500), D)
    found = benchmark.pedantic(np.sort, (z,), {"axis": 0}, rounds=5, warmup_rounds=1)
    assert np.abs(found[len(z) // 2] - 0.5).max() < 0.1


CENTRES = rows(2_000, 50)


@pytest.mark.benchmark(group=f"centre of attention, {CENTRES} centres, 1e3 blocks of 3 numbers")
def test_centres(benchmark):
    z = outputs(1_000, 3)
    rng = np.random.default_rng(1)
    centres = np.concatenate([rng.random((CENTRES - 1, 3)), [[0.5, 0.5, 0.5]]])
    made = make_vector("attention", 1_000, ((0.0, 1.0),) * 3, Pure(30), centres)
    generator = default_generator()
    benchmark.pedantic(made.release, (z, generator), rounds=5, warmup_rounds=1)
    found = np.median([made.release(z, generator) for _ in range(5)], axis=0)
    assert np.abs(found - 0.5).max() < 0.3


@pytest.mark.benchmark(group=f"centre of attention, {CENTRES} centres, 1e3 blocks of 3 numbers")
def test_floor_of_centres(benchmark):
    """All distances by one broadcast of NumPy, sorted."""
    z = outputs(1_000, 3)
    centres = np.random.default_rng(1).random((CENTRES, 3))

    def distances():
        return np.sort(np.abs(z[None] - centres[:, None]).sum(axis=2), axis=1)

    found = benchmark.pedantic(distances, rounds=5, warmup_rounds=1)
    assert found.shape == (CENTRES, 1_000)


@pytest.mark.parametrize("name", ["mean", "trimmed-mean", "winsorized-mean"])
@pytest.mark.parametrize("n", [10**4, 10**9])
@pytest.mark.benchmark(group="suggest_blocks")
def test_suggest_blocks(benchmark, name, n):
    public = {"bounds": (0, 1), "epsilon": 1.0, "bias": 1.0, "spread": n**-0.5}
    found = benchmark(suggest_blocks, n, aggregator=name, **public)
    assert 10 < found < n
