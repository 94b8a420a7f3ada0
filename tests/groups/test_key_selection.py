"""Private keys: the optimal rule beside its recursion, its loss, its coins, planted faults."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpfast.groups.key_selection import KeyRule
from dpfast.noise.distributions.base import context
from dpfast.rng import InsecureGenerator

from ..reference.groups import key_selection as twin

LOSSES = [
    (epsilon, delta)
    for epsilon in (Fraction(1, 100), Fraction(1, 20), Fraction(1), Fraction(3))
    for delta in (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 10))
]


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
def test_the_closed_form_is_the_recursion(epsilon, delta):
    mp = context(300)
    exact = twin.probabilities(epsilon, delta, 400, mp)
    rule = KeyRule(epsilon, delta)
    for people, p in enumerate(exact):
        assert abs(rule.probability(people, context(300)) - p) < context(300).ldexp(1, -200)


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
def test_no_neighbour_tells_more_than_the_loss(epsilon, delta):
    """Shown or not shown, one person more or less, from the bits that coins compare."""
    rule = KeyRule(epsilon, delta)
    p = [Fraction(rule.bits(people), 1 << 64) for people in range(400)]
    e = 1 + sum(epsilon**k / factorial(k) for k in range(1, 60))
    slack = Fraction(e + 1, 1 << 64)  # the bits are rounded down
    assert spent(p, e) <= delta + slack
    assert p[-1] == 1 or epsilon < 1
    for fault in (lambda x: min(2 * x, 1), lambda x: min(x + delta / 2, 1)):
        assert spent([p[0], *map(fault, p[1:])], e) > delta + slack


def factorial(k):
    return 1 if k < 2 else k * factorial(k - 1)


def spent(p, e):
    """The largest delta that any neighbour and answer needs, for exp(epsilon) = e."""
    return max(
        max(b - e * a, a - e * b, (1 - a) - e * (1 - b), (1 - b) - e * (1 - a))
        for a, b in pairwise(p)
    )


def test_coins_have_these_probabilities_and_nobody_shows_no_key():
    rule, draws = KeyRule(Fraction(1), Fraction(1, 100)), 40_000
    stream = InsecureGenerator(5).stream()
    for people in range(12):
        shown = int(rule.keep(np.full(draws, people), stream).sum())
        p = float(rule.probability(people, context(100)))
        assert abs(shown - draws * p) <= 4.5 * (draws * p * (1 - p)) ** 0.5
    assert not rule.keep(np.zeros(9, np.int64), stream).any()


class Words:
    """A stream of given words."""

    def __init__(self, *words):
        self.words = list(words)

    def take(self, size):
        return b"".join(self.word().to_bytes(8, "little") for _ in range(size // 8))

    def word(self):
        return self.words.pop(0)


def test_a_coin_at_the_edge_takes_further_bits():
    rule = KeyRule(Fraction(1), Fraction(1, 10))
    mp = context(400)
    edge = int(mp.floor(mp.ldexp(rule.probability(1, mp), 128)))
    high, low = divmod(edge, 1 << 64)
    one = np.ones(1, np.int64)
    assert rule.keep(one, Words(high - 1)).all()
    assert not rule.keep(one, Words(high + 1)).any()
    assert rule.keep(one, Words(high, low - 1)).all()
    assert not rule.keep(one, Words(high, low + 1)).any()
