"""Two parties in two processes: what passes between them, and what a hostile one gets."""

import json
import math
import multiprocessing
import threading
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, SourceError
from dpfast.rng import InsecureGenerator

from ..support import party
from ..support.memory import peak
from ..support.names import shown

ALPHA = dp.sulq.Attribute("smokes") & dp.sulq.Attribute("age", low=40)
BETA = dp.sulq.Attribute("ill")
N = 6000


class Recording:
    def __init__(self, connection):
        self.connection, self.messages = connection, []

    def send_bytes(self, message):
        self.messages.append(("sent", message))
        self.connection.send_bytes(message)

    def recv_bytes(self, maxlength=None):
        message = self.connection.recv_bytes(maxlength)
        self.messages.append(("received", message))
        return message


@contextmanager
def two_processes(seeds):
    context = multiprocessing.get_context("spawn")
    ends, processes = [], []
    for who, seed in zip("ab", seeds, strict=True):
        here, there = context.Pipe()
        kw = {"seed": seed, "questions": 1}
        process = context.Process(target=party.run, args=(who, there), kwargs=kw)
        process.start()
        there.close()
        ends.append(Recording(here)), processes.append(process)
    try:
        yield ends
    finally:
        for end in ends:
            end.connection.close()
        for process in processes:
            process.join(30)
            assert process.exitcode == 0


def local(who, seed):
    kw = {"rho": 0.5, "queries": 1, "neighbors": "replace", "rng": InsecureGenerator(seed)}
    return dp.sulq.NoisySums(party.table(who), **kw)


#: What a reply to a question about public facts looks like.
FACTS = {"rows": int, "neighbors": str, "remaining": int, "deviation": float, "loss": str}


def read_whole(messages, condition, deviations):
    """Row sets and answers of a transcript, of which every byte is accounted for."""
    sets, answers = [], []
    questions, replies = messages[::2], messages[1::2]
    assert len(questions) == len(replies)
    for (out, question), (back, reply) in zip(questions, replies, strict=True):
        assert (out, back) == ("sent", "received")
        head, newline, bits = question.partition(b"\n")
        asked, answer = json.loads(head), json.loads(reply)
        assert json.dumps(asked).encode() == head  # nothing hidden in blanks or repeated keys
        assert json.dumps(answer).encode() == reply and set(answer) == {"answer"}
        answer = answer["answer"]
        if asked == {"ask": "facts"}:
            assert not newline and {k: type(v) for k, v in answer.items()} == FACTS
            assert (answer["rows"], answer["neighbors"]) == (N, "replace")
            assert answer["loss"] == "ZCDP(rho=1/2)" or "0.5" in answer["loss"]
            assert answer["deviation"] == deviations.deviation
        elif asked["ask"] == "noise":
            assert set(asked) == {"ask", "sets"} and not newline
            assert answer == deviations.contrast_deviation(asked["sets"])
        else:
            assert set(asked) == {"ask", "f", "sets"} and asked["f"] == condition.written()
            own = None
            if asked["sets"] is not None:
                rows, number = asked["sets"]
                assert rows == N and len(bits) == number * N // 8
                own = dp.sulq.RowSets.from_bytes(bits, rows, number)
                assert own.to_bytes() == bits  # and no bits besides
            sets.append(None if own is None else own.to_bytes())
            answers.append(answer)
    return sets, answers


@pytest.mark.full
def test_nothing_but_public_sets_and_noisy_answers_passes_between_two_processes():
    """Every byte is read; sets are what was drawn before anything was known, and answers those of
    noisy sums with the same noise in one process."""

    def found_by(a, b):
        return dp.sulq.implication_strength(a, ALPHA, b, BETA, sets=400, rng=InsecureGenerator(13))

    with two_processes((11, 12)) as ends:
        found = found_by(*map(dp.sulq.RemoteSums, ends))
    assert found == found_by(local("a", 11), local("b", 12))
    drawn = dp.sulq.RowSets.random(N, 400, InsecureGenerator(13))
    for who, seed, condition, end in zip("ab", (11, 12), (ALPHA, BETA), ends, strict=True):
        sets, answers = read_whole(end.messages, condition, local(who, seed))
        assert sets == [drawn.to_bytes()]
        total, contrasts = local(who, seed).contrasts(condition, drawn)
        assert answers == [[total, *contrasts.tolist()]]
    columns = {n: np.asarray(column) for who in "ab" for n, column in party.table(who).items()}
    truth = columns["smokes"] & (columns["age"] >= 40)
    strength = columns["ill"][truth].mean() - columns["ill"].mean()
    assert abs(found.strength - strength) < 5 * found.error


BITS = b"\n" + dp.sulq.RowSets.random(N, 1, InsecureGenerator(1)).to_bytes()
ANSWER = b'{"answer": [1.0, 2.0]}'
LEAKS = {
    "key": ({"seed": 7}, BITS, ANSWER),
    "blank": ({}, b" " + BITS, ANSWER),
    "row": ({}, BITS + b"\x01", ANSWER),
    "bit": ({}, BITS, ANSWER.replace(b", ", b",")),
    "answer": ({}, BITS, b'{"answer": [1.0, 2.0], "exact": 3}'),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_transcript_with_anything_else_is_caught(leak):
    more, bits, reply = LEAKS[leak]
    asked = {"ask": "contrasts", "f": ALPHA.written(), "sets": [N, 1], **more}
    message = json.dumps(asked).encode() + bits
    with pytest.raises(AssertionError):
        read_whole([("sent", message), ("received", reply)], ALPHA, local("a", 1))


@contextmanager
def running(work):
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def served(sums, **kw):
    here, there = multiprocessing.Pipe()
    answered = []

    def work():
        try:
            answered.append(dp.sulq.serve(sums, there, **kw))
        except OSError as error:
            answered.append(error)
        there.close()

    with running(work):
        try:
            yield here, answered
        finally:
            here.close()


SETS = dp.sulq.RowSets.random(8, 1, InsecureGenerator(1)).to_bytes()
DEEP = '{"not":' * 100_000
HOSTILE = [
    b"", b"\n", b"\x80\x04N.", b"[1]", b"null", b"{", b"{}", DEEP.encode(),
    b'{"ask": "rows"}', b'{"ask": ["sum"]}', b'{"ask": "noise", "sets": -1}',
    b'{"ask": "noise", "sets": 1e9}', b'{"ask": "noise", "sets": true}',
    b'{"ask": "sum", "f": "value", "sets": null}',
    b'{"ask": "sum", "f": {"f": "row"}, "sets": null}',
    b'{"ask": "sum", "f": {"column": "other"}, "sets": null}',
    b'{"ask": "sum", "f": {"column": "x", "low": NaN}, "sets": null}',
    b'{"ask": "sum", "f": {"column": "x"}, "sets": [8, 2]}\n' + SETS + SETS,
    b'{"ask": "sum", "f": {"column": "x"}, "sets": [9, 1]}\n' + SETS + SETS,
    b'{"ask": "sum", "f": {"column": "x"}, "sets": [8, 1]}\n' + SETS + b"\x00",
    b'{"ask": "sum", "f": {"column": "x"}, "sets": [-8, 1]}\n' + SETS,
    b'{"ask": "sum", "f": {"column": "x"}, "sets": [true, 1]}\n' + SETS,
    b'{"ask": "contrasts", "f": {"column": "x"}, "sets": [8, ' + b"9" * 5000 + b"]}\n" + SETS,
    b'{"ask": "contrasts", "f": {"column": "x"}, "sets": [8, 1000000]}\n' + SETS,
    b'{"ask": "contrasts", "f": {"column": "x"}, "sets": null}',
    b'{"ask": "contrasts", "f": ' + b'{"not": ' * 200 + b"{}" + b"}" * 200 + b', "sets": [8, 1]}\n',
]  # fmt: skip


def test_hostile_messages_are_refused_and_use_up_nothing():
    sums = dp.sulq.NoisySums({"x": np.full(8, 3.25)}, rho=0.5, queries=1, neighbors="replace")
    with served(sums) as (connection, answered):
        for message in HOSTILE:
            connection.send_bytes(message)
            reply = json.loads(connection.recv_bytes())
            assert set(reply) == {"error"} and "3.25" not in str(reply), message[:80]
        assert sums.remaining == 1
        assert isinstance(dp.sulq.RemoteSums(connection).sum(dp.sulq.Attribute("x")), float)
    assert answered == [len(HOSTILE) + 2] and sums.remaining == 0


@pytest.mark.parametrize("kind", ["array", "source"])
def test_sets_do_not_tell_how_many_rows_there_are_where_that_is_secret(kind, tmp_path):
    """Neither do the words of a refusal, nor whether there is one."""
    heard = set()
    for n in (8, 9, 10):
        data = {"x": np.ones(n)}
        if kind == "source":
            path = tmp_path / f"{n}.csv"
            path.write_text("x\n" + "1\n" * n)
            data = dp.scan(path, column=["x"])
        sums = dp.sulq.NoisySums(data, rho=0.5, queries=1)
        with served(sums) as (connection, _):
            other = dp.sulq.RemoteSums(connection)
            for rows in (1, 8, 9, 10, 11):
                for ask in (other.sum, other.contrasts):
                    own = np.ones(rows, bool)
                    with pytest.raises(ArgumentError, match="replace") as error:
                        ask(dp.sulq.Attribute("x"), own if ask == other.sum else own[None])
                    heard.add(str(error.value))
            assert other.remaining == 1
            assert isinstance(other.sum(dp.sulq.Attribute("x")), float)
    assert len(heard) == 1


@pytest.mark.parametrize("form", ["words", "rows", "sets"])
def test_a_large_question_takes_no_more_memory_than_it_has_bytes_for(form):
    words = b"[" + b"{}," * (1 << 20) + b"{}]" if form == "words" else b""
    sets = [1, 1 << 21] if form == "sets" else [9, 1 << 20]
    question = {"ask": "contrasts", "f": {"column": "x"}, "sets": sets}
    message = words or json.dumps(question).encode() + b"\n" + b"\x01" * (1 << 21)
    sums = dp.sulq.NoisySums({"x": np.zeros(1)}, rho=0.5, queries=1, neighbors="replace")
    most, reply = peak(lambda: dp.sulq.remote_sums._reply(sums, message))
    assert most < 2 * len(message)
    assert set(json.loads(reply)) == {"error"} and sums.remaining == 1


def test_only_errors_about_the_question_are_told(monkeypatch, tmp_path):
    path, x = tmp_path / "secret.csv", dp.sulq.Attribute("x")

    def refused(data, error, words, ask=x, before=lambda: None):
        kw = {"neighbors": "replace"} if path.exists() else {}
        sums = dp.sulq.NoisySums(data, rho=0.5, queries=1, **kw)
        with served(sums) as (connection, _):
            other = dp.sulq.RemoteSums(connection)
            assert other.rows is None or data is not file
            before()
            with pytest.raises(error, match=words) as caught:
                other.sum(ask)
        assert "secret" not in str(caught.value) and "Jones" not in str(caught.value)
        return sums

    path.write_text("x\n1\n2\n")
    file = dp.scan(path, column=["x"])
    refused(file, SourceError, "could not answer", before=path.unlink)
    path.write_text("x\n1\nMrs Jones\n")
    file = dp.scan(path, column=["x"])
    assert refused(file, DataError, "not refunded").remaining == 0
    refused([math.nan], DataError, "is not refunded", dp.sulq.Attribute())
    monkeypatch.setattr(dp.sulq.NoisySums, "sum", lambda *_: 1 / 0)
    refused([1.0], SourceError, "could not answer", dp.sulq.Attribute())


def test_a_question_may_be_too_large():
    sums = dp.sulq.NoisySums(np.zeros(9), rho=0.5, queries=1, neighbors="replace")
    with served(sums, largest=100) as (connection, answered):
        other = dp.sulq.RemoteSums(connection)
        with pytest.raises(SourceError, match="does not answer"):
            other.contrasts(dp.sulq.Attribute(), np.zeros((100, 9), bool))
    assert isinstance(answered[0], OSError) and sums.remaining == 1


GOOD = {"rows": 2, "neighbors": "replace", "remaining": 1, "deviation": 1.0, "loss": ""}


class Liar:
    def __init__(self, reply, facts=True):
        self.reply, self.facts = reply, facts

    def send_bytes(self, message):
        is_good = self.facts and message == b'{"ask": "facts"}'
        self.next = json.dumps({"answer": GOOD}).encode() if is_good else self.reply

    def recv_bytes(self, maxlength=None):
        return self.next


@pytest.mark.parametrize("reply", [
    b"", b"\x80\x04N.", b'{"answer": [1]}', b'{"answer": [NaN]}', b'{"answer": [1.0, 2.0]}',
    b'{"answer": ["1"]}', b'{"answer": {}}', b'{"answer": [1e300]}', b'{"error": "x"}', b"7",
    b'{"error": ["KeyboardInterrupt", "x"]}',
], ids=shown)  # fmt: skip
def test_a_party_that_lies_about_the_form_is_not_believed(reply):
    other = dp.sulq.RemoteSums(Liar(reply))
    for ask in (
        lambda: other.sum(dp.sulq.Attribute()),
        lambda: other.contrasts(dp.sulq.Attribute(), [[True, False]] * 2),
        lambda: dp.sulq.RemoteSums(Liar(reply, facts=False)),
    ):
        with pytest.raises(SourceError, match="not an answer"):
            ask()


@pytest.mark.parametrize(("name", "value"), [
    ("rows", -1), ("rows", True), ("remaining", -1), ("remaining", True), ("deviation", 1e200),
], ids=shown)  # fmt: skip
def test_facts_that_cannot_be_are_not_believed(name, value):
    with pytest.raises(SourceError, match="not an answer"):
        dp.sulq.RemoteSums(Liar(json.dumps({"answer": GOOD | {name: value}}).encode(), facts=False))


def test_no_more_is_read_than_an_answer_has_nor_of_a_party_that_is_gone():
    here, there = multiprocessing.Pipe()

    def flood():
        with suppress(OSError):  # whoever should read it hangs up
            there.send_bytes(b" " * (8 << 20))
        there.close()

    with running(flood):
        for _ in range(2):
            with pytest.raises(SourceError, match="does not answer"):
                dp.sulq.RemoteSums(here)
            here.close()
            here, gone = multiprocessing.Pipe()
            gone.close()
    here.close()


def test_errors_come_back_as_what_they_are():
    assert all(
        issubclass(kind, dp.errors.DpfastError) for kind in dp.sulq.remote_sums.NAMES.values()
    )
    sums = dp.sulq.NoisySums({"x": np.zeros(8)}, rho=0.5, queries=1, neighbors="replace")
    with served(sums) as (connection, _):
        other = dp.sulq.RemoteSums(connection)
        assert repr(other) == f"RemoteSums({sums.loss!r})"
        for asked, kind, words in (
            ((dp.sulq.Attribute("y"),), ArgumentError, "column"),
            ((dp.sulq.Attribute(0),), ArgumentError, "column"),
            (("count",), ArgumentTypeError, "made of"),
            ((lambda row: 1,), ArgumentTypeError, "made of"),
            ((dp.sulq.Attribute("x"), [0, 1]), ArgumentTypeError, "booleans"),
        ):
            with pytest.raises(kind, match=words):
                other.sum(*asked)
        other.sum(dp.sulq.Attribute("x"), np.ones(8, bool))
        with pytest.raises(BudgetError, match="all 1 rounds"):
            other.sum(dp.sulq.Attribute("x"))
    with pytest.raises(ArgumentTypeError, match="NoisySums"):
        dp.sulq.serve(np.zeros(3), None)
    with pytest.raises(ArgumentError, match="largest"):
        dp.sulq.serve(sums, None, largest=0)
