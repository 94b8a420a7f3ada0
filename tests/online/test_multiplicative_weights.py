"""Private multiplicative weights, and rows made from a public distribution."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.online.public_distribution import BLOCK, PublicDistribution, rounded_counts
from dpfast.rng import InsecureGenerator

from ..reference.online import multiplicative_weights as reference
from ..support import streams
from ..support.names import shown
from ..support.pairwise import quick_rows

GIVEN = {"epsilon": 1, "queries": 20, "accuracy": 0.15}
HISTOGRAM = [130_000, 40_000, 20_000, 10_000]


@quick_rows(2)
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_the_twin(seed):
    g = np.random.default_rng(seed)
    universe, rows = (2, 5, 9, 30)[seed], 10**7
    histogram = g.multinomial(rows, g.dirichlet(np.ones(universe) / 5))
    shipped = dp.online.PrivateMultiplicativeWeights(
        histogram, epsilon=4, queries=60, accuracy=0.05, rng=InsecureGenerator(seed)
    )
    bits = shipped._plan.bits
    twin = reference.Weights(histogram, shipped.gap, bits)
    hard, divergence = 0, twin.divergence()
    assert divergence <= math.log(universe)
    for found, expected, told in streams.beside(shipped, twin, g, seed):
        assert found.hard == expected
        assert found == pytest.approx(min(max(told / (rows << bits), 0), 1), abs=1e-7)
        np.testing.assert_allclose(shipped.distribution, twin.hypothesis, rtol=1e-6)
        if expected:  # what a hard answer teaches, of which their number follows
            assert twin.divergence() <= divergence - 2 * shipped.gap**2
            divergence = twin.divergence()
            hard += 1
    assert hard and shipped.remaining == shipped.hard - hard


@quick_rows(3)
@pytest.mark.parametrize("universe", [1, 7, 8, 300, BLOCK, 3 * BLOCK + 5])
def test_a_hypothesis_is_a_softmax(universe):
    g = np.random.default_rng(universe)
    hypothesis, log = PublicDistribution(universe), np.zeros(universe)
    for step in (0.5, -0.1, 0.7, -2.0, 30.0):
        values, later = np.rint(g.random((2, universe)) * 1024) / 1024
        expected = hypothesis.move(step, values, 10, later)
        log += step * values
        exact = np.exp(log - log.max())
        exact /= exact.sum()
        np.testing.assert_allclose(hypothesis.distribution, exact, rtol=1e-6)
        assert expected == pytest.approx(1024 * (exact @ later), rel=1e-6)
        query, counts = g.random(universe), g.integers(0, 1000, universe)
        found, units = hypothesis.sums(query, 24, counts.astype(np.int32)), np.rint(query * 2**24)
        assert found.mean == pytest.approx(exact @ units, rel=1e-6)
        assert found.exact == sum(int(w) * int(c) for w, c in zip(units, counts, strict=True))
        assert not found.invalid and hypothesis.sums(later, 10).mean == expected


def test_counts_beyond_32_bits_give_the_same_answers():
    """One row more and counts are held in another way: sums are exact in both."""
    made = [
        dp.online.PrivateMultiplicativeWeights(
            [2**30, 2**30 - 1 + more, 5, 0], rng=InsecureGenerator(4), **GIVEN
        )
        for more in (-5, -4)
    ]
    assert [m._counts.dtype.name for m in made] == ["int32", "float64"]
    for query in ([1, 0, 0, 0], [0.5, 0.25, 1, 0]):
        values = np.array(query, float)
        for stream, last in zip(made, (2**30 - 6, 2**30 - 5), strict=True):
            unit = 2**stream._plan.bits
            exact = int(unit * query[0]) * 2**30 + int(unit * query[1]) * last
            assert stream._compare(values)[1] == exact + int(unit * query[2]) * 5


def test_the_gap_is_the_largest_with_which_the_accuracy_is_kept():
    """An easy answer is off by less than the gap and twice the noise of its comparison."""
    stream = dp.online.PrivateMultiplicativeWeights(HISTOGRAM, **GIVEN)
    needed = max(stream.gap, stream._plan.answer) + 2 * stream._plan.comparison
    assert needed <= GIVEN["accuracy"]
    given = {**GIVEN, "accuracy": needed * (1 + 1e-9)}
    assert dp.online.PrivateMultiplicativeWeights(HISTOGRAM, **given).gap == stream.gap


@pytest.mark.parametrize(("histogram", "loss"), [
    ([1, 0], {"epsilon": 0.1}), ([5, 5], {"epsilon": 1}), ([5], {"epsilon": 1}),
    ([1], {"rho": 1e-12}), ([1] * 10, {"epsilon": 1, "delta": 1e-6})
], ids=shown)  # fmt: skip
def test_what_no_accuracy_can_be_kept_with_is_refused_with_a_number(histogram, loss):
    with pytest.raises(ArgumentError, match="accuracy must be at least") as caught:
        dp.online.PrivateMultiplicativeWeights(histogram, queries=10, accuracy=0.5, **loss)
    assert 1 < float(str(caught.value).split("least ")[1].split(" with")[0]) < math.inf


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
