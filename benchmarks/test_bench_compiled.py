"""A compiled estimator on 10,000 blocks, beside a plain compiled loop over the same blocks.

pytest benchmarks/test_bench_compiled.py --benchmark-sort=fullname

`test_floor_one_thread` is the total of t, the time of the function on all blocks; `test_scatter` is
the time of the layout. `test_compiled` should take at most 1.15 of the first over the number of
cores, plus the second: `report.py` puts them beside each other. DPFAST_BENCH_SMOKE=1 makes it a
smoke run.
"""

from __future__ import annotations

import os

import numba
import numpy as np
import pytest

from dpfast._kernels.jit import BlockLoop
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import Partition, RandomLabels
from dpfast.aggregate.estimators import resolve
from dpfast.aggregate.estimators.base import Job
from dpfast.rng import InsecureGenerator
from dpfast.tables.data import as_rows
from dpfast.tables.key_words import secret

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = rows(10_000, 50)
N = rows(10_000_000, 5_000)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@numba.njit(nogil=True)
def median(block):
    return np.median(block)


@numba.njit(nogil=True)
def uneven(block):
    """Some blocks cost fifty times as much as others, and nobody knows which."""
    rounds = 50 if block[0] > 74 else 1
    total = 0.0
    for _ in range(rounds):
        for x in block:
            total += np.log1p(np.exp((x - 50 - total * 1e-9) / 12))
    return total / rounds / len(block)


@numba.njit(nogil=True)
def total(block):
    """Hardly more than the reading of it."""
    return block.sum()


CASES = {"median": median, "uneven": uneven, "sum": total}


@pytest.fixture(scope="module")
def source():
    return as_rows(np.random.default_rng(0).normal(50, 12, N))


@pytest.fixture(scope="module")
def partition():
    return Partition(RandomLabels(BLOCKS, secret(InsecureGenerator(1).stream())), False)


@pytest.fixture(scope="module")
def window(source, partition):
    with laid_out(source, partition) as blocks:
        return next(blocks)


@pytest.fixture(scope="module", params=list(CASES))
def case(request, window):
    function = CASES[request.param]

    @numba.njit
    def plain(rows, offsets, out):
        for b in range(len(out)):
            out[b] = function(rows[offsets[b] : offsets[b + 1]])

    def floor():
        out = np.empty(BLOCKS)
        plain(window.rows, window.offsets, out)
        return out

    return function, floor, floor()


def run(benchmark, work):
    return benchmark.pedantic(work, rounds=5, warmup_rounds=1)


def test_floor_one_thread(benchmark, case):
    assert np.array_equal(run(benchmark, case[1]), case[2])


def test_scatter(benchmark, source, partition):
    def work():
        with laid_out(source, partition, CORES) as blocks:
            return next(blocks).offsets[-1]

    assert run(benchmark, work) == N


@pytest.mark.parametrize("is_ours", [True, False], ids=["in place", "copied"])
def test_loop(benchmark, case, window, is_ours):
    function, _, expected = case
    loop = BlockLoop(function, window.rows.dtype, False)

    def work():
        out = np.full((BLOCKS, 1), np.nan)
        loop.fill(window.rows, window.offsets, is_ours, out, CORES)
        return out[:, 0]

    assert np.array_equal(run(benchmark, work), expected)


def test_compiled(benchmark, case, source, partition):
    bound = resolve(case[0]).bind(source, None)
    found = run(benchmark, lambda: bound.outputs(source, partition, Job(CORES)))
    assert np.array_equal(found[:, 0], case[2])
