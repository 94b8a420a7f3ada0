"""Streams with a name: they go on where they ended, in the file of their budget, and tell nothing
that they must not."""

import contextlib
import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.ledger import file
from dpfast.budget.ledger.streams import Record
from dpfast.errors import ArgumentError, BudgetError, LedgerError, StreamError
from dpfast.online.noisy_comparison import NoisyComparison
from dpfast.online.queries import coded, decoded
from dpfast.privacy import Pure

from ..support.names import shown
from ..support.pairwise import quick_rows

HISTOGRAM = [130_000, 40_000, 20_000, 10_000]
LINEAR = {"epsilon": 1, "queries": 12, "accuracy": 0.15}
QUERIES = np.vstack([np.eye(4), [[0.25, 1, 0.5, 0]], np.eye(4)])


@pytest.fixture
def path(tmp_path):
    dp.Budget(epsilon=10, path=tmp_path / "study.db")
    return tmp_path / "study.db"


def change(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        return [db.execute(statement).fetchall() for statement in statements][-1]


def linear(kind, path, **others):
    return getattr(dp.online, kind)(
        HISTOGRAM, **{"budget": dp.Budget(path=path), "name": "n", **LINEAR, **others}
    )


def sparse(path, **others):
    given = {**KEPT["SparseVector"], **others}
    return dp.online.SparseVector(budget=dp.Budget(path=path), name="n", **given)


@quick_rows(1)
@pytest.mark.parametrize("kind", ["MedianMechanism", "PrivateMultiplicativeWeights"])
def test_a_stream_goes_on_after_its_last_answer(kind, path):
    one = linear(kind, path)
    answers = [one.answer(q, number=i) for i, q in enumerate(QUERIES)]
    assert any(a.hard for a in answers) and not all(a.hard for a in answers)
    two = linear(kind, path)
    assert two.past == tuple(answers)
    assert [a.hard for a in two.past] == [a.hard for a in answers]
    assert (two.left, two.remaining) == (one.left, one.remaining) == (3, one.hard - sum(
        a.hard for a in answers))  # fmt: skip
    assert two._comparison.rho == one._comparison.rho
    if kind == "MedianMechanism":
        assert np.array_equal(two._alive._counts, one._alive._counts)
    else:
        assert np.array_equal(two.distribution, one.distribution)
    assert [two.answer(q, number=i) for i, q in enumerate(QUERIES)] == answers
    assert two.left == 3 and len(dp.Budget(path=path).history) == 1
    with pytest.raises(ArgumentError, match="the number of the same query"):
        two.answer(QUERIES[1], number=0)
    with pytest.raises(ArgumentError, match="at most 9"):
        two.answer(QUERIES[1], number=10)
    for q in QUERIES[:3]:
        two.answer(q)
    with pytest.raises(StreamError, match="all its queries"):
        one.answer(QUERIES[0])  # which the other one has used up
    assert len(one.past) == 12 and one.answer(QUERIES[0], number=0) == answers[0]


def test_threads_share_a_record(path):
    streams = [sparse(path, positives=50) for _ in range(3)]

    def ask(stream):
        return [stream.answer(1000 * (i % 2), number=i) for i in range(6)]

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(ask, streams)
    assert all(found == first for found in others) and [*streams[0].past] == first


def test_a_sparse_vector_goes_on(path):
    one = sparse(path)
    found = [one.answer_many([1, 2, 900, 3], number=0), one.answer(4, number=1)]
    two = sparse(path)
    assert two._comparison.rho == one._comparison.rho and two.remaining == 1
    again = two.answer_many([7, 7, 7, 7], number=0)  # the record's, whatever the values are now
    assert again.above.tolist() == found[0].above.tolist() == [False, False, True, False]
    assert again.values.tolist() == found[0].values.tolist() and two.answer(4, number=1) == found[1]
    for threshold, number in ((None, 0), (600, 1)):
        with pytest.raises(ArgumentError, match="the number of the same query"):
            two.answer(4, threshold, number=number)
    assert two.answer(1000).remaining == 0
    for stream in (one, sparse(path)):
        with pytest.raises(StreamError, match="all its positives"):
            stream.answer(1)
    assert len(sparse(path).past) == 3


def test_a_sparse_vector_with_a_noise_for_each_positive_and_a_grid(tmp_path):
    path = tmp_path / "rho.db"
    budget = dp.Budget(rho=1, path=path)
    given = {"positives": 30, "threshold": 500, "rho": 1, "answers": True, "granularity": 0.5}
    one = dp.online.SparseVector(budget=budget, name="n", **given)
    assert one._comparison.scales.renewed
    found = one.answer_many([0.0, 900, 3, 900])
    noise = one._comparison.rho
    two = dp.online.SparseVector(budget=budget, name="n", **given)
    assert two._comparison.rho == noise and two.remaining == one.remaining == 28
    assert two.past[0].values.tolist() == found.values.tolist()
    # An answer on the wrong side of the threshold, 400 rows away: 3e-10 each.
    for ask, sees in ((two, one), (one, two)):  # a noise that another object has used up is gone
        before = sees._comparison.rho
        while ask.answer(900).above and ask._comparison.rho == before:
            pass
        assert (
            len(sees.past) == len(ask.past)
            and sees._comparison.rho == ask._comparison.rho != before
        )


def test_mwem_measures_once(path, monkeypatch):
    def made(**others):
        given = {"rounds": 3, "epsilon": 1, **others}
        return dp.online.MWEM(HISTOGRAM, np.eye(4), budget=dp.Budget(path=path), name="n", **given)

    one = made()
    with monkeypatch.context() as patch:
        patch.setattr("dpfast.online.mwem._Measurements.finish", None)
        two = made()
        mean = made(average=True)
    assert np.array_equal(one.distribution, two.distribution) and one.measured == two.measured
    assert not np.array_equal(mean.distribution, one.distribution)
    assert len(dp.Budget(path=path).history) == 1
    with pytest.raises(ArgumentError, match="equal arguments"):
        made(rounds=2)
    # Another process records between the look and the end of this one: its answer is the answer.
    with monkeypatch.context() as patch:
        patch.setattr(Record, "find", lambda self: None)
        three = made()
    assert np.array_equal(one.distribution, three.distribution)


MORE = {"histogram": [130_000, 40_000, 20_000, 10_001]}
#: What is another stream, of each kind.
OTHERS = {
    "MedianMechanism": [{"accuracy": 0.16}, {"failure": 0.06}, {"universe": [0, 1, 2, 3]}, MORE,
        {"universe": ["a", "b", "c", "d"]}, {"test": "closeness", "accuracy": 0.9},
        {"candidates": 500}, {"queries": 13}, {"size": 9}, {"epsilon": 2}],
    "SparseVector": [{"neighbors": "add-remove"}, {"monotone": True}, {"positives": 3},
        {"epsilon": 2}, {"sensitivity": 2}, {"granularity": 1.0}, {"answers": False},
        {"threshold": 501}],
    "RunningCount": [{"steps": 8}, {"sensitivity": 2}, {"fan_out": 2}, {"neighbors": "replace"},
        {"epsilon": 2}],
    "MWEM": [{"queries": np.eye(4)[::-1]}, {"replays": 2}, {"rounds": 4}, {"epsilon": 2},
        {"universe": [0, 1, 2, 3]}, MORE],
}  # fmt: skip
SPARSE = {"positives": 2, "threshold": 500, "epsilon": 1, "answers": True, "neighbors": "replace"}
KEPT = {
    "MedianMechanism": {"histogram": HISTOGRAM, **LINEAR},
    "SparseVector": SPARSE,
    "RunningCount": {"steps": 9, "epsilon": 1, "neighbors": "add-remove"},
    "MWEM": {"histogram": HISTOGRAM, "queries": np.eye(4), "rounds": 3, "epsilon": 1},
}


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "other"), [(kind, other) for kind in OTHERS for other in OTHERS[kind]], ids=shown
)
def test_a_stream_is_told_from_others_by_each_argument(path, kind, other):
    shared = {"name": "n", "budget": dp.Budget(path=path)}
    getattr(dp.online, kind)(**KEPT[kind], **shared)
    wrong = {another: KEPT[another] for another in KEPT.keys() - {kind}}
    for another, given in ({kind: {**KEPT[kind], **other}} | wrong).items():
        with pytest.raises(ArgumentError, match="name must be a new name"):
            getattr(dp.online, another)(**given, **shared)
    assert len(dp.Budget(path=path).history) == 1


def test_a_key_does_not_pay_for_another_stream(path):
    """Killed after the spend and before the record: only the same stream finds it paid for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "begin", None)
        with pytest.raises(TypeError):
            linear("MedianMechanism", path)
    linear("MedianMechanism", path, epsilon=2)
    assert dp.Budget(path=path).spent["epsilon"] == Pure(3).epsilon


def test_the_secret_is_in_no_export_and_ends_with_the_stream(path):
    stream = sparse(path)
    (secret,) = change(path, "SELECT state FROM secrets")
    assert json.loads(secret[0]) == stream._comparison.rho
    budget = dp.Budget(path=path)
    assert budget.history[0].answer is None and '"answer"' not in budget.export()
    stream.answer_many([1000, 0, 1000])
    assert change(path, "SELECT count(*) FROM secrets") == [(0,)]
    assert change(path, "SELECT count(*) FROM turns") == [(1,)]
    linear("MedianMechanism", path, queries=1, name="m").answer([1, 0, 0, 0])
    assert change(path, "SELECT count(*) FROM secrets") == [(0,)]


def test_the_secret_is_overwritten(path, monkeypatch):
    connect = sqlite3.connect

    def careless(*where, **how):  # as most builds of SQLite are, but not all
        db = connect(*where, **how)
        db.execute("PRAGMA secure_delete = OFF")
        return db

    monkeypatch.setattr(sqlite3, "connect", careless)
    # A secret of its own: one that is drawn may be short, and so stand elsewhere by chance.
    monkeypatch.setattr(NoisyComparison, "_fresh", lambda self, stream: -765_432_109_876)
    stream = sparse(path, sensitivity=2**30, threshold=10**12)
    secret = str(stream._comparison.rho).encode()
    assert secret == b"-765432109876" and secret in path.read_bytes()
    stream.answer_many([10**15] * 2)
    assert secret not in path.read_bytes()


def test_what_was_drawn_but_not_recorded_changes_nothing(path, monkeypatch):
    stream = linear("MedianMechanism", path)

    def state():
        return stream.left, stream.remaining, stream.alive, {**vars(stream._comparison)}

    before = state()
    with monkeypatch.context() as patch:
        patch.setattr(Record, "add", Mock(side_effect=LedgerError("the disk is full")))
        for _ in range(3):
            with pytest.raises(LedgerError):
                stream.answer([1, 0, 0, 0])
    assert state() == before
    assert stream.answer([1, 0, 0, 0], number=0).hard


def test_what_was_recorded_before_an_interrupt_has_happened(path, monkeypatch):
    """Nobody has seen the answer, but it is in the file, and used up what it used up."""
    add = Record.add

    def interrupted(self, turn, secret):
        add(self, turn, secret)
        raise KeyboardInterrupt

    for stream, question in (
        (sparse(path, positives=2), 10**9),
        (linear("MedianMechanism", path, name="m"), [1, 0, 0, 0]),
    ):
        before = stream.remaining
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Record, "add", interrupted)
            stream.answer(question)
        assert len(stream.past) == 1 and stream.remaining == before - 1
        stream.answer(question)
        assert len(stream.past) == 2
    with pytest.raises(StreamError, match="all its positives"):
        sparse(path, positives=2).answer(10**9)


LEARN = {
    "MedianMechanism": "dpfast.online.multisets.Multisets.keep",
    "PrivateMultiplicativeWeights": "dpfast.online.public_distribution.PublicDistribution.move",
}


def stops(*given):
    raise MemoryError


@pytest.mark.parametrize("kind", LEARN)
def test_a_stream_that_was_stopped_while_it_learned_is_opened_again(kind, path, monkeypatch):
    """Its state is half of what the record says: another answer would be a second one."""
    one, two = linear(kind, path), linear(kind, path)
    nameless = getattr(dp.online, kind)(HISTOGRAM, **LINEAR)
    with monkeypatch.context() as patch:
        patch.setattr(LEARN[kind], stops)
        for ask in (
            lambda: one.answer(QUERIES[0], number=0),
            lambda: two.past,
            lambda: nameless.answer(QUERIES[0]),
        ):
            with pytest.raises(MemoryError):
                ask()
    for stream in (one, two):
        for ask in (lambda s=stream: s.answer(QUERIES[0], number=0), lambda s=stream: s.past):
            with pytest.raises(StreamError, match=r"interrupted while it learned.*open it again"):
                ask()
    with pytest.raises(StreamError, match=r"interrupted while it learned.*open another stream"):
        nameless.answer(QUERIES[0])
    three = linear(kind, path)
    assert len(three.past) == 1 and three.answer(QUERIES[0], number=0) == three.past[0]
    assert three.left == 11 and three.remaining == three.hard - 1


def test_damage_is_noticed(path):
    stream = linear("MedianMechanism", path)
    stream.answer([1, 0, 0, 0])
    stream.answer([1, 0, 0, 0])
    with pytest.raises(sqlite3.DatabaseError, match="only grows"):
        change(path, "DELETE FROM turns")
    change(path, "DROP TRIGGER no_DELETE_turns", "DELETE FROM turns WHERE turn = 2")
    with pytest.raises(LedgerError, match="turns of a stream are missing"):
        stream.answer([1, 0, 0, 0])
    statement = "UPDATE turns SET answer = replace(answer, 'true', 'false')"
    change(path, "DROP TRIGGER no_UPDATE_turns", statement)
    with pytest.raises(LedgerError, match="changed or damaged"):
        linear("MedianMechanism", path)


@pytest.mark.parametrize("kind, more", [("MWEM", {}), ("MedianMechanism", {"candidates": 500})])
def test_a_start_that_was_changed_is_noticed(kind, more, path):
    given = {**KEPT[kind], **more, "name": "n", "budget": dp.Budget(path=path)}
    one, two = (getattr(dp.online, kind)(**given) for _ in range(2))
    assert kind == "MWEM" or np.array_equal(one._alive._counts, two._alive._counts)
    statement = "UPDATE streams SET start = replace(start, '1', '2') || ' '"
    change(path, "DROP TRIGGER no_UPDATE_streams", statement)
    with pytest.raises(LedgerError, match="its table streams was changed or damaged"):
        getattr(dp.online, kind)(**given)


def test_turns_that_were_exchanged_are_noticed(path, tmp_path, monkeypatch):
    """An old copy that is put back and gets as many turns again is not what was seen."""
    one = sparse(path, positives=9)
    one.answer(1)
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    one.answer(1000)
    shutil.copy(copy, path)
    with monkeypatch.context() as patch:
        patch.setattr(file, "_seen", {})  # as in another process
        sparse(path, positives=9).answer(1000)
        assert len(sparse(path, positives=9).past) == 2
    for ask in (
        lambda: one.answer(1000),
        lambda: one.answer(2, number=5),
        lambda: one.past,
        lambda: sparse(path, positives=9),
    ):
        with pytest.raises(LedgerError, match="was put back to an earlier state"):
            ask()


@quick_rows(1)
@pytest.mark.parametrize("turns", [0, 2])
def test_a_lost_secret_is_not_drawn_again(path, turns):
    """A second noise of the threshold has not been paid for. A stream that is over has none."""
    stream = linear("MedianMechanism", path)
    for _ in range(turns):
        stream.answer([1, 0, 0, 0])
    change(path, "DELETE FROM secrets")
    with pytest.raises(LedgerError, match="the secret of a stream is missing"):
        linear("MedianMechanism", path)
    for _ in range(12 - turns):  # which the object at work still has
        stream.answer([1, 0, 0, 0])
    assert len(linear("MedianMechanism", path).past) == 12


def test_a_name_needs_a_file(path):
    for match, kw in (
        ("name must be left out", {"name": "n", "budget": None}),
        ("name must be left out", {"name": "n", "budget": dp.Budget(epsilon=5)}),
        ("name must be a text that is not empty", {"name": "", "budget": dp.Budget(path=path)}),
    ):
        with pytest.raises(ArgumentError, match=match):
            dp.online.SparseVector(positives=1, epsilon=1, **kw)
    with pytest.raises(ArgumentError, match="number must be left out"):
        dp.online.SparseVector(positives=1, epsilon=1).answer(3, number=0)
    with pytest.raises(BudgetError):
        sparse(path, epsilon=20)
    assert not dp.Budget(path=path).history


def test_weights_are_kept_exactly():
    g = np.random.default_rng(0)
    for size in (1, 7, 8, 1000):
        for weights in (np.rint(g.random(size) * 2**24), g.integers(0, 2, size) * 2.0**24):
            body = coded(weights, 24)
            assert np.array_equal(decoded(body, 24, size), weights)
    assert len(coded(np.zeros(10_000), 24)) < 100
