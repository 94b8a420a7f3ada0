"""Randomized response beside its own random bits, and beside NumPy's way.

Run with `pytest benchmarks/test_bench_response.py`; DPFAST_ISA=avx2 or baseline forces a narrower
path. `extra_info` has ns an answer of the fastest round. Beside it are the random bits (8 for a
coin, 32 more for one of k categories) with a first write to memory of the size of the answers, and
NumPy's way, which is neither secure nor exact.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import SecureGenerator

from .conftest import beside, rows

N = rows(10_000_000)
EPSILON = 1.0
LEAST = "its random bits, and filling its array"
NUMPY = "`np.where(random < p, integers, x)` (neither)"


def note(benchmark, n, bits, dtype, rival):
    """Beside random bits of so many bytes and an array of `n` answers that is filled, and NumPy."""
    stream, room = SecureGenerator().stream(), np.empty(1 << 18, np.uint8)

    def least():
        np.empty(n, dtype).fill(1)
        for at in range(0, bits, len(room)):
            stream.fill(room[: bits - at])

    beside(benchmark, {LEAST: least, NUMPY: rival}, n)


def measure(benchmark, call):
    return benchmark.pedantic(call, rounds=5, iterations=1, warmup_rounds=1)


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64"])
def test_binary(benchmark, kind):
    g = np.random.default_rng(0)
    bits = (g.random(N) < 0.3).astype(kind)
    answers = measure(benchmark, lambda: dp.response.binary(bits, epsilon=EPSILON))
    found = dp.response.estimate_binary(answers, epsilon=EPSILON)
    assert abs(found.value - bits.mean()) < 6 * math.sqrt(found.variance)
    uniform = 2 / (1 + math.exp(EPSILON))

    def rival():
        return np.where(g.random(N) < uniform, g.integers(0, 2, N, dtype=kind), bits)

    note(benchmark, N, N, answers.dtype, rival)


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

    note(benchmark, N, 5 * N, answers.dtype, rival)


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

    note(benchmark, n * k, n * k, answers.dtype, rival)
