"""Statistics by group of rows in a database: the answers of rows in memory, bit by bit."""

import datetime
import math
from contextlib import nullcontext

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.measurement.statistic import offer
from dpfast.rng import InsecureGenerator
from dpfast.tables.sql import groups as sql
from dpfast.tables.sql.units import MOST

from ..support.databases import ENGINES, HOSTILE, connect, table
from ..support.pairwise import every_value, quick_rows

RNG = np.random.default_rng(33)
ROWS = 400
DATA = {
    "who": RNG.integers(0, 40, ROWS),
    "word": np.array(["a", "A", "a ", "é"])[RNG.integers(0, 4, ROWS)],
    "number": RNG.integers(0, 3, ROWS).astype(np.int32),
    "day": np.array(["2024-02-28", "2024-02-29", "2024-03-01"], "M8[D]")[RNG.integers(0, 3, ROWS)],
    "is_old": RNG.random(ROWS) < 0.5,
    "x": RNG.normal(size=ROWS),
    "n": RNG.integers(-5, 6, ROWS),
}
KINDS = {
    "who": "int64", "word": "string", "number": "int32", "day": "date", "is_old": "boolean",
    "x": "float64", "n": "int64",
}  # fmt: skip
FEW = {
    "rows": dp.stat.count(),
    "sum": dp.stat.sum("x", bounds=(-1, 2)),
    "variance": dp.stat.variance("x", bounds=(-3, 3)),
}
MANY = FEW | {
    "not 0": dp.stat.count_nonzero("n"),
    "missing": dp.stat.count("x", nan="only"),
    "mean": dp.stat.mean("n", bounds=(-4, 3)),
    "mean or missing": dp.stat.mean("x", bounds=(-1, 2), nan="upper"),
    "deviation": dp.stat.std("n", bounds=(-4, 3)),
    "fives": dp.stat.proportion("n", equal=5),
}
KEYS = {
    ("word",): (["é", "A", "a ", "none"], None),
    ("number",): ([2, 0, 7], None),
    ("is_old",): ([True, False], None),
    ("day",): ([datetime.date(2024, 3, 1), datetime.date(2024, 2, 28)], None),
    ("word", "number"): ([["a", "A"], [0, 1, 2]], [("é", 1), ("a", 2)], None),
}


def in_database(engine, data=None):
    """The data as a table of a database; SQLite has no dates."""
    data = DATA if data is None else data
    kinds = {k: v for k, v in KINDS.items() if k in data and (v, engine) != ("date", "sqlite")}
    return table(connect(engine), {name: (kinds[name], data[name].tolist()) for name in kinds})


def answer(data, by, keys, statistics, where=None, **people):
    """The answer about data, with noise that is the same each time."""
    loss = {"epsilon": 5, "delta": 1e-2} if keys is None else {"epsilon": 1}
    groups = dp.group_by(data, list(by), keys=keys, **people)
    return groups.agg(statistics, where=where, rng=InsecureGenerator(1), **loss)


def expect_same(a, b):
    assert list(a) == list(b)
    for name, column in a.items():
        assert column.dtype == b[name].dtype
        np.testing.assert_array_equal(column, b[name])


QUICK = [("duckdb", ("word",), FEW), ("sqlite", ("word", "number"), FEW)]
FULL = [
    pytest.param(engine, by, MANY, marks=pytest.mark.full)
    for engine in ("duckdb", "sqlite", "postgres")
    for by in KEYS
    if (engine, by) != ("sqlite", ("day",))  # whose dates are text
]


@pytest.mark.parametrize("engine, by, statistics", QUICK + FULL)
def test_answers_are_those_of_memory(engine, by, statistics):
    rows = in_database(engine)
    for keys in KEYS[by]:
        for where, mask in ((None, None), (rows.x > 0, DATA["x"] > 0)):
            expect_same(
                answer(DATA, by, keys, statistics, mask), answer(rows, by, keys, statistics, where)
            )


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_missing_numbers_and_keys(engine):
    words, numbers = ["a", None, "b", "a", "a"], [0.5, 1.0, None, None, math.nan]
    rows = table(connect(engine), {"word": ("string", words), "x": ("float64", numbers)})
    groups = dp.group_by(rows, "word", keys=["a", "b"])
    for policy, a, b in (("drop", 0.5, 0), ("upper", 2.5, 1), (0.25, 1, 0.25)):
        found = groups.sum("x", bounds=(0, 1), nan=policy, epsilon=500)["sum"]
        assert abs(found - [a, b]).max() < 0.1
    with pytest.raises(dp.errors.DataError, match="NaN or null"):
        groups.sum("x", bounds=(0, 1), nan="raise", epsilon=1)
    with pytest.raises(dp.errors.DataError, match="NaN or null"):
        groups.ratio("x", other="x", bounds=[(0, 1)] * 2, nan="raise", epsilon=1)
    here = rows.x < 0.75  # NULL is no
    found = groups.sum("x", bounds=(0, 1), nan="raise", where=here, epsilon=500)["sum"]
    assert abs(found - [0.5, 0]).max() < 0.1


NUMBERS = [math.nan if one is None else one for one in HOSTILE["float64"][1]]
COLUMNS = {
    "k": [i % 3 for i in range(len(NUMBERS) ** 2)],
    "who": [i % 40 for i in range(len(NUMBERS) ** 2)],
    "x": [x for x in NUMBERS for _ in NUMBERS],
    "w": [w for _ in NUMBERS for w in NUMBERS],
}


WEIGHTS = {"weights": "w", "weight_bounds": (0, 2)}
OF_WEIGHTS = {
    "proportion": dp.stat.proportion("x", equal=50, **WEIGHTS),
    "bins": dp.stat.histogram("x", bins=4, bounds=(-20, 80), **WEIGHTS),
}


def of_two(nan):
    weights = {**WEIGHTS, "nan": nan}
    pairs = {"other": "w", "bounds": [(-20, 80), (0, 60)], "nan": nan}
    return {
        "sum": dp.stat.sum("x", bounds=(-20, 80), **weights | {"weight_bounds": (-1, 2)}),
        "mean": dp.stat.mean("x", bounds=(-20, 80), **weights),
        "ratio": dp.stat.ratio("x", **pairs),
        "correlation": dp.stat.correlation("x", **pairs),
    }


OF_TWO = [("duckdb", of_two("drop"))]
OF_TWO += [
    pytest.param(engine, statistics, marks=pytest.mark.full)
    for engine in ("duckdb", "sqlite", "postgres")
    for statistics in map(of_two, ("drop", "upper", 7.5))
]


def hostile(engine):
    kinds = {"k": "int64", "who": "int64", "x": "float64", "w": "float64"}
    return table(connect(engine), {name: (kinds[name], COLUMNS[name]) for name in kinds})


@pytest.mark.parametrize("engine, statistics", OF_TWO)
def test_answers_of_two_columns_are_those_of_memory(engine, statistics):
    rows, here = hostile(engine), {name: np.array(own) for name, own in COLUMNS.items()}
    for keys in ([0, 2, 5], None):
        every = statistics | OF_WEIGHTS
        expect_same(answer(here, ["k"], keys, every), answer(rows, ["k"], keys, every))
    people = {"ids": "who", "max_rows": 2, "max_groups": 3}
    expect_same(
        answer(here, ["k"], [0, 2], statistics, **people),
        answer(rows, ["k"], [0, 2], statistics, **people),
    )


def told(rows, statistics, keys=("a", "é"), **people):
    """The mechanism of a question, and the exact sums of each statistic by group."""
    groups = dp.group_by(rows, "word", keys=list(keys), **people)
    offered = offer(1, 0, None, "add-remove", None, None)
    mechanism = groups._grouping.table("agg", tuple(statistics.items()), offered)
    coder, found = mechanism.group_sums(groups._rows, InsecureGenerator(1).stream())
    return mechanism, {name: whole(found.rooms[name][: coder.groups]) for name in statistics}


def whole(room):
    """Integers of one word each, or of two."""
    if room.ndim == 2:
        return room.tolist()
    return [[low % 2**64 + (high << 64) for low, high in own] for own in room.tolist()]


def test_answers_about_people_are_those_of_memory(in_one_round):
    rows, people = in_database("duckdb"), {"ids": "who", "max_rows": 2}
    statistics = FEW | {"people": dp.stat.count_distinct()}
    every = ["a", "é"]
    expect_same(*(answer(data, ["word"], every, statistics, **people) for data in (DATA, rows)))
    totals = {
        "sum": dp.stat.sum("x", bounds=(-1, 2), per_unit=(-2.5, 4)),
        "rows": dp.stat.count(per_unit=(2, 5)),
        "numbers": dp.stat.count("n", nan="drop", per_unit=(0, 3)),
        "mean": FEW["variance"],
    }
    expect_same(*(answer(data, ["word"], every, totals, **people) for data in (DATA, rows)))
    people["max_groups"] = 3  # as many as there are
    expect_same(*(answer(data, ["number"], None, statistics, **people) for data in (DATA, rows)))


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_people_in_bins_are_those_of_memory(engine, in_one_round):
    rows, bins = in_database(engine), {"in": dp.stat.histogram("x", bins=3, bounds=(-1, 2))}
    for by, keys, most in (("word", ["a", "é"], 2), ("number", None, 3)):
        people = {"ids": "who", "max_rows": most, "max_groups": 4}  # as many as there are
        expect_same(*(answer(data, [by], keys, bins, **people) for data in (DATA, rows)))


BOUNDED = {"ids": "who", "max_groups": 2, "max_rows": 2}
WORDS = ("a", "A", "a ", "é")
FAR = DATA | {"x": np.full(ROWS, 9.0)}  # all rows at the end of the bounds


def largest_moves(engine, draws):
    """How many groups a unit changes at most, by how many rows, and features by how much a row."""
    statistics = {"rows": FEW["rows"], "sum": FEW["sum"]}
    mechanism, whole = told(in_database(engine, FAR), statistics, WORDS, **BOUNDED)
    features = mechanism.statistics["sum"].plan.linear.features
    largest = [max(abs(lo), abs(hi)) for _, lo, hi, _ in features]
    moves = []
    for who in draws:
        left = {name: column[DATA["who"] != who] for name, column in FAR.items()}
        _, other = told(in_database(engine, left), statistics, WORDS, **BOUNDED)
        rows, sums = (np.array(whole[n], float) - np.array(other[n], float) for n in statistics)
        size = round((abs(sums) / largest).max(), 6)
        moves.append((np.count_nonzero(rows), abs(rows).max(), size))
    return tuple(map(max, zip(*moves, strict=True)))


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_moves_sums_by_no_more_than_its_bounds(engine):
    draws = [1, 7] if engine == "duckdb" else [3]
    assert all(np.count_nonzero(DATA["who"] == who) > 4 for who in draws)
    assert largest_moves(engine, draws) == (2, 2, 2)


@pytest.mark.parametrize("name", ["first_groups", "bounded"])
def test_a_unit_in_all_its_groups_or_with_all_its_rows_is_caught(name, monkeypatch):
    right = sql.bounded

    def unbounded(units, keys, features, dialect):
        return right(units, keys, [one._replace(rows=MOST) for one in features], dialect)

    fault = unbounded if name == "bounded" else lambda units, *_: units
    monkeypatch.setattr(sql, name, fault)
    groups, rows, size = largest_moves("duckdb", [1])
    assert groups > 2 if name == "first_groups" else rows > 2 and size > 2


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_ids_that_a_collation_calls_equal_are_two_units(engine):
    connection, name = connect(engine), f"collated_ids_{engine}"
    connection.con.execute(f"drop table if exists {name}")
    connection.con.execute(f"create table {name} (who varchar collate nocase, x integer)")
    connection.con.execute(f"insert into {name} values ('a', 1), ('A', 1), ('a', 1)")
    groups = dp.group_by(connection.table(name), "x", keys=[1], ids="who", max_rows=1)
    assert groups.count(epsilon=500)["count"].tolist() == [2]


#: Values that one key of an array would stand for.
ALIKE = {
    "text": ("string", ["a" + i * "\0" for i in range(40)], "a"),
    "bytes": ("binary", [b"a" + i * b"\0" for i in range(40)], b"a"),
    "booleans": ("boolean", list(range(1, 41)), True),
}
LONG = [f"key {i}" for i in range(5000)]


@every_value
@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("engine", ENGINES)
def test_keys_that_one_key_stands_for_are_none(engine, kind):
    """Else a person would count in a group once for each of them."""
    name, values, key = ALIKE[kind]
    if (kind, engine) == ("booleans", "duckdb") or (kind != "bytes" and engine == "postgres"):
        pytest.skip("it has no such values")
    x = ("float64", [float(i) for i in range(40)])
    rows = table(connect(engine), {"who": ("int64", [1] * 40), "key": (name, values), "x": x})
    person = {"ids": "who", "max_rows": 1}
    for keys in [key], [key, *(LONG if kind == "text" else [])]:
        groups = dp.group_by(rows, "key", keys=keys, max_groups=40, **person)
        assert groups.count(epsilon=500, rng=InsecureGenerator(1))["count"][0] == 1
    groups = dp.group_by(rows, "key", max_groups=40, **person)
    assert not len(groups.count(epsilon=40, delta=1e-9, rng=InsecureGenerator(1))["count"])
    both = {"n": dp.stat.count(), "median": dp.stat.median("x", bounds=(0, 40))}
    answers = dp.group_by(rows, "key", keys=[key]).agg(both, epsilon=500, rng=InsecureGenerator(1))
    assert answers["n"][0] == 1 and answers["median"][0] < 1


def test_what_no_database_adds_up_is_refused_before_the_spend():
    rows, budget = in_database("duckdb"), dp.Budget(epsilon=1)
    groups = dp.group_by(rows, "word", keys=["a"])
    people = dp.group_by(rows, "word", keys=["a"], ids="who", max_rows=1)
    unit = {"bounds": (0, 1), "epsilon": 1, "budget": budget}
    auto = unit | {"bounds": "auto"}
    heavy = unit | {"bins": 2, "weights": "n", "weight_bounds": (0, 1)}
    for call, words in (
        (lambda: groups.median("x", **auto), "bounds must be given in a database"),
        (lambda: people.histogram("x", **heavy), "weights must be those of rows, not of people"),
        (lambda: groups.sum("x", **auto), "takes rows out"),
        (lambda: groups.sum("word", **unit), "numbers"),
        (lambda: groups.sum("x", **unit, where=DATA["x"] > 0), "where"),
        (lambda: dp.group_by(rows, "word", ids=DATA["n"], max_groups=1), "ids"),
        (lambda: dp.group_by(rows, "x", keys=[1]), "by"),
        (lambda: dp.group_by(rows, "none", keys=[1]), "none"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            call()
    assert budget.remaining["epsilon"] == 1


@pytest.mark.parametrize("is_drawn", [False, True])
def test_chance_that_statements_do_not_agree_about_is_caught(is_drawn):
    """Counts of groups and of bins are two statements; a view may draw the key of a row."""
    connection, budget = connect("duckdb"), dp.Budget(epsilon=1)
    key = "floor(random() * 999)::int" if is_drawn else "(range % 999)::int"
    query = f"SELECT {key} AS k, range % 7 AS x FROM range(9999)"
    connection.raw_sql(f"CREATE OR REPLACE VIEW drawn AS {query}")
    groups = dp.group_by(connection.table("drawn"), "k", keys=range(999))
    bins = dp.stat.histogram("x", bins=[0, 2, 3])  # in which not all rows are
    expected = nullcontext()
    if is_drawn:
        expected = pytest.raises(DataError, match="the rows changed between two statements")
    with expected:
        groups.agg({"n": dp.stat.count(), "x": bins}, epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 0
