"""The unit of a budget: rows, or the people of one id, and what rows then cost a person."""

import contextlib
import itertools
import json
import math
import pickle
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

import dpfast as dp
from dpfast.budget.budget import Budget
from dpfast.budget.ledger import Unit
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.privacy import ZCDP, Approx, Draws, Pure, convert

from ..support.battery import CASES, PEOPLE
from ..support.pairwise import quick_rows

REP, AR = "replace", "add-remove"
ROWS_FOR_PEOPLE = (
    r"budget for the people of 'tailnum' refused a loss of rows: pass ids='tailnum' to the call, "
    r"or use Budget\(ids='tailnum', max_rows=...\) with a publicly known limit on the rows"
)


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    numbers = itertools.count()

    def maker(**given):
        path = tmp_path / f"{next(numbers)}.db" if request.param == "file" else None
        return dp.Budget(**{"epsilon": 10, **given}, path=path)

    return maker


def spend(budget, ids=None, loss=None, neighbors=AR):
    budget.spend(loss or Pure(1), neighbors=neighbors, ids=ids)


def test_the_first_spend_says_the_unit_and_a_refusal_what_to_pass(make):
    for ids, unit, other in ((None, "rows", "tailnum"), ("tailnum", "people", None)):
        budget = make()
        assert (budget.unit, budget.ids) == (None, None)
        spend(budget, ids)
        assert (budget.unit, budget.ids, budget.history[0].ids) == (unit, ids, ids)
        spend(budget, ids)
        with pytest.raises(BudgetError, match="refused a loss of"):
            spend(budget, other)
        assert len(budget.history) == 2 and budget.spent["epsilon"] == 2
    rows, people = make(), make(ids="tailnum")
    spend(rows)
    for budget, ids, loss, said in (
        (people, None, 1, ROWS_FOR_PEOPLE),
        (people, "carrier", 1, r"budget for the people of 'tailnum' refused a loss of the people "
         r"of 'carrier': pass ids='tailnum' to the call, or use another budget, Budget\(ids='carr"),
        (rows, "carrier", 1, r"budget for rows \(the unit of its first spend\) refused a loss of "
         r"the people of 'carrier': leave ids out of the call, or use another budget"),
        (people, "tailnum", 11, r"requested epsilon=11, .* for the people of 'tailnum' under"),
    ):  # fmt: skip
        with pytest.raises(BudgetError, match=said):
            spend(budget, ids, Pure(loss))
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


def test_a_stream_is_a_loss_of_rows(make):
    budget = make(ids="who")
    with pytest.raises(BudgetError, match="refused a loss of rows"):
        dp.online.SparseVector(positives=1, epsilon=1, neighbors=AR, budget=budget)
    budget = make(ids="who", max_rows=3)
    dp.online.SparseVector(positives=1, epsilon=1, neighbors=AR, budget=budget)
    assert budget.spent["epsilon"] == 3 and budget.history[0].ids is None


@pytest.mark.parametrize("given, said", [
    ({"ids": ""}, "ids must be a name that is not empty"),
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


def test_steps_between_neighbors():
    k, of_rows = 7, {(AR, AR): 1, (AR, REP): 2, (REP, REP): 1}
    for loss in (Pure(0.1), ZCDP(0.1), Approx(0.1, 1e-9), Draws(0.1, cells=2)):
        for ids, max_rows, steps in (
            (None, None, of_rows),
            ("who", None, of_rows),
            (None, k, {(AR, AR): k, (AR, REP): 2 * k}),
        ):
            for given, wanted in itertools.product((AR, REP), repeat=2):
                limit = {"rho": 99} if isinstance(loss, ZCDP) else {"epsilon": 99, "delta": 0.1}
                unit = {} if ids is max_rows is None else {"ids": "who", "max_rows": max_rows}
                budget = dp.Budget(**limit, neighbors=wanted, **unit)
                size = steps.get((given, wanted))
                if size is None:
                    with pytest.raises(BudgetError, match=f"nothing about neighbors='{wanted}'"):
                        spend(budget, ids, loss, given)
                    continue
                spend(budget, ids, loss, given)
                expected = dp.privacy.group(loss, size)
                assert budget.spent == {n: getattr(expected, n, 0) for n in budget.limit}
                assert convert(loss, given, wanted, max_rows=max_rows) == expected


#: e**EPSILON is at least 3, by as little as a float allows.
EPSILON = Fraction(math.nextafter(math.log(3), 2))


def responses(delta=Fraction(0)):
    """Randomized response about whether a row is there: with `delta` it says so, else it may lie.

    Of each answer the probability if the row is there, and if it is not; e**epsilon = 3.
    """
    truth, lie = (1 - delta) * Fraction(3, 4), (1 - delta) * Fraction(1, 4)
    told = [(delta, Fraction(0)), (Fraction(0), delta)] * bool(delta)
    return [(truth, lie), (lie, truth), *told]


def pairs(each, gone, come):
    """Of all answers: the probabilities before and after so many rows went and so many came."""
    for answers in itertools.product(each, repeat=gone + come):
        turned = [*answers[:gone], *(pair[::-1] for pair in answers[gone:])]
        before, after = zip((Fraction(1), Fraction(1)), *turned, strict=True)
        yield math.prod(before), math.prod(after)


def beyond(each, gone, come, ratio):
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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def test_a_file_keeps_the_unit(path):
    memory = dp.Budget(epsilon=10, ids="tailnum", max_rows=2)
    budget = dp.Budget(epsilon=10, path=path, ids="tailnum", max_rows=2)
    for each in (budget, memory):
        spend(each)
        spend(each, "")
    for again in (budget, dp.Budget(path=path), pickle.loads(pickle.dumps(budget))):
        assert (again.unit, again.ids, again.max_rows) == ("people", "tailnum", 2)
        assert [line.ids for line in again.history] == [None, "tailnum"]
        assert again.spent["epsilon"] == 3 and again.history == memory.history
        assert "neighbors='add-remove', ids='tailnum', max_rows=2; path=" in repr(again)
    told = json.loads(budget.export())
    assert (told["ids"], told["max_rows"]) == ("tailnum", 2)
    assert [line.get("ids") for line in told["lines"]] == [None, "tailnum"]


def test_two_who_think_of_different_units(path):
    rows, people = dp.Budget(epsilon=10, path=path), dp.Budget(path=path, ids="who")
    assert (rows.unit, people.unit) == (None, "people")
    with pytest.raises(BudgetError, match="budget for the people of 'who' refused a loss of rows"):
        spend(people)
    packed = pickle.dumps(people)
    assert pickle.loads(packed).ids == "who"
    spend(rows)
    for ids in ("who", None):
        with pytest.raises(BudgetError, match="this budget is for ids='who', and the first spend"):
            spend(people, ids)
    with pytest.raises(ArgumentError, match="ids must be left out, or as in"):
        pickle.loads(packed)
    assert len(rows.history) == 1


def number(chance):
    whole = chance.randint(1, 10**9)
    kinds = [5e-324, chance.random(), Fraction(whole, 10**9), Decimal(whole).scaleb(-30)]
    return chance.choice(kinds) or 1


def random_spends(seed, path=None):
    """A budget of some unit that is asked for all of them, beside exact sums of what fits."""
    chance = random.Random(seed)
    k = chance.choice([None, None, 1, 2, 5])
    units = ["who"] if k else chance.choice([[], ["who"]])
    limit = {
        "epsilon": Fraction(chance.choice([3, 20])),
        "delta": Fraction(chance.choice([0, 1]), 10**6),
    }
    unit = {"ids": "who", "max_rows": k} if units else {}
    budget, sums, kept = dp.Budget(**limit, **unit, neighbors=REP, path=path), [0, 0], 0
    for _ in range(30):
        if path and chance.random() < 0.3:
            budget = dp.Budget(path=path)
        ids, given = chance.choice([None, "who", "other", ""]), chance.choice([REP, REP, AR])
        name = ids if ids != "" else (units and units[0]) or "ids"
        steps = 2 * (k or 0) * (given == AR) if name is None else 0
        if [name] == (units or [name]):
            steps = 2 if given == AR else 1
        # Of more rows exp is rounded up, so only pure losses have an exact model.
        amount, slack = number(chance), chance.choice([0, 1e-7, 3e-7]) if steps == 1 else 0
        loss = Approx(amount, slack) if slack else Pure(amount)
        after = [sums[0] + steps * Fraction(str(amount)), sums[1] + Fraction(str(slack))]
        fits = steps and after[0] <= limit["epsilon"] and after[1] <= limit["delta"]
        with contextlib.nullcontext() if fits else pytest.raises(BudgetError):
            spend(budget, ids, loss, given)
        if fits:
            sums, kept, units = after, kept + 1, units or [name]
        assert budget.spent == dict(zip(limit, sums, strict=True))
    assert len(budget.history) == kept


def test_random_spends_against_an_exact_model(tmp_path):
    for seed in range(30):
        random_spends(seed)
    for seed in range(6):
        random_spends(seed, tmp_path / f"{seed}.db")


def test_a_budget_that_does_not_ask_for_the_unit_is_found(monkeypatch):
    monkeypatch.setattr(Budget, "_units", lambda self, state, spend: (Unit("who"), Unit("who")))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_random_spends_against_an_exact_model(None)


DATA = {"pandas": "data", "polars": "values"}
OF_PEOPLE = {name: case for name, case in CASES.items() if "ids" in case.rows}
OF_PEOPLE["blocks"] = replace(
    CASES["aggregate"], kw={**CASES["aggregate"].kw, "ids": PEOPLE["ids"]}
)


@quick_rows(9)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", OF_PEOPLE)
def test_ids_that_say_another_name_are_refused(name, kind):
    """Else a loss of houses would count as one of persons."""
    case = OF_PEOPLE[name]
    ids = case.kw["ids"].tolist()
    house = pytest.importorskip(kind).Series(name="house", dtype=None, **{DATA[kind]: ids})
    for said, column in (("house", house), ("", ids)):
        budget, new = (dp.Budget(epsilon=9, delta=0.1, **unit) for unit in ({"ids": "id"}, {}))
        with pytest.raises(BudgetError, match="'house'") if said else contextlib.nullcontext():
            case(case.data, case.losses[0], ids=column, budget=budget)
        assert [entry.ids for entry in budget.history] == ["id"] * (not said)
        case(case.data, case.losses[0], ids=column, budget=new)
        assert new.ids == (said or "ids")


def test_names_of_columns_that_are_forgotten_are_caught(monkeypatch):
    monkeypatch.setattr("dpfast.measurement.statistic.id_name", lambda ids: "")
    with pytest.raises(pytest.fail.Exception):
        test_ids_that_say_another_name_are_refused("count of people", "pandas")
