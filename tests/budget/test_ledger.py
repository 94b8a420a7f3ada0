"""The ledger in a file: what it holds, who may spend from it, and what it refuses to be."""

import contextlib
import copy
import csv
import errno
import functools
import io
import json
import os
import pickle
import re
import shutil
import sqlite3
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import get_args
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast.budget.ledger import file, text
from dpfast.errors import (
    ArgumentError,
    ArgumentTypeError,
    BudgetError,
    LedgerBusyError,
    LedgerError,
)
from dpfast.privacy import ZCDP, Approx, Draws, Loss, Pure

from ..support.ledger_damage import as_process, unguarded
from ..support.pairwise import quick_rows
from ..support.paths import program

REP, AR = "replace", "add-remove"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def sql(path, *statements):
    with unguarded(path) as db:
        return [row for statement in statements for row in db.execute(statement).fetchall()]


def test_all_that_was_asked_comes_back(path):
    name, note = "größe\n\u0000 \U0001f4a5 'quoted'", "erste Ansicht \U0001f4a5"
    budget, memory = dp.Budget(rho=5, path=path, name=name), dp.Budget(rho=5)
    third = Draws(Fraction(1, 3), draws=2, bounded_range=True)
    asked = [Pure(0.1), third, ZCDP(5e-324), Pure(Decimal("1e-9000"))]
    with budget.noted(note), contextlib.suppress(KeyError):
        for loss in asked:
            budget.spend(loss, neighbors=REP, what="мера")
            memory.spend(loss, neighbors=REP, what="мера", note=note)
        with budget.noted("inner"):
            budget.spend(Pure(0.1), neighbors=REP)
            raise KeyError
    memory.spend(Pure(0.1), neighbors=REP, note="inner")
    budget.spend(Pure(0.1), neighbors=REP)  # notes end, and without one there is none
    memory.spend(Pure(0.1), neighbors=REP)
    for each in (budget, memory):
        each.spend(Pure(1), neighbors=AR, note="own")
    again = dp.Budget(path=path)
    assert again.history == memory.history and again.spent == memory.spent
    assert [type(line.loss) for line in again.history] == [Pure, Draws, ZCDP, *[Pure] * 4]
    assert (again.name, again.neighbors, again.limit) == (budget.name, REP, {"rho": 5})
    assert sum((line.counted.rho for line in again.history), Fraction(0)) == again.spent["rho"]
    for line in again.history:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line.time)
        assert line.process.startswith(f"{os.getpid()}@") and line.answer is None
    assert os.listdir(path.parent) == ["study.db"]


@given(st.fractions(), st.integers(0, 60_000))
def test_amounts_as_text(amount, shift):
    for each in (amount, amount / (1 << shift)):
        assert text.number(text.exact(each)) == each


def kinds_of_loss(kind):
    yield kind.__name__  # classes with slots are made twice
    for further in kind.__subclasses__():
        yield from kinds_of_loss(further)


def test_every_kind_of_loss_can_be_a_line():
    """A new kind that the file cannot name would be spent and never read again."""
    every = {name for each in get_args(Loss) for name in kinds_of_loss(each)}
    assert {name: kind.__name__ for name, kind in text.LOSSES.items()} == {n: n for n in every}
    amounts = [Pure(0.1), Approx(0.1, 1e-6), ZCDP(0.1), Draws(1, 3, True)]
    assert {type(one).__name__ for one in amounts} == every
    for one in amounts:
        again = text.unpack(text.loss(one))
        assert again == one and type(again) is type(one)


def test_answers_only_when_told_to(path):
    for budget in (dp.Budget(epsilon=9, neighbors=REP, path=at) for at in (path, None)):
        with pytest.raises(ArgumentError, match="recorded after a spend"):
            budget.record(3.5)
        unseen = dp.additive_release(0.0, sensitivity=1, epsilon=1, neighbors=REP, budget=budget)
        answer = dp.median([1, 2, 3], bounds=(0, 10), epsilon=1, budget=budget)
        budget.record(answer)
        with pytest.raises(ArgumentError, match="recorded once: entry 2"):
            budget.record(answer)
        assert [line.answer for line in budget.history] == [None, answer]
        data = json.loads(budget.export())
        assert "answer" not in data["lines"][0] and data["lines"][1]["answer"] == answer
        budget.spend(Pure(1), neighbors=REP)
        budget.record({"a": np.array([1.5, 2.0]), "b": (np.int64(3), "x")})
        assert budget.history[2].answer == {"a": [1.5, 2.0], "b": [3, "x"]}
        budget.spend(Pure(1), neighbors=REP)
        around = []
        around.append(around)
        for bad in (float("nan"), None, object(), {1: 2}, 10**5000, -(10**5000), [around]):
            with pytest.raises((ArgumentError, ArgumentTypeError), match="answer must be"):
                budget.record(bad)
        with pytest.raises(BudgetError):  # after which there is no line to speak of
            budget.spend(Pure(100), neighbors=REP)
        with pytest.raises(ArgumentError, match="recorded after a spend"):
            budget.record(1)
        budget.spend(Pure(1), neighbors=REP)
        budget.record(-(10**3000))
        assert budget.history[4].answer == -(10**3000)
        assert repr(unseen)[:9].encode() not in path.read_bytes()


class Hostile(dict):
    def __iter__(self):
        raise RuntimeError("a row")

    keys = items = __iter__


def test_a_record_of_a_release_is_kept(path):
    facts = {"statistic": "größe", "parameters": {"bounds": [0, 1.5], "nan": None}}
    for budget in (dp.Budget(epsilon=9, path=at) for at in (path, None)):
        given = json.loads(json.dumps(facts))
        for record in (given, None, MappingProxyType({"statistic": "mean"})):
            budget.spend(Pure(1), neighbors=REP, ids="who", record=record)
        given["parameters"]["nan"] = 1  # a copy was kept
        assert [line.record for line in budget.history] == [facts, None, {"statistic": "mean"}]
        lines = json.loads(budget.export())["lines"]
        assert lines[0]["record"] == facts and "record" not in lines[1]
        for bad in ({"a": float("nan")}, {"a": {1}}, "a", 3, Hostile()):
            with pytest.raises((ArgumentError, ArgumentTypeError), match="record must be"):
                budget.spend(Pure(1), neighbors=REP, ids="who", record=bad)
        assert budget.spent["epsilon"] == 3
    sql(path, "UPDATE lines SET record = NULL WHERE line = 1")
    with pytest.raises(LedgerError, match="entry 1 was changed or damaged"):
        dp.Budget(path=path)


def test_the_history_is_a_table(path):
    record = {
        "parameters": {"bounds": [0.0, 1.5], "nan": "drop", "weights": None},
        "data": {"columns": ["age", "fare"], "where": "age > 3", "version": "June"},
        "noise": {"kind": "=1+1", "scale": 1 / 3},
        "error": {"confidence": 0.95, "half_width": 0.25, "ranks": None, "note": "of noise"},
    }
    for budget in (dp.Budget(epsilon=9, delta=1e-6, path=at) for at in (path, None)):
        assert budget.history.to_pandas().shape == (0, 18)
        budget.spend(Approx(2, 1e-7), neighbors=AR, what="mean", note="a <b>", record=record)
        unknown = {"error": {**record["error"], "half_width": None, "note": "of rows"}}
        budget.spend(Pure(Fraction(1, 3)), neighbors=AR, what="count", record=unknown)
        table = budget.history.to_dict()
        assert table["parameters"] == ["bounds=(0, 1.5), nan=drop", ""]
        assert table["columns"] == ["age, fare", ""] and table["version"] == ["June", ""]
        assert table["error"] == ["± 0.25 (95 %)", "not known: of rows"]
        assert table["ids"] == ["", ""] and table["loss"][0] == "epsilon=2, delta=1e-07"
        assert table["loss"][1] == "epsilon=0.3333333333333333 (exactly 1/3), delta=0"
        frame = budget.history.to_pandas()
        assert frame["counted epsilon"].sum() == float(budget.spent["epsilon"])
        again = list(csv.DictReader(io.StringIO(budget.history.to_csv())))
        assert [line["noise"] for line in again] == table["noise"]
        shown = budget._repr_html_()
        for words in ("a &lt;b&gt;", "bounds=(0, 1.5), nan=drop", "± 0.25 (95 %)", "age &gt; 3"):
            assert words in shown
        assert "process" not in shown and "<th>ids" not in shown
        budget.spend(Pure(1), neighbors=AR, what="=1+1", note="-2 \u202e3")
        *_, last = csv.DictReader(io.StringIO(budget.history.to_csv()))
        assert (last["what"], last["note"]) == ("'=1+1", "'-2 \u202e3")  # which no spreadsheet runs
        assert "\u202e" not in budget._repr_html_() and "-2 \\u202e3" in budget.history.to_html()
    rho = dp.Budget(rho=1)
    rho.spend(ZCDP(0.25), neighbors=AR, ids="who")
    assert rho.history.to_dict()["counted rho"] == [0.25]


DAMAGE = {
    "UPDATE lines SET note = 'x' WHERE line = {}": "entry 6 was changed or damaged",
    "UPDATE lines SET record = NULL WHERE line = {}": "entry 6 was changed or damaged",
    "UPDATE steps SET seal = 'x' WHERE what = 'lines {}'": "its steps were changed",
    "DELETE FROM answers WHERE line = {}": "its steps were changed",
    "UPDATE answers SET answer = '9.5' WHERE line = {}": "its table answers",
    "UPDATE keys SET key = 'x' WHERE line = {}": "its table keys",
}


def test_the_tail_is_checked_when_it_is_opened_and_all_where_all_is_read(path, monkeypatch):
    monkeypatch.setattr(file, "TAIL", 5)
    budget = dp.Budget(epsilon=9, path=path)
    for number in range(6):
        with budget.once(f"key {number}"):
            budget.spend(Pure(1), neighbors=REP, record={"a": 1})
        budget.record(number)
    whole = path.read_bytes()
    for damage, tail in DAMAGE.items():
        path.write_bytes(whole)
        sql(path, damage.format(1))
        early = dp.Budget(path=path)
        assert early.spent["epsilon"] == 6
        with pytest.raises(LedgerError, match="is damaged"):
            early.export()
        path.write_bytes(whole)
        sql(path, damage.format(6))
        with pytest.raises(LedgerError, match=f"is damaged: ({tail})"):
            dp.Budget(path=path)


def test_two_who_think_of_different_relations(path):
    first, second = dp.Budget(epsilon=1, path=path), dp.Budget(path=path, neighbors=REP)
    assert second.neighbors == REP
    first.spend(Pure(0.1), neighbors=AR)
    with pytest.raises(BudgetError, match="but this budget is for neighbors='replace'"):
        second.spend(Pure(0.1), neighbors=REP)
    assert len(first.history) == 1
    with pytest.raises(ArgumentError, match="neighbors must be left out, or as in"):
        dp.Budget(path=path, neighbors=REP)


@pytest.mark.parametrize("words, said", [
    ({"epsilon": 2}, r"left out, or as in .*study.db: Approx\(epsilon=1, delta=1e-06\)"),
    ({"epsilon": 1}, "limit must be left out, or as in"),
    ({"rho": 1}, "limit must be left out, or as in"),
    ({"epsilon": 1, "delta": 2e-6}, "limit must be left out, or as in"),
    ({"delta": 1e-6}, "epsilon must be given"),
    ({"epsilon": -1}, "epsilon must be"),
    ({"neighbors": AR}, "neighbors must be left out, or as in .*: 'replace'"),
    ({"neighbors": "friends"}, "neighbors must be one of"),
    ({"name": "other"}, "name must be left out, or as in .*: 'study'"),
    ({"timeout": 0}, "timeout must be"),
    ({"name": "\ud800"}, "name must be text that UTF-8 can encode"),
], ids=str)  # fmt: skip
def test_an_existing_file_has_the_last_word(study, words, said):
    before = study.read_bytes()
    with pytest.raises(ArgumentError, match=said):
        dp.Budget(**words, path=study)
    assert study.read_bytes() == before
    dp.Budget(epsilon=1.0, delta=Decimal("1e-6"), path=study, neighbors=REP, name="study")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.db"
    dp.Budget(epsilon=1, delta=1e-6, path=path, neighbors=REP, name="study")
    return path


def test_paths_that_are_none():
    for bad in ("", ":memory:", "a\0b", 3, type):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="path must be"):
            dp.Budget(epsilon=1, path=bad)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_names_of_files(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    for name in ("a?mode=ro#x%41.db", "ü \U0001f4a5.db", "file:x.db", "-.db"):
        monkeypatch.chdir(tmp_path)
        budget = dp.Budget(epsilon=1, path=name)
        monkeypatch.chdir(tmp_path / "elsewhere")
        budget.spend(Pure(0.5), neighbors=REP)
        assert dp.Budget(path=tmp_path / name).spent["epsilon"] == Fraction(1, 2)
        (tmp_path / name).unlink()
        assert os.listdir(tmp_path) == ["elsewhere"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_symbolic_link_is_the_file_that_it_points_to(path):
    link = path.with_name("link.db")
    link.symlink_to(path.with_name("real.db"))
    one, other = dp.Budget(epsilon=1, path=link), dp.Budget(path=path.with_name("real.db"))
    for budget in (one, other):
        budget.spend(Pure(0.5), neighbors=REP)
    link.unlink()
    link.symlink_to(path)  # to nowhere
    assert one.remaining == other.remaining == {"epsilon": 0, "delta": 0}
    assert one.path == other.path == str(path.with_name("real.db"))


def test_pickles_and_copies_are_the_same_ledger(path):
    budget = dp.Budget(epsilon=1, path=path, neighbors=REP)
    packed = pickle.dumps(budget)
    others = [pickle.loads(packed), copy.copy(budget), copy.deepcopy(budget)]
    for each in others:
        each.spend(Pure(0.25), neighbors=REP)
    assert budget.remaining["epsilon"] == Fraction(1, 4) == others[0].remaining["epsilon"]


def test_lines_and_keys_can_only_be_added(path):
    keyed(dp.Budget(epsilon=1, path=path))
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement in (
            *("DELETE FROM lines", "UPDATE lines SET note = ''", "DELETE FROM ledger"),
            *("UPDATE keys SET line = 2", "DELETE FROM keys"),
        ):
            with pytest.raises(sqlite3.IntegrityError, match="only grows"):
                db.execute(statement)


@pytest.mark.parametrize("make, said", [
    (lambda p: p.write_bytes(b"a,b\n1,2\n" * 999), "is not a ledger: it is not an SQLite file"),
    (lambda p: p.write_bytes(b""), "is empty: it needs a limit"),
    (lambda p: p.mkdir(), "is not a regular file"),
    (lambda p: sql(p, "CREATE TABLE t (a)"), "is an SQLite file, but not a ledger"),
    (lambda p: sql(p, "PRAGMA user_version = 3"), "is an SQLite file, but not a ledger"),
    (lambda p: None, "does not exist, and a new one needs a limit"),
])  # fmt: skip
def test_what_is_no_ledger(path, make, said):
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError, match=said):
        dp.Budget(path=path)
    assert (path.read_bytes() if path.is_file() else None) == before
    fits = "needs a limit" in said
    with contextlib.nullcontext() if fits else pytest.raises(LedgerError, match=said):
        dp.Budget(epsilon=1, path=path).spend(Pure(1), neighbors=REP)


def test_a_ledger_with_two_names(path):
    budget = dp.Budget(epsilon=1, path=path)
    os.link(path, path.with_name("copy.db"))
    with pytest.raises(LedgerError, match="has 2 names"):
        budget.spend(Pure(1), neighbors=REP)
    path.with_name("copy.db").unlink()
    budget.spend(Pure(1), neighbors=REP)


def test_a_ledger_that_went_away_or_is_made_anew(path):
    budget = dp.Budget(epsilon=1, path=path)
    packed = pickle.dumps(budget)
    path.unlink()
    for use, said in (
        (lambda: budget.spend(Pure(0.1), neighbors=REP), "no longer exists"),
        (lambda: pickle.loads(packed), "does not exist"),
    ):
        with pytest.raises(LedgerError, match=said):
            use()
    assert not path.exists() and "cannot be read" in repr(budget)
    dp.Budget(epsilon=1, path=path)
    with pytest.raises(LedgerError, match="is not the file that was pickled"):
        pickle.loads(packed)


def grown(path, tmp_path):
    """A budget that has seen four lines, on a ledger that went back to one and grew to six."""
    budget = dp.Budget(epsilon=2, path=path)
    budget.spend(Pure(0.1), neighbors=REP)
    early = tmp_path / "early.db"
    shutil.copy(path, early)
    for _ in range(3):
        budget.spend(Pure(0.25), neighbors=REP)
    shutil.copy(early, path)
    with as_process({}):
        other = dp.Budget(path=path)
        for _ in range(5):
            other.spend(Pure(0.01), neighbors=REP)
        assert other.spent["epsilon"] == Pure(0.15).epsilon and other.record(9.5) is None
    return budget


def answered(path, tmp_path):
    """A budget whose recorded answer went back, and another one came. No line is missing; but two
    answers to one spend would be two releases."""
    budget, early = dp.Budget(epsilon=1, path=path), tmp_path / "early.db"
    keyed(budget)
    shutil.copy(path, early)
    assert budget.settle(3.5) == 3.5
    shutil.copy(early, path)
    with as_process({}):
        other = dp.Budget(path=path)
        keyed(other)
        assert other.settle(9.5) == 9.5
    return budget


def another(path, tmp_path):
    budget = dp.Budget(epsilon=1, path=path)
    budget.spend(Pure(0.1), neighbors=REP)
    dp.Budget(epsilon=1, path=tmp_path / "other.db").spend(Pure(0.2), neighbors=REP)
    os.replace(tmp_path / "other.db", path)
    return budget


USES = {
    "spend": lambda b: b.spend(Pure(0.1), neighbors=REP),
    "record": lambda b: b.record(3.5),
    "history": lambda b: b.history,
    "spent": lambda b: b.spent,
    "a key": lambda b: b.entry("k"),
    "a spend with a key": lambda b: keyed(b),
    "settle": lambda b: b.settle(3.5),
    "a stream": lambda b: dp.online.AboveThreshold(threshold=5, epsilon=0.1, budget=b, name="n"),
    "a pickle": lambda b: pickle.loads(pickle.dumps(b)),
    "another object": lambda b: dp.Budget(path=b.path),
}
BACK = "was put back to an earlier state"
SAID = {grown: BACK, answered: BACK, another: "is not the file that was"}


def keyed(budget):
    with budget.once("k"):
        budget.spend(Pure(0.1), neighbors=REP)


@quick_rows(7)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("change", SAID)
def test_an_old_or_another_ledger_under_the_same_name_is_never_used(path, tmp_path, use, change):
    if (use, change) == ("another object", another):
        pytest.skip("which is that of the other ledger")
    budget = change(path, tmp_path)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=SAID[change]):
        USES[use](budget)
    assert path.read_bytes() == before
    assert dp.Budget(epsilon=1, path=tmp_path / "new.db").remaining["epsilon"] == 1


def kept(path):
    budget, given = dp.Budget(epsilon=1, path=path), {"positives": 3, "threshold": 500}
    keyed(budget)
    budget.settle(3.5)
    sparse = functools.partial(dp.online.SparseVector, **given, epsilon=0.5, name="n")
    sparse(budget=budget).answer(3)

    def ask(budget):
        answer, past = budget.entry("k"), sparse(budget=budget).past
        budget.spend(Pure(0.01), neighbors=REP)
        assert budget.history[0].answer == answer[1] and len(past) == 1

    return budget, ask


@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX")
def test_only_its_owner_ever_reads_it(path, monkeypatch):
    """At each statement, of the making of a ledger, too, with no help of the caller's umask."""
    found, connect = [], file.File._connect

    def look(*_):
        found.extend((p.name, stat.S_IMODE(p.stat().st_mode)) for p in path.parent.iterdir())

    class Watched:
        def __init__(self, db):
            self.db = db

        def __getattr__(self, name):
            return getattr(self.db, name)

        def execute(self, *statement):
            look()
            done = self.db.execute(*statement)
            look()
            return done

        def close(self):
            look()
            self.db.close()

    monkeypatch.setattr(file.File, "_connect", lambda self: Watched(connect(self)))
    monkeypatch.setattr(os, "chmod", None)  # nothing is made first and closed then
    before = os.umask(0)
    try:
        budget, ask = kept(path)
        ask(budget)
    finally:
        os.umask(before)
    assert {name for name, _ in found} == {
        "study.db", "study.db-journal", "study.db-wal", "study.db-shm"
    }  # fmt: skip
    assert {mode for _, mode in found} == {0o600}


@quick_rows(1)
@pytest.mark.parametrize("number", [None, errno.ENOLCK, errno.EACCES])
def test_a_locked_ledger_is_busy_and_a_file_system_without_locks_is_not(path, monkeypatch, number):
    budget = dp.Budget(epsilon=1, path=path, timeout=0.05)
    if number is not None:
        fcntl = pytest.importorskip("fcntl")

        def lockf(*given):
            raise OSError(number, "no")

        monkeypatch.setattr(fcntl, "lockf", lockf)
    lockless = number == errno.ENOLCK
    said = "its file system has no locks" if lockless else r"locked by another process for 0\.05 s"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=said) as caught:
            budget.spend(Pure(1), neighbors=REP)
        assert budget.spent["epsilon"] == 0  # who reads need not wait
        db.execute("ROLLBACK")
    assert isinstance(caught.value, LedgerBusyError) is not lockless
    budget.spend(Pure(1), neighbors=REP)


@quick_rows(2)
@pytest.mark.parametrize("new", [b"se\xffl", b"seel", b"se l", b"se\0l", b"se(l"])
def test_names_in_a_damaged_schema(path, new):
    """Python says UnicodeDecodeError where a name is no text."""
    budget, ask = kept(path)
    data = path.read_bytes()
    assert b"seal TEXT" in data
    path.write_bytes(data.replace(b"seal TEXT", new + b" TEXT"))
    for use in (lambda: dp.Budget(path=path), lambda: ask(budget), lambda: budget.history):
        with as_process({}), pytest.raises(LedgerError, match="is damaged") as caught:
            use()
        assert caught.value.__context__ is None


def after_a_write(monkeypatch, then):
    make = file.File._write
    monkeypatch.setattr(file.File, "_write", lambda *given: (make(*given), then())[1])


@pytest.mark.skipif(sys.platform == "win32", reason="files in use cannot be moved there")
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_file_that_is_moved_while_it_is_written(path, monkeypatch, suffix):
    budget = dp.Budget(epsilon=1, path=path)
    after_a_write(monkeypatch, lambda: os.rename(f"{path}{suffix}", path.with_name("moved")))
    with pytest.raises(LedgerError, match="was moved or removed while an entry was written"):
        dp.median([1], bounds=(0, 1), epsilon=1, budget=budget)


def test_an_interrupt_leaves_nothing_behind(path, monkeypatch):
    budget = dp.Budget(epsilon=1, path=path)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        after_a_write(patch, Mock(side_effect=KeyboardInterrupt))
        budget.spend(Pure(1), neighbors=REP)
    assert not dp.Budget(path=path).history and os.listdir(path.parent) == ["study.db"]
    budget.spend(Pure(1), neighbors=REP)


def test_how_sqlite_is_told_to_write(path):
    told = {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "wal_autocheckpoint": 0}
    with contextlib.closing(dp.Budget(epsilon=1, path=path)._file._connect()) as db:
        assert {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in told} == told


def test_what_is_spent_is_on_the_disk_before_data_are_touched_and_a_refused_ledger_stops_it(path):
    spent = []

    def look(block):
        spent.append(dp.Budget(path=path).spent["epsilon"])
        return 0.5

    def ask():
        dp.sample_and_aggregate(
            np.arange(9.0), look, blocks=3, bounds=(0, 1), epsilon=0.5, budget=budget
        )

    budget = dp.Budget(epsilon=1, path=path)
    ask()
    before = len(spent)
    assert {*spent} == {Fraction(1, 2)}
    path.write_bytes(b"x" * 10_000)
    with pytest.raises(LedgerError):
        ask()
    assert len(spent) == before


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
def test_a_full_disk(path):
    runs(
        """
        import resource, sys, dpfast as dp
        from dpfast.errors import LedgerError
        budget = dp.Budget(epsilon=10, path=sys.argv[1])
        loss = dp.privacy.Pure(0.01)
        budget.spend(loss, neighbors="replace")
        kept, refused = 1, 0
        for room in range(0, 40_000, 1_500):
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            for _ in range(2):
                try:
                    budget.spend(loss, neighbors="replace", note="n" * 300)
                    kept += 1
                except LedgerError as error:
                    assert "cannot be" in str(error) and "nothing can be spent" in str(error), error
                    refused += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert kept > 5 and refused > 5, (kept, refused)
        budget.spend(loss, neighbors="replace")
        found = len(dp.Budget(path=sys.argv[1]).history)
        # A commit that failed late may be found again: never less than was released.
        assert kept + 1 <= found <= kept + 1 + refused, (kept, refused, found)
        """,
        path,
    )


def runs(code, *arguments):
    done = program(code, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.full
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else"
)
def test_read_only_for_somebody_else():
    said = runs(
        """
        import os, sys, tempfile, dpfast as dp, dpfast.budget.ledger.file
        for folder_mode, mode in (0o777, 0o444), (0o755, 0o666), (0o700, 0o666):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "study.db")
                dp.Budget(epsilon=1, path=path).spend(dp.privacy.Pure(0.1), neighbors="replace")
                os.chmod(folder, folder_mode)
                os.chmod(path, mode)
                os.seteuid(65534)
                for limit in (None, 1):
                    try:
                        budget = dp.Budget(epsilon=limit, path=path)
                        budget.spend(dp.privacy.Pure(0.1), neighbors="replace")
                    except dp.errors.LedgerError as error:
                        print(str(error).replace(folder, ""))
                os.seteuid(0)
                assert len(dp.Budget(path=path).history) == 1
        """
    ).splitlines()
    assert len(said) == 6
    assert all("Permission denied" in each for each in said[4:]), said
    assert all(re.search("read-only|beside it", each) for each in said[:4]), said


@pytest.mark.parametrize("kept", [True, False])
def test_threads_never_overspend(path, kept):
    budget = dp.Budget(epsilon=1, path=path if kept else None)

    def work(_):
        each, done = (budget, dp.Budget(path=path) if kept else budget), 0
        with contextlib.suppress(BudgetError):
            while True:
                each[done % 2].spend(Pure(Fraction(1, 30)), neighbors=REP)
                done += 1
        return done

    with ThreadPoolExecutor(4) as team:
        assert sum(team.map(work, range(4))) == 30 == len(budget.history)
    assert budget.remaining["epsilon"] == 0


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_children_spend_from_the_same_ledger(path):
    runs(
        """
        import os, sys, threading, warnings, dpfast as dp
        budget = dp.Budget(epsilon=1, path=sys.argv[1])
        spend = lambda: budget.spend(dp.privacy.Pure(0.01), neighbors="replace")
        stop = threading.Event()
        def busy():  # a thread that is at work on the ledger whenever a fork comes
            while not stop.is_set():
                budget.spent
        thread = threading.Thread(target=busy)
        thread.start()
        children = []
        warnings.simplefilter("ignore")  # of threads that fork
        for _ in range(10):
            spend()
            child = os.fork()
            if child == 0:
                for _ in range(3):
                    spend()
                os._exit(0)
            children.append(child)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        stop.set()
        thread.join()
        assert len(budget.history) == 40 and budget.spent["epsilon"] * 100 == 40
        """,
        path,
    )


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="forks past Python through the C library")
def test_a_fork_behind_pythons_back(path):
    """Python's hooks are not called, so the child has its parent's locks and connections."""
    runs(
        """
        import ctypes, os, sys, dpfast as dp
        from dpfast.budget.ledger import file
        budget = dp.Budget(epsilon=1, path=sys.argv[1])
        fork = ctypes.PyDLL(None).fork
        def spend():
            try:
                budget.spend(dp.privacy.Pure(0.1), neighbors="replace")
                return 0
            except dp.errors.LedgerError as error:
                assert "forked, not by Python, while" in str(error), error
                return 5
        def forked():
            child = fork()
            if child == 0:
                os._exit(spend())
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert forked() == 0
        make = file.File._write
        def write(*arguments):
            codes.append(forked())
            make(*arguments)
        codes = []
        file.File._write = write
        assert spend() == 0 and codes == [5]
        assert len(budget.history) == 2
        """,
        path,
    )


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed on Linux")
def test_damage_leaves_no_connection_behind(path, tmp_path):
    """It would keep the log, into which an old copy that is put back would be merged unseen."""
    budget = dp.Budget(epsilon=1, path=path)
    for _ in range(3):
        budget.record(dp.count([1, 2], epsilon=0.1, budget=budget))
    shutil.copy(path, tmp_path / "copy")
    sql(path, "UPDATE answers SET answer = '9.5' WHERE line = 1")
    with pytest.raises(LedgerError, match="is damaged"):
        _ = budget.history
    places = map("/proc/self/fd/{}".format, os.listdir("/proc/self/fd"))
    opened = [os.readlink(place) for place in places if os.path.exists(place)]
    assert not [name for name in opened if name.startswith(str(path))]
    assert sorted(one.name for one in path.parent.glob("*.db*")) == [path.name]
    budget.spend(Pure(0.1), neighbors="add-remove")
    shutil.copy(tmp_path / "copy", path)
    with pytest.raises(LedgerError, match="put back"):
        budget.spend(Pure(0.1), neighbors="add-remove")


def test_threads_that_wait_share_a_transaction_and_no_refusal(path, monkeypatch):
    """Ten spends wait for a lock: one commit serves all, but for those that are too much."""
    budget = dp.Budget(epsilon=1, path=path)
    ways, refused, run = [], [], file.File._run
    monkeypatch.setattr(
        file.File, "_run", lambda self, job, way="read": ways.append(way) or run(self, job, way)
    )

    def spend(amount):
        try:
            budget.spend(Pure(amount), neighbors="replace", what=str(amount))
            budget.record(float(amount))
        except BudgetError as error:
            refused.append(str(error))

    amounts = [Fraction(1, 8)] * 8 + [2, 3]
    threads = [threading.Thread(target=spend, args=(one,)) for one in amounts]
    with file._ALONE:
        for thread in threads:
            thread.start()
        while len(budget._file._waiting) < len(threads):
            time.sleep(0.001)
        assert ways == []
    for thread in threads:
        thread.join()
    assert 2 <= ways.count("write") <= 1 + 8  # one for the spends, and those of the answers
    assert len(refused) == 2 and all("asked" in text or "left" in text for text in refused)
    assert [entry.answer for entry in dp.Budget(path=path).history] == [0.125] * 8
    assert budget.spent["epsilon"] == 1


def test_a_child_does_not_write_what_threads_of_its_parent_wait_to_write(path):
    budget = dp.Budget(epsilon=1, path=path)
    left = file._Write(lambda db: 1 / 0, (-1, -1))  # as if of another process
    budget._file._waiting.append(left)
    budget.spend(Pure(0.5), neighbors="replace")
    assert not left.committed and len(budget.history) == 1
