"""Private keys: the rules beside their definitions, their losses, their coins, planted faults."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.groups.keys import PrivateCoder
from dpfast.noise.distributions.base import context
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.selection.key_coins import PartitionSelection
from dpfast.selection.key_selection import (
    Divergence,
    EqualParts,
    Round,
    choose_rounds,
    choose_rule,
    part_of,
)

from ..reference.groups import key_selection as twin
from ..support.pairwise import every_value, quick_rows

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


@quick_rows(3)
@pytest.mark.parametrize("loss", [*LOSSES, Approx(500, TINY), Approx(ONE, 1 - TINY)], ids=repr)
def test_bits_are_those_of_the_recursion_by_the_closed_form(loss):
    mp = context(300)
    exact = twin.probabilities(loss.epsilon, loss.delta, 400, mp)
    alone = EqualParts(loss)
    for people, p in enumerate(exact):
        assert abs(alone.precise(people, mp) - p) < mp.ldexp(1, -200)
        assert people < alone.most or p == 1
    rule = EqualParts(loss, 3)
    table = rule.table
    for n in range(0, rule.most + 1, 1 + rule.most // 30):
        assert table[n] in (-1, rule._whole(n))
    assert table.count(-1) <= 1 and len(table) == rule.most + 1 and table[-1] == 1 << 64
    assert table[1] != rule._whole(1) + 1  # planted: rounded up


@quick_rows(2)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_neighbour_tells_more_than_the_loss(loss):
    """Shown or not shown, one person more or less, from the bits that coins compare."""
    epsilon, delta = loss.epsilon, loss.delta
    p = [Fraction(bits, 1 << 64) for bits in bits_of(EqualParts(loss), 399)]
    e = sum(epsilon**k / math.factorial(k) for k in range(60))
    slack = Fraction(e + 1, 1 << 64)  # the bits are rounded down
    assert spent(p, e) <= delta + slack
    assert p[-1] == 1 or epsilon < 1
    for fault in (lambda x: min(2 * x, 1), lambda x: min(x + delta / 2, 1)):
        assert spent([p[0], *map(fault, p[1:])], e) > delta + slack


def bits_of(rule, people):
    return rule.bits([min(n, rule.most) for n in range(people + 1)])


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


RULES = [
    at_order(Approx(ONE, MILLE), 2, 2),
    at_order(Approx(ONE / 2, TINY), 3, 6, 0.8),
    at_order(Approx(3, TINY), 20, 20, 2.5),
]


@quick_rows(1)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_probabilities_are_the_largest_and_no_larger(rule):
    """Within a divergence of r in arbitrary precision, and next to those of the twin."""
    mp, last = context(120), rule.table[-1]
    most = min(rule.most, 20)
    given = rule.loss.epsilon, rule.loss.delta, rule.max_groups, rule.touched, rule.order
    r, exact = twin.by_divergence(*given, most, mp)
    table = [mp.mpf(p) for p in rule.table]
    assert table[0] == 0 < table[1] <= exact[1] and last > 1 - 1e-12
    for p, near in zip(table[1:], exact[1:], strict=False):
        assert p <= near and p * (1 - near) >= (1 - 1e-6) * near * (1 - p)
    for pair in pairwise(table[1:]):
        assert max(twin.divergence(*both, rule.order, mp) for both in (pair, pair[::-1])) <= r
    q, p = table[3], table[4] * (1 + mp.mpf(10) ** -6)  # planted: rounded up
    assert twin.divergence(p, q, rule.order, mp) > r


def exact(rule, reach):
    return [bits / 2**64 for bits in bits_of(rule, reach)]


def largest(pi, loss, most, neighbors, others, weight=lambda keys: 1):
    """The largest delta of all steps: weights of a person's keys come, perhaps another's go.

    Of independent coins it is the sum over answers of (P - e Q)+, whatever others weigh.
    """
    pi, e, worst = np.array(pi, float), math.exp(loss.epsilon), 0.0
    for comes, goes in itertools.product(range(1, most + 1), range(most + 1)):
        if goes and neighbors == "add-remove":
            continue
        new, old = weight(comes), weight(goes) if goes else 0
        for both in range(min(comes, goes) + 1):
            moves = [(new, 0)] * (comes - both) + [(0, old)] * (goes - both) + [(new, old)] * both
            at = np.array(list(itertools.product(others, repeat=len(moves))))
            p, q = (pi[np.minimum(at + side, len(pi) - 1)] for side in zip(*moves, strict=True))
            a = b = np.ones((len(at), 1))
            for x, y in zip(p.T[..., None], q.T[..., None], strict=True):
                a, b = (np.hstack([c * z, c * (1 - z)]) for c, z in ((a, x), (b, y)))
            for one, other in ((a, b), (b, a)):
                worst = max(worst, np.maximum(0, one - e * other).sum(axis=1).max())
    return worst


STEPS = [(1, "add-remove", 24), (2, "add-remove", 24), (3, "add-remove", 16), (1, "replace", 24)]
STEPS += [(2, "replace", 14)]


@every_value
@pytest.mark.parametrize("loss", [Approx(ONE, MILLE), Approx(2, TINY)], ids=repr)
@pytest.mark.parametrize(("groups", "neighbors", "reach"), STEPS)
def test_what_is_shown_of_all_keys_tells_no_more_than_the_loss(loss, groups, neighbors, reach):
    touched = groups * (1 + (neighbors == "replace"))
    order, equal = at_order(loss, groups, touched), EqualParts(loss, touched)
    table = list(order.table)
    faults = [[0.0, *table[2:]]]  # a threshold is reached by one person less
    if groups > 1:  # delta in place of a part for each key
        faults.append([0.0, at_order(loss, 1, 1).first(1), *table[2:]])
    if neighbors == "replace":  # a step of one person
        faults.append(at_order(loss, groups, groups).table)
        faults.append(exact(EqualParts(loss, groups), reach + 1))
    for pi in (exact(order, reach + 1), exact(equal, reach + 1), *faults):
        found = largest(pi, loss, groups, neighbors, range(reach))
        assert (found > loss.delta * (1 + TINY)) == (pi in faults)


def in_a_round(loss, groups, touched, share=ONE, grid=12, factor=1.4, power=Fraction(2, 5)):
    order = 1 + factor * -math.log(loss.delta) / float(loss.epsilon)
    return Round(loss, groups, touched, order, grid, share, power)


ROUNDS = [
    in_a_round(Approx(ONE, MILLE), 2, 2),
    in_a_round(Approx(ONE, TINY), 7, 14, ONE / 16, power=ONE / 5),
    in_a_round(Approx(3, TINY), 40, 40, 15 * ONE / 16, 24),
]


@pytest.mark.parametrize("grid", [1, 12, 64])
@pytest.mark.parametrize("groups", [2, 5, 100, 10**6])
def test_weights_are_rounded_down(groups, grid):
    """In exact integers; no fewer keys share a loss than those of whoever has the weight."""
    rule = in_a_round(Approx(1, TINY), groups, groups, grid=grid)
    keys = np.array([0, *range(1, min(groups, 300) + 1), groups])
    own = rule.weights(keys).tolist()
    assert own == [0, *(twin.weight(k, grid, rule.power) for k in keys[1:].tolist())]
    known = dict(rule.steps)
    assert all(k <= known[m] <= groups for k, m in zip(keys[1:].tolist(), own[1:], strict=True))
    assert groups == 2 or grid == 1 or twin.weight(2, grid, rule.power) + 1 > grid * 2**-0.4


@quick_rows(1)
@pytest.mark.parametrize("rule", ROUNDS, ids=repr)
def test_weights_show_keys_as_often_as_their_definition_says(rule):
    most = 4 * rule.grid
    given = rule.loss, rule.max_groups, rule.touched, rule.order, rule.grid, float(rule.share)
    slow = twin.by_weights(*given, rule.power, most)
    np.testing.assert_allclose(rule.table[: most + 1], slow, rtol=1e-6)
    assert rule.table[-1] > 1 - 1e-12 and sorted(rule.table) == list(rule.table)


def too_far(rule, table):
    mp = context(100)

    def real(x):
        return mp.mpf(x.numerator) / x.denominator

    t, d, share = mp.mpf(rule.order) - 1, real(rule.loss.delta / 2), real(rule.share)
    whole = (t * real(rule.loss.epsilon) + mp.log(d * (t + 1)) + t * mp.log1p(1 / t)) / t
    least, wrong = twin.weight(rule.max_groups, rule.grid, rule.power), 0
    for k in range(1, rule.max_groups + 1):
        m = twin.weight(k, rule.grid, rule.power)
        r = whole * share * rule.max_groups / rule.touched / k
        wrong += (1 - mp.mpf(table[m])) ** k < ((1 - 2 * d) / (1 - d)) ** share
        for n in [*range(least, 2 * rule.grid), *range(2 * rule.grid, len(table) - m, 7)]:
            q, p = mp.mpf(table[n]), mp.mpf(table[n + m])
            if q < p < 1:
                pairs = (p, q), (q, p)
                wrong += max(twin.divergence(*pair, rule.order, mp) for pair in pairs) > r
    return wrong


@quick_rows(1)
@pytest.mark.parametrize("rule", ROUNDS[:2], ids=repr)
def test_no_step_of_a_round_is_above_its_part_of_the_loss(rule):
    table = rule.table[: 8 * rule.grid]
    assert too_far(rule, table) == 0
    assert too_far(rule, (0.0, *table[2:])) > 0  # planted: shown from one unit less on
    assert too_far(rule, [p * (1 + 1e-6) for p in table]) > 0  # planted: the start is rounded up
    assert too_far(replace(rule, grid=rule.grid + 1), table) > 0  # planted: so are weights


@quick_rows(1)
@pytest.mark.parametrize(
    ("groups", "neighbors"), [(2, "add-remove"), (3, "add-remove"), (2, "replace")]
)
def test_what_a_round_shows_tells_no_more_than_the_loss(groups, neighbors):
    """The law of all answers, for every person with 1 .. L keys, whatever others weigh."""
    loss = Approx(2, Fraction(1, 50))
    touched = groups * (1 + (neighbors == "replace"))
    rule = in_a_round(loss, groups, touched, grid=4, factor=1.0)
    weights = {keys: int(rule.weights(np.array([keys]))[0]) for keys in range(1, groups + 1)}
    others = [0, *range(min(weights.values()), 7 if neighbors == "replace" else 10)]

    def worst(pi):
        return largest(pi, loss, groups, neighbors, others, weights.get)

    pi = exact(rule, 40)
    assert 0.05 * loss.delta < worst(pi) <= loss.delta
    assert worst([pi[0], *pi[5:]]) > loss.delta  # planted: shown from one person less on
    assert worst([0, *[max(p, float(loss.delta)) for p in pi[1:]]]) > loss.delta  # for each key


@pytest.mark.parametrize("loss", [Pure(1), ZCDP(1)])
def test_a_loss_without_delta_shows_no_key(loss):
    with pytest.raises(ArgumentError, match="delta"):
        choose_rule(loss, 1, "replace")


@quick_rows(3)
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


def test_people_with_several_keys_have_two_rounds():
    loss = Approx(1, TINY)
    assert choose_rounds(loss, 1, "replace") == choose_rule(loss, 1, "replace")
    rare = Approx(Fraction(1, 2**30), TINY)
    assert choose_rounds(rare, 5, "replace") == choose_rule(rare, 5, "replace")
    first = choose_rounds(loss, 5, "add-remove")
    last = first.after
    assert first.loss == last.loss == loss and last.after is None
    assert first.share + last.share == 1 and first.order == last.order
    assert first.half > 3 * first.grid * last.half / last.grid / 2  # of what stands out alone
    # People with a single key, where noise on weights takes 22 for all of the loss.
    assert math.ceil(last.half / last.grid) == 24


def people_with_keys(seed):
    """Rows of ids and keys, of which the first is everybody's, some of them twice."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 200, 1000)
    keys = np.minimum(rng.geometric(0.2, 1000), 12)
    return np.append(ids, np.arange(200)), np.append(keys, np.zeros(200, int))


def asked(ids, keys, most):
    loss = {"epsilon": 1, "delta": 1e-4}
    found = dp.select_keys(keys, ids=ids, max_groups=most, rng=InsecureGenerator(4), **loss)
    return found.tolist()


def test_totals_are_those_of_a_definition_in_both_rounds(monkeypatch):
    ids, keys = people_with_keys(1)
    totals, rules = [], []

    def keep(self, people, stream):
        totals.append(people.tolist())
        rules.append(self)
        return people >= (np.sort(people)[-3] if len(totals) == 1 else self.half)

    monkeypatch.setattr(PartitionSelection, "keep", keep)
    shown = asked(ids, keys, 13)
    left = {(i, k) for i, k in zip(ids.tolist(), keys.tolist(), strict=True)}
    every = sorted({k for _, k in left})
    for total, rule in zip(totals, rules, strict=True):
        due = dict.fromkeys(every, 0)
        of = Counter(i for i, _ in left)
        for i, k in left:
            due[k] += twin.weight(of[i], rule.grid, rule.power)
        assert total == list(due.values())
        third = sorted(due.values())[-3]
        left = {(i, k) for i, k in left if due[k] < third}
    first, last = (np.array(one) for one in totals)
    assert shown == [
        k for k, a, b in zip(every, first, last, strict=True) if not b or b >= rules[1].half
    ]


@pytest.mark.parametrize("most", [3, 13])
def test_no_order_of_rows_has_a_say_in_what_is_shown(most):
    """Nor have their chunks; of three keys of a person each hash decides by itself."""
    ids, keys = people_with_keys(2)
    keys *= 1 + ids % 5
    due = asked(ids, keys, most)
    assert 5 < len(due) < len(np.unique(keys)) - 5
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(ids))
        assert asked(ids[order], keys[order], most) == due
    cuts = np.array_split(np.arange(len(ids)), 7)
    parts = [pa.chunked_array([pa.array(column[cut]) for cut in cuts]) for column in (ids, keys)]
    assert asked(*parts, most) == due


@pytest.mark.parametrize("changed", ["order", "names"])
def test_keys_in_order_of_appearance_are_found(changed, monkeypatch):
    """Planted: coins are flipped, or groups are hashed, by codes in the order of rows."""
    order = lambda self: np.arange(self.groups) if changed == "order" else None  # noqa: E731
    monkeypatch.setattr(PrivateCoder, changed, order)
    with pytest.raises(AssertionError):
        test_no_order_of_rows_has_a_say_in_what_is_shown(3)


@pytest.mark.parametrize(
    "rule", [*(EqualParts(Approx(e, Fraction(1, 100))) for e in (ONE, TINY)), RULES[0]], ids=repr
)
def test_a_coin_shows_a_key_where_its_word_is_below_the_probability(rule):
    """Numbers of people are counted or sorted, by how many there may be; nobody shows no key."""
    people = np.random.default_rng(3).integers(0, rule.most + 2, 200)
    people[:2] = 2**62, 0
    words = np.frombuffer(InsecureGenerator(2).bytes(1600), "<u8")
    kept = rule.keep(people, InsecureGenerator(2).stream())
    for n, word, shown in zip(people.tolist(), words.tolist(), kept.tolist(), strict=True):
        bits = rule.bits([min(n, rule.most)])[0]
        assert shown == (word < bits) and abs(bits / 2**64 - float(rule.probability(n))) < 1e-15
    assert not kept[1] and len(rule.keep(people[:0], InsecureGenerator(2).stream())) == 0


class Words(list):
    def take(self, size):
        return b"".join(self.word().to_bytes(8, "little") for _ in range(size // 8))

    def word(self):
        return self.pop(0)


@pytest.mark.parametrize(
    "rule", [EqualParts(Approx(1, Fraction(1, 10))), at_order(Approx(1, TINY), 3, 3)], ids=repr
)
def test_a_coin_at_the_edge_takes_further_bits(rule):
    mp = context(400)
    edge = int(mp.floor(mp.ldexp(rule.precise(1, mp), 128)))
    high, low = divmod(edge, 1 << 64)
    one = np.ones(1, np.int64)
    for words, kept in (
        ([high - 1], True), ([high + 1], False), ([high, low - 1, 7], True),
        ([high, low + 1], False),
    ):  # fmt: skip
        assert rule.keep(one, Words(words)).all() == kept
