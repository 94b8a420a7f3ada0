"""Rows in blocks beside the machine's floor and NumPy's way.

pytest benchmarks/test_bench_blocks.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 5e7 rows (2e7 for the sort), 1,000 blocks.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate.blocks.counting_sort import scatter
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, Partition, RandomLabels
from dpfast.aggregate.blocks.tallies import Extremes, Moments
from dpfast.rng import InsecureGenerator
from dpfast.tables.base import RowChunk
from dpfast.tables.key_words import secret

from .conftest import rows

pytest.importorskip("pytest_benchmark")

BLOCKS = 1000
SOME = rows(20_000_000)


@pytest.fixture(scope="module")
def key():
    return secret(InsecureGenerator(1).stream())


@pytest.fixture(scope="module")
def labels(key):
    return RandomLabels(BLOCKS, key)


def run(benchmark, work):
    return benchmark.pedantic(work, rounds=5, warmup_rounds=1)


def test_floor_sum(benchmark, unsorted_floats):
    assert math.isfinite(run(benchmark, unsorted_floats.sum))


def test_mean_of_contiguous_blocks(benchmark, unsorted_floats):
    fixed = ContiguousLabels(BLOCKS, len(unsorted_floats))

    def work():
        moments = Moments(BLOCKS, 1)
        moments.add_ranges(fixed, 0, unsorted_floats)
        return moments.means()[:, 0]

    found = run(benchmark, work)
    _, cuts = fixed.runs(0, len(unsorted_floats))
    due = np.add.reduceat(unsorted_floats, cuts[:-1]) / np.diff(cuts)
    np.testing.assert_allclose(found, due, rtol=1e-12)


def test_mean_of_random_blocks(benchmark, unsorted_floats, labels):
    def work():
        moments = Moments(BLOCKS, 1)
        moments.add_rows(labels, 0, unsorted_floats)
        return moments.means()[:, 0]

    found = run(benchmark, work)
    named = labels.read(0, len(unsorted_floats))
    due = np.bincount(named, unsorted_floats) / np.bincount(named)
    np.testing.assert_allclose(found, due, rtol=1e-10)


def test_variance_of_random_blocks(benchmark, unsorted_floats, labels):
    x = unsorted_floats[:SOME]

    def work():
        moments = Moments(BLOCKS, 1, products=True, shift=np.array([50.0]))
        moments.add_rows(labels, 0, x)
        return moments.covariances()[:, 0, 0]

    assert abs(run(benchmark, work).mean() / x.var() - 1) < 0.1


@pytest.mark.parametrize("products", [False, True], ids=["mean", "variance"])
@pytest.mark.parametrize("blocks", [20_000, 100_000, 1_000_000])
def test_sums_of_many_random_blocks(benchmark, unsorted_floats, key, blocks, products):
    """Beyond the cache, at the price of some misses a row."""
    x, many = unsorted_floats[:SOME], RandomLabels(blocks, key)

    def work():
        moments = Moments(blocks, 1, products=products, shift=np.array([50.0]))
        moments.add_rows(many, 0, x)
        return moments

    found = run(benchmark, work)
    assert found.counts.sum() == len(x)
    sums = found.residuals()[:, 0] * found.counts
    np.testing.assert_allclose(np.nansum(sums), (x - 50).sum(), rtol=1e-6)


def test_extremes_of_random_blocks(benchmark, unsorted_floats, labels):
    x = unsorted_floats[:SOME]
    named = labels.read(0, len(x))
    ends = Extremes(BLOCKS)
    run(benchmark, lambda: ends.add(named, x))
    assert ends.most().max() == x.max()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("blocks", [10, 1000, 100_000, 1_000_000])
def test_scatter(benchmark, unsorted_floats, key, blocks, workers):
    x = unsorted_floats[:SOME]
    labels = RandomLabels(blocks, key)
    found, offsets = run(benchmark, lambda: scatter(x, labels, blocks, workers=workers))
    assert offsets[-1] == len(x)
    named = labels.read(0, len(x))
    np.testing.assert_array_equal(found[offsets[3] : offsets[4]], x[named == 3])


class Chunked:
    """A column of a file, or an array as if it were one, as rows."""

    array, width = None, None

    def __init__(self, source):
        self.source, self.dtype, self.length = source, source.dtype, source.length

    def reduce(self, summarise, merge):
        return self.source.reduce(lambda c: summarise(RowChunk(c.values, c.start)), merge)


@pytest.fixture(scope="module")
def parquet(unsorted_floats, tmp_path_factory):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path_factory.mktemp("blocks") / "x.parquet"
    pq.write_table(pa.table({"x": unsorted_floats[:SOME]}), path, use_dictionary=False)
    return dp.scan(path, "x")


def test_floor_decode(benchmark, parquet):
    """What the next case adds to."""
    count = lambda: parquet.reduce(lambda c: len(c.values), lambda a, b: a + b)  # noqa: E731
    assert run(benchmark, count) == SOME


@pytest.mark.parametrize("kept", ["memory", "file"])
@pytest.mark.parametrize("blocks", [1000, 100_000, 1_000_000])
def test_blocks_of_a_file(benchmark, parquet, unsorted_floats, key, blocks, kept, tmp_path):
    partition = Partition(RandomLabels(blocks, key))
    spill = str(tmp_path) if kept == "file" else None

    def work():
        first, rows = None, 0
        with laid_out(Chunked(parquet), partition, 1, spill) as found:
            for window in found:
                rows += len(window.rows)
                first = window.rows[: window.offsets[1]].copy() if first is None else first
        return first, rows

    first, rows = run(benchmark, work)
    named = partition.labels.read(0, SOME)
    assert rows == SOME
    np.testing.assert_array_equal(first, unsorted_floats[:SOME][named == 0])


def test_scatter_of_rows_of_eight_columns(benchmark, unsorted_floats, labels):
    x = unsorted_floats[:SOME].reshape(-1, 8)
    found, _ = run(benchmark, lambda: scatter(x, labels, BLOCKS))
    assert found.shape == x.shape


def test_rival_permutation(benchmark, unsorted_floats):
    """What NumPy needs for random blocks of equal size."""
    rng = np.random.default_rng(1)
    x = unsorted_floats[:SOME]
    assert len(benchmark.pedantic(lambda: rng.permutation(x), rounds=3)) == len(x)


def test_rival_stable_sort(benchmark, unsorted_floats, labels):
    """The same blocks by sorting labels, whose two bytes NumPy sorts by radix."""
    x = unsorted_floats[:SOME]
    named = labels.read(0, len(x)).astype(np.uint16)
    found = benchmark.pedantic(lambda: x[np.argsort(named, kind="stable")], rounds=3)
    assert len(found) == len(x)


@pytest.mark.parametrize("blocks", [600, 1000, 1 << 20])
def test_random_labels(benchmark, key, blocks):
    """A tile that stays in the cache: 0.7 ns a row and less."""
    found = benchmark(RandomLabels(blocks, key).read, 0, 1 << 14)
    assert found.max() < blocks


@pytest.mark.parametrize("kind", ["int64", "int32", "U8", "S8"])
def test_labels_of_ids(benchmark, key, kind):
    ids = np.random.default_rng(0).integers(0, 10**6, SOME // 10).astype(kind)
    found = run(benchmark, lambda: KeyedLabels(BLOCKS, key).read(ids))
    assert len(set(found[ids == ids[0]].tolist())) == 1
