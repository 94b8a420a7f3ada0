"""Spends that come between: of signal handlers, forked children, threads and asyncio tasks."""

import asyncio
import gc
import itertools
import os
import sys
import tempfile
import threading
from fractions import Fraction

import pytest

import dpfast as dp
from dpfast.budget import budget as module
from dpfast.budget.ledger import file
from dpfast.budget.ledger.entries import Memory
from dpfast.errors import BudgetError, LedgerError
from dpfast.privacy import Pure

from ..support.crashes import MEMORY
from ..support.pairwise import quick_rows
from ..support.paths import program

AR = "add-remove"
OUTER, INNER = Pure(Fraction(1, 3)), Pure(Fraction(1, 7))
FOLDER = os.path.dirname(module.__file__)


def interrupted(work, handler, point, event):
    """Run `handler` once inside `work`, in the same thread, as a signal at that point would.

    Return False if `work` has not so many points.
    """
    left = point

    def trace(frame, kind, _):
        nonlocal left
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        frame.f_trace_opcodes = event == "opcode"
        if kind == event:
            left -= 1
            if left == -1:
                sys.settrace(None)
                handler()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return left < 0


def wrong(made, event, step=1):
    """What goes wrong first when a handler spends at each of so many points of another spend."""
    said, refusals = [], 0
    for point in itertools.count(0, step):
        budget, inner = made(point), []

        def spend(loss, budget=budget):
            budget.spend(loss, neighbors=AR)

        def handler(spend=spend, inner=inner, point=point):
            try:
                spend(INNER)
                inner.append(INNER.epsilon)
            except (BudgetError, LedgerError) as error:
                if "signal handler" not in str(error):
                    said.append(f"{point}: {error}")

        try:
            reached = interrupted(lambda: spend(OUTER), handler, point, event)
            spend(OUTER)
            expected = 2 * OUTER.epsilon + sum(inner)
            counted = [entry.counted.epsilon for entry in budget.history]
        except (BudgetError, LedgerError) as error:
            said.append(f"{point}: {error}")
            break
        if (budget.spent["epsilon"], sum(counted)) != (expected, expected):
            said.append(f"{point}: spent {budget.spent['epsilon']} of {expected}")
        if said or not reached:
            break
        refusals += not inner
    return said, refusals, point // step


def in_memory(_):
    return dp.Budget(epsilon=5, neighbors=AR)


class Torn(Memory):
    """Planted: the state that was decided from may be an old one by the time it is replaced."""

    def append(self, decide, key=None):
        spend, state = decide(self._last().state)
        self._steps[state.entries] = type(self._last())(state, spend)
        return state.entries


@quick_rows(1)
@pytest.mark.parametrize("step", [23, 1])
def test_a_signal_handler_may_spend_at_any_point_of_a_spend_in_memory(step, monkeypatch):
    said, refusals, most = wrong(in_memory, "opcode", step)
    assert said == [] and refusals == 0 and most > 500 / step
    monkeypatch.setattr(module, "Memory", Torn)
    assert wrong(in_memory, "opcode", 7)[0]


@pytest.fixture
def in_file():
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:

        def made(point):
            path = os.path.join(folder, f"{point}.db")
            return dp.Budget(epsilon=5, neighbors=AR, path=path, timeout=0.05)

        yield made


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("step", [29, 1])
def test_a_signal_handler_spends_from_a_file_or_is_refused_at_any_point(in_file, step):
    said, refusals, most = wrong(in_file, "line", step)
    assert said == [] and most > 200 / step and 0 < refusals < most


def test_a_handler_inside_a_transaction_is_caught(in_file, monkeypatch):
    attempt = file.File._attempt

    def blind(self, job, way):
        """Planted: there never seems to be somebody at work."""
        monkeypatch.setattr(file, "_at_work", None)
        return attempt(self, job, way)

    monkeypatch.setattr(file.File, "_attempt", blind)
    (said,) = wrong(in_file, "line", 29)[0]
    assert "locked by another process" in said or "put back" in said


def test_a_handler_cannot_pay_for_a_part_in_the_spend_of_another_part():
    budget, said = dp.Budget(epsilon=900, neighbors=AR), []
    with budget.parallel(["a", "b"], ["a", "b"]) as parts:

        def spend(part="a"):
            parts[part](dp.count, [1, 2], epsilon=1)

        def handler():
            try:
                spend()
            except BudgetError as error:
                said.append(str(error))

        spend("b")
        for point in range(0, 200, 9):
            interrupted(spend, handler, point, "line")
        paid = {group: part.spent["epsilon"] for group, part in parts.items()}
    assert said and all("signal handler" in one for one in said)
    assert budget.spent["epsilon"] == max(paid.values())


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="this system has no timers that signal")
def test_signals_while_threads_spend_from_a_file(tmp_path):
    """A real handler; whoever is refused has spent nothing."""
    done = program(
        """
        import signal, sys, threading, warnings, dpfast as dp
        warnings.simplefilter("ignore", dp.PrivacyAdvice)
        budget, done = dp.Budget(epsilon=1000, path=sys.argv[1], timeout=20), []
        def spend(*_):
            try:
                budget.spend(dp.privacy.Pure(1), neighbors="replace")
                done.append(1)
            except dp.errors.LedgerError as error:
                assert "signal handler" in str(error), error
        signal.signal(signal.SIGALRM, spend)
        other = threading.Thread(target=lambda: [spend() for _ in range(20)])
        other.start()
        signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
        for _ in range(60):
            spend()
        signal.setitimer(signal.ITIMER_REAL, 0)
        other.join()
        assert budget.spent["epsilon"] == len(done) == len(budget.history) >= 80, len(done)
        """,
        tmp_path / "study.db",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_reads_what_there_was_and_records_nothing():
    """Forks while another thread spends all the time: whatever it holds, nobody waits for it."""
    done = program(
        """
        import os, threading, warnings, dpfast as dp
        warnings.simplefilter("ignore")  # of threads that fork
        budget, stop = dp.Budget(epsilon=10**9, neighbors="replace"), threading.Event()
        spend = lambda: budget.spend(dp.privacy.Pure(1), neighbors="replace")
        spend()
        def busy():
            while not stop.is_set():
                spend()
                len(budget.history) < 100 or stop.wait(0.0001)
        thread = threading.Thread(target=busy, daemon=True)
        thread.start()
        def child():
            known = len(budget.history)
            assert known and budget.export() and budget.entry("k") is None
            assert budget.spent["epsilon"] == known, (budget.spent, known)
            for use in (lambda: budget.record(3), spend):
                try:
                    use()
                except dp.errors.BudgetError as error:
                    assert "this process is a fork" in str(error)
                else:
                    raise AssertionError
        for _ in range(30):
            pid = os.fork()
            if pid == 0:
                try:
                    child()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        thread.join()
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


def noted_by_tasks(budget):
    async def task(number):
        with budget.noted(f"task {number}"):
            await asyncio.sleep(0)
            budget.spend(Pure(1), neighbors=AR, what=str(number))
            await asyncio.sleep(0)
            budget.record(number)
            await asyncio.sleep(0)

    async def together():
        await asyncio.gather(*map(task, range(4)))

    asyncio.run(together())
    return {(entry.what, entry.note, entry.answer) for entry in budget.history}


@pytest.mark.parametrize("path", [None, "study.db"])
def test_notes_and_answers_are_those_of_their_task(tmp_path, path):
    own = {(str(number), f"task {number}", number) for number in range(4)}
    assert noted_by_tasks(dp.Budget(epsilon=9, path=path and tmp_path / path)) == own


def test_a_context_does_not_keep_budgets():
    """Also not a trace of each, for a server that makes one for each request."""
    budget = dp.Budget(epsilon=9)
    for _ in range(50):
        budget.spend(Pure(0.1), neighbors=AR)
        dp.Budget(epsilon=1).spend(Pure(1), neighbors=AR)
        gc.collect(0)
    budget.spend(Pure(0.1), neighbors=AR)
    alive = [ref for ref in module._HERE.get() if ref() is None or ref() is budget]
    assert len(alive) == 1


def test_notes_that_belong_to_a_thread_are_caught(monkeypatch):
    class Local(threading.local):
        """Planted: tasks of one thread have one of these."""

        here = None

        def get(self, default):
            return self.here or default

        def set(self, here):
            self.here = here

    monkeypatch.setattr(module, "_HERE", Local())
    with pytest.raises(dp.errors.ArgumentError, match="recorded once"):
        noted_by_tasks(dp.Budget(epsilon=9))
