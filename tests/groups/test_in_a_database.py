"""Statistics by group of rows in a database: the answers of rows in memory, bit by bit."""

import datetime
import math
from collections import Counter
from contextlib import nullcontext
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.groups import ranks
from dpfast.groups.rows import EVERY
from dpfast.rng import InsecureGenerator
from dpfast.summaries.cells import Cells
from dpfast.tables.base import Feature, Units
from dpfast.tables.columns import Rows
from dpfast.tables.sql import groups as sql
from dpfast.tables.sql.store import Database

from ..support.databases import ENGINES, HOSTILE, connect, in_memory, table
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
    "x": "float64", "n": "int64", "k": "int64", "w": "float64",
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
THREE = ("duckdb", "sqlite", "postgres")


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


def in_database(engine, data=DATA):
    """The data as a table of a database; SQLite has no dates."""
    kinds = {k: v for k, v in KINDS.items() if k in data and (v, engine) != ("date", "sqlite")}
    return table(connect(engine), {name: (kinds[name], data[name].tolist()) for name in kinds})


def answer(data, by, keys, statistics, where=None, **people):
    loss = {"epsilon": 5, "delta": 1e-2} if keys is None else {"epsilon": 1}
    groups = dp.group_by(data, list(by), keys=keys, **people)
    return groups.agg(statistics, where=where, rng=InsecureGenerator(1), **loss)


def expect_same(a, b):
    assert list(a) == list(b)
    for name, column in a.items():
        assert column.dtype == b[name].dtype
        np.testing.assert_array_equal(column, b[name])


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_missing_numbers_and_keys(engine):
    words, numbers = ["a", None, "b", "a", "a"], [0.5, 1.0, None, None, math.nan]
    rows = table(connect(engine), {"word": ("string", words), "x": ("float64", numbers)})
    groups, bounds = dp.group_by(rows, "word", keys=["a", "b"]), {"bounds": (0, 1)}
    some = {"nan": "raise", "where": rows.x < 0.75}  # NULL is no
    for more, a, b in (
        ({"nan": "drop"}, 0.5, 0), ({"nan": "upper"}, 2.5, 1), ({"nan": 0.25}, 1, 0.25),
        (some, 0.5, 0),
    ):  # fmt: skip
        assert abs(groups.sum("x", **bounds, **more, epsilon=500)["sum"] - [a, b]).max() < 0.1
    for call, more in (
        (groups.sum, bounds),
        (groups.ratio, {"other": "x", "bounds": [(0, 1)] * 2}),
    ):
        with pytest.raises(DataError, match="NaN or null"):
            call("x", **more, nan="raise", epsilon=1)


NUMBERS = [math.nan if one is None else one for one in HOSTILE["float64"][1]]
PAIRS = {
    "k": np.arange(len(NUMBERS) ** 2) % 3,
    "who": np.arange(len(NUMBERS) ** 2) % 40,
    "x": np.repeat(NUMBERS, len(NUMBERS)),
    "w": np.tile(NUMBERS, len(NUMBERS)),
}
BOUNDED = {"ids": "who", "max_rows": 2, "max_groups": 3}
WEIGHTS = {"weights": "w", "weight_bounds": (0, 2)}


@pytest.mark.parametrize("engine", ["duckdb", full("sqlite")])
def test_ids_that_a_collation_calls_equal_are_two_units(engine):
    connection, name = connect(engine), f"collated_ids_{engine}"
    for statement in (
        f"drop table if exists {name}",
        f"create table {name} (who varchar collate nocase, x integer)",
        f"insert into {name} values ('a', 1), ('A', 1), ('a', 1)",
    ):
        connection.con.execute(statement)
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
    person = {"ids": "who", "max_rows": 1, "max_groups": 40}
    for keys in [key], [key, *(LONG if kind == "text" else [])]:
        groups = dp.group_by(rows, "key", keys=keys, **person)
        assert groups.count(epsilon=500, rng=InsecureGenerator(1))["count"][0] == 1
    groups = dp.group_by(rows, "key", **person)
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
        (lambda: groups.median("x", **auto), "bounds must be numbers in a database"),
        (lambda: people.histogram("x", **heavy), "weights must be left out if ids are given in"),
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
    key = "floor(random() * 99)::int" if is_drawn else "(range % 99)::int"
    query = f"SELECT {key} AS k, range % 7 AS x FROM range(999)"
    connection.raw_sql(f"CREATE OR REPLACE VIEW drawn AS {query}")
    groups = dp.group_by(connection.table("drawn"), "k", keys=range(99))
    bins = dp.stat.histogram("x", bins=[0, 2, 3])  # in which not all rows are
    expected = nullcontext()
    if is_drawn:
        expected = pytest.raises(DataError, match="the rows changed between two statements")
    with expected:
        groups.agg({"n": dp.stat.count(), "x": bins}, epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 0


# ---- Ranks, of which few numbers leave the database. ----

DRAW = np.random.default_rng(3)
MANY_ROWS = 3000
X = DRAW.normal(50, 40, MANY_ROWS)
X[::37], X[3], X[5], X[8], X[9], X[2000:] = math.nan, math.inf, -math.inf, 5e-324, -0.0, 12.5


def of_pairs(nan, is_of_units):
    """Statistics of two columns; no units have bins of weights."""
    weighed = {"bounds": (-20, 80), **WEIGHTS, "nan": nan}
    pairs = {"other": "w", "bounds": [(-20, 80), (0, 60)], "nan": nan}
    found = {
        "sum": dp.stat.sum("x", **weighed | {"weight_bounds": (-1, 2)}),
        "mean": dp.stat.mean("x", **weighed),
        "ratio": dp.stat.ratio("x", **pairs),
        "correlation": dp.stat.correlation("x", **pairs),
        "proportion": dp.stat.proportion("x", equal=50, **WEIGHTS),
        "bins": dp.stat.histogram("x", bins=4, bounds=(-20, 80), **WEIGHTS),
    }
    return dict(list(found.items())[: 4 if is_of_units else 6])


RANKED = {
    "x": X,
    "k": DRAW.integers(-3, 300, MANY_ROWS),
    "word": DRAW.choice(["a", "A", "é"], MANY_ROWS),
    "n": DRAW.integers(0, 20, MANY_ROWS),
    "who": DRAW.integers(0, 200, MANY_ROWS),
}
B, PEOPLE, TWO = {"bounds": (0, 100)}, {"ids": "who", "max_rows": 2}, ["a", "é"]
RANKS = {
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
TOTALS = {
    "sum": dp.stat.sum("x", bounds=(-1, 2), per_unit=(-2.5, 4)),
    "rows": dp.stat.count(per_unit=(2, 5)),
    "numbers": dp.stat.count("n", nan="drop", per_unit=(0, 3)),
    "mean": FEW["variance"],
}
BINS = {"in": dp.stat.histogram("x", bins=3, bounds=(-1, 2))}
OF_PEOPLE = FEW | {"people": dp.stat.count_distinct()}
ALL = {"rows": dp.stat.count(), "sum": dp.stat.sum("k", **B)}
ALL |= {name: RANKS[name] for name in ("median", "maximum")}
BY = [(["word"], ["é", "a", "none"]), (["word", "n"], [("a", 3), ("é", 0), ("é", 99)])]
BY.append((["n"], None))
#: A table, the columns of keys and public keys, statistics, and bounds of units.
QUESTIONS = {
    **{f"{by} {i}": (DATA, by, keys, MANY, {}) for by in KEYS for i, keys in enumerate(KEYS[by])},
    **{f"pairs {nan} {keys} {people}": (PAIRS, ["k"], keys, of_pairs(nan, people), people)
        for nan, (keys, people) in product(("drop", "upper", 7.5),
            (([0, 2, 5], {}), (None, {}), ([0, 2], BOUNDED)))},
    "units": (DATA, ["word"], TWO, OF_PEOPLE, PEOPLE),
    "units and rows lost": (DATA, ["word"], TWO, {"n": FEW["rows"]}, PEOPLE | {"rows_limit": 5}),
    "totals of units": (DATA, ["word"], TWO, TOTALS, PEOPLE),
    "units of private keys": (DATA, ["number"], None, OF_PEOPLE, {**PEOPLE, "max_groups": 3}),
    "bins of units": (DATA, ["word"], TWO, BINS, {**PEOPLE, "max_groups": 4}),
    "bins of private keys": (DATA, ["number"], None, BINS, {**BOUNDED, "max_rows": 3}),
    **{f"{name} by {'and '.join(by)}": (RANKED, by, keys, {"one": RANKS[name]}, {})
        for name, (by, keys) in product(RANKS, BY)},
    "all kinds": (RANKED, *BY[0], ALL, {}),
    "all kinds of all rows of units": (RANKED, *BY[2], ALL,
        {"ids": "who", "max_groups": 20, "max_rows": MANY_ROWS}),
}  # fmt: skip
QUICK = {("sqlite", "('word', 'number') 0"), ("duckdb", "pairs drop [0, 2, 5] {}")}
QUICK |= {("sqlite", "median by wordand n"), ("sqlite", "bins of units")}
QUICK |= {("duckdb", name) for name in QUESTIONS if "units" in name or name.startswith("all")}
QUICK |= {("duckdb", name) for name in ("('word',) 0", "quantiles by word", "minimum by n")}


@pytest.mark.parametrize(
    ("engine", "name"),
    [pytest.param(*pair, marks=() if pair in QUICK else pytest.mark.full)
     for pair in product(THREE, QUESTIONS) if pair[0] != "sqlite" or "day" not in pair[1]],
)  # fmt: skip
def test_answers_are_those_of_memory(engine, name, in_one_round):
    """Private keys of units are drawn in one round there."""
    here, by, keys, statistics, people = QUESTIONS[name]
    rows = in_database(engine, here)
    if here is RANKED:
        here = here | {name: in_memory(engine, here[name]) for name in ("x", "k")}
    masks = [(here["x"] > 0, rows.x > 0)] if statistics is MANY else []
    for mask, where in [(None, None), *masks]:
        due = answer(here, by, keys, statistics, mask, **people)
        expect_same(due, answer(rows, by, keys, statistics, where, **people))


@quick_rows(1)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("kind", ["float64", "int64", "fraction"])
def test_hostile_numbers(engine, kind):
    values = HOSTILE[kind][1]
    rows = table(connect(engine), {"x": HOSTILE[kind], "n": ("int64", [1] * len(values))})
    numbers = pa.array(values, rows["x"].type().to_pyarrow())
    data = {"x": in_memory(engine, numbers), "n": np.ones(len(values), int)}
    for bounds in ((-3, 60), (-(2.0**40), 2.0**52)):
        asked = {"one": dp.stat.quantiles("x", [0.2, 0.7], bounds=bounds)}
        expect_same(*(answer(own, ["n"], [1], asked) for own in (data, rows)))


@pytest.fixture
def sizes(monkeypatch):
    found, right = [], sql.answer

    def answered(question):
        rows = right(question)
        found.append(rows.num_rows)
        return rows

    monkeypatch.setattr(sql, "answer", answered)
    return found


def test_few_numbers_leave_the_database(sizes):
    connection = connect("duckdb")
    query = "SELECT random() AS x, range % 3 AS k FROM range(30000)"
    connection.raw_sql(f"CREATE OR REPLACE TABLE large_groups AS {query}")
    groups = dp.group_by(connection.table("large_groups"), "k", keys=[0, 1, 2])
    found = groups.median("x", bounds=(0, 1), epsilon=1)["median"]
    assert np.all(abs(found - 0.5) < 0.1) and len(sizes) == 1 and sizes[0] < 1500


def test_a_draw_beyond_the_rows_that_are_told_asks_for_all_of_the_group(monkeypatch, sizes):
    monkeypatch.setattr(ranks, "width", lambda *_: 9)
    monkeypatch.setattr(ranks, "squeezed", lambda aim: aim)
    rows = in_database("duckdb", RANKED)
    asked = ["word"], ["a"], {"one": RANKS["maximum"]}
    expect_same(answer(RANKED, *asked), answer(rows, *asked))
    assert len(sizes) > 1


SMALL = {name: DRAW.integers(0, most, 150) for name, most in (("k", 9), ("n", 6), ("who", 6))}


def kept(engine, given, secret):
    """Which numbers of each group count, of units that may have four groups and three rows."""
    rows = Database(given, engine, {}).rows(Rows(("k",)))
    cells, unit = rows.cell(0, Cells(1.0, 0, 9)), Units("who", 4, secret)
    found = rows.groups({"n": None}, [Feature(cells, 9, 0, 3)], unit, None, [EVERY])
    keys = found.keys["n"].chunked.to_pylist()
    each = zip(keys, found.bins.tolist(), found.sums[0].tolist(), strict=True)
    return Counter({(key, number): count for key, number, count in each})


def moves(engine, secrets):
    """In how many groups one unit has rows that count, and how many in one; all others stay."""
    seen, counts = set(), Counter()
    rows = in_database(engine, SMALL)
    for secret in secrets:
        whole, rest, alone = (
            kept(engine, some, secret * 64)
            for some in (rows, rows.filter(rows.who != 5), rows.filter(rows.who == 5))
        )
        assert whole == rest + alone, "another unit has a say"
        seen.add(tuple(sorted(alone.items())))
        for (key, _), count in alone.items():
            counts[secret, key] += count
    assert len(seen) == len(secrets)
    return max(Counter(secret for secret, _ in counts).values()), max(counts.values())


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_unit_are_chosen_in_each_group_by_its_own_rows_alone(engine):
    assert moves(engine, "abc") == (4, 3)


@pytest.mark.parametrize("name", ["first_groups", "first_rows"])
def test_a_unit_that_is_not_bounded_is_caught(monkeypatch, name):
    monkeypatch.setattr(sql, name, lambda rows, *_: rows)
    groups, rows = moves("duckdb", "a")
    assert groups > 4 or rows > 3
