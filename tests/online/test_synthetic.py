"""Synthetic rows: as near to a public distribution as whole numbers can be."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.online.public_distribution import rounded_counts
from dpfast.rng import InsecureGenerator

HISTOGRAM = [130_000, 40_000, 20_000, 10_000]
NAMES = [3.0, 1.0, 2.0, 0.5]


def made(kind, named=True):
    given = {"universe": NAMES} if named else {}
    if kind == "MWEM":
        return dp.online.MWEM(
            HISTOGRAM, np.eye(4), rounds=6, epsilon=1, rng=InsecureGenerator(1), **given
        )
    stream = dp.online.PrivateMultiplicativeWeights(
        HISTOGRAM, epsilon=1, queries=20, accuracy=0.15, rng=InsecureGenerator(1), **given
    )
    for query in [*np.eye(4)] * 4:
        stream.answer(query)
    return stream


def furthest(distribution, counts):
    """How far a mean of numbers between 0 and 1 may be off: half the l1 distance, exactly."""
    n = int(sum(counts))
    off = [
        Fraction(float(p)) - Fraction(int(c), n) for p, c in zip(distribution, counts, strict=True)
    ]
    return max(sum(x for x in off if x > 0), -sum(x for x in off if x < 0))


@pytest.mark.parametrize("rows", [1, 2, 5, 9])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_other_counts_are_nearer(size, rows):
    g = np.random.default_rng(10 * size + rows)
    for _ in range(10):
        p = g.dirichlet(np.ones(size) / 2)
        counts = rounded_counts(p, rows)
        assert counts.sum() == rows and counts.min() >= 0
        least = min(
            furthest(p, other)
            for other in itertools.product(range(rows + 1), repeat=size)
            if sum(other) == rows
        )
        assert float(furthest(p, counts) - least) < 1e-12
        assert furthest(p, counts) <= Fraction(size, 4 * rows) + Fraction(1, 10**12)


@pytest.mark.parametrize("p", [[1 / 3] * 3, [0.1] * 10, [0.7, 0.3 + 1e-15], [1.0 + 2e-16, 0.0]])
def test_rounding_of_the_distribution_does_no_harm(p):
    """Shares that are a little too large or too small in float64, and many rows."""
    for rows in (1, 3, 10, 10**6, 2**36):
        counts = rounded_counts(np.array(p), rows)
        assert counts.sum() == rows and counts.min() >= 0
    for bad in (0, -1, 1.5):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="rows must be"):
            made("MWEM").synthetic(bad)


@pytest.mark.parametrize("kind", ["MWEM", "PrivateMultiplicativeWeights"])
def test_rows_are_like_the_distribution(kind):
    source = made(kind)
    rows = source.synthetic()
    assert len(rows) == 200_000
    shares = [np.mean(rows == name) for name in NAMES]
    np.testing.assert_allclose(shares, source.distribution, atol=1 / 200_000)
    assert abs(np.mean(rows == 3) - 0.65) < 0.15
    few = source.synthetic(10)
    assert len(few) == 10 and set(few) <= set(NAMES)
    assert np.array_equal(few, source.synthetic(10))  # no chance
    assert made(kind, named=False).synthetic(10).tolist() == [NAMES.index(x) for x in few]
