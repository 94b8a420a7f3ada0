"""Permute-and-flip: its coins against their twin and distribution, its draws against the pmf."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpfast._kernels import selection as coins
from dpfast._kernels.rng import BitStream
from dpfast.rng import InsecureGenerator
from dpfast.selection import permute
from dpfast.selection.scores.stored import Stored

from ..reference.selection import permute as reference
from ..support.lazy import stats
from ..support.noise import p_value
from ..support.pairwise import quick_rows

# The seeds are fixed, so a test passes always or never; a right sampler would fail with this
# probability if they were drawn anew.
ALPHA = 1e-5


def stream(seed):
    return InsecureGenerator(seed).stream()


positive = st.floats(min_value=5e-324, allow_infinity=False)


@pytest.mark.full
@settings(max_examples=400)
@given(c=positive, distance=st.floats(min_value=0))
@example(c=1.7e308, distance=5e-324)
@example(c=2.0**-1024, distance=math.inf)
@example(c=2.0**-1023, distance=1.7e308)
@example(c=5e-324, distance=math.inf)
def test_exponents_are_lower_bounds(c, distance):
    (found,), counts = coins.exponents(np.array([distance]), c)
    best = reference.most_bits(c, distance)
    assert found <= best
    with mpmath.workprec(200):
        slightly_less = reference.most_bits(c, distance * (1 - 2**-40))
    if 2e-308 < c < 1e308:
        assert found >= min(slightly_less, coins.MOST)
    assert counts.sum() == 1 and counts[found] == 1


@quick_rows(2)
@pytest.mark.parametrize("c", [0.5, 1.0, 0.1, 1e-7, 123.456])
def test_exponents_near_whole_numbers(c):
    """Distances one step round those where c d / ln 2 is an integer."""
    for k in [*range(1, 30), 64, 100, 199, 200]:
        with mpmath.workprec(200):
            center = float(k * mpmath.log(2) / c)
        steps = [center]
        for _ in range(20):
            steps = [np.nextafter(steps[0], 0), *steps, np.nextafter(steps[-1], math.inf)]
        found, _ = coins.exponents(np.array(steps), c)
        for d, e in zip(steps, found.tolist(), strict=True):
            assert k - 1 <= e <= reference.most_bits(c, d)


def test_exponents_of_excluded_blocks_and_counts():
    found, counts = coins.exponents(np.array([-1.0, 0.0, 1e300, math.inf, -1.0]), 1.0)
    assert found.tolist() == [coins.NONE, 0, coins.MOST, coins.MOST, coins.NONE]
    assert counts[[0, coins.MOST, coins.NONE]].tolist() == [1, 2, 2] and counts.sum() == 5
    found, counts = coins.exponents(np.empty(0), 1.0)
    assert not len(found) and not counts.sum()


def flips(exponents, shift, bits, room=coins.LEAST_ROOM):
    exponents = np.array(exponents, np.uint8)
    out = np.empty(room, np.int64)
    found, at = [], 0
    while at < len(exponents):
        number, after = coins.flip(exponents, shift, at, out, bits)
        assert after > at
        at = after
        found.append(out[:number].copy())
    return np.concatenate([np.empty(0, np.int64), *found])


def test_coins_are_those_of_the_twin():
    rng = np.random.default_rng(4)
    for case in range(60):
        blocks = int(rng.integers(0, 300))
        high = [3, 8, 17, 30, 201][case % 5]
        exponents = rng.integers(0, high, blocks).tolist()
        exponents = [coins.NONE if rng.random() < 0.1 else e for e in exponents]
        shift = int(rng.choice([0, 0, 1, 5, 12, 64]))
        key = bytes([case] * 32)
        found = flips(exponents, shift, BitStream(key), room=64 * blocks + coins.LEAST_ROOM)
        assert found.tolist() == reference.flip(exponents, shift, BitStream(key).take)


def test_a_full_buffer_is_gone_on_with():
    exponents = [0] * 700 + [1] * 301
    found = flips(exponents, 0, stream(1))
    assert found[: 700 * 64].tolist() == list(range(700 * 64))
    assert abs(len(found) - 700 * 64 - 301 * 32) < 6 * math.sqrt(301 * 16)
    with pytest.raises(ValueError, match="at least"):
        coins.flip(np.zeros(3, np.uint8), 0, 0, np.empty(100, np.int64), stream(1))
    with pytest.raises(ValueError, match="shift"):
        coins.flip(np.zeros(3, np.uint8), 65, 0, np.empty(10_000, np.int64), stream(1))


def coin_tests(found, blocks, e):
    block, slot = np.divmod(np.asarray(found), 64)
    sizes = np.bincount(np.bincount(block, minlength=blocks), minlength=65)
    yield p_value(sizes, stats.binom.pmf(np.arange(65), 64, 2.0**-e))
    if len(found):
        yield p_value(np.bincount(slot, minlength=64), np.full(64, 1 / 64))
    gaps = np.diff(slot)[np.diff(block) == 0]
    if e >= 12 and len(gaps) > 100:  # neighbors in a pair of heads lie as uniform pairs do
        yield p_value(np.bincount(gaps, minlength=64)[1:], (64 - np.arange(1, 64)) / 2016)


COINS = [(0, 0, 100), (1, 0, 20_000), (0, 3, 20_000), (5, 0, 200_000), (0, 7, 200_000)]
COINS += [(12, 0, 4_000_000), (10, 4, 4_000_000), (7, 10, 8_000_000), (21, 0, 16_000_000)]


@quick_rows(3)
@pytest.mark.parametrize(("exponent", "shift", "blocks"), COINS)
def test_the_distribution_of_the_coins(exponent, shift, blocks):
    found = flips(np.full(blocks, exponent), shift, stream(exponent * 100 + shift))
    assert min(coin_tests(found, blocks, exponent + shift)) > ALPHA


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["always", "alone"])
def test_faulty_coins_are_caught(fault):
    """Negative control: sets that are always kept, and blocks with one head at most."""
    for blocks, e in [(20_000, 6), (40_000, 7)]:
        right = reference.flip([e] * blocks, 0, stream(7).take)
        assert min(coin_tests(right, blocks, e)) > ALPHA
        wrong = reference.flip([e] * blocks, 0, stream(7).take, fault)
        assert min(coin_tests(wrong, blocks, e)) < ALPHA


class Script(list):
    def word(self):
        return self.pop(0)

    def take(self, n):
        return b"".join(self.word().to_bytes(8, "little") for _ in range(n // 8))


def decide(distances, exponents, c, shift, after, words):
    """The last coins of candidates that stand first in one block each."""
    scores = np.full(64 * (len(distances) + 1), -np.inf)
    scores[64 * np.arange(1, len(distances) + 1)] = -np.array(distances)
    scores[0] = 0.0
    flips, script = permute.Flips(Stored(scores), c), Script(words)
    flips._exponents, flips._shift = np.array([0, *exponents], np.uint8), shift
    kept = flips._heads(64 * np.arange(1, len(distances) + 1), after, script)
    return kept.tolist(), script


@pytest.mark.parametrize(("shift", "after"), [(0, False), (3, False), (1, True), (9, True)])
def test_the_last_coin_is_exact(shift, after):
    """64 bits just below, at and above the probability, with further bits where they matter."""
    t = 2.0**-shift if after else 0.0
    terms = [(1.0, 0.5, 0), (0.1, 0.7, 0), (5e-13, 1.0, 0), (1e-16, 1.0, 0), (3.7, 1.0, 5)]
    terms += [(31.4, 0.5, 22), (40.0, 1.0, 30), (138.0, 1.0, 199)]
    for d, c, e in terms:
        with mpmath.workprec(400):
            whole = reference.chance(c, Fraction(d), e, t) * 2**64
            k = int(mpmath.floor(whole))
            mine = int(mpmath.floor((whole - k) * 2**64))
        assert 0 < k < 2**64
        cases = [(k, [mine - 1], True), (k, [mine + 1], False)] if 0 < mine < 2**64 - 1 else []
        near = [0, k // 2, *(k + sign * far for far in (1, 2**10, 2**30) for sign in (-1, 1))]
        cases += [(word, [], word < k) for word in near if 0 <= word < 2**64]
        for word, more, expected in cases:
            assert decide([d], [e], c, shift, after, [word, *more]) == ([expected], [])


C = 0.5
# Scores, and where they stand: alone in a block, some in one, the best not first.
CASES = {
    "one block": ([0.0, -1.0, -2.0, -3.0], [0, 1, 2, 63]),
    "two best": ([0.0, 0.0, -4.0, -1.0, -2.5], [3, 300, 4, 70, 140]),
    "spread": ([-1.3, -5.1, 0.0, -7.7, -2.9, -3.3, -9.5], [1, 64, 130, 131, 200, 201, 320]),
    "far": ([-6.1, -7.2, -8.4, 0.0, -6.6, -7.9, -30.0], [0, 1, 64, 128, 192, 256, 320]),
    "equal": ([5.0] * 8, [0, 63, 64, 127, 128, 191, 192, 370]),
    "single": ([-3.0], [100]),
}
# What forces a path: how many candidates may be left before t. Few of them make t small, so that
# the time after t is often needed; 0.05 makes that the rule.
PATHS = {"all time": math.inf, "half the time": 150.0, "small t": 2.0, "mostly after t": 0.05}


#: Draws of a fit by day: the controls below fail by as many.
FEWER = 5_000


def fit(case, size, seed, c=C):
    scores, places = case
    array = np.full(64 * 6 - 5, -np.inf)
    array[places] = scores
    bits, stored = stream(seed), Stored(array)
    found = Counter(permute.Flips(stored, c).draw(bits) for _ in range(size))
    chances = reference.pmf([mpmath.exp(-mpmath.mpf(c) * (max(scores) - s)) for s in scores])
    return p_value(found, dict(zip(places, map(float, chances), strict=True)))


@quick_rows(1)
@pytest.mark.parametrize("size", [FEWER, pytest.param(60_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("case", CASES)
def test_the_pmf(case, path, size, monkeypatch):
    monkeypatch.setattr(permute, "FEW", PATHS[path])
    assert fit(CASES[case], size, len(case) * len(path)) > ALPHA


def before_its_time(monkeypatch):
    """2**-e below the best probability of a block."""
    real = coins.exponents

    def faulty(distance, c):
        found, counts = real(distance, c)
        found[(found > 0) & (found < coins.MOST)] += 1
        return found, counts

    monkeypatch.setattr(permute, "_exponents", faulty)


def without_its_condition(monkeypatch):
    """Heads after t must have the probability given no heads before."""
    real = permute.Flips._heads
    always = lambda self, left, after, bits: real(self, left, False, bits)  # noqa: E731
    monkeypatch.setattr(permute.Flips, "_heads", always)


@pytest.mark.full
@pytest.mark.parametrize(("fault", "few", "case", "size"), [
    (before_its_time, math.inf, CASES["spread"], FEWER),
    (before_its_time, 0.05, CASES["spread"], FEWER),
    # Two blocks with e = 0, so t = 1 / 2.
    (without_its_condition, 64, ([0.0, -0.6], [0, 64]), 20_000),
])  # fmt: skip
def test_faulty_times_are_caught(fault, few, case, size, monkeypatch):
    monkeypatch.setattr(permute, "FEW", few)
    assert fit(case, size, 6) > ALPHA
    fault(monkeypatch)
    assert fit(case, size, 6) < ALPHA


@pytest.mark.parametrize("few", [permute.FEW, 64])
def test_excluded_candidates_among_others_at_any_factor(few, monkeypatch):
    """The distance of an excluded one is negative: no exponential of it may go out of range."""
    monkeypatch.setattr(permute, "FEW", few)
    scores = np.zeros(1000)
    scores[::2] = -math.inf
    for c in (1.0, 1e6, 2.0**960):
        flips, s = permute.Flips(Stored(scores), c), stream(5)
        for after in (False, True)[: 1 + (flips._shift > 0)]:  # after t = 1 nothing is left
            found = flips._between(after, s)
            assert found is None or found % 2 == 1
        assert flips.draw(s) % 2 == 1
