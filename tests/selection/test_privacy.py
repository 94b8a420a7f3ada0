"""The distributions of selections on all neighbors of small domains, against what is charged.

What leaves is an index drawn exactly (`tests/statistical/test_selection_fit.py`) from the
distribution of a factor `c`. Here `c` and the loss are recorded where real calls release, and the
distribution of that `c`, at high precision, is held against the loss on every pair of neighbors:
with planted factors that are too large for the same checks to catch.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast import selection

from ..reference.selection import exponential as twin
from ..support.pairwise import pairwise, quick_rows

EPSILONS = (0.5, 1.0, 3.0, 8.0)


def factor(function, *args, **options):
    """The factor `c` of the mechanism that a call would run."""
    return dp.extend.prepare(function, *args, **options).mechanism.c


def vectors(n, monotone):
    """Score vectors of 0 .. 3 with their neighbors, and the pairs as two arrays of places."""
    moves = [m for m in itertools.product((-1, 0, 1), repeat=n) if any(m)]
    if monotone:
        moves = [m for m in moves if min(m) >= 0 or max(m) <= 0]
    found: dict[tuple[int, ...], int] = {}
    first, second = [], []
    for scores in itertools.product(range(4), repeat=n):
        for move in moves:
            other = tuple(s + m for s, m in zip(scores, move, strict=True))
            first.append(found.setdefault(scores, len(found)))
            second.append(found.setdefault(other, len(found)))
    return list(found), np.array(first), np.array(second)


@functools.cache
def logs_of(distribution, scores, c):
    return np.array([float(twin.mp.log(p)) for p in DISTRIBUTIONS[distribution](scores, c)])


def logs(distribution, n, c, monotone):
    """Log-probabilities of all vectors, and the pairs of neighbors."""
    scores, first, second = vectors(n, monotone)
    table = np.empty((len(scores), n))
    for row, vector in zip(table, scores, strict=True):
        # Neither distribution changes with the order or a common shift.
        order = np.argsort(vector, kind="stable")
        row[order] = logs_of(distribution, tuple(vector[i] - min(vector) for i in order), c)
    return table[first], table[second]


DISTRIBUTIONS = {
    "exponential": twin.exponential,
    "permute-and-flip": twin.permute_and_flip_by_orders,
}
CALLS = {"exponential": selection.exponential, "permute-and-flip": selection.permute_and_flip}
ROUNDING = 1e-12


@pairwise
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_neighbors_are_told_apart_by_more_than_epsilon(distribution, monotone, epsilon, n):
    c = factor(CALLS[distribution], [0.0, 1.0], sensitivity=1, epsilon=epsilon, monotone=monotone)
    p, q = logs(distribution, n, c, monotone)
    assert np.abs(p - q).max() <= epsilon + ROUNDING
    # And it is tight: five per cent more, or the factor of monotone scores where they are not, is
    # caught, at a loss where the scores 0 to 3 come close to the limit.
    if epsilon == 8.0:
        assert np.abs(p - q).max() > 0.999 * epsilon
        p, q = logs(distribution, n, 1.05 * c, monotone)
        assert np.abs(p - q).max() > epsilon
    if not monotone:
        p, q = logs(distribution, n, 2 * c, monotone)
        assert np.abs(p - q).max() > epsilon


def curve(p, q, orders):
    """D_a / a of pairs of distributions as logs, shape (pairs, n): the largest over pairs and a."""
    worst = 0.0
    for a in orders:
        z = a * p + (1 - a) * q
        top = z.max(axis=1, keepdims=True)
        divergence = (top[:, 0] + np.log(np.exp(z - top).sum(axis=1))) / (a - 1)
        worst = max(worst, float((divergence / a).max()))
    return worst


ORDERS = 1 + np.concatenate([np.geomspace(1e-4, 1, 10), np.geomspace(1.2, 200, 15)])


@quick_rows(1)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("rho", [1 / 32, 1 / 8, 9 / 8, 8])
def test_the_zcdp_curve_of_the_exponential_mechanism_is_below_rho(rho, monotone):
    c = factor(selection.exponential, [0.0, 1.0], sensitivity=1, rho=rho, monotone=monotone)
    x = math.expm1(epsilon := c * (1 if monotone else 2)) / epsilon
    assert math.log(x) - 1 + 1 / x == pytest.approx(rho, rel=1e-9)
    assert math.sqrt(8 * rho) < epsilon  # all of rho is used, which epsilon**2 / 8 would not
    for n in (2, 3, 4):
        p, q = logs("exponential", n, c, monotone)
        assert curve(p, q, ORDERS) <= rho * (1 + 1e-9)
    # The planted fault: a factor for non-monotone scores that only monotone ones allow.
    if not monotone:
        assert curve(*logs("exponential", 4, 2 * c, monotone), ORDERS) > rho


@pytest.mark.parametrize("rho", [0.01, 0.125, 0.5, 3.0])
def test_permute_and_flip_for_rho(rho):
    c = factor(selection.permute_and_flip, [0.0, 1.0], sensitivity=1, rho=rho)
    epsilon = 2 * c
    assert rho * (1 - 1e-9) <= epsilon * math.tanh(epsilon / 2) <= rho
    worst = max(curve(*logs("permute-and-flip", n, c, False), ORDERS) for n in (2, 3))
    assert worst <= rho
    if rho < 1:
        # The planted fault: bounded range claimed for it.
        wrong = math.sqrt(8 * rho) / 2
        assert curve(*logs("permute-and-flip", 3, wrong, False), ORDERS) > rho


@pytest.mark.parametrize("monotone", [False, True])
def test_top_k_on_all_neighbors(monotone):
    """Ordered answers; epsilon is that of the whole answer."""
    epsilon, k = 6.0, 2
    loss = {"sensitivity": 1, "epsilon": epsilon, "monotone": monotone}
    c = factor(selection.top_k, [0.0, 1.0, 2.0], k, **loss)
    scores, first, second = vectors(3, monotone)

    def table(c):
        return np.array([[float(p) for p in twin.peeling(s, c, k).values()] for s in scores])

    found = np.log(table(c))
    p, q = found[first], found[second]
    assert np.abs(p - q).max() <= epsilon + ROUNDING
    assert curve(p, q, ORDERS) <= epsilon**2 / (8 * k)
    wrong = np.log(table(2 * c))  # the epsilon of one draw in place of all
    assert np.abs(wrong[first] - wrong[second]).max() > epsilon


def test_base_weights_cost_nothing():
    """They are public: the same on both neighbors, whatever they are."""
    epsilon = 2.0
    c = factor(selection.exponential, [0.0, 1.0, 2.0], sensitivity=1, epsilon=epsilon)
    base = [0.0, 3.0, -math.inf]
    scores, first, second = vectors(3, False)
    distribution = np.array([[float(p) for p in twin.exponential(s, c, base)[:2]] for s in scores])
    p, q = np.log(distribution[first]), np.log(distribution[second])
    assert np.abs(p - q).max() <= epsilon + ROUNDING


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "monotone"),
    [(0.1, 1, False), (0.1, 3, True), (1, 0.7, False), (Fraction(1, 3), Fraction(2, 7), True)],
)
def test_the_factor_is_rounded_down_by_less_than_a_unit(epsilon, sensitivity, monotone):
    loss = {"sensitivity": sensitivity, "epsilon": epsilon, "monotone": monotone}
    # A float is the decimal that is written: one tenth.
    exact = Fraction(str(epsilon)) / Fraction(str(sensitivity)) / (1 if monotone else 2)
    for call in CALLS.values():
        c = factor(call, [0.0, 1.0], **loss)
        assert Fraction(c) <= exact < Fraction(math.nextafter(c, math.inf))
    c = factor(selection.top_k, [0.0, 1.0, 2.0], 3, **loss)
    assert Fraction(c) <= exact / 3 < Fraction(math.nextafter(c, math.inf))


TABLE = np.arange(12.0).reshape(4, 3)
LINE = np.arange(5.0)


CHARGED = [
    (lambda **o: selection.exponential(LINE, **o), 1),
    (lambda **o: selection.exponential(LINE, size=(2, 3), **o), 6),
    (lambda **o: selection.exponential(TABLE, axis=0, **o), 3),
    (lambda **o: selection.exponential(TABLE, size=5, **o), 20),
    (lambda **o: selection.permute_and_flip(LINE, size=7, **o), 7),
    (lambda **o: selection.permute_and_flip(TABLE, axis=0, **o), 3),
    (lambda **o: selection.noisy_max(LINE, **o), 1),
    (lambda **o: selection.top_k(LINE, 3, **o), 1),
    (lambda **o: selection.top_k(TABLE, 2, axis=0, **o), 3),
]


@pytest.mark.parametrize(("call", "times"), CHARGED)
def test_what_a_budget_is_charged(call, times):
    for name, amount in (("epsilon", 0.1), ("rho", 0.1)):
        budget = dp.Budget(**{name: 100})
        call(sensitivity=1, budget=budget, **{name: amount})
        assert budget.spent[name] == times * Fraction(1, 10)
        assert len(budget.history) == 1
        budget = dp.Budget(**{name: times * Fraction(1, 10) - Fraction(1, 10**9)})
        with pytest.raises(dp.errors.BudgetError):
            call(sensitivity=1, budget=budget, **{name: amount})
        assert budget.spent[name] == 0
