"""Codes of keys, and bounding by person, beside what Polars takes for the group-by alone.

pytest benchmarks/test_bench_keys.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 2e7 rows, and two threads for everybody.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpfast._kernels import groups as kernel
from dpfast.rng import InsecureGenerator
from dpfast.tables.bounding import Bounding
from dpfast.tables.key_words import KeyWords, secret

from .conftest import beside, record, rows

pytest.importorskip("pytest_benchmark")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

N = rows(20_000_000)
CHUNK, THREADS, SPAN = 1 << 16, 2, 20 << 10


@pytest.fixture(scope="module")
def key():
    return secret(InsecureGenerator(1).stream())


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(size=N)


def parted(work):
    """Do some work of a stretch of rows in each thread, chunk by chunk."""
    with ThreadPoolExecutor(THREADS) as pool:
        edges = [N * i // THREADS for i in range(THREADS + 1)]
        return list(pool.map(work, edges[:-1], edges[1:]))


def chunks(start, stop):
    return ((at, min(at + CHUNK, stop)) for at in range(start, stop, CHUNK))


@pytest.mark.parametrize("kind", ["sparse integers", "text", "few texts"])
def test_find_and_sum(benchmark, key, values, kind):
    rng = np.random.default_rng(1)
    count = 1000 if kind == "few texts" else min(1_000_000, N // 10)
    keys = rng.integers(-(2**62), 2**62, count)
    if kind != "sparse integers":
        keys = pa.array([f"user{i:07d}" for i in range(count)])
    places = rng.integers(0, count, N)
    column = keys[places] if kind == "sparse integers" else keys.take(pa.array(places))

    def work():
        words, codes = KeyWords(key), kernel.Codes(key)
        codes.add(*words.of(keys), np.empty(count, np.int32))

        def part(start, stop):
            out, own = np.zeros((count + 1, 2), np.uint64), np.empty(CHUNK, np.int32)
            for at, end in chunks(start, stop):
                found = own[: end - at]
                codes.find(*words.of(column[at:end]), found)
                kernel.add(values[at:end], found, 1024.0, -SPAN // 2, SPAN, -1, out)
            return out

        return sum(parted(part))

    found = benchmark.pedantic(work, rounds=3, warmup_rounds=1)
    assert (found[:-1, 1] == np.bincount(places, minlength=count)).all()
    record(benchmark, N)
    frame = pl.DataFrame({"k": pl.Series(column), "x": values})
    beside(benchmark, {"Polars": lambda: frame.group_by("k").agg(pl.col("x").sum())}, N)


def test_codes_of_new_keys(benchmark, key):
    column = np.random.default_rng(1).integers(0, max(1, N // 20), N) * 1_000_003

    def work():
        codes, out = kernel.Codes(key), np.empty(CHUNK, np.int32)
        for at, end in chunks(0, N):
            codes.add(column[at:end].view(np.uint64), None, None, out[: end - at])
        return codes

    assert len(benchmark.pedantic(work, rounds=3, warmup_rounds=1)) <= N // 20
    record(benchmark, N)
    beside(benchmark, {"Polars": lambda: pl.Series(column).unique()}, N)


@pytest.mark.parametrize("memory", [None, N * 6])
def test_bounding(benchmark, key, memory):
    """A person has twenty rows, nearly all in different groups; with little memory, in a file."""
    rng = np.random.default_rng(0)
    ids, codes = rng.integers(0, N // 20, N), rng.integers(0, 1000, N).astype(np.int32)

    def work():
        bounding = Bounding(5, 3, key, memory=memory)

        def part(start, stop):
            for at, end in chunks(start, stop):
                bounding.add(ids[at:end].view(np.uint64), None, codes[at:end], at)

        parted(part)
        marks = bounding.kept_rows(N, workers=THREADS)
        bounding.close()
        return marks

    kept = benchmark.pedantic(work, rounds=3, warmup_rounds=1)
    assert np.bincount(ids[kept]).max() <= 15
    record(benchmark, N)
    frame = pl.DataFrame({"id": ids, "k": codes})
    beside(benchmark, {"Polars": lambda: frame.group_by("id", "k").len()}, N)
