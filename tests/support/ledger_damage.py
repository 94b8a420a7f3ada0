"""A ledger with a bit of everything, what can happen to its file, and what it says then. Damage is
refused with a `LedgerError`, or nothing that the ledger says is changed by it. Whatever else
happens is a violation: another answer, another secret, less that is spent, a foreign error."""

import contextlib
import json
import random
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import dpfast as dp
from dpfast.budget.ledger import file
from dpfast.errors import LedgerError
from dpfast.privacy import Pure

STREAM = {"positives": 3, "threshold": 500, "epsilon": 0.5, "answers": True,
          "neighbors": "add-remove"}  # fmt: skip
KEYS = ("first", "second", "third")


@contextlib.contextmanager
def as_process(seen):
    """Another process, as far as what it has seen of ledgers goes."""
    before, file._seen = file._seen, seen
    try:
        yield
    finally:
        file._seen = before


def spend(budget, key, note=""):
    with budget.once(key) if key else contextlib.nullcontext():
        record = {"statistic": "mean", "1": 9.5} if note else None
        budget.spend(
            Pure(0.01), neighbors="add-remove", what="mean", note=note, ids="who", record=record
        )


def made(folder):
    """The ledger, and beside it copies of its file, and of its log, from its earlier life."""
    path = folder / "study.db"
    budget = dp.Budget(epsilon=3, path=path, name="größe", ids="who", max_rows=2)
    spend(budget, None, "a remark")
    spend(budget, "first")
    budget.settle({"value": 3.5})
    alarms = dp.online.SparseVector(**STREAM, budget=budget, name="alarms")
    alarms.answer(3)
    dp.online.SparseVector(**STREAM | {"positives": 1}, budget=budget, name="over").answer(10**6)
    shutil.copy(path, folder / "early.db")
    with contextlib.closing(sqlite3.connect(path)) as db:  # so that the log stays
        db.execute("SELECT 1 FROM ledger").fetchone()
        spend(budget, "second")
        budget.settle([1, "text"])
        shutil.copy(f"{path}-wal", folder / "early.db-wal")
    spend(budget, "third")
    spend(budget, None)
    budget.record(9.5)
    alarms.answer(1100)
    alarms.answer(4)
    shutil.copy(path, whole(path))
    return path


def whole(path):
    """A copy of a ledger before it is damaged, at its place: elsewhere it would be refused."""
    return path.with_name("whole.db")


def told(path, budget=None):
    """All that a ledger says, to a budget that is opened now unless one is given."""
    budget = budget or dp.Budget(path=path)
    found = json.loads(budget.export())
    del found["path"]
    streams = []
    for name, change in (("alarms", {}), ("over", {"positives": 1})):
        stream = dp.online.SparseVector(**STREAM | change, budget=budget, name=name)
        past = [[a.above, a.value] for a in stream.past]
        streams.append([past, stream._comparison.rho if stream.remaining else None])
    return {**found, "keys": [budget.entry(key) for key in KEYS], "streams": streams}


def page_size(data):
    return int.from_bytes(data[16:18], "big")


def flips(data, chance):
    for _ in range(chance.choice([1, 1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def head_flips(data, chance):
    """In what says where everything is: the first page has the schema."""
    page = chance.choice([0, chance.randrange(len(data) // page_size(data))]) * page_size(data)
    data[page + chance.randrange(100)] ^= 1 << chance.randrange(8)


def garbage(data, chance):
    start = chance.randrange(len(data))
    length = min(chance.choice([4, 100, 5000]), len(data) - start)
    made = chance.choice([bytes(length), chance.randbytes(length)])
    data[start : start + length] = made


def cut(data, chance):
    size = page_size(data)
    del data[
        chance.choice([chance.randrange(len(data)), chance.randrange(len(data) // size) * size]) :
    ]


def pages(data, chance):
    """Two pages exchanged, or one where another was."""
    size = page_size(data)
    one, other = (chance.randrange(len(data) // size) * size for _ in range(2))
    kept = data[one : one + size]
    if chance.random() < 0.5:
        data[one : one + size] = data[other : other + size]
    data[other : other + size] = kept


BYTES = {f.__name__: f for f in (flips, head_flips, garbage, cut, pages)}


def old_pages(path, source, chance):
    """Some pages as they were before, and not all: that would be an old copy."""
    early, late = (source.with_name("early.db").read_bytes(), bytearray(source.read_bytes()))
    size = page_size(early)
    differ = [
        at for at in range(0, len(early), size) if early[at : at + size] != late[at : at + size]
    ]
    for at in chance.sample(differ, chance.randrange(1, len(differ))):
        late[at : at + size] = early[at : at + size]
    path.write_bytes(late)


def log(path, source, chance):
    """A log of other days beside the file, damaged or not."""
    shutil.copy(source, path)
    data = bytearray(source.with_name("early.db-wal").read_bytes())
    if chance.random() < 0.7:
        flips(data, chance)
    if chance.random() < 0.3:
        del data[chance.randrange(len(data)) :]
    Path(f"{path}-wal").write_bytes(data)


#: What a careless or a curious hand might do to a table, and to one of its columns.
WAYS = ("delete", "again", "dropped", "exchanged"), ("cell", "cell", "taken")
CELLS = ("{0} || '0'", "replace({0}, '1', '2')", "'9.5'", "''", "x'ff'", "9", "cast(x'ff' AS TEXT)")


@contextlib.contextmanager
def unguarded(path):
    """The tables of a ledger, with the guards taken away."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        guards = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in guards:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        db.commit()


def columns(path):
    """The names of the columns of each table."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for (table,) in tables}  # fmt: skip


def altered(path, table, how, chance):
    """Whether a table was altered: its own checks may refuse that, or nothing come of it."""
    way, column, cell = how
    names = columns(path)[table]
    with unguarded(path) as db:
        db.text_factory = bytes  # of what is no text, too
        before = Counter(db.execute(f"SELECT * FROM {table}").fetchall())
        ids = [row[0] for row in db.execute(f"SELECT rowid FROM {table}")]
        one, other = chance.choice(ids), chance.choice(ids)
        try:
            if way == "delete":
                db.execute(f"DELETE FROM {table} WHERE rowid = ?", (one,))
            elif way == "cell":
                change = cell.format(column)
                db.execute(f"UPDATE {table} SET {column} = {change} WHERE rowid = ?", (one,))
            elif way == "taken":
                value = f"(SELECT {column} FROM {table} WHERE rowid = ?)"
                db.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = ?", (one, other))
            elif way == "exchanged":
                for this, new in ((one, -1), (other, one), (-1, other)):
                    db.execute(f"UPDATE {table} SET rowid = ? WHERE rowid = ?", (new, this))
            elif way == "again":
                given = ", ".join(["max(rowid) + 1", *names[1:]])
                db.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {given} FROM {table}")
            else:
                db.execute(f"DROP TABLE {table}")
                return True
        except sqlite3.IntegrityError:
            return False
        return Counter(db.execute(f"SELECT * FROM {table}").fetchall()) != before


def rows(path, source, chance):
    """Any table, in any way."""
    shutil.copy(source, path)
    tables = columns(path)
    table = chance.choice(list(tables))
    way = chance.choice([*WAYS[0], *WAYS[1]])
    altered(path, table, (way, chance.choice(tables[table]), chance.choice(CELLS)), chance)


def every_table(source):
    """Each table and each of its columns, altered in every way: what is said of it then."""
    path, chance, source = source, random.Random(0), whole(source)
    with as_process({}):
        truth = told(path)
    for table, names in columns(source).items():
        cells = [("cell", name, cell) for name in names for cell in CELLS]
        for how in [*((way, "", "") for way in WAYS[0]), *cells]:
            shutil.copy(source, path)
            with as_process({}):
                budget = dp.Budget(path=path)
                if altered(path, table, how, chance):
                    said = refusal(lambda budget=budget: str(told(path, budget)))
                    yield f"{table}: {how}", {said, looked_at(path, truth)}


FILES = {f.__name__: f for f in (old_pages, log, rows)}


def damage(kind, path, source, chance):
    if kind in FILES:
        FILES[kind](path, source, chance)
        return
    data = bytearray(source.read_bytes())
    BYTES[kind](data, chance)
    path.write_bytes(data)


def refusal(look):
    """What a look at a damaged ledger says, or that it was refused."""
    try:
        return look()
    except LedgerError as error:
        alone = error.__context__ is None and "\n" not in str(error)
        return "refused" if alone else "an error of others comes along"
    except Exception as error:
        return f"a foreign error: {error!r}"


def looked_at(path, truth):
    """Refused, sound, or what is wrong with what a damaged ledger says."""

    def look():
        if told(path) != truth:
            return "it says something else"
        budget = dp.Budget(path=path)
        spend(budget, None)
        budget.record(1)
        again = dp.Budget(path=path)
        if len(again.history) != len(truth["lines"]) + 1 or again.history[-1].answer != 1:
            return "a spend was lost"
        return "sound"

    return refusal(look)


def battery(path, truth, count, seed, kinds):
    """So many times a damaged file; how many were refused, and what was wrong."""
    chance, refused = random.Random(seed), 0
    found = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        damage(kind, path, whole(path), chance)
        with as_process({}):
            said = looked_at(path, truth)
        refused += said == "refused"
        if said not in ("refused", "sound"):
            found.append(f"{kind} {number}: {said}")
        for each in path.parent.glob(f"{path.name}-*"):
            each.unlink()
    return {"violations": found, "refused": refused}


def rollbacks(folder, count, seed):
    """Processes that write and read, and old copies that are put back between, at random."""
    folder.mkdir()
    path, chance = folder / "study.db", random.Random(seed)
    dp.Budget(epsilon=1000, path=path)
    history = []  # what is in the file, as numbers of its writings
    copies = []
    seen = [{} for _ in range(4)]
    known = [[] for _ in seen]
    objects = []
    for memory in seen:
        with as_process(memory):
            objects.append(dp.Budget(path=path))
    found = []
    refused = keys = 0
    for number in range(count):
        what = chance.random()
        if what < 0.1:
            copy = folder / f"{number}.copy"
            shutil.copy(path, copy)
            copies.append((copy, list(history)))
        elif what < 0.2 and copies:
            copy, history = chance.choice(copies)
            history = list(history)
            shutil.copy(copy, path)
        else:
            who = chance.randrange(len(seen))
            right = history[: len(known[who])] == known[who]
            with as_process(seen[who]):
                budget = dp.Budget(path=path) if what < 0.25 and right else objects[who]
                try:
                    if what < 0.5:
                        spend(budget, None)
                        history.append(number)
                    elif what < 0.7:
                        keys += 1
                        spend(budget, str(keys))
                        history.append(number)
                        budget.settle(number)
                        history.append(-number)
                    else:
                        assert len(budget.history) <= len(history)
                    done = True
                except LedgerError:
                    done = False
            refused += not done
            if done:
                known[who] = list(history)
            if done is not right:
                found.append(f"{number}: {'went on' if done else 'was refused'}")
                break
    return {"violations": found, "refused": refused}
