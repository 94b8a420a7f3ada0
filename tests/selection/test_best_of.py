"""The best of a random number of runs: its law and its price by enumeration, and the draw."""

from __future__ import annotations

import itertools
import math
import traceback
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.privacy.repetition import mean_runs, repeated_selection
from dpfast.rng import InsecureGenerator
from dpfast.selection.best_of import BestOf, RunCount

from ..support.noise import p_value
from ..support.pairwise import quick_rows
from ..support.views import quoted

LAWS = [(0.1, 1), (0.3, 0), (0.25, 0.5), (0.25, -0.5), (0.5, 3)]


def runs_pmf(gamma, eta, most=700):
    head = 1 / math.log(1 / gamma) if eta == 0 else eta / (gamma**-eta - 1)
    k = np.arange(1, most)
    steps = (1 - gamma) * np.concatenate([[1.0], (k[:-1] + eta) / (k[:-1] + 1)])
    return head * np.cumprod(steps)


def best_law(q, scores, gamma, eta):
    pmf = runs_pmf(gamma, eta)
    k = np.arange(1, len(pmf) + 1)[:, None]
    below = np.array([q[scores < s].sum() for s in scores])
    own = np.array([q[scores == s].sum() for s in scores])
    each = (below + own) ** k - below**k
    return (pmf @ each) * q / own


@pytest.mark.full
@pytest.mark.parametrize(("gamma", "eta"), LAWS)
def test_the_number_of_runs_is_distributed_as_it_says(gamma, eta):
    law, stream = RunCount(Fraction(gamma), Fraction(eta)), InsecureGenerator(3).stream()
    counts = np.bincount([law.draw(stream) for _ in range(1500)], minlength=7)[1:7]
    pmf = runs_pmf(gamma, eta)
    assert p_value(counts, pmf[:6], 1500) > 1e-9
    assert p_value(counts, runs_pmf(gamma, eta + 1.5)[:6], 1500) < 1e-9  # planted: another eta
    assert pmf.sum() == pytest.approx(1)
    mean = mean_runs(Fraction(gamma), Fraction(eta))
    assert float(mean.low) == pytest.approx(pmf @ np.arange(1, len(pmf) + 1))
    assert 0 <= Fraction(mean.high) - Fraction(mean.low) < Fraction(1, 10**50)


OUTCOMES = 3


def pure_pairs(epsilon):
    """Extreme pairs of distributions of a pure loss, by which answers have which probability."""
    e = math.exp(epsilon)
    for high in itertools.product([1, e], repeat=OUTCOMES):
        if 1 < sum(high) < OUTCOMES * e:
            for low in itertools.product([1, e], repeat=OUTCOMES):
                p, q = np.array(high), np.array(low)
                p, q = p / p.sum(), q / q.sum()
                if max(np.max(p / q), np.max(q / p)) <= e * (1 + 1e-12):
                    yield p, q
    skewed = np.array([1e-3, 1e-3, 1 - 2e-3])
    yield skewed, np.array([1e-3 * e, 1e-3 * e, 1 - 2e-3 * e])


@quick_rows(4)
@pytest.mark.parametrize(("gamma", "eta"), LAWS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_pure_price_by_enumeration(gamma, eta, epsilon):
    scorings = [np.arange(OUTCOMES), np.array([0, 1, 1]), np.array([2, 0, 1])]
    worst = 0.0
    for (p, q), scores in itertools.product(pure_pairs(epsilon), scorings):
        a, b = (best_law(one, scores, gamma, eta) for one in (p, q))
        assert a.sum() == pytest.approx(1)
        worst = max(worst, float(np.abs(np.log(a / b)).max()))
    price = repeated_selection(Pure(epsilon), gamma=gamma, eta=eta)
    assert price == Pure((2 + Fraction(eta)) * Fraction(str(epsilon)))
    assert worst <= float(price.epsilon) * (1 + 1e-9)
    # Planted: the price of one run, as if more of them were free.
    assert worst > epsilon * 1.02


@quick_rows(2)
@pytest.mark.parametrize(("gamma", "eta"), [(0.05, 1), (0.1, 0), (0.2, 0.5)])
@pytest.mark.parametrize("rho", [0.005, 0.1])
def test_the_price_in_rho_by_enumeration(gamma, eta, rho):
    """Of rounded Gaussian noise, whose answers are scored in both directions."""
    delta, sigma = 1e-3, math.sqrt(1 / (2 * rho))
    x = np.arange(-int(12 * sigma) - 2, int(12 * sigma) + 3)
    p, q = (np.exp(-((x - m) ** 2) / (2 * sigma**2)) for m in (0, 1))
    p, q = p / p.sum(), q / q.sum()
    price = repeated_selection(ZCDP(rho), gamma=gamma, eta=eta, delta=delta)
    alone = ZCDP(rho).to_approx(delta)
    pairs = []
    for scores in (x, -x, np.abs(x)):
        a, b = (best_law(one, scores, gamma, eta) for one in (p, q))
        pairs += [(a, b), (b, a)]
    for loss, is_enough in ((price, True), (alone, False)):  # planted: more runs are free
        e = math.exp(loss.epsilon)
        worst = max(np.maximum(a - e * b, 0).sum() for a, b in pairs)
        assert (worst <= delta) == is_enough or (eta != 1 and not is_enough)


def test_prices_are_rounded_up_and_grow():
    ladder = [repeated_selection(ZCDP(0.01), gamma=g, delta=1e-6).epsilon for g in (0.5, 0.1, 0.01)]
    assert ladder == sorted(ladder)
    rho, gamma, eta, delta = 0.01, 0.1, 1.0, 1e-6
    exact = (1 + eta) * (2 * math.sqrt(rho * math.log(1 / gamma)) - rho)
    orders = np.linspace(1.001, 400, 200_000)
    curve = orders * rho + exact + math.log(1 / gamma) / (orders - 1)
    least = (curve + np.log1p(-1 / orders) - np.log(orders * delta) / (orders - 1)).min()
    found = float(repeated_selection(ZCDP(rho), gamma=gamma, delta=delta).epsilon)
    assert found == pytest.approx(least, rel=1e-6)
    large = repeated_selection(ZCDP(100), gamma=0.5, delta=1e-6)  # b = 1
    assert float(large.epsilon) > 2 * math.log(2) + 100
    # A pure loss takes the better of both.
    assert repeated_selection(Pure(1), gamma=0.1, delta=1e-6) == Pure(3)
    small = repeated_selection(Pure(0.001), gamma=0.9, delta=0.1)
    assert isinstance(small, Approx) and small.epsilon < Fraction(3, 1000)


@pytest.mark.full
def test_the_best_leaves_with_the_probability_that_was_derived():
    """Answers 0 .. 3, of which two have one score."""
    q, scores = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0, 1, 1, 2])
    chance = np.random.default_rng(5)

    def run():
        answer = int(chance.choice(4, p=q))
        return int(scores[answer]), answer

    mechanism = quoted(dp.selection.best_of, run, run_loss=Pure(1), gamma=0.3, neighbors="replace")
    rng = InsecureGenerator(2)
    found = [mechanism.finish(run, rng) for _ in range(3000)]
    assert all(one.score == scores[one.answer] for one in found)
    counts = np.bincount([one.answer for one in found], minlength=4)
    assert p_value(counts, best_law(q, scores, 0.3, 1)) > 1e-9
    # Planted: fewer runs, and the last of equals.
    for law in (best_law(q, scores, 0.5, 1), best_law(q, np.arange(4), 0.3, 1)):
        assert p_value(counts, law) < 1e-9


def test_scores_that_are_no_numbers_and_the_first_of_equals(monkeypatch):
    given = {"run_loss": Pure(1), "gamma": 0.01}
    monkeypatch.setattr(RunCount, "draw", lambda self, stream: 7)
    answers = iter([(math.nan, "a"), (-math.inf, "b"), (1, "c"), (Fraction(1), "d")] * 10**4)
    assert dp.selection.best_of(lambda: next(answers), **given) == (1, "c")
    assert dp.selection.best_of(lambda: (math.nan, "x"), **given).answer == "x"
    for bad in (3, (1, 2, 3), ("x", 1), [1, 2], None):
        with pytest.raises(DataError, match="run must return a pair"):
            dp.selection.best_of(lambda bad=bad: bad, **given)


def test_what_is_spent():
    budget = dp.Budget(epsilon=1, delta=1e-5)
    dp.selection.best_of(lambda: (0, 1), run_loss=Pure(0.1), gamma=0.2, budget=budget)
    assert budget.spent["epsilon"] == Fraction(3, 10)
    each = ZCDP(0.001)
    price = repeated_selection(each, gamma=0.2, eta=0, delta=1e-6)
    given = {"run_loss": each, "gamma": 0.2, "eta": 0, "delta": 1e-6}
    assert budget.cost(dp.selection.best_of, lambda: (0, 1), **given) == price
    dp.selection.best_of(lambda: (0, 1), **given, budget=budget)
    assert budget.spent["delta"] == Fraction(1, 10**6)
    assert budget.spent["epsilon"] == Fraction(3, 10) + price.epsilon
    called = []
    with pytest.raises(BudgetError):
        dp.selection.best_of(lambda: called.append(1), run_loss=Pure(1), gamma=0.5, budget=budget)
    assert not called

    def fails():
        raise ZeroDivisionError

    with pytest.raises(DataError, match=r"^run failed \(ZeroDivisionError\)"):
        dp.selection.best_of(fails, run_loss=Pure(Fraction(1, 100)), gamma=0.5, budget=budget)
    assert len(budget.history) == 3


def test_what_is_refused():
    given = {"run_loss": Pure(1), "gamma": 0.5}
    wrong = [*({"gamma": gamma} for gamma in (0, 1, 1e-7, "x"))]
    wrong += [*({"eta": eta} for eta in (-1, 1e-9, 1000)), {"delta": 2}]
    wrong += [{"run_loss": loss} for loss in (ZCDP(1), Approx(1, 1e-6), 1.0)]
    wrong += [{"run": 3}, {"budget": dp.Budget(epsilon=9, neighbors="replace")}]
    for bad in wrong:
        words = rf"^({next(iter(bad))} must|delta|neighbors)"
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            dp.selection.best_of(**{"run": lambda: (0, 0), **given, **bad})


FILE = "dpfast/selection/best_of.py"


def frames_of(error):
    """What an error and those behind it hold on to, in the frames of this package."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename.endswith(FILE):
                yield {k: v for k, v in frame.f_locals.items() if k not in ("self", "summary")}
        error = error.__context__


@pytest.mark.parametrize("last", ["an error", "no pair"])
def test_a_run_that_fails_tells_nothing_of_those_before(last, monkeypatch):
    """Neither how many there were nor what they found; the first failure ends the call."""
    monkeypatch.setattr(RunCount, "draw", lambda self, stream: 5)
    runs = []

    def run():
        runs.append(1)
        if len(runs) < 3:
            return 7, "secret"
        if last == "an error":
            raise ValueError("secret")
        return "secret"

    with pytest.raises(DataError) as caught:
        dp.selection.best_of(run, run_loss=Pure(1), gamma=0.5)
    assert len(runs) == 3 and "secret" not in str(caught.value)
    held = [frame for frame in frames_of(caught.value) if "best" in frame]
    assert held and all({"_", "found", "error"}.isdisjoint(frame) for frame in held)
    assert not any("secret" in repr(frame["best"]) for frame in held)


PASSED_ON = """
def finish(self, summary, generator):
    best = None
    for _ in range(self.runs.draw(generator.stream())):
        best = summary()
    return best
"""


def test_an_error_that_is_passed_on_is_found(monkeypatch):
    space = {}
    exec(compile(PASSED_ON, FILE, "exec"), space)
    monkeypatch.setattr(BestOf, "finish", space["finish"])
    with pytest.raises(ZeroDivisionError) as caught:
        dp.selection.best_of(lambda: 1 / 0, run_loss=Pure(1), gamma=0.5)
    assert any("_" in frame for frame in frames_of(caught.value))
