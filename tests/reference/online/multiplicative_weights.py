"""Private multiplicative weights by definition, one element after the other."""

import math

from .median import distribution_of, rounded, total


class Weights:
    """One query after the other. `above(distance)` and `noisy(value)` stand for the draws."""

    def __init__(self, counts, gap, bits):
        self.counts, self.gap, self.bits = list(map(int, counts)), gap, bits
        self.rows = sum(self.counts)
        self.hypothesis = [1 / len(self.counts)] * len(self.counts)

    def divergence(self):
        """Of the data from the hypothesis."""
        return sum(c / self.rows * math.log(c / self.rows / p)
            for c, p in zip(self.counts, self.hypothesis, strict=True) if c)  # fmt: skip

    def guess(self, weights):
        mean = math.fsum(w * p for w, p in zip(weights, self.hypothesis, strict=True))
        return mean * self.rows

    def move(self, weights, more):
        step = 4 * self.gap if more else -4 * self.gap
        moved = [p * math.exp(step * w / 2**self.bits)
            for w, p in zip(weights, self.hypothesis, strict=True)]  # fmt: skip
        self.hypothesis = [p / math.fsum(moved) for p in moved]

    def answer(self, query, above, noisy):
        weights = rounded(query, self.bits)
        guess = self.guess(weights)
        exact = total(weights, self.counts)
        hard = above(abs(exact - math.floor(guess)))
        told = noisy(exact) if hard else guess
        if hard:
            self.move(weights, told > guess)
        return hard, told


def distribution(counts, gap, bits, queries, threshold, scales, answer_scale):
    """Of the transcripts of private multiplicative weights; see `distribution_of`."""

    class Known:
        over = False

        def __init__(self, twin):
            self.twin = twin

        def guess(self, weights):
            return math.floor(self.twin.guess(weights)), None

        def after(self, weights, basis, upwards):
            twin = Weights(counts, gap, bits)
            twin.hypothesis = self.twin.hypothesis
            twin.move(weights, upwards)
            return Known(twin)

    start = Known(Weights(counts, gap, bits))
    return distribution_of(start, counts, bits, queries, threshold, scales, answer_scale)
