"""Keys in a ledger: one spend, one answer, for whoever comes with the same key."""

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import SimpleNamespace

import pytest

import dpfast as dp
from dpfast.budget.ledger.file import File
from dpfast.errors import BudgetError, LedgerError
from dpfast.privacy import Pure

from ..support.ledger_damage import unguarded


@pytest.fixture(params=["memory", "file"])
def budget(request, tmp_path):
    return dp.Budget(epsilon=1, path=tmp_path / "study.db" if request.param == "file" else None)


def spend(budget, key, amount=0.25):
    with budget.once(key):
        budget.spend(Pure(amount), neighbors="replace", what="mean")


def test_a_key_is_paid_once_and_the_first_answer_is_the_answer(budget):
    assert budget.entry("k") is None
    spend(budget, "k")
    assert budget.entry("k") == (1, None)
    spend(budget, "k")
    spend(budget, "other")
    assert budget.spent["epsilon"] == Pure(0.5).epsilon and len(budget.history) == 2
    assert budget.entry("other") == (2, None)
    budget.spend(Pure(0.25), neighbors="replace")  # without one, as ever
    assert len(budget.history) == 3 and budget.entry("k") == (1, None)
    for given in ({"value": [1.5, 2]}, {"value": 9}):
        spend(budget, "k")
        assert budget.settle(given) == {"value": [1.5, 2]} == budget.history[0].answer
    assert budget.entry("k") == (1, {"value": [1.5, 2]})
    with pytest.raises(ValueError, match="recorded once"):
        budget.record(3)


def test_a_transaction_makes_few_statements(tmp_path, monkeypatch):
    """A spend for a key, and its answer, ask SQLite little, and once for the form of its tables."""
    budget, statements = dp.Budget(epsilon=1, path=tmp_path / "study.db"), []
    connect = File._connect

    def watched(file):
        db = connect(file)
        db.set_trace_callback(statements.append)
        return db

    for key in ("first", "second"):
        monkeypatch.setattr(File, "_connect", watched if key == "second" else connect)
        with budget.once(key):
            budget.spend(Pure(Fraction(1, 8)), neighbors="replace")
            budget.settle(1)
    assert len(statements) <= 66 and statements.count("PRAGMA user_version") == 2


def test_a_key_pays_for_one_spend_in_its_block_and_not_for_one_that_is_refused(budget):
    with pytest.raises(BudgetError, match="left epsilon=1"):
        spend(budget, "k", 2)
    assert budget.entry("k") is None and budget.last_entry is None
    with budget.once("k"):
        budget.spend(Pure(0.25), neighbors="replace")
        with pytest.raises(BudgetError, match="a key pays for one"):
            budget.spend(Pure(0.25), neighbors="replace")
    assert len(budget.history) == 1 and budget.entry("k") == (1, None)
    spend(budget, "k")
    assert budget.last_entry == 1


def test_what_several_spends_would_leave(budget):
    spend(budget, "k")
    lines = [SimpleNamespace(loss=Pure(0.25), neighbors="replace", what="x", ids=None)] * 3
    assert budget.left_after(lines)["epsilon"] == 0 and len(budget.history) == 1
    with pytest.raises(BudgetError, match=r"spent epsilon=1, delta=0; requested epsilon=0\.25"):
        budget.left_after(lines * 2)
    with pytest.raises(BudgetError, match="add-remove"):
        dp.Budget(epsilon=1, neighbors="add-remove").left_after(lines)


def test_of_many_who_come_at_once_one_pays(budget):
    gate = threading.Barrier(8)

    def come(i):
        own = dp.Budget(path=budget.path) if budget.path else budget
        gate.wait()
        spend(own, "k")
        return own.settle({"value": i})["value"]

    with ThreadPoolExecutor(8) as team:
        assert len(set(team.map(come, range(8)))) == 1
    assert len(budget.history) == 1


def test_a_key_that_is_moved_is_damage(tmp_path):
    path = tmp_path / "study.db"
    budget = dp.Budget(epsilon=1, path=path)
    spend(budget, "a")
    budget.spend(Pure(0.25), neighbors="replace")
    with unguarded(path) as db:
        db.execute("UPDATE keys SET line = 2")
    for use in (budget.entry, lambda key: spend(budget, key), lambda key: dp.Budget(path=path)):
        with pytest.raises(LedgerError, match="its table keys was changed or damaged"):
            use("a")
