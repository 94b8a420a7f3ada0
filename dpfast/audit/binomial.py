"""Exact confidence limits of probabilities (Clopper and Pearson, Biometrika 1934)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.extend import extra
from dpfast.privacy import ZCDP, Loss

#: A relative margin for rounding errors of the inverse of the incomplete beta function.
_OUT = 1e-9
#: The logarithm of the smallest level of a test.
LEAST = -700.0
#: The orders of the Renyi divergences that are compared with rho.
ORDERS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)

Floats = NDArray[np.float64]


def at_least(hits: int, size: int, alpha: float) -> float:
    """Return a lower confidence limit of the probability of an event, at level `alpha`."""
    return _inverse("betaincinv", hits, size - hits + 1, alpha) * (1 - _OUT) if hits else 0.0


def at_most(hits: int, size: int, alpha: float) -> float:
    """Return an upper confidence limit of the probability of an event, at level `alpha`."""
    if hits == size:
        return 1.0
    return min(1.0, _inverse("betainccinv", hits + 1, size - hits, alpha) * (1 + _OUT))


def _inverse(name: str, a: int, b: int, alpha: float) -> float:
    return float(getattr(extra("scipy.special", "an audit"), name)(a, b, alpha))


def epsilon_between(likely: Any, rare: Any, delta: float) -> Any:
    """Return the least epsilon with ``likely <= exp(epsilon) rare + delta``, or 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilons = np.log((np.asarray(likely, np.float64) - delta) / rare)
    return np.fmax(epsilons, 0.0)


def rho_between(likely: Any, rare: Any) -> Any:
    """Return the least rho that allows an event of probabilities `likely` and `rare`, or 0.

    The Renyi divergence of the whole distribution is at most rho times the order, and no event has
    a larger divergence (Bun and Steinke, TCC 2016).
    """
    p, q = np.broadcast_arrays(np.asarray(likely, np.float64), np.asarray(rare, np.float64))
    return np.where(p > q, renyi_rho(np.array([p, 1 - p]), np.array([q, 1 - q])), 0.0)


def renyi_rho(p: Floats, q: Floats) -> Floats:
    """Return the largest ratio of the Renyi divergence of p from q to its order, along axis 0."""
    most = np.zeros(p.shape[1:])
    with np.errstate(all="ignore"):
        x, y = np.log(p), np.log(q)
        for order in ORDERS:
            if order == 1:
                value = np.where(p > 0, p * (x - y), 0.0).sum(axis=0)
            else:  # computed by logarithms, because powers would underflow
                powers = np.where(p > 0, order * x - (order - 1) * y, x)
                value = np.logaddexp.reduce(powers, axis=0) / (order - 1) / order
            most = np.fmax(most, value)
    return most


@dataclass(frozen=True)
class Claim:
    """The claimed loss of a mechanism as numbers: an epsilon at a delta, or a rho."""

    amount: float
    delta: float = 0.0
    by_rho: bool = False

    @classmethod
    def of(cls, loss: Loss) -> Claim:
        """Return the claim with the amounts of a loss."""
        if isinstance(loss, ZCDP):
            return cls(float(loss.rho), by_rho=True)
        return cls(float(loss.epsilon), float(loss.delta))

    def between(self, likely: Any, rare: Any) -> Any:
        """Return the least epsilon or rho that allows these two probabilities of an event, or 0."""
        if self.by_rho:
            return rho_between(likely, rare)
        return epsilon_between(likely, rare, self.delta)

    def is_refuted(self, likely: int, rare: int, size: int, alpha: float) -> bool:
        """Return whether the counts of an event refute the claim at the level `alpha`."""
        limits = at_least(likely, size, alpha / 2), at_most(rare, size, alpha / 2)
        return float(self.between(*limits)) > self.amount

    def largest(self, size: int, alpha: float) -> float:
        """Return the largest loss that so many answers can show, by an event of one dataset."""
        return float(self.between(at_least(size, size, alpha / 2), at_most(0, size, alpha / 2)))

    def least(self, size: int, alpha: float) -> float | None:
        """Return the least frequency of an event, unseen on the neighbor, that refutes the claim.

        None if an event of all answers would not refute the claim either.
        """
        if not self.is_refuted(size, 0, size, alpha):
            return None
        counts = range(1, size + 1)
        first = bisect_left(counts, True, key=lambda hits: self.is_refuted(hits, 0, size, alpha))
        return counts[first] / size

    def p_value(self, likely: int, rare: int, size: int) -> float:
        """Return the least level at which the counts of an event refute the claim, or 1."""

        def is_refuted(log: float) -> bool:
            return self.is_refuted(likely, rare, size, math.exp(log))

        if not is_refuted(0.0):
            return 1.0
        return math.exp(LEAST if is_refuted(LEAST) else narrowed(is_refuted, LEAST, 0.0, 40)[1])


def narrowed(
    holds: Callable[[float], bool], low: float, high: float, steps: int
) -> tuple[float, float]:
    """Bisect an interval to find where `holds` turns from False (lower end) to True (upper end)."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
