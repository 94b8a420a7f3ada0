"""Record and replay: what a release computes before its noise, on all neighbours of a small domain.

For Cauchy noise the exact loss between two outcomes (value, scale) is a hyperbolic distance, so the
whole mechanism, with its floor and its policy for missing values, is checked against its epsilon.
"""

import itertools
import math

import numpy as np
import pytest

from dpfast.sources import as_source
from dpfast.statistics.quantiles.api import one

DOMAIN = (0.0, 1.0, 3.0, 10.0, math.nan)
EPSILON = 0.7


def outcomes(neighbors, nan, q, largest):
    made = one(q, (0, 10), EPSILON, 0, None, neighbors, "cauchy", "auto", nan, False)
    found = {}
    for n in range(largest + 1):
        for rows in itertools.combinations_with_replacement(DOMAIN, n):
            value, smooth = made.reduce(as_source(np.array(rows)))
            found[rows] = value, smooth / made.calibration.alpha
    return found


def key(rows):
    return tuple(sorted(rows, key=lambda v: (v != v, v)))


def pairs(found, neighbors):
    for rows in found:
        if neighbors == "replace":
            around = ((*rows[:i], v, *rows[i + 1 :]) for i in range(len(rows)) for v in DOMAIN)
        else:
            around = (rows[:i] + rows[i + 1 :] for i in range(len(rows)))
        yield from ((found[rows], found[key(other)]) for other in around)


def loss(a, b, shrink=1.0):
    (f, s), (g, t) = a, b
    s, t = s * shrink, t * shrink
    return 2 * math.asinh(math.sqrt(((f - g) ** 2 + (s - t) ** 2) / (4 * s * t)))


@pytest.mark.parametrize(
    ("neighbors", "nan"),
    [(r, p) for r in ("replace", "add-remove") for p in ("lower", "upper", 2.0, 99.0)]
    + [("add-remove", "drop")],
)
@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_no_neighbours_are_told_apart_by_more_than_epsilon(neighbors, nan, q):
    both = list(pairs(outcomes(neighbors, nan, q, 4), neighbors))
    assert len(both) > 100
    assert max(loss(a, b) for a, b in both) <= EPSILON
    # The planted fault, for the same test to catch: five per cent less noise at the worst pair.
    assert max(loss(a, b, 0.95) for a, b in both) > EPSILON


def test_the_scale_of_the_local_sensitivity_is_caught():
    """The planted fault that smooth sensitivity is there to mend: noise scaled to LS itself."""
    import dpfast as dp

    local = {
        rows: (value, dp.sensitivity.local_median(np.array(rows), bounds=(0, 10)) + 1e-9)
        for rows, (value, _) in outcomes("replace", "lower", 0.5, 3).items()
        if rows and not any(v != v for v in rows)
    }
    seen = [
        loss(local[rows], local[key((*rows[:i], v, *rows[i + 1 :]))])
        for rows in local
        for i in range(len(rows))
        for v in DOMAIN[:-1]
    ]
    assert max(seen) > 3 * EPSILON
