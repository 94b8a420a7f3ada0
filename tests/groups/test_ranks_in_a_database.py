"""Ranks by group of rows in a database: the answers of rows in memory, bit by bit."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.groups import ranks
from dpfast.groups.rows import EVERY
from dpfast.rng import InsecureGenerator
from dpfast.summaries.cells import Cells
from dpfast.tables.base import Feature, Units
from dpfast.tables.columns import Rows
from dpfast.tables.sql import groups as sql
from dpfast.tables.sql.store import Database

from ..support.databases import HOSTILE, connect, in_memory, table
from ..support.pairwise import quick_rows

DRAW = np.random.default_rng(3)
ROWS = 3000
X = DRAW.normal(50, 40, ROWS)
X[::37], X[3], X[5], X[8], X[9], X[2000:] = math.nan, math.inf, -math.inf, 5e-324, -0.0, 12.5
KINDS = {"x": "float64", "k": "int64", "word": "string", "number": "int64", "who": "int64"}
DATA = {
    "x": X,
    "k": DRAW.integers(-3, 300, ROWS),
    "word": DRAW.choice(["a", "A", "é"], ROWS),
    "number": DRAW.integers(0, 20, ROWS),
    "who": DRAW.integers(0, 200, ROWS),
}
B = {"bounds": (0, 100)}
QUESTIONS = {
    "median": dp.stat.median("x", **B),
    "quantiles": dp.stat.quantiles("k", [0.99, 0.1, 0.5], bounds=(-1.5, 250)),
    "minimum": dp.stat.minimum("x", **B),
    "maximum": dp.stat.maximum("k", bounds=(0, 250)),
    "thirds": dp.stat.quantile("k", 0.4, bounds=(0, 90), granularity=0.3),
    "a number": dp.stat.quantile("x", 0.3, nan=17.25, **B),
    "upper": dp.stat.quantile("x", 0.97, nan="upper", **B),
    "interval": dp.stat.quantile_interval("x", 0.5, **B),
    "one number": dp.stat.median("x", bounds=(3, 3)),
}
GROUPS = {
    "word": {"by": "word", "keys": ["é", "a", "none"]},
    "both": {"by": ["word", "number"], "keys": [("a", 3), ("é", 0), ("é", 99)]},
    "private": {"by": "number"},
}


def there(engine, data=DATA):
    return table(connect(engine), {name: (KINDS[name], own.tolist()) for name, own in data.items()})


def expect_same(rows, statistics, by, data=DATA, **people):
    loss = {"epsilon": 2} if "keys" in by else {"epsilon": 2, "delta": 1e-3}
    answers = [
        dp.group_by(some, **by, **people).agg(statistics, **loss, rng=InsecureGenerator(7))
        for some in (data, rows)
    ]
    assert list(answers[0]) == list(answers[1])
    for name, column in answers[0].items():
        np.testing.assert_array_equal(column, answers[1][name])


QUICK = [("duckdb", "word", "quantiles"), ("sqlite", "both", "median")]
QUICK += [("duckdb", "private", "minimum")]
FULL = [
    pytest.param(engine, by, question, marks=pytest.mark.full)
    for engine in ("duckdb", "sqlite", "postgres")
    for by in GROUPS
    for question in QUESTIONS
]


@pytest.mark.parametrize("engine, by, question", QUICK + FULL)
def test_answers_are_those_of_memory(engine, by, question):
    here = DATA | {name: in_memory(engine, DATA[name]) for name in ("x", "k")}
    expect_same(there(engine), {"one": QUESTIONS[question]}, GROUPS[by], here)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.full)])
def test_statistics_of_all_kinds_for_one_loss(engine, in_one_round):
    """Of people, too, all of whose rows count."""
    statistics = {"rows": dp.stat.count(), "sum": dp.stat.sum("k", **B)} | {
        name: QUESTIONS[name] for name in ("median", "maximum")
    }
    rows = there(engine)
    expect_same(rows, statistics, GROUPS["word"])
    people = {"ids": "who", "max_rows": ROWS, "max_groups": 20}
    expect_same(rows, statistics, GROUPS["private"], **people)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("sqlite", marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "kind",
    [
        "float64",
        pytest.param("int64", marks=pytest.mark.full),
        pytest.param("fraction", marks=pytest.mark.full),
    ],
)
def test_hostile_numbers(engine, kind):
    values = HOSTILE[kind][1]
    rows = table(connect(engine), {"x": HOSTILE[kind], "number": ("int64", [1] * len(values))})
    numbers = pa.array(values, rows["x"].type().to_pyarrow())
    data = {"x": in_memory(engine, numbers), "number": np.ones(len(values), int)}
    for bounds in ((-3, 60), (-(2.0**40), 2.0**52)):
        one = dp.stat.quantiles("x", [0.2, 0.7], bounds=bounds)
        expect_same(rows, {"one": one}, {"by": "number", "keys": [1]}, data)


def test_few_numbers_leave_the_database(monkeypatch):
    sizes = []

    def answer(question, right=sql.answer):
        found = right(question)
        sizes.append(found.num_rows)
        return found

    monkeypatch.setattr(sql, "answer", answer)
    connection = connect("duckdb")
    query = "SELECT random() AS x, range % 3 AS k FROM range(30000)"
    connection.raw_sql(f"CREATE OR REPLACE TABLE large_groups AS {query}")
    groups = dp.group_by(connection.table("large_groups"), "k", keys=[0, 1, 2])
    found = groups.median("x", bounds=(0, 1), epsilon=1)["median"]
    assert np.all(abs(found - 0.5) < 0.1) and len(sizes) == 1 and sizes[0] < 1500


def test_a_draw_beyond_the_rows_that_are_told_asks_for_all_of_the_group(monkeypatch):
    """Which is as rare as 1 in 2**40 but for a window that is too small."""
    monkeypatch.setattr(ranks, "width", lambda *_: 9)
    monkeypatch.setattr(ranks, "squeezed", lambda aim: aim)
    statements = []

    def answer(question, right=sql.answer):
        statements.append(question)
        return right(question)

    monkeypatch.setattr(sql, "answer", answer)
    expect_same(there("duckdb"), {"one": QUESTIONS["quantiles"]}, GROUPS["word"])
    assert len(statements) > 1


MOST = 3


def kept(engine, given, secret):
    """Which numbers of each group count, of units that may have four groups."""
    rows = Database(given, engine, {}).rows(Rows(("k",)))
    cells = rows.cell(0, Cells(1.0, 0, 9))
    unit = Units("who", 4, secret)
    found = rows.groups({"number": None}, [Feature(cells, 9, 0, MOST)], unit, None, [EVERY])
    keys = found.keys["number"].chunked.to_pylist()
    each = zip(keys, found.bins.tolist(), found.sums[0].tolist(), strict=True)
    return Counter({(key, number): count for key, number, count in each})


SMALL = {
    "k": DRAW.integers(0, 9, 150),
    "number": DRAW.integers(0, 6, 150),
    "who": DRAW.integers(0, 6, 150),
}


def moves(engine, secrets):
    """In how many groups one unit has rows that count, and how many in one; all others stay."""
    seen, sizes = set(), Counter()
    rows = there(engine, SMALL)
    for secret in secrets:
        whole, rest, alone = (
            kept(engine, some, secret * 64)
            for some in (rows, rows.filter(rows.who != 5), rows.filter(rows.who == 5))
        )
        assert whole == rest + alone, "another unit has a say"
        seen.add(tuple(sorted(alone.items())))
        for (key, _), count in alone.items():
            sizes[secret, key] += count
    assert len(seen) == len(secrets)
    return max(Counter(secret for secret, _ in sizes).values()), max(sizes.values())


@quick_rows(1)
@pytest.mark.parametrize(
    "engine", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.full)]
)
def test_rows_of_a_unit_are_chosen_in_each_group_by_its_own_rows_alone(engine):
    assert moves(engine, "abc") == (4, MOST)


@pytest.mark.parametrize("name", ["first_groups", "first_rows"])
def test_a_unit_that_is_not_bounded_is_caught(monkeypatch, name):
    monkeypatch.setattr(sql, name, lambda rows, *_: rows)
    groups, rows = moves("duckdb", "a")
    assert groups > 4 or rows > MOST
