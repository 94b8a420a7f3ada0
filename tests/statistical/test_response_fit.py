"""Randomized response is distributed as it says, by row; small faults are caught by these tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

N = 1 << 20
ALPHA = 1e-9


def misfit(counts, pmf):
    """Chi-square in units of the rejection limit at ALPHA."""
    counts, pmf = np.ravel(counts), np.ravel(pmf)
    due = counts.sum() * pmf
    return ((counts - due) ** 2 / due).sum() / special.chdtri(len(pmf) - 1, ALPHA)


def kary_pmf(k, epsilon):
    e = math.exp(epsilon)
    return (np.eye(k) * (e - 1) + 1) / (e + k - 1)


def kary_table(k, epsilon, seed=1):
    values = np.random.default_rng(0).integers(0, k, N)
    answers = dp.response.kary(values, categories=k, epsilon=epsilon, rng=InsecureGenerator(seed))
    table = np.bincount(values * k + answers, minlength=k * k).reshape(k, k)
    return table, np.bincount(values, minlength=k) / N


@quick_rows(3)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 3, 17])
def test_kary(k, epsilon):
    table, share = kary_table(k, epsilon)
    assert misfit(table, share[:, None] * kary_pmf(k, epsilon)) < 1
    # A loss 4 per cent off either way is seen, where the truth is told neither seldom nor always.
    if epsilon == 1.0:
        for wrong in (0.96, 1.04):
            assert misfit(table, share[:, None] * kary_pmf(k, wrong * epsilon)) > 1


def test_a_biased_other_category_is_caught():
    """16 random bits modulo k - 1, one rank in sixteen a little more often."""
    k, epsilon = 1001, 0.1
    pmf = kary_pmf(k, epsilon)[0]
    truth = np.zeros(N, np.int64)
    told = dp.response.kary(truth, categories=k, epsilon=epsilon, rng=InsecureGenerator(2))
    assert misfit(np.bincount(told, minlength=k), pmf) < 1
    words = InsecureGenerator(3).random_raw(N // 4).view(np.uint16).astype(np.int64)
    biased = np.where(told > 0, 1 + words % 600 * 5 // 3, 0)
    assert misfit(np.bincount(biased, minlength=k)[:k], pmf) > 1


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_binary_and_its_neighbors(epsilon):
    flips = dp.response.binary(np.zeros(N, bool), epsilon=epsilon, rng=InsecureGenerator(4))
    rare = 1 / (1 + math.exp(epsilon))
    pair = np.array([(1 - rare) ** 2, rare * (1 - rare), rare * (1 - rare), rare**2])
    for lag in (1, 7, 8, 63, 64, 65, 4095, 4096, 4097):  # bytes, words, stretches, blocks
        both = 2 * flips[:-lag].astype(np.int64) + flips[lag:]
        assert misfit(np.bincount(both, minlength=4), pair) < 1
    again = flips.copy()
    chosen = np.flatnonzero(InsecureGenerator(5).random_raw(N - 64) % 20 == 0)
    again[chosen + 64] = flips[chosen]  # one answer in twenty repeats one before
    both = 2 * again[:-64].astype(np.int64) + again[64:]
    assert misfit(np.bincount(both, minlength=4), pair) > 1


def test_a_coin_of_eight_bits_is_caught():
    """Were the byte alone to decide, the probability would be off by up to 2**-8."""
    epsilon = 1.0
    pmf = np.array([1, math.exp(-epsilon)]) / (1 + math.exp(-epsilon))
    flips = dp.response.binary(np.zeros(N, bool), epsilon=epsilon, rng=InsecureGenerator(6))
    assert misfit(np.bincount(flips, minlength=2), pmf) < 1
    short = np.frombuffer(InsecureGenerator(6).bytes(N), np.uint8) < int(256 * pmf[1])
    assert misfit(np.bincount(short, minlength=2), pmf) > 1


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unary(epsilon):
    k, n = 4, N // 4
    values = np.random.default_rng(1).integers(0, k, n)
    bits = dp.response.unary(values, categories=k, epsilon=epsilon, rng=InsecureGenerator(7))
    q = 1 / (1 + math.exp(epsilon))
    patterns = bits @ (1 << np.arange(k))
    counts = np.bincount(values << k | patterns, minlength=k << k)

    def pmf(own, other):
        table = np.empty((k, 1 << k))
        for value in range(k):
            for pattern in range(1 << k):
                one = [own if j == value else other for j in range(k)]
                table[value, pattern] = math.prod(
                    p if pattern >> j & 1 else 1 - p for j, p in enumerate(one)
                )
        return table * (np.bincount(values, minlength=k) / n)[:, None]

    assert misfit(counts, pmf(0.5, q)) < 1
    assert misfit(counts, pmf(0.5, q * 1.04)) > 1
    assert misfit(counts, pmf(0.49, q)) > 1
