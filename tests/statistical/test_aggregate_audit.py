"""End-to-end audits of sample and aggregate on neighbors whose blocks differ from lo to hi.

The labels, the estimator and the aggregator all run, with the losses that the call was asked for.
What `dp.audit` shows is in the currency of the loss. Passing proves nothing; the planted faults
must be caught.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate import api
from dpfast.aggregate.aggregators import make
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound

#: Block outputs of neighbors that an aggregator can hardly hide.
PAIRS = {
    "mean": ([0, 0, 0], [0, 0, 1]),
    "smooth-median": ([0, 0, 1], [0, 1, 1]),
    "exponential-median": ([0, 0.2], [0.2, 1]),
    "trimmed-mean": ([0, 0, 0, 1], [0, 0, 1, 1]),
    "winsorized-mean": ([0, 0, 0], [0, 0, 1]),
    "attention": ([0, 0, 0, 0, 1], [0, 0, 0, 1, 1]),
}
#: The loss that is asked for, what its bound is measured in, and how large that may be.
LOSSES = {
    "pure": ({"epsilon": 2}, {}, 2.0),
    "approximate": ({"epsilon": 2, "delta": 0.1}, {"delta": 0.1}, 2.0),
    "rho": ({"rho": 1}, {"by": "rho"}, 1.0),
}


def neighbors(name, partition, relation):
    """Two calls: an aggregator's worst outputs where rows fall into blocks of their own."""
    blocks = len(PAIRS[name][0])
    common = [float(v) for v in PAIRS[name][0][1:]]
    assert [0.0, *common] == PAIRS[name][0] and sorted([*common, 1.0]) == PAIRS[name][1]
    first = [*common, 0.0] if relation == "replace" else common
    both = []
    for rows in (first, [*common, 1.0]):
        kw = {"blocks": blocks, "partition": partition, "neighbors": relation, "aggregator": name}
        if partition == "key":
            kw["ids"] = np.arange(len(rows))
        both.append((np.array(rows), kw))
    return both


def samples(calls, size, asked, estimator="max"):
    generator = InsecureGenerator(7)
    return [
        np.array(
            [
                dp.sample_and_aggregate(
                    rows, estimator, bounds=(0, 1), default=0, rng=generator, **kw, **asked
                )
                for _ in range(size)
            ]
        )
        for rows, kw in calls
    ]


def audit(calls, size, loss="pure", estimator="max"):
    """The lower bound, in units of what the loss allows."""
    asked, measure, most = LOSSES[loss]
    return lower_bound(*samples(calls, size, asked, estimator), **measure) / most


WAYS = [
    ("random", "replace"),
    ("random", "add-remove"),
    ("key", "replace"),
    ("key", "add-remove"),
    ("contiguous", "replace"),
]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(("partition", "relation"), WAYS)
def test_a_quick_audit_of_each_partition(partition, relation):
    assert audit(neighbors("mean", partition, relation), 1_200) <= 1


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("loss", list(LOSSES))
def test_a_quick_audit_of_each_loss(loss):
    """Tight enough to see a good part of what is spent."""
    assert 0.3 < audit(neighbors("mean", "contiguous", "replace"), 3_000, loss) <= 1


# --- an id that becomes another -------------------------------------------------------------------


def moved():
    """A row goes from one person's block to another's, and both outputs go from lo to hi."""

    def alone(block):
        anna, bea = (block == 1).sum(), (block == 2).sum()
        return float(anna == 1 or bea == 3)

    kw = {"blocks": 16, "partition": "key", "neighbors": "replace", "aggregator": "mean"}
    first = np.array([1, 1, 2, 2]), {**kw, "ids": np.array([1, 1, 2, 2])}
    second = np.array([1, 2, 2, 2]), {**kw, "ids": np.array([1, 2, 2, 2])}
    return alone, [first, second]


@pytest.mark.full
def test_an_id_that_becomes_another_is_paid_for():
    estimator, calls = moved()
    assert 0.3 < audit(calls, 1_200, estimator=estimator) <= 1


@pytest.mark.full
def test_an_id_that_is_charged_for_one_block_only_is_caught(monkeypatch):
    monkeypatch.setattr(api.privacy, "group_within", lambda loss, size: loss)
    estimator, calls = moved()
    assert audit(calls, 1_200, estimator=estimator) > 1


# --- planted faults -------------------------------------------------------------------------------


def repeated(times):
    """The aggregator of several times as many blocks: each output counts that often."""

    class Repeated:
        def __init__(self, name, blocks, lo, hi, loss):
            self.made = make(name, times * blocks, lo, hi, loss)
            self.loss = loss

        def release(self, z, generator):
            return self.made.release(np.tile(z, times), generator)

    return Repeated


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("loss", list(LOSSES))
def test_noise_for_twice_as_many_blocks_is_caught(loss, monkeypatch):
    monkeypatch.setattr(api, "make", repeated(2))
    assert audit(neighbors("mean", "contiguous", "replace"), 2_000, loss) > 1


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", [n for n in PAIRS if n != "mean"])
def test_each_aggregator_for_too_many_blocks_is_caught(name, monkeypatch):
    """A robust one hides a part of what it spends too much."""
    monkeypatch.setattr(api, "make", repeated(5))
    assert audit(neighbors(name, "contiguous", "replace"), 1_500) > 1


def textbook(x, blocks, size):
    """Chunks of ceil(n / blocks) rows, averaged, with noise for `blocks` of them."""
    rows = -(-len(x) // blocks)
    z = [x[i : i + rows].max() for i in range(0, len(x), rows)]
    return np.mean(z) + dp.noise.laplace(1 / (2 * blocks), size, rng=InsecureGenerator(len(x)))


@pytest.mark.full
def test_fewer_blocks_than_the_noise_is_scaled_for_are_caught():
    """593 for 600 in small: ceil(21 / 20) = 2 rows a chunk make 11 chunks for 20."""
    x, y = np.zeros(21), np.append(np.zeros(20), 1.0)
    assert lower_bound(textbook(x, 20, 3_000), textbook(y, 20, 3_000)) > 2
    kw = {"blocks": 20, "partition": "contiguous", "aggregator": "mean", "neighbors": "replace"}
    assert audit([(x, kw), (y, kw)], 1_200) <= 1
