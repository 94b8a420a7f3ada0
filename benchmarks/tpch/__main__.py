"""Print the tables of the five queries."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import dpfast as dp

from ..conftest import SMOKE, fastest
from .data import in_duckdb, in_postgres
from .measure import errors, lines, plain, seconds
from .queries import QUERIES


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tpch")
    parser.add_argument("--scale", type=float, default=0.01 if SMOKE else 1.0)
    parser.add_argument("--rounds", type=int, default=1 if SMOKE else 3)
    parser.add_argument("--postgres", action="store_true", help="start a server, and use it, too")
    options = parser.parse_args()
    run(options.scale, options.rounds, options.postgres)


def run(scale: float, rounds: int, has_postgres: bool) -> None:
    """Make the tables, and print a line for each query and way to the rows."""
    print("way query  plain s  row x  customer x  noise %  bounding %  lines")
    connection = in_duckdb(scale)
    asked = dict(connection.raw_sql("SELECT query_nr, query FROM tpch_queries()").fetchall())
    tell("duckdb", connection, asked, rounds)
    with tempfile.TemporaryDirectory() as folder:
        tell_files(connection, Path(folder), rounds)
    if has_postgres:
        from tests.support.databases import Server

        server = Server()
        tell("postgres", in_postgres(connection, server.connect()), asked, rounds)
        server.stop()


def tell(way: str, connection: Any, asked: dict[int, str], rounds: int) -> None:
    """Print the lines of a database, beside the query as TPC-H has it."""
    for query in QUERIES:
        rows = [query.rows(connection, is_customer) for is_customer in (False, True)]
        text = asked[query.number].rstrip().rstrip(";")
        base = fastest(lambda text=text: connection.raw_sql(text).fetchall(), rounds)
        line(way, query, rows, rows[1], base, rounds)


def tell_files(connection: Any, folder: Path, rounds: int) -> None:
    """Print the lines of the same rows in a file, and in Dask, beside DuckDB's query of it."""
    import dask.dataframe as dd

    for query in QUERIES:
        path = folder / f"{query.number}.parquet"
        query.rows(connection, True).to_parquet(path)
        rows = connection.read_parquet(path)
        text = plain(rows, query)
        base = fastest(lambda text=text: text.to_pyarrow(), rounds)
        for way, data in (("parquet", dp.scan(path)), ("dask", dd.read_parquet(path))):
            line(way, query, [data] * 2, rows, base, rounds)


def line(way: str, query: Any, data: Any, rows: Any, base: float, rounds: int) -> None:
    """Print the line of a query: `data` are the rows as the unit, and those of customers."""
    by_row, by_customer = (seconds(data[unit], query, bool(unit), rounds) / base for unit in (0, 1))
    noise, bounding = errors(data[1], rows, query, True)
    print(
        f"{way:8} Q{query.number:<3} {base:7.3f} {by_row:7.2f} {by_customer:9.2f}"
        f" {100 * noise:9.3f} {100 * bounding:9.3f} {lines(query):7}",
        flush=True,
    )


if __name__ == "__main__":
    main()
