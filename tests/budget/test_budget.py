"""The ledger: exact, refusing, thread-safe, and asked before anything is touched."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, BudgetError
from dpfast.privacy import Approx, Draws, Pure, float_down

REP, AR = "replace", "add-remove"


def test_a_tenth_ten_times_empties_one():
    budget = dp.Budget(epsilon=1.0)
    for _ in range(10):
        budget.spend(Pure(0.1), neighbors=REP)
    assert budget.remaining == {"epsilon": 0, "delta": 0}
    with pytest.raises(BudgetError):
        budget.spend(Pure(5e-324), neighbors=REP)
    # The planted fault: the same sum in floats is not empty and lets an eleventh spend through.
    floats = 0.0
    for _ in range(10):  # not sum(), which compensates from Python 3.12 on
        floats += 0.1
    assert floats < 1.0


def test_a_refusal_shows_spent_asked_and_left_and_records_nothing():
    budget = dp.Budget(epsilon=1, delta=Decimal("1e-6"))
    budget.spend(Approx(0.7, 1e-7), neighbors=REP)
    before = budget.history
    with pytest.raises(
        BudgetError,
        match=r"spent epsilon=0\.7, delta=1e-07; asked epsilon=0\.4, "
        r"delta=0 under neighbors='replace'.*left epsilon=0\.3, delta=9e-07",
    ):
        budget.spend(Pure(0.4), neighbors=REP)
    assert budget.history == before
    budget.spend(Approx(0.3, 9e-7), neighbors=REP)
    assert budget.remaining == {"epsilon": 0, "delta": 0}


def test_cost_asks_without_running():
    budget = dp.Budget(epsilon=1)
    assert budget.cost(dp.median, [1.0, np.nan], bounds=(0, 1), epsilon=0.25) == Draws(
        0.25, bounded_range=True
    )
    with pytest.raises(BudgetError, match="rho has no price"):
        budget.cost(dp.median, [1.0], bounds=(0, 1), rho=0.125)
    assert budget.spent["epsilon"] == 0 and budget.history == ()
    with pytest.raises(ArgumentError, match="epsilon"):
        budget.cost(dp.median, [1.0], bounds=(0, 1), epsilon=-1)
    with pytest.raises(ArgumentError, match="release of dpfast"):
        budget.cost(lambda budget: 3)
    for other in (np.median, dp.sensitivity.smooth, print, None):
        with pytest.raises(ArgumentError, match="function must be a release of dpfast"):
            budget.cost(other, [1.0])
    with pytest.raises(ArgumentError, match="budget must be left out"):
        budget.cost(dp.median, [1.0], bounds=(0, 1), epsilon=1, budget=budget)


@pytest.mark.parametrize("attempt", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(attempt):
    with pytest.raises(TypeError, match="spent"):
        attempt(dp.Budget(epsilon=1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": Decimal("sNaN")}, "epsilon must be a finite"),
        ({"epsilon": Decimal("1e-999999999")}, "epsilon"),
        ({"epsilon": Decimal("-3E-99999999")}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "rho"),
        ({"rho": 1, "delta": 0.1}, "delta"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": -0.1}, "delta"),
        ({"rho": 0}, "rho"),
        ({"epsilon": 1, "neighbors": "swap"}, "neighbors"),
    ],
)
def test_bad_limits_name_the_argument(arguments, words):
    with pytest.raises(dp.errors.DpfastError, match=words):
        dp.Budget(**arguments)
    assert dp.Budget(epsilon=1, delta=Decimal("0e-999999999")).remaining["delta"] == 0


def test_amounts_mean_what_is_written():
    assert Pure(np.float32(0.1)).epsilon == Fraction(1, 10)
    assert Pure(np.float64(0.1)).epsilon == Fraction(1, 10)
    assert Pure(np.int64(2)).epsilon == 2
    assert Pure(Fraction(1, 3)).epsilon == Fraction(1, 3)
    of_numpy = Pure(Fraction(np.int8(1), np.int8(100))).epsilon
    assert of_numpy == Fraction(1, 100) and type(of_numpy.denominator) is int
    assert Fraction(float_down(Fraction(1, 10))) <= Fraction(1, 10) < Fraction(0.1)
    assert repr(Pure(Fraction(1, 3))) == "Pure(epsilon=1/3 (about 0.3333333333333333))"
