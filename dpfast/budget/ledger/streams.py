"""Streams of answers that outlive their process, in the file of a ledger.

A stream has one ledger entry, which pays for all its answers, and a numbered row (a turn) for each
answer. A turn is written in one transaction, after the answer was computed and before anyone sees
it. If another process has already written this turn, the second process discards its answer unseen
and continues from the file. So each turn has one answer, for any number of processes, and a kill
loses only answers that nobody has seen.

The secret state of a stream (the noise of its threshold) is a row of the table `secrets`. The
history and exports do not show it. The transaction of each turn replaces the secret and seals it
with the turn. The last turn of the stream removes it (overwritten, as far as SQLite and the disk do
that). All other tables are append-only.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from ..._core import checks
from . import chain, text
from .chain import Connection, Damaged, define, guards
from .entries import now
from .file import File

T = TypeVar("T")

TABLES = """
CREATE TABLE IF NOT EXISTS streams (
    line INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL, start TEXT NOT NULL,
    seal TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS turns (
    line INTEGER NOT NULL, turn INTEGER NOT NULL, time TEXT NOT NULL, question TEXT NOT NULL,
    answer TEXT NOT NULL, body BLOB NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (line, turn)
);
CREATE TABLE IF NOT EXISTS secrets (
    line INTEGER PRIMARY KEY, state TEXT NOT NULL, seal TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a stream: a query, its answer, and the state that the next turn needs.

    A turn is public: `question` may depend on the data only through earlier answers.
    """

    question: str
    answer: Any
    body: bytes = b""


class Record:
    """The record of one stream of answers in the file of a ledger.

    Parameters
    ----------
    file : File
    name : str
        The name of the stream in this file.
    facts : str
        Everything on which the answers depend, except data and randomness. A stream with the same
        name and other facts is refused.
    """

    def __init__(self, file: File, name: str, facts: str) -> None:
        self.name, self.facts = name, facts
        self.key = "stream " + hashlib.sha256(json.dumps([name, facts]).encode()).hexdigest()
        self._file = file
        self._line, self._seal, self._seen = 0, "", 0
        self._file._run(self._same)

    def _same(self, db: Connection) -> tuple[str, str] | None:
        """Return start and seal of this stream, or None; refuse the name of another stream."""
        row = chain.row_of(db, "streams", self.name)
        if row is None:
            return None
        _, facts, start = row.parts
        if facts != self.facts:
            checks.fail(
                "name", "a new name, or the name of a stream with equal arguments", self.name
            )
        return start, str(row.seal)

    def find(self) -> Any:
        """Return the initial state of the stream, or None for a new one."""

        def look(db: Connection) -> Any:
            recorded = self._same(db)
            return None if recorded is None else json.loads(recorded[0])

        return self._file._run(look)

    def begin(self, start: Any, secret: Any) -> Any:
        """Begin a stream, or continue a recorded one, and return the stream's initial state.

        A new stream stores the secret, if it is not None. For an existing stream the result
        includes its turns (`later`). The stream has been paid for before.
        """

        def first(db: Connection) -> Any:
            entry = chain.row_of(db, "keys", self.key)
            assert entry is not None
            line = entry.line
            define(db, TABLES + guards("streams", "turns"))
            recorded = self._same(db)
            if recorded is None:
                plain = json.dumps(start)
                recorded = plain, chain.add(db, "streams", line, self.name, self.facts, plain)
                if secret is not None:
                    state = json.dumps(secret)
                    row = (line, state, chain.hidden(db, line, state))
                    db.execute("INSERT INTO secrets VALUES (?, ?, ?)", row)
            self._line, self._seal = line, recorded[1]
            return json.loads(recorded[0])

        return self._file._run(first, "write")

    def _secret(self, db: Connection) -> Any:
        sealed = "seal" if db.version > 1 else "NULL"
        query = f"SELECT state, {sealed} FROM secrets WHERE line = ?"
        row = db.execute(query, (self._line,)).fetchone()
        if row is None:
            return None
        if row[1] not in (None, chain.hidden(db, self._line, row[0])):
            raise Damaged("the secret of a stream was changed or damaged")
        return json.loads(row[0])

    def later(self) -> tuple[list[Turn], Any]:
        """Return the turns after the last seen turn, and the secret (None after the last turn)."""

        def look(db: Connection) -> tuple[list[Turn], Any, str]:
            which = "SELECT turn, time, question, answer, body, seal FROM turns WHERE line = ? "
            rows = db.execute(
                which + "AND turn > ? ORDER BY turn", (self._line, self._seen)
            ).fetchall()
            turns: list[Turn] = []
            before = self._seal
            self._last(db)
            for turn, when, question, answer, body, seal in rows:
                before = _sealed(before, turn, when, question, answer, body)
                if seal != before or turn != self._seen + len(turns) + 1:
                    raise Damaged("a turn of a stream was changed or damaged")
                turns.append(Turn(question, json.loads(answer), body))
            chain.check(db, "turns", f"{self._line} {self._seen + len(turns) + 1}", None)
            return turns, self._secret(db), before

        turns, secret, self._seal = self._file._run(look)
        self._seen += len(turns)
        return turns, secret

    def add(self, turn: Turn, secret: Any) -> str | None:
        """Write the next turn and return its seal for `passed`; None if another has written it."""

        def write(db: Connection) -> str | None:
            number = self._seen + 1
            if self._last(db) > self._seen:
                return None
            when, answer = now(), json.dumps(turn.answer)
            seal = _sealed(self._seal, number, when, turn.question, answer, turn.body)
            written = {"question": turn.question, "answer": answer, "body": turn.body, "seal": seal}
            chain.grow(db, "turns", line=self._line, turn=number, time=when, **written)
            if secret is None:
                db.execute("DELETE FROM secrets WHERE line = ?", (self._line,))
            else:
                state = json.dumps(secret)
                change = (state, chain.hidden(db, self._line, state), self._line)
                db.execute("UPDATE secrets SET state = ?, seal = ? WHERE line = ?", change)
            return seal

        return self._file._run(write, "write")

    def passed(self, seal: str) -> None:
        """Count an added turn as seen."""
        self._seen, self._seal = self._seen + 1, seal

    def damaged(self, why: str) -> NoReturn:
        self._file._damaged(why)

    def _last(self, db: Connection) -> int:
        """Return the number of the last turn; raise `Damaged` if a seen turn is missing."""
        query = "SELECT seal FROM turns WHERE line = ? AND turn = ?"
        if self._seen and db.execute(query, (self._line, self._seen)).fetchone() != (self._seal,):
            raise Damaged("turns of a stream are missing or were changed")
        most = "SELECT ifnull(max(turn), 0) FROM turns WHERE line = ?"
        return int(db.execute(most, (self._line,)).fetchone()[0])


def _sealed(before: str, turn: int, when: str, question: str, answer: str, body: bytes) -> str:
    return text.seal(before, str(turn), when, question, answer, hashlib.sha256(body).hexdigest())
