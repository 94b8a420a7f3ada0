"""What a second core gains, beside what a plain compiled loop gains from it in the same run.

pytest benchmarks/test_bench_threads.py --benchmark-sort=fullname

Each case runs with one thread and with all; its gain is in the extra info, and so is that of a loop
that does nothing but arithmetic. `test_user_threads` has threads of the user's, each with calls of
its own and one thread a call.
"""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.threads import threads

from .conftest import fastest, record, rows

pytest.importorskip("pytest_benchmark")
numba = pytest.importorskip("numba")

N = rows(20_000_000)


@numba.njit(nogil=True)
def loop(steps):
    """Arithmetic that nothing can shorten."""
    x = 1.0
    for i in range(steps):
        x = x * 0.999999 + math.sqrt(x + i)
    return x


def together(call, count):
    """Run a call in so many threads at once."""
    made = [threading.Thread(target=call) for _ in range(count)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def gain_of(call, count):
    """Return what `count` threads that each do all of the work gain over one that does."""
    return count * fastest(lambda: together(call, 1)) / fastest(lambda: together(call, count))


def plain(count):
    return gain_of(lambda: loop(N), count)


CALLS = {
    "laplace noise": lambda x, k: dp.noise.laplace(1.0, N),
    "gaussian noise": lambda x, k: dp.noise.gaussian(1.0, N),
    "discrete laplace noise": lambda x, k: dp.noise.discrete_laplace(3.0, N),
    "sum": lambda x, k: dp.sum(x, bounds=(-3, 3), epsilon=1),
    "histogram": lambda x, k: dp.histogram(x, bins=64, bounds=(-3, 3), epsilon=1),
    "median": lambda x, k: dp.median(x, bounds=(-3, 3), epsilon=1),
    "k-means": lambda x, k: dp.learn.KMeans(16, bounds=[(-3, 3)] * 8, epsilon=1, max_iter=3).fit(
        x.reshape(-1, 8)
    ),
    "products": lambda x, k: dp.learn.PCA(2, bounds=[(-3, 3)] * 8, epsilon=1).fit(x.reshape(-1, 8)),
    "scatter": lambda x, k: dp.sample_and_aggregate(
        x, "median", blocks=1000, bounds=(-3, 3), epsilon=1
    ),
    "sums by group": lambda x, k: dp.group_by({"k": k, "x": x}, "k", keys=range(1000)).sum(
        "x", bounds=(-3, 3), epsilon=1
    ),
    "medians by group": lambda x, k: dp.group_by({"k": k, "x": x}, "k", keys=range(1000)).median(
        "x", bounds=(-3, 3), epsilon=1
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_all_cores(benchmark, name):
    x = np.random.default_rng(0).normal(size=N)
    k = np.random.default_rng(1).integers(0, 1000, N).astype(np.int32)
    call, count = CALLS[name], threads()
    with dp.threads(1):
        one = fastest(lambda: call(x, k))
    benchmark.pedantic(lambda: call(x, k), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    if benchmark.stats is not None:
        benchmark.extra_info["gain"] = one / benchmark.stats.stats.min
        benchmark.extra_info["gain of a plain loop"] = plain(count)


USERS = {
    "laplace noise": lambda x: dp.noise.laplace(1.0, len(x)),
    "median": lambda x: dp.median(x, bounds=(-3, 3), epsilon=1),
    "sum": lambda x: dp.sum(x, bounds=(-3, 3), epsilon=1),
}


@pytest.mark.parametrize("name", USERS)
def test_user_threads(benchmark, name):
    """Calls of 1e5 rows, as many at once as there are cores."""
    x, count = np.random.default_rng(0).normal(size=rows(100_000)), threads()

    def some():
        for _ in range(max(1, N // len(x) // 10)):
            USERS[name](x)

    with dp.threads(1):
        benchmark.extra_info["gain"] = gain_of(some, count)
        benchmark.extra_info["gain of a plain loop"] = plain(count)
        benchmark.pedantic(lambda: together(some, count), rounds=2)
