"""Local sensitivities of statistics of a column by definition: all datasets over a small domain.
Also the formulas of a textbook that are wrong, for negative controls."""

import math
from fractions import Fraction

from .quantile import Every as Every
from .quantile import rank


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


def iqr(data, lo, hi):
    if not data:
        return Fraction(hi - lo)
    first, last = (rank(Fraction(q, 4), len(data)) for q in (1, 3))
    return Fraction(data[last - 1] - data[first - 1])


# ---- A textbook's formulas: what they say of a mean, with rows counted and public limits 0 and u.


def textbook_mean_at_distance(n, k, u):
    """u / (n - k + 1), which forgets removals and the lower limit."""
    return u / (n - k + 1)


def textbook_smooth_mean(n, beta, u, steps=200):
    """Only the first `steps` distances: right only where the first of all decides."""
    return max(
        math.exp(-beta * k) * textbook_mean_at_distance(n, k, u) for k in range(min(steps, n))
    )
