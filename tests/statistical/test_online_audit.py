"""Black-box lower bounds on the loss of streams, by whole transcripts, with planted faults.

For fixed neighbors, the transcript with the largest ratio on one half of the runs is judged on the
other half by Clopper-Pearson bounds. Passing proves nothing; the faults must be caught. Published
variants and MWEM are enumerated in `tests/online`, with what is broken in them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import dpfast as dp
from dpfast.online.noisy_comparison import NoisyComparison
from dpfast.online.plan import plan
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support import streams
from ..support.pairwise import quick_rows
from .kit import lower_bound

#: What a fault does to the scales, and neighbors that show it: their values, threshold, epsilon.
#: The first needs many runs; the enumeration of `test_sparse` catches it at once.
FAULTS = {
    "no threshold noise": ({"threshold": 1000}, [0] * 60, [1] * 60, 3, 3),
    "no noise of values": ({"query": 1000}, [0, 1], [1, 0], 1, 1),
    "an eighth of all noise": ({"threshold": 8, "query": 8}, [0], [1], 1, 1),
}
CASES = [
    pytest.param(f, marks=pytest.mark.slow if "threshold" in f else pytest.mark.full)
    for f in FAULTS
]


@pytest.mark.parametrize("fault", CASES)
def test_planted_faults_are_caught(monkeypatch, fault):
    """In the shipped code, whose scales are divided by something."""
    divisors, *pair, threshold, epsilon = FAULTS[fault]
    kw = {"positives": 1, "threshold": threshold, "epsilon": epsilon, "rng": InsecureGenerator(31)}
    size = 40_000 if len(pair[0]) > 2 else 2_000

    def bound(size):
        stream = dp.online.SparseVector
        return lower_bound(
            *(
                [tuple(stream(**kw).answer_many(values).above.tolist()) for _ in range(size)]
                for values in pair
            )
        )

    assert bound(size // 4) <= epsilon
    made = NoisyComparison.__init__

    def spoilt(self, scales, generator):
        less = {name: getattr(scales, name) / by for name, by in divisors.items()}
        made(self, replace(scales, **less), generator)

    monkeypatch.setattr(NoisyComparison, "__init__", spoilt)
    assert bound(size) > epsilon


def transcripts(kind, counts, epsilon, queries, divide):
    """Of a query that is asked over and over, with one hard answer; scales divided by something."""
    made, (a, b, c) = plan(Pure(epsilon), 4, 1, queries, 0.5, 2), divide
    scales = replace(made.scales, threshold=made.scales.threshold / a, query=made.scales.query / b)
    made = replace(made, scales=scales, noise=replace(made.noise, scale=made.noise.scale / c))
    generator = InsecureGenerator(11)
    found = []
    for _ in range(1_500):
        stream, told = streams.shrunk(kind, counts, made, 6, generator), []
        while stream.remaining and len(told) < queries:
            answer = stream.answer([1, 0])
            told.append((answer.hard, answer.hard and float(answer)))
        found.append(tuple(told))
    return found


@pytest.mark.full
@quick_rows(3)
@pytest.mark.parametrize(
    ("divide", "epsilon", "queries"), [((1, 1, 1), 2, 4), ((1, 1, 1000), 1, 2), ((8, 8, 8), 1, 2)]
)
@pytest.mark.parametrize("kind", ["MedianMechanism", "PrivateMultiplicativeWeights"])
def test_linear_queries_cost_epsilon_and_planted_faults_are_caught(kind, divide, epsilon, queries):
    """Exact answers, and an eighth of all noise."""
    found = [transcripts(kind, h, epsilon, queries, divide) for h in [(4, 0), (3, 1)]]
    assert (lower_bound(*found) <= epsilon) == (divide == (1, 1, 1))
