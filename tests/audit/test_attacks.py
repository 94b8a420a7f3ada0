"""No attack recovers more of secret bits than differential privacy allows, from any interface.

Bits are fair coins, and as many queries are asked as the whole budget pays for. That an attack
stays under the bound proves nothing, so each has its controls: the same questions, answered with
hardly any noise, give (nearly) all bits away; and where one bit asked for at the full loss is told
well enough, noise of half the deviation that was promised is caught.
"""

import dataclasses
import types

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import BudgetError
from dpfast.rng import InsecureGenerator

from ..support import attacks
from ..support.attacks import ATTACKS, interfaces
from ..support.lazy import binom
from ..support.pairwise import full_rows, quick_rows

EVERY = pytest.mark.parametrize("name", list(ATTACKS))
SHARP = pytest.mark.parametrize("name", [name for name, one in ATTACKS.items() if one.sharp])
METHODS = ("least-squares", "lp")
#: How many attacks there are of a kind.
REPEATS = 5
#: How often a correct interface may fail a comparison.
RARE = 1e-5


def limit(attack, bits):
    """What the number of recovered bits stays under, of so many, by the bound of the loss."""
    most = dp.audit.recovery_bound(**attack.loss, steps=attack.steps)
    found = binom.ppf(1 - RARE, bits, most)
    assert found < 0.97 * bits, "too few bits to say anything"
    return found


def guessed(answers, matrix, method, rng):
    if answers is None:
        return rng.random(matrix.shape[1]) < 0.5
    return dp.audit.reconstruct(answers, matrix.shape[1], queries=matrix, method=method)


def expected(attack, refused, asked):
    """That an interface refuses no more often than it says that it may."""
    most = binom.ppf(1 - RARE, asked, attack.refuses)
    assert refused <= most, f"{refused} of {asked} were refused, where {most:.0f} are explained"


def recovered(attack, loss, repeats, seed, methods=METHODS):
    """How many bits each method finds, of ``repeats * attack.rows``."""
    rng, generator = np.random.default_rng(seed), InsecureGenerator(seed)
    coins = np.random.default_rng([seed, 1])
    found, refused = np.zeros(len(methods), int), 0
    for _ in range(repeats):
        bits, sets = attack.draw(rng)
        answers = attack.ask(bits, sets, loss, {"rng": generator})
        refused += answers is None
        matrix = attack.matrix(sets)
        for i, method in enumerate(methods):
            found[i] += (guessed(answers, matrix, method, coins) == bits).sum()
    expected(attack, refused, repeats)
    return found


def one_bit(attack, loss, repeats, seed):
    """How many bits are found, each the only one that is asked about, for a loss of its own."""
    rng, generator = np.random.default_rng(seed), InsecureGenerator(seed)
    coins = np.random.default_rng([seed, 1])
    one = np.ones((1, 1), bool)
    found = refused = 0
    for bit in rng.random((repeats, 1)) < 0.5:
        answers = attack.ask(bit, one, loss, {"rng": generator})
        refused += answers is None
        guess = guessed(answers, attack.matrix(one), "least-squares", coins)
        found += int((guess == bit).sum())
    expected(attack, refused, repeats)
    return found


def missing():
    attacked = {attack.interface for attack in ATTACKS.values()}
    return {name for name, found in interfaces() if found not in attacked}


def test_every_interface_is_attacked():
    assert not missing()
    assert len(dict(interfaces())) > 30


def test_a_new_interface_without_an_attack_is_noticed(monkeypatch):
    class Learner:
        def __init__(self, *, epsilon=None): ...

        def fit(self, X, *, budget=None): ...

    def ask(data, *, epsilon, budget=None): ...

    def public_number(*, epsilon): ...

    module = types.ModuleType("later")
    module.Learner, module.ask, module.public_number = Learner, ask, public_number
    module.__all__ = ["Learner", "ask", "public_number"]
    monkeypatch.setattr(dp, "later", module, raising=False)
    monkeypatch.setattr(dp, "__all__", [*dp.__all__, "later"])
    assert missing() == {"dp.later.Learner", "dp.later.ask"}


@quick_rows(1, full=40)
@EVERY
def test_no_more_is_recovered_than_privacy_allows(name):
    attack = dataclasses.replace(ATTACKS[name], queries=3 * ATTACKS[name].rows)
    bits = REPEATS * attack.rows
    assert (recovered(attack, attack.loss, REPEATS, 1) <= limit(attack, bits)).all()


@quick_rows(3, full=40)
@EVERY
def test_the_same_questions_without_much_noise_give_the_bits_away(name):
    attack = ATTACKS[name]
    assert (recovered(attack, attack.careless(), 1, 2) > 0.93 * attack.rows).all()


@quick_rows(2, full=60)
@pytest.mark.parametrize("name", [name for name, one in ATTACKS.items() if not one.own_budget])
def test_the_attack_spends_the_whole_budget(name):
    attack = ATTACKS[name]
    bits, sets = attack.draw(np.random.default_rng(3))
    budget = dp.Budget(**attack.loss)
    attack.ask(bits, sets, attack.loss, {"budget": budget})
    for kind, amount in attack.loss.items():
        if kind != "delta":  # which is left where pure noise is less, and buys nothing alone
            assert 0 <= budget.remaining[kind] <= attack.slack * amount
    with pytest.raises(BudgetError):
        attack.ask(bits, sets, attack.loss, {"budget": budget})


@full_rows(8)
@SHARP
def test_one_bit_at_the_full_loss_and_noise_of_half_the_deviation(name):
    attack = ATTACKS[name]
    assert one_bit(attack, attack.loss, 1_200, 5) <= limit(attack, 1_200)
    assert one_bit(attack, attack.times(2), 1_200, 6) > limit(attack, 1_200)


@pytest.mark.slow
@EVERY
def test_over_many_attacks_no_more_is_recovered(name):
    attack = ATTACKS[name]
    if attack.own_budget:
        pytest.skip("a job a bit takes too long")
    assert one_bit(attack, attack.loss, 5_000, 7) <= limit(attack, 5_000)
    found = recovered(attack, attack.loss, 10, 10, (*METHODS, "lp-max"))
    assert (found <= limit(attack, 10 * attack.rows)).all()


@pytest.mark.parametrize("often", [0.0, 0.04, 0.2])
def test_an_interface_that_refuses_more_often_than_it_may_is_caught(often):
    """The fault: it refuses in a fifth of the cases, where a twentieth is what its words allow."""
    rng = np.random.default_rng(14)

    def ask(bits, sets, loss, pay):
        return None if rng.random() < often else sets @ (bits + rng.normal(0, 9, len(bits)))

    interface = attacks.Attack(ask, ask, attacks.EPSILON, refuses=0.05)
    if often > interface.refuses:
        with pytest.raises(AssertionError, match="were refused"):
            one_bit(interface, interface.loss, 500, 15)
    else:
        assert 150 < one_bit(interface, interface.loss, 500, 15) < limit(interface, 500)
    with pytest.raises(AssertionError, match="were refused"):
        expected(ATTACKS["counts epsilon"], 1, 1_000)  # which may not refuse at all


@pytest.mark.full
@pytest.mark.parametrize("deviation, is_broken", [(1, True), (96**0.25, True), (58.8, False)])
def test_noise_of_less_than_the_order_of_sqrt_n_is_broken(deviation, is_broken):
    """And noise of six times sqrt(n) is not; no budget, and whatever is asked is answered."""
    rng = np.random.default_rng(11)

    def ask(bits, sets, loss, pay):
        return sets @ (bits * 1) + rng.normal(0, deviation, len(sets))

    interface = attacks.Attack(ask, ask, attacks.EPSILON, rows=96, queries=768)
    found = recovered(interface, interface.loss, 3, 12)
    assert ((found > limit(interface, 3 * 96)) == is_broken).all()


@quick_rows(1)
@pytest.mark.parametrize("name", ["counts epsilon", "sums rho", "histograms rho", "batches rho"])
def test_an_interface_that_charges_once_for_all_questions_is_caught(name):
    """The fault: each of some questions has the noise of one."""
    attack = dataclasses.replace(ATTACKS[name], queries=400)
    rng, generator = np.random.default_rng(13), InsecureGenerator(13)
    found = 0
    for _ in range(3):
        bits, sets = attack.draw(rng)
        answers = [attack.ask(bits, one[None], attack.loss, {"rng": generator})[0] for one in sets]
        guess = dp.audit.reconstruct(answers, len(bits), queries=sets, method="least-squares")
        found += int((guess == bits).sum())
    assert found > limit(attack, 3 * attack.rows)
