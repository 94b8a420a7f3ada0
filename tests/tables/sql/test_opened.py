"""A table of a database in the words of files: which rows conditions keep, and what is refused."""

from datetime import date, datetime

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.extend import DatabaseTable, conditions
from dpfast.tables.sql import opened

from ...reference.tables.conditions import kept
from ...support.databases import ENGINES, HOSTILE, connect, table
from .. import test_filtered as rows_of_files
from ..test_filtered import FIRST, NUMBERS, STEP, TEXT, WIDE

KINDS = {
    "row": "int64", "i": "int16", "wide": "int64", "f": "float64", "b": "boolean", "w": "string",
    "day": "date", "at": "timestamp(6)",
}  # fmt: skip
TIMES = [
    {"column": "day", "at_least": date(2024, 1, 3)},
    {"column": "day", "not_in": [date(2024, 1, 3), date(2024, 1, 4)]},
    {"column": "at", "below": FIRST + 4 * STEP, "above": FIRST + STEP},
    {"column": "at", "equal": FIRST + 2 * STEP},
]
frame = rows_of_files.frame


def table_of(engine, frame):
    """The rows of files in a database. SQLite has no dates, rounds wide integers, has no NaN."""
    names = [name for name in KINDS if engine != "sqlite" or name not in ("day", "at", "wide")]
    return table(connect(engine), {n: (KINDS[n], frame[n].to_pylist()) for n in names})


def differing(rows, frame, wheres):
    wrong, here = [], frame.to_pylist()
    for where in wheres:
        data = DatabaseTable(rows, "t").data(["row"], where=conditions(where))
        numbers = sorted(data.store.original["row"].to_pyarrow().to_pylist())
        wrong += [where] * (numbers != kept(here, where if isinstance(where, list) else [where]))
    return wrong


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rows_that_pass_one_by_one(frame, engine):
    far = [{"column": "i", "at_most": 10**9}, {"column": "i", "in": [0, 2.0]}]
    wheres = [where for where in (*NUMBERS, *TEXT) if str(10**12) not in str(where)]
    wheres += [*far, {"column": "b", "equal": True}]
    wheres += [] if engine == "sqlite" else [*WIDE, *TIMES, {"column": "wide", "above": 2**70}]
    assert differing(table_of(engine, frame), frame, wheres) == []


def test_a_planted_fault_is_noticed(frame, monkeypatch):
    monkeypatch.setattr(opened, "without_nan", lambda column, dialect: column)
    assert differing(table_of("duckdb", frame), frame, [{"column": "f", "above": 0.1}])


def test_conditions_hold_for_hostile_values():
    for name, limit in ("float64", 2.5), ("int64", 2**62), ("decimal", 0), ("float32", 0.5):
        values = HOSTILE[name][1]
        columns = {"row": ("int64", [*range(len(values))]), "x": HOSTILE[name]}
        where = {"column": "x", "above": limit}
        data = DatabaseTable(table(connect("duckdb"), columns), "t").data(
            ["row"], where=conditions(where)
        )
        numbers = sorted(data.store.original["row"].to_pyarrow().to_pylist())
        assert numbers == kept([{"x": value} for value in values], [where])


def test_what_matches_nothing_is_refused(frame):
    rows = DatabaseTable(table_of("duckdb", frame), "t")
    for error, where in (
        (ArgumentError, {"column": "none", "above": 1}),
        (ArgumentTypeError, {"column": "w", "above": 1}),
        (ArgumentError, {"column": "i", "equal": 0.5}),
        (ArgumentError, {"column": "i", "equal": 40_000}),
        (ArgumentTypeError, {"column": "f", "equal": "a"}),
        (ArgumentTypeError, {"column": "day", "above": 3}),
        (ArgumentError, {"column": "day", "above": datetime(2024, 1, 1, 1)}),
        (ArgumentTypeError, {"column": "at", "equal": "tomorrow"}),
    ):
        with pytest.raises(error):
            rows.data(["row"], where=conditions(where))


def test_columns_groups_and_rows_are_data(frame):
    rows = DatabaseTable(table_of("duckdb", frame), "flights")
    few = conditions({"column": "i", "at_least": 0})
    here = [row for row in frame.to_pylist() if (row["i"] or -1) >= 0 or row["i"] == 0]
    ask = {"epsilon": 500, "budget": dp.Budget(epsilon=5000)}
    assert dp.count(rows.data((), by=("row",)), **ask) == len(frame)
    assert dp.count(rows.data((), by=("row",), where=few), **ask) == len(here)
    assert dp.mean(rows.data(["row"]), bounds=(0, 400), **ask) == pytest.approx(199.5, abs=1)
    both = rows.data(["row", "i"], table=True, where=few)
    means = [np.mean([row[name] for row in here]) for name in ("row", "i")]
    found = dp.mean(both, bounds=[(0, 400), (0, 4)], axis=0, **ask)
    assert found == pytest.approx(means, abs=1)
    grouped = dp.group_by(rows.data((), by=("w",)), "w", keys=["UA", "ua"])
    words = frame["w"].to_pylist()
    assert list(grouped.count(**ask)["count"]) == [words.count("UA"), words.count("ua")]
    assert (rows.engine, rows.length, rows.paths) == ("duckdb", None, [])
    assert (rows.find("row"), rows.first("row"), rows.key_kind("w")) == ("row", "i", "text")
    for wrong in (connect("duckdb"), table_of("duckdb", frame)["row"]):
        with pytest.raises(ArgumentTypeError):
            DatabaseTable(wrong, "t")
