"""A black-box lower bound on the loss of running totals, with a planted fault.

As in `test_totals_audit`: the fault is a stream for several times the loss it claims.
"""

import numpy as np
import pytest

from dpfast.online import RunningCount
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound

PAIRS = {"add-remove": ([1, 0, 0, 0], [0, 0, 0, 0]), "replace": ([1, 0, 0, 0], [0, 0, 1, 0])}


def audit(relation, epsilon, size):
    """Of what the totals say of the first steps against the others."""
    rng, found = InsecureGenerator(8), []
    for values in PAIRS[relation]:
        seen = []
        for _ in range(size):
            stream = RunningCount(4, fan_out=2, epsilon=epsilon, neighbors=relation, rng=rng)
            totals = [stream.add(value).total for value in values]
            seen.append(2 * totals[0] + 2 * totals[1] - (relation == "replace") * totals[3])
        found.append(np.array(seen))
    with np.errstate(divide="ignore"):
        return lower_bound(*found)


@pytest.mark.full
@pytest.mark.parametrize("relation", list(PAIRS))
def test_a_quick_audit(relation):
    assert audit(relation, 1, 1_000) <= 1.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("relation", list(PAIRS))
def test_a_planted_fault_is_caught(relation):
    assert audit(relation, 8, 2_000) > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("relation", list(PAIRS))
def test_no_event_exceeds_epsilon(relation):
    assert audit(relation, 1, 40_000) <= 1.0
