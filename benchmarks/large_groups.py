"""Seconds of the processor and peak memory of statistics of a large directory of Parquet.

    python -m benchmarks.large_groups [--rows 1e8] [--copies 10] [--only groups]

The rows of a file have a key of 1e6, one of 2e5 ids, and a number; the directory has as many links
to it as copies. Each line is a process of its own with one thread: DuckDB's own query, `dp.scan`,
and the same in DuckDB through Ibis. It prints seconds, of the processor and in all, and megabytes:
the peak before the question, and after it. DuckDB's median holds all numbers in memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KEYS, IDS, BOUNDS = 1_000_000, 200_000, (0, 100)
OWN = {
    "sum": "SELECT sum(v) FROM t",
    "median": "SELECT median(v) FROM t",
    "groups": "SELECT k, count(*), sum(v) FROM t GROUP BY k",
    "people": "SELECT sum(total) FROM (SELECT id, sum(v) AS total FROM t GROUP BY id)",
}
WAYS = ("own", "scan", "sql")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.large_groups")
    parser.add_argument("--rows", type=float, default=1e8, help="of a file")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--only", choices=OWN, help="a question; by default all")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(*options.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), int(options.rows), options.copies)
        print("question way   cpu s   all s  before MB  peak MB")
        for question in [options.only] if options.only else OWN:
            for way in WAYS:
                again = [sys.executable, "-m", "benchmarks.large_groups", "--one"]
                threads = {"DPFAST_NUM_THREADS": "1"}
                subprocess.run(
                    [*again, question, way, folder], check=True, env=os.environ | threads
                )


def write(folder: Path, rows: int, copies: int) -> None:
    """Write a file, and links to it."""
    import duckdb

    first = folder / "0.parquet"
    columns = (
        f"(hash(i) % {KEYS})::INTEGER AS k, (hash(i + 7) % 10000) / 100.0::DOUBLE AS v, "
        f"'u' || (hash(i + 3) % {IDS}) AS id"
    )
    question = f"SELECT {columns} FROM range({rows}) AS t(i)"
    duckdb.connect().execute(f"COPY ({question}) TO '{first}' (FORMAT parquet)")
    for copy in range(1, copies):
        os.link(first, folder / f"{copy}.parquet")


def measure(question: str, way: str, folder: str) -> None:
    """Print the line of a question, and of who answers it."""
    import ibis
    import numpy as np
    import pyarrow as pa

    import dpfast as dp

    pa.set_cpu_count(1)
    connection = ibis.duckdb.connect()
    connection.raw_sql("SET threads = 1")
    connection.raw_sql(f"CREATE VIEW t AS SELECT * FROM '{folder}/*.parquet'")
    table: Any = dp.scan(folder) if way == "scan" else connection.table("t")
    dp.mean(np.arange(100.0), bounds=BOUNDS, epsilon=1)  # what is compiled and imported
    both = {"n": dp.stat.count(), "sum": dp.stat.sum("v", bounds=BOUNDS)}
    asked = {"bounds": BOUNDS, "epsilon": 1}
    calls = {
        "sum": lambda: dp.sum(table["v"], **asked),
        "median": lambda: dp.median(table["v"], **asked),
        "groups": lambda: dp.group_by(table, "k", keys=np.arange(KEYS)).agg(both, epsilon=1),
        "people": lambda: dp.sum(table["v"], ids="id", max_rows=4, **asked),
    }
    own = connection.raw_sql if way == "own" else None
    before, began, cpu = peak(), time.perf_counter(), time.process_time()
    if own is not None:
        own(OWN[question]).fetchnumpy()
    else:
        calls[question]()
    seconds = time.process_time() - cpu, time.perf_counter() - began
    print(
        f"{question:8} {way:4} {seconds[0]:7.1f} {seconds[1]:7.1f} {before:10} {peak():8}",
        flush=True,
    )


def peak() -> int:
    """Return the megabytes of memory that the process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
