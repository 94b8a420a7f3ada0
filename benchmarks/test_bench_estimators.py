"""Estimators that need a block side by side, beside NumPy, SciPy's definition and scikit-learn.

pytest benchmarks/test_bench_estimators.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 2e7 rows in 1,000 blocks.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate.blocks.layout import Window
from dpfast.aggregate.estimators import LogisticRegression, Median, Mode, Quantile, TrimmedMean
from dpfast.aggregate.estimators.base import Job
from dpfast.tables.data import as_rows

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = 1000
SOME = rows(20_000_000)


@pytest.fixture(scope="module")
def data(unsorted_floats):
    return unsorted_floats[:SOME]


def run(benchmark, work, rounds=5):
    return benchmark.pedantic(work, rounds=rounds, warmup_rounds=1)


def answers(estimator, table, blocks, width=None):
    """The answers of `blocks` equal ranges of rows: no layout in the clock."""
    bound = estimator.bind(as_rows(table), width)
    window = Window(0, table, np.arange(blocks + 1) * (len(table) // blocks), False)
    found = np.empty((blocks, bound.d))

    def work():
        bound.fill(window, found, Job(1))
        return found

    return work


# --- the whole release: random blocks, medians, one private mean of them --------------------------


def test_private_mean_of_medians_of_random_blocks(benchmark, data):
    release = lambda: dp.sample_and_aggregate(  # noqa: E731
        data, "median", blocks=BLOCKS, bounds=(0, 100), epsilon=1.0, workers=1
    )
    # Noise 0.1; the mean of medians of small blocks varies by less than 2.
    assert abs(run(benchmark, release) - np.median(data)) < 5


def test_rival_median_of_a_permutation(benchmark, data):
    rng = np.random.default_rng(1)
    work = lambda: np.median(rng.permutation(data).reshape(BLOCKS, -1), axis=1)  # noqa: E731
    found = benchmark.pedantic(work, rounds=3)
    assert abs(found.mean() - np.median(data)) < 5


# --- the estimators alone, on rows that lie block by block ----------------------------------------


@pytest.mark.parametrize("blocks", [10, 1000, 10_000, 100_000, 1_000_000])
def test_median_of_each_block(benchmark, data, blocks):
    blocks = min(blocks, len(data) // 20)
    found = run(benchmark, answers(Median(), data, blocks))
    np.testing.assert_array_equal(found[:, 0], np.median(data.reshape(blocks, -1), axis=1))


def test_rival_numpy_median(benchmark, data):
    table = data.reshape(BLOCKS, -1)
    assert len(run(benchmark, lambda: np.median(table, axis=1), 3)) == BLOCKS


def test_rival_numpy_partition(benchmark, data):
    """The selection that is in NumPy's median, with the copy that it needs."""
    table = data.reshape(BLOCKS, -1)
    middle = table.shape[1] // 2
    found = run(benchmark, lambda: np.partition(table, (middle - 1, middle), axis=1), 3)
    np.testing.assert_array_equal(
        found[:, middle - 1 : middle + 1].mean(axis=1), np.median(table, axis=1)
    )


@pytest.mark.parametrize("kind", ["sorted", "few values"])
def test_median_of_rows_in_a_pattern(benchmark, data, kind):
    table = np.sort(data) if kind == "sorted" else np.floor(data / 10)
    found = run(benchmark, answers(Median(), table, BLOCKS))
    np.testing.assert_array_equal(found[:, 0], np.median(table.reshape(BLOCKS, -1), axis=1))


def test_median_of_floats_of_32_bits(benchmark, data):
    table = data.astype(np.float32)
    found = run(benchmark, answers(Median(), table, BLOCKS))
    due = np.median(table.astype(np.float64).reshape(BLOCKS, -1), axis=1)
    np.testing.assert_array_equal(found[:, 0], due)


def test_median_of_four_columns(benchmark, data):
    table = data.reshape(-1, 4)
    found = run(benchmark, answers(Median(), table, BLOCKS, 4))
    np.testing.assert_array_equal(found, np.median(table.reshape(BLOCKS, -1, 4), axis=1))


def test_quantile_of_each_block(benchmark, data):
    found = run(benchmark, answers(Quantile(0.9), data, BLOCKS))
    due = np.quantile(data.reshape(BLOCKS, -1), 0.9, axis=1)
    np.testing.assert_allclose(found[:, 0], due, rtol=1e-12)


def test_rival_numpy_quantile(benchmark, data):
    table = data.reshape(BLOCKS, -1)
    assert len(run(benchmark, lambda: np.quantile(table, 0.9, axis=1), 3)) == BLOCKS


def trimmed(table):
    """What scipy.stats.trim_mean does."""
    cut = table.shape[1] // 10
    parted = np.partition(table, (cut, table.shape[1] - cut - 1), axis=1)
    return parted[:, cut : table.shape[1] - cut].mean(axis=1)


def test_trimmed_mean_of_each_block(benchmark, data):
    found = run(benchmark, answers(TrimmedMean(0.1), data, BLOCKS))
    np.testing.assert_allclose(found[:, 0], trimmed(data.reshape(BLOCKS, -1)), rtol=1e-12)


def test_rival_numpy_trimmed_mean(benchmark, data):
    table = data.reshape(BLOCKS, -1)
    assert len(run(benchmark, lambda: trimmed(table), 3)) == BLOCKS


@pytest.mark.parametrize("kind", ["all different", "few values"])
def test_mode_of_each_block(benchmark, data, kind):
    table = data if kind == "all different" else np.floor(data)
    found = run(benchmark, answers(Mode(), table, BLOCKS))
    if kind == "all different":
        np.testing.assert_array_equal(found[:, 0], table.reshape(BLOCKS, -1).min(axis=1))
    else:
        first = np.unique_counts(table[: len(table) // BLOCKS])
        assert found[0, 0] == first.values[first.counts.argmax()]


def test_rival_numpy_sort(benchmark, data):
    table = data.reshape(BLOCKS, -1)
    assert run(benchmark, lambda: np.sort(table, axis=1), 3).shape == table.shape


# --- logistic regression: 2e5 rows of five columns in 100 blocks ----------------------------------


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows(1_000_000, 20_000), 5))
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(0.5 + x @ [1, -1, 0.5, 0, 2])))
    return np.column_stack([x, y])


def test_logistic_regression_of_each_block(benchmark, trials):
    found = run(benchmark, answers(LogisticRegression(), trials, 100, 6))
    table = trials.reshape(100, -1, 6)
    for block, beta in zip(table[:3], found[:3], strict=True):
        rest = 1 / (1 + np.exp(-(beta[0] + block[:, :5] @ beta[1:]))) - block[:, 5]
        assert abs(rest.sum()) < 1e-7
        assert abs(rest @ block[:, :5] + beta[1:]).max() < 1e-7


def test_rival_scikit_learn(benchmark, trials):
    linear = pytest.importorskip("sklearn.linear_model")
    table = trials.reshape(100, -1, 6)

    def work():
        fitted = [
            linear.LogisticRegression(solver="newton-cholesky").fit(block[:, :5], block[:, 5])
            for block in table
        ]
        return np.array([m.coef_[0] for m in fitted])

    assert run(benchmark, work, 3).shape == (100, 5)
