"""Noise on a grid: exact rounding against the definition, supports, fallback, paths, arguments."""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
import random
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpfast import noise
from dpfast.errors import ArgumentError, DpfastError
from dpfast.noise import distributions as kinds
from dpfast.noise import samplers
from dpfast.noise.distributions.discrete import gaussian_trials, laplace_integers
from dpfast.noise.distributions.exact import decide
from dpfast.noise.distributions.table import Prepared, prepare
from dpfast.rng import InsecureGenerator, default_generator

from ..reference.noise import samplers as twin
from ..support.pairwise import every_value, quick_rows
from ..support.surface import Liar

KINDS = [
    *(kinds.Laplace(), kinds.Gaussian(), kinds.Cauchy(), kinds.StudentT(3.0), kinds.StudentT(2.5)),
    *(kinds.GeneralizedCauchy(4), kinds.PolyPlace(10 / 3), kinds.PolyPlace(1.2)),
    kinds.ArsinhNormal(0.9),
]
QUICK = [kinds.Laplace(), kinds.Cauchy(), kinds.PolyPlace(10 / 3), kinds.PolyPlace(1.2)]
IDS = {"ids": repr}


def further(word: int):
    """Words after the first: a fixed function of it, so that two computations see the same ones."""
    rng = random.Random(word)
    while True:
        yield rng.getrandbits(64)


def scripted(prepared, words, value=0.0, scale=1.0, granularity=2.0**-32):
    """The library's samples for given first words, one at a time so that `further` applies."""
    made, out = [], np.empty(1)
    inputs = [np.array([float(x)]) for x in (value, scale, granularity)]
    for word in words:
        given = np.array([word], np.uint64)
        samplers._fill(prepared, inputs, out, None, given, further(word).__next__)
        made.append(float(out[0]))
    return made


def defined(kind, words, *given):
    value, scale, granularity = given or (0.0, 1.0, 2.0**-32)
    streams = (itertools.chain([w], further(w)) for w in words)
    return [twin.sample(kind, stream, value, scale, granularity) for stream in streams]


def extreme_words(n: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    edges, bits = [0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1], (5, 20, 40, 44, 50, 60)
    return edges + [rng.getrandbits(rng.choice((*bits, 64, 64, 64))) for _ in range(n - len(edges))]


def words_near_boundaries(kind, n: int, ratio: float, seed: int) -> list[int]:
    """First words whose samples lie within 2^-64 in probability of a half-integer of the grid."""
    rng = random.Random(seed)
    mp = twin.mp
    made = []
    while len(made) < n:
        mp.prec = 200
        z = Fraction(prepare(kind).evaluate(rng.getrandbits(63))[0])
        if z <= 0:
            continue
        half = math.floor(z * Fraction(ratio)) + Fraction(1, 2)
        at = half / Fraction(ratio)
        p = kind.survival(mp, mp.mpf(at.numerator) / at.denominator)
        k = int(mp.floor(mp.ldexp(p, 64)))
        made.append(2 * (k + rng.choice((-1, 0, 0, 1))) + rng.getrandbits(1))
    return made


@quick_rows(1)
@pytest.mark.parametrize("kind", KINDS, **IDS)
def test_samples_are_correctly_rounded(kind):
    """Against the definition: random and extreme words, and words at the edge of a cell."""
    n = 300 if kind in QUICK else 25
    words = extreme_words(n, 1) + words_near_boundaries(kind, n // 3, 2.0**32, 2)
    assert scripted(prepare(kind), words) == defined(kind, words)


GRIDS = [
    (0.0, 1.0, 1.0), (0.5, 1.0, 1.0),  # of which the second is a tie of value alone
    (-1234.56789, 0.1, 2.0**-20), (1e300, 1e285, 2.0**900), (1e-310, 5e-324, 2.0**-1000),
    (3.0, 2.0**52, 1.0), (2.0**70, 1.0, 2.0**-30),  # value / granularity beyond 2^53
    (7.0, 1e-300, 2.0**1000), (0.0, 1e300, 2.0**-1000),  # scale / granularity overflows
    (0.3, 2.0**60, 2.0**-5),  # a grid too fine for float64 at all
]  # fmt: skip


@every_value
@pytest.mark.parametrize("given", GRIDS, ids=str)
@pytest.mark.parametrize("kind", [kinds.Laplace(), kinds.Cauchy(), kinds.PolyPlace(1.2)], **IDS)
def test_values_scales_and_grids(kind, given):
    words, first = extreme_words(30, 3), one(kind, *given)
    drawn = np.frombuffer(InsecureGenerator(6).stream().take(80), np.uint64).tolist()
    assert first == many(kind, *given)[0] == twin.sample(kind, iter(drawn), *given)
    assert scripted(prepare(kind), words, *given) == defined(kind, words, *given)


@quick_rows(1)
@pytest.mark.parametrize("kind", KINDS, **IDS)
def test_no_decision_depends_on_the_table(kind):
    """Lanes that float64 decides are what arbitrary precision would have decided."""
    n = 1000 if kind in QUICK else 400
    words = [random.Random(i).getrandbits(64) for i in range(n)]
    known, fast = prepare(kind), np.empty(n)
    inputs = [np.array([0.75]), np.array([3.0]), np.array([2.0**-30])]
    samplers._fill(known, inputs, fast, None, np.array(words, np.uint64), lambda: 1 << 60)
    rows = np.array(known.rows)
    rows[:, -1] = np.minimum(rows[:, -1] * 2.0**12, 2.0**-36)  # near route, every lane
    coarse = Prepared(kind, rows, known.knee)
    slow = [decide(coarse, w, 0.75, 3.0, 2.0**-30, lambda: 1 << 60) for w in words]
    assert fast.tolist() == slow


def test_a_wrong_coefficient_is_caught():
    """Negative control: a table with one coefficient off by 2^-36 fails the exactness test."""
    kind = kinds.Laplace()
    rows = np.array(prepare(kind).rows)
    rows[:, 0] += 2.0**-36
    words = extreme_words(600, 1)
    assert scripted(Prepared(kind, rows, math.inf), words) != scripted(prepare(kind), words)


def one(kind, value, scale, granularity, seed=6):
    given = {"value": value, "scale": scale, "granularity": granularity}
    return noise.draw(kind, **given, generator=InsecureGenerator(seed))


def many(kind, *given, size=1, generator=None):
    names, arrays = ("value", "scale", "granularity"), [np.array([number]) for number in given]
    arrays = dict(zip(names, arrays, strict=True))
    generator = generator or InsecureGenerator(6)
    return noise.draw_array(kind, **arrays, shape=(size,), generator=generator)


WIDTHS = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(12345.678), Fraction(2**40)]


DOUBTS = (2.0**30, math.inf)


def words_near_steps(scale: Fraction, n: int, seed: int) -> list[int]:
    """First words next to the probabilities at which |K| steps up."""
    rng, mp, made = random.Random(seed), twin.mp, []
    for _ in range(n):
        mp.prec = 200
        s = mp.mpf(scale.numerator) / scale.denominator
        m = 1 + int(rng.expovariate(1) * float(scale))
        k = int(mp.floor(mp.ldexp(mp.exp(-m / s) / (1 + mp.exp(-1 / s)), 64)))
        made.append(max(0, 2 * (k + rng.choice((-1, 0, 0, 1))) + rng.getrandbits(1)))
    return made


def doubtful(kind, factor):
    known = prepare(kind)
    rows = np.array(known.rows)
    rows[:, -1] *= factor
    return Prepared(kind, rows, known.knee)


@quick_rows(1)
@pytest.mark.parametrize("scale", WIDTHS, ids=str)
def test_discrete_laplace_is_its_definition(scale):
    words = extreme_words(150, 21) + words_near_steps(scale, 50, 22)
    expected = [twin.discrete_laplace(scale, itertools.chain([w], further(w))) for w in words]
    for known in (None, *(doubtful(kinds.Laplace(), factor) for factor in DOUBTS)):
        made, result = np.empty(1, np.int64), []
        for word in words:
            given = np.array([word], np.uint64)
            laplace_integers(made, scale, None, given, further(word).__next__, known)
            result.append(int(made[0]))
        assert result == expected


@quick_rows(1)
@pytest.mark.parametrize("sigma", WIDTHS, ids=str)
def test_discrete_gaussian_trials_are_their_definition(sigma):
    t, mp, rng = int(sigma) + 1, twin.mp, random.Random(23)
    words = extreme_words(200, 24)
    y = [int(rng.expovariate(1 / t)) * rng.choice((-1, 1)) for _ in words]
    gammas = [(abs(v) - sigma**2 / t) ** 2 / (2 * sigma**2) for v in y]
    for i in range(100, 200):  # at the edge of acceptance
        mp.prec = 300
        gamma = mp.mpf(gammas[i].numerator) / gammas[i].denominator
        k = int(mp.floor(mp.ldexp(mp.exp(-gamma), 63)))
        words[i] = min(max(0, 2 * (k + rng.choice((-1, 0, 0, 1)))), 2**64 - 2)
    pairs = zip(gammas, words, strict=True)
    expected = [twin.exceeds(g, itertools.chain([w], further(w))) for g, w in pairs]
    for known in (None, *(doubtful(kinds.Laplace(), factor) for factor in DOUBTS)):
        got = []
        for v, w in zip(y, words, strict=True):
            given, more = np.array([w], np.uint64), further(w).__next__
            got += gaussian_trials(np.array([v]), sigma, None, given, more, known).tolist()
        assert got == expected


def supports_differ(mechanism) -> bool:
    """Whether outputs on the neighbors 0 and 1 have distinguishable trailing bits."""

    def low_bits(z):
        """How many have so many trailing zero bits, as multiples of 2^-60."""
        m, e = np.frexp(z[z != 0])
        whole = (m * 2**53).astype(np.int64)
        trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64) + e - 53 + 60
        return np.bincount(np.clip(trailing, 0, 120), minlength=121)

    zero, one = low_bits(mechanism(0.0)), low_bits(mechanism(1.0))
    both = zero + one
    seen, some = both > 50, both > 5
    chi = ((zero - one) ** 2)[seen] / both[seen]
    return bool(chi.sum() > 12 * max(1, seen.sum()) or ((zero > 0) != (one > 0))[some].any())


@quick_rows(3)
@pytest.mark.parametrize("kind", KINDS, **IDS)
def test_support_does_not_depend_on_the_value(kind):
    """The control: the textbook sampler, noise added in float64, is caught (Mironov 2012)."""
    rng, grid, bits = InsecureGenerator(7), 2.0**-20, np.random.default_rng(1)

    def mechanism(value):
        out = many(kind, value, 1.3, grid, size=20_000, generator=rng)
        assert (out / grid == np.rint(out / grid)).all()
        return out[np.abs(out) < 2**30]

    def textbook(value):
        return value + bits.laplace(0, 1.3, 20_000)

    assert not supports_differ(mechanism)
    assert supports_differ(textbook)
    assert not (textbook(0.0) / grid == np.rint(textbook(0.0) / grid)).all()


def test_known_answers():
    """From the seed to the samples, checked once against `tests/reference/noise/samplers.py`."""
    words = np.frombuffer(InsecureGenerator(5).stream().take(8 * 12), np.uint64).tolist()
    for f, kind in ((noise.laplace, kinds.Laplace()), (noise.cauchy, kinds.Cauchy())):
        expected = defined(kind, words, 0.0, 1.0, 2.0**-30)
        assert f(1.0, 12, rng=InsecureGenerator(5)).tolist() == expected
    text = hashlib.sha256(noise.laplace(1.0, 1000, rng=InsecureGenerator(5)).tobytes()).hexdigest()
    assert text[:16] == "aee55b8bae8cb5e4"


def test_arrays_are_what_scalars_are():
    """Samples for arrays of scales take the words one after another."""
    scale, g = np.array([[0.5, 3.0, 100.0], [7.0, 1e-5, 1e200]]), InsecureGenerator(11)
    one_by_one = [noise.gaussian(s, rng=g) for s in scale.ravel()]
    assert noise.gaussian(scale, rng=InsecureGenerator(11)).ravel().tolist() == one_by_one
    rows = noise.gaussian(scale, (5, 2, 3), rng=InsecureGenerator(11))
    assert rows.shape == (5, 2, 3) and rows[0].ravel().tolist() == one_by_one
    grid = np.array([[0.25], [2.0]])
    mixed = noise.laplace(np.array([[1.0, 2.0, 3.0]]), granularity=grid, rng=g)
    assert mixed.shape == (2, 3) and (mixed / grid == np.rint(mixed / grid)).all()


@pytest.mark.full
def test_more_undecided_samples_than_room():
    """A grid so fine that most lanes are undecided, over several refills of the list."""
    out = noise.laplace(1.0, 9000, granularity=2.0**-51, rng=InsecureGenerator(12))
    assert (out * 2.0**51 == np.rint(out * 2.0**51)).all()
    assert abs(np.mean(np.abs(out)) - 1) < 0.06


def test_default_grid():
    for scale, grid in ((1.0, 2.0**-30), (1.999, 2.0**-30), (2.0, 2.0**-29), (0.3, 2.0**-32)):
        z = noise.laplace(scale, 400, rng=InsecureGenerator(1)) / grid
        assert (z == np.rint(z)).all()
        assert (z % 2 == 1).any()


#: What draws as many numbers as it is asked for.
SIZED = {
    "staircase": partial(noise.staircase, 1.0, 1),
    "words": lambda size: default_generator().random_raw(size),
    **{name: partial(getattr(noise, name), 1.0)
       for name in ("laplace", "gaussian", "cauchy", "discrete_laplace")},
    **{f"generator {name}": lambda size, name=name: getattr(noise.generator(), name)(size=size)
       for name in ("normal", "gumbel", "uniform", "random", "standard_normal")},
}  # fmt: skip


@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_no_memory_has(name):
    for size in (10**13, 10**400, (1 << 21, 1 << 21), Liar([2, 10**13])):
        with pytest.raises(ArgumentError, match="size must be"):
            SIZED[name](size)


def test_sizes_that_make_no_sense_and_one_that_lies():
    """Planted: a list that is believed its length, which waits for that much memory."""
    for size in (-1, (2, -1), 1.5, "3", (1, 2, 4)):
        with pytest.raises(DpfastError, match="size must be"):
            noise.laplace([1.0, 2.0, 3.0], size)
    assert noise.laplace(1.0, Liar([2, 3])).shape == (2, 3)
    assert operator.length_hint(Liar([2])) == 1 << 60
    with pytest.raises(MemoryError):
        tuple(Liar([2]))


def test_a_secret_scale_is_not_shown():
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ArgumentError) as caught:
            one(kinds.Laplace(), 8.25, scale, 1.0)
        assert "8.25" not in str(caught.value)
        assert repr(scale) not in str(caught.value).replace("greater than 0", "")


@pytest.mark.parametrize("draw", [one, many])
def test_a_release_needs_a_power_of_two_and_a_value_beyond_the_grid_saturates(draw):
    kind, grid = kinds.Laplace(), 2.0**-900
    for granularity in (0.3, 0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="granularity must be"):
            draw(kind, 0.0, 1.0, granularity)
    for sign in (-1.0, 1.0):
        far = draw(kind, sign * sys.float_info.max * grid, 1.0, grid)
        for value in (1e300, math.inf):
            assert draw(kind, sign * value, 1.0, grid) == far
    assert draw(kind, math.nan, 1.0, 0.25) == draw(kind, 0.0, 1.0, 0.25)


def test_one_scale_that_is_too_large_for_its_granularity_is_refused():
    with pytest.raises(ArgumentError, match="granularity must be at least"):
        noise.laplace([1.0, 1.0], granularity=[2.0**-60, 0.5])
