"""Ranked statistics of a column of a database are those of the same rows in memory, bit by bit."""

import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import DataError
from dpfast.tables.columns import Rows
from dpfast.tables.sql import counts
from dpfast.tables.sql.store import Database
from dpfast.tables.sql.sums import answer
from tests.support.databases import ENGINES, HOSTILE, connect, in_memory, table

from .test_answers import expect_same

KINDS = ["float64", "float32", "int64", "int32", "int16", "boolean", "decimal", "fraction"]
HARD = [("duckdb", kind) for kind in ("float64", "int64", "decimal")] + [("sqlite", "float64")]
HARD += [pytest.param("duckdb", kind, marks=pytest.mark.full) for kind in KINDS]
HARD += [pytest.param("sqlite", kind, marks=pytest.mark.full) for kind in KINDS[1:6]]
HARD += [pytest.param("postgres", kind, marks=pytest.mark.full) for kind in KINDS]


@pytest.mark.parametrize(("engine", "kind"), HARD)
def test_hostile_numbers(engine, kind):
    values = HOSTILE[kind][1]
    there = table(connect(engine), {"x": HOSTILE[kind]})
    numbers = pa.array(values, there["x"].type().to_pyarrow())
    memory = {"x": in_memory(engine, numbers)}
    for bounds in ((-3, 60), (0.25, 0.75), (-(2.0**40), 2.0**52)):
        ask = lambda t, **how: dp.quantiles(t["x"], [0.2, 0.7], bounds=bounds, **how)  # noqa: B023, E731
        expect_same(ask, there, here=memory)


def test_few_statements_and_numbers(monkeypatch):
    """A median takes two statements, and its numbers are few."""
    sizes = []

    def answer(question, asked=counts.answer):
        found = asked(question)
        sizes.append(found.num_rows * found.num_columns)
        return found

    monkeypatch.setattr(counts, "answer", answer)
    connection = connect("duckdb")
    connection.raw_sql("CREATE OR REPLACE TABLE large AS SELECT random() AS x FROM range(300000)")
    assert 0.4 < dp.median(connection.table("large")["x"], bounds=(0, 1), epsilon=1) < 0.6
    assert len(sizes) == 2 and sum(sizes) < 20_000


def test_a_query_that_answers_differently_each_time_is_an_error():
    budget, connection = dp.Budget(epsilon=1), connect("duckdb")
    connection.raw_sql("CREATE OR REPLACE SEQUENCE numbers")
    rows = connection.sql("SELECT nextval('numbers') AS x FROM range(9999)")
    with pytest.raises(DataError, match="the rows changed between two statements"):
        dp.median(rows["x"], bounds=(0, 100_000), epsilon=0.75, budget=budget)
    assert budget.remaining["epsilon"] == 0.25


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_unit_are_chosen_by_its_own_rows_alone(engine):
    """Of each unit as many rows as may count, the same whatever rows others have; uniformly."""
    x = [1.0, 1.0, 2.0, None, 5.0, 5.0, 7.0, 8.0, 9.0, 10.0]
    who = [1, 1, 1, 1, 2, None, 3, 3, 3, 3]
    more = {"x": ("float64", [*x, 3.0, 7.0, 4.0]), "who": ("int64", [*who, 4, 4, 2])}
    base = {"x": ("float64", x), "who": ("int64", who)}

    def chosen(columns, secret):
        there = table(connect(engine), columns)
        rows = Database(there, engine, {}).rows(Rows(("x",))).chosen("who", 2, secret)
        found = answer(rows._rows)["value0"].to_pylist()
        return sorted(found, key=lambda value: (value is not None, value))

    seen = set()
    for secret in map(str, range(4)):
        few = chosen(base, secret)
        assert len(few) == 5 and few.count(5.0) == 1  # a row of nobody is none
        more_rows = chosen(more, secret)
        for value in few:
            more_rows.remove(value)
        assert sorted(more_rows) == [3.0, 4.0, 7.0]
        seen.add(tuple(few))
    assert len(seen) > 1
