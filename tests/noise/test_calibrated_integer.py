"""Noise for exact integers: what the theorems ask for, and no less; and that it is that noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, norm

from dpfast._core.roots import root_up
from dpfast.errors import ArgumentError
from dpfast.noise import calibrated_integer as integer
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value

LOSSES = [
    *map(Pure, (1, Fraction(1, 10**6), 50)),
    *map(ZCDP, (Fraction(1, 2), Fraction(1, 10**8), 100)),
    *(Approx(1, Fraction(1, 10**9)), Approx(20, Fraction(1, 10**6))),
    Approx(Fraction(1, 1000), Fraction(1, 10**6)),
]


def satisfied(noise, l1, l2_squared):
    """Whether noise of this scale costs no more than it says, by the theorems."""
    loss = noise.loss
    if noise.distribution == "laplace":
        epsilon = l1 / noise.scale
        if isinstance(loss, ZCDP):
            draws = max(1, int(l1 / math.isqrt(math.floor(l2_squared))))
            cells = math.floor(l1 / draws)
            return ZCDP.of_pure(Draws(epsilon, draws, cells=cells)).rho <= loss.rho
        return epsilon <= loss.epsilon
    if noise.distribution == "gaussian":
        return l2_squared / (2 * noise.scale**2) <= loss.rho
    s, epsilon = math.sqrt(l2_squared) / float(noise.scale), float(loss.epsilon)
    # Without the difference of two nearly equal numbers that this would be further out.
    delta = norm.sf(epsilon / s - s / 2) - math.exp(epsilon) * norm.sf(epsilon / s + s / 2)
    return delta <= float(loss.delta) * (1 + 1e-6)


@every_value
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(
    ("l1", "l2_squared"), [(1, 1), (2, 2), (5, 9), (1 << 30, 1 << 60), (1 << 20, 1 << 33)]
)
def test_noise_is_as_much_as_the_theorems_ask_for(loss, l1, l2_squared):
    noise = integer_noise(loss, Sensitivity(2, l1, l2_squared))
    if noise.shift == 0:
        assert satisfied(noise, Fraction(l1), Fraction(l2_squared))
        less = integer.IntegerNoise(
            noise.distribution, noise.scale * Fraction(99, 100), 0, noise.loss
        )
        assert not satisfied(less, Fraction(l1), Fraction(l2_squared))  # and hardly more
    assert noise.scale <= 1 << 40
    if noise.distribution == "laplace" and not isinstance(loss, ZCDP):
        assert noise.loss.epsilon == loss.epsilon
        draws = {(1, 1): 1, (2, 2): 2, (5, 9): 1, (1 << 30, 1 << 60): 1, (1 << 20, 1 << 33): 11}
        if l1 == 1:
            assert noise.loss == Pure(loss.epsilon)
        else:
            n = draws[l1, l2_squared]
            assert noise.shift or noise.loss == Draws(loss.epsilon, n, cells=l1 // n)
    else:
        assert noise.loss == loss


@every_value
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bits", [48, 62, 90, 140])
def test_large_integers_are_divided_first(loss, bits):
    """By so little that the noise hides it: the deviation is that of the undivided integers."""
    l1 = 3 << bits
    noise = integer_noise(loss, Sensitivity(3, l1, (2 << bits) ** 2))
    unit = 1 << noise.shift
    assert noise.shift > 0 and 2**30 <= noise.scale <= 2**40
    l2 = Fraction(2 << bits, unit) + root_up(Fraction(3))
    assert satisfied(noise, Fraction(l1 // unit + 3), l2**2)
    small = integer_noise(loss, Sensitivity(3, 3 << 20, (2 << 20) ** 2))
    if small.shift == 0 and small.distribution == noise.distribution:
        assert noise.deviation == pytest.approx(math.ldexp(small.deviation, bits - 20), rel=1e-5)


@pytest.mark.parametrize("loss", [Pure(Fraction(1, 3)), ZCDP(Fraction(1, 20)), Approx(0.5, 1e-3)])
def test_what_is_drawn_has_its_law_and_a_scale_three_per_cent_off_is_caught(loss):
    noise, size = integer_noise(loss, Sensitivity.of_one(1)), 200_000
    k, drawn = np.arange(-200, 201), np.array(noise.draw(size, InsecureGenerator(5)))
    seen = np.bincount(drawn + 200, minlength=401)

    def p_value(scale):
        if noise.distribution == "laplace":
            pmf = np.exp(-np.abs(k) / scale) * math.tanh(1 / (2 * scale))
        elif noise.distribution == "gaussian":
            pmf = np.exp(-(k**2) / (2 * scale**2))
            pmf /= pmf.sum()
        else:
            pmf = norm.cdf((k + 0.5) / scale) - norm.cdf((k - 0.5) / scale)
        near, due = abs(k) <= 12, pmf * size
        cells = [[*each[near], size - each[near].sum()] for each in (seen, due)]
        return chisquare(*cells, sum_check=False).pvalue

    scale = float(noise.scale)
    assert p_value(scale) > 1e-4 > max(p_value(1.03 * scale), p_value(0.97 * scale))


def test_values_are_added_exactly():
    """Units of a divided integer, and values far beyond float64."""
    noise = integer_noise(Pure(1), Sensitivity.of_one(1 << 80))
    value = 3**80
    unit = 1 << noise.shift
    (found,) = noise.add([value], InsecureGenerator(2))
    z = int(noise.draw(1, InsecureGenerator(2))[0])
    assert found == (value // unit + z) * unit + unit // 2
    plain = integer_noise(Pure(1), Sensitivity.of_one(7))
    z = plain.draw(2, InsecureGenerator(2)).tolist()
    assert plain.add([value, -value], InsecureGenerator(2)) == [value + z[0], -value + z[1]]


@pytest.mark.parametrize("loss", [Pure(501), Pure(Fraction(1, 2**31)), ZCDP(501)], ids=repr)
def test_losses_out_of_range(loss):
    with pytest.raises(ArgumentError, match="at most 500"):
        integer_noise(loss, Sensitivity.of_one(1))
