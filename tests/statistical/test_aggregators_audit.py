"""Black-box lower bounds on the loss of every aggregator, on neighbors that it can hardly hide.

The bound is that of the kit. The planted fault is a release that spends several times
what it claims; the same bound on the same neighbors must catch it.
"""

import numpy as np
import pytest

from dpfast.aggregate import aggregators
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound

PAIRS = {
    "mean": ([0, 0, 0], [0, 0, 1]),
    "smooth-median": ([0, 0, 1], [0, 1, 1]),
    "exponential-median": ([0, 0.2], [0.2, 1]),
    "trimmed-mean": ([0, 0, 0, 1], [0, 0, 1, 1]),
    "winsorized-mean": ([0, 0, 0], [0, 0, 1]),
    "attention": ([0, 0, 0, 0, 1], [0, 0, 0, 1, 1]),
}
#: How many times the claim is spent by the fault that must be found with 6,000 samples.
FAULT = {
    "mean": 3,
    "smooth-median": 3,
    "exponential-median": 4,
    "trimmed-mean": 3,
    "winsorized-mean": 5,
    "attention": 4,
}


def samples(name, epsilon, size):
    generator = InsecureGenerator(7)
    pair = [np.array(z, np.float64) for z in PAIRS[name]]
    made = aggregators.make(name, len(pair[0]), 0.0, 1.0, Pure(epsilon))
    return [np.array([made.release(z, generator) for _ in range(size)]) for z in pair]


def audit(name, epsilon, size):
    with np.errstate(divide="ignore"):  # an event that one side never shows
        return lower_bound(*samples(name, epsilon, size))


@quick_rows(2)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_quick_audit(name):
    assert audit(name, 1, 3_000) <= 1.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_planted_fault_is_caught(name):
    assert audit(name, FAULT[name], 6_000) > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAIRS))
def test_no_event_exceeds_epsilon(name):
    assert audit(name, 2, 40_000) <= 2.0
