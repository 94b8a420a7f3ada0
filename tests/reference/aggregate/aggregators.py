"""Aggregators by definition: all inputs over a small domain, plain sums, plain searches."""

import math
from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from ..noise.smooth_calibration import hyperbolic
from ..sensitivity.quantile import distance
from ..sensitivity.quantile import replaced as neighbors


def multisets(domain, k):
    return list(combinations_with_replacement(domain, k))


def smooth(function, domain, k, beta):
    """max over y of LS(y) e^(-beta d(z, y)) for every input z, by that definition."""
    inputs = multisets(domain, k)
    local = {y: max(abs(function(y) - function(w)) for w in neighbors(y, domain)) for y in inputs}
    return {z: max(local[y] * math.exp(-beta * distance(z, y, "replace")) for y in inputs)
        for z in inputs}  # fmt: skip


def sorted_with_bounds(cells, span):
    """Ascending cells at places 1 .. k, with the ends of the bounds about them."""
    return np.array([0, *sorted(int(c) for c in cells), span], np.int64)


def trimmed_sum(z, trim):
    return sum(sorted(z)[trim : len(z) - trim])


def radius(z, t, span, metric=lambda c, x: abs(c - x)):
    """The least radius of a ball with `t` points, over centres at all half cells."""
    if t > len(z):
        return span / 2
    centres = np.arange(2 * span + 1) / 2
    return min(sorted(metric(c, x) for x in z)[t - 1] for c in centres)


def attention_bound(z, span, beta):
    """The bound of the theorem in `dpfast.aggregate.aggregators.attention`, on plain radii."""
    k = len(z)
    first = math.floor((k + 1) / 2) + 1
    return max(math.exp(-beta * t) * (radius(z, first + t, span) + radius(z, first + t + 1, span))
        for t in range(k + 2))  # fmt: skip


def pieces(*inputs):
    """Intervals of [0, 1] on which the quantile densities of all inputs are constant."""
    ends = sorted({0.0, 1.0, *(x for z in inputs for x in z)})
    return [(a, b) for a, b in pairwise(ends) if b > a]


def quantile_logs(z, q, rate, cuts):
    """log density on each piece: proportional to exp(-rate |i - q k|), i points below it."""
    ranks = np.array([sum(x <= a for x in z) for a, _ in cuts])
    logs = -rate * np.abs(ranks - q * len(z))
    total = math.fsum((b - a) * math.exp(w) for (a, b), w in zip(cuts, logs, strict=True))
    return logs - math.log(total)


def winsorized_loss(z, y, rate, scale, widening):
    """The largest |log ratio| over outcomes (a, b, average) of z and y. a and b are near the middle
    of pieces; the average, whose noise is Laplace of `scale` times the width over k, is taken where
    its own loss adds to that of a and b."""
    k, cuts = len(z), pieces(z, y)
    low, high = (
        quantile_logs(z, q, rate, cuts) - quantile_logs(y, q, rate, cuts) for q in (0.25, 0.75)
    )
    worst = 0.0
    for i, j in product(range(len(cuts)), repeat=2):
        (a0, a1), (b0, b1) = cuts[i], cuts[j]
        a, b = a0 + 0.499 * (a1 - a0), b0 + 0.501 * (b1 - b0)
        middle, reach = (a + b) / 2, widening * abs(b - a)
        left, right = max(0.0, middle - reach), min(1.0, middle + reach)
        moved = abs(np.clip(z, left, right).sum() - np.clip(y, left, right).sum()) / k
        worst = max(worst, abs(low[i] + high[j]) + moved * k / ((right - left) * scale))
    return worst


def cauchy_loss(first, second):
    """The largest |log ratio| of two Cauchy distributions (place, scale): a hyperbolic distance."""
    return hyperbolic(*first, *second)
