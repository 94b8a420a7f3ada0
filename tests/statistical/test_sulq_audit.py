"""Black-box lower bounds on the loss of all rounds together, with planted faults.

The bound is that of `test_median_audit`, on the sum of all answers. The fault is a slice that hands
out more rounds than it was calibrated for; the same bound on the same neighbours must catch it.
(That one round too many is too many is a matter of arithmetic: `test_sulq_sums`.)
"""

from dataclasses import replace

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.sulq import (
    KMeans,
    LinearRegression,
    NaiveBayes,
    NoisySums,
    Perceptron,
    Term,
    TruncatedSVD,
)
from dpfast.sulq.gram_matrix import GramMatrix

from ..support.pairwise import quick_rows
from .test_median_audit import lower_bound

PAIRS = {"add-remove": ([1.0, 0.5], [0.5]), "replace": ([1.0, 0.5], [0.0, 0.5])}
EPSILON = 1.0


def least_loss(one, pair, size):
    """A lower bound on the loss of what `one` tells of either of two neighbours, in `size` runs."""
    samples = [np.array([one(data) for _ in range(size)]) for data in pair]
    with np.errstate(divide="ignore"):
        return lower_bound(*samples)


def everything(data, generator, neighbors, paid, asked):
    """The sum of all answers, each question asked as the answer before it suggests."""
    sums = NoisySums(data, epsilon=EPSILON, queries=paid, neighbors=neighbors, rng=generator)
    total, last = 0.0, 0.0
    for i in range(asked):
        if i >= paid:
            sums._rounds._used -= 1  # the fault: a round that is not counted
        term = Term("value" if last < 1 else "square", bounds=(0, 1))
        (last,) = sums.batch([term])
        total += last
    return total


def audit(neighbors, paid, asked, size):
    generator = InsecureGenerator(3)

    def one(data):
        return everything(np.array(data), generator, neighbors, paid, asked)

    return least_loss(one, PAIRS[neighbors], size)


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(PAIRS))
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_quick_audit(neighbors, rounds):
    assert audit(neighbors, rounds, rounds, 1_500) <= EPSILON


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(PAIRS))
def test_rounds_beyond_the_last_are_caught(neighbors):
    assert audit(neighbors, 1, 10, 1_000) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", list(PAIRS))
def test_no_event_exceeds_epsilon(neighbors):
    assert audit(neighbors, 3, 3, 20_000) <= EPSILON


#: Neighbours of which a row leaves a centre, or comes to it, and the centres to start with.
CLUSTERS = {
    "add-remove": ([[1.0], [0.0], [0.0]], [[0.0], [0.0]]),
    "replace": ([[1.0], [0.0], [1.0]], [[0.0], [0.0], [1.0]]),
}


def clusters(neighbors, epsilon, size):
    """What the counts of the last round tell, and the centres, which all rounds have moved."""
    generator = InsecureGenerator(5)

    def one(data):
        made = KMeans(
            2,
            bounds=(0, 1),
            epsilon=epsilon,
            neighbors=neighbors,
            max_iter=2,
            init=[[0.1], [0.9]],
        ).fit(np.array(data), rng=generator)
        return float(np.diff(made.cluster_counts_)[0] + made.cluster_centers_.sum())

    return least_loss(one, CLUSTERS[neighbors], size)


@pytest.mark.full
@pytest.mark.parametrize("neighbors", list(CLUSTERS))
def test_a_quick_audit_of_clusters(neighbors):
    assert clusters(neighbors, EPSILON, 1_000) <= EPSILON


@pytest.mark.full
@pytest.mark.parametrize("neighbors", list(CLUSTERS))
def test_clusters_for_more_than_they_claim_are_caught(neighbors):
    assert clusters(neighbors, 16 * EPSILON, 1_000) > EPSILON


#: Neighbours among many equal rows: one that moves the sums as far as it can, and all counts.
SIDES = {
    "add-remove": ([*[(1.0, 1.0)] * 300, (-1.0, 1.0)], [(1.0, 1.0)] * 300),
    "replace": ([*[(1.0, 1.0)] * 300, (1.0, 1.0)], [*[(1.0, 1.0)] * 300, (1.0, -1.0)]),
}


def sides(neighbors, epsilon, size):
    """What the step of the first round tells, and the count of the second."""
    generator = InsecureGenerator(7)

    def one(data):
        x, y = np.array(data).T
        made = Perceptron(bounds=(-1, 1), epsilon=epsilon, neighbors=neighbors, max_iter=2).fit(
            x, y, rng=generator
        )
        return float(300 * made.coef_.sum() + made.mistakes_)

    return least_loss(one, SIDES[neighbors], size)


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_a_quick_audit_of_a_perceptron(neighbors):
    assert sides(neighbors, EPSILON, 1_000) <= EPSILON


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_a_perceptron_for_more_than_it_claims_is_caught(neighbors):
    assert sides(neighbors, 24 * EPSILON, 1_000) > EPSILON


def slopes(neighbors, epsilon, size):
    """The slope through 0, which both the products and the squares have moved."""
    generator = InsecureGenerator(9)

    def one(data):
        x, y = np.array(data).T
        made = LinearRegression(
            bounds=(-1, 1),
            y_bounds=(-1, 1),
            epsilon=epsilon,
            neighbors=neighbors,
            fit_intercept=False,
            ridge=0,
        ).fit(x, y, rng=generator)
        return float(300 * made.coef_[0])

    return least_loss(one, SIDES[neighbors], size)


@pytest.mark.full
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_a_quick_audit_of_least_squares(neighbors):
    assert slopes(neighbors, EPSILON, 1_000) <= EPSILON


@pytest.mark.full
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_least_squares_for_more_than_they_claim_are_caught(neighbors):
    assert slopes(neighbors, 24 * EPSILON, 1_000) > EPSILON


def classes(neighbors, epsilon, size):
    """How many more rows one class seems to have than the other, and where they are."""
    generator = InsecureGenerator(11)

    def one(data):
        x, y = np.array(data).T
        made = NaiveBayes(bounds=(-1, 1), classes=[-1, 1], epsilon=epsilon, neighbors=neighbors)
        made = made.fit(x[:, None], y, rng=generator)
        return float(np.diff(made.class_count_)[0] + 300 * made.theta_[1, 0])

    return least_loss(one, SIDES[neighbors], size)


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_a_quick_audit_of_naive_bayes(neighbors):
    assert classes(neighbors, EPSILON, 600) <= EPSILON


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(SIDES))
def test_naive_bayes_for_more_than_it_claims_is_caught(neighbors):
    assert classes(neighbors, 12 * EPSILON, 600) > EPSILON


def squares(neighbors, size):
    """What the singular value of one column tells of a row at the bound."""
    generator = InsecureGenerator(7)
    rows = np.ones((30, 1))
    other = rows[1:] if neighbors == "add-remove" else np.vstack([rows[1:], [[0.0]]])

    def one(data):
        made = TruncatedSVD(1, bounds=(0, 1), epsilon=EPSILON, neighbors=neighbors)
        return float(made.fit(data, rng=generator).singular_values_[0] ** 2)

    return least_loss(one, (rows, other), size)


@pytest.mark.full
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_quick_audit_of_singular_values(neighbors):
    assert squares(neighbors, 1_500) <= EPSILON


@pytest.mark.full
def test_a_row_that_moves_three_times_as_far_is_caught(monkeypatch):
    right = GramMatrix.parts

    def parts(self, relation):
        return [replace(part, l1=part.l1 // 3) for part in right(self, relation)]

    monkeypatch.setattr(GramMatrix, "parts", parts)
    assert squares("add-remove", 1_500) > EPSILON
