"""The median mechanism by definition, with fractions and lists; and its transcripts. A sum of
weights over the rows is in units of ``2**-bits`` rows, as in the shipped code, whose draws can be
handed in."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from .sparse import REACH, laplace


def multisets(universe, size):
    """All multisets as lists of counts."""
    found = []
    for chosen in itertools.combinations_with_replacement(range(universe), size):
        counted = Counter(chosen)
        found.append([counted[u] for u in range(universe)])
    return found


def rounded(query, bits):
    return [round(Fraction(f) * 2**bits) for f in query]  # ties to even, as rint


def total(weights, counts):
    return sum(int(w) * int(c) for w, c in zip(weights, counts, strict=True))


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


class Median:
    """One query after the other. `above(distance)` and `noisy(value)` stand for the draws."""

    def __init__(self, counts, candidates, bits):
        self.counts, self.alive, self.bits = list(map(int, counts)), candidates, bits
        self.rows, self.size = sum(self.counts), sum(candidates[0])

    def guess(self, weights):
        median = lower_median([total(weights, s) for s in self.alive])
        return median, median * self.rows // self.size

    def kill(self, weights, median, upwards):
        sums = [(total(weights, s), s) for s in self.alive]
        self.alive = [s for v, s in sums if (v > median if upwards else v < median)]

    def answer(self, query, above, noisy):
        weights = rounded(query, self.bits)
        median, guess = self.guess(weights)
        exact = total(weights, self.counts)
        hard = above(abs(exact - guess))
        told = noisy(exact) if hard else guess
        if hard:
            self.kill(weights, median, told > guess)
        return hard, told


def distribution(counts, candidates, bits, queries, threshold, scales, answer_scale):
    """Of the transcripts of the median mechanism; see `distribution_of`."""

    class Alive:
        def __init__(self, alive):
            self.alive, self.over = alive, not alive

        def guess(self, weights):
            return Median(counts, self.alive, bits).guess(weights)[::-1]

        def after(self, weights, basis, upwards):
            state = Median(counts, self.alive, bits)
            state.kill(weights, basis, upwards)
            return Alive(state.alive)

    return distribution_of(
        Alive(candidates), counts, bits, queries, threshold, scales, answer_scale
    )


def distribution_of(start, counts, bits, queries, threshold, scales, answer_scale):
    """Probabilities of transcripts of non-adaptive queries: None or the number told for each.
    `start` is what is public: it has a `guess(weights)` with what that was made from, and the state
    `after` a hard answer on one side of it; `over` says that there is none. `scales` are those of
    rho and nu, and the number of hard answers."""
    rho_scale, nu_scale, hard = scales
    nu, noise = laplace(nu_scale), laplace(answer_scale)
    k = np.arange(-REACH, REACH + 1)
    tail = np.append(np.cumsum(nu[::-1])[::-1], 0.0)

    def follow(state, rho, asked, left):
        if asked == len(queries) or not left or state.over:
            return {(): float(rho.sum())}
        weights = rounded(queries[asked], bits)
        guess, basis = state.guess(weights)
        exact = total(weights, counts)
        reached = tail[np.clip(threshold + k - abs(exact - guess) + REACH, 0, len(k))]
        easy = follow(state, rho * (1 - reached), asked + 1, left)
        found = {(None, *told): p for told, p in easy.items()}
        for upwards in (False, True):
            after = state.after(weights, basis, upwards)
            later = follow(after, rho * reached, asked + 1, left - 1)
            for a, p in zip((k + exact).tolist(), noise.tolist(), strict=True):
                if p > 1e-12 and (a > guess) == upwards:
                    found.update({(a, *told): p * q for told, q in later.items()})
        return found

    return follow(start, laplace(rho_scale), 0, hard)
