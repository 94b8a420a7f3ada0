"""Bounds of every table against independent formulas, and the parts of exact decisions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast._kernels.noise import BLOCK, OCTAVE, SPLIT, fill
from dpfast.noise import distributions as kinds
from dpfast.noise.distributions.base import context
from dpfast.noise.distributions.exact import Tail
from dpfast.noise.distributions.table import prepare

from ..reference.noise import samplers as twin
from ..support.pairwise import quick_rows

KINDS = [
    *(kinds.Laplace(), kinds.Gaussian(), kinds.Cauchy(), kinds.StudentT(3.0), kinds.StudentT(4.0)),
    *(kinds.GeneralizedCauchy(4), *map(kinds.PolyPlace, (10 / 3, 5 / 3, 1.2))),
    *(kinds.ArsinhNormal(0.9), kinds.Logistic()),
]
# No elementary distribution function: fewer points.
SLOW_KINDS = [
    *(*map(kinds.StudentT, (1.0, 2.0, 2.5, 1000.0)), *map(kinds.ArsinhNormal, (0.001, 10.0))),
    *map(kinds.GeneralizedCauchy, (2, 3, 10, 100)),
    *map(kinds.PolyPlace, (1.001, 1000.0, 1e6)),
]
IDS = {"ids": repr}

PRECISION = 200


class Elementary:
    """Functions at PRECISION bits: gmpy2's where it is there (ten times faster), else mpmath's."""

    def __init__(self) -> None:
        try:
            import gmpy2
        except ImportError:
            self._f = mpmath.MPContext()
            self._f.prec = PRECISION
            self.number, self.pi = self._f.mpf, +self._f.pi
            self.gmpy = False
        else:
            self._f = gmpy2
            gmpy2.get_context().precision = PRECISION
            self.number, self.pi = gmpy2.mpfr, gmpy2.const_pi()
            self.gmpy = True

    def __getattr__(self, name):
        return getattr(self._f, name)

    def p(self, k: int):
        return self.number(k) / self.number(1 << 64)


def survival(m, kind):
    one, half = m.number(1), m.number(0.5)
    if isinstance(kind, kinds.Laplace):
        return lambda z: m.exp(-z) / 2 if z >= 0 else 1 - m.exp(z) / 2
    if isinstance(kind, kinds.Logistic):
        return lambda z: 1 / (1 + m.exp(z))
    if isinstance(kind, kinds.Cauchy):
        return lambda z: half - m.atan(z) / m.pi
    if isinstance(kind, kinds.Gaussian):
        return lambda z: m.erfc(z / m.sqrt(2 * one)) / 2
    if isinstance(kind, kinds.ArsinhNormal):
        s = m.number(kind.sigma)
        return lambda z: m.erfc(m.asinh(s * z) / s / m.sqrt(2 * one)) / 2
    if isinstance(kind, kinds.PolyPlace):
        a = m.number(kind.shape)
        c = a / 2 / (1 + 2 / a * (1 - 1 / a) ** (a - 1))
        c_tail = c * (1 - 1 / a) ** (a - 1) * (1 + 1 / a) ** (a + 1)

        def polyplace(z):
            if z < 0:
                return 1 - polyplace(-z)
            if a * z > 1:
                return c_tail / a * (1 + z) ** -a
            return half - c / a * (1 - (1 - z) ** a)

        return polyplace
    if isinstance(kind, kinds.StudentT) and kind.df == 3:
        root = m.sqrt(3 * one)
        return lambda z: half - (m.atan(z / root) + z / root / (1 + z * z / 3)) / m.pi
    if isinstance(kind, kinds.StudentT) and kind.df == 4:

        def student(z):
            s = z / m.sqrt(4 + z * z)
            return half - (3 * s - s**3) / 4

        return student
    if isinstance(kind, kinds.GeneralizedCauchy) and kind.gamma == 4:
        r = m.sqrt(2 * one)

        def quartic(z):
            inside = m.log((z * z + r * z + 1) / (z * z - r * z + 1)) / 2
            return half - (inside + m.atan(r * z + 1) + m.atan(r * z - 1)) / (2 * m.pi)

        return quartic
    raise AssertionError(kind)


def points(n: int, seed: int, knee: float) -> list[int]:
    """k where it is hard: every octave, segment ends, next to 2^63 and the corner; and random."""
    rng = random.Random(seed)
    made = [1 << OCTAVE, (1 << OCTAVE) + 1, (1 << 63) - 1, (1 << 63) - 512, (1 << 63) - 513]
    if math.isfinite(knee):
        made += [int(knee) + i * 512 for i in range(-20, 20)]
    while len(made) < n:
        octave = rng.randrange(OCTAVE, 63)
        segment = ((1 << SPLIT) + rng.randrange(1 << SPLIT)) << (octave - SPLIT)
        at = rng.choice((0, 1, 3, -1 % (1 << (octave - SPLIT)), rng.getrandbits(octave - SPLIT)))
        made += [
            segment + at,
            rng.getrandbits(63) | (1 << OCTAVE),
            (1 << 63) - 1 - rng.getrandbits(40),
        ]
    return made[:n]


def kernel(prepared, k):
    """The table's quantile and bound for numbers k, as `csrc/noise/grid.h` defines them."""
    d = np.minimum(np.array(k, np.uint64).astype(np.float64), 2.0**63 - 1024)
    fraction, exponent = np.frexp(d)
    part = ((2 * fraction - 1) * 2**SPLIT).astype(np.int64)
    octave = exponent.astype(np.int64) - 1
    index = 1 + ((octave - OCTAVE) << SPLIT) + part + (d >= prepared.knee)
    x = np.ldexp(1 + (part + 0.5) / 2**SPLIT, octave) - d
    rows = prepared.rows[index]
    z = rows[:, 6].copy()
    for j in range(5, -1, -1):
        z = z * x + rows[:, j]
    return z, rows[:, 7]


def outside(kind, n, part=1):
    """The numbers for which a part of the bound does not hold.

    Q(p) in [z - e, z + e] for all p in (i, i + 1) 2^-64, since Q decreases. The difference of the
    two sides is e f(z) or more, the formulas are good to 2^-150.
    """
    m, prepared = Elementary(), prepare(kind)
    k, tail = points(n, 1, prepared.knee), survival(m, kind)
    z, bound = kernel(prepared, k)
    return [
        i
        for i, zi, ei in zip(k, z.tolist(), (bound * part).tolist(), strict=True)
        if ei < math.inf
        and not (tail(m.number(zi) + ei) <= m.p(i) and tail(m.number(zi) - ei) >= m.p(i + 1))
    ]


@quick_rows(1)
@pytest.mark.parametrize("kind", KINDS, **IDS)
def test_bounds_hold(kind):
    assert not outside(kind, 3000)


def test_a_bound_that_is_too_small_is_caught():
    """Negative control: the bounds are not so loose that the test could not fail."""
    assert outside(kinds.Laplace(), 1500, 0.5)


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", SLOW_KINDS, **IDS)
def test_bounds_hold_without_elementary_formulas(kind, step):
    prepared = prepare(kind)
    mp = twin.mp
    mp.prec = PRECISION
    for i in points(60, 2, prepared.knee)[::step]:
        z, bound = prepared.evaluate(i)
        if bound < math.inf:
            for at in (i, i + 1):
                if at < 1 << 63:
                    assert abs(twin.quantile(kind, mp.ldexp(at, -64)) - z) <= bound, i


@quick_rows(4)
@pytest.mark.parametrize("kind", [*KINDS, *SLOW_KINDS], **IDS)
def test_evaluate_is_the_kernel(kind):
    """`Prepared.evaluate`, the vectorised twin above and the compiled kernel are one function."""
    prepared = prepare(kind)
    k = [*points(500, 3, prepared.knee), 0, 1, (1 << OCTAVE) - 1]
    slow = np.array([prepared.evaluate(i) for i in k])
    assert np.array_equal(slow[:500].T, kernel(prepared, k[:500]))
    assert (slow[500:, 1] == math.inf).all()
    words, out = np.array(k, np.uint64) << np.uint64(1), np.empty(len(k))
    lane, word = np.empty(4 * BLOCK, np.int64), np.empty(4 * BLOCK, np.uint64)
    inputs = [np.array([x]) for x in (2.0**20, 1.0, 0.0, 0.0)]
    done, found = fill(None, words, prepared.table, *inputs, out, 0, lane, word)
    assert done == len(k)
    decided = np.ones(len(k), bool)
    decided[lane[:found]] = False
    assert np.array_equal(out[decided], np.rint(slow[:, 0] * 2.0**20)[decided])
    assert not decided[500:].any()


@quick_rows(8)
@pytest.mark.parametrize("kind", [*KINDS, *SLOW_KINDS], **IDS)
def test_survival_density_and_quantile_agree(kind):
    mp = context(120)
    for p in (0.4999, 0.37, 0.2, 0.01, 2.0**-30, 2.0**-70):
        z = kind.quantile(mp, mp.mpf(p))
        assert abs(kind.survival(mp, z) / mp.mpf(p) - 1) < 2.0**-85
        step = z * mp.ldexp(1, -40)
        slope = (kind.survival(mp, z - step) - kind.survival(mp, z + step)) / (2 * step)
        assert abs(slope / kind.density(mp, z) - 1) < 2.0**-30
    assert mp.prec == 120
    assert kind.survival(mp, mp.zero) == 0.5


def test_an_undecided_comparison_draws_more_bits():
    drawn = iter([5, 7, 9])
    tail = Tail(1 << 61, lambda: next(drawn))
    # p = 2^-3 + [0, 1) 2^-64 against exactly 2^-3 + 5 2^-128 + 7 2^-192 + 8 2^-256.
    target = Fraction(1, 8) + Fraction(5, 1 << 128) + Fraction(7, 1 << 192) + Fraction(8, 1 << 256)
    assert not tail.below(lambda mp: mp.mpf(target.numerator) / target.denominator)
    assert tail.bits == 256
