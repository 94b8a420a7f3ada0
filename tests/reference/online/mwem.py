"""MWEM by definition, one element after the other; and the distribution of its transcripts."""

import itertools
import math

import numpy as np

from .median import rounded, total
from .sparse import laplace

#: Noise of a measurement is followed up to this size.
REACH = 60


def moved(hypothesis, query, value):
    """One step of multiplicative weights towards a measured mean."""
    mean = math.fsum(f * p for f, p in zip(query, hypothesis, strict=True))
    parts = [p * math.exp(f * (value - mean) / 2) for f, p in zip(query, hypothesis, strict=True)]
    return [p / math.fsum(parts) for p in parts]


def fitted(queries, measurements, replays, universe):
    """The distribution after all rounds: of pairs of a query and a measured mean."""
    hypothesis, values = [1 / universe] * universe, {}
    for query, value in measurements:
        values.setdefault(query, []).append(value)
        for _ in range(replays):
            for one, told in values.items():
                hypothesis = moved(hypothesis, queries[one], math.fsum(told) / len(told))
    return hypothesis


def distribution(counts, queries, bits, rounds, replays, choice, scale):
    """Probabilities of transcripts: which query is measured and what is told, round by round.
    `choice` is the factor of scores in units of ``2**-bits`` rows, `scale` that of the noise of a
    measurement in the same units."""
    rows, universe = sum(counts), len(counts)
    weights = [rounded(q, bits) for q in queries]
    exact = [total(w, counts) for w in weights]
    values = [[w / 2**bits for w in one] for one in weights]
    noise = laplace(scale, REACH).tolist()

    def follow(told):
        if len(told) == rounds:
            return {(): 1.0}
        pairs = [(q, a / 2**bits / rows) for q, a in told]
        hypothesis = fitted(values, pairs, replays, universe)
        guess = [np.rint(math.fsum(w * p for w, p in zip(one, hypothesis, strict=True)) * rows)
            for one in weights]  # fmt: skip
        rates = np.exp([choice * abs(e - g) for e, g in zip(exact, guess, strict=True)])
        found = {}
        for q, p in enumerate((rates / rates.sum()).tolist()):
            for k, r in zip(itertools.count(-REACH), noise, strict=False):
                if p * r > 1e-9:
                    step = (q, exact[q] + k)
                    later = follow((*told, step))
                    found.update({(step, *rest): p * r * s for rest, s in later.items()})
        return found

    return follow(())
