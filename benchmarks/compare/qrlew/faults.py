"""Qrlew: what it takes from the tables that it reads types from."""

import duckdb
import numpy as np
import pyqrlew
import sqlalchemy

NAME, DISTRIBUTION = "Qrlew", "pyqrlew"
COUNT = 800
LOSS = {"epsilon": 1.0, "delta": 1e-6}


def described(rows):
    """What it knows of a table of so many rows."""
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as there:
        there.execute(sqlalchemy.text("CREATE TABLE t (id bigint)"))
        for i in range(rows):
            there.execute(sqlalchemy.text(f"INSERT INTO t VALUES ({i})"))
    return pyqrlew.Dataset.from_database("t", engine)


def counts(rows, dataset):
    """Counts of so many rows, in DuckDB."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT range AS id FROM range({rows})")
    made = dataset.relation("SELECT COUNT(*) AS n FROM t").rewrite_with_differential_privacy(
        dataset, [("t", [], "id")], LOSS, max_multiplicity=1.0, max_multiplicity_share=1.0
    )
    text = made.relation().to_query(pyqrlew.Dialect.PostgreSql)
    connection.execute(f"PREPARE asked AS {text}")
    return np.array([connection.execute("EXECUTE asked").fetchone()[0] for _ in range(COUNT)])


def rows_counted(control):
    """A count that is clamped to the number of rows, as it was read from the database.

    The control is told of 1,000 rows, whatever there are.
    """
    sizes = (1000, 1000) if control else (30, 29)
    return LOSS, *(counts(n, described(m)) for n, m in zip((30, 29), sizes, strict=True))
