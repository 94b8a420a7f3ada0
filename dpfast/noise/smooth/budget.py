"""The loss of one release as floats, rounded down."""

from __future__ import annotations

import math
from fractions import Fraction

from ... import privacy
from ..._core import checks
from .calibration import Loss

MOST = 500
_LEAST = {"epsilon": 2.0**-30, "rho": 2.0**-60}
_LEAST_DELTA = Fraction(1, 10**300)


def _amount(name: str, exact: Fraction) -> float:
    if exact > MOST:
        checks.fail(name, f"at most {MOST} (more protects nothing)", float(exact))
    if exact < _LEAST[name]:
        # Below it the allowance for rounding S (2^-40 in beta) is no longer small.
        rule = f"at least {_LEAST[name]:.2g} for noise scaled to smooth sensitivity"
        checks.fail(name, rule, float(exact))
    return privacy.float_down(exact)


def read(asked: privacy.Loss) -> Loss:
    """Return a loss as floats, rounded down. Check its range."""
    if isinstance(asked, privacy.ZCDP):
        return Loss(None, 0.0, _amount("rho", asked.rho))
    epsilon = _amount("epsilon", asked.epsilon)
    if isinstance(asked, privacy.Pure):
        return Loss(epsilon, 0.0, None)
    if asked.delta < _LEAST_DELTA:
        checks.fail("delta", "0, or at least 1e-300 and less than 1", float(asked.delta))
    return Loss(epsilon, privacy.float_down(asked.delta), None)


def pure_epsilon(rho: float) -> float:
    """Return the largest epsilon with epsilon tanh(epsilon / 2) <= rho, from below.

    An epsilon-DP pair is a post-processing of randomized response, whose worst D_a / a is its
    Kullback-Leibler divergence epsilon tanh(epsilon / 2); so epsilon-DP gives rho-zCDP.
    """
    low, high = 0.0, 1.0 + 2.0 * math.sqrt(rho) + rho  # the root is less than this
    for _ in range(120):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if middle * math.tanh(0.5 * middle) <= rho * (1.0 - 1e-14):
            low = middle
        else:
            high = middle
    return min(low, MOST)
