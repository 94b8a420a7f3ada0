"""Randomized response beside its own random bits, and beside NumPy's way.

Run with `pytest benchmarks/test_bench_response.py`; DPFAST_ISA=avx2 or baseline forces a narrower
path. `extra_info` has ns an answer of the fastest round, what the random bits alone take (8 for a
coin, 32 more for one of k categories), the difference, which is meant to be at most 2 ns, and how
much of that is a first write to memory of the size of the answers. NumPy's generators are neither
secure nor exact; they are timed in the same test.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.rng import isa
from dpfast.rng import SecureGenerator

from .conftest import rows
from .test_bench_choice import fastest

N = rows(10_000_000)
EPSILON = 1.0


def bits_alone(size):
    buffer, stream = np.empty(size, np.uint8), SecureGenerator().stream()
    return fastest(lambda: stream.fill(buffer))


def note(benchmark, answers, bytes_drawn, rival, size):
    if benchmark.stats:  # absent under --benchmark-disable
        best, floor = benchmark.stats.stats.min, bits_alone(bytes_drawn)
        benchmark.extra_info["isa"] = isa()
        benchmark.extra_info["ns each"] = round(best / answers * 1e9, 2)
        benchmark.extra_info["ns of the bits"] = round(floor / answers * 1e9, 2)
        benchmark.extra_info["ns over them"] = round((best - floor) / answers * 1e9, 2)
        memory = fastest(lambda: np.empty(size, np.uint8).fill(1))
        benchmark.extra_info["ns of fresh memory"] = round(memory / answers * 1e9, 2)
        benchmark.extra_info["ns over both"] = round((best - floor - memory) / answers * 1e9, 2)
        benchmark.extra_info["of numpy"] = round(best / fastest(rival), 3)


def measure(benchmark, call):
    return benchmark.pedantic(call, rounds=5, iterations=1, warmup_rounds=1)


@pytest.mark.parametrize("kind", ["bool", "int64"])
def test_binary(benchmark, kind):
    g = np.random.default_rng(0)
    bits = (g.random(N) < 0.3).astype(kind)
    answers = measure(benchmark, lambda: dp.response.binary(bits, epsilon=EPSILON))
    found = dp.response.estimate_binary(answers, epsilon=EPSILON)
    assert abs(found.value - bits.mean()) < 6 * math.sqrt(found.variance)
    rare = 1 / (1 + math.exp(EPSILON))
    note(benchmark, N, N, lambda: bits.astype(bool) ^ (g.random(N) < rare), answers.nbytes)


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("k", [10, 100])
def test_kary(benchmark, k, kind):
    g = np.random.default_rng(0)
    values = (k * g.random(N) ** 2).astype(kind)
    answers = measure(benchmark, lambda: dp.response.kary(values, categories=k, epsilon=EPSILON))
    found = dp.response.estimate_kary(answers, categories=k, epsilon=EPSILON)
    true = np.bincount(values, minlength=k) / N
    assert (np.abs(found.value - true) < 6 * np.sqrt(found.variance)).all()
    uniform = k / (math.exp(EPSILON) + k - 1)

    def rival():
        return np.where(g.random(N) < uniform, g.integers(0, k, N, dtype=kind), values)

    note(benchmark, N, 5 * N, rival, answers.nbytes)


@pytest.mark.parametrize("k", [16, 256])
def test_unary(benchmark, k):
    """ns a bit."""
    g, n = np.random.default_rng(0), N // k
    values = (k * g.random(n) ** 2).astype(np.int64)
    answers = measure(benchmark, lambda: dp.response.unary(values, categories=k, epsilon=EPSILON))
    found = dp.response.estimate_unary(answers, epsilon=EPSILON)
    true = np.bincount(values, minlength=k) / n
    assert (np.abs(found.value - true) < 6 * np.sqrt(found.variance)).all()
    rare = 1 / (1 + math.exp(EPSILON))

    def rival():
        ones = np.full((n, k), rare)
        ones[np.arange(n), values] = 0.5
        return g.random((n, k)) < ones

    note(benchmark, n * k, n * k, rival, answers.nbytes)
