"""Black-box lower bounds on the loss of selections. Passing proves nothing; failing is a bug.

Two neighboring score vectors, many draws from each. One half of the draws chooses the set of
answers on which the log-ratio looks largest, the other half bounds it from below (Clopper and
Pearson, with probability 1 - ALPHA). No bound may exceed epsilon. A planted mechanism, with half
the noise it should have, must be caught.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import dpfast as dp

from ..support.pairwise import quick_rows
from .kit import lower_bound

# Neighbors that differ by as much as the sensitivity allows, in the way that hurts most.
PAIRS = {
    "one up, the others down": (
        np.array([-2.0, 0.0, 0.0, 0.0]),
        np.array([-1.0, -1.0, -1.0, -1.0]),
    ),
    "a far one comes nearer": (np.array([-3.0, 0.0, 0.5]), np.array([-2.0, -1.0, -0.5])),
    "large integers": (2**60 + np.array([0, 1, 0, 2]), 2**60 + np.array([1, 0, -1, 1])),
    "many": (
        np.where(np.arange(5000) % 50 == 0, 1.0, -5.0),
        np.where(np.arange(5000) % 50 == 0, 0.0, -4.0),
    ),
}
MONOTONE = (np.array([3, 1, 0, 2]), np.array([3, 2, 1, 2]))


def exponential(scores, draws, epsilon, call=dp.selection.exponential, **options):
    return call(scores, size=draws, sensitivity=1, epsilon=epsilon, **options)


permute_and_flip = partial(exponential, call=dp.selection.permute_and_flip)


def first_of_top(scores, draws, epsilon, **options):
    """The first of two, told apart by its own share of the loss."""
    table = np.broadcast_to(scores, (draws, len(scores)))
    found = dp.selection.top_k(table, 2, sensitivity=1, epsilon=2 * epsilon, **options)
    return found[:, 0]


MECHANISMS = {
    "exponential": exponential,
    "permute_and_flip": permute_and_flip,
    "first_of_top": first_of_top,
}


def audit(mechanism, pair, draws, epsilon, **options):
    """Answers of 5000 candidates are told apart by whether their score is high."""
    labels = [np.arange(len(s)) if len(s) < 100 else (s > s.min()).astype(np.int64) for s in pair]
    drawn = [
        label[mechanism(s, draws, epsilon, **options)]
        for s, label in zip(pair, labels, strict=True)
    ]
    return lower_bound(*drawn)


#: Epsilon, and draws; of what takes long, the last.
SIZES = [
    (1.0, 20_000, 2_000),
    pytest.param(0.5, 1_000_000, 20_000, marks=pytest.mark.slow),
    pytest.param(2.0, 1_000_000, 20_000, marks=pytest.mark.slow),
]


@quick_rows(1)
@pytest.mark.parametrize(("epsilon", "many", "few"), SIZES)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_event_exceeds_epsilon(mechanism, name, epsilon, many, few):
    draws = few if name == "many" or mechanism == "first_of_top" else many
    assert audit(MECHANISMS[mechanism], PAIRS[name], draws, epsilon) <= epsilon


@quick_rows(1)
@pytest.mark.parametrize("mechanism", [exponential, permute_and_flip])
def test_monotone_scores(mechanism):
    assert audit(mechanism, MONOTONE, 50_000, 1.0, monotone=True) <= 1.0
    # Control: what is claimed to be monotone and is not.
    pair = PAIRS["one up, the others down"]
    assert audit(mechanism, pair, 50_000, 1.0, monotone=True) > 1.0


@quick_rows(1)
@pytest.mark.parametrize("name", ["one up, the others down", "a far one comes nearer"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_half_the_noise_is_caught(mechanism, name):
    """The planted fault: a mechanism that claims 1 and draws as for 2.

    It is missed with a probability of 2e-10, in the first of two among three candidates.
    """
    draws = 20_000 if mechanism == "first_of_top" else 50_000

    def half(scores, draws, epsilon):
        return MECHANISMS[mechanism](scores, draws, 2 * epsilon)

    assert audit(half, PAIRS[name], draws, 1.0) > 1.0


def test_the_bound_is_near_the_loss_where_it_is_reached():
    """The measure itself: on binary randomized response, whose loss is known."""
    rng = np.random.default_rng(0)
    keep = 1 / (1 + math.exp(-1.0))
    a = (rng.random(400_000) < keep).astype(np.int64)
    b = (rng.random(400_000) < 1 - keep).astype(np.int64)
    assert 0.96 < lower_bound(a, b) <= 1.0
