"""The neighboring relation that a call has if it says none: its budget's, else "add-remove"."""

import contextlib
import inspect
from typing import get_args, get_type_hints

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget.release import relation_of
from dpfast.errors import ArgumentTypeError, BudgetError, DataError, DpfastError

from .support.battery import CASES, EPSILON, EVERY, RHO, everything
from .support.surface import COUNTS, EVENS, LABELS, LEARNERS, ROWS

AGES = np.repeat(np.arange(18, 91), 40)
BOUNDS = {"bounds": (0, 120)}
RELATIONS = ("add-remove", "replace")
#: What shows how many rows there are, or is made for that many.
OWN = {
    *("dp.response.binary", "dp.response.kary", "dp.response.unary", "dp.online.MWEM"),
    *("dp.extend.Prepared", "dp.extend.release", "dp.online.MedianMechanism",
        "dp.online.PrivateMultiplicativeWeights"),
    "dp.learn.cross_validate", "dp.session",
}  # fmt: skip


def objection(function):
    parameters = inspect.signature(function).parameters
    pays = "budget" in parameters or hasattr(function, "fit") or function is dp.group_by
    if "neighbors" not in parameters:
        return "it has no relation" if pays else None
    default = parameters["neighbors"].default
    if pays or function is dp.Budget:
        return None if default is None else "it has a default of its own"
    own = function.__init__ if inspect.isclass(function) else function
    only = get_args(get_type_hints(own).get("neighbors")) == ("replace",)
    right = "replace" if only else "add-remove"
    return None if default in (right, inspect.Parameter.empty) else "it has another default"


def test_no_public_thing_has_a_default_of_its_own():
    wrong = {}
    for name, thing in everything():
        is_error = inspect.isclass(thing) and issubclass(thing, BaseException)
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and not is_error:
            wrong |= {name: said} if (said := objection(thing)) else {}
    assert wrong == dict.fromkeys(OWN, "it has no relation")


def test_a_default_of_its_own_is_caught():
    def planted(data, *, neighbors="replace", budget=None):
        pass

    def without(data, *, neighbors="replace"):
        pass

    assert objection(planted) == "it has a default of its own"
    assert objection(without) == "it has another default"


def test_what_is_said_comes_first_then_the_budget():
    for relation in RELATIONS:
        budget = dp.Budget(epsilon=1, neighbors=relation)
        assert relation_of(None, budget) == relation
        for said in RELATIONS:
            assert relation_of(said, budget) == relation_of(said, None) == said
    assert relation_of(None, None) == relation_of(None, dp.Budget(epsilon=1)) == "add-remove"
    with pytest.raises(ArgumentTypeError, match=r"budget must be a dpfast\.Budget or None"):
        relation_of(None, 3)


class Asked(dp.Budget):
    """Counts how often it is asked for its relation, which another process may settle."""

    times = 0

    @property
    def neighbors(self):
        self.times += 1
        return super().neighbors


def outcome(work):
    try:
        return work()
    except DpfastError as error:
        return type(error), str(error)


def quoted_and_charged(budget, function, *args, by_block=False, **kw):
    """What a call is said to cost, and what it is charged; or both refusals."""

    def cost():
        found = budget.cost(function, *args, **kw)
        return {name: getattr(found, name) for name in budget.limit if name in found.amounts}

    def charge():
        before, budget.times = budget.spent, 0
        # An oracle's noisy count may be too low for its promise: an error after the spend.
        with contextlib.suppress(DataError):
            if by_block:
                with budget:
                    function(*args, **kw)
            else:
                function(*args, **kw, budget=budget)
        return {name: amount - before[name] for name, amount in budget.spent.items()}

    quoted = outcome(cost)
    charged = outcome(charge)
    assert budget.times <= 1
    if isinstance(charged, dict):
        charged = {name: amount for name, amount in charged.items() if amount}
    return quoted, charged


def budgets():
    for relation in (*RELATIONS, None):
        yield Asked(epsilon=99, delta=0.1, neighbors=relation)
        yield Asked(rho=99, neighbors=relation)


@EVERY
def test_a_call_is_charged_what_it_is_said_to_cost(name):
    case = CASES[name]
    charges = 0
    for budget, of_block in zip(budgets(), budgets(), strict=True):
        for loss in case.losses:
            call = case.call, case.data
            quoted, charged = quoted_and_charged(budget, *call, **{**case.kw, **loss})
            assert quoted == charged, (budget, loss)
            if loss is case.losses[0]:  # of a block the loss makes no difference
                kw = {**case.kw, **loss}
                by_block = quoted_and_charged(of_block, *call, by_block=True, **kw)
                assert by_block == (quoted, charged), (budget, loss)
            charges += isinstance(charged, dict)
    assert charges >= 2


OBJECTS = {kind.__name__: (kind(**kw, rho=2).fit, (ROWS, LABELS), {})
    for kind, kw in LEARNERS.items()} | {"noisy sums": (dp.sulq.NoisySums, (ROWS,),
    {"queries": 3, **EPSILON}),
    "oracle": (dp.sulq.StatisticalQueryOracle, (ROWS,),
    {"tolerance": 0.4, "queries": 3, "rows": 30, "rho": 50}),
    "sparse vector": (dp.online.SparseVector, (), {"positives": 2, **RHO}),
    "MWEM": (dp.online.MWEM, (COUNTS, [EVENS]), {"rounds": 2, **EPSILON}),
    "median mechanism": (dp.online.MedianMechanism, (COUNTS,),
    {"queries": 9, "accuracy": 0.99, "size": 3, "rho": 50})}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_asked_later_is_charged_what_it_is_said_to_cost(name):
    function, args, kw = OBJECTS[name]
    for budget, of_block in zip(budgets(), budgets(), strict=True):
        quoted, charged = quoted_and_charged(budget, function, *args, **kw)
        by_block = quoted_and_charged(of_block, function, *args, by_block=True, **kw)
        assert quoted == charged and by_block == (quoted, charged), budget


def test_what_fails_after_the_spend_is_charged_what_it_is_said_to_cost():
    """Far too few rows for the oracle: it hides this with 8.4 deviations of noise, 1e-16."""
    function, args, kw = OBJECTS["oracle"]
    budget = dp.Budget(rho=99)
    with pytest.raises(DataError, match="there are fewer rows"):
        function(*args, **{**kw, "rows": 3000}, budget=budget)
    assert budget.spent["rho"] > 0
    quoted, charged = quoted_and_charged(Asked(rho=99), function, *args, **{**kw, "rows": 3000})
    assert quoted == charged and isinstance(charged, dict)


def median(budget, **kw):
    dp.median(AGES, **BOUNDS, epsilon=1, budget=budget, **kw)


def count(budget):
    dp.count(AGES, where=AGES > 40, epsilon=1, budget=budget)


def planted(budget):
    median(budget, neighbors="replace")


def add_up(*calls):
    for relation in (*RELATIONS, None):
        budget = dp.Budget(epsilon=len(calls), neighbors=relation)
        try:
            for call in calls:
                call(budget)
        except BudgetError:
            return False
        if budget.remaining["epsilon"]:
            return False
    return True


def test_two_calls_on_one_budget_cost_their_sum():
    assert add_up(median, count) and add_up(count, median)
    assert not add_up(count, planted)  # one that has a default of its own is caught


def test_a_refusal_says_what_to_pass():
    budget = dp.Budget(epsilon=9, neighbors="add-remove")
    with pytest.raises(BudgetError, match="neighbors='add-remove': pass that to the call"):
        dp.mean(AGES, **BOUNDS, epsilon=1, neighbors="replace", budget=budget)


@pytest.mark.parametrize("call", [
    lambda **kw: dp.smooth_release(3.0, 1.0, beta=0.01, bounds=(0, 9), epsilon=1, **kw),
    lambda **kw: dp.bounded_release(3.0, sensitivity=1.0, bounds=(0, 9), epsilon=1, **kw),
    lambda **kw: dp.additive_release(3.0, sensitivity=1.0, epsilon=1, **kw),
    lambda **kw: dp.online.AboveThreshold(epsilon=1, monotone=True, **kw),
    lambda **kw: dp.selection.top_k([1, 2], 1, sensitivity=1, epsilon=1, monotone=True, **kw),
])  # fmt: skip
def test_what_was_proved_for_rows_that_come_and_go_is_not_taken_for_replaced_ones(call):
    budget = dp.Budget(epsilon=9, neighbors="replace")
    with pytest.raises(DpfastError, match="neighbors must be given in a budget for"):
        call(budget=budget)
    assert not budget.history
    call(budget=budget, neighbors="add-remove")
    assert budget.spent["epsilon"] == 2
    call(budget=budget, neighbors="replace")
    assert budget.spent["epsilon"] == 3
