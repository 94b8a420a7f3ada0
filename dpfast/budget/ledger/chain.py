"""All that a ledger holds, as one chain of seals in the order in which it was written.

Each row has a seal: a digest of itself and of what it hangs on (a line on the line before it, a key
or an answer on its line, a turn on the turn before it). That a row was written at all, and when, is
in the table `steps`: step k has the name of the row and a digest of its seal and of step k - 1. The
last step and the sums are sealed together in `state`. So a row that is changed, added or lost is
found, the last one, too; and whoever has seen step k can tell from its seal alone whether all that
was there then is still there (`held`).

A ledger of form 1 has no steps, and no seals of answers and secrets. It is read as it was, and gets
both from the next that writes to it (`renew`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import text

if TYPE_CHECKING:
    import sqlite3

VERSION = 2

STEPS = """
CREATE TABLE steps (step INTEGER PRIMARY KEY, what TEXT NOT NULL UNIQUE, seal TEXT NOT NULL);
"""
#: The tables that only grow, and the name of a row in each.
NAMES = {
    "lines": "line",
    "keys": "key",
    "answers": "line",
    "streams": "name",
    "turns": "line || ' ' || turn",
}


class Damaged(Exception):
    """The file is a ledger, and says what cannot be."""


class Place(NamedTuple):
    """How far a ledger had come: a row of `steps`, or of `lines` where there are none."""

    table: str
    number: int
    seal: str


# --- tables -------------------------------------------------------------------------------------


def define(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        # A trigger ends in "; END;", so only what stands at the end of a line divides.
        if statement.strip():
            db.execute(statement)


def guards(*tables: str) -> str:
    return "".join(
        f"CREATE TRIGGER IF NOT EXISTS no_{verb}_{table} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;\n"
        for table in tables
        for verb in ("UPDATE", "DELETE")
    )


def has(db: sqlite3.Connection, table: str) -> bool:
    found = db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return found is not None


def form(db: sqlite3.Connection) -> int:
    """The version of the tables."""
    (found,) = db.execute("PRAGMA user_version").fetchone()
    return int(found)


# --- steps --------------------------------------------------------------------------------------


def begin(db: sqlite3.Connection, first: str) -> None:
    """Steps, of which the first is the ledger itself."""
    define(db, STEPS + guards("steps"))
    db.execute("INSERT INTO steps VALUES (0, 'ledger', ?)", (first,))


def grow(db: sqlite3.Connection, table: str, name: str, row: tuple[object, ...]) -> None:
    """A row more, whose last field is its seal, and its step."""
    db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    _step(db, f"{table} {name}", str(row[-1]))


def _step(db: sqlite3.Connection, what: str, seal: str) -> None:
    _, number, before = last(db)
    row = (number + 1, what, text.seal(before, what, seal))
    db.execute("INSERT INTO steps VALUES (?, ?, ?)", row)


def last(db: sqlite3.Connection) -> Place:
    """How far the ledger has come."""
    table, number = ("lines", "line") if form(db) == 1 else ("steps", "step")
    one = f"SELECT {number}, seal FROM {table} ORDER BY {number} DESC LIMIT 1"
    found = db.execute(one).fetchone()
    if found is None and table == "lines":
        found = 0, *db.execute("SELECT seal FROM ledger").fetchone()
    if found is None:
        raise Damaged("lines are missing")
    return Place(table, *found)


def held(db: sqlite3.Connection, place: Place) -> bool:
    """Whether the ledger still holds all that it held when it had come to `place`."""
    if place.number == 0:
        return True  # the ledger itself, of which the header tells
    if not has(db, place.table):
        return False
    number = "line" if place.table == "lines" else "step"
    one = f"SELECT seal FROM {place.table} WHERE {number} = ?"
    found: tuple[str] | None = db.execute(one, (place.number,)).fetchone()
    return found == (place.seal,)


def check(db: sqlite3.Connection, table: str, name: str, seal: str | None) -> None:
    """Damage, unless a row of this seal (or None) is what was written under that name."""
    if form(db) == 1:
        return
    both = "SELECT a.seal, b.seal FROM steps a LEFT JOIN steps b ON b.step = a.step - 1 "
    what = f"{table} {name}"
    step = db.execute(both + "WHERE a.what = ?", (what,)).fetchone()
    if seal is None and step is None:
        return
    if seal is None or step is None or text.seal(step[1], what, seal) != step[0]:
        raise Damaged(f"what it holds of {table} is not what was written")


def whole(db: sqlite3.Connection, first: str) -> None:
    """Damage, unless its rows are those of its steps, all of them, in that order."""
    if form(db) == 1:
        return
    rows = dict(_rows(db))
    before, count = first, 0
    for number, what, seal in db.execute(
        "SELECT step, what, seal FROM steps ORDER BY step"
    ).fetchall():
        expected = text.seal(before, what, rows.pop(what, None)) if count else first
        if (number, seal) != (count, expected):
            raise Damaged("its steps are not what was written")
        before, count = seal, count + 1
    if rows or not count:
        raise Damaged("it holds more than was written")


def _rows(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Names and seals of all rows of the tables that only grow."""
    for table, name in NAMES.items():
        if has(db, table):
            for found, seal in db.execute(f"SELECT {name}, seal FROM {table}").fetchall():
                yield f"{table} {found}", seal


# --- the last of all ----------------------------------------------------------------------------


def check_sums(db: sqlite3.Connection) -> Place:
    """How far the ledger has come; damage, unless its sums are what was sealed with that."""
    every = "SELECT lines, epsilon, delta, rho, neighbors, seal FROM state"
    ((*parts, seal),) = db.execute(every).fetchall()
    (lines,) = db.execute("SELECT ifnull(max(line), 0) FROM lines").fetchone()
    if lines != parts[0]:
        raise Damaged("lines are missing")
    place = last(db)
    if seal != (place.seal if place.table == "lines" else _sealed(place.seal, parts)):
        raise Damaged("its sums are not what was written")
    return place


def close(db: sqlite3.Connection, before: Place | None = None) -> Place:
    """Seal the sums with the last step, if there is one more than before."""
    place = last(db)
    if place != before:
        every = "SELECT lines, epsilon, delta, rho, neighbors FROM state"
        (parts,) = db.execute(every).fetchall()
        db.execute("UPDATE state SET seal = ?", (_sealed(place.seal, parts),))
    return place


def _sealed(before: str, parts: Sequence[Any]) -> str:
    lines, *others = parts
    return text.seal(before, "state", str(lines), *others)


# --- what is no line ----------------------------------------------------------------------------


def answered(paid: str, time: str, answer: str) -> str:
    """The seal of an answer, by that of its line."""
    return text.seal(paid, "answer", time, answer)


def hidden(db: sqlite3.Connection, line: int, state: str) -> str:
    """The seal of the secret of a stream, by that of its last turn."""
    one = "SELECT seal FROM turns WHERE line = ? ORDER BY turn DESC LIMIT 1"
    found = db.execute(one, (line,)).fetchone()
    found = found or db.execute("SELECT seal FROM streams WHERE line = ?", (line,)).fetchone()
    return text.seal(found[0], "secret", state)


# --- ledgers of before --------------------------------------------------------------------------


def renew(db: sqlite3.Connection, first: str) -> None:
    """Give a ledger of form 1, which was found sound, the seals of form 2."""
    define(db, "DROP TRIGGER IF EXISTS no_UPDATE_answers")
    define(db, "ALTER TABLE answers ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
    both = "SELECT answers.line, answers.time, answer, lines.seal FROM answers "
    both += "LEFT JOIN lines ON lines.line = answers.line"
    for number, *parts, paid in db.execute(both).fetchall():
        row = (answered(paid, *parts), number)
        db.execute("UPDATE answers SET seal = ? WHERE line = ?", row)
    define(db, guards("answers"))
    if has(db, "secrets"):
        define(db, "ALTER TABLE secrets ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
        for number, state in db.execute("SELECT line, state FROM secrets").fetchall():
            row = (hidden(db, number, state), number)
            db.execute("UPDATE secrets SET seal = ? WHERE line = ?", row)
    rows = list(_rows(db))
    db.execute(f"PRAGMA user_version = {VERSION}")
    begin(db, first)
    for what, seal in rows:
        _step(db, what, seal)
