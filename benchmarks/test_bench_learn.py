"""Noisy sums beside `np.sum`; k-means beside scikit-learn's Lloyd iterations
from the same centres; components beside `X.T @ X` and `eigh`.

pytest benchmarks/test_bench_learn.py --benchmark-sort=fullname
"""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest

from dpfast.learn import PCA, KMeans
from dpfast.rng import InsecureGenerator
from dpfast.sulq import NoisySums, Term

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(10_000_000)


@pytest.fixture(scope="module")
def column():
    return np.random.default_rng(0).uniform(0, 1, N)


@numba.njit
def cube(x):
    return x * x * x


def test_rival_np_sum(benchmark, column):
    assert benchmark(column.sum) == pytest.approx(N / 2, rel=0.02)


FUNCTIONS = {
    "value": (Term("value", (0, 1)), 1 / 2),
    "square": (Term("square", (0, 1)), 1 / 3),
    "compiled": (Term(cube), 1 / 4),
    "unit vector": (Term("row", l2=1.0), 1 / 2),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_sum(benchmark, column, name):
    term, mean = FUNCTIONS[name]
    sums = NoisySums(column, rho=1, queries=1 << 12, rng=InsecureGenerator(1))
    (found,) = benchmark.pedantic(lambda: sums.batch([term]), rounds=5, warmup_rounds=1)
    assert found == pytest.approx(mean * N, rel=0.05)


def test_some_rows(benchmark, column):
    half = np.arange(N) % 2 == 0
    sums = NoisySums(column, rho=1, queries=1 << 12, rng=InsecureGenerator(1))
    found = benchmark.pedantic(lambda: sums.sum("value", half, bounds=(0, 1)), rounds=5)
    assert found == pytest.approx(N / 4, rel=0.05)


def test_some_rows_rival_numpy(benchmark, column):
    half = np.arange(N) % 2 == 0
    assert benchmark(lambda: column[half].sum()) == pytest.approx(N / 4, rel=0.05)


M, D, K, ITERATIONS = rows(1_000_000), 8, 16, 10


@pytest.fixture(scope="module")
def cloud():
    """Rows without clusters, so that nobody is done early, and centres to start with."""
    g = np.random.default_rng(0)
    return np.clip(g.normal(0.5, 0.2, (M, D)), 0, 1), g.uniform(0.3, 0.7, (K, D))


def inertia(data, centres):
    part = data[:10_000, None]
    return float(((part - centres) ** 2).sum(axis=2).min(axis=1).mean())


def test_k_means(benchmark, cloud, monkeypatch):
    """Ten rounds, in one thread."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    data, centres = cloud
    made = KMeans(K, bounds=(0, 1), rho=1, max_iter=ITERATIONS, init=centres)
    made = benchmark.pedantic(lambda: made.fit(data), rounds=5)
    assert inertia(data, made.cluster_centers_) < 0.95 * inertia(data, centres)


def test_k_means_finds_its_own_centres(benchmark, cloud, monkeypatch):
    """Ten rounds, two of them over more cells than clusters."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    data, centres = cloud
    made = KMeans(K, bounds=(0, 1), rho=1, max_iter=ITERATIONS)
    made = benchmark.pedantic(lambda: made.fit(data), rounds=5)
    assert inertia(data, made.cluster_centers_) < 0.95 * inertia(data, centres)


def test_k_means_rival_scikit_learn(benchmark, cloud):
    """Ten Lloyd iterations, in one thread."""
    cluster = pytest.importorskip("sklearn.cluster")
    from threadpoolctl import threadpool_limits

    data, centres = cloud
    kw = {"n_init": 1, "max_iter": ITERATIONS, "tol": 0, "algorithm": "lloyd"}
    rival = cluster.KMeans(K, init=centres, **kw)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged
        benchmark.pedantic(lambda: rival.fit(data), rounds=5)
    assert rival.n_iter_ == ITERATIONS
    assert inertia(data, rival.cluster_centers_) < 0.95 * inertia(data, centres)


@pytest.fixture(scope="module", params=[8, 64])
def matrix(request):
    g = np.random.default_rng(0)
    return np.clip(g.normal(0.5, 0.1, (M, request.param)), 0, 1)


def test_components(benchmark, matrix, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    from threadpoolctl import threadpool_limits

    made = PCA(bounds=(0, 1), rho=1)
    with threadpool_limits(1):
        benchmark.pedantic(lambda: made.fit(matrix), rounds=5)
    assert made.mean_ == pytest.approx(matrix.mean(axis=0), abs=0.1)


def test_components_rival_floats(benchmark, matrix):
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        values, _ = benchmark.pedantic(lambda: np.linalg.eigh(matrix.T @ matrix), rounds=5)
    assert values.sum() == pytest.approx((matrix**2).sum())
