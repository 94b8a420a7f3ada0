"""A level of ID3 beside the same counts by `np.bincount`; naive Bayes beside sums by NumPy.

pytest benchmarks/test_bench_id3.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.learn import ID3Classifier, NaiveBayes
from dpfast.rng import InsecureGenerator

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, D, V, C = rows(1_000_000), 8, 4, 4
ROUNDS = 5


@pytest.fixture(scope="module")
def table():
    """Eight columns of four values, and a class of four that follows two of them."""
    g = np.random.default_rng(0)
    X = g.integers(0, V, (N, D))
    y = np.where(g.uniform(size=N) < 0.2, g.integers(0, C, N), (X[:, 2] + X[:, 5]) % C)
    return X, y


@pytest.mark.parametrize("splits", ["counts", "exponential"])
def test_id3(benchmark, table, monkeypatch, splits):
    """Four levels and the leaves: five passes, in one thread."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    made = ID3Classifier(
        range(V), classes=range(C), rho=1, max_depth=ROUNDS - 1, criterion="max", splits=splits
    )
    benchmark.pedantic(lambda: made.fit(*table, rng=InsecureGenerator(1)), rounds=5)
    assert made.tree_.counts[0].sum() == pytest.approx(N, rel=0.01)


def test_id3_rival_bincount(benchmark, table):
    """The counts of as many rounds, at nodes that are handed over, and the class counts of all."""
    X, y = table
    nodes = [np.zeros(N, np.int64)]
    for a in range(ROUNDS - 1):
        nodes.append(nodes[-1] * V + X[:, a])

    def rounds():
        for level in range(ROUNDS - 1):
            base = nodes[level] * C + y
            size = V**level * C * V
            found = [np.bincount(base * V + X[:, a], minlength=size) for a in range(D)]
        return found, np.bincount(nodes[-1] * C + y, minlength=V ** (ROUNDS - 1) * C)

    found, leaves = benchmark.pedantic(rounds, rounds=5)
    assert all(one.sum() == N for one in found) and leaves.sum() == N


@pytest.fixture(scope="module")
def cloud():
    g = np.random.default_rng(0)
    y = g.integers(0, C, N)
    return np.clip(g.normal(0.3, 0.1, (N, D)) + 0.1 * y[:, None], 0, 1), y


def test_naive_bayes(benchmark, cloud, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    threadpoolctl = pytest.importorskip("threadpoolctl")
    made = NaiveBayes(bounds=(0, 1), classes=range(C), rho=1)
    with threadpoolctl.threadpool_limits(1):
        benchmark.pedantic(lambda: made.fit(*cloud), rounds=5)
    assert made.theta_[2] == pytest.approx(0.5, abs=0.05)


def test_naive_bayes_rival_sums(benchmark, cloud):
    """Sums and sums of squares of each class, from floats."""
    X, y = cloud

    def sums():
        own = [X[y == c] for c in range(C)]
        return [(part.sum(axis=0), np.einsum("ij,ij->j", part, part)) for part in own]

    found = benchmark.pedantic(sums, rounds=5)
    assert found[2][0] / np.count_nonzero(y == 2) == pytest.approx(0.5, abs=0.05)
