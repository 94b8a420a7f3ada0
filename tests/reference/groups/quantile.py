"""The exponential mechanism for a quantile of one group, cell by cell."""

from fractions import Fraction

import numpy as np

from ..statistics.exponential_quantiles import leaf

HALF = Fraction(1, 2)


def log_probabilities(rows, q, c, share, first, last, inside=0, base=None, ties=0):
    """The logarithm of the probability of each cell first .. last."""
    n = len(rows)
    target = Fraction(q) * (n - 1) + HALF
    if inside:
        ranks = min(Fraction(inside), Fraction(n + 1, 2)) - HALF
        target = n - ranks if q else ranks
    rows = [(x, 1) for x in rows]
    return leaf(rows, (first, last), target, c, share, base, None, Fraction(q), ties)


def probabilities(*given):
    return np.exp(log_probabilities(*given))
