"""End-to-end audits of sample and aggregate on neighbors whose blocks differ from lo to hi.

The labels, the estimator and the aggregator all run, with the losses that the call was asked for.
What `dp.audit` shows is in the currency of the loss. Passing proves nothing; the planted faults
must be caught.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate import api
from dpfast.aggregate.aggregators import make
from dpfast.aggregate.aggregators.vector import make_vector
from dpfast.noise.additive import additive
from dpfast.privacy import ZCDP, Approx, Pure
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


def neighbors(name, partition="contiguous", relation="replace"):
    """Two calls: an aggregator's worst outputs where rows fall into blocks of their own."""
    blocks, common = len(PAIRS[name][0]), [float(v) for v in PAIRS[name][0][1:]]
    assert [0.0, *common] == PAIRS[name][0] and sorted([*common, 1.0]) == PAIRS[name][1]
    kw = {"blocks": blocks, "partition": partition, "neighbors": relation, "aggregator": name}
    both = []
    for rows in ([*common, 0.0] if relation == "replace" else common, [*common, 1.0]):
        ids = {"ids": np.arange(len(rows))} if partition == "key" else {}
        both.append((np.array(rows), kw | ids))
    return both


def audit(calls, size, loss="pure", estimator="max"):
    """The lower bound, in units of what the loss allows."""
    asked, measure, most = LOSSES[loss]
    given = {"bounds": (0, 1), "default": 0, "rng": InsecureGenerator(7), **asked}
    found = [
        np.array([dp.sample_and_aggregate(rows, estimator, **given, **kw) for _ in range(size)])
        for rows, kw in calls
    ]
    return lower_bound(*found, **measure) / most


WAYS = [(by, relation) for by in ("random", "key") for relation in ("replace", "add-remove")]


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
    assert 0.3 < audit(neighbors("mean"), 3_000, loss) <= 1


@pytest.mark.full
@pytest.mark.parametrize("fault", [False, True])
def test_an_id_that_becomes_another_is_paid_for(fault, monkeypatch):
    """A row goes from one person's block to another's, and both outputs go from lo to hi."""

    def alone(block):
        return float((block == 1).sum() == 1 or (block == 2).sum() == 3)

    kw = {"blocks": 16, "partition": "key", "neighbors": "replace", "aggregator": "mean"}
    calls = [(np.array(ids), {**kw, "ids": np.array(ids)}) for ids in ([1, 1, 2, 2], [1, 2, 2, 2])]
    if fault:  # it is charged for one block only
        monkeypatch.setattr(api.privacy, "group_within", lambda loss, size: loss)
    found = audit(calls, 1_200, estimator=alone)
    assert found > 1 if fault else 0.3 < found <= 1


def repeated(times):
    """The aggregator of several times as many blocks: each output counts that often."""

    class Repeated:
        def __init__(self, name, blocks, lo, hi, loss):
            self.made, self.loss = make(name, times * blocks, lo, hi, loss), loss

        def release(self, z, generator):
            return self.made.release(np.tile(z, times), generator)

    return Repeated


#: A robust aggregator hides a part of what it spends too much.
TOO_MANY = [("mean", loss, 2) for loss in LOSSES]
TOO_MANY += [(name, "pure", 5) for name in PAIRS if name != "mean"]


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize(("name", "loss", "times"), TOO_MANY)
def test_noise_for_too_many_blocks_is_caught(name, loss, times, monkeypatch):
    monkeypatch.setattr(api, "make", repeated(times))
    assert audit(neighbors(name), 2_000, loss) > 1


@pytest.mark.full
def test_fewer_blocks_than_the_noise_is_scaled_for_are_caught():
    """593 for 600 in small: ceil(21 / 20) = 2 rows a chunk make 11 chunks for 20."""

    def textbook(x, blocks=20, size=3_000):
        rows = -(-len(x) // blocks)
        z = [x[i : i + rows].max() for i in range(0, len(x), rows)]
        return np.mean(z) + dp.noise.laplace(1 / (2 * blocks), size, rng=InsecureGenerator(len(x)))

    x, y = np.zeros(21), np.append(np.zeros(20), 1.0)
    assert lower_bound(textbook(x), textbook(y)) > 2
    kw = {"blocks": 20, "partition": "contiguous", "aggregator": "mean", "neighbors": "replace"}
    assert audit([(x, kw), (y, kw)], 1_200) <= 1


# --- vectors, of which every coordinate moves at once ---------------------------------------------

BLOCKS, BOUNDS = 50, ((0.0, 1.0), (-10.0, 10.0), (5.0, 5.5), (0.0, 300.0))
#: A loss, and one number of an answer in units of the bounds: for a pure loss the likeliest event
#: with all of it is every coordinate on the far side of its average.
JOINT = {
    "pure": (Pure(2), {}, lambda a: a.max(axis=1) <= 0.5 - 0.5 / BLOCKS),
    "approx": (Approx(Fraction(1, 10), Fraction(1, 5)), {"delta": 0.2}, lambda a: a.sum(axis=1)),
    "zcdp": (ZCDP(Fraction(1, 8)), {"by": "rho"}, lambda a: a.sum(axis=1)),
}


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize("kind", list(JOINT))
@pytest.mark.parametrize("fault", [False, True])
def test_the_joint_mean_and_noise_for_one_coordinate(kind, fault):
    (loss, measure, number), (lo, hi) = JOINT[kind], np.array(BOUNDS).T
    made, found = make_vector("mean", BLOCKS, BOUNDS, loss), []
    if fault:
        object.__setattr__(made, "noise", additive(loss))
    generator = InsecureGenerator(11)
    for end in (lo, hi):
        z = np.tile((lo + hi) / 2, (BLOCKS, 1))
        z[0] = end
        answers = np.array([made.release(z, generator) for _ in range(6_000)])
        found.append(number((answers - lo) / (hi - lo)).astype(float))
    most = float(loss.rho if kind == "zcdp" else loss.epsilon)
    assert (lower_bound(*found, **measure) > most) == fault


@pytest.mark.full
@pytest.mark.parametrize("fault", [False, True])
def test_vector_attention(fault):
    """Where four of five outputs are together, one leaves, and the centre moves over.

    The planted fault claims 1 and spends 6.
    """
    centres, generator = np.array([[1.0, 1.0], [0.0, 0.0]]), InsecureGenerator(3)
    made = make_vector("attention", 5, ((0.0, 1.0),) * 2, Pure(6 if fault else 1), centres)
    found = []
    for apart in (1, 2):
        z = np.repeat([[0.0, 0.0], [1.0, 1.0]], [5 - apart, apart], axis=0)
        answers = np.array([made.release(z, generator) for _ in range(6_000 if fault else 3_000)])
        found.append(answers.sum(axis=1))
    assert (lower_bound(*found) > 1) == fault
