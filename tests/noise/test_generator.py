"""NumPy's `Generator` over secure bits: its face, its laws, and what is exact."""

import inspect
import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.noise.distributions import inverted
from dpfast.noise.generator import Sampler, weights_of
from dpfast.rng import InsecureGenerator

from ..support.lazy import stats
from ..support.pairwise import quick_rows

METHODS = sorted(name for name in vars(Sampler) if name[0] != "_")


def seeded(seed=1, granularity=2**-20):
    return dp.noise.generator(granularity, rng=InsecureGenerator(seed))


@pytest.mark.parametrize("name", METHODS)
def test_each_method_has_the_arguments_of_numpy(name):
    ours, theirs = (
        [(one.name, one.kind, one.default) for one in inspect.signature(f).parameters.values()]
        for f in (getattr(Sampler, name), getattr(np.random.Generator, name))
    )
    assert ours == theirs


def test_counts_and_noise_are_exact():
    rng = seeded()
    counts = np.array([0, 1, 2**33 - 2**12], np.int64)
    for noise in (rng.normal(0, 50, 3), rng.laplace(0, 50, 3), rng.uniform(-50, 50, 3)):
        assert (noise * 2**20 % 1 == 0).all()
        whole = [int(c) * 2**20 + int(z * 2**20) for c, z in zip(counts, noise, strict=True)]
        assert ((counts + noise) * 2**20).astype(np.int64).tolist() == whole
    # Planted: NumPy's noise has bits below the grid, which the sum loses.
    assert (np.random.default_rng(1).normal(0, 50, 9) * 2**20 % 1 != 0).any()


def test_a_float32_is_a_rounded_float64_and_an_array_is_filled():
    out = np.empty((2, 3), np.float32)
    assert seeded().standard_normal(out=out, dtype=np.float32) is out
    assert (out == seeded().standard_normal((2, 3)).astype(np.float32)).all()
    assert isinstance(seeded().random(dtype="f4"), np.float32)
    assert seeded().random((2, 0), "f4").shape == (2, 0)


def test_uniform_numbers_stay_within_their_own_ends():
    low, high = np.array([0.0, 5.0, 0.0]), np.array([[1.0, 7.0, 1.0], [0.0, 5.25, 9.0]])
    drawn = seeded().uniform(low, high, (99, 2, 3))
    assert ((drawn >= low) & ((drawn < high) | (low == high))).all()
    assert (drawn[:, 0, 1] > 6).any() and (drawn[:, 1, 2] > 5).any()
    assert seeded().uniform(low[:0], size=0).shape == (0,)


@pytest.mark.parametrize("low, high, dtype, endpoint", [
    (-3, 5, np.int8, True), (0, 2**64, np.uint64, False), (0, 2, bool, False),
    (-(2**63), 2**63 - 1, np.int64, True), ([0, 2**63], [2, 2**64 - 1], np.uint64, False),
])  # fmt: skip
def test_integers_stay_within_their_bounds(low, high, dtype, endpoint):
    first, last = np.asarray(low, object), np.asarray(high, object) - (not endpoint)
    if isinstance(low, list):
        low, high = np.array(low, np.uint64), np.array(high, np.uint64)
    drawn = seeded().integers(low, high, (99, 2), dtype, endpoint)
    assert drawn.dtype == dtype and drawn.shape == (99, 2)
    assert ((drawn.astype(object) >= first) & (drawn.astype(object) <= last)).all()
    if np.shape(last) == () and last > 99:  # Planted: the upper half is never drawn.
        assert (drawn.astype(object) > (int(first) + int(last)) // 2).any()


def test_orders_are_equally_likely_and_lose_nothing():
    rng = seeded()
    orders = np.array([rng.permutation(3) for _ in range(600)]) @ [9, 3, 1]
    counts = np.unique(orders, return_counts=True)[1]
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > 1e-4
    grid = np.arange(12).reshape(3, 4)
    assert sorted(rng.permutation(grid, axis=1)[0]) == [0, 1, 2, 3]
    assert (np.sort(rng.permuted(grid, axis=1)) == grid).all()
    assert sorted(rng.permuted(grid).ravel()) == list(range(12))
    own = grid.copy()
    assert rng.permuted(own, axis=0, out=own) is own and (np.sort(own, 0) == grid).all()
    items = list("abc")
    rng.shuffle(items)
    rng.shuffle(own, axis=1)
    assert sorted(items) == list("abc") and sorted(own.ravel()) == list(range(12))


def test_a_tiny_probability_is_drawn_as_often_as_it_says():
    """Weights are the binary numbers: 1e-300 against 1 - 1e-300, which is 1, by a long word."""
    p = [1e-300, 1.0, 0.0]
    low, high, none = weights_of(p, 3)
    assert low / high == 1e-300 and none == 0
    assert set(seeded().choice(3, 99, p=p)) == {1}


def test_children_draw_other_numbers():
    one, two = seeded().spawn(2)
    assert one.bytes(8) != two.bytes(8)
    assert dp.noise.generator().spawn(1)[0].bytes(8) != dp.noise.generator().bytes(8)


WRONG = [
    lambda rng: rng.choice(2, p=[0.5, 0.4, 0.1]), lambda rng: rng.normal(0, 2.0**33),
    lambda rng: rng.normal([1, 2], [1, 2, 3]), lambda rng: rng.laplace([1, 2], size=3),
    lambda rng: rng.integers(3, 3), lambda rng: rng.integers(300, dtype=np.int8),
    lambda rng: rng.choice(3, 4, replace=False), lambda rng: rng.choice([]),
    lambda rng: rng.uniform(1, 0), lambda rng: rng.uniform(0, 2.0**40),
    lambda rng: rng.shuffle((1, 2)), lambda rng: rng.permutation([1, 2], axis=1),
    lambda rng: rng.random(out=np.zeros(2, np.float32)), lambda rng: rng.random(3, out=np.zeros(2)),
]  # fmt: skip


def test_a_wrong_argument_is_one_clear_error_that_shows_no_number():
    hidden = ([1234.5, "x"], np.ma.array([1234.5, 1.0]))
    for wrong in (*WRONG, *(lambda rng, loc=loc: rng.normal(loc, 1.0) for loc in hidden)):
        with pytest.raises((ArgumentError, dp.errors.ArgumentTypeError)) as told:
            wrong(seeded())
        assert "1234" not in str(told.value)


#: What a private number may be, and the sign of what it counts as where that is far away.
HOSTILE = {
    "inf": (math.inf, 1), "-inf": (-math.inf, -1), "NaN": (math.nan, 0), "1e308": (1e308, 1),
    "10**400": (10**400, 1), "-10**400": (-(10**400), -1), "1/3": (Fraction(10**400, 3), 1),
    "2**64": (2**64, 0), "longdouble": (np.longdouble("1e4000"), 1), "sNaN": (Decimal("sNaN"), 0),
    "Decimal": (Decimal("-Infinity"), -1),
}  # fmt: skip


def raised_by(draw):
    """The private numbers for which a draw is an error, or on the wrong side of 0."""
    found = []
    for name, (value, sign) in HOSTILE.items():
        try:
            drawn = np.asarray(draw(value), np.float64)
            fails = not (np.isfinite(drawn).all() and np.all(sign * drawn >= 0))
        except Exception:
            fails = True
        found += [name] * fails
    return found


@quick_rows(4)
@pytest.mark.parametrize("granularity", [2.0**-20, 2.0**-900, 2.0**900])
@pytest.mark.parametrize("law", ["normal", "laplace", "logistic", "gumbel"])
def test_no_private_number_is_an_error(law, granularity):
    """Beyond 2**52 grids each of those of Gumbel is decided in arbitrary precision."""
    draw = getattr(dp.noise.generator(granularity, rng=InsecureGenerator(5)), law)
    for scale in (max(granularity, 2.0**-900), 0.0):
        assert raised_by(lambda x, scale=scale: draw(x, scale)) == []
        assert raised_by(lambda x, scale=scale: draw([x, 1.0], scale)[:1]) == []


def test_an_error_for_a_private_number_is_caught():
    """Planted: what Python makes of a number, and a check that it is finite."""
    checked = lambda value: 1 / np.isfinite(float(value)) * value  # noqa: E731
    with np.errstate(divide="raise"):
        assert {"inf", "NaN", "10**400", "sNaN"} <= set(raised_by(checked))


def test_no_probability_is_an_error():
    for name, (value, _) in HOSTILE.items():
        for p in ([value, 0.5, 0.25], [value] * 3, [0.0, value, 0.0]):
            for replace in (True, False):
                found = seeded().choice(3, 3, replace, p=p)
                assert found.shape == (3,) and set(found) <= {0, 1, 2}, name
    assert set(seeded().choice(3, 99, p=[-1.0, 0.2, math.nan])) == {1}
    # What weighs something comes first where none is drawn twice.
    assert seeded().choice(3, 2, False, p=[0.0, 0.5, 0.0])[0] == 1


N = 40_000
CONTINUOUS = {
    "normal": (lambda rng, off=0: rng.normal(5 + off, 10, N), ("norm", 5, 10)),
    "laplace": (lambda rng, off=0: rng.laplace(5 + off, 10, N), ("laplace", 5, 10)),
    "uniform": (lambda rng, off=0: rng.uniform(0.1, 9 + off, N), ("uniform", 0.1, 8.9)),
    "logistic": (lambda rng, off=0: rng.logistic(5 + off, 9, N), ("logistic", 5, 9)),
    "gumbel": (lambda rng, off=0: rng.gumbel(5 + off, 9, N), ("gumbel_r", 5, 9)),
    "exponential": (lambda rng, off=0: rng.exponential(9 + off, N), ("expon", 0, 9)),
    "random": (lambda rng, off=0: rng.random(N) + off / 10, ("uniform",)),
}


@pytest.mark.full
@pytest.mark.parametrize("law", CONTINUOUS)
def test_a_law_fits_and_another_does_not(law):
    draw, (name, *parameters) = CONTINUOUS[law]
    known = getattr(stats, name)(*parameters)
    assert stats.kstest(draw(seeded(7)), known.cdf).pvalue > 1e-4
    assert stats.kstest(draw(seeded(7), 0.5), known.cdf).pvalue < 1e-4


mp = mpmath.MPContext()
mp.prec = 400
#: Words next to both ends of (0, 1), and in between.
WORDS = [0, 1, 2, 2**11, 2**63 - 1, 2**63, 2**64 - 2**11, 2**64 - 2, 2**64 - 1]


def some_words(n):
    return np.array(WORDS + InsecureGenerator(3).random_raw(n).tolist(), np.uint64)


def half():
    """Further bits, with which a word stands for nearly the middle of its interval."""
    return 1 << 63


def uniform_of(word):
    return (mp.mpf(int(word)) + mp.mpf(0.5) + mp.mpf(2) ** -65) / mp.mpf(2) ** 64


@pytest.mark.parametrize(("scale", "grid"), [(1.0, 0.5), (3.0, 2.0**-20), (7.0, 2.0**-44)])
def test_gumbel_numbers_are_rounded_correctly(scale, grid):
    """The twin: textbook formula, hundreds of bits; the finest grid leaves float64 undecided."""
    words = some_words(60)
    drawn = inverted.gumbel(words, np.array(0.1), np.array(scale), grid, half)
    for word, found in zip(words, drawn.tolist(), strict=True):
        ideal = mp.mpf(0.1) + mp.mpf(scale) * -mp.log(-mp.log(1 - uniform_of(word)))
        assert abs(ideal - mp.mpf(found)) <= mp.mpf(grid) / 2 * (1 + mp.mpf(2) ** -40)


@pytest.mark.parametrize("p", [0.3, 0.5, 1 - 2.0**-53, 2.0**-40])
def test_geometric_numbers_are_exact(p):
    words = some_words(60)
    drawn = inverted.geometric(words, np.array(p), half)
    for word, found in zip(words, drawn.tolist(), strict=True):
        ideal = mp.floor(mp.log(uniform_of(word)) / mp.log(1 - mp.mpf(p))) + 1
        assert found == int(ideal)


def test_bounds_that_are_too_small_are_caught(monkeypatch):
    """Planted: float64 is believed everywhere, with logarithms that are off in the last places."""
    monkeypatch.setattr(inverted, "_LOG", -1.0)
    monkeypatch.setattr(inverted, "_ROUND", 0.0)
    with pytest.raises(AssertionError):
        test_gumbel_numbers_are_rounded_correctly(7.0, 2.0**-44)
    assert seeded().geometric([1.0, 5e-324]).tolist() == [1, 2**63 - 1]
