"""Any Python callable as an estimator: what a block costs beside the call itself.

pytest benchmarks/test_bench_called.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 1e5 blocks.

The floor is the bare loop of Python over views of the same rows. "start" is a pool of one worker
that is started and ended, and "crash" what a block costs that is the end of its worker.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from dpfast.aggregate.workers.pool import WorkerPool
from dpfast.aggregate.workers.threads import call_blocks
from dpfast.tables.row_files import File

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = rows(100_000)
PER = 100
OFFSETS = np.arange(BLOCKS + 1, dtype=np.int64) * PER


#: Lambdas go to a worker by value; else it would import this file, and pytest with it.
FUNCTIONS = {"nothing": lambda block: 1.0, "mean": lambda block: block.mean()}


@pytest.fixture(scope="module", params=list(FUNCTIONS))
def function(request):
    return FUNCTIONS[request.param]


@pytest.fixture(scope="module")
def file():
    made = File(8 * BLOCKS * PER, open_to_all=False)
    view = np.frombuffer(made.map, np.float64, BLOCKS * PER)
    view[:] = np.random.default_rng(0).random(BLOCKS * PER)
    yield view, made
    made.close()


def loop(function, data, out):
    edges = OFFSETS.tolist()
    for b in range(BLOCKS):
        out[b] = function(data[edges[b] : edges[b + 1]])
    return out


@pytest.fixture(scope="module")
def expected(function, file):
    return loop(function, file[0], np.empty(BLOCKS))


def test_floor_python_loop(benchmark, function, file, expected):
    found = benchmark(loop, function, file[0], np.empty(BLOCKS))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("workers", [1, 2])
def test_threads(benchmark, function, file, expected, workers):
    out = np.empty((BLOCKS, 1))
    benchmark(call_blocks, function, file[0], OFFSETS, out, workers)
    assert np.array_equal(out[:, 0], expected)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("limit", [None, 60.0], ids=["no limit", "limit"])
def test_processes(benchmark, function, file, expected, workers, limit):
    """Workers that run already."""
    out = np.empty((BLOCKS, 1))
    with WorkerPool(function, limit, "function") as pool:
        pool.call_blocks(file[0], file[1], OFFSETS, out, workers)
        benchmark(pool.call_blocks, file[0], file[1], OFFSETS, out, workers)
    assert np.array_equal(out[:, 0], expected)


def test_start(benchmark, file):
    def run():
        out = np.empty((1, 1))
        with WorkerPool(FUNCTIONS["nothing"], None, "function") as pool:
            pool.call_blocks(file[0], file[1], OFFSETS[:2], out, 1)
        return out

    assert benchmark.pedantic(run, rounds=5) == 1.0


def test_crash(benchmark, file):
    """Ten blocks, each the end of a worker."""
    out = np.empty((10, 1))
    with WorkerPool(lambda block: os._exit(1), None, "function") as pool:
        benchmark.pedantic(pool.call_blocks, (file[0], file[1], OFFSETS[:11], out, 1), rounds=3)
    assert np.isnan(out).all()
