"""Noise for exact integers and in domains: as much as theorems ask for, no less, with its law."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast._core.roots import root_up
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise import calibrated_integer as integer
from dpfast.noise.additive import additive, analytic, gaussian_scale
from dpfast.noise.bounded_domain import DomainNoise, domain_noise, loss_above
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.distributions import Gaussian, Laplace
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator

from ..support.lazy import norm
from ..support.noise import p_value
from ..support.pairwise import every_value, quick_rows

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
    k, drawn = np.arange(-12, 13), np.array(noise.draw(size, InsecureGenerator(5)))
    counts = np.bincount(drawn[abs(drawn) <= 12] + 12, minlength=25)

    def fit(scale):
        if noise.distribution == "laplace":
            pmf = np.exp(-np.abs(k) / scale) * math.tanh(1 / (2 * scale))
        elif noise.distribution == "gaussian":
            pmf = np.exp(-(k**2) / (2 * scale**2)) / scale / math.sqrt(2 * math.pi)
        else:
            pmf = norm.cdf((k + 0.5) / scale) - norm.cdf((k - 0.5) / scale)
        return p_value(counts, pmf, size)

    scale = float(noise.scale)
    assert fit(scale) > 1e-4 > max(fit(1.03 * scale), fit(0.97 * scale))


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


DOMAINS = [(1, 1), (2, 1), (5, 1), (5, 2), (5, 5), (40, 3), (40, 39)]
EPSILONS = [Fraction(1, 20), Fraction(1), Fraction(6)]


def law(most, scale):
    places = np.arange(most + 1)
    weights = np.exp(-np.abs(places[:, None] - places) / float(scale))
    return weights / weights.sum(axis=1, keepdims=True)


def worst(most, moved, scale):
    """The largest log-ratio of any answer, of any two values that are so near."""
    table = np.log(law(most, scale))
    pairs = itertools.combinations(range(most + 1), 2)
    return max(np.abs(table[u] - table[v]).max() for u, v in pairs if abs(u - v) <= moved)


@quick_rows(7)
@pytest.mark.parametrize(("most", "moved"), DOMAINS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_is_reached_and_not_passed(most, moved, epsilon):
    noise = domain_noise(most, moved, epsilon)
    found = worst(most, moved, noise.scale)
    assert found <= float(epsilon) * (1 + 1e-12)
    assert found > float(epsilon) * (1 - 1e-9)  # and no more noise than that takes
    assert float(loss_above(most, moved, noise.scale)) == pytest.approx(found, rel=1e-12)
    assert moved / epsilon < noise.scale <= 2 * moved / epsilon * (1 + Fraction(1, 10**9))
    # Planted: the scale of noise that knows no domain, which is right for values at both ends only.
    fault = worst(most, moved, moved / epsilon)
    assert fault > float(epsilon) * (1 + 1e-9) or moved == most
    assert fault > float(epsilon) * 1.1 or moved > most / 2 or epsilon == 6


@quick_rows(3)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(50)])
@pytest.mark.parametrize("u", [0, 2, 7])
def test_draws_have_the_law_that_was_derived(scale, u):
    noise, rng = DomainNoise(7, scale), InsecureGenerator(4)
    counts = np.bincount([noise.draw(u, rng) for _ in range(4000)], minlength=8)
    assert p_value(counts, law(7, scale)[u]) > 1e-9
    if scale > 1:  # planted: brought back to the nearest end
        far = np.arange(-2000, 2001)
        weights = np.exp(-np.abs(far) / float(scale))
        assert p_value(counts, np.bincount(np.clip(far + u, 0, 7), weights / weights.sum())) < 1e-9


def test_the_error_is_what_is_said_at_most():
    for scale, most in itertools.product([0.4, 3, 30], [1, 9, 40]):
        table, noise = law(most, scale), DomainNoise(most, Fraction(scale))
        off = np.abs(np.arange(most + 1)[:, None] - np.arange(most + 1))
        for failure in (0.2, 0.05, 1e-4):
            bar = noise.half_width(failure)
            assert np.max((table * (off > bar)).sum(axis=1)) <= failure * (1 + 1e-9)
    p = math.exp(-1 / 3)
    assert DomainNoise(40, Fraction(3)).half_width(0.05) == math.ceil(
        3 * math.log(40 / (1 + p)) - 1
    )


def test_large_domains_are_priced_without_loss_of_digits():
    most = 1 << 31
    for moved, epsilon in ((1, Fraction(1, 2**20)), (most, Fraction(1, 128)), (3, Fraction(200))):
        noise = domain_noise(most, moved, epsilon)
        assert loss_above(most, moved, noise.scale) <= epsilon
        assert loss_above(most, moved, noise.scale * (1 - Fraction(1, 10**9))) > epsilon


@pytest.mark.parametrize("rho", [Fraction(1, 8), 3, 40])
def test_waves_are_mean_cosines(rho):
    """Of a discrete Gaussian, whose masses for a small scale are far from a density."""
    noise = integer_noise(ZCDP(Fraction(rho)), Sensitivity(1, 1, 1), "gaussian")
    assert not noise.shift
    places = np.arange(-60, 61)
    masses = np.exp(-((places / float(noise.scale)) ** 2) / 2)
    u = np.array([0.0, 0.3, 1.0, 3.0, 7.0])
    due = np.cos(np.multiply.outer(u, places)) @ (masses / masses.sum())
    np.testing.assert_allclose(noise.waves(u), due, rtol=0, atol=1e-12)
