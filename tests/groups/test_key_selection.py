"""Private keys: the rules beside their definitions, their losses, their coins, planted faults."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpfast.errors import ArgumentError
from dpfast.groups.key_selection import Divergence, EqualParts, choose_rule, part_of
from dpfast.noise.distributions.base import context
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..reference.groups import key_selection as twin
from ..reference.groups import partition_selection as rivals
from ..support.pairwise import quick_rows

LOSSES = [
    Approx(epsilon, delta)
    for epsilon in (Fraction(1, 100), Fraction(1, 20), Fraction(1), Fraction(3))
    for delta in (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 10))
]
ONE, MILLE, TINY = Fraction(1), Fraction(1, 1000), Fraction(1, 10**6)


def at_order(loss, groups, touched, factor=1.2):
    """A rule of divergences with an order near the best one."""
    order = 1 + factor * -math.log(loss.delta) / float(loss.epsilon)
    return Divergence(loss, groups, touched, order)


# ---- Equal parts. ----


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_closed_form_is_the_recursion(loss):
    mp = context(300)
    exact = twin.probabilities(loss.epsilon, loss.delta, 400, mp)
    rule = EqualParts(loss)
    for people, p in enumerate(exact):
        assert abs(rule.precise(people, context(300)) - p) < context(300).ldexp(1, -200)
        assert people < rule.most or p == 1


@pytest.mark.parametrize("loss", [*LOSSES, Approx(500, TINY), Approx(ONE, 1 - TINY)], ids=repr)
def test_bits_by_recursion_are_those_one_by_one(loss):
    """None differs, and hardly any is left open."""
    rule = EqualParts(loss, 3)
    table = rule.table
    for n in range(0, rule.most + 1, 1 + rule.most // 30):
        assert table[n] in (-1, rule._whole(n))
    assert table.count(-1) <= 1 and len(table) == rule.most + 1 and table[-1] == 1 << 64
    assert table[1] != rule._whole(1) + 1  # planted: rounded up


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_neighbour_tells_more_than_the_loss(loss):
    """Shown or not shown, one person more or less, from the bits that coins compare."""
    epsilon, delta = loss.epsilon, loss.delta
    p = [Fraction(bits, 1 << 64) for bits in bits_of(EqualParts(loss), 399)]
    e = exp_down(epsilon)
    slack = Fraction(e + 1, 1 << 64)  # the bits are rounded down
    assert spent(p, e) <= delta + slack
    assert p[-1] == 1 or epsilon < 1
    for fault in (lambda x: min(2 * x, 1), lambda x: min(x + delta / 2, 1)):
        assert spent([p[0], *map(fault, p[1:])], e) > delta + slack


def bits_of(rule, people):
    """What coins compare, for 0 .. people."""
    return rule.bits([min(n, rule.most) for n in range(people + 1)])


def exp_down(epsilon):
    return 1 + sum(epsilon**k / math.factorial(k) for k in range(1, 60))


def spent(p, e):
    """The largest delta that any neighbour and answer needs, for exp(epsilon) = e."""
    return max(
        max(b - e * a, a - e * b, (1 - a) - e * (1 - b), (1 - b) - e * (1 - a))
        for a, b in pairwise(p)
    )


@pytest.mark.parametrize("delta", [TINY, Fraction(1, 3), Fraction(999, 1000)])
@pytest.mark.parametrize("keys", [1, 2, 7, 40])
def test_a_part_of_delta_is_rounded_down_and_hardly(delta, keys):
    part = part_of(delta, keys)
    assert (1 - part) ** keys >= 1 - delta
    assert keys == 1 or (1 - part * (1 + Fraction(1, 10**13))) ** keys < 1 - delta


# ---- Divergences. ----

RULES = [
    at_order(Approx(ONE, MILLE), 2, 2),
    at_order(Approx(ONE / 2, TINY), 3, 6, 0.8),
    at_order(Approx(3, TINY), 20, 20, 2.5),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_probabilities_are_the_largest_and_no_larger(rule):
    """Within a divergence of r in arbitrary precision, and next to those of the twin."""
    mp, last = context(120), rule.table[-1]
    most = min(rule.most, 20)
    r, exact = twin.by_divergence(
        rule.loss.epsilon, rule.loss.delta, rule.max_groups, rule.touched, rule.order, most, mp
    )
    table = [mp.mpf(p) for p in rule.table]
    assert table[0] == 0 < table[1] <= exact[1] and last > 1 - 1e-12
    for p, near in zip(table[1:], exact[1:], strict=False):
        assert p <= near and p * (1 - near) >= (1 - 1e-6) * near * (1 - p)
    for q, p in pairwise(table[1:]):
        assert (
            max(twin.divergence(p, q, rule.order, mp), twin.divergence(q, p, rule.order, mp)) <= r
        )
    q, p = table[3], table[4] * (1 + mp.mpf(10) ** -6)  # planted: rounded up
    assert twin.divergence(p, q, rule.order, mp) > r


def joint(pi, loss, gains, losses, reach):
    """The largest delta of all answers and neighbors, exactly for those where it is about largest.

    One step gives each of `gains` keys a person, and takes one from each of `losses` keys, with
    less than `reach` other people. What is shown of other keys is independent, and the same.
    """
    p = np.array(pi, float)
    sides = [
        np.array(list(itertools.combinations_with_replacement(range(reach), keys)), int).reshape(
            -1 if keys else 1, keys
        )
        for keys in (gains, losses)
    ]
    up = np.repeat(sides[0], len(sides[1]), 0)
    down = np.tile(sides[1], (len(sides[0]), 1))
    before, after = np.hstack([up, down + 1]), np.hstack([up + 1, down])
    total = np.zeros(len(up))
    for shown in itertools.product((False, True), repeat=gains + losses):
        a, b = (np.where(shown, p[n], 1 - p[n]).prod(1) for n in (after, before))
        total += np.maximum(0, a - math.exp(loss.epsilon) * b)
    e, found = exp_down(loss.epsilon), Fraction(0)
    for at in np.argsort(total)[-2:]:
        coins = [[Fraction(pi[n]) for n in side[at].tolist()] for side in (after, before)]
        found = max(found, excess(*coins, e))
    return found


def excess(p, q, e):
    """sum over answers of (P - e Q)+, for independent coins."""
    total = Fraction(0)
    for shown in itertools.product((False, True), repeat=len(p)):
        a, b = (
            math.prod(x if yes else 1 - x for x, yes in zip(coins, shown, strict=True))
            for coins in (p, q)
        )
        total += max(Fraction(0), a - e * b)
    return total


def largest(pi, loss, groups, neighbors, reach):
    """The largest delta of all steps of a person with up to so many keys."""
    most = range(groups + 1)
    steps = [(i, j) for i in most for j in most if i + j and (neighbors == "replace" or not i * j)]
    pi = [*pi, *[pi[-1]] * max(0, reach + 1 - len(pi))]
    return max(joint(pi, loss, i, j, reach) for i, j in steps)


def exact(rule, reach):
    """Probabilities as fractions, as the bits of coins have them."""
    return [Fraction(bits, 1 << 64) for bits in bits_of(rule, reach + 1)]


STEPS = [(1, "add-remove", 24), (2, "add-remove", 24), (3, "add-remove", 16), (1, "replace", 24)]
STEPS += [(2, "replace", 14)]


@pytest.mark.parametrize("loss", [Approx(ONE, MILLE), Approx(2, TINY)], ids=repr)
@pytest.mark.parametrize(("groups", "neighbors", "reach"), STEPS)
def test_what_is_shown_of_all_keys_tells_no_more_than_the_loss(loss, groups, neighbors, reach):
    touched = groups * (1 + (neighbors == "replace"))
    order = at_order(loss, groups, touched)
    for rule in (order, EqualParts(loss, touched)):
        assert largest(exact(rule, reach), loss, groups, neighbors, reach) <= loss.delta * (
            1 + TINY
        )
    table = list(order.table)
    faults = [[0.0, *table[2:]]]  # a threshold is reached by one person less
    if groups > 1:  # delta in place of a part for each key
        faults.append([0.0, at_order(loss, 1, 1).first, *table[2:]])
    if neighbors == "replace":  # a step of one person
        faults.append(at_order(loss, groups, groups).table)
        faults.append(exact(EqualParts(loss, groups), reach)[: reach + 2])
    for fault in faults:
        assert largest(fault, loss, groups, neighbors, reach) > loss.delta * (1 + TINY)


@pytest.mark.full
@pytest.mark.parametrize("factor", [0.7, 1.0, 1.4, 2.5])
@pytest.mark.parametrize("loss", [Approx(ONE / 2, 10 * MILLE), Approx(2, TINY), Approx(8, MILLE)])
@pytest.mark.parametrize(("groups", "neighbors", "reach"), STEPS)
def test_so_it_is_for_all_orders_and_further_out(loss, factor, groups, neighbors, reach):
    touched = groups * (1 + (neighbors == "replace"))
    rule = at_order(loss, groups, touched, factor)
    reach = 14 if touched == 4 else 50
    assert largest(rule.table, loss, groups, neighbors, reach) <= loss.delta * (1 + TINY)


# ---- The choice. ----


@pytest.mark.parametrize("loss", [Pure(1), ZCDP(1)])
def test_a_loss_without_delta_shows_no_key(loss):
    with pytest.raises(ArgumentError, match="delta"):
        choose_rule(loss, 1, "replace")


@quick_rows(8)
@pytest.mark.parametrize("delta", [Fraction(1, 10**300), Fraction(1, 10**59), TINY, 1 - TINY])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2**30), ONE / 4, Fraction(500)])
@pytest.mark.parametrize("groups", [1, 100])
def test_every_loss_has_a_rule(epsilon, delta, groups):
    rule = choose_rule(Approx(epsilon, delta), groups, "replace")
    assert rule.loss == Approx(epsilon, delta)
    half = rule.half
    assert rule.probability(half - 1) < 0.5 <= rule.probability(half)
    assert half <= EqualParts(rule.loss, 2 * groups).half
    people = np.array([0, 1, half, 2**62], np.int64)
    kept = rule.keep(people, InsecureGenerator(3).stream())
    assert not kept[0] and kept[3]


def zipf(top, power):
    """How many keys have n people, n = 0 .. top: a key's people fall with a power of its rank."""
    first = np.maximum(np.arange(top + 2.0), 1) ** (-1 / power)
    keys = first[:-1] - first[1:]
    keys[-1] = first[-2]
    return keys * 1e6


CELLS = list(
    itertools.product(
        (Fraction(1, 10), ONE, Fraction(3)), (Fraction(1, 10**9), TINY), (1, 2, 5, 20)
    )
)


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups"),
    [pytest.param(*cell, marks=() if cell[0] == 1 else pytest.mark.full) for cell in CELLS],
)
def test_never_fewer_keys_than_other_strategies(epsilon, delta, groups):
    loss, most = Approx(epsilon, delta), 10_000
    rule = choose_rule(loss, groups, "add-remove")
    own = [rule.probability(n) for n in range(min(most, rule.most) + 1)]
    own = np.array(own + [own[-1]] * (most + 1 - len(own)))
    others = {
        rival.__name__: np.array(rival(float(epsilon), float(delta), groups, most))
        for rival in rivals.STRATEGIES
    }
    for top, power in itertools.product((100, 1000, most), (0.5, 0.7, 1.0, 1.5)):
        keys = zipf(top, power)
        shown = {name: keys @ p[: top + 1] for name, p in others.items()}
        assert keys @ own[: top + 1] >= (1 - 1e-9) * max(shown.values())
    if groups == 1:
        assert own == pytest.approx(others["truncated_geometric"], rel=1e-6)
    elif groups == 20:  # planted: one of theirs in place of ours would be found
        assert keys @ others["truncated_geometric"] < 0.9 * (keys @ others["gaussian"])
    # Weights by a person's number of keys show no key sooner of people who have all of theirs.
    weighted = rivals.gaussian_weights(float(epsilon), float(delta), groups, most, groups)
    assert own.searchsorted(0.5) <= np.searchsorted(weighted, 0.5)


def test_how_many_people_it_takes():
    """For (1, 1e-6), beside the thresholds of Gaussian noise: 22, 32, 52, 107, 251."""
    loss = Approx(1, TINY)
    halves = [choose_rule(loss, groups, "add-remove").half for groups in (1, 2, 5, 20, 100)]
    assert halves == [14, 26, 39, 62, 109]
    assert choose_rule(loss, 1, "replace").half == 25


# ---- Coins. ----

COINS = [EqualParts(Approx(1, Fraction(1, 100))), at_order(Approx(2, Fraction(1, 50)), 2, 2)]


@pytest.mark.parametrize("rule", COINS, ids=repr)
def test_coins_have_these_probabilities_and_nobody_shows_no_key(rule):
    draws, stream = 40_000, InsecureGenerator(5).stream()
    for people in range(12):
        shown = int(rule.keep(np.full(draws, people), stream).sum())
        p = float(rule.probability(people))
        assert abs(shown - draws * p) <= 4.5 * (draws * p * (1 - p)) ** 0.5
    assert not rule.keep(np.zeros(9, np.int64), stream).any()
    assert len(rule.keep(np.zeros(0, np.int64), stream)) == 0


@pytest.mark.parametrize("epsilon", [ONE, TINY])
def test_few_keys_and_many_people_are_the_same_coins(epsilon):
    """Numbers of people are counted or sorted, by how many there may be."""
    rule = EqualParts(Approx(epsilon, Fraction(1, 100)))
    people = np.random.default_rng(3).integers(0, rule.most + 2, 200)
    people[:2] = 2**62, 0
    words = np.frombuffer(InsecureGenerator(2).bytes(1600), "<u8")
    kept = rule.keep(people, InsecureGenerator(2).stream())
    for n, word, shown in zip(people.tolist(), words.tolist(), kept.tolist(), strict=True):
        assert shown == (word < rule.bits([min(n, rule.most)])[0])
    assert rule.expected(people) == pytest.approx(sum(map(rule.probability, people.tolist())))


class Words:
    """A stream of given words."""

    def __init__(self, *words):
        self.words = list(words)

    def take(self, size):
        return b"".join(self.word().to_bytes(8, "little") for _ in range(size // 8))

    def word(self):
        return self.words.pop(0)


@pytest.mark.parametrize(
    "rule",
    [EqualParts(Approx(1, Fraction(1, 10))), at_order(Approx(1, TINY), 3, 3)],
    ids=repr,
)
def test_a_coin_at_the_edge_takes_further_bits(rule):
    mp = context(400)
    edge = int(mp.floor(mp.ldexp(rule.precise(1, mp), 128)))
    high, low = divmod(edge, 1 << 64)
    one = np.ones(1, np.int64)
    assert rule.keep(one, Words(high - 1)).all()
    assert not rule.keep(one, Words(high + 1)).any()
    assert rule.keep(one, Words(high, low - 1, 7)).all()
    assert not rule.keep(one, Words(high, low + 1)).any()
