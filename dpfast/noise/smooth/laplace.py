"""Exact calibration of Laplace noise for (epsilon, delta), in closed form.

Let P = Z, Q = s + e^lam Z (see `pair`) with 0 <= s <= alpha, 0 <= lam <= beta, and let
alpha + beta <= epsilon.

* P over Q: log p/q is at most lam + s e^-lam <= epsilon everywhere, so this direction has no delta.
* Q over P: {q > e^epsilon p} is the outside of an interval, and s is inside because log q/p at s is
  s - lam <= epsilon. By the envelope theorem, the derivative of the divergence in lam is the
  derivative of the mass of Q on this set, if the set is fixed. Outside an interval around its
  center, Q gains mass as lam grows. So the divergence grows with lam, and is largest for lam =
  beta. It also grows with s (level sets are centered intervals).
* For lam = beta both ends of the interval satisfy q = e^epsilon p, so the divergence is
      delta = (1 - e^-beta) exp(-(epsilon + beta) / m) cosh(alpha / m),    m = e^beta - 1,
  hence alpha = m arccosh(delta e^((epsilon + beta) / m) / (1 - e^-beta)).

Everything is computed in logarithms, so delta can be any normal float64.
"""

from __future__ import annotations

import math

from ..distributions import Laplace
from ..numeric import bisect
from .calibration import Draft
from .pair import best


def _log_target(epsilon: float, log_delta: float, beta: float) -> float:
    m = math.expm1(beta)
    return log_delta + (epsilon + beta) / m - math.log(-math.expm1(-beta))


def alpha_of_beta(epsilon: float, delta: float, beta: float) -> float:
    """Return the largest alpha <= epsilon - beta with divergence at most `delta`, or 0."""
    log_c = _log_target(epsilon, math.log(delta), beta)
    if not log_c > 0.0:
        return 0.0
    log_2_more = math.log1p(math.sqrt(-math.expm1(-2.0 * log_c)))
    return max(0.0, min(math.expm1(beta) * (log_c + log_2_more), epsilon - beta))


def laplace(epsilon: float, delta: float) -> Draft:
    """Return the (alpha, beta) with the least Laplace noise on evenly spread data."""
    log_delta = math.log(delta)
    top = 0.5 * epsilon
    # The target falls with beta, so search for the largest beta.
    if _log_target(epsilon, log_delta, top) <= 0.0:
        _, top = bisect(lambda b: _log_target(epsilon, log_delta, b) > 0.0, 0.0, top, 40)
    alpha, beta = best(lambda b: alpha_of_beta(epsilon, delta, b), top)
    return Draft(Laplace(), alpha, beta, "exact hockey-stick divergence, `noise.smooth.laplace`")
