"""Statements for databases that nothing here runs: files to read, and to see changes by.

``python -m tests.tables.sql.golden`` writes the files in ``golden/`` again.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import sqlglot
from ibis.backends.sql import SQLBackend, compilers
from ibis.expr import operations as ops

import dpfast as dp
from dpfast.errors import DataError
from dpfast.rng import InsecureGenerator

FOLDER = Path(__file__).with_name("golden")
VERSIONS = f"-- Ibis {ibis.__version__}, sqlglot {sqlglot.__version__}"
DIALECTS = {
    "bigquery": compilers.BigQueryCompiler,
    "databricks": compilers.DatabricksCompiler,
    "snowflake": compilers.SnowflakeCompiler,
    "trino": compilers.TrinoCompiler,
}
COLUMNS = {
    "who": "int64", "name": "string", "token": "binary", "town": "string", "age": "int32",
    "day": "date", "moment": "timestamp(6)", "pay": "float64", "price": "decimal(15, 2)",
    "total": "decimal(38, 10)", "is_new": "boolean",
}  # fmt: skip
B = {"bounds": (0, 100), "epsilon": 1}
UNIT = {"max_groups": 2, "max_rows": 3}
STATISTICS = {"rows": dp.stat.count(), "pay": dp.stat.mean("pay", bounds=(-5, 100))}
QUESTIONS = {
    "sum": lambda t: dp.sum(t[["age", "is_new"]], axis=0, **B | {"bounds": [(0, 100), (0, 1)]}),
    "long": lambda t: dp.sum(t["who"], bounds=(-(2.0**40), 2.0**50), epsilon=1),
    "variance": lambda t: dp.variance(t["pay"], nan="drop", **B),
    "decimals": lambda t: dp.mean(
        t[["price", "total"]], axis=0, bounds=[(0, 1e6), (-1e19, 1e19)], nan="upper", epsilon=1
    ),
    "where": lambda t: dp.count(t, where=(t.age > 30) & t.is_new, epsilon=1),
    "histogram": lambda t: dp.histogram(t["pay"], bins=[0, 0.1, 5, 100], epsilon=1),
    "words": lambda t: dp.histogram(t["town"], categories=["Aston", "Z\u00fcrich"], epsilon=1),
    "groups": lambda t: dp.group_by(t, "town", keys=["Bury"]).agg(STATISTICS, epsilon=1),
    "people": lambda t: dp.group_by(t, "town", keys=["Bury"], ids="token", **UNIT).agg(
        STATISTICS, epsilon=1
    ),
    "other_keys": lambda t: dp.group_by(
        t,
        ["town", "name"],
        keys=[("Bury", "a"), ("York", "b")],
        other_key=("-", "-"),
        ids="token",
        **UNIT,
    ).agg(STATISTICS, epsilon=1),
    "people_by_name": lambda t: dp.sum(t["age"], ids="name", max_rows=2, **B),
    "private_keys": lambda t: dp.select_keys(t["town"], epsilon=1, delta=1e-6),
    "days": lambda t: dp.select_keys(t["day"], epsilon=1, delta=1e-6),
    "moments": lambda t: dp.select_keys(t["moment"], epsilon=1, delta=1e-6),
    "count_distinct": lambda t: dp.count_distinct(t["who"], epsilon=1),
    "bounds": lambda t: dp.bounds(t["pay"], epsilon=1),
    "totals": lambda t: dp.sum(
        t["pay"], ids="token", per_unit="auto", rng=InsecureGenerator(1), **B
    ),
    "median": lambda t: dp.median(t["pay"], **B),
    "median_of_people": lambda t: dp.median(t["pay"], ids="token", max_rows=2, **B),
}


class Written(Exception):
    """All statements that were asked for have been written."""


class Recorder(SQLBackend):
    """A connection that writes statements down, and answers the first."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self.name, self.compiler = dialect, DIALECTS[dialect]()
        self.statements: list[str] = []

    def to_pyarrow(self, question: Any, **_: Any) -> pa.Table:
        query = self.compiler.to_sqlglot(question)
        self.statements.append(query.sql(self.compiler.dialect, pretty=True))
        if len(self.statements) > 1:
            raise Written
        schema = question.as_table().schema().to_pyarrow()
        row = [
            pa.nulls(1, kind) if pa.types.is_temporal(kind) else pa.array(["1"]).cast(kind)
            for kind in schema.types
        ]
        return pa.table(row, schema=schema)


Recorder.__abstractmethods__ = frozenset()


@cache
def statements(dialect: str, question: str) -> list[str]:
    there = Recorder(dialect)
    table = ops.DatabaseTable("t", ibis.schema(COLUMNS), there, ops.Namespace("c", "d")).to_expr()
    with suppress(DataError):
        QUESTIONS[question](table)
    return [plain(text) for text in there.statements]


def plain(text: str) -> str:
    text = re.sub(r"\b[0-9a-f]{64}\b", "SECRET", text)
    names = iter(range(99))
    new: dict[str, str] = {}
    swap = lambda name: new.setdefault(name[0], f"name_{next(names)}")  # noqa: E731
    return re.sub(r"\bibis_\w+_[a-z0-9]{26}\b", swap, text)


def written(dialect: str, question: str) -> str:
    return VERSIONS + "\n" + ";\n\n".join([*statements(dialect, question), ""]).rstrip() + "\n"


def main() -> None:
    for dialect in DIALECTS:
        for question in QUESTIONS:
            path = FOLDER / dialect / f"{question}.sql"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(dialect, question), encoding="utf-8")


if __name__ == "__main__":
    main()
