"""Rivals that show private keys by Gaussian noise on weights and a threshold, from their papers.

Each takes pairs of people and keys, all different, and shows keys: (epsilon, delta)-DP for a person
who comes or goes and has `most` keys at most. Noise is of float64: for comparisons alone.
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from dpfast.noise.additive import analytic

normal = NormalDist()
#: MAD2R's published parameters: excess, largest adaptive degree, split, bounds and biases.
BETA, DEGREE, SPLIT, LOWER, BIAS = 2, 50, 0.1, 1, 0.5


class Pairs:
    """Who has which key."""

    def __init__(self, people, keys, number, every):
        self.people, self.keys, self.number, self.every = people, keys, number, every

    def of(self, chosen):
        return Pairs(self.people[chosen], self.keys[chosen], self.number, self.every)

    def bounded(self, most, generator):
        """At most so many keys of a person, at random."""
        order = np.lexsort((generator.random(len(self.people)), self.people))
        people = self.people[order]
        first = np.flatnonzero(np.r_[True, people[1:] != people[:-1]]) if len(people) else order
        place = np.arange(len(people)) - np.repeat(first, np.diff(np.r_[first, len(people)]))
        return self.of(order[place < most])

    @property
    def degrees(self):
        """How many keys the person of each pair has."""
        return np.bincount(self.people, minlength=self.number)[self.people]

    def added(self, weights):
        return np.bincount(self.keys, weights, self.every)


@lru_cache
def noise(epsilon, delta, most):
    """Standard deviation and threshold for weights 1 / sqrt(k), half of delta each."""
    sigma = analytic(epsilon, delta / 2)
    shown = [-math.expm1(math.log1p(-delta / 2) / k) for k in range(1, most + 1)]
    return sigma, max(k**-0.5 - sigma * normal.inv_cdf(d) for k, d in enumerate(shown, 1))


def basic_weights(pairs, excess=None):
    """1 / sqrt(k) for each of k keys (Gopi et al., ICML 2020)."""
    return pairs.added(pairs.degrees**-0.5)


def adaptive_weights(pairs, excess):
    """MaxAdaptiveDegree: what a key has above `excess` goes to the other keys of its people.

    Chen, Cohen-Addad, Epasto and Zadimoghaddam, ICML 2025 (arXiv:2502.08878), Algorithm 2.
    """
    degrees = pairs.degrees
    few = pairs.of(degrees <= DEGREE)
    own = 1.0 / few.degrees
    weights = few.added(own)
    share = np.maximum(0, weights - excess) / np.maximum(weights, 1e-12)
    spare = np.bincount(few.people, own * share[few.keys], pairs.number)
    rest = degrees**-0.5 - np.where(degrees <= DEGREE, 1.0 / degrees, 0)
    again = few.added(spare[few.people] / DEGREE)
    return np.minimum(weights, excess) + again + pairs.added(rest)


def shown(weights, sigma, threshold, generator):
    """Which keys that somebody has are shown, and the noisy weights."""
    noisy = weights + sigma * generator.standard_normal(len(weights))
    return (noisy >= threshold) & (weights > 0), noisy


def basic(pairs, epsilon, delta, most, generator, weigh=basic_weights):
    sigma, threshold = noise(epsilon, delta, most)
    weights = weigh(pairs.bounded(most, generator), threshold + BETA * sigma)
    return shown(weights, sigma, threshold, generator)[0]


def mad(pairs, epsilon, delta, most, generator):
    return basic(pairs, epsilon, delta, most, generator, adaptive_weights)


def mad2r(pairs, epsilon, delta, most, generator):
    """MAD2R: two rounds of MAD, the second without keys that are shown and with biased weights.

    Where a key surely has enough weight people give it half of a part, and their other keys more.
    Each key has the larger of its biased and its adaptive weight here, which is more than it has in
    the paper; keys without hope, which it takes away, are those far below any threshold.
    """
    sigma, threshold = noise(epsilon * SPLIT, delta * SPLIT, most)
    once = adaptive_weights(pairs.bounded(most, generator), threshold + BETA * sigma)
    first, noisy = shown(once, sigma, threshold, generator)
    left = pairs.of(~first[pairs.keys]).bounded(most, generator)
    low = np.maximum(0, noisy - LOWER * sigma)
    sigma, threshold = noise(epsilon * (1 - SPLIT), delta * (1 - SPLIT), most)
    excess = threshold + BETA * sigma
    bias = np.clip(excess / np.maximum(low, 1e-12), BIAS, 1)[left.keys]
    norm = np.sqrt(np.bincount(left.people, bias**2, left.number))
    weights = np.maximum(left.added(bias / norm[left.people]), adaptive_weights(left, excess))
    return first | shown(weights, sigma, threshold, generator)[0]


def sips(pairs, epsilon, delta, most, generator, rounds=3, ratio=3):
    """DP-SIPS: rounds of basic weights with growing parts of the loss (Swanberg et al., 2023)."""
    found, parts = np.zeros(pairs.every, bool), [ratio**i for i in range(rounds)]
    for part in parts:
        share = part / sum(parts)
        left = pairs.of(~found[pairs.keys])
        found |= basic(left, epsilon * share, delta * share, most, generator)
    return found


RIVALS = {"basic weights": basic, "MAD": mad, "MAD2R": mad2r, "DP-SIPS": sips}
