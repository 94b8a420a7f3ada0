"""The five queries of TPC-H, for the loss of a row and of a customer; see the package.

pytest benchmarks/tpch --benchmark-sort=fullname

The scale is 1, or DPFAST_BENCH_SCALE; DPFAST_BENCH_SMOKE=1 makes a smoke run.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from ..conftest import SMOKE, beside
from .data import generator, in_duckdb
from .measure import truth
from .queries import QUERIES

pytest.importorskip("pytest_benchmark")
pytest.importorskip("ibis")
pytest.importorskip("duckdb_extension_tpch")

SCALE = float(os.environ.get("DPFAST_BENCH_SCALE", "0.01" if SMOKE else "1"))


@pytest.fixture(scope="module")
def connection():
    if generator() is None:
        pytest.skip("duckdb-extension-tpch is of another version than duckdb")
    return in_duckdb(SCALE)


@pytest.mark.parametrize("is_customer", [False, True], ids=["row", "customer"])
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"Q{query.number}")
def test_duckdb(benchmark, connection, query, is_customer):
    rows = query.rows(connection, is_customer)
    benchmark.pedantic(lambda: query.ask(rows, 1.0, is_customer), rounds=1 if SMOKE else 3)
    plain = f"PRAGMA tpch({query.number})"
    beside(benchmark, {"DuckDB's own": lambda: connection.raw_sql(plain).fetchall()})


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"Q{query.number}")
def test_numbers_are_those_of_tpch(connection, query):
    """The rows are those of the query: without privacy their numbers are what it says."""
    found = truth(query.rows(connection, True), query)
    rows = connection.raw_sql(f"PRAGMA tpch({query.number})").fetchall()
    first = np.array([[float(x) for x in row if not isinstance(x, str)] for row in rows])
    if query.number == 14:
        found = {"promo": 100 * found["promo"] / found["total"]}
    for column in found.values():
        some = np.sort(column[column != 0])
        assert any(np.allclose(np.sort(numbers), some, rtol=1e-9) for numbers in first.T)
