"""Black-box lower bounds on the loss of private bounds, with a planted fault.

The bound is that of the kit, the fault a group of rows for the loss of one.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from . import repeated
from .kit import lower_bound


def upper(pair):
    return pair[1]


def lower(pair):
    return pair[0]


#: name: the number that is looked at, and two neighbors.
PAIRS = {
    "a row of many": (upper, [5.0] * 5, [5.0] * 6),
    "the other side": (lower, [-5.0] * 100 + [1.0], [-5.0] * 100),
    "hardly a row": (upper, [2.0**-39], []),
}


#: The planted fault: rows of somebody who has twelve, for a loss of one row.
FAULT = (upper, [5.0] * 60, [5.0] * 60 + [6.0] * 12)


def audit(case, epsilon, size):
    number, *pair = case
    generator = InsecureGenerator(8)

    def answers(rows):
        found = repeated.answers(
            lambda: dp.bounds(np.array(rows), epsilon=epsilon, rng=generator), size
        )
        return np.array([number(each) for each in found])

    with np.errstate(divide="ignore"):
        return lower_bound(*map(answers, pair))


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", PAIRS)
def test_a_quick_audit(name):
    assert audit(PAIRS[name], 1, 300) <= 1.0


@pytest.mark.full
@pytest.mark.parametrize("name", PAIRS)
def test_no_event_exceeds_epsilon(name):
    assert audit(PAIRS[name], 1, 2_000) <= 1.0


@pytest.mark.full
def test_a_planted_fault_is_caught():
    assert audit(FAULT, 1, 600) > 1.0
