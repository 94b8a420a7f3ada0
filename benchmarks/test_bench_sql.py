"""Statistics of a column in DuckDB, through Ibis, beside DuckDB's own functions of it.

pytest benchmarks/test_bench_sql.py --benchmark-sort=fullname

The table is of 1e8 rows, or of DPFAST_BENCH_ROWS, in memory; DPFAST_BENCH_SMOKE=1 makes a smoke
run.
"""

from __future__ import annotations

import os

import pytest

import dpfast as dp

from .conftest import SMOKE, beside, record, rows

pytest.importorskip("pytest_benchmark")
ibis = pytest.importorskip("ibis")

N = rows(int(float(os.environ.get("DPFAST_BENCH_ROWS", "1e8"))))
ASKED = {"bounds": (0, 3000), "epsilon": 1.0}
CALLS = {
    "sum": (lambda x: dp.sum(x, **ASKED), ["sum(x)"]),
    "count": (lambda x: dp.count(x, epsilon=1.0), ["count(x)"]),
    "histogram": (lambda x: dp.histogram(x, bins=64, **ASKED), ["sum(x)"]),
    "median": (lambda x: dp.median(x, **ASKED), ["median(x)", "approx_quantile(x, .5)"]),
    "quantiles": (lambda x: dp.quantiles(x, [0.1, 0.5, 0.9], **ASKED), ["median(x)"]),
}


@pytest.fixture(scope="module")
def table():
    connection = ibis.duckdb.connect()
    draw = "(random() + random() + random()) * 1000"
    connection.raw_sql(f"CREATE TABLE t AS SELECT {draw} AS x FROM range({N})")
    return connection.table("t")


@pytest.mark.parametrize("name", CALLS)
def test_duckdb(benchmark, table, name):
    call, own = CALLS[name]
    benchmark.pedantic(lambda: call(table["x"]), rounds=1 if SMOKE else 3, warmup_rounds=1)
    record(benchmark, N)
    ask = table.get_backend().raw_sql
    beside(
        benchmark, {one: lambda one=one: ask(f"SELECT {one} FROM t").fetchall() for one in own}, N
    )
