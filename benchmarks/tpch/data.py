"""Tables of TPC-H, by DuckDB's own generator, in DuckDB and PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TABLES = ("customer", "orders", "lineitem", "part", "supplier", "nation", "region")


def generator() -> Path | None:
    """Return the file of the generator for the DuckDB that is here, if it is installed."""
    import duckdb
    import duckdb_extension_tpch

    folder = Path(duckdb_extension_tpch.__file__).parent / "extensions"
    file = folder / f"v{duckdb.__version__}" / "tpch.duckdb_extension"
    return file if file.exists() else None


def in_duckdb(scale: float) -> Any:
    """Return a connection of Ibis to the tables, in memory."""
    import ibis

    connection = ibis.duckdb.connect()
    connection.raw_sql(f"LOAD '{generator()}'")
    connection.raw_sql(f"CALL dbgen(sf={scale})")
    return connection


def in_postgres(source: Any, target: Any) -> Any:
    """Copy the tables of DuckDB to a connection of Ibis to PostgreSQL, and return that."""
    cursor = target.con.cursor()
    for name in TABLES:
        rows = source.table(name)
        columns = [f"{column} {postgres_type(kind)}" for column, kind in rows.schema().items()]
        cursor.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        batches = rows.to_pyarrow_batches(chunk_size=100_000)
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for batch in batches:
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
    cursor.execute("ANALYZE")
    target.con.commit()
    return target


def postgres_type(kind: Any) -> str:
    if kind.is_decimal():
        return f"numeric({kind.precision}, {kind.scale})"
    if kind.is_integer():
        return "bigint" if kind.is_int64() else "integer"
    return "date" if kind.is_date() else "text"
