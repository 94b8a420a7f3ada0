"""The choice of noise: its loss by enumeration, its error by the published numbers, its moves."""

import functools
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.measurement import choice, linear
from dpfast.measurement.choice import Moves, centered_groups, choose_noise
from dpfast.measurement.features import Feature, Moments
from dpfast.measurement.linear import Column
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals.count import half_of
from dpfast.statistics.totals.moments import Mean, Variance
from dpfast.sulq import parts as round_parts
from dpfast.summaries.cells import Cells
from dpfast.summaries.totals import Totals

from ..support.pairwise import every_value
from ..support.views import innermost, quoted


def law_of_one(noise, far):
    z, scale = np.arange(-far, far + 1), float(noise.scale)
    weight = -abs(z) / scale if noise.distribution == "laplace" else -(z**2) / scale**2 / 2
    return np.exp(weight) / np.exp(weight).sum()


def law(noise, far):
    each = [law_of_one(one, far) for one in noise.independent]
    joint = len(noise.sensitivities) - len(each)
    if joint:  # the box of counts: b^(largest entry)
        axes = np.meshgrid(*[abs(np.arange(-far, far + 1))] * joint, indexing="ij")
        found = np.exp(-float(noise.epsilon) * np.maximum.reduce(axes))
        each.append(found / found.sum())
    return functools.reduce(np.multiply.outer, each)


def shifted(found, move, far):
    """The law of the vector that is moved, and of the other, where both are known."""
    here = tuple(slice(far, -far) for _ in move)
    there = tuple(slice(far - m, found.shape[i] - far - m) for i, m in enumerate(move))
    return found[here], found[there]


def worst_loss(noise, moves, order=None):
    far, most = (24, 2) if len(noise.sensitivities) < 4 else (12, 2)
    found, worst = law(noise, far), 0.0
    for move in moves:
        p, q = shifted(found, move, most)
        if order is None:
            worst = max(worst, float(np.log(p / q).max()))
        else:
            inner = float((p**order * q ** (1 - order)).sum())
            worst = max(worst, math.log(inner) / (order - 1) / order)
    return worst


def centered_moves(d):
    return [(1, *(2 * v - 1 for v in row)) for row in itertools.product((0, 1), repeat=d)]


def centered_noise(loss, d):
    return choose_noise(loss, Moves((1,) * (d + 1), (d / 4,) + (0.25,) * d, 1)).noise()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("loss", [Pure(Fraction(3, 4)), ZCDP(Fraction(1, 4))], ids=str)
def test_the_loss_of_centered_counts_is_what_is_charged(d, loss):
    """All rows that can come, by the law on all integers; it is reached, or nearly."""
    noise, moves = centered_noise(loss, d), centered_moves(d)
    assert noise.loss == loss
    if isinstance(loss, Pure):
        assert 0.95 * loss.epsilon < worst_loss(noise, moves) <= loss.epsilon * (1 + 1e-9)
    else:
        assert 0.9 * loss.rho < worst_loss(noise, moves, 1.5) <= loss.rho * (1 + 1e-9)
    # The planted fault: the noise that would do if a row moved A_i or n, and not both.
    both = [tuple(2 * m for m in move) for move in moves]
    assert worst_loss(noise, both) > 1.5 * worst_loss(noise, moves)


def test_noise_over_even_integers_shows_the_parity_of_n():
    """Planted: 2 q_i - n has the parity of n, so an answer tells whether a row is there."""
    noise = law_of_one(centered_noise(ZCDP(Fraction(1, 4)), 2).independent[1], 20)
    noise[1::2] = 0  # the odd ones, -19 .. 19
    p, q = noise[1:-1], noise[2:]
    with np.errstate(divide="ignore"):
        assert np.log(p / q).max() == math.inf


def test_apart_from_the_number_of_rows_joint_noise():
    for epsilon in (Fraction(1, 2), Fraction(2)):
        noise = centered_noise(Pure(epsilon), 20)
        (head,) = noise.independent
        assert noise.distribution == "box" and noise.loss == Pure(epsilon)
        assert head.loss.epsilon + noise.epsilon == epsilon and head.distribution == "laplace"
        assert 1 / head.scale == head.loss.epsilon
    small = choose_noise(Pure(Fraction(3, 4)), Moves((1, 1, 1), (900.0, 1.0, 1.0), 1)).noise()
    assert len(small.independent) == 1
    assert 0.74 < worst_loss(small, centered_moves(2)) <= 0.75 * (1 + 1e-9)


def test_halves_are_rounded_up_or_down_alike():
    rng = InsecureGenerator(1)
    drawn = [half_of(-7, rng) for _ in range(400)]
    assert set(drawn) == {-4, -3} and 150 < drawn.count(-3) < 250
    assert {half_of(6, rng) for _ in range(9)} == {3}


def test_joint_noise_of_today_is_found():
    """A mean and a variance of one column: the pair, and joint stairs from 2.06 and 3.14 on."""
    x = np.zeros(9)
    kw = {"bounds": (0, 1), "neighbors": "add-remove"}
    for call, switch in ((dp.mean, 2.06), (dp.variance, 3.14)):
        for epsilon, kind in ((0.1, None), (switch - 0.1, None), (switch + 0.1, "stairs")):
            noise = quoted(call, x, epsilon=epsilon, **kw).integer_noise
            assert isinstance(noise, IntegerNoise) == (kind is None)
            assert kind is None or noise.distribution == kind
        for loss in ({"rho": 0.1}, {"rho": 3}, {"epsilon": 0.5, "delta": 1e-6}):
            assert isinstance(quoted(call, x, **loss, **kw).integer_noise, IntegerNoise)
        for loss in ({"rho": 0.1}, {"epsilon": 1}, {"epsilon": 9}):
            noise = quoted(call, np.zeros((9, 2)), axis=0, **loss, **kw, nan="raise").integer_noise
            assert len(noise.sensitivities) == (3 if call is dp.mean else 5)


@every_value
@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 1), (3, 2), (4, 2), (4, 4)])
@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 4), Fraction(1, 2)])
def test_moves_of_groups_by_enumeration(d, k, r, shift):
    """A unit adds up to r rows to each of at most k groups, and 1 to the number of units."""
    moves, unit = centered_groups(d, k, r, shift), shift.denominator
    norm, vectors = moves.norm, [
        [unit * (one - shift * r) for one in rows]
        for rows in itertools.product(range(r + 1), repeat=d)
        if sum(one > 0 for one in rows) <= k
    ]  # fmt: skip
    assert norm.l1 == max(sum(map(abs, v)) for v in vectors)
    assert norm.l2_squared == max(sum(x * x for x in v) for v in vectors)
    assert norm.linf == max(max(map(abs, v)) for v in vectors)
    assert moves.sizes == (1,) * (shift > 0) + (norm.linf,)
    if 1 < k < d and shift < 1 / 2:  # the control: as if a unit came in all groups but one
        assert centered_groups(d, k - 1, r, shift).norm.l2_squared < norm.l2_squared


#: Columns of which some have one cell or two, and one that does not move.
FEW_CELLS = {
    "one cell": ((1, 1 + 2.0**-50), (0, 0)),
    "two cells": ((1, 1 + 2 * 2.0**-50), (0, 0)),
    "one cell and many": ((1, 1 + 2.0**-50), (0, 1)),
    "two of one cell": ((1, 1 + 2.0**-50), (1, 1 + 2.0**-50), (0, 1)),
    "many": ((0, 1), (-2, 5)),
}


def uncovered(charged, drawn):
    """Whether noise costs something that is not charged: delta, or more in rho than draws do."""
    if isinstance(drawn, dp.privacy.Approx):
        return charged != drawn
    return isinstance(charged, dp.privacy.Draws) and charged != drawn


@every_value
@pytest.mark.parametrize("name", FEW_CELLS)
@pytest.mark.parametrize(
    "loss",
    [{"epsilon": e, "delta": d} for e in (0.5, 1.5, 1.6, 2.4, 3, 3.1, 3.7) for d in (0, 0.1, 0.3)],
    ids=str,
)
def test_variances_of_columns_are_charged_what_is_drawn_for_any_number_of_rows(name, loss):
    statistic = dp.Variance(bounds=FEW_CELLS[name])
    width = len(FEW_CELLS[name])
    made = innermost(statistic.measure(**loss, unit="replace", columns=width).inner)
    drawn = [made.plan(rows).noise.loss for rows in (2, 3, 10, 100, 1000)]
    assert not any(uncovered(made.loss, each) for each in drawn)
    if name == "one cell" and loss == {"epsilon": 1.5, "delta": 0.1}:
        # Planted: charged for two rows, and drawn for what may be another distribution.
        offered = made.offered_loss
        drawn = linear.plan(statistic, made.columns, made.setting, offered, 99).noise.loss
        charged = linear.plan(statistic, made.columns, made.setting, offered, 1).noise.loss
        assert uncovered(charged, drawn)


def test_whatever_is_chosen_can_be_drawn():
    random = np.random.default_rng(7)
    for _ in range(60):
        m = int(random.integers(2, 7))
        sizes = (1, *(int(size) for size in 2 ** random.integers(0, 12, m)))
        weights = tuple((10 ** random.uniform(-6, 3, m + 1)).tolist())
        loss = Pure(Fraction(int(random.integers(1, 80)), 4))
        noise = choose_noise(loss, Moves(sizes, weights, 1)).noise()
        assert len(noise.add([0] * (m + 1), InsecureGenerator(1))) == m + 1


def test_noise_of_others_is_not_tried_in_learners(monkeypatch):
    """Its loss may be another than was asked for, and learners charge what was asked for."""

    def family(loss, size, moves):
        if isinstance(loss, Pure) and moves.norm is None and len(moves.moving) > 1:
            claimed = Approx(loss.epsilon, Fraction(1, 1000))
            yield choice.NoiseCandidate(0.0, lambda: replace(own.noise(), loss=claimed))

    moves = Moves((1, 4, 4))
    own = choose_noise(Pure(1), moves)
    monkeypatch.setattr(choice, "OF_USERS", [(family, 1.0, False)])
    round_parts.choose_noise.cache_clear()
    assert choose_noise(Pure(1), moves).noise().loss == Approx(1, Fraction(1, 1000))  # the control
    assert round_parts.choose_noise(Pure(1), moves).loss == Pure(1)
    budget = dp.Budget(epsilon=10, delta=0.1)
    X = np.zeros((50, 3))
    dp.learn.KMeans(2, bounds=[(-1, 1)] * 3, epsilon=1, max_iter=1).fit(X, budget=budget)
    assert budget.spent["delta"] == 0


COLUMN = Column(0.0, 4.0, Cells(1.0, -1, 4))
FORMS = [
    (kind, form) for kind in (Mean, Variance) for form in kind(bounds=(0, 4)).forms(COLUMN, False)
]


def test_how_far_values_of_a_range_are_apart_by_enumeration():
    """A row that leaves takes its value along, which may be more than another value changes."""
    for lo, hi in itertools.combinations_with_replacement(range(-3, 4), 2):
        feature, values = Feature((1, 0, 0), lo, hi), range(lo, hi + 1)
        most = max(abs(a - b) for a in values for b in values)
        assert feature.sensitivity("replace", is_public=True) == most
        alone = max(map(abs, values))
        assert feature.sensitivity("add-remove", is_public=False) == alone
        assert feature.sensitivity("replace", is_public=False) == max(most, alone)


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_moments_come_back(kind, form):
    exact = Totals(5, sum=9, squares=23)  # of 0, 1, 3, 3 and 2
    second = exact.squares if kind is Variance else 0
    found = form.moments(form.totals(exact), None)
    whole = found.whole
    assert found == Moments(5 * whole, exact.sum * whole, second * whole, whole)
