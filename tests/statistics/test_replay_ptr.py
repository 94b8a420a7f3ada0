"""Record and replay for propose-test-release: all neighbors of small datasets, every policy.

Recorded are the distance, the value and the noise of a call. From them the distribution of its
answer follows, "no answer" included, and the exact delta by which two neighbors can be told apart
at epsilon: the hockey-stick divergence of the two, in both directions.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise import samplers
from dpfast.statistics.ptr.proposal import DistanceTest

from ..reference.statistics.ptr import hockey_stick, pass_probability
from ..support.pairwise import quick_rows

AR, REP = "add-remove", "replace"
EPSILON, DELTA = 4.0, 0.05
DOMAIN = (0.0, 1.0, 3.0, 7.0, math.nan)
KW = {"bounds": (0, 7), "epsilon": EPSILON, "delta": DELTA}

CASES = {
    "median": (lambda x, **kw: dp.ptr.quantile(x, 0.5, proposed=2.0, **KW, **kw), (REP, AR)),
    "quantile": (lambda x, **kw: dp.ptr.quantile(x, 0.2, proposed=2.0, **KW, **kw), (REP, AR)),
    "iqr": (lambda x, **kw: dp.ptr.iqr(x, proposed=2.0, **KW, **kw), (REP, AR)),
    "mean": (lambda x, **kw: dp.ptr.mean(x, proposed=1.0, **KW, **kw), (REP, AR)),
    "iqr without a scale": (lambda x, **kw: dp.ptr.iqr(x, ratio=2.5, **KW, **kw), (REP,)),
}
SIZES = {"mean": 11, "iqr": 6}
COMBINATIONS = [
    (name, relation, policy)
    for name, (_, relations) in CASES.items()
    for relation in relations
    for policy in ("lower", "upper", 2.0, 99.0, *(["drop"] if relation == AR else []))
]


class Outcome:
    """What a call has measured, and the noise that it would add."""

    def __init__(self, call, data):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DistanceTest, "passes", self._passes)
            patch.setattr(samplers, "draw", self._draw)
            self.value = self.scale = None  # where the answer is 0 without noise
            call(np.array(data))

    @property
    def seen(self):
        return self.distance, self.value, self.scale

    @property
    def _passes(self):
        def passes(test, distance, generator):
            self.test, self.distance = test, min(distance, test.farthest)
            return True

        return passes

    def _draw(self, distribution, *, value, scale, granularity, generator):
        assert type(distribution).__name__ == "Laplace"
        self.value, self.scale = value, scale
        return value


def beyond(a, b, shrink=1.0, lower=0):
    """The hockey-stick divergence of the answers of `a` from those of `b` at epsilon."""
    test = float(a.test.epsilon)
    threshold = a.test.threshold - lower
    if a.value is None or b.value is None:
        # An answer of 0 is a point; others are off it.
        p, q = (pass_probability(x.distance, test, threshold) for x in (a, b))
        none = max(0.0, (1 - p) - math.exp(EPSILON) * (1 - q))
        return none + (max(0.0, p - math.exp(EPSILON) * q) if a.value is b.value else p)
    assert a.scale == b.scale
    far = abs(a.value - b.value) / (a.scale * shrink)
    return hockey_stick(EPSILON, (a.distance, b.distance), far, test, 1.0, threshold)


@quick_rows(3)
@pytest.mark.parametrize(("name", "relation", "policy"), COMBINATIONS)
def test_answers_are_no_further_apart_than_epsilon_and_delta(name, relation, policy):
    call = CASES[name][0]
    found = {
        rows: Outcome(lambda x: call(x, neighbors=relation, nan=policy), rows)
        for n in range(SIZES.get(name, 5))
        for rows in itertools.combinations_with_replacement(DOMAIN, n)
        if name != "mean" or len(set(rows)) < 3
    }
    links = [(found[a], found[b]) for a in found for b in neighbors(a, relation) if b in found]
    assert len(links) > 200
    pairs = {(a.seen, b.seen): (a, b) for a, b in links}.values()

    def worst(**fault):
        return max(beyond(*pair, **fault) for a, b in pairs for pair in ((a, b), (b, a)))

    assert worst() <= DELTA * (1 + 1e-9)
    assert len({a.distance for a, _ in pairs}) > 1 or relation == REP
    if (name, relation) != ("mean", REP):  # where n is public nothing is to be tested
        assert worst(lower=1) > DELTA
    assert worst(shrink=0.25) > DELTA


def neighbors(rows, relation):
    for i in range(len(rows)):
        rest = rows[:i] + rows[i + 1 :]
        if relation == AR:
            yield rest
        else:
            yield from (tuple(sorted((*rest, v), key=lambda v: (v != v, v))) for v in DOMAIN)
