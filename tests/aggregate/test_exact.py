"""The distribution of the whole mechanism: all datasets of a few rows, partitions and neighbors.

What comes out of a call is a mixture over the labels that rows or ids can have. Here every label is
given out in turn, what the real code hands to its noise is recorded, and the mixture is written
down. So no coupling and no sensitivity is asked, only the two densities of each pair of neighbors.
"""

from __future__ import annotations

import itertools
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.tables import Key
from dpfast.aggregate import api
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, Partition
from dpfast.noise import samplers
from dpfast.noise.distributions import Laplace
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import exponential as intervals

from ..support.pairwise import quick_rows

K = 2
PEOPLE = 3
GENERATOR = InsecureGenerator(1)


class Numbered:
    """These labels for rows 0, 1, ..."""

    blocks = K

    def __init__(self, labels):
        self.labels = np.array(labels, np.uint32)

    def read(self, start, rows):
        return self.labels[start : start + rows]


class Owned(KeyedLabels):
    """These labels for ids 0, 1, ..."""

    def __init__(self, labels):
        super().__init__(K, Key(bytes(32)))
        self.labels = np.array(labels, np.uint32)

    def read(self, ids):
        return self.labels[ids]


def labels_of(partition, n):
    """Everything that the labels can be, each as likely as the others."""
    if partition == "contiguous":
        return [ContiguousLabels(K, n)]
    kind, size = (Numbered, n) if partition == "random" else (Owned, PEOPLE)
    return [kind(labels) for labels in itertools.product(range(K), repeat=size)]


def datasets(partition, relation):
    """(id, value) row by row, None for NaN."""
    if partition == "key":
        some = [(), (0.0,), (None,), (1.0,), (1.0, 0.25)]
        for owned in itertools.product(some, repeat=PEOPLE):
            yield tuple((i, value) for i, values in enumerate(owned) for value in values)
        return
    least = 0 if relation == "add-remove" and partition == "random" else K
    for n in range(least, 4):
        for values in itertools.product((0.0, 0.25, 1.0, None), repeat=n):
            yield tuple((0, value) for value in values)


def of(rows, person):
    return [value for i, value in rows if i == person]


def are_neighbors(a, b, partition, relation):
    """Whether `b` is a neighbor of `a`, by the definitions in the docstring of the function."""
    if partition != "key":
        if relation == "replace":
            return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1
        return any(b[:i] + b[i + 1 :] == a for i in range(len(b)))
    others = [p for p in range(PEOPLE) if of(a, p) != of(b, p)]
    if len(others) != 2:
        return len(others) == 1
    for gone, come in (others, others[::-1]):
        is_new = not of(a, come)
        keeps = of(b, come)[: len(of(a, come))] == of(a, come)
        if not of(b, gone) and (is_new or (relation == "replace" and keeps)):
            return True
    return False


def distribution_of(aggregator, z):
    """(place, scale) of Laplace noise, or what the exponential mechanism is given."""
    seen = []

    def draw(distribution, *, value, scale, granularity, generator):
        assert distribution == Laplace()
        seen.append((value, scale))
        return value

    def finish(self, summary, generator):
        seen.append((self.rate, *sorted(z[:, 0].tolist())))
        return self.lo

    with (
        patch.object(samplers, "draw", draw),
        patch.object(intervals.ExponentialQuantile, "finish", finish),
    ):
        aggregator.release(np.ascontiguousarray(z[:, 0]), GENERATOR)
    return seen[0]


def laplace(distributions):
    """Densities where a ratio of mixtures can be extreme: at the places, and far away."""
    places = sorted({place for place, _ in distributions})
    (scale,) = {scale for _, scale in distributions}
    y = np.array([places[0] - scale, *places, places[-1] + scale])
    return {
        distribution: np.exp(-np.abs(y - distribution[0]) / scale) for distribution in distributions
    }


def exponential(distributions):
    """Densities on all pieces between outputs, and on the cells of outputs themselves."""
    ends = np.array(sorted({0.0, 1.0, *(x for _, *z in distributions for x in z)}))
    y = np.concatenate([(ends[1:] + ends[:-1]) / 2, ends])
    found = {}
    for rate, *z in distributions:
        below = np.array([sum(x < v for x in z) for v in y])
        upto = np.array([sum(x <= v for x in z) for v in y])
        u = np.maximum(0, np.maximum(below - K / 2, K / 2 - upto))
        weights = np.exp(-rate * u)
        found[rate, *z] = weights / (weights[: len(ends) - 1] @ np.diff(ends))
    return found


DENSITIES = {"mean": laplace, "exponential-median": exponential}


def calls(rows, name, partition, relation, **kw):
    """The source and the mechanism that a call comes to."""
    if partition == "key":
        kw["ids"] = np.array([i for i, _ in rows], np.int64)
    made = dp.extend.prepare(
        dp.sample_and_aggregate,
        np.array([value for _, value in rows], np.float64),
        blocks=K,
        bounds=(0, 1),
        epsilon=1,
        aggregator=name,
        partition=partition,
        neighbors=relation,
        **kw,
    )
    return made.source, made.mechanism


def loss_of(name, partition, relation, compared=None, **kw):
    """The largest log-ratio of densities between neighbors, as a part of what is charged."""
    mixtures = {}
    for rows in datasets(partition, compared or relation):
        source, found = calls(rows, name, partition, relation, **kw)
        distribution = cache(
            lambda z, a=found.aggregator: distribution_of(a, np.frombuffer(z).reshape(K, 1))
        )
        distributions = []
        for labels in labels_of(partition, len(rows)):
            split = Partition(labels, found.drop)
            with patch.object(api.SampleAndAggregate, "split", lambda *_, s=split: s):
                distributions.append(distribution(found.outputs(source, GENERATOR).tobytes()))
        mixtures[rows] = distributions
    densities = DENSITIES[name](
        {distribution for distributions in mixtures.values() for distribution in distributions}
    )
    logs = {
        rows: np.log(sum(map(densities.get, distributions)) / len(distributions))
        for rows, distributions in mixtures.items()
    }
    return max(
        float(np.abs(logs[a] - logs[b]).max()) / float(found.loss.epsilon)
        for a, b in itertools.permutations(logs, 2)
        if are_neighbors(a, b, partition, compared or relation)
    )


CASES = [
    ("random", "replace"),
    ("random", "add-remove"),
    ("contiguous", "replace"),
    ("key", "replace"),
    ("key", "add-remove"),
]


@quick_rows(2)
@pytest.mark.parametrize("estimator, nan", [("mean", "drop"), ("min", "keep")])
@pytest.mark.parametrize("partition, relation", CASES)
@pytest.mark.parametrize("name", list(DENSITIES))
def test_no_neighbors_differ_by_more_than_the_loss(name, partition, relation, estimator, nan):
    found = loss_of(name, partition, relation, estimator=estimator, nan=nan, default=0)
    assert 0.1 < found <= 1 + 1e-9


def test_contiguous_blocks_are_caught_where_rows_come_and_go():
    def odd(block):
        return block.sum() % 2

    assert loss_of("mean", "contiguous", "replace", "add-remove", estimator=odd) > 1.2


def test_ids_that_are_charged_for_one_block_are_caught():
    same = patch.object(api.privacy, "group_within", lambda loss, size: loss)
    with same, patch.object(api.privacy, "group", lambda loss, size: loss):
        assert loss_of("mean", "key", "replace", estimator="min", default=0) > 1.2


@pytest.mark.parametrize("name", list(DENSITIES))
def test_too_little_noise_is_caught(name):
    real = distribution_of

    def thin(aggregator, z):
        first, *rest = real(aggregator, z)
        return (first, rest[0] / 4) if name == "mean" else (first * 4, *rest)

    with patch.dict(globals(), distribution_of=thin):
        assert loss_of(name, "contiguous", "replace", estimator="mean") > 1.2
