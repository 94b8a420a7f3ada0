"""Exact limits of probabilities (Clopper and Pearson, Biometrika 1934), and what they say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.extend import extra

#: Covers rounding errors of the inverse of the incomplete beta function.
_OUT = 1e-9
#: Orders at which a Renyi divergence is compared with rho.
ORDERS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)

Floats = NDArray[np.float64]


def at_least(hits: int, size: int, alpha: float) -> float:
    """Return a limit below the probability of an event, but with probability `alpha`."""
    if not hits:
        return 0.0
    return _inverse("betaincinv", hits, size - hits + 1, alpha) * (1 - _OUT)


def at_most(hits: int, size: int, alpha: float) -> float:
    """Return a limit above the probability of an event, but with probability `alpha`."""
    if hits == size:
        return 1.0
    return min(1.0, _inverse("betainccinv", hits + 1, size - hits, alpha) * (1 + _OUT))


def _inverse(name: str, a: int, b: int, alpha: float) -> float:
    return float(getattr(extra("scipy.special", "an audit"), name)(a, b, alpha))


def epsilon_between(likely: Any, rare: Any, delta: float) -> Any:
    """Return the least epsilon with ``likely <= exp(epsilon) rare + delta``, or 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log((np.asarray(likely, np.float64) - delta) / rare)
    return np.fmax(found, 0.0)


def rho_between(likely: Any, rare: Any) -> Any:
    """Return the least rho of laws under which an event has these probabilities, or 0.

    No event has a larger Renyi divergence than the whole law, for which order times rho is the
    limit (Bun and Steinke, TCC 2016).
    """
    p, q = np.asarray(likely, np.float64), np.asarray(rare, np.float64)
    most = np.zeros(np.broadcast(p, q).shape)
    with np.errstate(all="ignore"):
        logs = [(np.log(x), np.log(y)) for x, y in ((p, q), (1 - p, 1 - q))]
        for order in ORDERS:
            if order == 1:
                parts = [np.exp(x) * (x - y) for x, y in logs]
                value = np.where(p < 1, parts[0] + parts[1], parts[0])
            else:  # powers would underflow
                parts = [np.where(x > -np.inf, order * x - (order - 1) * y, x) for x, y in logs]
                value = np.logaddexp(*parts) / (order - 1) / order
            most = np.fmax(most, np.where(p > q, value, 0.0))
    return most


def refutes(
    likely: int, rare: int, size: int, epsilon: float, delta: float, rho: float, alpha: float
) -> bool:
    """Return whether the counts of an event refute a loss at a level."""
    p, q = at_least(likely, size, alpha / 2), at_most(rare, size, alpha / 2)
    by_rho = math.isfinite(rho) and float(rho_between(p, q)) > rho
    return by_rho or float(epsilon_between(p, q, delta)) > epsilon


def least(size: int, epsilon: float, delta: float, rho: float, alpha: float) -> float | None:
    """Return the least share of answers that refutes a loss if it has none on the other data.

    None is for where not even all of them would.
    """
    low, high = 0, size
    if not refutes(size, 0, size, epsilon, delta, rho, alpha):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        over = refutes(middle, 0, size, epsilon, delta, rho, alpha)
        low, high = (low, middle) if over else (middle, high)
    return high / size


def p_value(likely: int, rare: int, size: int, epsilon: float, delta: float, rho: float) -> float:
    """Return the least level at which the counts of an event refute a loss, or 1.

    Half of the level is for either limit. An infinite `epsilon` or `rho` is not asked.
    """

    def refuted(alpha: float) -> bool:
        return refutes(likely, rare, size, epsilon, delta, rho, alpha)

    low, high = -700.0, 0.0  # logarithms: never refuted, refuted
    if not refuted(1.0):
        return 1.0
    if refuted(math.exp(low)):
        return math.exp(low)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(math.exp(middle)) else (middle, high)
    return math.exp(high)
