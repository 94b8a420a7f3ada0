"""Black-box lower bounds on the loss of sums, means, counts and the like, with planted faults.

The bound is that of the kit. The fault is a release for several times the loss it
claims, which is what a factor 2 of the wrong relation, or a share spent twice, looks like; the same
bound on the same neighbors must catch it.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast.groups.distinct import count_distinct
from dpfast.rng import InsecureGenerator
from dpfast.statistics.covariance import OfGram, covariance
from dpfast.statistics.histogram import histogram
from dpfast.statistics.totals import api
from dpfast.statistics.tree.api import tree_histogram

from ..statistics.test_covariance import only
from ..support.pairwise import quick_rows
from .kit import lower_bound, repeated

BOUNDS = (0.0, 1.0)


def move(answer):
    """How much fuller the first of two bins is than the second: both counts that a row moves."""
    counts, _ = answer
    return float(counts[0] - counts[1])


def bins(data, **kw):
    return histogram(data, bins=2, **kw)


def tree(data, **kw):
    return tree_histogram(data, bins=4, fan_out=2, **kw)


def least(tree):
    """How much fuller the first bin is than the last one, of a row that moves."""
    return float(tree.counts[0] - tree.counts[-1])


WEIGHTS = {"bounds": BOUNDS, "weights": [2.0, 1.0, 1.0], "weight_bounds": (0, 2)}
SQUARE = {"bounds": [BOUNDS, BOUNDS]}
RATIO = {"bounds": [BOUNDS, (1, 1)]}
GROUPS = {"of": dp.Sum(bounds=BOUNDS)}
FLAT = [[0, 0], [1, 1]]

#: name, relation: the statistic, two neighbors, and how they are masked.
PAIRS = {
    "count of missing, replace": (api.count, [np.nan], [0.0], {"nan": "only"}),
    "count of missing, add-remove": (api.count, [np.nan], [], {"nan": "only"}),
    "distinct values, replace": (count_distinct, [3, 3], [3, 4], {}),
    "sum, replace": (api.sum, [0.0, 0.5], [1.0, 0.5], {"bounds": BOUNDS}),
    "mean, replace": (api.mean, [0.0] * 3, [1.0, 0.0, 0.0], {"bounds": BOUNDS}),
    "mean, masked": (api.mean, [1.0, 1.0, 0.0], [0.0, 1.0, 0.0],
        {"bounds": BOUNDS, "where": [True] * 3}),
    "histogram, replace": (bins, [0.0, 0.0], [1.0, 0.0], {"bounds": BOUNDS}),
    "weighted histogram, replace": (bins, [0.0, 0, 0], [1.0, 0, 0],
        {"bounds": BOUNDS, "weights": [2.0, 1.0, 1.0], "weight_bounds": (0, 2)}),
    "tree, replace": (tree, [0.0, 0.0], [1.0, 0.0], {"bounds": BOUNDS}),
    "weighted sum, replace": (api.sum, [0.0, 0, 0], [1.0, 0, 0], WEIGHTS),
    "weighted mean, replace": (api.mean, [0.0, 0, 1], [1.0, 0, 1], WEIGHTS),
    "covariance, replace": (covariance, [[0, 0], [1, 1]], [[1, 1], [1, 1]], SQUARE),
    "covariance, add-remove": (covariance, [[0, 0], [0, 0], [1, 1]], [[0, 0], [0, 0]], SQUARE),
    "proportion, replace": (dp.proportion, [False] * 3, [True, False, False], {}),
    "proportion, add-remove": (dp.proportion, [True, False, False], [False, False], {}),
    "ratio, replace": (dp.ratio, [[0, 1], [0, 1]], [[1, 1], [0, 1]], RATIO),
    "ratio, add-remove": (dp.ratio, [[0, 1], [0, 1], [1, 1]], [[0, 1], [0, 1]], RATIO),
    "correlation, replace": (dp.correlation, [*FLAT, [0, 1]], [*FLAT, [1, 1]], SQUARE),
    "correlation, add-remove": (dp.correlation, [*FLAT, [0, 1]], FLAT, SQUARE),
    "difference, replace": (dp.difference, [[1, 1], [0, 0]], [[1, 0], [0, 0]], GROUPS),
    "difference, add-remove": (dp.difference, [[1, 1], [1, 0]], [[1, 0]], GROUPS),
    "variance, replace": (api.variance, [0.0] * 4, [1.0, 0, 0, 0], {"bounds": BOUNDS}),
}  # fmt: skip

#: How many times the claim is spent by the fault, where few of the shares are seen in the answer.
FAULT = {
    "covariance, replace": 8,
    "covariance, add-remove": 40,
    "correlation, replace": 8,
    "correlation, add-remove": 8,
}


def samples(name, epsilon, size):
    statistic, *pair, kw = PAIRS[name]
    generator = InsecureGenerator(8)
    relation = "add-remove" if name.endswith("add-remove") else "replace"
    given = {"epsilon": epsilon, "neighbors": relation, "rng": generator, **kw}
    number = {bins: move, tree: least, covariance: np.sum}.get(statistic, float)

    def answers(data):
        found = repeated(lambda: statistic(np.array(data), **given), size)
        return np.array([number(answer) for answer in found], np.float64)

    return [answers(data) for data in pair]


def audit(name, epsilon, size):
    return lower_bound(*samples(name, epsilon, size))


@quick_rows(2)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_quick_audit(name):
    assert audit(name, 1, 2_000) <= 1.0


@quick_rows(1)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_planted_fault_is_caught(name):
    with only(OfGram):  # what is claimed has that noise, and so much more loss would have another
        assert audit(name, FAULT.get(name, 4), 4_000) > 1.0
