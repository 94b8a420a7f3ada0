"""Reconstruction attacks beside the solvers that they ask.

Run with `pytest benchmarks/test_bench_audit.py`. `extra_info` has the time of the solver alone on
matrices that are made before: NumPy's least squares, or HiGHS on the same programme as one dense
matrix.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import dpfast as dp

from .conftest import beside

N, QUERIES = 100, 800


def problem():
    rng = np.random.default_rng(9)
    bits, sets = rng.random(N) < 0.5, rng.random((QUERIES, N)) < 0.5
    return bits, sets, sets @ (bits * 1) + rng.normal(0, 1.5, QUERIES)


def squares(a, y):
    return lambda: np.linalg.lstsq(a, y, rcond=None)


def absolute(a, y):
    m, n = a.shape
    dense = np.hstack([a, np.eye(m), -np.eye(m)])
    cost = np.concatenate([np.zeros(n), np.ones(2 * m)])
    limits = [(-0.5, 0.5)] * n + [(0, None)] * (2 * m)
    return lambda: linprog(cost, A_eq=dense, b_eq=y, bounds=limits, method="highs")


@pytest.mark.parametrize(("method", "alone"), [("least-squares", squares), ("lp", absolute)])
def test_reconstruct(benchmark, method, alone):
    bits, sets, answers = problem()
    found = benchmark.pedantic(
        lambda: dp.audit.reconstruct(answers, N, queries=sets, method=method), rounds=3
    )
    assert (found == bits).mean() > 0.97
    beside(benchmark, {"the solver": alone(sets * 1.0, answers - sets.sum(axis=1) / 2)})
