"""The rows of a ledger file as a chain of digests, which detects changed and lost rows.

Each row has a seal: a digest of the row and of the seal of its predecessor. The predecessor of an
entry is the entry before it. The predecessor of a key or an answer is its entry. The predecessor of
a turn (one answer of a stream) is the turn before it. The table `steps` lists all rows in the order
in which they were written. Step k has the name of a row, and a digest of the row's seal and of step
k
- 1. `state` has a seal of the last step and of the sums. So a row that is changed, added or lost is
detected, even if it is the last one. Whoever has seen step k can check by its digest alone whether
all rows up to it are still there (`held`).

There are five versions of the format. Version 1 has no steps, and no seals of answers and secrets.
Version 2 has no column for the privacy unit, version 3 has no identity of the file, and version 4
has no column for records. Old ledgers can be read; without a unit, their unit is a row. The next
write upgrades them to version 5 (`renew`). A seal covers the unit only if it is a person, and the
record only if there is one. So the upgrade does not change the seals of old rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...errors import MissingExtraError
from . import text

try:
    import sqlite3 as sqlite3
except ImportError:  # pragma: no cover
    raise MissingExtraError(
        "a ledger in a file needs the module sqlite3, which this Python was built without"
    ) from None

VERSION = 5

STEPS = """
CREATE TABLE steps (step INTEGER PRIMARY KEY, what TEXT NOT NULL UNIQUE, seal TEXT NOT NULL);
"""
#: The table of the directories in which the ledger was made and to which it was moved, with times
#: (`File.identity`).
DIRECTORIES = """
CREATE TABLE places (
    place INTEGER PRIMARY KEY, time TEXT NOT NULL, process TEXT NOT NULL, identity TEXT NOT NULL,
    seal TEXT NOT NULL
);
"""
#: The append-only tables, and the columns that name a row in each.
NAMES = {
    "lines": ("line",),
    "keys": ("key",),
    "answers": ("line",),
    "streams": ("name",),
    "turns": ("line", "turn"),
    "places": ("place",),
}
#: Tables of rows that belong to an entry. The seal of such a row is a digest of the seal of the
#: entry, of these first words, and of these columns.
OF_ENTRIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "keys": ((), ("key",)),
    "answers": (("answer",), ("time", "answer")),
    "streams": ((), ("name", "facts", "start")),
}
#: Columns that were added later: the first version of the format with the column, its table, and
#: its declaration.
LATER = (
    (3, "ledger", "ids TEXT"),
    (3, "ledger", "max_rows INTEGER"),
    (3, "state", "ids TEXT"),
    (3, "lines", "ids TEXT"),
    (5, "lines", "record TEXT"),
)


class Damaged(Exception):
    """The file is a ledger, but its rows were changed."""


class LastRow(NamedTuple):
    """The last row of a ledger at some time: in `steps`, or in `lines` if there are no steps."""

    table: str
    number: int
    seal: str


# --- tables -------------------------------------------------------------------------------------


def define(db: Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        # Inside a trigger, semicolons do not end the statement, so only those at the end of a line
        # divide.
        if statement.strip():
            db.execute(statement)


def guards(*tables: str) -> str:
    return "".join(
        f"CREATE TRIGGER IF NOT EXISTS no_{verb}_{table} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;\n"
        for table in tables
        for verb in ("UPDATE", "DELETE")
    )


def has(db: Connection, table: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return db.execute(query, (table,)).fetchone() is not None


def pragma(db: Connection, what: str) -> Any:
    """Return the value of an SQLite pragma."""
    return db.execute(f"PRAGMA {what}").fetchone()[0]


class Connection(sqlite3.Connection):
    """An SQLite connection to a ledger, which lives for one transaction."""

    @cached_property
    def version(self) -> int:
        """The version of the tables, read once; `renumber` changes it."""
        return int(pragma(self, "user_version"))


def renumber(db: Connection, version: int) -> None:
    """Set the version of the ledger's tables."""
    db.execute(f"PRAGMA user_version = {version}")
    db.version = version


# --- steps --------------------------------------------------------------------------------------


def begin(db: Connection, first: str) -> None:
    """Make the table of steps; the first step is the ledger itself."""
    define(db, STEPS + guards("steps"))
    db.execute("INSERT INTO steps VALUES (0, 'ledger', ?)", (first,))


def later(db: Connection, table: str) -> str:
    """Return the `LATER` columns of a table as SQL, with NULL for columns that the ledger lacks."""
    columns = [(first, column) for first, named, column in LATER if named == table]
    return ", ".join(
        column.split()[0] if first <= db.version else "NULL" for first, column in columns
    )


def grow(db: Connection, table: str, **row: object) -> None:
    """Insert a sealed row into a table, and add its step to the chain."""
    placeholders = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({placeholders})", (*row.values(),))
    _step(db, " ".join([table, *(str(row[column]) for column in NAMES[table])]), str(row["seal"]))


def _step(db: Connection, what: str, seal: str) -> None:
    _, number, before = last(db)
    row = (number + 1, what, text.seal(before, what, seal))
    db.execute("INSERT INTO steps VALUES (?, ?, ?)", row)


def last(db: Connection) -> LastRow:
    """Return the last row of the ledger."""
    table, number = ("lines", "line") if db.version == 1 else ("steps", "step")
    query = f"SELECT {number}, seal FROM {table} ORDER BY {number} DESC LIMIT 1"
    row = db.execute(query).fetchone()
    if row is None and table == "lines":
        row = 0, *db.execute("SELECT seal FROM ledger").fetchone()
    if row is None:
        raise Damaged("entries are missing")
    return LastRow(table, *row)


def held(db: Connection, row_seen: LastRow) -> bool:
    """Return whether the ledger still has a row that was seen, and so all rows before it."""
    if row_seen.number == 0:
        return True  # only the header was seen, which is checked elsewhere
    if not has(db, row_seen.table):
        return False
    number = "line" if row_seen.table == "lines" else "step"
    query = f"SELECT seal FROM {row_seen.table} WHERE {number} = ?"
    row: tuple[str] | None = db.execute(query, (row_seen.number,)).fetchone()
    return row == (row_seen.seal,)


def check(db: Connection, table: str, name: str, seal: str | None) -> None:
    """Raise `Damaged` unless the steps have a row of this name with this seal, or none for None."""
    if db.version == 1:
        return
    both = "SELECT a.seal, b.seal FROM steps a LEFT JOIN steps b ON b.step = a.step - 1 "
    what = f"{table} {name}"
    step = db.execute(both + "WHERE a.what = ?", (what,)).fetchone()
    if seal is None and step is None:
        return
    if seal is None or step is None or text.seal(step[1], what, seal) != step[0]:
        raise Damaged(f"its table {table} was changed or damaged")


def whole(db: Connection, first: str, most: int | None = None) -> None:
    """Raise `Damaged` unless the rows of the ledger are exactly the rows that its steps list.

    If there are more than `most` steps, only the last ones are checked.
    """
    if db.version == 1:
        return
    begin = 0 if most is None else max(0, last(db).number - most)
    tail = "SELECT step, what, seal FROM steps WHERE step >= ? ORDER BY step"
    (step, what, before), *steps = db.execute(tail, (begin,)).fetchall()
    if (step, before) != (begin, before if begin else first):
        raise Damaged("its steps were changed or damaged")
    rows = dict(_rows(db) if begin == 0 else _rows_named(db, (what for _, what, _ in steps)))
    for count, (step, what, seal) in enumerate(steps, begin + 1):
        if (step, seal) != (count, text.seal(before, what, rows.pop(what, None))):
            raise Damaged("its steps were changed or damaged")
        before = seal
    if rows:
        raise Damaged("it has rows that dpfast did not write")


def _rows(db: Connection) -> Iterator[tuple[str, str]]:
    """Yield the name and seal of each row of all append-only tables."""
    for table, name in NAMES.items():
        if has(db, table):
            columns = " || ' ' || ".join(name)
            for row, seal in db.execute(f"SELECT {columns}, seal FROM {table}").fetchall():
                yield f"{table} {row}", seal


def _rows_named(db: Connection, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield names and seals of the rows that have these names."""
    for name in names:
        table, columns = name.partition(" ")[0], NAMES[name.partition(" ")[0]]
        where = " AND ".join(f"{column} = ?" for column in columns)
        query = f"SELECT seal FROM {table} WHERE {where}"
        for (seal,) in db.execute(query, name.split(" ", len(columns))[1:]).fetchall():
            yield name, seal


# --- sums ---------------------------------------------------------------------------------------


def check_sums(db: Connection) -> LastRow:
    """Return the last row; raise `Damaged` if the sums differ from the sums sealed with it."""
    *parts, seal = sums(db)
    (lines,) = db.execute("SELECT ifnull(max(line), 0) FROM lines").fetchone()
    if lines != parts[0]:
        raise Damaged("entries are missing")
    last_row = last(db)
    if seal != (last_row.seal if last_row.table == "lines" else _sealed(last_row.seal, parts)):
        raise Damaged("its sums were changed or damaged")
    return last_row


def close(db: Connection, before: LastRow | None = None) -> LastRow:
    """Seal the sums with the last step, if a step was added, and return the last row."""
    last_row = last(db)
    if last_row != before:
        *parts, _ = sums(db)
        db.execute("UPDATE state SET seal = ?", (_sealed(last_row.seal, parts),))
    return last_row


def sums(db: Connection) -> tuple[Any, ...]:
    every = f"SELECT lines, epsilon, delta, rho, neighbors, {later(db, 'state')}, seal FROM state"
    (row,) = db.execute(every).fetchall()
    return tuple(row)


def _sealed(before: str, parts: Sequence[Any]) -> str:
    lines, *others, ids = parts
    return text.seal(before, "state", str(lines), *others, *text.of_people(ids))


# --- where the ledger is --------------------------------------------------------------------------


def identities(db: Connection, first: str) -> list[str]:
    """Return the recorded identities of the ledger's file, in order; none before form 4."""
    if db.version < 4:
        return []
    rows = db.execute("SELECT place, time, process, identity, seal FROM places").fetchall()
    for number, (index, *parts, seal) in enumerate(rows, 1):
        if index != number or text.seal(first, "place", str(index), *parts) != seal:
            raise Damaged("its recorded location was changed or damaged")
    check(db, "places", str(len(rows) + 1), None)
    return [identity for *_, identity, _ in rows]


def put(db: Connection, first: str, when: str, by: str, identity: str) -> None:
    """Record the identity of the ledger's file and of its directory, which is valid from now on."""
    number = len(identities(db, first)) + 1
    seal = text.seal(first, "place", str(number), when, by, identity)
    grow(db, "places", place=number, time=when, process=by, identity=identity, seal=seal)


# --- rows of entries, secrets -------------------------------------------------------------------


class OfEntry(NamedTuple):
    """A row that belongs to the entry with the number `line`."""

    line: int
    seal: str | None
    parts: tuple[str, ...]


def rows_of(db: Connection, table: str, where: str = "", *values: object) -> list[OfEntry]:
    """Check the seals of rows that belong to entries, and return the rows."""
    if not has(db, table):
        return []
    begin, columns = OF_ENTRIES[table]
    named = ", ".join(f"{table}.{column}" for column in columns)
    sealed = "NULL" if table == "answers" and db.version == 1 else f"{table}.seal"
    every = f"SELECT line, lines.seal, {sealed}, {named} FROM {table} LEFT JOIN lines USING (line) "
    rows = db.execute(every + where, values).fetchall()
    for _, paid, seal, *parts in rows:
        if paid is None or seal not in (None, text.seal(paid, *begin, *parts)):
            raise Damaged(f"its table {table} was changed or damaged")
    return [OfEntry(line, seal, tuple(parts)) for line, _, seal, *parts in rows]


def row_of(db: Connection, table: str, name: str | int) -> OfEntry | None:
    """Return the row with a name, or None; first check its seal and its step."""
    rows = rows_of(db, table, f"WHERE {table}.{NAMES[table][0]} = ?", name)
    check(db, table, str(name), rows[0].seal if rows else None)
    return rows[0] if rows else None


def add(db: Connection, table: str, line: int, *parts: str) -> str:
    """Insert a row that belongs to an entry, and return the row's seal."""
    begin, columns = OF_ENTRIES[table]
    (paid,) = db.execute("SELECT seal FROM lines WHERE line = ?", (line,)).fetchone()
    seal = text.seal(paid, *begin, *parts)
    grow(db, table, line=line, **dict(zip(columns, parts, strict=True)), seal=seal)
    return seal


def hidden(db: Connection, line: int, state: str) -> str:
    """Return the seal of a stream's secret, which covers the seal of the stream's last turn."""
    query = "SELECT seal FROM turns WHERE line = ? ORDER BY turn DESC LIMIT 1"
    row = db.execute(query, (line,)).fetchone()
    row = row or db.execute("SELECT seal FROM streams WHERE line = ?", (line,)).fetchone()
    return text.seal(row[0], "secret", state)


# --- ledgers of earlier forms -------------------------------------------------------------------


def renew(db: Connection, first: str) -> None:
    """Upgrade a checked ledger of an earlier version to this version."""
    if db.version == 1:
        _seal_all(db, first)
    for since, table, column in LATER:
        if db.version < since:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    if db.version < 4:
        define(db, DIRECTORIES + guards("places"))
    renumber(db, VERSION)


def _seal_all(db: Connection, first: str) -> None:
    """Add the seals of version 2 to a ledger of version 1."""
    define(db, "DROP TRIGGER IF EXISTS no_UPDATE_answers")
    define(db, "ALTER TABLE answers ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
    both = "SELECT answers.line, answers.time, answer, lines.seal FROM answers "
    both += "LEFT JOIN lines ON lines.line = answers.line"
    for number, *parts, paid in db.execute(both).fetchall():
        row = (text.seal(paid, "answer", *parts), number)
        db.execute("UPDATE answers SET seal = ? WHERE line = ?", row)
    define(db, guards("answers"))
    if has(db, "secrets"):
        define(db, "ALTER TABLE secrets ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
        for number, state in db.execute("SELECT line, state FROM secrets").fetchall():
            row = (hidden(db, number, state), number)
            db.execute("UPDATE secrets SET seal = ? WHERE line = ?", row)
    rows = list(_rows(db))
    renumber(db, 2)
    begin(db, first)
    for what, seal in rows:
        _step(db, what, seal)
