"""Sizes of the benchmark cases: full by default, tiny with DPFAST_BENCH_SMOKE=1."""

import os
import time

import numpy as np
import pytest

from dpfast._kernels.rng import isa

SMOKE = os.environ.get("DPFAST_BENCH_SMOKE") == "1"


def rows(full: int, smoke: int = 20_000) -> int:
    return smoke if SMOKE else full


@pytest.fixture(scope="session")
def unsorted_floats():
    """Five times ten to the seventh unsorted float64 values."""
    return np.random.default_rng(0).normal(50.0, 12.0, rows(50_000_000))


def record(benchmark, n):
    """Put the number of rows beside a case that has run, and its time for each."""
    benchmark.extra_info["rows"] = n
    if benchmark.stats is not None:
        benchmark.extra_info["ns_per_row"] = benchmark.stats.stats.min / n * 1e9


def fastest(call, rounds=3):
    """Seconds of the fastest of some calls."""
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def beside(benchmark, calls, each=1):
    """Put yardsticks beside a case that has run, in its test: calls by what a table says of them.

    `extra_info` gets nanoseconds for `each` part of the case, and its time as a multiple of each
    yardstick's. `report.py` times them in turn with the case instead.
    """
    benchmark.yardsticks = calls
    if benchmark.stats:  # absent under --benchmark-disable, and in a report
        best = benchmark.stats.stats.min
        benchmark.extra_info["isa"] = isa()
        benchmark.extra_info["ns each"] = round(best / each * 1e9, 2)
        for name, call in calls.items():
            benchmark.extra_info[f"of {name}"] = round(best / fastest(call), 3)
