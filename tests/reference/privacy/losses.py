"""The formulas of conversions and of optimal and advanced composition, with mpmath at 50 digits."""

from itertools import product
from math import comb

import mpmath

DIGITS = 50


def number(x):
    """A fraction or number at the working precision."""
    if hasattr(x, "numerator"):
        return mpmath.mpf(x.numerator) / x.denominator
    return mpmath.mpf(x)


def mean_loss(epsilon):
    e = number(epsilon)
    return e * mpmath.tanh(e / 2)


def epsilon_at(rho, delta, a):
    """Canonne, Kamath and Steinke (Proposition 12 of arXiv:2004.00010v4), at one order a."""
    rho, delta = number(rho), number(delta)
    return a * rho + mpmath.log(1 - 1 / a) - mpmath.log(a * delta) / (a - 1)


def delta_at(rho, epsilon, a):
    rho, epsilon = number(rho), number(epsilon)
    return mpmath.exp((a - 1) * (a * rho - epsilon)) / (a - 1) * (1 - 1 / a) ** a


def least(f, low="1e-12", high="1e12"):
    """The minimum over a = 1 + t, t between `low` and `high`, by ever finer grids in log t."""
    left, right = mpmath.log(mpmath.mpf(low)), mpmath.log(mpmath.mpf(high))
    for _ in range(28):
        step = (right - left) / 16
        at = [left + i * step for i in range(17)]
        values = [f(1 + mpmath.exp(t)) for t in at]
        best = min(range(17), key=values.__getitem__)
        left, right = at[max(0, best - 1)], at[min(16, best + 1)]
    return min(values)


def gaussian_delta(rho, epsilon):
    """The exact delta of the Gaussian mechanism with this rho (Balle and Wang 2018)."""
    shift, e = mpmath.sqrt(2 * number(rho)), number(epsilon)
    return mpmath.ncdf(shift / 2 - e / shift) - mpmath.exp(e) * mpmath.ncdf(-shift / 2 - e / shift)


def composed_delta(epsilon, times, wanted):
    """The hockey-stick divergence of `times` randomized responses, from binomial numbers."""
    e, w = number(epsilon), number(wanted)
    total = mpmath.mpf(0)
    for j in range(times + 1):
        gap = mpmath.exp(j * e) - mpmath.exp(w + (times - j) * e)
        total += comb(times, j) * max(gap, mpmath.mpf(0))
    return total / (1 + mpmath.exp(e)) ** times


def enumerated_delta(epsilon, delta, times, wanted):
    """The same from every sequence of answers, for the (epsilon, delta) pair of four answers. One
    answer (probability delta) gives the dataset away on each side; the others are randomized
    response (Kairouz, Oh and Viswanath 2015)."""
    e, d, w = number(epsilon), number(delta), number(wanted)
    p = mpmath.exp(e) / (1 + mpmath.exp(e))
    pair = [(d, 0), ((1 - d) * p, (1 - d) * (1 - p)), ((1 - d) * (1 - p), (1 - d) * p), (0, d)]
    total = mpmath.mpf(0)
    for answers in product(pair, repeat=times):
        one = mpmath.fprod(a for a, _ in answers)
        other = mpmath.fprod(b for _, b in answers)
        total += max(one - mpmath.exp(w) * other, mpmath.mpf(0))
    return total


def advanced(epsilons, delta):
    squares = sum(number(e) ** 2 for e in epsilons)
    return mpmath.sqrt(2 * mpmath.log(1 / number(delta)) * squares) + sum(map(mean_loss, epsilons))
