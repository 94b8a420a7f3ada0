"""Probabilities of the selection mechanisms, in float64. Nothing here is private."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def exponential(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities in proportion to ``exp(weight)`` along the last axis."""
    p: NDArray[np.float64] = np.exp(weight - weight.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p


def permute_and_flip(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of permute-and-flip whose coins are ``exp(weight - largest)``, one row.

    With independent uniform times in place of a random order, candidate i comes first of the heads
    with probability ``p_i`` times the integral of ``prod_{j != i} (1 - p_j t)`` over [0, 1]: a
    polynomial of degree n - 1, for which a Gauss rule of n / 2 points is exact. All of its terms
    are positive, so nothing cancels.
    """
    p = np.exp(weight - weight.max())
    nodes, weights = np.polynomial.legendre.leggauss(len(p) // 2 + 1)
    t = (nodes + 1) / 2
    log = np.log1p(-np.outer(p, t))
    others = np.exp(log.sum(axis=0) - log)
    found: NDArray[np.float64] = p * (others @ weights) / 2
    return found
