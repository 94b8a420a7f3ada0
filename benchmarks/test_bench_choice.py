"""Exact choices: by row of a matrix beside NumPy's Gumbel trick, and the call overhead of one draw.

Run with `pytest benchmarks/test_bench_choice.py`; DPFAST_ISA=avx2 or baseline forces a narrower
path. NumPy's `argmax(scores + gumbel)` rounds its noise and ends its tails; it is timed in the same
test, and `np.max`, the floor, as well.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpfast.noise import choice
from dpfast.rng import SecureGenerator

from .conftest import beside, rows


@pytest.fixture(scope="module")
def table():
    values = np.random.default_rng(0).normal(size=(rows(100_000, 200), 100))
    best = values.max(axis=1)

    def exact(i, j):
        return Fraction(best[i]) - Fraction(values[i, j])

    return values, best, exact


def references(values):
    g = np.random.default_rng(1)
    return {
        "numpy gumbel + argmax": lambda: np.argmax(values + g.gumbel(size=values.shape), axis=1),
        "np.max": lambda: values.max(axis=1),
    }


@pytest.mark.parametrize(
    "distribution", [choice.rows, choice.subset_rows], ids=lambda f: f.__name__
)
def test_by_row(benchmark, table, distribution):
    values, best, exact = table
    benchmark.group = "one draw a row of 100"
    stream = SecureGenerator().stream()
    got = benchmark.pedantic(
        lambda: distribution(values, best, 1.0, exact, stream), rounds=7, warmup_rounds=1
    )
    beside(benchmark, references(values), values.size)
    # The expected distance is the same as with NumPy's noise, or less with permute-and-flip.
    gap = (best - np.take_along_axis(values, got[:, None], axis=1)[:, 0]).mean()
    chosen = np.argmax(values + np.random.default_rng(2).gumbel(size=values.shape), axis=1)
    same = (best - np.take_along_axis(values, chosen[:, None], axis=1)[:, 0]).mean()
    if distribution is choice.rows:
        assert abs(gap - same) < 10 / len(values) ** 0.5
    else:
        assert gap < same + 3 / len(values) ** 0.5  # of few rows, in a smoke run, by chance


@pytest.mark.parametrize("m", [10, 39_000, 1_000_000])
def test_weights(benchmark, m):
    distance = np.random.default_rng(0).exponential(10.0, rows(m, min(m, 1000)))
    distance[0] = 0.0
    benchmark.group = "weights of runs"
    made = benchmark(lambda: choice.Weights(distance, 1.0))
    beside(benchmark, {"np.exp": lambda: np.exp(-distance)}, len(distance))
    assert made.bound[0] / 2.0**made.shift == pytest.approx(1, rel=2e-6)


def test_one_draw_from_ten(benchmark):
    distance = np.arange(10.0)
    stream = SecureGenerator().stream()
    benchmark.group = "call overhead"
    got = benchmark(lambda: choice.Weights(distance, 1.0).draw(1, lambda b: Fraction(b), stream))
    beside(benchmark, {})
    assert 0 <= got[0] < 10


def test_many_draws(benchmark):
    distance = np.arange(1000.0)
    stream = SecureGenerator().stream()
    weights = choice.Weights(distance, 0.1)
    benchmark.group = "repeated draws from 1000"
    size = rows(100_000, 1000)
    got = benchmark(lambda: weights.draw(size, lambda b: Fraction(b), stream))
    g, p = np.random.default_rng(0), np.exp(-0.1 * distance)
    p /= p.sum()
    beside(benchmark, {"numpy choice": lambda: g.choice(1000, size, p=p)}, size)
    assert abs(got.mean() - (p * distance).sum()) < 60 / size**0.5
