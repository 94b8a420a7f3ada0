"""The unit of a budget: rows, or the people of one id, and what rows then cost a person."""

import contextlib
import itertools
import json
import math
import os
import pickle
import random
from fractions import Fraction
from types import SimpleNamespace

import pytest

import dpfast as dp
from dpfast.budget.budget import Budget
from dpfast.budget.ledger import Unit
from dpfast.budget.release import release
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, LedgerError
from dpfast.privacy import ZCDP, Approx, Draws, Pure, convert

from ..support.ledger_damage import unguarded
from ..support.pairwise import quick_rows
from ..support.paths import program

REP, AR = "replace", "add-remove"
ROWS_FOR_PEOPLE = (
    r"budget for the people of 'tailnum' refused a loss of rows: pass ids='tailnum' to the call, "
    r"or say Budget\(ids='tailnum', max_rows=...\) if a person is publicly known"
)


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    """A maker of budgets, each on a new ledger."""
    numbers = itertools.count()

    def maker(**given):
        path = tmp_path / f"{next(numbers)}.db" if request.param == "file" else None
        return dp.Budget(**{"epsilon": 10, **given}, path=path)

    return maker


def spend(budget, ids=None, loss=None, neighbors=AR):
    budget.spend(loss or Pure(1), neighbors=neighbors, ids=ids)


# --- which unit ---------------------------------------------------------------------------------


def test_the_first_spend_says_the_unit(make):
    for ids, unit in ((None, "rows"), ("tailnum", "people")):
        budget = make()
        assert (budget.unit, budget.ids) == (None, None)
        spend(budget, ids)
        assert (budget.unit, budget.ids, budget.history[0].ids) == (unit, ids, ids)
        spend(budget, ids)
        other = "tailnum" if ids is None else None
        with pytest.raises(BudgetError, match="refused a loss of"):
            spend(budget, other)
        assert len(budget.history) == 2 and budget.spent["epsilon"] == 2


def test_an_argument_says_the_unit(make):
    budget = make(ids="tailnum")
    assert (budget.unit, budget.ids, budget.max_rows) == ("people", "tailnum", None)
    with pytest.raises(BudgetError, match=ROWS_FOR_PEOPLE):
        spend(budget)
    spend(budget, "tailnum")
    assert budget.spent["epsilon"] == 1


def test_a_refusal_says_what_to_pass(make):
    rows, people = make(), make(ids="tailnum")
    spend(rows)
    with pytest.raises(BudgetError, match=ROWS_FOR_PEOPLE):
        spend(people)
    for budget, said in (
        (people, r"budget for the people of 'tailnum' refused a loss of the people of 'carrier': "
                 r"pass ids='tailnum' to the call, or use another budget, Budget\(ids='carrier'\)"),
        (rows, r"budget for rows, as its first spend was, refused a loss of the people of "
               r"'carrier': leave ids out of the call, or use another budget"),
    ):  # fmt: skip
        with pytest.raises(BudgetError, match=said):
            spend(budget, "carrier")
    with pytest.raises(
        BudgetError, match=r"asked epsilon=11, .* for the people of 'tailnum' under"
    ):
        spend(people, "tailnum", Pure(11))
    assert len(rows.history) == 1 and not people.history


def test_ids_without_a_name_are_those_of_the_budget(make):
    for given, first, name in (({"ids": "who"}, "", "who"), ({}, "who", "who"), ({}, "", "ids")):
        budget = make(**given)
        spend(budget, first)
        spend(budget, "")
        assert budget.ids == name and {line.ids for line in budget.history} == {name}
    budget = make()
    spend(budget)
    with pytest.raises(BudgetError, match="refused a loss of the people of 'ids': leave ids out"):
        spend(budget, "")


def test_a_release_says_whose_loss_it_is(make):
    class Own(dp.extend.Mechanism):
        loss, neighbors, name = Pure(1), AR, "own"

        def reduce(self, source):
            return None

        def finish(self, summary, generator):
            return None

    class OfPeople(Own):
        ids = "who"

    budget = make()
    release([1], OfPeople(), budget=budget, rng=None)
    with pytest.raises(BudgetError, match="people of 'who' refused a loss of rows"):
        release([1], Own(), budget=budget, rng=None)
    with pytest.raises(BudgetError, match="people of 'who' refused a loss of rows"):
        dp.count([1, 2], epsilon=1, neighbors=AR, budget=budget)
    assert [line.ids for line in budget.history] == ["who"]


def test_blocks_of_people_are_a_loss_of_people(make):
    budget = make()
    kw = {"blocks": 2, "bounds": (0, 1), "epsilon": 1, "budget": budget}
    dp.sample_and_aggregate([0.0, 1.0, 1.0], "mean", ids=[1, 1, 2], **kw)
    assert (budget.unit, budget.ids) == ("people", "ids")
    with pytest.raises(BudgetError, match="refused a loss of rows"):
        dp.sample_and_aggregate([0.0, 1.0, 1.0], "mean", **kw)


def test_a_stream_is_a_loss_of_rows(make):
    budget = make(ids="who")
    with pytest.raises(BudgetError, match="refused a loss of rows"):
        dp.online.SparseVector(positives=1, epsilon=1, neighbors=AR, budget=budget)
    budget = make(ids="who", max_rows=3)
    dp.online.SparseVector(positives=1, epsilon=1, neighbors=AR, budget=budget)
    assert budget.spent["epsilon"] == 3 and budget.history[0].ids is None


@pytest.mark.parametrize("given, said", [
    ({"ids": ""}, "ids must be the name of an id"),
    ({"ids": 3}, "ids must be text"),
    ({"ids": "\ud800"}, "ids must be text that UTF-8"),
    ({"max_rows": 3}, "max_rows must be left out without ids"),
    ({"ids": "who", "max_rows": 0}, "max_rows must be an integer of at least 1"),
    ({"ids": "who", "max_rows": 2.0}, "max_rows must be an integer of at least 1"),
    ({"ids": "who", "max_rows": True}, "max_rows must be an integer of at least 1"),
    ({"ids": "who", "max_rows": 2**63}, r"max_rows must be less than 2\*\*63"),
])  # fmt: skip
def test_bad_units_name_the_argument(make, given, said):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=said):
        make(**given)


def test_ids_of_a_spend_are_text(make):
    for ids in (3, ["who"], b"who"):
        with pytest.raises(ArgumentTypeError, match="ids must be text"):
            spend(make(), ids)


# --- what rows cost a person --------------------------------------------------------------------


def test_steps_between_neighbors(make):
    k = 7
    for loss in (Pure(0.1), ZCDP(0.1), Approx(0.1, 1e-9), Draws(0.1, cells=2)):
        for ids, max_rows, steps in (
            (None, None, {(AR, AR): 1, (AR, REP): 2, (REP, REP): 1}),
            ("who", None, {(AR, AR): 1, (AR, REP): 2, (REP, REP): 1}),
            (None, k, {(AR, AR): k, (AR, REP): 2 * k}),
        ):
            for given, wanted in itertools.product((AR, REP), repeat=2):
                limit = {"rho": 99} if isinstance(loss, ZCDP) else {"epsilon": 99, "delta": 0.1}
                unit = {} if ids is max_rows is None else {"ids": "who", "max_rows": max_rows}
                budget = dp.Budget(**limit, neighbors=wanted, **unit)
                size = steps.get((given, wanted))
                if size is None:
                    with pytest.raises(BudgetError, match=f"no meaning under neighbors='{wanted}'"):
                        spend(budget, ids, loss, given)
                    continue
                spend(budget, ids, loss, given)
                expected = dp.privacy.group(loss, size)
                assert budget.spent == {n: getattr(expected, n, 0) for n in budget.limit}
                assert convert(loss, given, wanted, max_rows=max_rows) == expected


def test_a_pure_loss_of_rows_in_a_rho_budget_is_grouped_first():
    budget = dp.Budget(rho=99, ids="who", max_rows=3)
    spend(budget, None, Draws(1, bounded_range=True))
    assert budget.spent["rho"] == Draws(3, bounded_range=True).to_zcdp().rho
    with pytest.raises(BudgetError, match="no price in a rho budget"):
        spend(budget, None, Approx(1, 1e-9))


def test_a_delta_of_a_group_that_reaches_1_has_no_meaning():
    budget = dp.Budget(epsilon=1000, delta=0.9, ids="who", max_rows=100)
    with pytest.raises(BudgetError, match=r"no meaning .* for the people of 'who' of up to 100 r"):
        spend(budget, None, Approx(1, 1e-9))


#: e**EPSILON is at least 3, by as little as a float allows.
EPSILON = Fraction(math.nextafter(math.log(3), 2))


def responses(delta=Fraction(0)):
    """Randomized response about whether a row is there: with `delta` it says so, else it may lie.

    (epsilon, delta) under add-remove, with e**epsilon = 3: of each answer the probability if the
    row is there, and if it is not.
    """
    truth, lie = (1 - delta) * Fraction(3, 4), (1 - delta) * Fraction(1, 4)
    return [
        (truth, lie),
        (lie, truth),
        *([(delta, Fraction(0)), (Fraction(0), delta)] * bool(delta)),
    ]


def pairs(each, gone, come):
    """Of all answers: the probabilities before and after so many rows went and so many came."""
    for answers in itertools.product(each, repeat=gone + come):
        there, not_there = answers[:gone], answers[gone:]
        yield (
            math.prod((a for a, _ in there), start=Fraction(1))
            * math.prod((b for _, b in not_there), start=Fraction(1)),
            math.prod((b for _, b in there), start=Fraction(1))
            * math.prod((a for a, _ in not_there), start=Fraction(1)),
        )


def beyond(each, gone, come, ratio):
    """The delta of a change, for e**epsilon = ratio."""
    return sum(max(Fraction(0), p - ratio * q) for p, q in pairs(each, gone, come))


@quick_rows(2)
@pytest.mark.parametrize("relation", [AR, REP])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_charge_covers_every_answer_about_a_person_and_is_attained(relation, k):
    budget = dp.Budget(epsilon=99, delta=0.5, neighbors=relation, ids="who", max_rows=k)
    spend(budget, None, Pure(EPSILON))
    charged, come = budget.spent["epsilon"], k if relation == REP else 0
    changes = [(g, c) for g in range(k + 1) for c in range(come + 1)]
    assert all(beyond(responses(), g, c, 3 ** (k + come)) == 0 for g, c in changes)
    worst = math.log(max(p / q for p, q in pairs(responses(), k, come)))
    assert worst <= charged <= worst * (1 + 1e-14)
    # The planted fault: one row less is not enough.
    assert beyond(responses(), k, come, 3 ** (k + come - 1)) > 0

    delta = Fraction(1, 1000)
    spend(budget, None, Approx(EPSILON, delta))
    allowed = budget.spent["delta"]
    assert all(beyond(responses(delta), g, c, 3 ** (k + come)) <= allowed for g, c in changes)
    if k + come > 1:  # the planted fault: the delta of one row
        assert beyond(responses(delta), k, come, 3 ** (k + come)) > delta


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_rho_of_a_person_is_attained_by_gaussian_noise(k):
    """D_a / a of a discrete Gaussian and its shift by k is k**2 / (2 sigma**2) at a = 2."""
    budget = dp.Budget(rho=99, ids="who", max_rows=k)
    spend(budget, None, ZCDP(Fraction(1, 8)))  # sigma = 2
    weights = {z: math.exp(-(z * z) / 8) for z in range(-200, 201)}
    whole = math.fsum(weights.values())
    moment = math.fsum(
        weights[z] ** 2 / weights[z - k] / whole for z in range(-40, 41) if z - k in weights
    )
    assert math.log(moment) / 2 == pytest.approx(float(budget.spent["rho"]), rel=1e-9)


# --- ledgers in files ---------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def test_a_file_keeps_the_unit(path):
    budget = dp.Budget(epsilon=10, path=path, ids="tailnum", max_rows=2)
    spend(budget)
    spend(budget, "")
    for again in (budget, dp.Budget(path=path), pickle.loads(pickle.dumps(budget))):
        assert (again.unit, again.ids, again.max_rows) == ("people", "tailnum", 2)
        assert [line.ids for line in again.history] == [None, "tailnum"]
        assert again.spent["epsilon"] == 3
        assert "neighbors='add-remove', ids='tailnum', max_rows=2; path=" in repr(again)
    told = json.loads(budget.export())
    assert (told["ids"], told["max_rows"]) == ("tailnum", 2)
    assert [line.get("ids") for line in told["lines"]] == [None, "tailnum"]
    memory = dp.Budget(epsilon=10, ids="tailnum", max_rows=2)
    spend(memory)
    spend(memory, "")
    assert memory.history == budget.history


def test_rows_are_told_as_ever(path):
    budget = dp.Budget(epsilon=10, path=path)
    spend(budget)
    assert "ids" not in budget.export() and "ids" not in repr(budget)


@pytest.mark.parametrize("first, given, said", [
    (None, {"ids": "who"}, "ids must be that of .*, which is about rows, or left out"),
    ("other", {"ids": "who"}, "which is about the people of 'other'"),
    ("who", {"ids": "who", "max_rows": 3}, "max_rows must be that of .*, None, or left out"),
])  # fmt: skip
def test_an_existing_file_has_the_last_word(path, first, given, said):
    spend(dp.Budget(epsilon=10, path=path), first)
    with pytest.raises(ArgumentError, match=said):
        dp.Budget(path=path, **given)


def test_two_who_think_of_different_units(path):
    rows = dp.Budget(epsilon=10, path=path)
    people = dp.Budget(path=path, ids="who")
    assert (rows.unit, people.unit) == (None, "people")
    with pytest.raises(BudgetError, match="budget for the people of 'who' refused a loss of rows"):
        spend(people)
    packed = pickle.dumps(people)
    assert pickle.loads(packed).ids == "who"
    spend(rows)
    for ids in ("who", None):
        with pytest.raises(BudgetError, match="by a budget for ids='who', while the first spend"):
            spend(people, ids)
    with pytest.raises(ArgumentError, match="ids must be that of"):
        pickle.loads(packed)
    assert len(rows.history) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_of_processes_that_spend_for_both_units_one_unit_wins(path):
    done = program(
        """
        import os, sys, dpfast as dp
        dp.Budget(epsilon=10, path=sys.argv[1])
        children = []
        for number in range(4):
            child = os.fork()
            if child == 0:
                budget = dp.Budget(path=sys.argv[1])
                try:
                    for _ in range(3):
                        budget.spend(
                            dp.privacy.Pure(0.1), neighbors="add-remove",
                            ids="who" if number % 2 else None,
                        )
                except dp.errors.BudgetError:
                    os._exit(5)
                os._exit(0)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        history = dp.Budget(path=sys.argv[1]).history
        assert len({line.ids for line in history}) == 1 and len(history) == 6
        assert codes == ([0, 5] if history[0].ids is None else [5, 0]) * 2, codes
        """,
        path,
    )
    assert (done.returncode, done.stderr) == (0, "")


def altered(path, *statements):
    with unguarded(path) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize("statement", [
    "UPDATE ledger SET ids = NULL",
    "UPDATE ledger SET ids = NULL, max_rows = NULL",
    "UPDATE ledger SET ids = NULL, max_rows = 'who'",
    "UPDATE ledger SET max_rows = NULL",
    "UPDATE ledger SET max_rows = 1",
    "UPDATE state SET ids = NULL",
    "UPDATE lines SET ids = NULL",
    "UPDATE lines SET ids = 'other'",
    "UPDATE lines SET ids = 'who' WHERE line = 1",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 2",
])  # fmt: skip
def test_the_unit_is_sealed(path, statement):
    budget = dp.Budget(epsilon=10, path=path, ids="who", max_rows=2)
    spend(budget)
    spend(budget, "who")
    altered(path, statement)
    with pytest.raises(LedgerError, match="is damaged"):
        dp.Budget(path=path)


def test_a_ledger_of_rows_that_says_it_is_older_is_not_written(path):
    """It has the columns already; what it says is right until then."""
    budget = dp.Budget(epsilon=10, path=path)
    spend(budget)
    altered(path, "PRAGMA user_version = 2")
    assert budget.spent["epsilon"] == 1
    with pytest.raises(LedgerError, match="is damaged"):
        spend(budget)


# --- random spends ------------------------------------------------------------------------------


def random_spends(seed, count=40):
    """What a budget that is asked for several units has spent, and what a plain count says."""
    chance = random.Random(seed)
    k = chance.choice([None, 1, 2, 5])
    units = chance.choice([[], ["who"]]) if k is None else ["who"]
    budget = dp.Budget(epsilon=20, ids=units[0] if units else None, max_rows=k)
    total = Fraction(0)
    for _ in range(count):
        ids = chance.choice([None, "who", "other", ""])
        with contextlib.suppress(BudgetError):
            spend(budget, ids, Pure(Fraction(1, 10)))
        name = ids if ids != "" else (units and units[0]) or "ids"
        units = units or [name]
        if name == units[0]:
            total += Fraction(1, 10)
        elif name is None and k is not None:
            total += Fraction(k, 10)
    return budget.spent["epsilon"], total


@pytest.mark.parametrize("seed", range(8))
def test_random_spends_against_a_plain_count(seed):
    spent, total = random_spends(seed)
    assert spent == total


def test_a_budget_that_does_not_ask_for_the_unit_is_found(monkeypatch):
    monkeypatch.setattr(Budget, "_units", lambda self, state, spend: (Unit("who"), Unit("who")))
    assert any(spent != total for spent, total in map(random_spends, range(8)))


def test_what_several_spends_would_leave_knows_the_unit():
    budget = dp.Budget(epsilon=1)
    rows = SimpleNamespace(loss=Pure(0.25), neighbors=AR, what="x", ids=None)
    people = SimpleNamespace(**{**vars(rows), "ids": ""})
    assert budget.left_after([people] * 2)["epsilon"] == Fraction(1, 2) and budget.unit is None
    with pytest.raises(BudgetError, match="people of 'ids' refused a loss of rows"):
        budget.left_after([people, rows])


# --- columns that have a name -------------------------------------------------------------------

VALUES = [1.0, 2.0, 3.0, 4.0]
BY_PEOPLE = {
    "count": lambda ids, **by: dp.count(VALUES, ids=ids, max_rows=1, **by),
    "median": lambda ids, **by: dp.median(VALUES, ids=ids, max_rows=1, bounds=(0, 9), **by),
    "histogram": lambda ids, **by: dp.histogram(
        VALUES, bins=2, bounds=(0, 9), ids=ids, max_rows=1, **by
    ),
    "groups": lambda ids, **by: dp.group_by(
        {"k": [1, 2, 1, 2]}, "k", keys=[1, 2], ids=ids, max_rows=1
    ).count(**by),
    "keys": lambda ids, **by: dp.select_keys([1, 2, 1, 2], ids=ids, max_groups=1, delta=0.01, **by),
    "aggregate": lambda ids, **by: dp.sample_and_aggregate(
        VALUES, len, blocks=2, bounds=(0, 9), ids=ids, **by
    ),
}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("call", BY_PEOPLE)
def test_ids_that_say_another_name_are_refused(call, kind):
    """Else a loss of houses would count as one of persons."""
    series = pytest.importorskip(kind).Series
    for name, ids in (
        ("house", series(name="house", **{"data" if kind == "pandas" else "values": [1, 2, 3, 3]})),
        ("", [1, 2, 3, 3]),
    ):
        budget = dp.Budget(epsilon=1, delta=0.1, ids="id")
        refused = pytest.raises(BudgetError, match="'house'") if name else contextlib.nullcontext()
        with refused:
            BY_PEOPLE[call](ids, epsilon=0.5, budget=budget)
        assert [entry.ids for entry in budget.history] == ["id"] * (not name)
        new = dp.Budget(epsilon=1, delta=0.1)
        BY_PEOPLE[call](ids, epsilon=0.5, budget=new)
        assert new.ids == (name or "ids")


def test_names_of_columns_that_are_forgotten_are_caught(monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("dpfast.measurement.statistic.id_name", lambda ids: "")
    budget = dp.Budget(epsilon=1, ids="id")
    BY_PEOPLE["count"](pandas.Series([1, 2, 3, 3], name="house"), epsilon=0.5, budget=budget)
    assert budget.ids == "id"  # which the test above would catch
