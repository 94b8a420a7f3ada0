"""Streams of queries over a universe, for mechanisms that answer them: generators that are sent the
latest answer."""

import numpy as np

import dpfast as dp
from dpfast.noise.distributions.discrete import laplace_integers
from dpfast.online.noisy_comparison import NoisyComparison
from dpfast.rng import InsecureGenerator


def correlated(g, universe):
    """Nearly always the same."""
    while True:
        yield np.arange(universe) < g.integers(1, 3)


def random(g, universe):
    while True:
        yield g.integers(0, 2, universe)


def adversarial(g, universe):
    """Asks again, a little changed, whatever was hard."""
    latest = g.random(universe)
    while True:
        answer = yield latest > 0.5
        if answer is not None and answer.hard:
            latest = np.clip(latest + g.normal(0, 0.2, universe), 0, 1)
        else:
            latest = g.random(universe)


STREAMS = {"correlated": correlated, "random": random, "adversarial": adversarial}
NAMES = [*STREAMS, "worst"]


def worst(mechanism, histogram):
    """The query of zeros and ones about which a mechanism is the most wrong: for somebody who knows
    the data and all that is public."""
    shares = np.asarray(histogram) / np.sum(histogram)
    if isinstance(mechanism, dp.online.PrivateMultiplicativeWeights):
        return shares > mechanism.distribution
    candidates = mechanism._alive._counts
    every = (np.arange(1, 1 << len(shares))[:, None] >> np.arange(len(shares))) & 1
    median = np.median(every @ (candidates / mechanism.size), axis=1)
    return every[np.argmax(np.abs(median - every @ shares))]


def noise(scale, bits):
    """One number of discrete Laplace noise."""
    out = np.empty(1, np.int64)
    laplace_integers(out, scale, bits, None, bits.word)
    return int(out[0])


def beside(shipped, twin, g, seed):
    """Ask a stream of this seed, and its twin with the same draws, all that may be asked: an answer
    of the one, and of the other whether it is hard, and the number."""
    made, bits = shipped._plan, InsecureGenerator(seed).stream()
    assert (
        made.noise.distribution == "laplace" and made.noise.shift == 0 and not made.scales.renewed
    )
    rho, universe = noise(made.scales.threshold, bits), shipped._universe.size

    def above(distance):
        return distance + noise(made.scales.query, bits) >= shipped._threshold + rho

    while shipped.left:
        query = g.random(universe) if g.random() < 0.5 else g.integers(0, 2, universe)
        found = shipped.answer(query)
        yield found, *twin.answer(query, above, lambda x: x + noise(made.noise.scale, bits))


def run(name, mechanism, histogram, g):
    """Ask all that may be asked; how many were hard, and the largest error."""
    histogram = np.asarray(histogram)
    latest, hard, error = None, 0, 0.0
    if name != "worst":
        queries = STREAMS[name](g, len(histogram))
        next(queries)
    while mechanism.left:
        query = worst(mechanism, histogram) if name == "worst" else queries.send(latest)
        latest = mechanism.answer(query)
        hard += latest.hard
        error = max(error, abs(latest - query @ histogram / histogram.sum()))
    return hard, error


def shrunk(kind, counts, made, threshold, generator, gap=0.2):
    """A shipped stream about few rows over two elements, for which no accuracy could be kept."""
    given = {"size": 2} if kind == "MedianMechanism" else {}
    stream = getattr(dp.online, kind)(
        [10**6, 10**6], epsilon=1, queries=2, accuracy=0.5, rng=generator, **given
    )
    stream._plan, stream._rows, stream._threshold = made, sum(counts), threshold
    stream._counts = stream._held(np.array(counts))
    stream._comparison = NoisyComparison(made.scales, generator)
    stream.gap, stream.left = gap, 1 << 30
    return stream
