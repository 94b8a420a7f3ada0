"""Dask and Spark as engines, beside what they take for a sum or a percentile of their own.

pytest benchmarks/test_bench_engines.py --benchmark-sort=fullname

The file is of 1e8 rows, or of DPFAST_BENCH_ROWS, in a directory of its own; it is made by
`benchmarks/stream.py`, and kept where DPFAST_BENCH_FILE says. DPFAST_BENCH_SMOKE=1 makes a smoke
run. Spark wants Java.
"""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import dpfast as dp

from . import stream
from .conftest import SMOKE, beside, record, rows

pytest.importorskip("pytest_benchmark")
pytest.importorskip("pyarrow")

N = rows(int(float(os.environ.get("DPFAST_BENCH_ROWS", "1e8"))))
ASKED = {"bounds": (20, 80), "epsilon": 1.0}
CALLS = {
    "sum": lambda x: dp.sum(x, **ASKED),
    "mean": lambda x: dp.mean(x, **ASKED),
    "histogram": lambda x: dp.histogram(x, bins=64, **ASKED),
    "median": lambda x: dp.median(x, **ASKED),
}
ROUNDS = {"rounds": 1 if SMOKE or N > 2e8 else 3, "warmup_rounds": 0 if N > 2e8 else 1}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    kept = os.environ.get("DPFAST_BENCH_FILE")
    made = kept or str(tmp_path_factory.mktemp("engines") / "rows.parquet")
    if not os.path.exists(made):
        stream.write(made, N)
    return made


@pytest.mark.parametrize("name", CALLS)
def test_a_file(benchmark, path, name):
    """Without an engine."""
    duckdb = pytest.importorskip("duckdb")
    call = CALLS[name]
    benchmark.pedantic(lambda: call(dp.scan(path, "reading")), **ROUNDS)
    record(benchmark, N)
    ask = f"select sum(reading) from '{path}'"
    if name == "median":
        ask = f"select approx_quantile(reading, .5) from '{path}'"
    beside(benchmark, {"DuckDB": lambda: duckdb.sql(ask).fetchall()}, N)


@pytest.fixture(scope="module")
def cluster():
    """As many worker processes as cores."""
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None
        ) as made,
        distributed.Client(made),
    ):
        yield made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("scheduler", ["threads", "cluster"])
def test_dask(benchmark, path, name, scheduler, request):
    """The rival reads the same column in the same partitions, and adds it up."""
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    if scheduler == "cluster":
        request.getfixturevalue("cluster")
        scheduler = "distributed"
    call = CALLS[name]
    column = frames.read_parquet(path, columns=["reading"], split_row_groups=8)["reading"]
    with dask.config.set(scheduler=scheduler):
        benchmark.pedantic(lambda: call(column), **ROUNDS)
        record(benchmark, N)
        beside(benchmark, {"Dask sum": lambda: column.sum().compute()}, N)


@pytest.fixture(scope="module")
def session():
    spark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or newer")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = spark.SparkSession.builder.master(f"local[{os.cpu_count()}]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "6g")
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_spark(benchmark, path, name, session):
    frame = session.read.parquet(path).select("reading")
    call = CALLS[name]
    benchmark.pedantic(lambda: call(dp.spark(frame)["reading"]), rounds=1)  # tens of seconds
    record(benchmark, N)
    own = {
        "Spark percentile_approx": "percentile_approx(reading, 0.5)",
        "Spark sum": "sum(reading)",
    }
    beside(benchmark, {k: lambda v=v: frame.selectExpr(v).collect() for k, v in own.items()}, N)
