"""Noise that groups share: exact laws of two groups, its deviation and its tails by draws."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpfast.measurement.choice import Groups, Moves, centered_groups, choose_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.noise.shared import SharedNoise
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, quick_rows

FAR = 300


def shared(loss, shift, groups=2, most=2, size=1):
    parts = choose_noise(loss, centered_groups(groups, most, size, shift)).noise()
    return SharedNoise(parts, shift.numerator * size, shift.denominator)


def law(noise):
    z, scale = np.arange(-FAR, FAR + 1), float(noise.scale)
    gaussian = noise.distribution == "gaussian"
    p = np.exp(-(z**2) / (2 * scale**2) if gaussian else -np.abs(z) / scale)
    return p / p.sum()


def by_number(noise, most):
    """The law of noise of the number of units, and with each that of a sum, from -most to most."""
    head, each = noise.parts.independent
    z, numbers, places = np.arange(-FAR, FAR + 1), np.arange(-100, 101), np.arange(-most, most + 1)
    of_each, of_sum = law(each), np.zeros((len(numbers), len(places)))
    for one, n in zip(of_sum, numbers, strict=True):
        off = z + noise.times * n
        for u in range(noise.unit):
            y = (off + u) // noise.unit + most
            inside = (y >= 0) & (y < len(places))
            np.add.at(one, y[inside], of_each[inside] / noise.unit)
    return law(head)[numbers + FAR], of_sum


def law_of_two(noise):
    of_head, of_sum = by_number(noise, 40)
    return np.einsum("n,na,nb->ab", of_head, of_sum, of_sum)


def worst(joint, loss, units=((1, 0), (0, 1), (1, 1)), edge=20):
    """The largest part of a loss that a unit uses up, by what it may add to the sums."""
    used, size = [], joint.shape[0]
    a = joint[(slice(edge, size - edge),) * joint.ndim]
    for v in units:
        b = joint[tuple(slice(edge - x, size - edge - x) for x in v)]
        if isinstance(loss, Pure):
            both = (a > 0) & (b > 0)
            used.append(np.abs(np.log(a[both] / b[both])).max() / float(loss.epsilon))
            continue
        for order in (1.5, 2.0, 5.0, 20.0):
            with np.errstate(divide="ignore"):
                total = np.exp(order * np.log(a) + (1 - order) * np.log(b)).sum()
            used.append(math.log(total) / (order - 1) / order / float(loss.rho))
    return max(used)


LOSSES = [Pure(Fraction(1, 2)), Pure(2), ZCDP(Fraction(1, 20)), ZCDP(Fraction(1, 2))]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shift", [Fraction(1, 2), Fraction(1, 4)])
def test_two_groups_cost_no_more_than_the_loss(loss, shift):
    """Planted: the number of units has noise for a tenth of what a unit changes it by."""
    noise = shared(loss, shift)
    assert noise.loss == loss and 0.3 < worst(law_of_two(noise), loss) <= 1 + 1e-6
    if shift == Fraction(1, 2):
        head, each = noise.parts.independent
        parts = replace(noise.parts, independent=(replace(head, scale=head.scale / 10), each))
        assert worst(law_of_two(replace(noise, parts=parts)), loss) > 1.05


#: What a unit adds to two sums of each of two groups: 1 to one of them, or nothing.
IN_TWO = [a + b for a, b in itertools.product(((0, 0), (1, 0), (0, 1)), repeat=2) if any(a + b)]


def law_of_four(noise):
    of_head, of_sum = by_number(noise, 10)
    pairs = np.einsum("na,nb->nab", of_sum, of_sum).reshape(len(of_head), -1)
    return ((pairs.T * of_head) @ pairs).reshape((of_sum.shape[1],) * 4)


@every_value
@pytest.mark.parametrize("loss", [Pure(3), ZCDP(Fraction(1, 2)), ZCDP(1)], ids=str)
@pytest.mark.parametrize("shift", [Fraction(1, 2), Fraction(1, 4)])
def test_two_sums_in_each_of_two_groups_cost_no_more_than_the_loss(loss, shift):
    used = worst(law_of_four(shared(loss, shift, 4)), loss, IN_TWO, 1)
    assert 0.6 < used <= 1 + 1e-6
    if isinstance(loss, ZCDP) and shift == Fraction(1, 2):
        # Planted: as if the two sums of a group were one.
        assert worst(law_of_four(shared(loss, shift, 2)), loss, IN_TWO, 1) > 1.05


def test_noise_over_even_integers_alone_is_found():
    """Planted: without the random rounding all answers would have one parity, that of n."""
    noise = shared(ZCDP(Fraction(1, 2)), Fraction(1, 2))
    head, each = noise.parts.independent
    joint = np.zeros((2, 2))
    of_head, of_each, z = law(head), law(each), np.arange(-FAR, FAR + 1)
    even = np.where(z % 2, 0.0, of_each)
    for n, p in zip(z, of_head, strict=True):
        parity = [even[(z + n) % 2 == side].sum() for side in (0, 1)]
        joint += p * np.outer(parity, parity) / even.sum() ** 2
    assert joint[0, 1] < 1e-12 < joint[0, 0]  # of two groups: never one of either


@quick_rows(2)
@pytest.mark.parametrize("loss", [Pure(1), ZCDP(Fraction(1, 2)), Approx(1, 1e-6)], ids=str)
@pytest.mark.parametrize(("groups", "size"), [(20, 1), (100, 1), (100, 3)])
def test_deviations_and_tails_are_those_of_draws(loss, groups, size):
    norm = Sensitivity(groups, groups * size, groups * size**2, size, (groups, size))
    moves = Moves((size,), norm=norm, groups=Groups(groups, groups, groups))
    least = choose_noise(loss, moves)
    noise = least.noise()
    assert isinstance(noise, SharedNoise)
    assert least.error == pytest.approx(noise.deviation / size)
    assert 0.5 < least.error / choose_noise(loss, replace(moves, groups=None)).error < 0.63
    rng = InsecureGenerator(5)
    drawn = np.array([noise.draw(groups, rng) for _ in range(2000)])
    mean_square = (drawn.astype(float) ** 2).mean(axis=1)
    error = 5.5 * mean_square.std() / math.sqrt(len(drawn))
    assert abs(mean_square.mean() - noise.deviation**2) < error
    beyond = (np.abs(drawn) > noise.half_width(0.05)).mean(axis=1)
    assert beyond.mean() < 0.05 + 5.5 * beyond.std() / math.sqrt(len(drawn))
    assert (np.abs(drawn) > noise.half_width(0.05) // 2).mean() > 0.1
