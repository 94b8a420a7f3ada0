"""Noise on matrices: its distribution, its rounding against exact arithmetic, and what it hides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.errors import ArgumentError
from dpfast.noise import wishart
from dpfast.noise.wishart import MatrixNoise, matrix_noise
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support.lazy import stats
from ..support.pairwise import quick_rows

LOSS = Pure(1)


def draws(size, scale, count, seed=1):
    noise = MatrixNoise(size, Fraction(scale), 0, 0, LOSS)
    generator = InsecureGenerator(seed)
    return np.array([noise.draw(generator) for _ in range(count)], float)


def is_laplace(values, scale):
    edges = scale * np.array([-3.0, -1.5, -0.7, -0.3, -0.1, 0.0, 0.1, 0.3, 0.7, 1.5, 3.0])
    edges = np.floor(edges) + 0.5
    chances = np.diff(np.r_[0.0, stats.laplace.cdf(edges, scale=scale), 1.0])
    counts = np.histogram(values, np.r_[-np.inf, edges, np.inf])[0]
    return stats.chisquare(counts, len(values) * chances).pvalue > 1e-7


def test_of_one_column_it_is_laplace_noise():
    values = draws(1, 50, 900)[:, 0]
    assert is_laplace(values, 50) and not is_laplace(values, 70) and not is_laplace(values, 36)
    assert not is_laplace(np.abs(values), 50)  # as one matrix would be


@pytest.mark.full
def test_numbers_that_get_more_bits_have_the_same_distribution(monkeypatch):
    """Normal numbers rounded to integers at first, so that nearly all matrices need more bits."""
    monkeypatch.setattr(wishart, "BITS", 0)
    assert is_laplace(draws(1, 50, 3000)[:, 0], 50)

    def anywhere(cells, bits, stream):  # the planted fault: uniform in a cell
        return [wishart._uniform(len(cells), stream)]

    monkeypatch.setattr(wishart, "refined", anywhere)
    assert not is_laplace(draws(1, 50, 30_000)[:, 0], 50)


def exactly(noise, numbers):
    half, d = len(numbers) // 2, len(numbers[0])
    signs = [1] * half + [-1] * half
    at = [(i, i) for i in range(d)] + [(i, j) for i in range(d) for j in range(i + 1, d)]
    sums = [sum(s * x[i] * x[j] for s, x in zip(signs, numbers, strict=True)) for i, j in at]
    return [math.floor(noise.scale / 2 * s + Fraction(1, 2)) for s in sums]


@quick_rows(1)
@pytest.mark.parametrize("bits", [8, 40, 100])
def test_what_is_sure_is_rounded_as_exact_numbers_are(bits):
    d, g = 3, np.random.default_rng(bits)
    noise = MatrixNoise(d, Fraction(5, 4), 0, 0, LOSS)
    sure = wrong = 0
    for _ in range(90 if bits == 8 else 60):
        cells = [[int(Fraction(x) * 2**bits) for x in row] for row in g.normal(size=(2 * d + 2, d))]
        parts, left = [], np.array(cells, object)
        for _ in range(6):
            parts.append((left & (1 << 20) - 1).astype(float))
            left = left >> 20
        parts.append(left.astype(float))
        sizes = np.abs(np.array(cells, float)).sum(axis=0)
        for error in 0.5, 0.0:  # the planted fault: as if cells were numbers
            found, decided = noise._rounded(parts, bits, error, sizes)
            if decided:
                off = g.uniform(-0.5, 0.5, np.shape(cells)).tolist()
                true = [
                    [(c + Fraction(x)) / 2**bits for c, x in zip(row, xs, strict=True)]
                    for row, xs in zip(cells, off, strict=True)
                ]
                same = found == exactly(noise, true)
                assert same or error == 0.0
                sure, wrong = sure + (error > 0), wrong + (not same)
    assert sure > 10 or (bits == 8 and sure > 1)
    assert wrong > 1 or bits > 8


def ratio(values, moved):
    """The largest ratio of how often the two are on one side of some places, beyond chance."""
    worst = 0.0
    for edge in np.quantile(np.r_[values, moved], np.linspace(0.02, 0.98, 25)):
        for one, other in (values <= edge, moved <= edge), (values > edge, moved > edge):
            for a, b in (one, other), (other, one):
                least = a.mean() - 5.5 * a.std() / math.sqrt(len(a)) - 1e-9
                most = b.mean() + 5.5 * b.std() / math.sqrt(len(b)) + 30 / len(b)
                worst = max(worst, least / most)
    return worst


@pytest.mark.full
@pytest.mark.parametrize("row", [(1.0, 0.0), (0.6, -0.8)])
def test_no_row_shows_by_more_than_the_loss(row):
    """A row that comes, along itself, across, and in the eigenvalues of the answer."""
    w = np.array(row)
    moved, many = np.outer(w, w) * 1000, 900
    for scale, faulty in (1000 / 1.0, False), (1000 / 2.5, True):  # planted: noise for less
        noise = draws(2, int(scale), 2 * many, seed=5)
        matrices = np.array([[[a, c], [c, b]] for a, b, c in noise])
        without, given = matrices[:many], matrices[many:] + moved
        ends = zip(*(np.linalg.eigvalsh(each).T for each in (without, given)), strict=True)
        seen = [ratio(without @ w @ w, given @ w @ w), *(ratio(a, b) for a, b in ends)]
        assert (max(seen) > math.e) == faulty
    # One Wishart matrix alone: what is below the row itself is never seen where it is.
    one = np.abs(draws(1, 1000, many, seed=6)[:, 0])
    assert ratio(one, np.abs(draws(1, 1000, many, seed=7)[:, 0]) + 1000) > math.e


def test_integers_are_divided_by_so_much_that_rounding_is_little():
    for size, trace in (1, 3), (5, 10**9), (65, 2**44), (300, Fraction(2**50, 3)):
        noise = matrix_noise(Pure(Fraction(1, 2)), size, trace)
        rounding = math.ceil(size**1.5) if noise.shift else 0
        least = 2 * (Fraction(trace) / 2**noise.shift + rounding)
        assert least <= noise.scale <= least * Fraction(102, 100) + 3
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        matrix_noise(Pure(Fraction(1, 2**50)), 65, 2**44)


def test_what_is_known_gets_no_noise():
    noise = matrix_noise(LOSS, 3, 2**30, public=1)
    values = [12345, 7, 8, 9, 10, 11]
    noisy = noise.add(values, InsecureGenerator(1))
    assert noisy[0] == 12345 and all(a != b for a, b in zip(noisy[1:], values[1:], strict=True))


def test_rounding_changes_a_matrix_by_no_more_than_is_said():
    """The nuclear norm of the difference of divided integers, over random rows."""
    g = np.random.default_rng(3)
    for size in 2, 7:
        most, unit = 0.0, 16
        for _ in range(300):
            before = g.integers(-1000, 1000, (size, size))
            before = before + before.T
            row = g.integers(-20, 21, size)
            change = (before + np.outer(row, row)) // unit - before // unit
            off = np.abs(np.linalg.eigvalsh(change)).sum() - row @ row / unit
            most = max(most, off)
        assert 0.1 * size**1.5 < most <= size**1.5
