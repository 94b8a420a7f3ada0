"""Error bars from public numbers hold as often as they say, and shorter ones would not."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast._core import error_bars
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator

from ..support.noise import box_noise
from ..support.views import innermost, quoted

SURE = 0.95


def upper(count, draws):
    """A proportion that is not exceeded, given what was seen, up to 5 standard deviations."""
    part = count / draws
    return part + 5 * math.sqrt(max(part * (1 - part), 1 / draws) / draws)


# --- the noise ----------------------------------------------------------------------------------


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


def test_noise_of_one_exactly():
    noise = integer_noise(Pure(0.5), Sensitivity.of_one(1))
    p = math.exp(-0.5)
    for failure in (0.5, 0.05, 1e-3):
        size = noise.half_width(failure)

        def tail(h):
            return 2 * p ** (h + 1) / (1 + p)

        assert tail(size) <= failure < tail(size - 1)
    assert integer_noise(Pure(0.5), Sensitivity.of_one(0)).half_width(0.05) == 0


def test_noise_beyond_the_samplers_range():
    noise = integer_noise(Pure(0.5), Sensitivity.of_one(1 << 60))
    assert noise.shift and noise.half_width(0.05) == pytest.approx(
        2 * math.log(20) * 2**60, rel=1e-6
    )
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
    rows, moved, error = 12, Fraction(3), Fraction(1, 50)
    least = rows - moved
    for ddof in (0, 1, 4):
        grown = error_bars.grown_error(error, moved, rows, least, ddof) * least / (least - ddof)
        worst = max(
            abs(
                min(max(v + off, 0), Fraction(1, 4)) * n / (n - ddof)
                - v * Fraction(rows, rows - ddof)
            )
            for v in (Fraction(0), Fraction(1, 8), Fraction(1, 4) - error, Fraction(1, 4))
            for off in (-error, error)
            for n in (least, rows, rows + moved)
        )
        assert worst <= grown
        if ddof:  # without its part it would not do
            assert worst > error * least / (least - ddof)


# --- statistics of sums -------------------------------------------------------------------------


def test_noise_in_a_box():
    """Against the distribution itself: a gamma number times a uniform point of the box."""
    bits = np.random.default_rng(3)
    for k in (2, 7):
        r = bits.gamma(k + 1, size=200_000)[:, None]
        z = r * bits.uniform(-1, 1, (200_000, k))
        for failure in (0.3, 0.05):
            one = np.mean(np.abs(z[:, 0]) > error_bars.within_box(failure, k))
            assert one == pytest.approx(failure, rel=0.05)
    noise = box_noise(Pure(1.0), [1000] * 7)
    assert noise.distribution == "box"
    rng = InsecureGenerator(6)
    drawn = np.array([noise.add([0] * 7, rng) for _ in range(4000)])
    far = np.abs(drawn) > 1000 * float(noise.half_width(0.05, 0))
    assert np.mean(far) == pytest.approx(0.05, abs=0.006)
    none = box_noise(Pure(1.0), [0, 5])
    assert none.half_width(0.05, 0) == 0 and box_noise(Pure(1.0), [0]).half_width(0.05, 0) == 0


def test_a_bar_is_never_wider_than_what_can_be():
    for name, most in ("mean", 100.0), ("variance", 2500.0):
        for neighbors in ("replace", "add-remove"):
            mechanism = quoted(
                getattr(dp, name), [1.0, 2.0], bounds=(0, 100), epsilon=1e-3, neighbors=neighbors
            )
            assert mechanism.error(2, SURE).half_width == pytest.approx(most)
            assert mechanism.error(None, SURE).half_width is None
            assert "rows" in mechanism.error(None, SURE).note
    one = quoted(dp.mean, [1.0], bounds=(3, 3), epsilon=1)
    assert one.error(None, SURE).half_width == 0


# --- order statistics ---------------------------------------------------------------------------


def ranks_off(data, q, answer):
    """How many rows lie between an answer and the quantile."""
    target = q * len(data)
    return max(0.0, np.sum(data < answer) - target, target - np.sum(data <= answer))


@pytest.mark.parametrize("q", [0.5, 0.1])
def test_ranks_of_the_exponential_mechanism(q):
    """On the worst data: all rows on one cell of the least weight, as many as the bound misses."""
    arguments = {"q": q, "bounds": (0, 100), "epsilon": 0.9, "method": "exponential"}
    mechanism = innermost(quoted(dp.quantile, [1.0], **arguments))
    ranks = mechanism.error(None, SURE).ranks
    grid = mechanism.grid
    x = 12_345_677 * grid
    side = min(q, 1 - q)

    def missed(rows):
        data = np.full(rows, x)
        rng = InsecureGenerator(3)
        answers = [dp.quantile(data, rng=rng, **arguments) for _ in range(300)]
        return np.mean([ranks_off(data, q, a) > 0 for a in answers])

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
