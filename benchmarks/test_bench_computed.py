"""Scores that a compiled function computes: the pass beside its floor and beside storing them.

pytest benchmarks/test_bench_computed.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 1e7 candidates.

The floor is the same function in a compiled loop that only takes the largest score; `np.max` is the
floor for scores that are stored already. The rival fills an array and passes over that.
"""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest

from dpfast.selection.api import exponential
from dpfast.selection.scores.computed import Computed
from dpfast.selection.scores.stored import Stored

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(10_000_000)
BLOCK = 256


@numba.njit
def near(data, candidate):
    """A cheap score."""
    return -abs(data[0] - candidate)


@numba.njit
def votes(data, candidate):
    """A dearer one, of integers: how many of some intervals hold the candidate."""
    total = 0
    for i in range(len(data)):
        total += (data[i, 0] <= candidate) & (candidate < data[i, 1])
    return total


CASES = {
    "near": (near, np.array([0.33 * N])),
    "votes": (votes, np.sort(np.random.default_rng(0).integers(0, N, (20, 2)), axis=1)),
}


@numba.njit
def largest(function, data, count):
    best = function(data, 0)
    for candidate in range(1, count):
        best = max(best, function(data, candidate))
    return best


@numba.njit
def fill(function, data, out):
    for candidate in range(len(out)):
        out[candidate] = function(data, candidate)


@pytest.fixture(scope="module", params=list(CASES))
def case(request):
    function, data = CASES[request.param]
    stored = np.empty(N, type(function(data, 0)))
    fill(function, data, stored)
    return function, data, stored


def test_floor_compiled_max(benchmark, case):
    function, data, stored = case
    largest(function, data, 1)
    assert benchmark(largest, function, data, N) == stored.max()


def test_floor_max_of_stored(benchmark, case):
    stored = case[2]
    assert benchmark(stored.max) == stored.max()


def test_rival_fill_then_pass(benchmark, case):
    function, data, stored = case

    def run():
        out = np.empty(N, stored.dtype)
        fill(function, data, out)
        return Stored(out).peaks(BLOCK)

    assert np.array_equal(benchmark(run), Stored(stored).peaks(BLOCK))


def test_computed(benchmark, case):
    function, data, stored = case
    Computed(function, data, N)
    found = benchmark(lambda: Computed(function, data, N).peaks(BLOCK))
    assert np.array_equal(found, Stored(stored).peaks(BLOCK))


def test_looks(benchmark, case):
    """A thousand looks here and there."""
    function, data, stored = case
    scores = Computed(function, data, N)
    scores.peaks(BLOCK)
    index = np.random.default_rng(1).integers(0, N, 1000)
    assert np.array_equal(benchmark(scores.distance, index), stored.max() - stored[index])


def test_few_candidates(benchmark):
    function, data = CASES["near"]
    Computed(function, data, 10)
    found = benchmark(lambda: Computed(function, data, 10).peaks(1))
    assert len(found) == 10 and found.min() == 0


def test_plain_python(benchmark, case):
    """A hundredth of the candidates."""
    function, data, _ = case

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Computed(function.py_func, data, N // 100).peaks(BLOCK)

    expected = Computed(function, data, N // 100).peaks(BLOCK)
    np.testing.assert_allclose(benchmark.pedantic(run, rounds=1), expected, rtol=1e-15)


@pytest.mark.parametrize("kind", ["computed", "rival fill", "floor stored"])
def test_exponential(benchmark, kind):
    """One whole draw: from the function, from an array filled for it, from one that was there."""
    function, data = CASES["near"]
    out = np.empty(N)
    fill(function, data, out)

    def run():
        if kind == "computed":
            return exponential(function, data=data, candidates=N, sensitivity=1, epsilon=100.0)
        scores = out
        if kind == "rival fill":
            scores = np.empty(N)
            fill(function, data, scores)
        return exponential(scores, sensitivity=1, epsilon=100.0)

    assert abs(benchmark(run) - data[0]) < 3
