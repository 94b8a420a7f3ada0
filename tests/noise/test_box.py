"""Noise for integers that a row may move all at once: the norm and its distribution."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpfast.measurement import choice
from dpfast.noise import box as room
from dpfast.noise.box import box_points, ellipsoid_noise, radius
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..reference.noise import box as reference
from ..support.noise import box_noise, p_value
from ..support.pairwise import quick_rows

CASES = [((3, 5), 4), ((1, 1, 1), 1), ((4,), 8), ((2, 7), 4), ((6, 6), 3)]


def furthest(moves, steps, step):
    """By how much the norm moves at most, over all points of a region and all moves of `step`."""
    worst = 0
    for z in reference.points([d + 3 for d in moves]):
        here = reference.norm(z, moves, steps)
        for d in reference.points(step):
            there = tuple(a + b for a, b in zip(z, d, strict=True))
            worst = max(worst, reference.norm(there, moves, steps) - here)
    return worst


@quick_rows(1)
@pytest.mark.parametrize(("moves", "steps"), [((2, 3), 4), ((3, 5), 4), ((1, 1), 1), ((4,), 8)])
def test_a_move_within_the_box_moves_the_norm_by_its_steps(moves, steps):
    """By enumeration in integers; so that exp(-epsilon N / M) is epsilon-DP. It is reached."""
    assert furthest(moves, steps, moves) == steps
    assert furthest(moves, steps, (moves[0] + 1, *moves[1:])) > steps  # the control


def radius_fit(moves, steps, epsilon):
    stream = InsecureGenerator(5).stream()
    drawn = np.array([radius(moves, steps, epsilon, stream) for _ in range(4000)])
    chances = reference.radii(moves, steps, float(epsilon), 400)
    return p_value(np.bincount(drawn, minlength=len(chances))[: len(chances)], chances, 4000)


@quick_rows(1)
@pytest.mark.parametrize(("moves", "steps"), CASES)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5, 2)])
def test_the_radius_has_its_distribution(moves, steps, epsilon):
    assert radius_fit(moves, steps, epsilon) > 1e-3


def test_a_radius_that_is_never_refused_would_be_caught(monkeypatch):
    monkeypatch.setattr(room, "below", lambda n, stream: 0)
    assert radius_fit((3, 5), 4, Fraction(1)) < 1e-6


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**30), Fraction(1), Fraction(2)], ids=str)
@pytest.mark.parametrize(
    "moves", [(1, 1), (1, 2), (3, 1 << 70), (1 << 20, (1 << 20) + 1), (5,) * 9]
)
def test_the_radius_is_asked_for_what_it_has_a_distribution_for(moves, epsilon, monkeypatch):
    """M is at most twice the least move, and geometric numbers have no scale beyond 2**40."""
    asked = []
    monkeypatch.setattr(room, "radius", lambda *a: asked.append(a) or 0)
    noise = box_noise(Pure(epsilon), moves)
    assert noise.distribution == "box" and noise.add(moves, InsecureGenerator(0)) == list(moves)
    ((scaled, steps, used, _),) = asked
    (times,) = {Fraction(large, small) for large, small in zip(scaled, moves, strict=True)}
    assert used == epsilon and times >= 1 and times.denominator == 1
    assert steps <= 2 * min(scaled) and steps / epsilon <= 1 << 40


def test_points_of_a_box_are_uniform():
    stream = InsecureGenerator(6).stream()
    drawn = np.array([box_points([1, 0, 2, 1 << 80], stream)[:3] for _ in range(6000)])
    assert (drawn[:, 1] == 0).all()
    counts = [np.count_nonzero((drawn == z).all(axis=1)) for z in reference.points([1, 0, 2])]
    assert len(counts) == 15 and p_value(counts, [1 / 15] * 15) > 1e-3


LOSSES = [ZCDP(Fraction(1, 2)), Approx(1, Fraction(1, 10**6)), Approx(1, 1e-300), ZCDP(100)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("weights", [(), (1, 3, 2, 4, 2)])
def test_shares_of_a_box(loss, weights):
    """Together they cost what they say; the distribution is one for all, and none is wasted."""
    moves = [1, 5, 0, 1 << 33, 3 << 70]
    noise = box_noise(loss, moves, weights)
    if noise.distribution == "box":
        assert noise.loss == (loss if isinstance(loss, ZCDP) else Pure(loss.epsilon))
        return
    each = [one for one in noise.independent if one is not None]
    assert len(each) == 4 and {one.distribution for one in each} == {noise.distribution}
    parts = zip(filter(None, moves), each, strict=True)
    square = sum((Fraction(move) / (one.scale * 2**one.shift)) ** 2 for move, one in parts)
    alone = integer_noise(loss, Sensitivity.of_one(1 << 32), noise.distribution)
    allowed = Fraction(1 << 32, alone.scale * 2**alone.shift) ** 2
    assert allowed * (1 - Fraction(1, 10**6)) <= square <= allowed * (1 + Fraction(1, 10**12))


def test_a_share_too_many_would_be_caught(monkeypatch):
    """The control: shares of more than 1 together are noise for more than the loss."""
    monkeypatch.setattr(choice, "_parts", lambda *_: dict.fromkeys(range(3), Fraction(1, 2)))
    noise = box_noise(ZCDP(1), [1 << 20] * 3)
    assert sum(Fraction((1 << 20) ** 2) / one.scale**2 for one in noise.independent) > 2


def test_the_distribution_is_chosen_by_public_numbers():
    for loss in [Pure(1), *LOSSES]:
        for moves in [[1, 1], [1, 1 << 60], [1 << 60, 3]]:
            assert box_noise(loss, moves).distribution == box_noise(loss, [1, 1]).distribution
            assert box_noise(loss, moves).loss == box_noise(loss, [1, 1]).loss
            spent = box_noise(loss, moves).loss  # and what is charged buys the same noise
            assert box_noise(spent, moves).distribution == box_noise(loss, moves).distribution


def mixed(loss, moves):
    first = integer_noise(ZCDP(Fraction(1, 2)), Sensitivity.of_one(moves[0]), "gaussian")
    return replace(box_noise(loss, moves), independent=(first,))


OF_TWO_KINDS = mixed(Pure(1), [50, 50, 50])
SUMS = {
    "independent": (box_noise(ZCDP(Fraction(1, 2)), [5, 9, 1 << 40]), {0: 1, 1: -2}),
    "one": (box_noise(ZCDP(Fraction(1, 2)), [5, 0, 7]), {1: 3, 2: Fraction(1, 2)}),
    "of two kinds": (OF_TWO_KINDS, {0: 1, 1: 1}),
    "of two kinds, three": (OF_TWO_KINDS, {0: 2, 1: 1, 2: 1}),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_within_their_bar_as_often_as_it_says(name):
    (noise, factors), rng = SUMS[name], InsecureGenerator(3)
    factors = {place: Fraction(factor) for place, factor in factors.items()}
    draws = np.array([noise.add([0] * 3, rng) for _ in range(500)], object)
    sums = abs(sum(factor * draws[:, place] for place, factor in factors.items()))
    for failure in (0.3, 0.02):
        bar = noise.sum_half_width(failure, factors)
        allowed = 500 * failure + 5.5 * math.sqrt(500 * failure)
        assert np.count_nonzero(sums > bar) <= allowed < np.count_nonzero(sums > bar / 4)


@pytest.mark.parametrize("loss", [ZCDP(Fraction(1, 2)), ZCDP(Fraction(1, 10**12)), Approx(1, 1e-6)])
def test_noise_for_an_ellipsoid_is_in_proportion_to_its_axes(loss):
    axes = [Fraction(3), Fraction(1 << 35), Fraction(7 << 62), Fraction(5 << 120, 3)]
    noise = ellipsoid_noise(loss, [0, 1 << 35, 1 << 61, 1 << 119], axes)
    assert noise.loss == loss and noise.independent[0] is None
    scales = [math.ldexp(float(one.scale), one.shift) for one in noise.independent[1:]]
    for scale, axis in zip(scales, axes[1:], strict=True):
        assert scale == pytest.approx(noise.deviation * float(axis), rel=1e-2)
    assert all(one.scale <= 1 << 40 for one in noise.independent[1:])
    values = [5, 1 << 40, 3 << 70, -(1 << 130)]
    drawn = noise.add(values, InsecureGenerator(4))
    assert drawn[0] == 5 and all(a != b for a, b in zip(drawn[1:], values[1:], strict=True))


def length(noise, axes, share):
    """2 rho of a move to the shell of the ellipsoid, after rounding down with 1 more for each."""
    moves = [float(axis) * math.sqrt(s) for axis, s in zip(axes, share, strict=True)]
    return sum(
        ((math.floor(move) / 2.0**one.shift + (one.shift > 0)) / float(one.scale)) ** 2
        for move, one in zip(moves, noise.independent, strict=True)
    )


def test_rounding_down_is_covered_in_all_directions():
    rho = Fraction(1, 2**50)  # so large noise that units are seen
    axes = [Fraction(1 << 62), Fraction(1 << 20), Fraction(3 << 40)]
    noise = ellipsoid_noise(ZCDP(rho), [1 << 62, 1 << 20, 1 << 41], axes)
    shares = [*np.random.default_rng(2).dirichlet([0.3] * 3, 500), *np.eye(3)]

    def worst(noise):
        return max(length(noise, axes, share) for share in shares) / float(2 * rho)

    assert 0.98 < worst(noise) <= 1
    plain = [  # the control: without the part for units
        replace(
            integer_noise(ZCDP(rho), Sensitivity(1, 1, (axis / (1 << one.shift)) ** 2), "gaussian"),
            shift=one.shift,
        )
        for axis, one in zip(axes, noise.independent, strict=True)
    ]
    assert worst(replace(noise, independent=tuple(plain))) > 1
