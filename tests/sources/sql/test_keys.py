"""Keys are equal in a database if their bytes are, whatever it calls equal."""

from collections import Counter

import pytest

from dpfast.errors import ArgumentTypeError
from dpfast.sources.sql.keys import digest, exact

from ...support.databases import ENGINES, HOSTILE, connect, table


def keys_of(engine, kind, values):
    """How often a database has each key among some values; the digests of them."""
    column = table(connect(engine), {"key": (kind, values)}).key
    rows = exact(column, engine, "keys").name("key").as_table().filter(lambda t: t.key.notnull())
    hashes = rows.select(hash=digest("secret", [rows.key], engine)).distinct().count()
    groups = rows.group_by("key").aggregate(rows=lambda t: t.count()).to_pyarrow().to_pylist()
    return {row["key"]: row["rows"] for row in groups}, hashes.to_pyarrow().as_py()


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


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("kind", ["float64", "decimal"])
def test_numbers_that_are_not_whole_are_no_keys(engine, kind):
    with pytest.raises(ArgumentTypeError, match="keys must be a column of integers"):
        keys_of(engine, *HOSTILE[kind])


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


def test_entries_of_another_type_are_no_keys_in_sqlite():
    column = table(connect("sqlite"), {"key": ("int64", [1, 1.5, "one", b"1", None])}).key
    keys = exact(column, "sqlite", "keys").name("key").as_table()
    assert sorted(keys.to_pyarrow()["key"].to_pylist(), key=str) == [1, None, None, None, None]
