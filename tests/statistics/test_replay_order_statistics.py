"""Record and replay for smooth releases of statistics: all neighbors of a small domain.

For Cauchy noise the exact loss between two outcomes (value, scale) is a hyperbolic distance, so the
value, its smooth bound and the calibration are checked together against epsilon.
"""

import math
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise.smooth import calibrate
from dpfast.statistics.smooth_release import _SmoothRelease

from ..reference.sensitivity import graphs, statistics
from ..support.pairwise import quick_rows
from ..support.sensitivities import smooth_of
from .test_replay_smooth import loss

EPSILON = 0.7
SHARE = 0.25
DOMAIN = (0, 1, 3, 10)
S = dp.sensitivity

# Name: the statistic, its bound, the relation, sizes, and a factor of the noise that is too little.
CASES = {
    "mean": (statistics.mean, partial(smooth_of, dp.Mean), "replace", [4], 0.9),
    "mean, add-remove": (statistics.mean, partial(smooth_of, dp.Mean), "add-remove", range(8), 0.6),
    "trimmed mean": (
        statistics.trimmed(0.25),
        partial(smooth_of, dp.TrimmedMean, proportion=SHARE),
        "replace",
        [5],
        0.9,
    ),
    "winsorized mean": (
        statistics.winsorized(0.25),
        partial(smooth_of, dp.WinsorizedMean, proportion=SHARE),
        "replace",
        [5],
        0.6,
    ),
    "variance": (statistics.variance(0), partial(smooth_of, dp.Variance), "replace", [4], 0.7),
    "iqr": (statistics.iqr, partial(smooth_of, dp.Iqr), "replace", [5], 0.9),
    "iqr, add-remove": (statistics.iqr, partial(smooth_of, dp.Iqr), "add-remove", range(7), 0.6),
    "minimum": (lambda d, lo, hi: d[0], partial(smooth_of, dp.Minimum), "replace", [4], 0.9),
}


def mechanism(lo, hi, neighbors):
    calibration = calibrate("cauchy", epsilon=EPSILON)
    return _SmoothRelease(lo, hi, neighbors, calibration)


def worst(outcomes, links, shrink=1.0):
    scaled = [(f, shrink * s) for f, s in outcomes]
    return max(loss(scaled[i], scaled[j]) for i, link in enumerate(links) for j in link)


@pytest.mark.parametrize("name", list(CASES))
def test_no_neighbors_are_told_apart_by_more_than_epsilon(name):
    statistic, bound, neighbors, sizes, little = CASES[name]
    every = statistics.Every(statistic, DOMAIN, sizes, neighbors)
    # Answers are clipped, so bounds for the answer are wider than those of the rows here.
    made = mechanism(-1000, 1000, neighbors)
    alpha = made.calibration.alpha
    more = {"neighbors": neighbors}
    outcomes = []
    for data, value in zip(every.datasets, every.value, strict=True):
        given = (float(value), lambda beta, d=data: bound(d, beta=beta, bounds=(0, 10), **more))
        value, smooth = made.reduce(given)
        outcomes.append((value, smooth / alpha))
    assert worst(outcomes, every.links) <= EPSILON
    assert worst(outcomes, every.links, little) > EPSILON


#: One of each kind of loss and of each distribution that it may be paid for with.
NOISES = [
    ("cauchy", {"epsilon": 0.3}),
    ("generalized-cauchy", {"epsilon": 2}),
    ("student-t", {"epsilon": 1}),
    ("polyplace", {"epsilon": 1}),
    ("laplace", {"epsilon": 1, "delta": 1e-6}),
    ("gaussian", {"epsilon": 3, "delta": 1e-3}),
    ("arsinh-normal", {"rho": 0.5}),
    ("auto", {"epsilon": 1, "delta": 1e-6}),
    ("auto", {"rho": 3}),
]


def farthest(outcomes, links):
    """Between neighbors: the largest shift in units of the smaller bound, and the largest ratio
    of two bounds."""
    pairs = [(outcomes[i], outcomes[j]) for i, link in enumerate(links) for j in link]
    shift = max(abs(f - g) / min(s, t) for (f, s), (g, t) in pairs)
    return shift, max(math.log(s / t) for (_, s), (_, t) in pairs)


@quick_rows(4)
@pytest.mark.parametrize(("noise", "asked"), NOISES, ids=str)
@pytest.mark.parametrize("name", ["iqr", "mean, add-remove", "trimmed mean"])
def test_shifts_and_dilations_are_those_that_noise_is_calibrated_for(name, noise, asked):
    """A distribution is admissible for shifts up to S and dilations up to e^beta
    (`test_admissible.py`), so that is all there is to check of a statistic, whatever the loss."""
    statistic, bound, neighbors, sizes, _ = CASES[name]
    every = statistics.Every(statistic, DOMAIN, sizes, neighbors)
    calibration = calibrate(noise, **asked)
    assert calibration.beta == dp.smooth_beta(noise=noise, **asked)
    made = _SmoothRelease(-1000, 1000, neighbors, calibration)
    more = {"neighbors": neighbors}

    def found(beta_of_bound):
        return [
            made.reduce(
                (
                    float(value),
                    lambda beta, d=data: bound(d, beta=beta_of_bound(beta), bounds=(0, 10), **more),
                )
            )
            for data, value in zip(every.datasets, every.value, strict=True)
        ]

    shift, dilation = farthest(found(lambda beta: beta), every.links)
    assert shift <= 1 and dilation <= calibration.beta * (1 + 2**-30) + 2**-40
    # The control: a bound that is only as smooth as twice beta.
    if name == "iqr":
        _, rough = farthest(found(lambda beta: 2 * beta), every.links)
        assert rough > 1.5 * calibration.beta


def test_triangles_of_every_graph():
    """All graphs of five vertices and their edges."""
    matrices, _ = graphs.triangle_graphs(5, 0)
    made = mechanism(0, 100, "add-remove")
    outcomes = []
    for matrix in matrices:
        count = np.trace(np.linalg.matrix_power(matrix, 3)) / 6
        value, smooth = made.reduce(
            (count, lambda beta, m=matrix: S.smooth(S.Triangles(), m, beta=beta))
        )
        outcomes.append((value, smooth / made.calibration.alpha))
    links = [[i ^ (1 << e) for e in range(10)] for i in range(len(matrices))]
    assert worst(outcomes, links) <= EPSILON
    assert worst(outcomes, links, 0.6) > EPSILON


@pytest.mark.full
def test_trees_of_every_weighting():
    count, edges, top = 4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 2
    tree, every = S.TreeCost(edges, bounds=(0, top)), graphs.Weightings(count, edges, top, 0)
    made = mechanism(0, 100, "replace")
    outcomes = []
    for weights in every.all:
        cost = graphs.tree_cost(count, edges, weights)
        value, smooth = made.reduce(
            (cost, lambda beta, w=weights: S.smooth(tree, w, beta=beta, neighbors="replace"))
        )
        outcomes.append((value, smooth / made.calibration.alpha))
    place = {w: i for i, w in enumerate(every.all)}
    links = [
        [place[(*w[:e], v, *w[e + 1 :])] for e in range(len(edges)) for v in range(top + 1)]
        for w in every.all
    ]
    assert worst(outcomes, links) <= EPSILON
    assert worst(outcomes, links, 0.9) > EPSILON
