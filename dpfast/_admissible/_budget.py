"""The public budget of one release: exactly one of epsilon (with delta) and rho, rounded down."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .. import _check
from ._record import Loss

__all__ = ["pure_epsilon", "read"]

MOST = 500.0
_LEAST = {"epsilon": 2.0**-30, "rho": 2.0**-60}
_LEAST_DELTA = Fraction(1, 10**300)


def _down(exact: Fraction) -> float:
    value = float(exact)
    return math.nextafter(value, 0.0) if Fraction(value) > exact else value


def _loss(name: str, value: Any) -> float:
    """A loss between the least and 500, as a float not above it."""
    _check.positive(name, value)
    exact = _check.fraction(name, value)
    if exact > MOST:
        _check.fail(name, "at most 500 (more protects nothing)", value)
    result = _down(exact)
    if result < _LEAST[name]:
        # Below it the allowance for rounding S (2^-40 in beta) is no longer small.
        rule = f"at least {_LEAST[name]:.2g} for noise scaled to smooth sensitivity"
        _check.fail(name, rule, value)
    return result


def read(epsilon: Any, delta: Any, rho: Any) -> Loss:
    """Check the three arguments and round them down."""
    if (epsilon is None) == (rho is None):
        _check.fail("epsilon, rho", "given one and only one", (epsilon, rho))
    delta_rule = "0, or at least 1e-300 and less than 1"
    if rho is not None:
        if _check.number("delta", delta) != 0.0:
            _check.fail("delta", "0 beside rho", delta)
        return Loss(None, 0.0, _loss("rho", rho))
    loss = _loss("epsilon", epsilon)
    if _check.number("delta", delta) != 0.0:
        exact = _check.fraction("delta", delta)
        if not _LEAST_DELTA <= exact < 1:
            _check.fail("delta", delta_rule, delta)
        return Loss(loss, _down(exact), None)
    return Loss(loss, 0.0, None)


def pure_epsilon(rho: float) -> float:
    """The largest epsilon with epsilon tanh(epsilon / 2) <= rho, from below.

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
