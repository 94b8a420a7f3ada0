"""Black-box lower bounds on the loss of streams, by whole transcripts, with planted faults.

For fixed neighbors, the transcript with the largest ratio on one half of the runs is judged on the
other half by Clopper-Pearson bounds. Passing proves nothing; the faults must be caught.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpfast as dp
from dpfast.online import mwem
from dpfast.online.noisy_comparison import NoisyComparison
from dpfast.online.plan import plan
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..reference.online import sparse as reference
from ..support import streams
from ..support.pairwise import quick_rows
from .kit import lower_bound


def runs(values, size, epsilon, c, threshold=0):
    generator = InsecureGenerator(31)
    return [
        tuple(
            dp.online.SparseVector(positives=c, threshold=threshold, epsilon=epsilon, rng=generator)
            .answer_many(values)
            .above.tolist()
        )
        for _ in range(size)
    ]


#: What a fault does to the scales, and neighbors that show it: their values, threshold, epsilon.
FAULTS = {
    "no threshold noise": ({"threshold": 1000}, [0] * 60, [1] * 60, 3, 3),
    "no noise of values": ({"query": 1000}, [0, 1], [1, 0], 1, 1),
    "an eighth of all noise": ({"threshold": 8, "query": 8}, [0], [1], 1, 1),
}


#: The first needs many runs; the enumeration of `test_online_sparse` catches it at once.
CASES = [pytest.param(f, marks=pytest.mark.slow if "threshold" in f else ()) for f in FAULTS]


@quick_rows(1)
@pytest.mark.parametrize("fault", CASES)
def test_planted_faults_are_caught(monkeypatch, fault):
    """In the shipped code, whose scales are divided by something."""
    divisors, one, other, threshold, epsilon = FAULTS[fault]
    size = 40_000 if len(one) > 2 else 4_000
    sound = lower_bound(*(runs(v, size // 4, epsilon, 1, threshold) for v in (one, other)))
    assert sound <= epsilon
    made = NoisyComparison.__init__

    def spoilt(self, scales, generator):
        less = {name: getattr(scales, name) / by for name, by in divisors.items()}
        made(self, replace(scales, **less), generator)

    monkeypatch.setattr(NoisyComparison, "__init__", spoilt)
    assert lower_bound(*(runs(v, size, epsilon, 1, threshold) for v in (one, other))) > epsilon


@quick_rows(1)
@pytest.mark.parametrize("name", list(reference.CAUGHT))
def test_published_variants_that_are_broken_are_caught(name):
    """By runs drawn from their exact distributions, as if they were black boxes."""
    g = np.random.default_rng(5)
    c = {"3, Roth 2011": 1, "4, Lee and Clifton 2014": 3}.get(name, 2)
    found = []
    for values in reference.CAUGHT[name]:
        distribution = reference.published(1.0, c)[name].distribution(values)
        told = list(distribution)
        p = np.array(list(distribution.values()))
        found.append([told[i] for i in g.choice(len(told), 200_000, p=p / p.sum())])
    assert lower_bound(*found) > 1


# --- linear queries -----------------------------------------------------------------------------

LINEAR = ["MedianMechanism", "PrivateMultiplicativeWeights"]


def transcripts(kind, counts, size, epsilon, queries, threshold, divide=(1, 1, 1)):
    """Of a query that is asked over and over, with one hard answer; scales divided by something."""
    made = plan(Pure(epsilon), 4, 1, queries, 0.5, 2)
    a, b, c = divide
    scales = replace(made.scales, threshold=made.scales.threshold / a, query=made.scales.query / b)
    made = replace(made, scales=scales, noise=replace(made.noise, scale=made.noise.scale / c))
    generator = InsecureGenerator(11)
    found = []
    for _ in range(size):
        stream = streams.shrunk(kind, counts, made, threshold, generator)
        told = []
        while stream.remaining and len(told) < queries:
            answer = stream.answer([1, 0])
            told.append((answer.hard, answer.hard and float(answer)))
        found.append(tuple(told))
    return found


def linear_bound(kind, size, epsilon, queries, threshold, divide=(1, 1, 1)):
    return lower_bound(
        *(transcripts(kind, h, size, epsilon, queries, threshold, divide) for h in [(4, 0), (3, 1)])
    )


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("kind", LINEAR)
def test_no_transcript_of_linear_queries_exceeds_epsilon(kind):
    assert linear_bound(kind, 1_500, 2, 4, 6) <= 2


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize(
    "divide", [(1, 1, 1000), (8, 8, 8)], ids=["exact answers", "an eighth of all noise"]
)
def test_planted_faults_of_linear_queries_are_caught(kind, divide):
    assert linear_bound(kind, 1_500, 1, 2, 6, divide) > 1


def fits(histogram, size, epsilon):
    generator = InsecureGenerator(13)
    found = []
    for _ in range(size):
        fit = dp.online.MWEM(
            histogram, np.eye(2), rounds=2, epsilon=epsilon, replays=1, rng=generator
        )
        found.append((fit.measured, round(float(fit.distribution[0]), 1)))
    return found


def mwem_bound(size, epsilon):
    return lower_bound(*(fits(h, size, epsilon) for h in [(4, 0), (3, 1)]))


@pytest.mark.full
def test_no_fit_exceeds_epsilon():
    assert mwem_bound(1_500, 2) <= 2


@pytest.mark.full
def test_a_fit_with_an_eighth_of_the_noise_is_caught(monkeypatch):
    shares = mwem._shares

    def spoilt(loss, rounds, unit):
        choice, noise, spent = shares(loss, rounds, unit)
        return 8 * choice, replace(noise, scale=noise.scale / 8), spent

    monkeypatch.setattr(mwem, "_shares", spoilt)
    assert mwem_bound(1_500, 1) > 1
