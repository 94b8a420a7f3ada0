"""Rows as small integers: against exact arithmetic, on every path, and refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpfast._kernels.learn import box_whole as whole

from ..support.paths import on_every_path

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, -1e308, 0.5, 1.5, 2.5, 2.0**52 + 1]


def case(seed, n, d, limits=3):
    g = np.random.default_rng(seed)
    rows = g.normal(0, 200, (n, d))
    odd = g.uniform(size=(n, d)) < 0.1
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    lo, hi = -g.integers(0, 1000, d), g.integers(0, 1000, d)
    middle = (lo + hi) // 2
    return rows, *(np.tile(x.astype(float), (limits, 1)) for x in (lo, hi, middle))


@pytest.mark.parametrize(("n", "d"), [(0, 1), (1, 1), (7, 3), (64, 8), (101, 5), (40, 33)])
def test_integers_are_those_of_exact_arithmetic(n, d):
    rows, lo, hi, middle = case(n, n, d)
    out = np.full((n + 2, d), 7.0)
    assert whole(rows, 4.0, lo, hi, middle, out) == np.isnan(rows).sum()
    for row, result in zip(rows.tolist(), out.tolist(), strict=False):
        for x, a, b, m, z in zip(row, lo[0], hi[0], middle[0], result, strict=True):
            if x != x:
                x = -np.inf
            scaled = Fraction(4 * x) if np.isfinite(4 * x) else Fraction(b if x > 0 else a)
            assert z == round(min(max(scaled, Fraction(a)), Fraction(b))) - m
    assert (out[n:] == 7).all()


@pytest.mark.full
def test_every_path_gives_the_same_bits():
    code = """
import sys, hashlib
import numpy as np
sys.path.insert(0, ".")
from tests.learn.test_box import case, whole
for d in 1, 8, 13:
    rows, *limits = case(d, 501, d)
    out = np.empty_like(rows)
    print(whole(rows, 0.25, *limits, out), hashlib.sha256(out.tobytes()).hexdigest())
"""
    assert len(on_every_path(code).splitlines()) == 3


def test_what_does_not_fit_is_refused():
    rows, lo, hi, middle = case(1, 5, 2)
    out = np.empty((5, 2))
    bad = [
        (rows, lo[:2], hi, middle, out),
        (rows, lo[:0], hi[:0], middle[:0], out),
        (rows, lo, hi, middle, out[:4]),
        (rows, lo, hi, middle, np.empty((5, 3))),
        (np.empty((5, 3)), lo, hi, middle, out),
        (
            np.empty((5, 0)),
            lo[:, :0].copy(),
            hi[:, :0].copy(),
            middle[:, :0].copy(),
            out[:, :0].copy(),
        ),
    ]
    for x, a, b, m, o in bad:
        with pytest.raises(ValueError):
            whole(x, 1.0, a, b, m, o)
