"""Exact choices: bounds, frequencies, decisions by scripted words, on every instruction set."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels.noise import ROWS_SHIFT, Script, row_sums
from dpfast.noise import choice
from dpfast.rng import InsecureGenerator

from ..reference.noise import choice as twin
from ..support.noise import p_value
from ..support.pairwise import quick_rows

mp = mpmath.MPContext()


def exactly(distance):
    """The exact distances that stored ones stand for when they are exact; None: excluded."""
    return [Fraction(d) if d >= 0 else None for d in np.asarray(distance, float).tolist()]


def check_bounds(distance, c, count=None, slack=0.0, exact=None, shrink=0.0):
    """No bound is too small; large ones are tight. `shrink` is a planted fault.

    What is compared is log2 of W / (weight 2^S) for each run that is not excluded, in 200 bits.
    """
    w = choice.Weights(distance, c, count, slack)
    exact = exactly(distance) if exact is None else exact
    counts = np.ones(len(distance), np.int64) if count is None else count
    tight = 2.0**-18 + 2 * c * slack + 2.0**-45 * c * float(np.max(np.abs(distance), initial=0))
    mp.prec = 200
    assert sum(w.bound.tolist()) < 1 << 63
    for d, k, bound in zip(exact, counts.tolist(), w.bound.tolist(), strict=True):
        if d is None:
            assert bound == 0
            continue
        x = mp.mpf(c) * mp.mpf(d.numerator) / d.denominator
        loose = mp.log(bound, 2) - (mp.log(k) - x) / mp.log(2) - w.shift
        assert loose - shrink > 0
        assert loose < tight or bound <= 1 << 24 or not math.isfinite(tight)
    return w


def cases(seed=0):
    rng = np.random.default_rng(seed)
    steps = (np.arange(1, 500) + 0.5) * math.log(2)  # where the reduction changes its integer
    far, many = 10.0 ** rng.uniform(-320, 308, 300), rng.integers(1, 1 << 53, 701)
    yield np.zeros(1), 1.0, None
    yield np.arange(200.0), 1.0, None
    yield np.append(rng.exponential(3.0, 700), 0.0), 0.7, many
    yield np.append(far, 0.0), 1e-3, None
    yield np.append(10.0 ** rng.uniform(-5, 5, 300), 5e-6), 3.0, rng.integers(1, 9, 301)
    yield np.array([5e-324, 1e-310, 1.0, 0.0]), 1e308, None
    yield np.array([1e308, 1.7e308, 0.0, 1e300]), 5e-324, np.array([1, 1 << 53, 1, 2])
    yield rng.uniform(1e5, 1e5 + 50, 300), 1.0, None  # nothing near: a power of two is taken out
    yield rng.uniform(1e9, 1e9 + 50, 300), 1.0, many[:300]
    yield np.where(rng.random(600) < 0.3, -1.0, rng.exponential(9.0, 600)), 1.0, None
    yield np.concatenate([[0], steps, np.nextafter(steps, 0), np.nextafter(steps, 1e9)]), 1.0, None


@quick_rows(4)
@pytest.mark.parametrize("case", list(cases()), ids=lambda c: f"{len(c[0])} runs, c={c[1]}")
def test_bounds_are_upper_bounds(case):
    check_bounds(*case)


def test_bounds_of_distances_with_an_error_and_smaller_ones_are_caught():
    rng, steps = np.random.default_rng(3), np.arange(0, 30, 0.5)
    check_bounds(steps, 1.0)
    for slack in (0.0, 1e-9, 0.5):
        exact = [Fraction(0)] + [Fraction(float(d)) for d in rng.exponential(20, 100)]
        most = 1 + Fraction(2**-50) * Fraction(0.99)
        worst = np.array([float(d * most + Fraction(slack)) for d in exact])
        check_bounds(worst, 1.0, None, slack, exact)
    for planted in ((steps, 1.0, None, 0.0, None, 2.0**-10), (worst, 1.0, None, slack / 2, exact)):
        with pytest.raises(AssertionError):
            check_bounds(*planted)


def test_bounds_of_infinite_distances():
    """A distance beyond float64 still has a weight where c is small."""
    far = Fraction(np.finfo(float).max) * Fraction(1 + 2**-54)
    exact, distance = [Fraction(0), far, 2 * far], np.array([0, math.inf, math.inf])
    w = check_bounds(distance, 1e-308, exact=exact)
    assert int(w.bound[1]) > w.bound[0] // 8
    check_bounds(distance, 1.0, exact=exact)


@given(st.integers(1, 1 << 140), st.lists(st.integers(0, 2**64 - 1), min_size=40, max_size=40))
def test_below_is_the_twin(n, words):
    a, b = Script([*words, 0, 0, 0]), Script([*words, 0, 0, 0])
    assert choice.below(n, a) == twin.below(n, b) and a.used == b.used


def test_integers_below_are_equally_likely():
    """All values of the leading bits, once each: every integer comes equally often."""
    for n in (1, 2, 3, 7, 8, 9, 100):
        bits = (n - 1).bit_length()
        script = Script([k << (64 - bits) for k in range(1 << bits)] if bits else [])
        assert [choice.below(n, script) for _ in range(n)] == list(range(n))
    stream = InsecureGenerator(6).stream()
    got = choice.slots(np.resize(np.array([1, 2, 7]), 30_000), stream)
    assert not got[::3].any()
    for first, most in ((2, 7), (1, 2)):
        assert p_value(np.bincount(got[first::3], minlength=most), [1 / most] * most) > 1e-4
    with pytest.raises(ValueError):
        choice.slots(np.array([3, 0]), stream)


def test_every_order_comes_from_as_many_words():
    """All words that differ in the bits that are looked at: no order of four is likelier."""
    found = []
    for a, b, c in itertools.product(range(4), range(4), range(2)):
        script = Script([a << 62, b << 62, c << 63])
        if b < 3:  # else the word is drawn again
            found.append(tuple(choice.orders(1, 4, 4, script)[0].tolist()))
        else:
            with pytest.raises(EOFError):
                choice.orders(1, 4, 4, script)
    assert sorted(found) == list(itertools.permutations(range(4)))


def test_orders_are_those_of_the_twin():
    for rows, n, k in ((1, 1, 1), (3, 5, 5), (2, 300, 300), (4, 1000, 7), (2, 0, 0), (0, 3, 2)):
        kernel, slow = (InsecureGenerator(9).stream() for _ in range(2))
        want = [twin.order(n, k, slow) for _ in range(rows)]
        assert choice.orders(rows, n, k, kernel).tolist() == want and kernel.word() == slow.word()
    with pytest.raises(ValueError):
        choice.orders(1, 3, 4, kernel)


words = st.lists(st.integers(0, 2**64 - 1), min_size=0, max_size=6)
near = st.floats(0, 60) | st.floats(0, 1e-9)
distances = st.lists(
    near | st.sampled_from([0.0, 200.0, 700.0, 1e6, 1e9, -1.0]), min_size=1, max_size=12
)
counted = st.lists(st.integers(1, 1 << 53), min_size=12, max_size=12)
slacks = st.sampled_from([0.0, 1e-12, 0.3])


@given(distances, st.floats(1e-3, 1e3), counted, words, st.integers(0, 2**32), slacks)
def test_draws_are_the_twins(distance, c, count, first, seed, slack):
    distance = np.array([*distance, 0.0])
    count = np.array([*count, 1], np.int64)[-len(distance) :]
    exact = exactly(distance)
    rest = np.random.default_rng(seed).integers(0, 2**64, 400, np.uint64).tolist()
    w = choice.Weights(distance, c, count, slack)
    a, b = Script([*first, *rest]), Script([*first, *rest])
    bounds, counts = w.bound.tolist(), count.tolist()
    try:
        expected = [twin.draw(c, exact, counts, bounds, w.shift, b) for _ in range(5)]
    except EOFError:  # most proposals are refused where a large slack hides far candidates
        with pytest.raises(EOFError):
            w.draw(5, exact.__getitem__, a)
        return
    assert w.draw(5, exact.__getitem__, a).tolist() == expected
    assert a.used == b.used


@pytest.fixture
def decided(monkeypatch):
    """Words of the coins that went to arbitrary precision."""
    seen = []

    def spy(word, *args, decide=choice.decide, **kwargs):
        seen.append(word)
        return decide(word, *args, **kwargs)

    monkeypatch.setattr(choice, "decide", spy)
    return seen


def around(probability, bits):
    """Scripts of the `bits` bits of U around a boundary: the last with U < p for certain, the
    first beyond it."""
    mp.prec = bits + 200
    k = int(mp.floor(probability(mp) * mp.mpf(2) ** bits))
    return [
        [(value >> (bits - 64 - at)) & (2**64 - 1) for at in range(0, bits, 64)]
        for value in (k - 1, k, k + 1)
    ]


def test_a_far_candidate_is_reached_with_its_exact_probability(decided):
    """Gap 200: proposed by the last of 2^49 places, kept with probability e^-200 2^49."""
    w, exact = choice.Weights(np.array([0.0, 200.0]), 1.0), [Fraction(0), Fraction(200)]
    first, far = w.bound.tolist()
    assert far == 1
    place = first << (64 - first.bit_length())
    for bits in (256, 320, 384):
        scripts = around(lambda mp: mp.ldexp(mp.exp(-200), w.shift), bits)
        # A draw that is not kept goes on to place 0 and the coin 0: the first run. On the boundary
        # the next word decides.
        edges = (([*scripts[1], x], x == 0) for x in (0, 2**64 - 1))
        for script, want in ((scripts[0], 1), (scripts[2], 0), *edges):
            a, b = (Script([place, *script, 0, 0, 0, 0]) for _ in range(2))
            assert w.draw(1, exact.__getitem__, a)[0] == want
            assert twin.draw(1.0, exact, [1, 1], w.bound.tolist(), w.shift, b) == want
            assert a.used == b.used
    assert decided.count(0) >= 12


def one_coin(distance, weights, stream):
    run, exact = np.zeros(1, np.int64), Fraction(distance)
    return weights.keep(run, np.array([float(distance)]), lambda _: exact, stream).item(0)


@pytest.mark.parametrize("distance", [0.3, 5.0, 20.0, 43.0, 44.3, 50.0, 200.0, 1e5])
def test_coins_on_their_boundary_are_decided_exactly(distance, decided):
    weights = choice.Weights(np.zeros(1), 1.0)
    (bound,) = weights.bound.tolist()
    for bits in (64, 128):
        for script in around(lambda mp: mp.ldexp(mp.exp(-distance), weights.shift) / bound, bits):
            for word in (0, 1, 2**63, 2**64 - 1):
                words = [*(max(word, 0) for word in script), word, 2**64 - 1, 2**64 - 1]
                a, b = Script(words), Script(words)
                want = twin.keep(1.0, Fraction(distance), 1, bound, weights.shift, b)
                assert one_coin(distance, weights, a) == want
                assert a.used == b.used
    assert decided


def test_a_coin_that_trusts_float64_is_caught(monkeypatch):
    """The control: open coins decided by the nearest float64 disagree with the twin."""

    def trusting(word, c, distance, stream, count, bound, shift):
        return word < math.exp(-c * float(distance)) * 2.0 ** (64 + shift) / bound

    monkeypatch.setattr(choice, "decide", trusting)
    weights, wrong = choice.Weights(np.zeros(1), 1.0), 0
    (bound,) = weights.bound.tolist()
    for distance in np.linspace(0.1, 3, 50).tolist():
        _, on, above = around(
            lambda mp, d=distance: mp.ldexp(mp.exp(-mp.mpf(d)), weights.shift) / bound, 64
        )
        for script in (on, above):
            words = [*script, 2**64 - 1, 2**64 - 1]
            want = twin.keep(1.0, Fraction(distance), 1, bound, weights.shift, Script(words))
            wrong += one_coin(distance, weights, Script(words)) != want
    assert wrong > 5


def table(r, n, seed, scale=3.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(r, n)) * scale
    values[rng.random((r, n)) < 0.1] = -math.inf
    values[np.arange(r), rng.integers(0, n, r)] = 2 * scale
    best = values.max(axis=1)

    def exact(i, j):
        return Fraction(best[i]) - Fraction(values[i, j])

    far = values == -math.inf
    gap = [[None if far[i, j] else exact(i, j) for j in range(n)] for i in range(r)]
    return values, best, exact, gap


def row_bounds(values, best, c, slack=0.0):
    out = np.empty(values.shape, np.uint64)
    row_sums(values, best, c, slack, out)
    return np.diff(out, prepend=np.uint64(0), axis=1)


def test_bounds_by_row_are_upper_bounds():
    rng = np.random.default_rng(2)
    values = [*-rng.exponential(8, 100), *-(10.0 ** rng.uniform(-320, 307, 100))]
    values += [-0.0, -math.inf, -600, -609, -610, -1e5, *(-(np.arange(60) + 0.5) * math.log(2))]
    mp.prec = 200
    for c in (1.0, 1e-300, 7.7):
        bounds, less = row_bounds(np.array([values]), np.zeros(1), c)[0].tolist(), 0
        for v, bound in zip(values, bounds, strict=True):
            weight = mp.ldexp(mp.exp(mp.mpf(c) * mp.mpf(v)), ROWS_SHIFT) if v > -math.inf else 0
            assert weight <= bound <= weight * (1 + 2.0**-19) + 2 * (v > -math.inf)
            less += bound * (1 - 2.0**-10) < weight
        assert less  # the control


@quick_rows(3)
@pytest.mark.parametrize("n", [1, 2, 7, 16, 100, 1001])
def test_rows_are_the_twins(n):
    values, best, exact, gap = table(12, n, n)
    words = np.random.default_rng(n).integers(0, 2**64, 14 * n + 4000, np.uint64)
    words[::5] = 0  # coins that are open where the weight is small
    bounds = row_bounds(values, best, 1.0).tolist()
    for draws in (None, 3, "subsets"):
        a, b = Script(words), Script(words)
        if draws == "subsets":
            got = choice.subset_rows(values, best, 1.0, exact, a)
            want = [twin.subset(1.0, gap[i], b) for i in range(len(values))]
        else:
            got = choice.rows(values, best, 1.0, exact, a, draws=draws)
            want = [
                [twin.draw_row(1.0, gap[i], bounds[i], b) for _ in range(draws or 1)]
                for i in range(len(values))
            ]
            want = want if draws else [w[0] for w in want]
        assert got.tolist() == want and a.used == b.used


@quick_rows(1)
@pytest.mark.parametrize("shift", [0, 20, 38])
def test_subset_rows_on_the_boundary(decided, shift):
    """Coins 2^-60 from their probability: the vector bound, the scalar bound and mpmath in turn."""
    values = -np.linspace(0, 45, 200)[None]
    gap = [Fraction(-v) for v in values[0].tolist()]
    rng = np.random.default_rng(0)
    for off in {0, 1 << shift, -(1 << shift)}:
        words = []
        for d in values[0].tolist():
            ((k,),) = around(lambda mp, d=d: mp.exp(mp.mpf(d)), 64)[1:2]
            words.append(min(max(k + off, 0), 2**64 - 1))
        words += rng.integers(0, 2**64, 1500, np.uint64).tolist()
        a, b = Script(words), Script(words)
        got = choice.subset_rows(values, np.zeros(1), 1.0, lambda i, j: gap[j], a)
        assert got.tolist() == [twin.subset(1.0, gap, b)]
        assert a.used == b.used
    assert len(decided) > 100


def test_rows_without_a_candidate_are_refused():
    stream = InsecureGenerator(0).stream()
    values = np.array([[0.0, 1.0], [-math.inf, -math.inf]])
    for function in (choice.rows, choice.subset_rows):
        with pytest.raises(ValueError, match="excluded"):
            function(values, values.max(axis=1), 1.0, None, stream)
        assert function(values[:0], np.empty(0), 1.0, None, stream).shape == (0,)
        with pytest.raises(ValueError):
            function(values[:, :0], np.zeros(2), 1.0, None, stream)
