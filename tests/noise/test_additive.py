"""Laplace and Gaussian noise for a loss: scales rounded up, deviations and tails by definition."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.additive import additive, analytic, gaussian_scale
from dpfast.noise.distributions import Gaussian, Laplace
from dpfast.privacy import ZCDP, Approx, Pure

mp = mpmath.MPContext()
mp.prec = 200

#: Quotients by these are rounded up as often as down.
NUMBERS = [Fraction(int(n), 1000) for n in np.random.default_rng(0).integers(1, 9000, 60)]


@pytest.mark.parametrize("coordinates", [1, 3])
def test_scales_are_what_the_loss_asks_for_and_never_less(coordinates):
    close = 1 + Fraction(1, 2**48)
    for size in NUMBERS:
        pure = additive(Pure(size), coordinates)
        assert isinstance(pure.distribution, Laplace)
        assert coordinates <= Fraction(pure.unit) * size <= coordinates * close
        normal = additive(ZCDP(size / 8), coordinates)
        assert isinstance(normal.distribution, Gaussian)
        assert coordinates <= size / 4 * Fraction(normal.unit) ** 2 <= coordinates * close
        assert Fraction(pure.scale(7)) >= 7 * Fraction(pure.unit)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-9), (1.0, 1e-6), (5.0, 1e-2)])
def test_the_normal_law_of_an_epsilon_and_a_delta_has_this_delta(epsilon, delta):
    """By the theorem of Balle and Wang; a scale that is hardly less has too large a delta."""

    def least(scale):
        s = 1 / mp.mpf(scale)
        first, second = s / 2 - epsilon / s, -s / 2 - epsilon / s
        return mp.ncdf(first) - mp.exp(epsilon) * mp.ncdf(second)

    scale = analytic(epsilon, delta)
    assert least(scale) <= delta < least(scale * (1 - 2.0**-26))
    noise = additive(Approx(epsilon, delta), 99)
    assert isinstance(noise.distribution, Gaussian)
    square = Fraction(scale) ** 2
    assert 99 <= Fraction(noise.unit) ** 2 / square <= 99 * (1 + Fraction(1, 2**40))
    assert 1 <= Fraction(noise.loss.rho) * 2 * square <= 1 + Fraction(1, 2**40)


@pytest.mark.parametrize("loss", [Pure(0.5), ZCDP(0.5), ZCDP(200), Approx(1, 1e-3)])
def test_deviations_and_tails_are_those_of_the_law(loss):
    noise = additive(loss)
    scale = mp.mpf(noise.scale(3))
    if isinstance(noise.distribution, Laplace):
        deviation, tail = mp.sqrt(2) * noise.unit, lambda x: mp.exp(-x / scale)
    else:
        deviation, tail = noise.unit, lambda x: mp.erfc(x / scale / mp.sqrt(2))
    assert noise.deviation == pytest.approx(float(deviation))
    for failure in (0.5, 0.05, 1e-9):
        assert float(tail(noise.half_width(3, failure))) == pytest.approx(failure, rel=1e-6)


def test_the_public_scale():
    assert gaussian_scale(1.0, 1e-10) == analytic(1.0, 1e-10) == pytest.approx(5.868, abs=1e-3)
    wide = mp.mpf(gaussian_scale(2000, 1e-6))
    rho = 1 / (2 * wide**2)  # epsilon of rho-zCDP, where the theorem above ends
    epsilon = rho + 2 * mp.sqrt(rho * -mp.log(mp.mpf(1e-6)))
    assert 2000 * (1 - 2.0**-30) < epsilon <= 2000
    assert wide < gaussian_scale(500, 1e-6)


@pytest.mark.parametrize("wrong", [(2.0**-31, 0.1), (1, 0), (1, 1), (1, 1e-301), ("x", 0.1)])
def test_what_is_no_loss_is_refused(wrong):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        gaussian_scale(*wrong)
    assert gaussian_scale(2.0**-30, 1e-300) > 1e9
