"""The budget: exact, refusing, asked before anything is touched; what a call would pay."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.budget import release
from dpfast.errors import ArgumentError, BudgetError
from dpfast.privacy import Approx, Draws, Pure, float_down

from ..support.battery import CASES, each

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
        match=r"spent epsilon=0\.7, delta=1e-07; requested epsilon=0\.4, "
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
    with pytest.raises(BudgetError, match="cannot count a loss in rho"):
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


X = np.arange(50.0)
BOUNDS = {"bounds": (0, 60)}
GROUPS = dp.group_by({"k": [0, 1] * 25, "x": X}, "k", keys=[0, 1])
PCA = dp.learn.PCA(1, bounds=(0, 1), epsilon=0.5, delta=0.1)
#: Calls beside those of the battery: methods, values that are measured, classes, learners.
CALLS = {
    "partial": (partial(dp.median, **BOUNDS), X, {}),
    "groups": (GROUPS.mean, "x", BOUNDS),
    "stream": (dp.online.SparseVector, None, {"positives": 2}),
    "one of it": (dp.online.AboveThreshold, None, {}),
    "rounds": (dp.sulq.NoisySums, X, {"queries": 2}),
    "mechanism": (dp.mechanism(dp.count, epsilon=0.5), X, None),
    "measurement": (dp.Mean(**BOUNDS).measure(epsilon=0.5), X, None),
    "learner": (PCA.fit, np.ones((40, 2)), None),
}
CALLS |= {name: (case.call, case.data, case.kw | case.losses[0]) for name, case in CASES.items()}


def prepare(name, **more):
    call, data, asked = CALLS[name]
    own = {} if asked is None else {"epsilon": 0.5, **asked}
    return dp.extend.prepare(call, *([] if data is None else [data]), **own, **more)


class Touched(Exception):
    """A bit was drawn."""


class Silent(dp.rng.SecureGenerator):
    def stream(self):
        raise Touched

    def bytes(self, length):
        raise Touched


@each(CALLS)
def test_nothing_is_spent_read_or_drawn_before_it_runs(name, monkeypatch):
    seen, budget = [], dp.Budget(epsilon=9, delta=0.5)
    with monkeypatch.context() as patch:
        patch.setattr(release.Prepared, "run", seen.append)
        prepared = prepare(name, budget=budget, rng=Silent())
    assert prepared.mechanism.loss.epsilon <= 2 and prepared.budget is budget
    assert not seen and not budget.history and budget.neighbors is None
    assert prepare(name, budget=budget).run() is not None
    (entry,) = budget.history
    assert entry.loss == prepared.mechanism.loss and entry.what == prepared.mechanism.what


def test_a_function_that_runs_where_it_should_prepare_is_caught():
    """Planted: it pays before anybody looks at its price."""

    @dp.extend.releases
    def hasty(data, *, epsilon, budget=None):
        dp.count(data, epsilon=epsilon, budget=budget)
        return dp.extend.prepare(dp.count, data, epsilon=epsilon, budget=budget)

    budget = dp.Budget(epsilon=1)
    assert budget.cost(hasty, X, epsilon=0.25).epsilon == 0.25
    assert budget.history
    assert budget.cost(dp.count, X, epsilon=0.25).epsilon == 0.25 and len(budget.history) == 1
