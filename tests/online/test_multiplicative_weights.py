"""Private multiplicative weights: the twin, what a hard answer teaches, accuracy, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, StreamError
from dpfast.online.public_distribution import BLOCK, PublicDistribution
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


def test_no_weight_is_lost_however_often_it_is_moved():
    """A product of factors would be 0 after some hundred of them, and never come back."""
    hypothesis = PublicDistribution(2)
    down = np.array([0.0, 1.0])
    for _ in range(400):
        hypothesis.move(-4.0, down, 3)
    np.testing.assert_allclose(hypothesis.distribution, [1, 0], atol=1e-37)
    for _ in range(400):
        hypothesis.move(4.0, down, 3)
    np.testing.assert_allclose(hypothesis.distribution, [0.5, 0.5])


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


def test_the_distribution_answers_what_was_not_asked():
    stream = dp.online.PrivateMultiplicativeWeights(HISTOGRAM, **GIVEN)
    for _ in range(5):
        for query in np.eye(4):
            stream.answer(query)
    assert stream.distribution.sum() == pytest.approx(1)
    assert abs(stream.distribution[0] - 0.65) <= 0.15
    with pytest.raises(StreamError, match="all its queries"):
        stream.answer(np.ones(4))
    assert len(stream.distribution) == 4


@pytest.mark.parametrize(
    ("histogram", "loss"),
    [
        ([1, 0], {"epsilon": 0.1}),
        ([5, 5], {"epsilon": 1}),
        ([5], {"epsilon": 1}),
        ([1], {"rho": 1e-12}),
        ([1] * 10, {"epsilon": 1, "delta": 1e-6}),
    ],
    ids=shown,
)
def test_what_no_accuracy_can_be_kept_with_is_refused_with_a_number(histogram, loss):
    with pytest.raises(ArgumentError, match="accuracy must be at least") as caught:
        dp.online.PrivateMultiplicativeWeights(histogram, queries=10, accuracy=0.5, **loss)
    assert 1 < float(str(caught.value).split("least ")[1].split(" with")[0]) < math.inf
