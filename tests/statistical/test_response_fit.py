"""Randomized response is distributed as it says, by row; small faults are caught by these tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.lazy import special
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


@quick_rows(3)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 3, 17])
def test_kary(k, epsilon):
    values = np.random.default_rng(0).integers(0, k, N)
    answers = dp.response.kary(values, categories=k, epsilon=epsilon, rng=InsecureGenerator(1))
    table = np.bincount(values * k + answers, minlength=k * k)
    share = np.bincount(values, minlength=k)[:, None] / N
    assert misfit(table, share * kary_pmf(k, epsilon)) < 1
    # A loss 4 per cent off either way is seen, where the truth is told neither seldom nor always.
    if epsilon == 1.0:
        for wrong in (0.96, 1.04):
            assert misfit(table, share * kary_pmf(k, wrong * epsilon)) > 1


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
    e = math.exp(-1.0)
    flips = dp.response.binary(np.zeros(N, bool), epsilon=1.0, rng=InsecureGenerator(6))
    assert misfit(np.bincount(flips, minlength=2), [1 / (1 + e), e / (1 + e)]) < 1
    short = np.frombuffer(InsecureGenerator(6).bytes(N), np.uint8) < int(256 * e / (1 + e))
    assert misfit(np.bincount(short, minlength=2), [1 / (1 + e), e / (1 + e)]) > 1


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unary(epsilon):
    k, n, q = 4, N // 4, 1 / (1 + math.exp(epsilon))
    values = np.random.default_rng(1).integers(0, k, n)
    bits = dp.response.unary(values, categories=k, epsilon=epsilon, rng=InsecureGenerator(7))
    counts = np.bincount(values << k | bits @ (1 << np.arange(k)), minlength=k << k)
    share, told = np.bincount(values, minlength=k) / n, np.arange(1 << k)[:, None] >> range(k) & 1

    def pmf(own, other):
        chance = np.where(np.eye(k, dtype=bool), own, other)[:, None]
        return np.where(told, chance, 1 - chance).prod(axis=2) * share[:, None]

    assert misfit(counts, pmf(0.5, q)) < 1
    assert misfit(counts, pmf(0.5, q * 1.04)) > 1
    assert misfit(counts, pmf(0.49, q)) > 1
