"""Propose-test-release in the open: thresholds, exact losses, distances by enumeration."""

import math
from fractions import Fraction

import mpmath
import numpy as np


def passes_at_zero(epsilon, threshold):
    """P(K >= threshold) of discrete Laplace noise, in 60 digits."""
    with mpmath.workdps(60):
        e = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        return mpmath.exp(-e * threshold) / (1 + mpmath.exp(-e))


def textbook_threshold(epsilon, delta):
    """ln(2 / delta) / (2 epsilon), beside Laplace noise of scale 1 / epsilon."""
    return math.log(2 / delta) / (2 * epsilon)


def pass_probability(distance, epsilon, threshold):
    """P(distance + K >= threshold)."""
    q, m = math.exp(-epsilon), threshold - distance
    return q**m / (1 + q) if m >= 0 else 1 - q ** (1 - m) / (1 + q)


def hockey_stick(epsilon, distances, shift, test, rest, threshold):
    """The least delta for two datasets at these distances, statistics `shift` proposals apart.
    ``sup_E P(E) - e^epsilon Q(E)``, exactly: the point "no answer", and Laplace densities of which
    one is more than e^epsilon times the other on a half line or on an interval."""
    p, q = (pass_probability(d, test, threshold) for d in distances)
    total = max(0.0, (1 - p) - math.exp(epsilon) * (1 - q))
    # Densities p r/2 exp(-r |z|) and q r/2 exp(-r |z - shift|); the log-ratio falls from
    # log(p/q) + r shift at z <= 0 to log(p/q) - r shift at z >= shift.
    if p == 0:
        return total
    high = math.log(p / q) + rest * shift
    if high <= epsilon:
        return total
    if math.log(p / q) - rest * shift >= epsilon:
        return total + p - math.exp(epsilon) * q
    edge = (high - epsilon) / (2 * rest)  # in (0, shift)
    mass = p * laplace_cdf(edge, rest)
    return total + mass - math.exp(epsilon) * q * laplace_cdf(edge - shift, rest)


def laplace_cdf(z, rate):
    return 0.5 * math.exp(rate * z) if z < 0 else 1 - 0.5 * math.exp(-rate * z)


def distance(at_distance, place, proposed):
    """The least k with A(k) > proposed, of one dataset of an enumeration; infinite if none."""
    return next((k for k, a in enumerate(at_distance) if a[place] > proposed), math.inf)


def chance_of_leaving(values, links, ratio):
    """For each dataset, the rows to change, less one, until its value has left every interval ``[v,
    ratio v)`` that holds all values so near; by growing balls."""
    low = high = np.array(values, float)
    found = np.full(len(low), -1)
    start = low
    for k in range(1, 64):
        low, high = (np.array([extreme([a[i], *a[link]]) for i, link in enumerate(links)])
            for extreme, a in ((min, low), (max, high)))  # fmt: skip
        left = np.where(start == 0, high > 0, high >= ratio * low)
        found[(found < 0) & left] = k - 1
    return np.where(found < 0, 10**6, found)


def gap_distance(data, m, lo, hi, proposed):
    """A fault: how many ranks the next wide gap is away, though rows can be taken out of gaps."""
    x = [lo, *data, hi]
    return next((k for k in range(len(x)) for j in (m - k, m + k)
        if (j >= 1 and x[min(j, len(x) - 1)] - x[min(j, len(x) - 1) - 1] > proposed)
        or (0 <= j < len(x) - 1 and x[j + 1] - x[j] > proposed)), math.inf)  # fmt: skip
