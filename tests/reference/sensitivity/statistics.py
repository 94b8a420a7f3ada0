"""Local sensitivities of statistics of a column by definition: all datasets over a small domain.

Also the formulas of a textbook that are wrong, for negative controls.
"""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from .quantile import added_or_removed, replaced


def mean(data, lo, hi):
    return sum(map(Fraction, data)) / len(data) if data else Fraction(lo + hi, 2)


def trimmed(proportion):
    def statistic(data, lo, hi):
        m = math.floor(proportion * len(data))
        kept = data[m : len(data) - m]
        return sum(map(Fraction, kept)) / len(kept)

    return statistic


def winsorized(proportion):
    def statistic(data, lo, hi):
        m = math.floor(proportion * len(data))
        kept = data[m : len(data) - m]
        return (sum(map(Fraction, kept)) + m * kept[0] + m * kept[-1]) / Fraction(len(data))

    return statistic


def variance(ddof):
    def statistic(data, lo, hi):
        n, c = len(data), mean(data, lo, hi)
        return sum((x - c) ** 2 for x in data) / Fraction(max(n - ddof, 1))

    return statistic


def rank(q, n):
    return max(1, math.ceil(q * n))


def iqr(data, lo, hi):
    if not data:
        return Fraction(hi - lo)
    first, last = (rank(Fraction(q, 4), len(data)) for q in (1, 3))
    return Fraction(data[last - 1] - data[first - 1])


class Every:
    """All datasets over `domain` of `sizes` rows; the ball is cut at the largest size."""

    def __init__(self, statistic, domain, sizes, neighbors="replace", finer=None):
        lo, hi = domain[0], domain[-1]
        near = replaced if neighbors == "replace" else added_or_removed
        value = lambda d: statistic(d, lo, hi)  # noqa: E731
        self.lo, self.hi, self.most = lo, hi, max(sizes)
        self.datasets = [d for n in sizes for d in combinations_with_replacement(domain, n)]
        # The neighbour may have any value; where that matters, a finer domain says how far.
        values = domain if finer is None else finer
        self.value = [value(d) for d in self.datasets]
        self.local = np.array(
            [
                float(max((abs(value(y) - f) for y in near(d, values)), default=0))
                for d, f in zip(self.datasets, self.value, strict=True)
            ]
        )
        index = {d: i for i, d in enumerate(self.datasets)}
        self.links = [
            np.array([index[y] for y in near(d, domain) if y in index], int) for d in self.datasets
        ]
        self.at_distance = [self.local]
        for _ in range(max(2 * max(sizes) + 2, 8)):
            last = self.at_distance[-1]
            self.at_distance.append(
                np.array([max([last[i], *last[link]]) for i, link in enumerate(self.links)])
            )

    def smooth(self, beta):
        weights = np.exp(-beta * np.arange(len(self.at_distance)))
        return np.max(np.array(self.at_distance) * weights[:, None], axis=0)


# ---- A textbook's formulas: what they say of a mean, with rows counted and public limits 0 and u.


def textbook_mean_at_distance(n, k, u):
    """u / (n - k + 1), which forgets removals and the lower limit."""
    return u / (n - k + 1)


def textbook_smooth_mean(n, beta, u, steps=200):
    """Only the first `steps` distances: right only where the first of all decides."""
    return max(
        math.exp(-beta * k) * textbook_mean_at_distance(n, k, u) for k in range(min(steps, n))
    )
