"""Exact calibration of Gaussian noise for (epsilon, delta), by root finding.

Let P = Z, Q = s + e^lam Z (see `pair`) with 0 <= s <= alpha, 0 <= lam <= beta, and let
    alpha e^beta + beta <= epsilon    and    alpha^2 <= 2 epsilon.

* Q over P: {q > e^epsilon p} is the outside of an interval [r1, r2], and s is inside because log
  q/p at s is s^2/2 - lam <= epsilon. By the envelope theorem, the derivative of the divergence in
  lam is the derivative of the mass of Q on this set, if the set is fixed. Outside an interval
  around its center, Q gains mass as lam grows. So the divergence grows with lam, and is largest for
  lam = beta.
* P over Q: {p > e^epsilon q} is an interval [l, r]. Write t = e^lam. At s - t the log ratio log p/q
  is at most s t <= epsilon, so that point is outside. If the interval were to its right, so would
  be the vertex of the parabola log p/q. Its height would be at most lam + s t / 2 <= epsilon, so
  the interval would be empty. So r <= s - t. The derivative of the divergence in lam is e^epsilon
  [(s - l) q(l) - (s - r) q(r)], and x exp(-x^2 / (2 t^2)) falls for x >= t. So the divergence does
  not grow with lam. At lam = 0 it equals the divergence of Q over P. So it never exceeds the
  divergence of Q over P at lam = beta.
* Both grow with s (level sets are centered intervals).

The divergence at (alpha, beta) is evaluated with Mills' ratio M: at both ends q = e^epsilon p, so
    n(x2) [M(x2) - M(r2) e^-beta] + n(x1) [M(x1) - M(-r1) e^-beta],
    x2 = (r2 - s) e^-beta,  x1 = (s - r1) e^-beta,  n the standard normal density,
each bracket is one short integral plus a positive term. Relative error below 1e-11 for
delta >= 1e-300 (tested against mpmath); the root is taken for delta (1 - 1e-9).
"""

from __future__ import annotations

import math

from ..distributions import Gaussian
from ..numeric import LOG_ROOT_2PI, bisect, mills, mills_drop
from .calibration import Draft
from .pair import best


def log_delta_of_pair(epsilon: float, alpha: float, beta: float) -> float:
    """Return the log of the worst pair's divergence, under the conditions above, for beta > 0."""
    shrink = math.exp(-beta)
    spread = -math.expm1(-2.0 * beta)
    slope = alpha * shrink * shrink
    constant = beta + epsilon + 0.5 * alpha * slope
    root = math.sqrt(slope * slope + 2.0 * spread * constant)
    r2 = 2.0 * constant / (slope + root)
    r1 = (slope + root) / spread  # the left end, negated
    drop = -math.expm1(-beta)
    x2, x1 = (r2 - alpha) * shrink, (r1 + alpha) * shrink
    right = mills_drop(x2, r2 * drop + alpha * shrink) + mills(r2) * drop
    left = mills_drop(x1, r1 * drop - alpha * shrink) + mills(r1) * drop
    both = right + math.exp(0.5 * (x2 - x1) * (x2 + x1)) * left
    return -0.5 * x2 * x2 - LOG_ROOT_2PI + math.log(both)


def _ceiling(epsilon: float, beta: float) -> float:
    return min((epsilon - beta) * math.exp(-beta), math.sqrt(2.0 * epsilon)) * (1.0 - 2.0**-40)


def alpha_of_beta(epsilon: float, delta: float, beta: float, accuracy: float = 1e-10) -> float:
    """Return the largest alpha with divergence at most `delta`, rounded down, or 0."""
    target = math.log(delta) - 1e-9
    high = _ceiling(epsilon, beta)
    if high <= 0.0 or log_delta_of_pair(epsilon, 0.0, beta) > target:
        return 0.0
    f_high = log_delta_of_pair(epsilon, high, beta) - target
    if f_high <= 0.0:
        return high
    low, f_low = 0.0, log_delta_of_pair(epsilon, 0.0, beta) - target
    side = 0
    # The Illinois method: false position, where the weight of an end that stays is halved. `low`
    # always has at most the divergence `delta`.
    for step in range(100):
        if high - low <= accuracy * high:
            break
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        if not low < middle < high or step % 8 == 7:
            middle = 0.5 * (low + high)
        f = log_delta_of_pair(epsilon, middle, beta) - target
        if f <= 0.0:
            low, f_low = middle, f
            if side == -1:
                f_high *= 0.5
            side = -1
        else:
            high, f_high = middle, f
            if side == 1:
                f_low *= 0.5
            side = 1
    return low


def gaussian(epsilon: float, delta: float) -> Draft:
    """Return the (alpha, beta) with the least Gaussian noise on evenly spread data."""
    target = math.log(delta)
    top = 0.5 * epsilon
    if log_delta_of_pair(epsilon, 0.0, top) > target:
        top, _ = bisect(lambda b: log_delta_of_pair(epsilon, 0.0, b) <= target, 0.0, top, 24)
    _, beta = best(lambda b: alpha_of_beta(epsilon, delta, b, 1e-4), top, grid=12, steps=14)
    alpha = alpha_of_beta(epsilon, delta, beta)
    return Draft(Gaussian(), alpha, beta, "exact hockey-stick divergence, `noise.smooth.gaussian`")
