"""Ledger entries in an SQLite file, which processes may share and a kill cannot damage.

Every operation opens the file, runs one transaction, and closes the file. A spend begins with the
write lock (BEGIN IMMEDIATE). So the state that it reads does not change until its entry is
committed and on the disk (synchronous=FULL). There are three reasons why no connection stays open:

* After a fork, the child's copy of a connection relies on locks that the child does not have. So
  `_ALONE` is held around a fork: no connection is open then.
* When the last connection closes, it copies the log (WAL) into the file and removes the log. So the
  file is the whole ledger whenever nobody uses it, and this copying (a checkpoint) cannot collide
  with a writer. Automatic checkpoints can, so they are turned off (SQLite before 3.51.3 may lose a
  commit to that race, https://sqlite.org/wal.html#walresetbug).
* The next spend detects a ledger that was moved, swapped or restored from a copy.

A spend waits for the disk five times: for the head of the log, for the log's name in its directory,
for the entry in the log, for the log once more before it is copied, and for the file. With a log
that stays open it would wait once, but the three problems above would return. A rollback journal
(DELETE, PERSIST) needs five waits too. Its only lock is on the file, and a process that opens and
closes the file loses this lock, so two spends could mix. The log has its lock in another file. With
`synchronous=NORMAL` there would be four waits, but an entry would be on the disk only after the
close.

A ledger under two names could be spent twice, because each name of a file has its own log. So the
ledger stores its directory and its inode (`identity`). At any other place it is refused, until
somebody declares that it was moved and that no other copy is spent from. The directory may have
several names, because the log is next to the file under each of them.

Entries are only added. The one row of `state` has their sums, and changes in the same transaction.
Each entry has a digest of itself and of the entry before it (`text.seal`), and all rows are one
chain (`chain.py`). Each transaction first makes three checks: this is the ledger that was opened,
its sums are the sums sealed with its last row, and all rows that this process has seen are still
there. Opening also checks the last entries and steps (`TAIL`). Damage in older entries is found by
`history`, `export` and `to_dict`, which read everything and check every page of the file. A damaged
row of a key, an answer or a stream is found when the row is read. Such damage does not change the
remaining budget, which depends on the sums.

If several threads wait to write, their writes become one transaction (`_written`). Each write is a
savepoint, so a refused write does not affect the others. No thread continues before its write is
committed. So a spend is on the disk before its rows are read.

An entry may have a key. The transaction first looks for an entry with this key. So if any number of
processes spend for one key, one of them pays, and all use its entry. The table of keys is made with
the first key.

In the file an entry is a row of the table `lines`.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast

from ..._core.types import Neighbors
from ..._kernels.rng import witnesses
from ...errors import DpfastError, LedgerBusyError, LedgerError, LedgerMissingError
from ...privacy import Loss
from . import chain, text
from .chain import VERSION, Connection, Damaged, LastRow, define, guards, pragma, sqlite3
from .entries import Amounts, Decide, Spend, State, began, now, process

T = TypeVar("T")
#: The purpose of a transaction. "make" also makes the ledger, and "move" writes to a ledger in
#: another directory.
Way = Literal["read", "write", "make", "move"]

#: What the file says it is (`PRAGMA application_id`): "dpfl".
APPLICATION = 0x6470666C
#: When a ledger is opened, this many of its last entries (and steps) are checked.
TAIL = 1000
#: How many seconds SQLite waits for a lock, and how many seconds pass before the next attempt.
PATIENCE, PAUSE = 0.25, 0.005

TABLES = """
CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1), created TEXT NOT NULL, process TEXT NOT NULL,
    name TEXT NOT NULL, loss TEXT NOT NULL, neighbors TEXT, seal TEXT NOT NULL,
    ids TEXT, max_rows INTEGER
);
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1), lines INTEGER NOT NULL, epsilon TEXT NOT NULL,
    delta TEXT NOT NULL, rho TEXT NOT NULL, neighbors TEXT, seal TEXT NOT NULL, ids TEXT
);
CREATE TABLE lines (
    line INTEGER PRIMARY KEY, time TEXT NOT NULL, process TEXT NOT NULL, what TEXT NOT NULL,
    note TEXT NOT NULL, loss TEXT NOT NULL, neighbors TEXT NOT NULL, epsilon TEXT NOT NULL,
    delta TEXT NOT NULL, rho TEXT NOT NULL, relation TEXT NOT NULL, seal TEXT NOT NULL, ids TEXT,
    record TEXT
);
CREATE TABLE answers (
    line INTEGER PRIMARY KEY, time TEXT NOT NULL, answer TEXT NOT NULL, seal TEXT NOT NULL
);
"""
#: The columns of an entry that its digest covers in every version of the format, in order.
LINE = "line, time, process, what, note, loss, neighbors, epsilon, delta, rho, relation"
KEYS = """
CREATE TABLE keys (
    key TEXT PRIMARY KEY, line INTEGER NOT NULL UNIQUE, seal TEXT NOT NULL
);
"""

#: A lock, held by the one thread that uses a ledger, and while the process forks.
_ALONE = threading.RLock()
#: The process that is using a ledger, if there is one. If a child process finds its parent here,
#: the fork was not made by Python. If the thread that holds the lock finds its own process here, it
#: runs a signal handler that has interrupted its use of a ledger.
_at_work: tuple[int, int] | None = None
#: The last row that this process has seen of each ledger, by path and digest of the header.
_seen: dict[tuple[str, str], LastRow] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_ALONE.acquire, after_in_parent=_ALONE.release, after_in_child=_ALONE.release
    )


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a ledger: its limit, when it was made, and the seal that identifies it."""

    limit: Loss
    neighbors: Neighbors | None
    name: str
    ids: str | None
    max_rows: int | None
    period: str | None = None
    created: str = ""
    seal: str = ""


#: Errors of Python about rows or a schema of the wrong kind.
UNREADABLE = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError)


#: The meanings of errors of SQLite, by their primary result codes.
MEANINGS = {
    sqlite3.SQLITE_NOTADB: "is not a ledger: it is not an SQLite file",
    sqlite3.SQLITE_READONLY: "cannot be written: the file, its directory or the disk is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened, or no file beside it can be made",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
}
#: The errors of SQLite after which a second attempt of the transaction may succeed.
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
NO_LEDGER_HOLDS = "it holds what no ledger of this form holds"
NO_LOCKS = "cannot be locked: its file system has no locks"


@dataclass(eq=False)
class _Write:
    """A transaction that a thread waits for, and its result."""

    job: Callable[[Connection], Any]
    by: tuple[int, int]
    value: Any = None
    error: DpfastError | None = None
    committed: bool = False

    def tried(self, db: Connection) -> None:
        """Run the job in a savepoint, and roll it back if the job is refused."""
        self.value, self.error = None, None
        db.execute("SAVEPOINT one")
        try:
            self.value = self.job(db)
        except DpfastError as error:
            self.error = error
            db.execute("ROLLBACK TO one")
        db.execute("RELEASE one")


class File:
    """Ledger entries in a file. If the file does not exist, it is made with the header."""

    def __init__(self, path: str, header: Header | None, timeout: float, way: Way = "read") -> None:
        self.path = os.path.realpath(path)  # SQLite names the log by the real path
        self._timeout = timeout
        self._first_seal: str | None = None
        self._waiting: deque[_Write] = deque()
        if header is not None:
            self._run(lambda db: self._make(db, header), "make")
        self.header, self.at_first = self._run(self._opened if way == "read" else self._move, way)
        self._first_seal = self.header.seal

    # --- the storage ----------------------------------------------------------------------------

    def state(self) -> State:
        return self._run(self._state)

    def append(self, decide: Decide, key: str | None = None) -> int:
        def add(db: Connection) -> int:
            if key is not None:
                if not chain.has(db, "keys"):
                    define(db, KEYS + guards("keys"))
                row = chain.row_of(db, "keys", key)
                if row is not None:
                    return row.line
            spend, after = decide(self._state(db))
            self._write(db, spend, after)
            if key is not None:
                chain.add(db, "keys", after.entries, key)
            return after.entries

        return self._written(add)

    def find(self, key: str) -> tuple[int, Any] | None:
        def look(db: Connection) -> tuple[int, Any] | None:
            row = chain.row_of(db, "keys", key)
            if row is None:
                return None
            answer = chain.row_of(db, "answers", row.line)
            return row.line, None if answer is None else json.loads(answer.parts[-1])

        return self._run(look)

    def history(self) -> tuple[Spend, ...]:
        return self._run(self._checked)

    def settle(self, number: int, answer: Any) -> tuple[bool, Any]:
        plain = json.dumps(answer, allow_nan=False)

        def add(db: Connection) -> tuple[bool, Any]:
            before = chain.row_of(db, "answers", number)
            if before is not None:
                return False, json.loads(before.parts[-1])
            chain.add(db, "answers", number, now(), plain)
            return True, json.loads(plain)

        return self._written(add)

    @property
    def last_row(self) -> LastRow | None:
        """The last row of the ledger that this process has seen."""
        return _seen.get((self.path, self.header.seal))

    def since(self, last_row: LastRow) -> None:
        """Refuse a ledger that lacks rows which another process has seen."""
        self._run(lambda db: self._not_put_back(db, last_row))

    # --- transactions ---------------------------------------------------------------------------

    def _written(self, job: Callable[[Connection], T]) -> T:
        """Run `job` in one transaction, together with the waiting writes of other threads.

        The first thread writes for all threads. A thread writes alone if no other thread has
        committed its write: after an error, or in a forked child, which has no other threads.
        """
        mine = _Write(job, self._witnesses())
        self._waiting.append(mine)
        with _ALONE:
            others = []
            while self._waiting and not mine.committed:
                with suppress(IndexError):
                    others.append(self._waiting.popleft())
            # Checked again: a signal handler may have committed it before it left the queue.
            if not mine.committed:
                writes = [mine, *(w for w in others if w is not mine and w.by == mine.by)]

                def every(db: Connection) -> None:
                    for write in writes:
                        write.tried(db)
                    if mine.error is not None and all(write.error for write in writes):
                        # No function has anything to write, so the file is left as it is.
                        raise mine.error

                self._run(every, "write")
                for write in writes:
                    write.committed = True
        if mine.error is not None:
            raise mine.error
        return cast(T, mine.value)

    def _run(self, job: Callable[[Connection], T], way: Way = "read") -> T:
        """Run `job` as one transaction; run it again if another transaction was faster."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                return self._attempt(job, way)
            except DpfastError:
                raise
            except (sqlite3.Error, Damaged, *UNREADABLE) as error:
                failed = error
            # Raised outside the `except` block, so that the error of SQLite, which may quote a row,
            # is not chained to it. Its traceback would also keep the connection open, and so the
            # log beside the file.
            failed = failed.with_traceback(None)
            if not isinstance(failed, sqlite3.Error):
                self._damaged(failed if isinstance(failed, Damaged) else NO_LEDGER_HOLDS)
            if _code(failed) not in BUSY:
                self._explain(failed)
            if self._lockless():
                self._fail(NO_LOCKS, "nothing can be spent")
            if time.monotonic() >= deadline:
                raise LedgerBusyError(
                    f"ledger {self.path} has been locked by another process for "
                    f"{self._timeout:g} seconds; nothing was recorded"
                )
            time.sleep(PAUSE)

    def _attempt(self, job: Callable[[Connection], T], way: Way) -> T:
        global _at_work
        here, write = self._witnesses(), way in ("write", "move")
        with _ALONE:
            if _at_work is not None:
                raise LedgerError(
                    f"ledger {self.path} cannot be used by a signal handler or finalizer while the "
                    "same thread is using a ledger; nothing was recorded"
                )
            self._look(way)
            _at_work = here
            try:
                with closing(self._connect()) as db:
                    blank = way == "make" and self._blank(db)
                    if blank and pragma(db, "journal_mode = WAL") != "wal":
                        raise LedgerError(
                            "a ledger needs a disk on which SQLite can keep a log (WAL)"
                        )
                    db.execute("BEGIN IMMEDIATE" if write or blank else "BEGIN")
                    files = self._files() if write else None
                    if blank:
                        done = job(db)
                    else:
                        head, last_row = self._same(db, way)
                        if write and db.version < VERSION:
                            self._renew(db, head)
                        done = job(db)
                        if write:
                            last_row = chain.close(db, last_row)
                    if witnesses() != here:
                        raise LedgerError(
                            f"ledger {self.path} was not written: the process was forked during "
                            "this call; fork before it or after it"
                        )
                    db.execute("COMMIT")
                    if write and files != self._files():
                        raise LedgerError(
                            f"ledger {self.path} or its log was moved or removed while an entry "
                            "was written; nothing may be released"
                        )
                    if not blank:
                        _seen[self.path, head.seal] = last_row
                    return done
            finally:
                _at_work = None

    def _witnesses(self) -> tuple[int, int]:
        """Return the identity of this process; refuse a fork in the middle of work on a ledger."""
        here = witnesses()
        if _at_work not in (None, here):
            raise LedgerError(
                f"ledger {self.path} cannot be used in this process: it was forked, not by Python, "
                "while a thread of its parent used a ledger"
            )
        return here

    def _same(self, db: Connection, way: Way) -> tuple[Header, LastRow]:
        """Check that this is the opened ledger, in its directory, with all rows seen here.

        Each transaction begins with this check. It returns the header and the last row.
        """
        head = self._head(db)
        if self._first_seal not in (None, head.seal):
            raise LedgerError(f"ledger {self.path} is not the file that was opened")
        if (
            way != "move"
            and self.identity != (chain.identities(db, head.seal) or [self.identity])[-1]
        ):
            raise LedgerError(
                f"ledger {self.path} was made in another directory, or is a copy: if you moved it, "
                f"and nobody spends from a copy, run dpfast budget move {self.path}"
            )
        last_row = chain.check_sums(db)
        seen = _seen.get((self.path, head.seal))
        if seen not in (None, last_row):
            self._not_put_back(db, seen)
        return head, last_row

    def _not_put_back(self, db: Connection, last_row: LastRow) -> None:
        if not chain.held(db, last_row):
            raise LedgerError(
                f"ledger {self.path} was put back to an earlier state: it lacks entries that this "
                "process has seen; restore the newer file"
            )

    def _renew(self, db: Connection, head: Header) -> None:
        """Check a ledger of an earlier version, and upgrade it to this version.

        If it has version 1, users who may read its files but not write them lose the right to read.
        """
        self._checked(db)
        if db.version == 1:
            self._narrow()
        version = db.version
        chain.renew(db, head.seal)
        if version < 4:
            chain.put(db, head.seal, now(), process(), self.identity)

    def _opened(self, db: Connection) -> tuple[Header, State]:
        """Check the last entries of a ledger, and return its header and state."""
        self._checked(db, TAIL)
        return self._head(db), self._state(db)

    def _move(self, db: Connection) -> tuple[Header, State]:
        """Check a ledger, record where its file is now, and return its header and state."""
        self._checked(db)
        head = self._head(db)
        if chain.identities(db, head.seal)[-1] != self.identity:
            chain.put(db, head.seal, now(), process(), self.identity)
        return head, self._state(db)

    def _connect(self) -> Connection:
        # mode=rw, because SQLite would make a file that everybody can read.
        where = f"{Path(self.path).as_uri()}?mode=rw"
        db = sqlite3.connect(where, PATIENCE, isolation_level=None, factory=Connection, uri=True)
        try:
            for setting in ("synchronous = FULL", "fullfsync = ON", "wal_autocheckpoint = 0",
                            "trusted_schema = OFF", "secure_delete = ON"):  # fmt: skip
                db.execute("PRAGMA " + setting)
        except BaseException:
            db.close()
            raise
        return db

    def _look(self, way: Way) -> None:
        """Check the name of the file before SQLite opens it; "make" makes the file."""
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            if way == "make":
                self._create()
                return
            is_new = self._first_seal is None
            why = "does not exist, and a new one needs a limit" if is_new else "no longer exists"
            raise LedgerMissingError(f"ledger {self.path} {why}") from None
        except OSError as error:
            raise LedgerError(f"ledger {self.path} cannot be inspected: {error.strerror}") from None
        if not os.path.isfile(self.path):
            raise LedgerError(f"ledger {self.path} is not a regular file")
        if status.st_nlink > 1:  # SQLite would use a separate log and separate locks for each name
            raise LedgerError(
                f"ledger {self.path} has {status.st_nlink} names (hard links), under each of which "
                "it could be spent; remove the other names"
            )
        if self._is_mounted():
            raise LedgerError(
                f"ledger {self.path} is a mount point, so it could also be spent under another "
                "name; mount its directory instead"
            )

    def _create(self) -> None:
        """Make an empty file that only its owner can use. SQLite gives its log the same rights."""
        folder = os.path.dirname(self.path)
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:  # another process has just made it
            pass
        except OSError as error:
            why = error.strerror if os.path.isdir(folder) else f"{folder} is not a directory"
            raise LedgerError(f"ledger {self.path} cannot be made: {why}") from None

    def _narrow(self) -> None:
        """Remove the right to read the files from users who cannot write, so cannot spend.

        Users who can write may share the ledger. If this process may not change permissions,
        nothing changes.
        """
        for name in (self.path, self.path + "-wal", self.path + "-shm"):
            with suppress(OSError):
                rights = stat.S_IMODE(os.stat(name).st_mode)
                kept = rights & ~sum(bits for bits in (0o070, 0o007) if not rights & bits & 0o222)
                if kept != rights:
                    os.chmod(name, kept)

    def _lockless(self) -> bool:
        """Return whether the file system has no locks; SQLite reports this as a busy file.

        The test uses another file, because closing the ledger here would drop this process's locks
        on it.
        """
        try:
            import fcntl
            import tempfile

            with tempfile.TemporaryFile(dir=os.path.dirname(self.path)) as probe:
                fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError as error:
            return error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
        return False

    @property
    def identity(self) -> str:
        """The identity of a file and of its directory: inodes, and the id of the file system.

        The device number is used only as a last resort, because a restart may change it.
        """
        folder = os.path.dirname(self.path)
        try:
            inodes = os.stat(folder).st_ino, os.stat(self.path).st_ino
            system = os.statvfs(folder).f_fsid if hasattr(os, "statvfs") else os.stat(folder).st_dev
        except OSError as error:
            raise LedgerError(f"ledger {self.path} cannot be inspected: {error.strerror}") from None
        return json.dumps([system, *inodes])

    def _is_mounted(self) -> bool:
        """Return whether the file is on another mount than its directory."""
        names = os.path.dirname(self.path), self.path
        try:
            mounts = {_mount(name) for name in names}
        except (AttributeError, OSError, LookupError, ValueError):
            # Not on Linux, or /proc is not mounted.
            mounts = {str(os.stat(name).st_dev) for name in names}
        return len(mounts) > 1

    def _files(self) -> list[tuple[int, int] | None]:
        """Return the device and the inode of the ledger's file and of its log; None without a file.

        Data that are written to a removed log are lost. The locks of SQLite prevent this. But a
        process loses its locks on a file when any part of the process closes the file.
        """
        identities: list[tuple[int, int] | None] = [None, None]
        for index, name in enumerate((self.path, self.path + "-wal")):
            with suppress(OSError):
                entry = os.stat(name)
                identities[index] = entry.st_dev, entry.st_ino
        return identities

    # --- rows -----------------------------------------------------------------------------------

    @staticmethod
    def _blank(db: Connection) -> bool:
        """Return whether nothing was ever written to this database."""
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return (pragma(db, "application_id"), db.version, tables) == (0, 0, 0)

    def _make(self, db: Connection, new: Header) -> None:
        if not self._blank(db):
            return
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        chain.renumber(db, VERSION)
        define(db, TABLES + chain.DIRECTORIES + guards("ledger", "lines", "answers", "places"))
        parts = (now(), process(), new.name, text.loss(new.limit, new.period), new.neighbors)
        first = text.seal("", *parts, *text.of_people(new.ids, new.max_rows))
        header = (*parts, first, new.ids, new.max_rows)
        db.execute("INSERT INTO ledger VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", header)
        sums = (*_exact(Amounts()), new.neighbors, first, new.ids)
        db.execute("INSERT INTO state VALUES (1, 0, ?, ?, ?, ?, ?, ?)", sums)
        chain.begin(db, first)
        chain.put(db, first, *parts[:2], self.identity)
        chain.close(db)
        self._narrow()

    def _head(self, db: Connection) -> Header:
        version = db.version
        if pragma(db, "application_id") != APPLICATION:
            if self._blank(db):
                raise LedgerMissingError(f"ledger {self.path} is empty: it needs a limit")
            raise LedgerError(f"ledger {self.path} is an SQLite file, but not a ledger")
        if version > VERSION:
            raise LedgerError(
                f"ledger {self.path} was made by a newer dpfast (format {version}, readable "
                f"up to {VERSION}): pip install --upgrade dpfast"
            )
        unit = chain.later(db, "ledger")
        whole = f"SELECT created, process, name, loss, neighbors, seal, {unit} FROM ledger"
        ((*parts, seal, ids, max_rows),) = db.execute(whole).fetchall()
        if version < 1 or text.seal("", *parts, *text.of_people(ids, max_rows)) != seal:
            raise Damaged("its header was changed or damaged")
        created, _, name, limited, neighbors = parts
        limit, period = text.limit(limited)
        return Header(limit, neighbors, name, ids, max_rows, period, created, seal)

    def _state(self, db: Connection) -> State:
        lines, *amounts, neighbors, ids, _ = chain.sums(db)
        row = db.execute("SELECT time FROM lines WHERE line = ?", (lines,)).fetchone()
        spent, time = Amounts(*map(text.number, amounts)), "" if row is None else row[0]
        return State(spent, neighbors, lines, ids, time)

    def _write(self, db: Connection, spend: Spend, after: State) -> None:
        """Write the entry of a spend to the ledger, and the sums after the spend."""
        parts = (
            spend.time, spend.process, spend.what, spend.note, text.loss(spend.loss),
            spend.neighbors, *_exact(spend.counted), after.neighbors,
        )  # fmt: skip
        before, number = self.header.seal, after.entries
        if number > 1:
            query = "SELECT seal FROM lines WHERE line = ?"
            (before,) = db.execute(query, (number - 1,)).fetchone()
        record = None if spend.record is None else text.record(spend.record)
        seal = text.seal(before, str(number), *parts, *text.of_entry(spend.ids, record))
        entry = dict(zip(LINE.split(", "), (number, *parts), strict=True))
        chain.grow(db, "lines", **entry, seal=seal, ids=spend.ids, record=record)
        db.execute(
            "UPDATE state SET lines = ?, epsilon = ?, delta = ?, rho = ?, neighbors = ?, ids = ?",
            (number, *_exact(after.spent), after.neighbors, after.ids),
        )

    def _checked(self, db: Connection, most: int | None = None) -> tuple[Spend, ...]:
        """Return all entries, and check pages, seals, sums and the limit.

        If there are more than `most` entries, return the last `most`, and check only the seals of
        these entries and of the last `most` writes.
        """
        state, head = self._state(db), self._head(db)
        skipped = 0 if most is None else max(0, state.entries - most)
        before = head.seal
        if skipped:
            query = "SELECT seal FROM lines WHERE line = ?"
            (before,) = db.execute(query, (skipped,)).fetchone()
        elif pragma(db, "integrity_check(1)") != "ok":
            raise Damaged("its pages are inconsistent")
        total, relation, is_over = Amounts(), head.neighbors, False
        since: date | None = None
        spends: list[Spend] = []
        tail = ("WHERE line > ?", skipped) if skipped else ("",)
        rows = chain.rows_of(db, "answers", *tail)
        answers = {row.line: json.loads(row.parts[-1]) for row in rows}
        every = (
            f"SELECT {LINE}, {chain.later(db, 'lines')}, seal FROM lines {tail[0]} ORDER BY line"
        )
        for number, *parts, ids, record, seal in db.execute(every, tail[1:]).fetchall():
            before = text.seal(before, str(number), *parts, *text.of_entry(ids, record))
            if seal != before or number != skipped + len(spends) + 1:
                raise Damaged(f"entry {skipped + len(spends) + 1} was changed or damaged")
            when, by, what, note, loss, neighbors, *amounts, relation = parts
            cost, counted = text.unpack(loss), Amounts(*map(text.number, amounts))
            if head.period is not None and since != (since := began(head.period, when)):
                total = Amounts()
            total += counted
            is_over |= not total.fits(Amounts.of(head.limit))
            facts = None if record is None else json.loads(record)
            spends.append(Spend(
                cost, neighbors, what, note, when, by, counted, answers.get(number), ids, facts
            ))  # fmt: skip
        chain.rows_of(db, "keys", *tail)
        chain.whole(db, head.seal, most)
        if skipped:
            return tuple(spends)
        ids = head.ids or (spends[0].ids if spends else None)
        if (total, relation, ids) != (state.spent, state.neighbors, state.ids):
            raise Damaged("its sums differ from the sums of its entries")
        if is_over:
            raise Damaged("more than its limit is spent")
        return tuple(spends)

    # --- errors ---------------------------------------------------------------------------------

    def _fail(self, why: str, then: str) -> NoReturn:
        raise LedgerError(f"ledger {self.path} {why}; {then}")

    def _damaged(self, why: object) -> NoReturn:
        self._fail(
            f"is damaged: {why}", "nothing can be spent, and what was spent must be counted by hand"
        )

    def _explain(self, error: sqlite3.Error) -> NoReturn:
        code = _code(error)
        if code == sqlite3.SQLITE_CANTOPEN and not os.access(self.path, os.W_OK):
            code = sqlite3.SQLITE_READONLY
        if code == sqlite3.SQLITE_IOERR:
            why = NO_LOCKS if self._lockless() else f"cannot be read or written ({error})"
        elif code in MEANINGS:
            why = MEANINGS[code]
        else:
            self._damaged("SQLite cannot read it")
        self._fail(why, "nothing can be spent")


def move(path: str) -> None:
    """Record a path as the new place of a ledger, of which no copy may be in use."""
    File(path, None, 30.0, way="move")


def _mount(name: str) -> str:
    """Return the number of the mount that a file is on.

    The file is opened only as a path, because closing a file drops the locks of this process on it.
    """
    handle = os.open(name, os.O_PATH)
    try:
        with open(f"/proc/self/fdinfo/{handle}", encoding="ascii") as lines:
            return dict(line.split(":", 1) for line in lines)["mnt_id"]
    finally:
        os.close(handle)


def _exact(amounts: Amounts) -> list[str]:
    return [text.exact(amount) for amount in (amounts.epsilon, amounts.delta, amounts.rho)]


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite, or 0 for an error of the Python module."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
