"""A table of a database in the words of files: which rows conditions keep, and what is refused."""

import math
from datetime import date, datetime

import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.extend import DatabaseTable, conditions
from dpfast.tables.sql import opened

from ...reference.tables.conditions import kept
from ...support.databases import ENGINES, HOSTILE, connect, table

WIDE = [2**63 - 1, -(2**63), 2**53 + 1, 0, 1, None, -1, 7]
COLUMNS = {
    "row": ("int64", list(range(8))),
    "wide": ("int64", WIDE),
    "small": ("int16", [0, 1, -1, None, 2**15 - 1, -(2**15), 3, 4]),
    "real": ("float64", [0.1, math.nan, None, math.inf, -math.inf, -0.0, 0.3, 1e300]),
    "word": ("string", ["UA", "ua", "UA ", "", None, "é", "'--", "1"]),
    "true": ("boolean", [True, False, None, True, False, True, True, False]),
    "day": ("date", [date(2024, 1, i) for i in range(1, 8)] + [None]),
    "time": ("timestamp(6)", [datetime(2024, 1, i, 12) for i in range(1, 8)] + [None]),
}
WHERE = [
    {"column": "wide", "above": 2**53},
    {"column": "wide", "at_least": 2**63 - 1},
    {"column": "wide", "below": -(2**63) + 1, "at_most": 1e300},
    {"column": "wide", "above": 0.5, "below": 1e30},
    {"column": "wide", "at_most": -0.5},
    {"column": "wide", "above": 2**70},
    {"column": "wide", "not_in": [0, 2**53 + 1]},
    {"column": "small", "at_least": -0.5},
    {"column": "small", "in": [0, 3]},
    {"column": "small", "above": 10**9},
    {"column": "real", "at_least": 0.3},
    {"column": "real", "above": 0.1, "below": 1e300},
    {"column": "real", "in": [0.1, 0.0]},
    {"column": "real", "not_in": [0.1]},
    {"column": "word", "equal": "UA"},
    {"column": "word", "in": ["é", "'--"]},
    {"column": "word", "not_in": ["UA", "1"]},
    {"column": "true", "equal": True},
    [{"column": "word", "in": ["UA", "ua"]}, {"column": "small", "above": 0}],
]
TIMES = [
    {"column": "day", "at_least": date(2024, 1, 3)},
    {"column": "day", "not_in": [date(2024, 1, 3), date(2024, 1, 4)]},
    {"column": "time", "below": datetime(2024, 1, 4, 12), "above": datetime(2024, 1, 1, 12)},
    {"column": "time", "equal": datetime(2024, 1, 2, 12)},
]


@pytest.fixture(scope="module", params=ENGINES)
def there(request):
    """The name of an engine, and the rows that it has."""
    columns = dict(COLUMNS)
    if request.param == "sqlite":  # it has no dates, rounds wide integers, and has no NaN
        for name in ("day", "time", "wide"):
            del columns[name]
    return request.param, table(connect(request.param), columns)


def differing(there, wheres):
    """The conditions of which a database keeps other rows than the twin."""
    _, rows = there
    values = [column for _, column in COLUMNS.values()]
    here = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*values, strict=True)]
    wrong = []
    for where in wheres:
        data = DatabaseTable(rows, "t").data(["row"], where=conditions(where))
        numbers = sorted(data.store.original["row"].to_pyarrow().to_pylist())
        wrong += [where] * (numbers != kept(here, where if isinstance(where, list) else [where]))
    return wrong


def test_the_rows_that_pass_one_by_one(there):
    known = [w for w in WHERE if there[0] != "sqlite" or "wide" not in str(w)]
    assert differing(there, [*known, *(TIMES if there[0] != "sqlite" else [])]) == []


def test_a_planted_fault_is_noticed(monkeypatch):
    monkeypatch.setattr(opened, "without_nan", lambda column, dialect: column)
    rows = table(connect("duckdb"), COLUMNS)
    assert differing(("duckdb", rows), [{"column": "real", "above": 0.1}])


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


def test_what_matches_nothing_is_refused():
    rows = DatabaseTable(table(connect("duckdb"), COLUMNS), "t")
    for error, where in (
        (ArgumentError, {"column": "none", "above": 1}),
        (ArgumentTypeError, {"column": "word", "above": 1}),
        (ArgumentError, {"column": "small", "equal": 0.5}),
        (ArgumentError, {"column": "small", "equal": 40_000}),
        (ArgumentTypeError, {"column": "real", "equal": "a"}),
        (ArgumentTypeError, {"column": "day", "above": 3}),
        (ArgumentError, {"column": "day", "above": datetime(2024, 1, 1, 1)}),
        (ArgumentTypeError, {"column": "time", "equal": "tomorrow"}),
    ):
        with pytest.raises(error):
            rows.data(["row"], where=conditions(where))


def test_columns_groups_and_rows_are_data():
    rows = DatabaseTable(table(connect("duckdb"), COLUMNS), "flights")
    few = conditions({"column": "small", "at_least": 0})
    ask = {"epsilon": 500, "budget": dp.Budget(epsilon=5000)}
    assert dp.count(rows.data((), by=("row",)), **ask) == 8
    assert dp.count(rows.data((), by=("row",), where=few), **ask) == 5
    assert dp.mean(rows.data(["row"]), bounds=(0, 8), **ask) == pytest.approx(3.5, abs=0.5)
    both = dp.mean(rows.data(["row", "small"], table=True, where=few), bounds=(0, 8), axis=0, **ask)
    assert both == pytest.approx([3.8, 3.2], abs=0.5)
    grouped = dp.group_by(rows.data((), by=("word",)), "word", keys=["UA", "ua"])
    assert list(grouped.count(**ask)["count"]) == [1, 1]
    assert (rows.engine, rows.length, rows.paths) == ("duckdb", None, [])
    assert (rows.find("row"), rows.first("row"), rows.key_kind("word")) == ("row", "wide", "text")
    with pytest.raises(ArgumentTypeError):
        DatabaseTable(connect("duckdb"), "t")
    with pytest.raises(ArgumentTypeError):
        DatabaseTable(table(connect("duckdb"), COLUMNS)["row"], "t")
