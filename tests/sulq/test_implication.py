"""The implication test and the estimate of its strength: formulas, errors, power, what they ask."""

import dataclasses
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.rng import InsecureGenerator

from ..reference.sulq import implication as reference
from ..support.lazy import norm
from ..support.names import shown
from ..support.pairwise import quick_rows

YES = dp.sulq.Attribute()


def planted(n, a, given, otherwise, seed=0):
    """alpha for a part of the rows, beta for one part of these and another of the others."""
    alpha, beta = np.zeros(n, bool), np.zeros(n, bool)
    k = round(a * n)
    alpha[:k] = True
    beta[: round(given * k)] = True
    beta[k : k + round(otherwise * (n - k))] = True
    order = np.random.default_rng(seed).permutation(n)
    return alpha[order], beta[order]


def parties(alpha, beta, seed, queries=1, other=None, **loss):
    kw = {"neighbors": "replace", **(loss or {"rho": 0.5})}
    a = dp.sulq.NoisySums(alpha, queries=queries, rng=InsecureGenerator(3 * seed), **kw)
    b = dp.sulq.NoisySums(beta, queries=other or queries, rng=InsecureGenerator(3 * seed + 1), **kw)
    return a, b, InsecureGenerator(3 * seed + 2)


def test_an_estimate_is_that_of_the_definition():
    alpha, beta = planted(3000, 0.3, 0.6, 0.35)
    a, b, rng = parties(alpha, beta, 5)
    found = dp.sulq.implication_strength(a, YES, b, YES, sets=300, rng=rng)
    a, b, rng = parties(alpha, beta, 5)  # the same answers again
    sets = dp.sulq.RowSets.random(3000, 300, rng)
    noise = a.contrast_deviation(300)
    (total, x), (other, y) = a.contrasts(YES, sets), b.contrasts(YES, sets)
    expected, error = reference.estimate(3000, sets.sizes, total, x, other, y, noise)
    assert found.strength == pytest.approx(expected, rel=1e-9)
    assert error < found.error < 1.05 * error  # fractions are noisy, too
    assert found.alpha == total / 3000 and found.beta == other / 3000 and found.sets == 300


CASES = {
    "usual": ((4000, 0.3, 0.6, 0.35), {"rho": 0.5}, None),
    "few sets": ((4000, 0.3, 0.6, 0.35), {"rho": 0.5}, 150),
    "always": ((4000, 0.3, 1.0, 0.0), {"rho": 0.5}, None),
    "nothing": ((20_000, 0.1, 0.2, 0.2), {"epsilon": 1, "delta": 1e-6}, None),
    "the contrary": ((20_000, 0.3, 0.1, 0.5), {"epsilon": 1}, None),
    "little noise": ((1000, 0.4, 0.7, 0.2), {"rho": 100}, 500),
}


def scores(case, times=60, scale=1.0):
    """By how many of its standard errors each of many estimates is off."""
    plan, loss, sets = CASES[case]
    alpha, beta = planted(*plan)
    truth, found = reference.strength(alpha, beta), []
    for seed in range(times):
        a, b, rng = parties(alpha, beta, seed, **loss)
        one = dp.sulq.implication_strength(a, YES, b, YES, sets=sets, rng=rng)
        found.append((scale * one.strength - truth) / one.error)
    return np.array(found)


@quick_rows(1)
@pytest.mark.parametrize("case", list(CASES))
def test_estimates_have_the_error_that_they_state(case):
    z = scores(case)
    assert abs(z.mean()) < 4 / math.sqrt(len(z)) and 0.7 < z.std() < 1.4
    if case == "usual":  # planted: a factor that is forgotten, 1 - a
        found = scores(case, scale=1 / 0.7)
        assert abs(found.mean()) > 4 / math.sqrt(len(found))


@pytest.mark.parametrize("fraction", [0, 1])
def test_what_never_or_always_holds_has_no_strength(fraction):
    alpha, beta = planted(2000, fraction, 0.6, 0.6)
    for seed in range(2):
        a, b, rng = parties(alpha, beta, seed, rho=5)
        found = dp.sulq.implication_strength(a, YES, b, YES, rng=rng)
        assert math.isfinite(found.strength) and abs(found.strength) < 5 * found.error
        a, b, rng = parties(alpha, beta, seed, queries=9, rho=5)
        assert dp.sulq.implication_test(a, YES, b, YES, 0.2, trials=8, rng=rng).tried <= 8


def rates(strength, times, votes, plan=(2000, 0.3, 0.6, 0.35), rho=150, **change):
    """How many votes say yes."""
    alpha, beta = planted(*plan)
    own = 0
    for seed in range(times):
        a, b, rng = parties(alpha, beta, seed, queries=601, other=votes + 1, rho=rho)
        one = dp.sulq.implication_test(a, YES, b, YES, strength, votes=votes, trials=600, rng=rng)
        assert len(one.excesses) == votes and votes < one.tried < 30 * votes  # a thirteenth
        own += dataclasses.replace(one, **change).votes(strength)
    return own / times / votes


def expected(strength, plan=(2000, 0.3, 0.6, 0.35), rho=150, queries=601, votes=1):
    """The part of the votes if answers are normal, as far as a set has an excess."""
    n, a, given, otherwise = plan
    b, slope = a * given + (1 - a) * otherwise, given - otherwise
    x, y = n * a * (1 - a) / 4, n * b * (1 - b) / 4
    noise, other = (1.25 * t / (2 * rho) for t in (queries, votes + 1))
    part = x / (x + noise)
    rest = math.sqrt(y + other - slope**2 * x * part)
    least = math.sqrt(n / 2 * a * (1 - a))
    g = norm.isf(np.random.default_rng(0).random(4000) * norm.sf(least / math.sqrt(x + noise)))
    excess = g * math.sqrt(x + noise)
    return norm.cdf((slope - strength / (1 - a)) * part * excess / rest).mean()


TRUTH = 0.6 - (0.3 * 0.6 + 0.7 * 0.35)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("off", [-0.3, 0.0, 0.3])
def test_a_vote_is_as_good_as_the_normal_distribution_says(off):
    wanted = expected(TRUTH + off, votes=11)
    assert abs(rates(TRUTH + off, 60, 11) - wanted) < 4 * math.sqrt(0.25 / 660)
    assert (off == 0) == (abs(wanted - 0.5) < 0.03)


@pytest.mark.full
def test_an_excess_of_noise_is_no_excess():
    """Half of the votes at the true strength, where a quarter of an excess is noise."""
    kw = {"strength": 0.7, "times": 40, "votes": 11, "plan": (2000, 0.3, 1.0, 0.0), "rho": 10}
    assert rates(**kw) == pytest.approx(0.5, abs=0.12)
    assert rates(**kw, reliability=1.0) < 0.38  # planted: all of it is taken for one


def test_search_finds_where_half_of_the_votes_are_lost():
    found = dp.sulq.ImplicationTest(0.25, 0.5, (10.0, 20.0, 30.0), (1.0, 4.0, 9.0), 0.5, 40, 0.2)
    ratios = np.array([0.1, 0.2, 0.3]) * 0.75 / 0.5
    assert found.search() == pytest.approx(np.median(ratios), abs=1e-6)
    assert found.search(1e-300) == pytest.approx(np.median(ratios), rel=1e-12)
    assert [found.votes(s) for s in (0.1, 0.2, 0.4, 0.5)] == [3, 2, 1, 0]
    assert found.holds and not dataclasses.replace(found, strength=0.31).holds
    none = dataclasses.replace(found, excesses=(), answers=())
    assert not none.holds and math.isnan(none.search())
    for bad in (0, -1, "x"):
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            found.search(bad)


class Scripted:
    """A party that answers from a list, whatever its rows are, and remembers what it was asked."""

    neighbors, deviation, rows = "replace", 2.0, 1000

    def __init__(self, seed, remaining=1000):
        self.answers, self.asked = np.random.default_rng(seed), []
        self.remaining = remaining

    def contrast_deviation(self, sets):
        return math.sqrt(sets)

    def sum(self, f, rows=None):
        self.asked.append((f, None if rows is None else rows.tobytes()))
        size = 1000 if rows is None else int(rows.sum())
        return 0.4 * size + self.answers.normal(0, 15)

    def contrasts(self, f, sets):
        self.asked.append((f, sets.to_bytes()))
        return 400.0, self.answers.normal(0, 15, len(sets))


def test_questions_depend_on_answers_alone():
    """With other rows and the same answers everything is asked as before; sets have no pattern."""
    runs = []
    for _ in range(2):
        a, b = Scripted(1), Scripted(2)
        dp.sulq.implication_test(a, YES, b, YES, 0.1, votes=3, trials=90, rng=InsecureGenerator(4))
        dp.sulq.implication_strength(a, YES, b, YES, rng=InsecureGenerator(5))
        runs.append((a.asked, b.asked))
    assert runs[0] == runs[1]
    asked, of_b = runs[0]
    assert set(of_b) <= set(asked)  # b hears of no set that a has not heard of
    sizes = [np.frombuffer(rows, bool).sum() for _, rows in asked[1:-1]]
    assert abs(np.mean(sizes) - 500) < 4 * math.sqrt(250 / len(sizes))


def test_the_number_of_sets_is_chosen_from_public_numbers():
    loss, n = {"rho": 0.5}, 8000
    for value in (False, True):
        alpha = np.full(n, value)
        a, b, rng = parties(alpha, ~alpha, 1, **loss)
        assert dp.sulq.implication_strength(a, YES, b, YES, rng=rng).sets == 1000
    few = [
        dp.sulq.implication_strength(a, YES, b, YES, rng=rng).sets
        for a, b, rng in (parties(alpha[:m], alpha[:m], 1, **loss) for m in (200, 1000))
    ]
    assert 8 <= few[0] < few[1] < 1000


@pytest.mark.parametrize("remaining", [0, 4])
def test_nothing_is_asked_when_a_question_may_be_missing(remaining):
    a, b = Scripted(1), Scripted(2, remaining)
    for one, other in ((a, b), (b, a)):
        with pytest.raises(BudgetError, match="no query was made"):
            dp.sulq.implication_test(one, YES, other, YES, 0.1, votes=4, trials=4)
        if not remaining:
            with pytest.raises(BudgetError, match="no query was made"):
                dp.sulq.implication_strength(one, YES, other, YES)
    assert not a.asked and not b.asked


def sums(rows=10, **kw):
    return dp.sulq.NoisySums(np.zeros(rows), rho=1, queries=100, **{"neighbors": "replace", **kw})


BAD = [
    *(({party: sums(neighbors="add-remove")}, "both parties have the same rows") for party in "ab"),
    ({"b": sums(11)}, "as many rows"),
    ({"a": sums(1), "b": sums(1)}, "at least 2"),
    ({"alpha": "count"}, "made of dpfast.sulq.Attribute"),
    ({"beta": np.zeros(10)}, "made of dpfast.sulq.Attribute"),
    ({"rng": 3}, "rng"),
]
STRENGTH = {"sets": [7, 9.5], "questions": [0]}
TEST = {"strength": [1.5, math.nan], "votes": [0], "trials": [0], "heavy": [0.0]}


@pytest.mark.parametrize(("function", "change", "words"), [
    *((f, *bad) for f in (dp.sulq.implication_test, dp.sulq.implication_strength) for bad in BAD),
    (dp.sulq.implication_strength, {"questions": 101}, "may have to answer 101"),
    *((dp.sulq.implication_strength, {key: x}, key) for key in STRENGTH for x in STRENGTH[key]),
    *((dp.sulq.implication_test, {key: x}, key) for key in TEST for x in TEST[key])
], ids=shown)  # fmt: skip
def test_bad_arguments_ask_nothing(function, change, words):
    a, b = sums(), sums()
    strength = {"strength": 0.1} if function is dp.sulq.implication_test else {}
    given = {"a": a, "alpha": YES, "b": b, "beta": YES, **strength, **change}
    with pytest.raises((ArgumentError, ArgumentTypeError, BudgetError), match=words):
        function(**given)
    assert a.remaining == b.remaining == 100


def test_each_party_pays_for_its_own_answers(tmp_path):
    alpha, beta = planted(500, 0.3, 0.6, 0.35)
    budgets = [dp.Budget(rho=1), dp.Budget(epsilon=2)]
    kw = {"queries": 2, "neighbors": "replace"}
    a = dp.sulq.NoisySums(alpha, rho=0.25, budget=budgets[0], **kw)
    b = dp.sulq.NoisySums(beta, epsilon=0.5, budget=budgets[1], **kw)
    for _ in range(2):
        dp.sulq.implication_strength(a, YES, b, YES)
    with pytest.raises(BudgetError):
        dp.sulq.implication_strength(a, YES, b, YES)
    assert [len(budget.history) for budget in budgets] == [1, 1]
    assert budgets[0].spent["rho"] == 0.25 and budgets[1].spent["epsilon"] == 0.5
    (tmp_path / "t.csv").write_text("x\n1\n0\n")
    unknown = dp.sulq.NoisySums(dp.scan(tmp_path / "t.csv", column="x"), rho=1, **kw)
    with pytest.raises(ArgumentError, match="data of known length"):
        dp.sulq.implication_strength(unknown, YES, sums(2), YES)
