"""Conversions and composition: beside mpmath, rounded towards more loss, monotone, and sound."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

import mpmath
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.privacy import (
    ZCDP,
    Approx,
    Draws,
    Filter,
    Pure,
    advanced_composition,
    compose,
    convert,
    group,
    group_within,
    optimal_composition,
    parallel,
    post_processing,
)
from dpfast.privacy import enclosure as interval
from dpfast.privacy.enclosure import DOWN, UP, Interval

from ..reference.privacy import losses as plain
from ..support.pairwise import every_value, pairwise, quick_rows

AR, REP = "add-remove", "replace"
TIGHT = Fraction(1, 10**13)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(plain.DIGITS):
        yield


def amounts(low, high):
    """Decimals of six digits between two powers of ten."""
    return st.builds(
        lambda m, e: Fraction(m) * Fraction(10) ** e,
        st.integers(100_000, 999_999),
        st.integers(low - 5, high - 6),
    )


epsilons = amounts(-6, 3)
rhos = amounts(-8, 3)
deltas = amounts(-12, 0)
few = settings(max_examples=40)


def rounded_up(got, exact):
    """Not below the exact number, and hardly above."""
    got = plain.number(got)
    noise = mpmath.mpf(10) ** (5 - plain.DIGITS)  # of the reference
    assert got >= exact * (1 - noise), "rounded towards less loss"
    assert got <= exact * (1 + mpmath.mpf(10) ** -13), "not tight"


def test_the_check_catches_rounding_to_nearest():
    caught = 0
    for k in range(1, 40):
        exact = plain.mean_loss(Fraction(k, 7))
        try:
            rounded_up(float(exact), exact)
        except AssertionError as fault:
            caught += "less loss" in str(fault)
    assert 10 < caught < 30


@given(epsilons)
@few
@example(Fraction("1e-300"))
@example(Fraction("1e-20"))
@example(Fraction("301"))
@example(Fraction("1e300"))
def test_pure_to_zcdp(epsilon):
    rho = Pure(epsilon).to_zcdp().rho
    with mpmath.workdps(700 if abs(math.log10(epsilon)) > 10 else plain.DIGITS):
        exact = plain.mean_loss(epsilon)
    rounded_up(rho, exact)
    assert rho <= epsilon**2 / 2
    assert rho == ZCDP.of_pure(Pure(epsilon)).rho


@pytest.mark.parametrize("tiny", ["1e-9000", "123e-5000", "1e-400", "-0.5e-9000"])
def test_what_float64_and_int_cannot_print_is_printed(tiny):
    """Integers of more than 4300 digits are no text, and a float64 of it would be 0."""
    amount = Decimal(tiny).copy_abs()
    text = repr(Pure(amount))
    assert float(Decimal(text.split("about ")[1].rstrip(")")) / amount) == pytest.approx(1)
    assert len(text) < 300 and "about 0" not in text
    budget = dp.Budget(epsilon=amount)
    assert str(amount.normalize()).lower() in repr(budget).replace("E", "e")
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        dp.median([1.0], bounds=(0, 1), epsilon=amount, budget=budget)
    with pytest.raises(BudgetError, match="left epsilon="):
        budget.spend(Pure(1), neighbors=REP)


@pytest.mark.full
@given(rhos, deltas)
@few
def test_zcdp_to_approx(rho, delta):
    exact = plain.least(lambda a: plain.epsilon_at(rho, delta, a))
    got = ZCDP(rho).to_approx(delta)
    assert got.delta == delta
    if exact <= 0:
        assert got.epsilon == Fraction(1, 10**300)
        return
    assume(exact > 1e-9 * float(rho))  # else it is the difference of numbers much larger
    rounded_up(got.epsilon, exact)
    log = -mpmath.log(plain.number(delta))
    simple = plain.number(rho) + 2 * mpmath.sqrt(plain.number(rho) * log)
    assert plain.number(got.epsilon) <= simple * (1 + mpmath.mpf(10) ** -13)


@pytest.mark.full
@given(amounts(-4, 1), amounts(-3, 2))
@few
def test_zcdp_to_approx_delta(rho, epsilon):
    exact = plain.least(lambda a: plain.delta_at(rho, epsilon, a))
    assume(mpmath.mpf("1e-9000") < exact < 0.999)
    rounded_up(ZCDP(rho).to_approx_delta(epsilon).delta, exact)


@every_value
@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), 10])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 5)])
def test_the_gaussian_mechanism_keeps_what_is_promised(rho, delta):
    """A distribution with this rho exactly, of which the true delta is known in closed form."""
    promised, most = ZCDP(rho).to_approx(delta), plain.number(delta)
    assert plain.gaussian_delta(rho, promised.epsilon) <= most
    if promised.epsilon > Fraction(1, 100):
        # Not by much: the conversion loses a factor, not orders of magnitude.
        assert plain.gaussian_delta(rho, promised.epsilon) > most / 100
        # The control: what half of rho promises is not kept.
        half = ZCDP(Fraction(rho) / 2).to_approx(delta)
        assert plain.gaussian_delta(rho, half.epsilon) > most


@quick_rows(1)
@pytest.mark.parametrize("epsilon", ["1e-6", "1e-300", "1e-30", "1e30", "1e300"])
@pytest.mark.parametrize("delta", ["0.9", "1e-300"])
def test_the_largest_rho_within_the_ends(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    found = ZCDP.largest(epsilon, delta)
    assert found.to_approx(delta).epsilon <= epsilon
    assert ZCDP(found.rho * (1 + Fraction(1, 2**40))).to_approx(delta).epsilon > epsilon


@pytest.mark.full
@pytest.mark.parametrize("rho", ["1e-300", "1e-20", "1e20", "1e300"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-9", "0.5"])
def test_zcdp_at_the_ends(rho, delta):
    rho, delta = Fraction(rho), Fraction(delta)
    got = plain.number(ZCDP(rho).to_approx(delta).epsilon)
    with mpmath.workdps(650):
        exact = plain.least(lambda a: plain.epsilon_at(rho, delta, a), "1e-320", "1e320")
    most = exact * (1 + mpmath.mpf(10) ** -10) + mpmath.mpf("1e-300")
    assert exact <= got and (got <= most or exact <= 0)


@given(epsilons, deltas)
@few
def test_pure_to_approx(epsilon, delta):
    e = plain.number(epsilon)
    inside = mpmath.exp(e) - plain.number(delta) * (1 + mpmath.exp(e))
    got = Pure(epsilon).to_approx(delta).epsilon
    if inside <= 1:
        assert got <= Fraction(1, 10**6)
        return
    assert 0 <= plain.number(got) - mpmath.log(inside) <= e * mpmath.mpf(10) ** -13
    # That is the point at which one randomized response has this delta.
    assert plain.composed_delta(epsilon, 1, got) <= plain.number(delta)


@given(epsilons, st.integers(1, 2**20))
@few
def test_monotone_from_one_float_to_the_next(epsilon, steps):
    """Neighbors at the resolution of float64, where rounding would show."""
    near = epsilon * (1 + steps * Fraction(1, 2**52))
    for function in (
        lambda e: Pure(e).to_zcdp().rho,
        lambda r: ZCDP(r).to_approx(Fraction(1, 10**6)).epsilon,
        lambda e: optimal_composition(Pure(e), 5, delta=1e-6).epsilon,
    ):
        assert function(epsilon) <= function(near)


def test_sums_are_exact():
    assert compose(*[Pure(0.1)] * 10) == Pure(1)
    assert compose(Pure(0.5), Approx(0.25, 1e-6), Approx(0.25, 1e-6)) == Approx(1, 2e-6)
    assert compose(ZCDP(0.1), ZCDP(0.2)) == ZCDP(Fraction(3, 10))
    assert compose(ZCDP(0.1), Pure(1)).rho == Fraction(1, 10) + Pure(1).to_zcdp().rho
    draws = Draws(1, 2, True)
    assert compose(draws, ZCDP(1)) == ZCDP(1 + draws.to_zcdp().rho)
    assert compose(draws, Pure(1)) == Pure(2)
    for losses, words in (
        ((), "at least one loss"),
        ((ZCDP(1), Approx(1, 0.1)), "all in epsilon or all in rho"),
        ((Approx(1, 0.9), Approx(1, 0.8)), "delta below 1"),
        ((Pure(1), 0.5), "losses"),
    ):
        for function in (compose, partial(parallel, neighbors=REP)):
            with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
                function(*losses)


def test_parallel_takes_the_largest_or_two_of_them():
    assert parallel(Pure(1), Pure(2), neighbors=AR) == Pure(2)
    assert parallel(Approx(1, 0.1), Approx(2, 0.01), neighbors=AR) == Approx(2, 0.1)
    assert parallel(Pure(1), Approx(0.5, 0.01), neighbors=AR) == Approx(1, 0.01)
    assert parallel(ZCDP(1), Pure(2), neighbors=AR).rho == Pure(2).to_zcdp().rho
    replaced = partial(parallel, neighbors=REP)
    assert replaced(Pure(1), Pure(2)) == Pure(4) and replaced(ZCDP(1), ZCDP(2)) == ZCDP(8)
    assert replaced(ZCDP(1), ZCDP(2), ZCDP(2), staying=[None] * 3) == ZCDP(4)
    assert replaced(ZCDP(1), ZCDP(2), staying=[ZCDP(0.5), ZCDP(3.5)]) == ZCDP(3.5)
    assert replaced(Pure(1)) == Pure(2) and replaced(Pure(1), staying=[Pure(1.5)]) == Pure(1.5)
    # The row may leave the only part for none, which is one step of its release.
    assert replaced(Pure(1), staying=[Pure(0.5)]) == replaced(Pure(1), staying=[None]) == Pure(1)
    assert replaced(Pure(1), Pure(2), parts="position") == Pure(2)
    mixed = [Approx(1, 0.01), Approx(2, 0.001), Approx(0.5, 0.02)]
    assert replaced(*mixed, staying=[None] * 3) == Approx(3, 0.03)
    for losses, more, words in (
        (1, {"neighbors": AR, "parts": "position"}, "parts must be 'content'"),
        (1, {"neighbors": AR, "staying": [None]}, "staying must be left out"),
        (2, {"neighbors": REP, "staying": [None]}, "2 losses or None"),
    ):
        with pytest.raises(ArgumentError, match=words):
            parallel(*[Pure(1)] * losses, **more)


def worst_ratio(epsilons, relation, most, others=0):
    """Enumerates: each part releases its count (or its sum over {0, 1, 2} with that scale)
    with two-sided geometric noise; the largest log-ratio over neighbors and answers.
    Rows of `others` parts more are in no release."""
    rows = [(part, value) for part in range(len(epsilons) + others) for value in (1, 2)]

    def answer(data, part):
        return sum(min(v, most) for p, v in data if p == part)

    def loss(x, y):
        return sum(
            Fraction(e) * abs(answer(x, part) - answer(y, part)) / most
            for part, e in enumerate(epsilons)
        )

    def neighbors(a, b):
        if relation == REP:
            return [(a, row) for row in rows] + [(row, b) for row in rows]
        return [(a, b, row) for row in rows] + [(a,), (b,)]

    pairs = itertools.product(rows, repeat=2)
    return max(loss(data, other) for data in pairs for other in neighbors(*data))


def test_parallel_beside_an_enumeration_of_neighbors():
    """The loss of geometric noise is its epsilon times the distance of the answers."""
    epsilons = [1, Fraction(1, 2), Fraction(3, 4)]
    losses = [Pure(e) for e in epsilons]
    for most in (1, 2):
        assert worst_ratio(epsilons, AR, most) == parallel(*losses, neighbors=AR).epsilon == 1
    counts, sums = (worst_ratio(epsilons, REP, most) for most in (1, 2))
    claim = parallel(*losses, neighbors=REP, staying=[None] * 3)
    assert counts == claim.epsilon == Fraction(7, 4)
    assert counts > max(epsilons), "the largest alone is not enough: rows move"
    assert sums <= parallel(*losses, neighbors=REP).epsilon == 2
    for others, least in (0, 0), (1, 1):  # a count: a row that stays changes nothing
        assert worst_ratio([1], REP, 1, others) == least
    assert parallel(Pure(1), neighbors=REP, staying=[None]).epsilon == 1


@given(st.lists(epsilons, min_size=1, max_size=6), deltas)
@few
def test_advanced_composition(each, delta):
    got = advanced_composition(*map(Pure, each), delta=delta)
    assert got.delta == delta
    exact = min(plain.advanced(each, delta), plain.number(sum(each)))
    rounded_up(got.epsilon, exact)


def test_advanced_composition_with_deltas_and_without_sense():
    got = advanced_composition(*[Approx(0.1, 1e-8)] * 100, delta=1e-6)
    assert got.delta == 2 * Fraction(1, 10**6)
    assert got.epsilon == advanced_composition(*[Pure(0.1)] * 100, delta=1e-6).epsilon
    with pytest.raises(ArgumentTypeError, match="ZCDP losses add up"):
        advanced_composition(ZCDP(1), delta=0.1)
    with pytest.raises(ArgumentError, match="delta"):
        advanced_composition(Approx(1, 0.6), delta=0.5)


@given(amounts(-3, 1), st.integers(1, 40), amounts(-9, 0))
@few
def test_optimal_composition(epsilon, times, delta):
    got = optimal_composition(Pure(epsilon), times, delta=delta)
    assert got.delta == delta and got.epsilon <= times * epsilon
    at = plain.composed_delta(epsilon, times, got.epsilon)
    assert at <= plain.number(delta)
    if got.epsilon > Fraction(1, 1000):  # not more than needed
        less = got.epsilon * (1 - TIGHT)
        assert plain.composed_delta(epsilon, times, less) > plain.number(delta)


@given(amounts(-3, 1), st.integers(1, 40), st.integers(0, 98))
@few
def test_optimal_composition_at_an_epsilon(epsilon, times, percent):
    wanted = (times * epsilon * percent + epsilon / 7) / 100
    exact = plain.composed_delta(epsilon, times, wanted)
    assume(exact < 1 - Fraction(1, 10**14))  # what rounds to a delta of 1 is refused
    rounded_up(optimal_composition(Pure(epsilon), times, epsilon=wanted).delta, exact)


@pairwise
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1])
@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 20)])
def test_optimal_composition_by_enumeration(epsilon, times, delta):
    for wanted in (Fraction(epsilon, 3), Fraction(epsilon), times * Fraction(epsilon, 2)):
        exact = plain.enumerated_delta(epsilon, delta, times, wanted)
        got = optimal_composition(Approx(epsilon, delta), times, epsilon=wanted)
        rounded_up(got.delta, exact)
        back = optimal_composition(Approx(epsilon, delta), times, delta=got.delta)
        assert wanted * (1 - Fraction(1, 10**9)) <= back.epsilon <= wanted * (1 + TIGHT)


def test_optimal_composition_refuses_what_makes_no_sense():
    for loss, asked, words in (
        (Pure(1), {}, "epsilon instead"),
        (Pure(1), {"delta": 0.1, "epsilon": 1}, "epsilon instead"),
        (Approx(1, 0.1), {"delta": 0.27}, "in total"),
        (Pure(1), {"epsilon": 3}, "use compose"),
        (Pure(1e300), {"epsilon": 1e300}, "epsilon must be larger"),
        (ZCDP(1), {"delta": 0.1}, "Pure or Approx"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            optimal_composition(loss, 3, **asked)
    assert optimal_composition(Approx(1, 0.1), 3, delta=0.28).delta == Fraction(28, 100)
    assert optimal_composition(Pure(1e300), 3, delta=0.1).epsilon == 3 * Fraction(10) ** 300
    near = optimal_composition(Pure(1e12), 3, delta=0.1).epsilon  # ln(1 - delta) less than the sum
    assert abs(near - 3 * 10**12 + Fraction(105, 1000)) < Fraction(1, 100)


def test_groups():
    assert group(Pure(0.1), 5) == Pure(0.5)
    assert group(ZCDP(0.1), 5) == ZCDP(2.5)
    assert group(Approx(0.1, 1e-6), 1) == Approx(0.1, 1e-6)
    assert group(Draws(1, 2, True), 3) == Draws(3, 2, True)
    with pytest.raises(ArgumentError, match="size must be smaller"):
        group(Approx(10, 0.01), 5)


@given(amounts(-6, 1), amounts(-12, -6), st.integers(2, 5))
@few
def test_the_delta_of_a_group(epsilon, delta, size):
    e = plain.number(epsilon)
    exact = plain.number(delta) * sum(mpmath.exp(i * e) for i in range(size))
    assume(exact < 0.9)
    got = group(Approx(epsilon, delta), size)
    assert got.epsilon == size * epsilon
    rounded_up(got.delta, exact)


def test_the_part_of_a_row_is_the_largest_that_a_group_brings_back():
    for size in (1, 3, 20, 10**6):
        assert group(group_within(Pure(1), size), size) == Pure(1)
        assert group(group_within(ZCDP(0.1), size), size) == ZCDP(0.1)
    assert group_within(Draws(1, 2, True), 4) == Pure(0.25)
    with pytest.raises(ArgumentError, match="loss must be a loss with an epsilon of at most"):
        group_within(Approx(10**7, 0.1), 2)


@given(amounts(-6, 2), amounts(-30, -1), st.integers(2, 50))
@few
def test_the_delta_of_the_part_of_a_row(epsilon, delta, size):
    loss = Approx(epsilon, delta)
    part = group_within(loss, size)
    assert part.epsilon == loss.epsilon / size
    whole = group(part, size)
    assert whole.epsilon == loss.epsilon
    assert loss.delta * (1 - Fraction(1, 10**13)) <= whole.delta <= loss.delta
    # Planted: a part that is rounded up passes what was asked.
    more = group(replace(part, delta=part.delta * (1 + Fraction(1, 10**12))), size)
    assert more.delta > loss.delta


def test_the_rows_of_a_person_are_a_group():
    for loss in (Pure(1), ZCDP(1), Approx(0.1, 1e-6)):
        for k in (1, 2, 7):
            assert convert(loss, AR, AR, max_rows=k) == group(loss, k)
            assert convert(loss, AR, REP, max_rows=k) == group(loss, 2 * k)
            assert convert(loss, REP, AR, max_rows=k) is convert(loss, REP, REP, max_rows=k) is None
    assert convert(Approx(1, 0.1), AR, AR, max_rows=7) is None
    for bad in (0, 2.0, True, "2"):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="max_rows must be an integer"):
            convert(Pure(1), AR, AR, max_rows=bad)


@given(st.lists(st.integers(1, 30), max_size=30))
@few
def test_the_filter_never_passes_its_limit(costs):
    held = Filter(Pure(1))
    taken = [c for c in costs if held.spend(Pure(Fraction(c, 20)))]
    spent = sum(taken, 0)
    assert spent <= 20
    assert held.spent == (Pure(Fraction(spent, 20)) if spent else None)
    assert held.remaining == (Pure(Fraction(20 - spent, 20)) if spent < 20 else None)


def test_the_kinds_of_filter():
    held = Filter(ZCDP(0.5))
    assert held.spend(Pure(1))
    assert held.spent == Pure(1).to_zcdp()
    assert not held.spend(ZCDP(0.5))
    held.require(ZCDP(0.03))
    with pytest.raises(BudgetError, match="refused"):
        held.require(ZCDP(0.03))
    approx = Filter(Approx(1, 1e-6))
    assert approx.remaining == ZCDP.largest(1, 1e-6)
    # Five times as many small costs fit as by adding up epsilons.
    assert sum(approx.spend(Pure(0.01)) for _ in range(1000)) > 480
    assert not approx.spend(Pure(0.5))
    for bad in (Approx(0.1, 0.1), 0.1):
        with pytest.raises(ArgumentTypeError, match="Pure or ZCDP"):
            approx.spend(bad)
    with pytest.raises(ArgumentError, match="no finite epsilon"):
        Filter(Pure(1)).spend(ZCDP(0.1))
    assert "limit" not in repr(held) and "ZCDP" in repr(held)


def test_a_filter_is_for_one_owner():
    held = Filter(Pure(1))
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            copied(held)


def test_threads_never_pass_the_limit():
    held = Filter(Pure(1))
    with ThreadPoolExecutor(8) as team:
        taken = team.map(lambda _: held.spend(Pure(Fraction(1, 64))), range(320))
    assert sum(taken) == 64 and held.remaining is None


def test_a_bad_delta():
    for delta in (0, 1, -0.1, float("nan"), "0.1", None, True):
        for call in (Pure(1).to_approx, ZCDP(1).to_approx, lambda d: ZCDP.largest(1, d)):
            with pytest.raises((ArgumentError, ArgumentTypeError), match="delta must be"):
                call(delta)


def test_what_is_no_fraction_is_read_as_it_is_written():
    for word in ("range_within", "pure_within", "laplace_within", "float_down"):
        within = getattr(dp.privacy, word)
        assert within(0.1) == within(Fraction(1, 10)) == within(Decimal("0.1"))


@pytest.mark.parametrize("kind", [Pure, ZCDP, lambda amount: Draws(amount, cells=1)])
def test_a_loss_as_a_float_is_the_least_that_is_no_less(kind):
    third, two = Fraction(1, 3), Fraction(2, 3)
    for amount in (0.1, third, two, 1, 5e-324, Fraction(1, 10**400)):
        near = float(kind(amount))
        assert type(near) is float and near >= Fraction(str(amount))
        assert math.nextafter(near, 0) < Fraction(str(amount))
    # The planted fault: the nearest float is below one of these.
    assert float(third) < third or float(two) < two or float(Fraction(1, 7)) < Fraction(1, 7)
    with pytest.raises(TypeError):
        float(Approx(1, 0.1))


def test_what_is_at_the_ends_of_what_can_be_said():
    with pytest.raises(ArgumentError, match="at least 1e-300"):
        ZCDP.largest(Fraction(1, 10**301), 0.1)
    for rho in (36, 10**9):  # of 36 it is 1 when it is rounded up
        with pytest.raises(ArgumentError, match="epsilon must be larger"):
            ZCDP(rho).to_approx_delta(1)
    delta = 1 - Fraction(1, 10**200)
    assert ZCDP(3).to_approx(delta).delta == delta
    assert Pure(3).to_approx(delta).epsilon == Fraction(1, 10**300)
    for loss in (Pure(1), ZCDP(1), Approx(1, 0.01)):
        assert post_processing(loss) is loss


numbers = st.builds(
    lambda m, e: Fraction(m, 7) * Fraction(10) ** e,
    st.integers(-(10**30), 10**30),
    st.integers(-60, 5),
)


@given(numbers, numbers.filter(lambda y: y > 0))
def test_sums_products_and_quotients_are_enclosed(x, y):
    a, b = Interval.of(x), Interval.of(y)
    for found, exact, size in (
        (a + b, x + y, max(abs(x), y)),
        (a - b, x - y, max(abs(x), y)),
        (3 - a, 3 - x, max(abs(x), 3)),
        (a * b, x * y, abs(x * y)),
        (a / b, x / y, abs(x / y)),
        (2 / b, 2 / y, 2 / y),
    ):
        low, high = Fraction(found.low), Fraction(found.high)
        assert low <= exact <= high and high - low <= size * Fraction(1, 10**57)
    root = b.sqrt()
    assert Fraction(root.low) ** 2 <= y <= Fraction(root.high) ** 2


def surrounds(found, exact):
    low, high = (mpmath.mpf(str(end)) for end in (found.low, found.high))
    assert low < exact < high and high - low <= abs(exact) * mpmath.mpf(10) ** -35


@given(numbers.map(abs).filter(lambda x: x not in (0, 1)))
@settings(max_examples=50)
def test_functions_are_enclosed(x):
    """Small arguments, on either side of the series, are among these."""
    a = Interval.of(x)
    with mpmath.workdps(160):
        exact = mpmath.mpf(x.numerator) / x.denominator
        surrounds(interval.log_of(x), mpmath.log(exact))
        surrounds(interval.log1p(a), mpmath.log1p(exact))
        if x < 10**5:
            surrounds(interval.exp(a), mpmath.exp(exact))
            surrounds(interval.exp(-a), mpmath.exp(-exact))
            surrounds(interval.expm1(a), mpmath.expm1(exact))
        if x < 1:
            surrounds(interval.log1p(-a), mpmath.log1p(-exact))


def test_an_exponential_that_is_not_widened_is_caught():
    """Planted: decimals round it to the nearest number, whatever the direction."""
    x = Decimal("0.3")
    with mpmath.workdps(160), pytest.raises(AssertionError):
        surrounds(Interval(DOWN.exp(x), UP.exp(x)), mpmath.exp(mpmath.mpf(3) / 10))
