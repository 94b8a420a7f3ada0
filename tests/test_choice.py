"""Exact choices: bounds, laws, decisions by scripted words, the same on every instruction set."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpfast import _choice
from dpfast._native.choice import Script
from dpfast.rng import InsecureGenerator

from .reference import choice as twin

mp = mpmath.MPContext()


def exactly(distance):
    """The exact distances that stored ones stand for when they are exact; None: excluded."""
    return [Fraction(d) if d >= 0 else None for d in np.asarray(distance, float).tolist()]


def looseness(distance, c, count, slack=0.0, exact=None):
    """log2 of W / (weight 2^S) for each run that is not excluded, to 40 digits."""
    w = _choice.Weights(distance, c, count, slack)
    exact = exactly(distance) if exact is None else exact
    counts = np.ones(len(distance), np.int64) if count is None else count
    mp.prec = 200
    out = []
    for d, k, bound in zip(exact, counts.tolist(), w.bound.tolist(), strict=True):
        if d is None:
            assert bound == 0
            continue
        x = mp.mpf(c) * mp.mpf(d.numerator) / d.denominator
        out.append((bound, mp.log(bound, 2) - (mp.log(k) - x) / mp.log(2) - w.shift))
    return w, out


def check_bounds(distance, c, count=None, slack=0.0, exact=None, shrink=0.0):
    """No bound is too small; large ones are tight. `shrink` is a planted fault."""
    w, found = looseness(distance, c, count, slack, exact)
    assert int(w.total[-1]) < 1 << 63
    assert all(loose - shrink > 0 for _, loose in found)
    tight = 2.0**-18 + 2 * c * slack + 2.0**-45 * c * float(np.max(np.abs(distance), initial=0))
    if math.isfinite(tight):
        assert all(loose < tight for bound, loose in found if bound > 1 << 24)
    return w


def cases(seed=0):
    rng = np.random.default_rng(seed)
    yield np.zeros(1), 1.0, None
    yield np.arange(200.0), 1.0, None
    yield np.append(rng.exponential(3.0, 700), 0.0), 0.7, rng.integers(1, 1 << 53, 701)
    yield np.append(10.0 ** rng.uniform(-320, 308, 300), 0.0), 1e-3, None
    yield np.append(10.0 ** rng.uniform(-5, 5, 300), 5e-6), 3.0, rng.integers(1, 9, 301)
    yield np.array([5e-324, 1e-310, 1.0, 0.0]), 1e308, None
    yield np.array([1e308, 1.7e308, 0.0, 1e300]), 5e-324, np.array([1, 1 << 53, 1, 2])
    yield rng.uniform(1e5, 1e5 + 50, 300), 1.0, None  # nothing near: a power of two is taken out
    yield rng.uniform(1e9, 1e9 + 50, 300), 1.0, rng.integers(1, 1 << 53, 300)
    yield np.where(rng.random(600) < 0.3, -1.0, rng.exponential(9.0, 600)), 1.0, None
    steps = (np.arange(1, 500) + 0.5) * math.log(2)  # where the reduction changes its integer
    yield np.concatenate([[0], steps, np.nextafter(steps, 0), np.nextafter(steps, 1e9)]), 1.0, None


@pytest.mark.parametrize("case", list(cases()), ids=lambda c: f"{len(c[0])} runs, c={c[1]}")
def test_bounds_are_upper_bounds(case):
    check_bounds(*case)


def test_the_check_of_bounds_catches_smaller_ones():
    distance = np.arange(0, 30, 0.5)
    check_bounds(distance, 1.0)
    with pytest.raises(AssertionError):
        check_bounds(distance, 1.0, shrink=2.0**-10)


def test_bounds_of_distances_with_an_error():
    rng = np.random.default_rng(3)
    for slack in (0.0, 1e-9, 0.5):
        exact = [Fraction(0)] + [Fraction(float(d)) for d in rng.exponential(20, 300)]
        worst = [
            float(d * (1 + Fraction(2**-50) * Fraction(0.99)) + Fraction(slack)) for d in exact
        ]
        check_bounds(np.array(worst), 1.0, None, slack, exact)
        if slack == 0.5:
            with pytest.raises(AssertionError):
                check_bounds(np.array(worst), 1.0, None, slack / 2, exact)


def test_bounds_of_infinite_distances():
    """A distance beyond float64 still has a weight where c is small."""
    far = Fraction(np.finfo(float).max) * Fraction(1 + 2**-54)
    exact = [Fraction(0), far, 2 * far]
    w = check_bounds(np.array([0, math.inf, math.inf]), 1e-308, None, 0.0, exact)
    assert int(w.bound[1]) > w.bound[0] // 8
    check_bounds(np.array([0, math.inf, math.inf]), 1.0, None, 0.0, exact)


def test_refusals():
    for distance in ([], [-1.0, -1.0], [math.nan], [1.1 * 2**30], [math.inf]):
        with pytest.raises(ValueError):
            _choice.Weights(np.array(distance), 1.0)
    for c in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError):
            _choice.Weights(np.zeros(2), c)
    with pytest.raises(ValueError):
        _choice.Weights(np.zeros(2), 1.0, np.ones(3, np.int64))
    with pytest.raises(TypeError, match="stream must be a BitStream"):
        _choice.below(3, 7)
    with pytest.raises(EOFError):
        _choice.below(3, Script([]))


# ---------------------------------------------------------------- uniform integers


@given(st.integers(1, 1 << 140), st.lists(st.integers(0, 2**64 - 1), min_size=40, max_size=40))
def test_below_is_the_twin(n, words):
    words += [0] * 3
    a, b = Script(words), Script(words)
    assert _choice.below(n, a) == twin.below(n, b)
    assert a.used == b.used


def test_below_by_enumeration_of_the_leading_bits():
    """All values of the leading bits, once each: every integer comes equally often."""
    for n in (1, 2, 3, 7, 8, 9, 100):
        bits = (n - 1).bit_length()
        words = [k << (64 - bits) for k in range(1 << bits)] if bits else []
        script, got = Script(words), []
        for _ in range(n):
            got.append(_choice.below(n, script))
        assert got == list(range(n))


def uniform_p_value(draw, n, size):
    got = np.bincount([draw() for _ in range(size)], minlength=n)
    return stats.chisquare(got).pvalue


def test_below_is_uniform_and_a_biased_modulus_is_not():
    stream = InsecureGenerator(5).stream()
    n = 3 * 2**61  # of 64 bits modulo n, the lowest 2^62 come twice as often
    low = [_choice.below(n, stream) < 1 << 61 for _ in range(4000)]
    assert stats.binomtest(sum(low), 4000, 1 / 3).pvalue > 1e-4
    low = [stream.word() % n < 1 << 61 for _ in range(4000)]
    assert stats.binomtest(sum(low), 4000, 1 / 3).pvalue < 1e-9
    assert uniform_p_value(lambda: _choice.below(11, stream), 11, 20_000) > 1e-4


def test_slots():
    stream = InsecureGenerator(6).stream()
    limit = np.resize(np.array([1, 2, 7]), 30_000)
    got = _choice.slots(limit, stream)
    assert stats.chisquare(np.bincount(got[2::3], minlength=7)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(got[1::3], minlength=2)).pvalue > 1e-4
    assert not got[::3].any()
    with pytest.raises(ValueError):
        _choice.slots(np.array([3, 0]), stream)


# ---------------------------------------------------------------- laws


def gaps(m, seed):
    rng = np.random.default_rng(seed)
    distance = np.sort(rng.choice([0.25, 1.0, 40.0], m) * rng.random(m))
    distance[-1] = 200.0
    distance[0] = 0.0
    return distance


def fit(counts, probability):
    """p-value of a chi-square test, cells that expect less than 5 put together."""
    expected = np.asarray(probability) * counts.sum()
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    small = int(np.searchsorted(np.cumsum(expected), 5)) + 1
    counts = np.append(counts[:small].sum(), counts[small:])
    expected = np.append(expected[:small].sum(), expected[small:])
    return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("m", [5, 64, 1000])
@pytest.mark.parametrize("counted", [False, True])
def test_draws_follow_the_law(m, counted):
    distance, c, size = gaps(m, m), 0.8, 200_000
    count = np.random.default_rng(m).integers(1, 50, m) if counted else None
    exact = exactly(distance)
    w = _choice.Weights(distance, c, count)
    got = w.draw(size, exact.__getitem__, InsecureGenerator(m).stream())
    right = twin.pmf(c, exact, count)
    assert fit(np.bincount(got, minlength=m), right) > 1e-4
    # What the same test says of proposals without coins, when the bounds are loose.
    loose = _choice.Weights(distance, c, count, slack=0.5)
    stream = InsecureGenerator(m).stream()
    assert fit(np.bincount(loose.propose(size, stream), minlength=m), right) < 1e-6
    runs = loose.propose(size, stream)
    kept = runs[loose.keep(runs, distance[runs], lambda i: exact[runs[i]], stream)]
    assert fit(np.bincount(kept, minlength=m), right) > 1e-4


def test_coins_follow_the_law():
    stream = InsecureGenerator(8).stream()
    distance = np.resize(np.array([0.0, 0.5, 1.0, 3.0, -1.0]), 100_000)
    heads = _choice.coins(1.0, distance, lambda i: Fraction(float(distance[i])), stream)
    for at, p in enumerate([1, math.exp(-0.5), math.exp(-1), math.exp(-3), 0]):
        assert stats.binomtest(int(heads[at::5].sum()), 20_000, p).pvalue > 1e-4
    shift = np.full(len(distance), 2)
    heads = _choice.coins(1.0, distance, lambda i: Fraction(float(distance[i])), stream, shift)
    assert heads[1::5].all()  # 4 exp(-1/2) > 1
    assert stats.binomtest(int(heads[3::5].sum()), 20_000, 4 * math.exp(-3)).pvalue > 1e-4


# ---------------------------------------------------------------- decisions, word by word

words = st.lists(st.integers(0, 2**64 - 1), min_size=0, max_size=6)
distances = st.lists(
    st.one_of(
        st.floats(0, 60),
        st.floats(0, 1e-9),
        st.sampled_from([0.0, 200.0, 700.0, 1e6, 1e9, -1.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=200)
@given(
    distances,
    st.floats(1e-3, 1e3),
    st.lists(st.integers(1, 1 << 53), min_size=12, max_size=12),
    words,
    st.integers(0, 2**32),
    st.sampled_from([0.0, 1e-12, 0.3]),
)
def test_draws_are_the_twins(distance, c, count, first, seed, slack):
    distance = np.array([*distance, 0.0])
    count = np.array([*count, 1], np.int64)[-len(distance) :]
    exact = exactly(distance)
    rest = np.random.default_rng(seed).integers(0, 2**64, 400, np.uint64).tolist()
    w = _choice.Weights(distance, c, count, slack)
    a, b = Script([*first, *rest]), Script([*first, *rest])
    got = w.draw(5, exact.__getitem__, a)
    bounds, counts = w.bound.tolist(), count.tolist()
    assert got.tolist() == [twin.draw(c, exact, counts, bounds, w.shift, b) for _ in range(5)]
    assert a.used == b.used
