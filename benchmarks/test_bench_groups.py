"""Statistics by group, beside what NumPy, Polars and DuckDB take for the same without privacy.

pytest benchmarks/test_bench_groups.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 2e7 rows.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp

from .conftest import SMOKE, beside, record, rows

pytest.importorskip("pytest_benchmark")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")

N = rows(20_000_000)
LOSS = {"epsilon": 1.0}
X = {"bounds": (-5, 5), "nan": "drop"}
FLIGHTS = {"bounds": (-60, 300), "nan": "drop"}


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(size=N)


def codes(groups):
    return np.random.default_rng(1).integers(0, groups, N).astype(np.int32)


@pytest.mark.parametrize("groups", [100, 100_000, 1_000_000])
@pytest.mark.parametrize("name", ["count", "count_nonzero", "sum", "mean", "variance", "std"])
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_dense_keys(benchmark, values, name, groups, epsilon):
    """For an epsilon of 5 with staircase noise, but for counts."""
    k = codes(groups)
    grouped = dp.group_by({"k": k, "x": values}, "k", keys=np.arange(groups))
    own, bounds = ([] if name == "count" else ["x"]), ({} if name.startswith("count") else X)
    call = getattr(grouped, name)
    benchmark.pedantic(lambda: call(*own, **bounds, epsilon=epsilon), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame({"k": k, "x": values})
    rivals = {
        "np.bincount": lambda: np.bincount(k, weights=values, minlength=groups),
        "Polars sum": lambda: frame.group_by("k").agg(pl.col("x").sum()),
    }
    beside(benchmark, rivals, N)


@pytest.mark.parametrize("groups", [100, 100_000])
def test_histogram_of_weights(benchmark, values, groups):
    k, weights = codes(groups), np.abs(values)
    table = {"k": k, "x": values, "w": weights}
    grouped = dp.group_by(table, "k", keys=np.arange(groups))
    kw = {"bins": 10, "bounds": (-5, 5), "weights": "w", "weight_bounds": (0, 5)}
    benchmark.pedantic(lambda: grouped.histogram("x", **kw, **LOSS), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame(table).with_columns(bin=pl.col("x").floor().cast(pl.Int8))
    beside(benchmark, {"Polars": lambda: frame.group_by("k", "bin").agg(pl.col("w").sum())}, N)


@pytest.mark.parametrize("groups", [100, 100_000])
def test_times(benchmark, groups):
    """Means of timestamps, clipped to public bounds."""
    k, start = codes(groups), np.datetime64("2020-01-01", "us")
    when = start + np.random.default_rng(6).integers(0, 10**14, N)
    grouped = dp.group_by({"k": k, "x": when}, "k", keys=np.arange(groups))
    bounds = (start, start + np.timedelta64(10**14, "us"))
    benchmark.pedantic(lambda: grouped.mean("x", bounds=bounds, **LOSS), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame({"k": k, "x": when})
    beside(benchmark, {"Polars": lambda: frame.group_by("k").agg(pl.col("x").mean())}, N)


@pytest.mark.parametrize("groups", [100, 100_000, 1_000_000])
def test_median(benchmark, values, groups):
    k = codes(groups)
    grouped = dp.group_by({"k": k, "x": values}, "k", keys=np.arange(groups))
    benchmark.pedantic(lambda: grouped.median("x", **X, **LOSS), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame({"k": k, "x": values})
    beside(benchmark, {"Polars": lambda: frame.group_by("k").agg(pl.col("x").median())}, N)


@pytest.mark.parametrize("kind", ["integers", "text"])
@pytest.mark.parametrize("groups", [100, 100_000, 1_000_000])
@pytest.mark.parametrize("keys", ["public", "private"])
def test_sparse_keys(benchmark, values, kind, groups, keys):
    every = np.random.default_rng(2).permutation(10 * groups)[:groups]
    column = every[codes(groups)]
    if kind == "text":
        column = pa.array([f"key{i}" for i in every.tolist()]).take(pa.array(codes(groups)))
        every = pa.array([f"key{i}" for i in every.tolist()])
    loss = LOSS if keys == "public" else {**LOSS, "delta": 1e-6}
    grouped = dp.group_by({"k": column, "x": values}, "k", keys=every if keys == "public" else None)
    benchmark.pedantic(lambda: grouped.sum("x", **X, **loss), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame({"k": column, "x": values})
    beside(benchmark, {"Polars": lambda: frame.group_by("k").agg(pl.col("x").sum())}, N)


@pytest.mark.parametrize("name", ["count", "mean", "median"])
def test_sixteen_carriers(benchmark, name):
    n = rows(336_776)
    rng = np.random.default_rng(3)
    names = np.array(
        [
            "9E",
            "AA",
            "AS",
            "B6",
            "DL",
            "EV",
            "F9",
            "FL",
            "HA",
            "MQ",
            "OO",
            "UA",
            "US",
            "VX",
            "WN",
            "YV",
        ]
    )
    delay = np.round(rng.gamma(2, 20, n) - 30)
    delay[rng.random(n) < 0.03] = np.nan
    grouped = dp.group_by({"k": names[rng.integers(0, 16, n)], "x": delay}, "k", keys=names)
    own = () if name == "count" else ("x",)
    kw = LOSS if name == "count" else {**FLIGHTS, **LOSS}
    benchmark(lambda: getattr(grouped, name)(*own, **kw))
    record(benchmark, n)


@pytest.mark.parametrize("keys", ["public", "private"])
def test_people(benchmark, values, keys):
    """Two passes: 1e6 people, 1,000 groups, at most 5 of them and 3 rows in each."""
    ids = np.random.default_rng(4).integers(0, rows(1_000_000, 1000), N)
    k = codes(1000)
    grouped = dp.group_by(
        {"k": k, "x": values, "id": ids}, "k", ids="id", max_groups=5, max_rows=3,
        keys=np.arange(1000) if keys == "public" else None,
    )  # fmt: skip
    loss = LOSS if keys == "public" else {**LOSS, "delta": 1e-6}
    benchmark.pedantic(lambda: grouped.mean("x", **X, **loss), rounds=3, warmup_rounds=1)
    record(benchmark, N)
    frame = pl.DataFrame({"k": k, "id": ids})
    beside(benchmark, {"Polars": lambda: frame.group_by("id", "k").len()}, N)


def test_parquet(benchmark, tmp_path_factory, values):
    """Sum and count of 5e7 rows of a file, 1e6 int32 keys."""
    path, groups = tmp_path_factory.mktemp("groups") / "rows.parquet", rows(1_000_000, 1000)
    k = np.random.default_rng(5).integers(0, groups, N).astype(np.int32)
    table = pa.table({"k": k, "x": values})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(1 if SMOKE else 3):
            writer.write_table(table, row_group_size=1_000_000)
    own = {"s": dp.stat.sum("x", bounds=(-5, 5)), "n": dp.stat.count()}
    grouped = dp.group_by(dp.scan(path, ["k", "x"]), "k", keys=np.arange(groups))
    benchmark.pedantic(lambda: grouped.agg(own, **LOSS), rounds=3, warmup_rounds=1)
    n = N if SMOKE else 3 * N
    record(benchmark, n)
    lazy = pl.scan_parquet(path).group_by("k").agg(pl.col("x").sum(), pl.len())
    rivals = {"Polars": lambda: lazy.collect(engine="streaming")}
    try:
        import duckdb
    except ImportError:
        pass
    else:
        query = f"select k, sum(x), count(*) from '{path}' group by k"
        rivals["DuckDB"] = lambda: duckdb.sql(query).fetchnumpy()
    beside(benchmark, rivals, n)
