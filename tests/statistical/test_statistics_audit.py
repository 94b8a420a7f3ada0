"""Black-box lower bounds on the loss of statistics, with planted faults.

The bound is that of the kit. A fault is a release for several times the loss it claims, which is
what a factor 2 of the wrong relation, or a share spent twice, looks like; columns that get the
noise that each would need alone; or a threshold or a bound that is too low. The same bound on the
same neighbors must catch it. Passing proves nothing; failing is a bug.
"""

from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit.binomial import at_least
from dpfast.measurement import linear, statistic
from dpfast.measurement.choice import Moves, NoiseCandidate, choose_noise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.covariance import OfGram
from dpfast.statistics.ptr.proposal import DistanceTest

from ..statistics.test_covariance import only
from ..support.pairwise import quick_rows
from ..support.sensitivities import smooth_of
from .kit import lower_bound, repeated

B = {"bounds": (0.0, 1.0)}
WEIGHTS = {**B, "weights": [2.0, 1.0, 1.0], "weight_bounds": (0, 2)}
SQUARE, RATIO = {"bounds": [(0.0, 1.0)] * 2}, {"bounds": [(0.0, 1.0), (1, 1)]}
GROUPS, FLAT = {"of": dp.Sum(**B)}, [[0, 0], [1, 1]]
BINS, TREE, MISSING = {**B, "bins": 2}, {**B, "bins": 4, "fan_out": 2}, {"nan": "only"}

#: name, relation: the statistic, two neighbors, and its other arguments.
PAIRS = {
    "count of missing, replace": (dp.count, [np.nan], [0.0], MISSING),
    "count of missing, add-remove": (dp.count, [np.nan], [], MISSING),
    "distinct values, replace": (dp.count_distinct, [3, 3], [3, 4], {}),
    "sum, replace": (dp.sum, [0.0, 0.5], [1.0, 0.5], B),
    "mean, replace": (dp.mean, [0.0] * 3, [1.0, 0.0, 0.0], B),
    "mean, masked": (dp.mean, [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], {**B, "where": [True] * 3}),
    "histogram, replace": (dp.histogram, [0.0, 0.0], [1.0, 0.0], BINS),
    "weighted histogram, replace": (dp.histogram, [0.0, 0, 0], [1.0, 0, 0], {**WEIGHTS, "bins": 2}),
    "tree, replace": (dp.tree_histogram, [0.0, 0.0], [1.0, 0.0], TREE),
    "weighted sum, replace": (dp.sum, [0.0, 0, 0], [1.0, 0, 0], WEIGHTS),
    "variance, replace": (dp.variance, [0.0] * 4, [1.0, 0, 0, 0], B),
    "weighted mean, replace": (dp.mean, [0.0, 0, 1], [1.0, 0, 1], WEIGHTS),
    "covariance, replace": (dp.covariance, FLAT, [[1, 1], [1, 1]], SQUARE),
    "covariance, add-remove": (dp.covariance, [[0, 0], *FLAT], [[0, 0], [0, 0]], SQUARE),
    "proportion, replace": (dp.proportion, [False] * 3, [True, False, False], {}),
    "proportion, add-remove": (dp.proportion, [True, False, False], [False, False], {}),
    "ratio, replace": (dp.ratio, [[0, 1], [0, 1]], [[1, 1], [0, 1]], RATIO),
    "ratio, add-remove": (dp.ratio, [[0, 1], [0, 1], [1, 1]], [[0, 1], [0, 1]], RATIO),
    "correlation, replace": (dp.correlation, [*FLAT, [0, 1]], [*FLAT, [1, 1]], SQUARE),
    "correlation, add-remove": (dp.correlation, [*FLAT, [0, 1]], FLAT, SQUARE),
    "difference, replace": (dp.difference, [[1, 1], [0, 0]], [[1, 0], [0, 0]], GROUPS),
    "difference, add-remove": (dp.difference, [[1, 1], [1, 0]], [[1, 0]], GROUPS),
}
#: How much fuller one bin is than the other of those that a row moves; and the sum of a matrix.
NUMBER = {
    dp.histogram: lambda answer: float(answer[0][0] - answer[0][1]),
    dp.tree_histogram: lambda answer: float(answer.counts[0] - answer.counts[-1]),
    dp.covariance: np.sum,
}
#: How many times the claim is spent by the fault, where few of the shares are seen in the answer.
FAULT = {"covariance, replace": 8, "covariance, add-remove": 40}
FAULT |= {"correlation, replace": 8, "correlation, add-remove": 8}


def audit(name, epsilon, size):
    statistic, *pair, kw = PAIRS[name]
    relation = "add-remove" if name.endswith("add-remove") else "replace"
    given = {"epsilon": epsilon, "neighbors": relation, "rng": InsecureGenerator(8), **kw}
    number = NUMBER.get(statistic, float)
    return lower_bound(
        *(
            np.array([*map(number, repeated(lambda d=d: statistic(np.array(d), **given), size))])
            for d in pair
        )
    )


@quick_rows(2)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_quick_audit(name):
    assert audit(name, 1, 2_000) <= 1.0


@quick_rows(1)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_planted_fault_is_caught(name):
    with only(OfGram):  # what is claimed has that noise, and so much more loss would have another
        assert audit(name, FAULT.get(name, 4), 4_000) > 1.0


# --- one answer a column --------------------------------------------------------------------------

LOW, HIGH, MIDDLE = [0.0, 0.0, -5.0], [1.0, 100.0, 5.0], [0.5, 50.0, 0.0]
REPLACED = [[LOW, MIDDLE], [HIGH, MIDDLE]]
LEFT = [[LOW, HIGH, MIDDLE], [HIGH, MIDDLE]]
COLUMNS = {
    "sum, replace": (dp.sum, REPLACED),
    "sum, add-remove": (dp.sum, [[HIGH, MIDDLE], [MIDDLE]]),
    "mean, replace": (dp.mean, REPLACED),
    "mean, add-remove": (dp.mean, LEFT),
    "variance, replace": (dp.variance, [[LOW] * 3, [HIGH, LOW, LOW]]),
    "variance, add-remove": (dp.variance, LEFT),
    "count, add-remove": (dp.count, [[MIDDLE], []]),
}
NORMS = {"box": lambda z: np.abs(z).max(axis=1), "laplace": lambda z: np.abs(z).sum(axis=1)}


def alone(loss, moves):
    """The fault: noise for each integer as if no other moved."""
    error, make = choose_noise(loss, moves)
    each = [choose_noise(loss, Moves((size,))).noise() for size in moves.sizes]

    class Each:
        def add(self, values, generator):
            pairs = zip(each, values, strict=True)
            return [noise.add([value], generator)[0] for noise, value in pairs]

    found = Each()
    found.loss = make().loss
    return NoiseCandidate(error, lambda: found)


def audit_of_columns(name, size, norm="box"):
    """Of a number that tells neighbors apart as well as the noise lets it.

    By how much an answer is nearer to the one exact answer than to the other, in a norm.
    """
    statistic, pair = COLUMNS[name]
    given = {"nan": "drop"} if statistic is dp.count else {"bounds": [*zip(LOW, HIGH, strict=True)]}
    given |= {"neighbors": name.split(", ")[1], "axis": 0, "rng": InsecureGenerator(8)}
    rows = [np.array(data).reshape(-1, 3) for data in pair]
    a, b = (statistic(data, epsilon=500, **given) for data in rows)
    unit, norm = np.where(a == b, 1.0, np.abs(a - b)), NORMS[norm]
    told = []
    for data in rows:
        x = np.array([statistic(data, epsilon=1, **given) for _ in range(size)])
        # Rounded, for many answers tell exactly as much as can be told.
        told.append(np.round(norm((x - a) / unit) - norm((x - b) / unit), 6))
    return lower_bound(*told)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_quick_audit_of_columns(name):
    for norm in NORMS:
        assert audit_of_columns(name, 500, norm) <= 1.0


@pytest.mark.full
@pytest.mark.parametrize("name", ["sum, replace", "sum, add-remove"])
def test_it_is_nearly_reached(name):
    """So that the bound is worth something: no noise is wasted."""
    assert audit_of_columns(name, 2_500) > 0.5


@pytest.mark.full
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if i % 3 else ()) for i, name in enumerate(COLUMNS)
])  # fmt: skip
def test_a_sensitivity_that_forgets_the_other_columns_is_caught(name):
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", alone),
    ):
        assert audit_of_columns(name, 2_500, "laplace") > 1.0


# --- propose-test-release and smooth releases -----------------------------------------------------


def passes_seldom(size=6000, delta=0.05):
    """Whether data at distance 0 pass no more often than delta allows."""
    data, kw = np.r_[np.zeros(3), np.ones(3)], {**B, "proposed": 0.1, "neighbors": "replace"}
    found = repeated(lambda: dp.ptr.quantile(data, 0.5, epsilon=1, delta=delta, **kw), size)
    return at_least(sum(one is not dp.NO_ANSWER for one in found), size, 1e-6) <= delta


def test_data_that_should_be_refused_pass_no_more_often_than_delta():
    assert passes_seldom()


RIGHT = DistanceTest(dp.privacy.Pure(0.5).epsilon, dp.privacy.Approx(1, 0.05).delta).threshold
#: The textbook's, two less (missed with a probability of 2e-9), and for the whole epsilon.
LOWER = [int(np.log(2 / 0.05) / 2), RIGHT - 2, int(np.log(1 / 0.1))]


@pytest.mark.parametrize("threshold", LOWER)
def test_thresholds_that_are_too_low_are_caught(threshold, monkeypatch):
    monkeypatch.setattr(DistanceTest, "threshold", threshold)
    assert not passes_seldom()


def smooth(data, size, times=1.0):
    """The trimmed mean of five rows, by a bound from outside."""
    value, relation = np.sort(data)[1:4].mean(), {**B, "neighbors": "replace"}

    def bound(beta):
        return times * smooth_of(dp.TrimmedMean, data, proportion=0.2, beta=beta, **relation)

    return np.array(repeated(lambda: dp.smooth_release(value, bound, epsilon=1, **relation), size))


@pytest.mark.parametrize("times", [1, 0.05])
def test_a_smooth_release_loses_no_more_than_epsilon_and_a_bound_too_small_is_caught(times):
    pair = np.array([0.0, 0, 0, 0.01, 1]), np.array([0.0, 0, 0.01, 1, 1])
    assert (lower_bound(*(smooth(x, 4000, times) for x in pair)) <= 1.0) == (times == 1)
