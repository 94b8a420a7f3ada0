"""Record and replay for releases with noise of a secret scale, masks and missing rows included.

A value and a scale come out of the data, and the answer is one draw from the two. For Cauchy noise
the exact loss between two such outcomes is a hyperbolic distance, so every call
is checked against the epsilon that it was asked for, on all neighbors of small datasets.
"""

import itertools
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise import samplers

from ..support.pairwise import full_rows
from ..support.sensitivities import local_of
from .test_exponential_quantiles import near_pairs

EPSILON = 0.7
DOMAIN = (0.0, 1.0, 3.0, 10.0, math.nan)
KW = {"bounds": (0, 10), "epsilon": EPSILON, "noise": "cauchy"}
#: The release, and what part of its noise is too little. Some bounds are not tight at these sizes.
CASES = {
    "median": (dp.median, 0.9), "quantile": (lambda x, **kw: dp.quantile(x, 0.2, **kw), 0.9),
    "minimum": (dp.minimum, 0.9), "maximum": (dp.maximum, 0.9), "iqr": (dp.iqr, 0.7),
    "trimmed mean": (lambda x, **kw: dp.trimmed_mean(x, proportion=0.25, **kw), 0.4),
    "winsorized mean": (lambda x, **kw: dp.winsorized_mean(x, proportion=0.25, **kw), 0.4),
}  # fmt: skip
COMBINATIONS = [
    (name, relation, masked, policy)
    for name in CASES
    for relation in ("replace", "add-remove")
    for masked in (False, True)
    for policy in ("lower", "upper", 2.0, 99.0, *(["drop"] if relation == "add-remove" else []))
]


def outcome(call, rows, masked, **kw):
    seen = []

    def draw(distribution, *, value, scale, granularity, generator):
        seen.append((value, scale))
        return value

    if masked:
        kw["where"] = np.array([kept for _, kept in rows], bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samplers, "draw", draw)
        call(np.array([row for row, _ in rows]), **KW, **kw)
    (found,) = seen
    return found


def loss(a, b, shrink=1.0):
    (f, s), (g, t) = a, b
    s, t = s * shrink, t * shrink
    return 2 * math.asinh(math.sqrt(((f - g) ** 2 + (s - t) ** 2) / (4 * s * t)))


@full_rows(40)
@pytest.mark.parametrize(("name", "relation", "masked", "policy"), COMBINATIONS)
def test_no_neighbors_are_told_apart_by_more_than_epsilon(name, relation, masked, policy):
    call, little = CASES[name]
    each = list(itertools.product(DOMAIN, (False, True) if masked else (True,)))
    found = {
        rows: outcome(call, rows, masked, nan=policy, neighbors=relation)
        for n in range(4 if masked else 6)
        for rows in itertools.combinations_with_replacement(each, n)
    }
    last = lambda row: (row[0] != row[0], row)  # what is missing  # noqa: E731
    pairs = {(found[a], found[b]) for a, b in near_pairs(found, relation, each, last)}
    assert max(loss(*pair) for pair in pairs) <= EPSILON
    # Noise for two steps, where a row may leave and another enter, is seldom needed in full.
    less = little / 2 if masked and relation == "replace" else little
    assert max(loss(*pair, less) for pair in pairs) > EPSILON


def test_a_mask_that_is_taken_for_public_is_found():
    """The fault: under replace, noise for rows that neither leave nor enter."""
    rows = [(x, kept) for x in (0.0, 10.0) for kept in (True, False)]

    def wrong(x, where, neighbors, **kw):
        return dp.iqr(x[where], neighbors=neighbors, **kw)

    def worst(rest):
        kw = {"nan": "lower", "neighbors": "replace"}
        found = [outcome(wrong, (row, *rest), True, **kw) for row in rows]
        return max(loss(a, b) for a, b in itertools.combinations(found, 2))

    assert any(worst(rest) > EPSILON for rest in itertools.combinations_with_replacement(rows, 4))


def test_the_scale_of_the_local_sensitivity_is_caught():
    """The planted fault that smooth sensitivity is there to mend: noise scaled to LS itself."""
    found = {}
    for n in (1, 2, 3):
        for rows in itertools.combinations_with_replacement(DOMAIN[:-1], n):
            local = local_of(dp.Median, np.array(rows), bounds=(0, 10), neighbors="replace")
            found[rows] = rows[(n - 1) // 2], local + 1e-9
    pairs = near_pairs(found, "replace", DOMAIN[:-1])
    assert max(loss(found[a], found[b]) for a, b in pairs) > 3 * EPSILON
