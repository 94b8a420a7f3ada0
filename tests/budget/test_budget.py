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

REP = "replace"


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
    budget, asked = dp.Budget(epsilon=1), {"bounds": (0, 1)}
    price = Draws(0.25, bounded_range=True)
    assert budget.cost(dp.median, [1.0, np.nan], **asked, epsilon=0.25) == price
    with pytest.raises(BudgetError, match="rho has no price"):
        budget.cost(dp.median, [1.0], **asked, rho=0.125)
    with pytest.raises(ArgumentError, match="epsilon"):
        budget.cost(dp.median, [1.0], **asked, epsilon=-1)
    for other in (np.median, dp.sensitivity.smooth, print, None, lambda budget: 3):
        with pytest.raises(ArgumentError, match="function must be a release of dpfast"):
            budget.cost(other, [1.0])
    with pytest.raises(ArgumentError, match="budget must be left out"):
        budget.cost(dp.median, [1.0], **asked, epsilon=1, budget=budget)
    assert budget.spent["epsilon"] == 0 and budget.history == ()


def test_no_copies():
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="spent"):
            attempt(dp.Budget(epsilon=1))


@pytest.mark.parametrize("word, bad", [
    *(("epsilon", {"epsilon": bad}) for bad in (None, 0, -1, math.nan, math.inf, "1", True,
      Decimal("sNaN"), Decimal("1e-999999999"), Decimal("-3E-99999999"))),
    *(("delta", {"epsilon": 1, "delta": bad}) for bad in (1, -0.1)),
    ("delta", {"rho": 1, "delta": 0.1}), ("rho", {"epsilon": 1, "rho": 1}), ("rho", {"rho": 0}),
    ("neighbors", {"epsilon": 1, "neighbors": "swap"}),
])  # fmt: skip
def test_bad_limits_name_the_argument(word, bad):
    with pytest.raises(dp.errors.DpfastError, match=word):
        dp.Budget(**bad)
    assert dp.Budget(epsilon=1, delta=Decimal("0e-999999999")).remaining["delta"] == 0


def test_amounts_mean_what_is_written():
    for tenth in (np.float32(0.1), np.float64(0.1), Fraction(np.int8(1), np.int8(10))):
        amount = Pure(tenth).epsilon
        assert amount == Fraction(1, 10) and type(amount.denominator) is int
    assert Pure(np.int64(2)).epsilon == 2
    assert Pure(Fraction(1, 3)).epsilon == Fraction(1, 3)
    assert Fraction(float_down(Fraction(1, 10))) <= Fraction(1, 10) < Fraction(0.1)
    assert repr(Pure(Fraction(1, 3))) == "Pure(epsilon=1/3 (about 0.3333333333333333))"
