"""Black-box lower bounds on the loss of a release. Passing proves nothing; failing is a bug.

For fixed neighbors, what `dp.audit` shows may not exceed epsilon. A planted mechanism with too
little noise must be caught by it.
"""

import numpy as np
import pytest

import dpfast as dp

from .kit import lower_bound


def sample(data, size, epsilon, noise, shrink=1.0, **kw):
    out = np.array(
        [dp.median(data, bounds=(0, 1), epsilon=epsilon, noise=noise, **kw) for _ in range(size)]
    )
    centre = np.sort(data)[(len(data) - 1) // 2] if len(data) else 0.0
    return centre + shrink * (out - centre)


PAIRS = {
    "replace": (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])),
    "add-remove": (np.array([0.0, 0.5]), np.array([0.0, 0.5, 1.0])),
}


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", list(PAIRS))
@pytest.mark.parametrize("noise", ["polyplace", "cauchy", "student-t", "generalized-cauchy"])
def test_no_event_exceeds_epsilon(neighbors, noise):
    a, b = PAIRS[neighbors]
    got = [sample(d, 40_000, 2.0, noise, neighbors=neighbors) for d in (a, b)]
    assert lower_bound(*got) <= 2.0


@pytest.mark.full
def test_the_audit_catches_too_little_noise():
    """The planted fault: a mechanism that claims 0.5 and adds the noise of 3."""
    a, b = PAIRS["replace"]
    got = [sample(d, 6_000, 3.0, "polyplace", neighbors="replace") for d in (a, b)]
    assert lower_bound(*got) > 0.5


def test_a_quick_audit():
    a, b = PAIRS["replace"]
    got = [sample(d, 6_000, 1.0, "auto", neighbors="replace") for d in (a, b)]
    assert lower_bound(*got) <= 1.0
