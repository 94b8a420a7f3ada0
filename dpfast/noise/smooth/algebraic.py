"""Exact calibration for density proportional to (1 + |z/m|^gamma)^-p, in closed form.

Cauchy is gamma = 2, p = 1, m = 1; Student's t is gamma = 2, p = (df + 1) / 2, m = sqrt(df); the
generalized Cauchy distribution is p = 1, m = 1.

Here phi(z) = p log(1 + |z/m|^gamma); phi(e^t) is convex in t, so the theorem of `pair` holds. With
C = e^(c/p),
    phi^-1(c + phi(y)) = m (C - 1 + C |y/m|^gamma)^(1/gamma),
which is m times the l_gamma norm of ((C - 1)^(1/gamma), C^(1/gamma) y/m). By Hoelder's inequality,
with gamma' = gamma / (gamma - 1), the infimum over y of that less k y is

    gap(c, log k) = m (C - 1)^(1/gamma) (1 - (k C^(-1/gamma))^gamma')^(1/gamma').

For gamma = 2, p = 1 this is the hyperbolic distance of the half-plane, in which Cauchy
distributions live. The pair is admissible as long as beta < epsilon / (gamma p - 1): the loss of
the tails.
"""

from __future__ import annotations

import math

from .beta import best
from .pair import largest_shift, log_expm1

# beta stays this far from its bound, so that no difference of exponents loses more than 10 bits.
_CLOSEST = 0.999


def alpha_of_beta(gamma: float, power: float, unit: float, epsilon: float, beta: float) -> float:
    """Return the largest admissible alpha beside `beta`, or 0."""
    dual = gamma / (gamma - 1.0)

    def gap(cost: float, log_k: float) -> float:
        spare = dual * (log_k - cost / (power * gamma))
        if not (cost > 0.0 and spare < 0.0):
            return 0.0
        left = log_expm1(cost / power) / gamma
        right = math.log(-math.expm1(spare)) / dual
        return unit * math.exp(left + right)

    return largest_shift(gap, epsilon, beta)


def best_pair(gamma: float, power: float, unit: float, epsilon: float) -> tuple[float, float]:
    """Return the admissible (alpha, beta) of least noise on evenly spread data (see `beta`)."""
    top = _CLOSEST * epsilon / (gamma * power - 1.0)
    return best(lambda beta: alpha_of_beta(gamma, power, unit, epsilon, beta), top)
