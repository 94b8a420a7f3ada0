"""Black-box lower bounds on the loss of all rounds together, with planted faults.

The bound is that of the kit, on the sum of all answers. The fault is an allocation that
hands out more rounds than it was calibrated for; the same bound on the same neighbors must catch
it. (That one round too many is too many is a matter of arithmetic: `tests/learn/test_replay.py`,
where all other learners are, too.)
"""

from dataclasses import replace

import numpy as np
import pytest

from dpfast.learn import NaiveBayes, Perceptron, StandardScaler, TruncatedSVD
from dpfast.learn.gram_matrix import GramMatrix
from dpfast.rng import InsecureGenerator
from dpfast.sulq import NoisySums, Term
from dpfast.sulq.parts import Part

from ..support.pairwise import quick_rows
from .kit import lower_bound

PAIRS = {"add-remove": ([1.0, 0.5], [0.5]), "replace": ([1.0, 0.5], [0.0, 0.5])}


def audit(neighbors, paid, asked, size):
    """Of the sum of all answers, each question asked as the answer before it suggests."""
    kw = {"epsilon": 1, "queries": paid, "neighbors": neighbors, "rng": InsecureGenerator(3)}

    def one(data):
        sums = NoisySums(np.array(data), **kw)
        total, last = 0.0, 0.0
        for i in range(asked):
            if i >= paid:
                sums._rounds._used -= 1  # the fault: a round that is not counted
            (last,) = sums.batch([Term("value" if last < 1 else "square", bounds=(0, 1))])
            total += last
        return total

    return lower_bound(*(np.array([one(data) for _ in range(size)]) for data in PAIRS[neighbors]))


@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(PAIRS))
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_quick_audit(neighbors, rounds):
    assert audit(neighbors, rounds, rounds, 600) <= 1


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("neighbors", list(PAIRS))
def test_rounds_beyond_the_last_are_caught(neighbors):
    assert audit(neighbors, 1, 10, 1_000) > 1


#: Neighbors among many equal rows: one that moves the sums as far as it can, and all counts.
SIDES = {
    "add-remove": ([*[(1.0, 1.0)] * 300, (-1.0, 1.0)], [(1.0, 1.0)] * 300),
    "replace": ([*[(1.0, 1.0)] * 300, (1.0, 1.0)], [*[(1.0, 1.0)] * 300, (1.0, -1.0)]),
}
#: Neighbors of rows at the bound.
ONES = {
    "add-remove": ([[1.0]] * 30, [[1.0]] * 29),
    "replace": ([[1.0]] * 30, [*[[1.0]] * 29, [0.0]]),
}


def sides(rows, rng, **kw):
    """What the step of the first round tells, and the count of the second."""
    made = Perceptron(bounds=(-1, 1), max_iter=2, **kw).fit(rows[:, 0], rows[:, 1], rng=rng)
    return float(300 * made.coef_.sum() + made.mistakes_)


def classes(rows, rng, **kw):
    """How many more rows one class seems to have than the other, and where they are."""
    made = NaiveBayes(bounds=(-1, 1), classes=[-1, 1], **kw).fit(rows[:, :1], rows[:, 1], rng=rng)
    return float(np.diff(made.class_count_)[0] + 300 * made.theta_[1, 0])


def weighed(rows, rng, **kw):
    """The sum of the weights of all rows, and the mean; the weight is the last column."""
    made = StandardScaler(bounds=(-1, 1), weight_bounds=(0, 3), **kw)
    made.fit(rows[:, :1], sample_weight=rows[:, 1], rng=rng)
    return made.n_rows_ / 3 + float(300 * made.mean_[0])


def squares(rows, rng, **kw):
    """What the singular value of one column tells of a row at the bound."""
    return float(TruncatedSVD(1, bounds=(0, 1), **kw).fit(rows, rng=rng).singular_values_[0] ** 2)


#: Neighbors of which a row has the largest weight, or far more than that.
HEAVY = {
    "add-remove": ([*[(1.0, 1.0)] * 300, (-1.0, 99.0)], [(1.0, 1.0)] * 300),
    "replace": ([*[(1.0, 1.0)] * 300, (1.0, 3.0)], [*[(1.0, 1.0)] * 300, (-1.0, 99.0)]),
}

#: What is told, of which neighbors, in how many runs, and how much more than 1 is caught, if it is.
LEARNERS = {
    "perceptron": (sides, SIDES, 1_000, 24),
    "naive Bayes": (classes, SIDES, 600, 12),
    "weights": (weighed, HEAVY, 600, 12),
    "singular values": (squares, ONES, 1_500, None),
}
EVERY = [(name, neighbors) for name in LEARNERS for neighbors in PAIRS]


def audit_of(name, neighbors, epsilon=1):
    tell, pairs, size, _ = LEARNERS[name]
    kw = {"rng": InsecureGenerator(5), "epsilon": epsilon, "neighbors": neighbors}
    found = [[tell(np.array(data), **kw) for _ in range(size)] for data in pairs[neighbors]]
    return lower_bound(*map(np.array, found))


@pytest.mark.full
@pytest.mark.parametrize(("name", "neighbors"), EVERY)
def test_a_quick_audit_of_learners(name, neighbors):
    assert audit_of(name, neighbors) <= 1


@pytest.mark.full
@pytest.mark.parametrize(("name", "neighbors"), EVERY[:-2])
def test_learners_for_more_than_they_claim_are_caught(name, neighbors):
    assert audit_of(name, neighbors, LEARNERS[name][3]) > 1


@pytest.mark.full
@pytest.mark.parametrize("neighbors", list(PAIRS))
def test_noise_for_a_twelfth_of_a_weight_is_caught(neighbors, monkeypatch):
    right = Part.of_rows
    monkeypatch.setattr(Part, "of_rows", lambda self, times, rows: right(self, times // 12, rows))
    assert audit_of("weights", neighbors) > 1


@pytest.mark.full
def test_a_row_that_moves_three_times_as_far_is_caught(monkeypatch):
    right = GramMatrix.whole

    def whole(self, *arguments):
        made = right(self, *arguments)
        return replace(made, trace=made.trace // 3)

    monkeypatch.setattr(GramMatrix, "whole", whole)
    assert audit_of("singular values", "add-remove") > 1
