"""The loss between two laws: against all events, closed forms, and half of the noise."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

import dpfast as dp
from dpfast.errors import ArgumentError

from ..support.pairwise import quick_rows

TAIL = np.arange(-60.0, 61)


def laplace(scale, center=0):
    found = np.exp(-np.abs(TAIL - center) / scale)
    return found / found.sum()


def of_all_events(p, q, delta):
    """The largest ln((P - delta) / Q) of any set of answers."""
    found = 0.0
    for chosen in itertools.product([False, True], repeat=len(p)):
        for a, b in ((p, q), (q, p)):
            likely, rare = a[list(chosen)].sum() - delta, b[list(chosen)].sum()
            if likely > 1e-12:
                found = max(found, math.log(likely / rare) if rare else math.inf)
    return found


@quick_rows(2)
@pytest.mark.parametrize("delta", [0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_no_event_shows_more_and_one_shows_as_much(seed, delta):
    p, q = np.random.default_rng(seed).dirichlet(np.full(7, 0.5), 2)
    assert dp.audit.exact_epsilon(p, q, delta=delta) == pytest.approx(of_all_events(p, q, delta))


def test_closed_forms():
    assert dp.audit.exact_epsilon(laplace(2), laplace(2, 1)) == pytest.approx(0.5)
    assert dp.audit.exact_epsilon(laplace(1), laplace(1, 1)) == pytest.approx(
        1
    )  # half of the noise
    z = np.linspace(-12, 13, 5001)
    p, q = np.diff(norm.cdf(z)), np.diff(norm.cdf(z - 1))
    delta = norm.cdf(0.5 - 1) - math.e * norm.cdf(-0.5 - 1)  # Balle and Wang, ICML 2018
    assert dp.audit.exact_epsilon(p, q, delta=delta) == pytest.approx(1, rel=1e-5)
    z = np.arange(-12, 13, 1 / 64)
    weights = [np.exp(-((z - move) ** 2) / 2) for move in (0, 1, 2)]
    first, second, far = (one / one.sum() for one in weights)
    assert dp.audit.exact_rho(first, second) == pytest.approx(0.5)
    assert dp.audit.exact_rho(first, far) > 1.5  # planted: twice as far


def test_what_is_left_out_counts_for_nothing():
    p, q = laplace(1), laplace(1, 1)
    some = TAIL >= 0
    assert dp.audit.exact_epsilon(p[some], q[some]) <= dp.audit.exact_epsilon(p, q)
    with pytest.raises(ArgumentError, match="p must be probabilities, which add up to 1, got"):
        dp.audit.exact_rho(p[some], q[some])


def test_distributions_that_are_the_same_or_apart():
    apart = [1, 0], [0.5, 0.5]
    assert dp.audit.exact_epsilon([0.5, 0.5], [0.5, 0.5]) == 0
    assert dp.audit.exact_rho([0.5, 0.5], [0.5, 0.5]) == pytest.approx(0, abs=1e-12)
    for delta, due in (0, math.inf), (0.25, math.inf), (0.5, 0):
        assert dp.audit.exact_epsilon(*apart, delta=delta) == due
    assert dp.audit.exact_rho(*apart) == math.inf


@pytest.mark.parametrize("function", [dp.audit.exact_epsilon, dp.audit.exact_rho])
def test_bad_arguments(function):
    for bad in ([0.9, 0.9], [-0.1, 1], [0, 0], [math.nan, 1], []):
        with pytest.raises(ArgumentError, match="p must be probabilities"):
            function(bad, [0.5, 0.5])
    with pytest.raises(ArgumentError, match="q must be of the shape"):
        function([0.5, 0.5], [1.0])
    for delta in (-0.1, 1, math.nan):
        with pytest.raises(ArgumentError, match="delta"):
            dp.audit.exact_epsilon([1], [1], delta=delta)
