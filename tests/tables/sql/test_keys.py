"""Keys are equal in a database if their bytes are, whatever it calls equal."""

from collections import Counter

import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.tables.sql.keys import digest, exact

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
