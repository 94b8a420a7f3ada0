"""Plain slow twins of selection: distributions by definition, samplers in their textbook form. `c`
is the number that scores are multiplied by: epsilon / (2 sensitivity), or epsilon / sensitivity for
monotone scores. Probabilities are mpmath numbers of 300 bits unless it says float64."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np

mp = mpmath.MPContext()
mp.prec = 300


def _rational(x):
    return Fraction(x.item() if hasattr(x, "item") else x)


def _mpf(x):
    return mp.mpf(x.numerator) / x.denominator


def heads(scores, c, base=None):
    """exp of every log-weight minus the largest; 0 for a score (or base) of minus infinity."""
    logs = []
    for i, score in enumerate(scores):
        extra = 0 if base is None else base[i]
        open_ = score != -math.inf and extra != -math.inf
        logs.append(_rational(c) * _rational(score) + _rational(extra) if open_ else None)
    best = max(x for x in logs if x is not None)
    return [mp.zero if x is None else mp.exp(_mpf(x - best)) for x in logs]


def exponential(scores, c, base=None):
    """The exponential mechanism (McSherry and Talwar, FOCS 2007)."""
    weights = heads(scores, c, base)
    total = mp.fsum(weights)
    return [w / total for w in weights]


def permute_and_flip_by_orders(scores, c):
    """Permute-and-flip (McKenna and Sheldon, NeurIPS 2020), literally: every order, every coin."""
    coin = heads(scores, c)
    distribution = [mp.zero] * len(coin)
    orders = list(itertools.permutations(range(len(coin))))
    for order in orders:
        tails = mp.one
        for i in order:
            distribution[i] += tails * coin[i]
            tails *= 1 - coin[i]
    return [p / len(orders) for p in distribution]


def permute_and_flip(scores, c):
    """The same in float64 for any number of candidates. With a uniform arrival time t for each
    candidate, i is chosen when its coin shows heads and no earlier one did: p_i times the integral
    over t of the product of 1 - t p_j over the others. The integrand is a polynomial, for which
    Gauss-Legendre quadrature is exact, and all terms are positive."""
    coin = np.array([float(p) for p in heads(scores, c)])
    level, where, many = np.unique(coin, return_inverse=True, return_counts=True)
    node, weight = np.polynomial.legendre.leggauss(len(coin) // 2 + 1)
    t, weight = (node + 1) / 2, weight / 2
    inside = np.log1p(-np.outer(t, level))
    rest = np.exp((inside @ many)[:, None] - inside)
    return (level * (weight @ rest))[where]


def peeling(scores, c, k):
    """k exponential mechanisms in turn, each without the candidates already found."""
    weights = heads(scores, c)
    distribution = {}
    for order in itertools.permutations(range(len(weights)), k):
        left, p = mp.fsum(weights), mp.one
        for i in order:
            p *= weights[i] / left
            left -= weights[i]
        if p:
            distribution[order] = p
    return distribution


def renyi(p, q, order):
    """Renyi divergence of p from q; of order 1 it is that of Kullback and Leibler."""
    both = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    if any(a and not b for a, b in both):
        return mp.inf
    both = [(mp.mpf(a), mp.mpf(b)) for a, b in both if a]
    if order == 1:
        return mp.fsum(a * mp.log(a / b) for a, b in both)
    return mp.log(mp.fsum(a**order * b ** (1 - order) for a, b in both)) / (order - 1)


# Samplers in float64 with NumPy's generator: short tails, ties by index, good enough for twins.


def gumbel_top(scores, c, k, size, rng):
    """One-shot top-k (Durfee and Rogers, NeurIPS 2019): noise once, the k largest in order."""
    noisy = np.multiply(scores, c) + rng.gumbel(size=(size, len(scores)))
    if k == len(scores):
        return np.argsort(-noisy, axis=1)
    top = np.argpartition(-noisy, k, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(noisy, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1)
