"""Error bars from public numbers hold as often as they say, and shorter ones would not."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast._core import error_bars
from dpfast._core.roots import root_down, root_up
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure, float_down
from dpfast.rng import InsecureGenerator

from ..support.noise import box_noise
from ..support.views import innermost, quoted

SURE = 0.95


def upper(count, draws):
    """A proportion that is not exceeded, given what was seen, up to 5 standard deviations."""
    part = count / draws
    return part + 5 * math.sqrt(max(part * (1 - part), 1 / draws) / draws)


@pytest.mark.parametrize("loss", [Pure(0.01), Pure(0.5), Pure(3), ZCDP(0.01), ZCDP(5)], ids=str)
def test_noise_keeps_within_what_is_said_and_a_bit_less_would_not_do(loss):
    noise = integer_noise(loss, Sensitivity.of_one(1))
    drawn = noise.draw(40_000, InsecureGenerator(1))
    for failure in (0.05, 0.003):
        size = noise.half_width(failure)
        far = np.mean(np.abs(drawn) > size)
        assert far <= failure + 5 * math.sqrt(failure / len(drawn))
        # Not wasteful either: a tenth and a few units less is too little.
        least = math.floor(0.9 * size) - 2
        assert noise.scale < 3 or np.mean(np.abs(drawn) > least) > failure


def test_noise_of_one_exactly_and_beyond_the_samplers_range():
    noise, p = integer_noise(Pure(0.5), Sensitivity.of_one(1)), math.exp(-0.5)
    for failure in (0.5, 0.05, 1e-3):
        size = noise.half_width(failure)
        assert 2 * p ** (size + 1) / (1 + p) <= failure < 2 * p**size / (1 + p)
    assert integer_noise(Pure(0.5), Sensitivity.of_one(0)).half_width(0.05) == 0
    far = integer_noise(Pure(0.5), Sensitivity.of_one(1 << 60))
    assert far.shift
    assert far.half_width(0.05) == pytest.approx(2 * math.log(20) * 2**60, rel=1e-6)
    wide = integer_noise(ZCDP(0.01), Sensitivity.of_one(1 << 60))
    assert wide.half_width(0.05) == pytest.approx(1.959964 * wide.deviation, rel=1e-6)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 2.0)])
def test_sums_of_two_laplace_numbers(scales):
    x = (np.random.default_rng(2).laplace(size=(400_000, 2)) * scales).sum(axis=1)
    parts = [(lambda u, b=b: 1 / (1 + (b * u) ** 2), np.ones(1), np.ones(1)) for b in scales]
    for failure in (0.3, 0.05):
        size = error_bars.symmetric_sum(parts, math.hypot(*scales) * math.sqrt(2), failure)
        limit = 5.5 * math.sqrt(failure / 400_000)
        assert 0.93 * failure - limit < np.mean(np.abs(x) > size) < failure + limit
    assert error_bars.normal(0.05) == pytest.approx(1.959963984540054)


def test_what_ddof_adds_to_the_error_of_a_variance():
    """By enumeration: v R / (R - ddof) with a noisy R, and v of 0 .. 1/4 that is off."""
    rows, moved, error, most = 12, Fraction(3), Fraction(1, 50), Fraction(1, 4)
    least = rows - moved
    for ddof in (0, 1, 4):
        part = least / (least - ddof)
        grown = error_bars.grown_error(error, moved, rows, least, ddof) * part
        worst = max(
            abs(min(max(v + off, 0), most) * n / (n - ddof) - v * Fraction(rows, rows - ddof))
            for v in (Fraction(0), Fraction(1, 8), most - error, most)
            for off in (-error, error)
            for n in (least, rows, rows + moved)
        )
        assert worst <= grown
        assert not ddof or worst > error * part  # without its part it would not do


def test_noise_in_a_box():
    """Against the distribution itself: a gamma number times a uniform point of the box."""
    bits = np.random.default_rng(3)
    for k in (2, 7):
        z = bits.gamma(k + 1, size=200_000) * bits.uniform(-1, 1, 200_000)
        for failure in (0.3, 0.05):
            one = np.mean(np.abs(z) > error_bars.within_box(failure, k))
            assert one == pytest.approx(failure, rel=0.05)
    noise, rng = box_noise(Pure(1.0), [1000] * 7), InsecureGenerator(6)
    assert noise.distribution == "box"
    drawn = np.array([noise.add([0] * 7, rng) for _ in range(1500)])
    far = np.abs(drawn) > 1000 * float(noise.half_width(0.05, 0))
    assert np.mean(far) == pytest.approx(0.05, abs=0.01)
    none = box_noise(Pure(1.0), [0, 5])
    assert none.half_width(0.05, 0) == 0 and box_noise(Pure(1.0), [0]).half_width(0.05, 0) == 0


def test_a_bar_is_never_wider_than_what_can_be():
    for (call, most), neighbors in itertools.product(
        ((dp.mean, 100.0), (dp.variance, 2500.0)), ("replace", "add-remove")
    ):
        own = {"bounds": (0, 100), "epsilon": 1e-3, "neighbors": neighbors}
        mechanism = quoted(call, [1.0, 2.0], **own)
        assert mechanism.error(2, SURE).half_width == pytest.approx(most)
        unknown = mechanism.error(None, SURE)
        assert unknown.half_width is None and "rows" in unknown.note
    one = quoted(dp.mean, [1.0], bounds=(3, 3), epsilon=1)
    assert one.error(None, SURE).half_width == 0


@pytest.mark.parametrize("q", [0.5, 0.1])
def test_ranks_of_the_exponential_mechanism(q):
    """On the worst data: all rows on one cell of the least weight, as many as the bound misses."""
    arguments = {"q": q, "bounds": (0, 100), "epsilon": 0.9, "method": "exponential"}
    mechanism = innermost(quoted(dp.quantile, [1.0], **arguments))
    ranks, x, side = mechanism.error(None, SURE).ranks, 12_345_677 * mechanism.grid, min(q, 1 - q)

    def missed(rows):
        rng = InsecureGenerator(3)
        answers = np.array(
            [dp.quantile(np.full(rows, x), rng=rng, **arguments) for _ in range(300)]
        )
        return np.mean(answers != x)

    # Each other cell is off by side * rows or more. Above the bound it is seldom drawn, ...
    assert missed(math.ceil(ranks / side) + 2) <= upper(0.05 * 300, 300)
    # ... and a bound of half as many would failure nearly always.
    assert missed(math.ceil(0.5 * ranks / side)) > 0.5


def test_what_is_secret_has_no_bar():
    smooth = quoted(dp.median, [1.0], bounds=(0, 1), epsilon=2, method="smooth")
    asked = {"blocks": 3, "bounds": (0, 1), "aggregator": "smooth-median", "epsilon": 2}
    blocks = quoted(dp.sample_and_aggregate, [1.0] * 9, "mean", **asked)
    for mechanism in smooth, blocks:
        found = mechanism.error(9, SURE)
        assert found.half_width is None and found.ranks is None and "secret" in found.note


squares = st.fractions(min_value=Fraction(1, 2**200), max_value=2**200)
near = 1 + Fraction(1, 2**58)


@given(squares)
def test_roots_are_rounded(square):
    low, high = root_down(square), root_up(square)
    assert low**2 <= square < high**2
    assert square <= low**2 * near and high**2 <= square * near


@given(st.fractions(min_value=0, max_value=2**100))
def test_roots_of_squares(root):
    assert root_down(root**2) <= root < root_up(root**2)
    assert float_down(root_down(root**2)) == float_down(root)
    assert float_down(root_down(Fraction(float(root)) ** 2)) == float(root)


@given(squares)
def test_the_bits_that_noise_was_scaled_by_stay(square):
    above, below = square.numerator, square.denominator
    shift = max(0, 124 - above.bit_length() + below.bit_length())
    shift += shift & 1
    assert root_up(square) == Fraction(math.isqrt((above << shift) // below) + 1, 1 << (shift // 2))
