"""Statistical queries beside the same means by NumPy, without noise and without checks.

pytest benchmarks/test_bench_queries.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.sulq import (
    StatisticalQueryOracle,
    conjunction_needs,
    learn_conjunction,
    learn_halfspace,
)

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, D = rows(1_000_000), 8
MARGIN, ROUNDS = 0.2, 5


@pytest.fixture(scope="module")
def column():
    return np.random.default_rng(0).uniform(0, 1, N)


@pytest.fixture(scope="module")
def bits():
    x = np.random.default_rng(0).uniform(size=(N, D)) < 0.7
    return np.column_stack([x, x[:, 0] & ~x[:, 3]]).astype(np.int8)


@pytest.fixture(scope="module")
def cloud():
    x = np.random.default_rng(0).normal(0, 0.3, (N, D))
    return np.column_stack([x, np.where(x[:, 0] > x[:, 1], 1.0, -1.0)])


def test_question(benchmark, column):
    oracle = StatisticalQueryOracle(
        column, tolerance=0.01, queries=1 << 12, rho=500, rows=N, rng=InsecureGenerator(1)
    )
    ask = benchmark.pedantic
    found = ask(lambda: oracle.ask("value", bounds=(0, 1)), rounds=7, warmup_rounds=1)
    assert found == pytest.approx(0.5, abs=0.02)


def test_rival_mean(benchmark, column):
    found = benchmark.pedantic(lambda: column.mean(), rounds=7, warmup_rounds=1)
    assert found == pytest.approx(0.5, abs=0.01)


def test_conjunction(benchmark, bits):
    """17 questions in two reads."""

    def oracle():
        needs = conjunction_needs(D, 0.1)
        made = StatisticalQueryOracle(bits, rho=500, rows=N, rng=InsecureGenerator(1), **needs)
        return (made,), {}

    found = benchmark.pedantic(learn_conjunction, setup=oracle, rounds=5)
    assert found.literals == ((0, True), (3, False))


def test_conjunction_rival_numpy(benchmark, bits):
    def learn():
        yes = bits[:, -1] > 0
        shares = {}
        for j in range(D):
            for wanted in (True, False):
                shares[j, wanted] = (((bits[:, j] > 0) != wanted) & yes).mean()
        kept = tuple(one for one, share in shares.items() if share <= 0.003)
        said = np.ones(N, bool)
        for j, wanted in kept:
            said &= (bits[:, j] > 0) == wanted
        return kept, (said != yes).mean()

    kept, error = benchmark.pedantic(learn, rounds=5)
    assert kept == ((0, True), (3, False)) and error == 0


def test_halfspace(benchmark, cloud):
    """Five rounds, and the question about the error."""

    def oracle():
        made = StatisticalQueryOracle(
            cloud, tolerance=0.01, queries=ROUNDS + 1, l2=1.0, size=D, rho=500, rows=N,
            rng=InsecureGenerator(1),
        )  # fmt: skip
        return (made,), {}

    learn = lambda made: learn_halfspace(made, margin=MARGIN, radius=1.0)  # noqa: E731
    found = benchmark.pedantic(learn, setup=oracle, rounds=3)
    assert found.error < 0.1


def test_halfspace_rival_numpy(benchmark, cloud):
    def learn():
        x, y = cloud[:, :-1], np.where(cloud[:, -1] > 0, 1.0, -1.0)
        length = np.sqrt((x**2).sum(axis=1))
        x = x / np.maximum(1.0, length)[:, None]
        w, total = np.zeros(D), np.zeros(D)
        for _ in range(ROUNDS):
            total += w
            near = y * (x @ w) < MARGIN
            w = w + (x * (y * near)[:, None]).mean(axis=0) / np.sqrt(ROUNDS)
            w /= max(1.0, np.linalg.norm(w))
        return ((x @ total > 0) != (y > 0)).mean()

    assert benchmark.pedantic(learn, rounds=3) < 0.1
