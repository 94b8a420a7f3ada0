"""A round of the perceptron beside the round that NumPy makes of it, and least squares beside the
normal equations in floats and diffprivlib's.

pytest benchmarks/test_bench_linear.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.learn import LinearRegression, Perceptron

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, D, ROUNDS = rows(1_000_000), 8, 10


@pytest.fixture(scope="module")
def classes():
    """Rows, labels that no hyperplane has all right, so that every round has work, and a target."""
    g = np.random.default_rng(0)
    x, w = np.clip(g.normal(0, 0.3, (N, D)), -1, 1), g.normal(size=D)
    side = x @ w + 0.1
    labels = np.where(side + g.normal(0, 0.2, N) > 0, 1.0, -1.0)
    return x, labels, np.clip(side / 4 + g.normal(0, 0.05, N), -1, 1)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("kw", [{"bounds": (-1, 1)}, {"radius": 1.5}], ids=["box", "ball"])
def test_perceptron(benchmark, classes, kw):
    """Ten rounds."""
    x, y, _ = classes
    made = Perceptron(rho=1, max_iter=ROUNDS, **kw)
    made = benchmark.pedantic(lambda: made.fit(x, y), rounds=5)
    assert made.n_iter_ == ROUNDS and made.score(x, y) > 0.75


def numpy_perceptron(x, y, times):
    """The same steps in floats: which rows are wrong, then their sum."""
    w, b, least, kept = np.zeros(x.shape[1]), 0.0, np.inf, None
    for t in range(times):
        wrong = y * (x @ w + b) <= 0
        count = int(np.count_nonzero(wrong))
        if t <= 1 or count < least:
            least, kept = count, (w, b)
        signs = np.where(wrong, y, 0.0)
        w, b = w + (signs @ x) / (count * (t + 1)), b + signs.sum() / (count * (t + 1))
    return kept


def test_perceptron_floor_numpy(benchmark, classes):
    """Ten rounds, each two products of a matrix and a vector."""
    x, y, _ = classes
    w, b = benchmark.pedantic(lambda: numpy_perceptron(x, y, ROUNDS), rounds=5)
    assert np.mean(y * (x @ w + b) > 0) > 0.75


def normal_equations(x, y):
    mean, middle = x.mean(axis=0), y.mean()
    rows = len(x)
    gram = x.T @ x - rows * np.outer(mean, mean)
    return np.linalg.solve(gram, x.T @ y - rows * mean * middle)


def test_least_squares(benchmark, classes):
    x, _, y = classes
    made = LinearRegression(bounds=(-1, 1), y_bounds=(-1, 1), epsilon=1)
    made = benchmark.pedantic(lambda: made.fit(x, y), rounds=5)
    if len(x) >= 1_000_000:
        assert made.coef_ == pytest.approx(normal_equations(x, y), abs=0.05)


def test_least_squares_floor_floats(benchmark, classes):
    x, _, y = classes
    found = benchmark.pedantic(lambda: normal_equations(x, y), rounds=5)
    assert found.shape == (D,)


def test_least_squares_rival_diffprivlib(benchmark, classes):
    models = pytest.importorskip("diffprivlib.models")
    x, _, y = classes
    rival = models.LinearRegression(epsilon=1, bounds_X=(-1, 1), bounds_y=(-1, 1))
    benchmark.pedantic(lambda: rival.fit(x, y), rounds=3)
    assert rival.coef_.shape == (D,)
