"""The kernel for sums of products: against Python's integers, on every path, and its refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpfast._kernels.learn import GRAM_MOST_COLUMNS as MOST_COLUMNS
from dpfast._kernels.learn import GRAM_STRETCH as STRETCH
from dpfast._kernels.learn import gram_add as add
from dpfast.learn import gram_matrix as _gram
from dpfast.learn.gram_matrix import GramMatrix
from dpfast.learn.rows import unlabeled_rows
from dpfast.noise.wishart import matrix_noise
from dpfast.privacy import Pure
from dpfast.sulq.parts import Matrix

from ..reference.learn.gram import plain
from ..support.pairwise import every_value, pairwise
from ..support.paths import on_every_path
from .test_box import case


def kernel(rows, limits, scale=4.0):
    d = rows.shape[1]
    sums, products = np.zeros(d, np.int64), np.zeros((d, d), np.int64)
    done = add(rows, scale, *limits, sums, products)
    return done, sums.tolist(), products.tolist()


@every_value
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 23])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_integers_are_those_of_exact_arithmetic(n, d):
    rows, *limits = case(n + d, n, d)
    rows[np.isnan(rows)] = 0.0
    assert kernel(rows, limits) == plain(rows, limits)


def test_it_stops_before_a_stretch_with_a_missing_number():
    rows, *limits = case(1, 3 * STRETCH + 5, 3)
    rows[np.isnan(rows)] = 0.0
    rows[STRETCH + 17, 1] = np.nan
    assert kernel(rows, limits) == plain(rows[:STRETCH], limits)
    assert kernel(rows[STRETCH:], limits)[0] == 0
    assert kernel(rows[2 * STRETCH :], limits)[0] == STRETCH + 5
    rows[STRETCH + 17, 1] = np.inf  # which is none
    assert kernel(rows, limits)[0] == len(rows)


def test_sums_stay_exact_at_the_edge():
    """The largest integers that are allowed, all of one sign, whose sums fill 53 bits."""
    most = float(1 << 20)
    n, d = 2 * STRETCH + 3, 9
    limits = [np.full((1, d), x) for x in (-most + 1, most - 1, 0.0)]
    rows = np.full((n, d), np.inf)
    rows[-1] = 3.0  # an odd number at the end
    done, sums, products = kernel(rows, limits, 1.0)
    assert done == n and sums == [(n - 1) * (int(most) - 1) + 3] * d
    expected = (n - 1) * (int(most) - 1) ** 2 + 9
    assert {products[i][j] for i in range(d) for j in range(i, d)} == {expected}


@pytest.mark.full
def test_every_path_gives_the_same_integers():
    code = """
import sys
sys.path.insert(0, ".")
from tests.learn.test_gram import case, kernel, np
for d in 1, 6, 8, 13, 64:
    rows, *limits = case(d, 4501, d)
    rows[np.isnan(rows)] = 0
    print(kernel(rows, limits))
"""
    assert len(on_every_path(code).splitlines()) == 5


@pairwise
@pytest.mark.parametrize("nan", ["raise", "drop", 0.3])
@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("n", [0, 1, 9001])
def test_both_ways_to_multiply_find_the_same(nan, kind, n, monkeypatch):
    rows = np.random.default_rng(n).normal(0.5, 0.4, (n, 6)).astype(kind)
    if n > 1 and nan != "raise":
        rows[::1700, 2], rows[-1] = np.nan, np.nan
    gram = GramMatrix([(0.0, 1.0)] * 6, nan, True)
    found = {}
    for isa in "avx2", "baseline":
        monkeypatch.setattr(_gram, "isa", lambda isa=isa: isa)
        found[isa] = gram.total(unlabeled_rows(rows))
    assert found["avx2"] == found["baseline"]
    monkeypatch.setattr(_gram, "NARROW", 2000)  # and where 64 bits could be too few
    assert gram.total(unlabeled_rows(rows)) == found["avx2"]


def test_what_does_not_fit_is_refused():
    rows, lo, hi, middle = case(1, 5, 2)
    sums, products = np.zeros(2, np.int64), np.zeros((2, 2), np.int64)
    bad = [
        (rows, lo[:2], hi, middle, sums, products),
        (rows, lo[:0], hi[:0], middle[:0], sums, products),
        (rows, hi + 1, lo, middle, sums, products),
        (rows, lo, hi, middle + (1 << 20), sums, products),
        (rows, lo, hi, middle * np.nan, sums, products),
        (rows, lo, hi, middle, sums[:1], products),
        (rows, lo, hi, middle, sums, np.zeros((2, 3), np.int64)),
        (np.empty((5, 3)), lo, hi, middle, sums, products),
    ]
    for x, a, b, m, s, p in bad:
        with pytest.raises(ValueError):
            add(x, 1.0, a, b, m, s, p)
    d = MOST_COLUMNS + 1
    wide = [np.zeros((1, d)) for _ in range(4)]
    with pytest.raises(ValueError):
        add(*wide[:1], 1.0, *wide[1:], np.zeros(d, np.int64), np.zeros((d, d), np.int64))


@pytest.mark.parametrize("d", [1, 3, 11, 101])
def test_a_round_of_several_has_noise_for_what_rounding_down_adds(d):
    """A change of that trace, plus one of a matrix of entries below 1: its part of the loss."""
    loss, trace, rounds, uses = Pure(1), 3 * d << 41, 4, Fraction(3)

    def part(noise):
        change = Fraction(trace, 1 << noise.shift) + Fraction(float(d**1.5))
        assert noise.shift
        return change / noise.scale / loss.epsilon

    noise = Matrix(d, trace, share=uses).noise(loss, rounds)
    assert 0.99 * uses / rounds < part(noise) <= uses / rounds
    # The control: noise for a larger trace, to which what is rounded down is added but once.
    assert part(matrix_noise(loss, d, trace * rounds / uses)) > uses / rounds
