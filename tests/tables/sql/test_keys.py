"""Keys are equal in a database if their bytes are, whatever it calls equal."""

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.tables.base import Feature, Units
from dpfast.tables.sql import units
from dpfast.tables.sql.groups import groups_of
from dpfast.tables.sql.keys import digest, exact
from dpfast.tables.sql.sums import sums_by
from dpfast.tables.sql.units import MOST, bounded, first_groups, units_of

from ...support.databases import ENGINES, HOSTILE, connect, ibis, table
from ...support.pairwise import every_value, quick_rows


def keys_of(engine, kind, values):
    """How often a database has each key among some values; the digests of them."""
    column = table(connect(engine), {"key": (kind, values)}).key
    rows = exact(column, engine, "keys").name("key").as_table().filter(lambda t: t.key.notnull())
    hashes = rows.select(hash=digest("secret", [rows.key], engine)).distinct().count()
    groups = rows.group_by("key").aggregate(rows=lambda t: t.count()).to_pyarrow().to_pylist()
    return {row["key"]: row["rows"] for row in groups}, hashes.to_pyarrow().as_py()


@quick_rows(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["string", "int64", "boolean", "date", "timestamp"])
def test_keys_are_equal_if_their_bytes_are(engine, kind):
    declared, values = HOSTILE[kind]
    if engine == "sqlite" and kind in ("date", "timestamp"):
        with pytest.raises(ArgumentTypeError, match="in sqlite: cast it"):
            keys_of(engine, declared, values)
        return
    expected = Counter(
        value.encode() if isinstance(value, str) else value for value in values if value is not None
    )
    assert keys_of(engine, declared, values) == (expected, len(expected))


def test_times_of_sqlite_are_refused_before_the_spend():
    budget = dp.Budget(epsilon=1, delta=0.1)
    rows, ask = table(connect("sqlite"), {"key": HOSTILE["date"]}), {"epsilon": 1, "budget": budget}
    for call in (
        lambda: dp.select_keys(rows["key"], delta=1e-9, **ask),
        lambda: dp.count(rows.mutate(x=1), ids="key", max_rows=1, **ask),
    ):
        with pytest.raises(ArgumentTypeError, match="date in sqlite: cast it"):
            call()
    assert not budget.history


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_collation_makes_no_keys_equal(engine):
    connection = connect(engine)
    name = f"collated_{engine}"
    connection.con.execute(f"create table {name} (key varchar collate nocase)")
    connection.con.execute(f"insert into {name} values ('a'), ('A'), ('a ')")
    rows = connection.table(name)

    def groups(key):
        found = key.name("key").as_table().group_by("key").aggregate(rows=lambda t: t.count())
        return len(found.to_pyarrow())

    assert groups(rows.key) == 2  # what the test is about
    assert groups(exact(rows.key, engine, "keys")) == 3


@pytest.mark.full
def test_blanks_of_char_are_no_part_of_a_key():
    connection = connect("postgres")
    connection.raw_sql("create table padded (key char(4))").close()
    connection.raw_sql("insert into padded values ('a'), ('a   '), ('b')").close()
    keys = exact(connection.table("padded").key, "postgres", "keys").name("key").as_table()
    assert sorted(keys.distinct().to_pyarrow()["key"].to_pylist()) == [b"a", b"b"]


NO_TYPE = {
    "ids": lambda t, **how: dp.count(t[["x", "who"]], ids="who", max_rows=9, **how),
    "people": lambda t, **how: dp.count_distinct(t["who"], **how),
    "keys": lambda t, **how: dp.group_by(t, "who", keys=[1]).count(**how),
    "private keys": lambda t, **how: dp.select_keys(t["who"], delta=1e-3, **how),
    "words": lambda t, **how: dp.proportion(t["who"], equal="a", **how),
    "where": lambda t, **how: dp.sum(t["x"], bounds=(0, 1), where=t["who"].notnull(), **how),
    "a filter": lambda t, **how: dp.count(t.filter(t.who.isin([1])), **how),
    "a column": lambda t, **how: dp.sum(t["who"].isnull().ifelse(0, 1), bounds=(0, 1), **how),
    "a column of a table": lambda t, **how: dp.sum(
        t.mutate(y=t.who.nullif(t.who))["x"], bounds=(0, 1), **how
    ),
    "a join": lambda t, **how: dp.count(t.join(t.view(), "who"), **how),
}


@every_value
@pytest.mark.parametrize("first", [1, "a", 1.5, None, b"a"])
@pytest.mark.parametrize("question", NO_TYPE)
@pytest.mark.parametrize("is_sql", [False, True])
def test_the_first_row_of_a_column_without_a_type_decides_nothing(first, question, is_sql):
    """Ibis takes its type for that of all rows, so that others had no id, or another error."""
    connection = lite("who, x REAL", [(one, 1.0) for one in (first, 1, "a")])
    rows = connection.sql("SELECT * FROM t") if is_sql else connection.table("t")
    budget = dp.Budget(epsilon=9, delta=0.5)
    with pytest.raises(ArgumentTypeError, match="declared with a type"):
        NO_TYPE[question](rows, epsilon=1, budget=budget)
    assert budget.spent == {"epsilon": 0, "delta": 0}


def lite(columns, rows):
    connection = ibis.sqlite.connect()
    connection.con.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * len(rows[0]))
    connection.con.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    return connection


STATISTICS = {
    "sum": lambda x, **how: dp.sum(x, bounds=(0, 5), nan="drop", **how),
    "median": lambda x, **how: dp.median(x, bounds=(0, 5), **how),
    "count": lambda x, **how: dp.count(x, nan="drop", **how),
    "histogram": lambda x, **how: dp.histogram(x, bins=3, bounds=(0, 5), **how)[0].tolist(),
    "people": lambda x, **how: dp.sum(x, bounds=(0, 5), ids="who", max_rows=9, **how),
}


@quick_rows(1)
@pytest.mark.parametrize("name", STATISTICS)
def test_numbers_of_a_column_without_a_type_are_those_of_each_row(name):
    """Whatever the first row is, and so whatever type Ibis takes them for."""
    rows, answers = [1, "a", 1.5, None, b"a", 2**53 + 1, "7"], set()
    for first in range(len(rows)):
        turned = [(x, 1) for x in rows[first:] + rows[:first]]
        x = lite("x, who INTEGER", turned).table("t")["x"]
        answers.add(str(STATISTICS[name](x, epsilon=1, rng=InsecureGenerator(1))))
    assert len(answers) == 1


def test_columns_made_of_declared_ones_have_ids_and_keys_in_sqlite():
    t = lite("who INTEGER, x REAL, other", [(i % 5, 1.0, "a") for i in range(299)]).table("t")
    made = t.filter(t.x > 0).mutate(half=t.who // 2).order_by("who").view()
    for rows in (t, t.union(made[t.columns])):
        many = dp.count(rows[["x", "who"]], ids="who", max_rows=999, epsilon=1e4, where=rows.x > 0)
        assert many == rows.count().to_pyarrow().as_py()
    assert dp.group_by(made, "half", keys=[2]).count(epsilon=100)["count"].tolist() == [59]


@quick_rows(1)
@pytest.mark.parametrize("text", ["CAST(x'ff41' AS TEXT)", "char(0xD800)", "'a' || char(0)"])
def test_text_that_is_no_utf8_is_no_error_in_sqlite(text):
    """Ids, keys and numbers that have a digest go to a function of Python, which takes no such."""
    connection = ibis.sqlite.connect()
    connection.con.execute("CREATE TABLE t (who TEXT, bytes BLOB, k TEXT, x REAL)")
    connection.con.execute(f"INSERT INTO t VALUES ({text}, x'fffe00', {text}, {text})")
    t = connection.table("t")
    whose = {"max_groups": 1, "max_rows": 1}
    for ids in ("who", "bytes"):
        dp.median(t[["x", ids]], bounds=(0, 1), ids=ids, max_rows=1, epsilon=1)
        found = dp.group_by(t, "k", keys=["b"], ids=ids, **whose).count(epsilon=100)
        assert found["count"].tolist() == [0]


# ---- What units count for is what a slow twin says. ----


def twin(rows, least, most):
    """The sums by key of what units count for, by definition."""
    of_units, found = {}, {}
    for unit, key, above in rows:
        if above is not None:
            of_units.setdefault((unit, key), []).append(above + least)
    for (_, key), features in of_units.items():
        rows = len(features)
        part = math.trunc(Fraction(sum(features) * min(rows, most), rows))
        found[key] = found.get(key, 0) + part
    return found


def table_of(engine, rows):
    kinds = {"unit": "int64", "key": "int64", "above": "int64"}
    columns = zip(kinds.items(), zip(*rows, strict=True), strict=False)
    return table(connect(engine), {name: (kind, own) for (name, kind), own in columns})


def sums_of(engine, rows, least, most):
    data = table_of(engine, rows).rename(above0="above")
    features = [Feature(data.above0, 2**63 - 1, least, most)]
    some = units_of(data, ["unit", "key"], features, engine)
    some, (terms,) = bounded(some, ["key"], features, engine)
    found, totals = sums_by(some, terms, ["key"])
    return dict(zip(found["key"].to_pylist(), sum(totals), strict=True))


SMALL, LARGE = [None, *range(8)], [None, 0, 1, 2**40, 2**53 + 1, 2**62, 2**63 - 1]
CASES = [(SMALL, -3, 1), (LARGE, -(2**62), 5)] + [
    pytest.param(values, least, most, marks=pytest.mark.full)
    for values, least in [(SMALL, -3), (LARGE, 0), (LARGE, -(2**62))]
    for most in [1, 5, MOST]
]


def rows_of(values, seed=1):
    draw = random.Random(seed)
    return [(draw.randrange(9), draw.randrange(2), draw.choice(values)) for _ in range(120)]


@quick_rows(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values, least, most", CASES)
def test_units_count_as_their_rows_and_totals_say(engine, values, least, most):
    rows = rows_of(values)
    assert sums_of(engine, rows, least, most) == twin(rows, least, most)


def test_a_unit_that_rounds_away_from_zero_is_caught(monkeypatch):
    rows = rows_of(SMALL)[:40]
    for name, engine in (("quotient", "duckdb"), ("floored", "sqlite")):
        right = getattr(units, name)
        fault = lambda whole, by, *more, right=right: right(whole + by - 1, by, *more)  # noqa: E731
        monkeypatch.setattr(units, name, fault)
        assert sums_of(engine, rows, 0, 1) != twin(rows, 0, 1)


ENDS = [
    (SMALL, -3, (-4, 9)),
    (SMALL, 2, (5, 5)),
    (LARGE, -(2**62), (-(2**60) + 1, 2**59)),
    (LARGE, 0, (3, 2**60 - 1)),
    (LARGE, -(2**63) + 1, (-(2**50), -1)),
]


def totals_of(engine, rows, least, ends):
    data = table_of(engine, rows)
    features = [Feature(data.above, 2**63 - 1, least, ends=ends), Feature(data.above * 0, 0, 1, 1)]
    columns = {name: data[name] for name in ("unit", "key", "above")}
    found = groups_of(data, columns, engine, {"key": None}, features, Units("unit"), None)
    return dict(zip(found.keys["key"].chunked.to_pylist(), found.sums[0], strict=True))


def clamped(rows, least, ends):
    found, of_units = {}, {}
    for unit, key, above in rows:
        found.setdefault(key, 0)
        if above is not None:
            of_units[unit, key] = of_units.get((unit, key), 0) + above + least
    for (_, key), total in of_units.items():
        found[key] += min(max(total, ends[0]), ends[1])
    return found


@every_value
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values, least, ends", ENDS)
def test_totals_of_units_are_clamped(engine, values, least, ends):
    rows = [*rows_of(values), (9, 0, None)]
    assert totals_of(engine, rows, least, ends) == clamped(rows, least, ends)


def test_units_of_too_many_rows_count_nowhere(monkeypatch):
    monkeypatch.setattr(units, "MOST", 3)
    rows = [(0, 0, 5)] * 2 + [(1, 0, 5)] * 3
    assert totals_of("sqlite", rows, 0, (-7, 7)) == {0: 7}
    assert [sums_of(engine, rows, 0, 2)[0] for engine in ("duckdb", "sqlite")] == [10, 10]


def test_a_total_that_is_cut_within_its_ends_is_caught(monkeypatch):
    monkeypatch.setattr(units, "BEYOND", 1 << 8)
    values, least, ends = ENDS[2]
    rows = rows_of(values)
    assert totals_of("sqlite", rows, least, ends) != clamped(rows, least, ends)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_has_so_many_groups_whatever_others_have(engine):
    draw = random.Random(2)
    rows = sorted({(draw.randrange(6), draw.randrange(9)) for _ in range(40)})

    def kept(rows):
        found = first_groups(table_of(engine, rows), "unit", ["key"], 3, "secret", engine)
        return {(row["unit"], row["key"]) for row in found.to_pyarrow().to_pylist()}

    every = kept(rows)
    for unit in range(6):
        keys, own = ({key for other, key in some if other == unit} for some in (rows, every))
        assert own <= keys and len(own) == min(3, len(keys))
    assert kept([row for row in rows if row[0] != 4]) == {row for row in every if row[0] != 4}


# ---- Columns of the databases of tests hold what they are given. ----


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["float64", "int16", "string"])
def test_a_column_holds_what_it_is_given(engine, kind):
    values = HOSTILE[kind][1]
    given = table(connect(engine), {"x": HOSTILE[kind]})["x"].to_pyarrow().to_pylist()
    if engine == "sqlite":  # which stores NaN as null and -0.0 as an integer
        values = [None if x != x else 0.0 if x == 0 and kind == "float64" else x for x in values]
    assert list(map(repr, given)) == list(map(repr, values))
