"""Black-box lower bounds on the loss of a release. Passing proves nothing; failing is a bug.

For fixed neighbors, the best threshold event on one half of the samples is judged on the other
half by exact binomial (Clopper-Pearson) bounds; the lower bound of its log-ratio
may not exceed epsilon. A planted mechanism with too little noise must be caught by it.
"""

import numpy as np
import pytest
from scipy.stats import beta

import dpfast as dp

ALPHA = 1e-6


def at_least(hits, n):
    return beta.ppf(ALPHA, hits, n - hits + 1) if hits else 0.0


def at_most(hits, n):
    return beta.ppf(1 - ALPHA, hits + 1, n - hits)


def lower_bound(a, b, delta=0.0):
    """A lower confidence bound of epsilon, for delta: log((P(E) - delta) / Q(E)) of the best event.

    Events are half lines; "no answer" of propose-test-release is a point beyond all answers.
    """
    half = len(a) // 2
    best, event = 0.0, None
    cuts = np.quantile(np.concatenate([a[:half], b[:half]]), np.linspace(0.001, 0.999, 300))
    for cut in np.unique(cuts):
        for side in (1, -1):
            pa, pb = np.mean(side * a[:half] > side * cut), np.mean(side * b[:half] > side * cut)
            for top, low, swap in ((pa, pb, False), (pb, pa, True)):
                if low > 20 / half and top > delta and np.log((top - delta) / low) > best:
                    best, event = np.log((top - delta) / low), (cut, side, swap)
    if event is None:
        return 0.0
    cut, side, swap = event
    x, y = (b, a) if swap else (a, b)
    n = len(x) - half
    top, low = (int(np.sum(side * z[half:] > side * cut)) for z in (x, y))
    sure = at_least(top, n) - delta
    return float(np.log(sure / at_most(low, n))) if sure > 0 else 0.0


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


def test_the_audit_catches_too_little_noise():
    """The planted fault: a mechanism that claims 0.5 and adds the noise of 3."""
    a, b = PAIRS["replace"]
    got = [sample(d, 6_000, 3.0, "polyplace", neighbors="replace") for d in (a, b)]
    assert lower_bound(*got) > 0.5


def test_a_quick_audit():
    a, b = PAIRS["replace"]
    got = [sample(d, 6_000, 1.0, "auto", neighbors="replace") for d in (a, b)]
    assert lower_bound(*got) <= 1.0
