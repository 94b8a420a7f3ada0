"""The matrix mechanism: plan which sums of bins get noise, so that known queries err least.

Let x be the counts of n bins, W the matrix of the queries and A a strategy: A x is released with
Gaussian noise, and W x is estimated by least squares. An added or removed row changes A x by one
column of A. Let all columns have a length of at most 1, and all sums noise of one variance. Then
the variances of all answers add up to tr(V X^-1), for V = W'W and X = A'A (Li, Miklau, Hay,
McGregor and Rastogi, VLDB Journal 2015). So the problem is to find a matrix X with diagonal 1
(Yuan, Yang, Zhang and Hao 2016; McKenna, Miklau, Hay and Machanavajjhala, VLDB 2018).

*A bound for all strategies.* For weights l_i >= 0 let Y be any matrix whose singular values are at
most 1. A^+ A is 1 on the rows of W, so by Cauchy and Schwarz,

    tr(Y' W L^1/2) = tr(Y' (W A^+) (A L^1/2)) <= |W A^+| |A L^1/2| <= tr(V X^-1)^1/2 (sum l)^1/2,

where L is the diagonal matrix of the weights. So no strategy has an error below (sum of the
singular values of W L^1/2)^2 / sum l (a bound of Li and Miklau, VLDB 2013, with weights). The
singular values are the roots of the eigenvalues of M = L^1/2 V L^1/2.

*The search.* With the best weights, X = L^-1/2 M^1/2 L^-1/2 has the diagonal 1 and reaches the
bound. The step from l_i to l_i X_ii increases the bound (for streams: Denisov, McMahan, Rush, Smith
and Thakurta, NeurIPS 2022). The step to l_i X_ii^2, which is taken here, is faster. Any X is made a
strategy: its rows and columns are scaled, or all of X, so that no diagonal entry is above 1. Then
the difference to 1 is added to the diagonal, which only decreases errors. Then 2^-12 of the unit
matrix is mixed in, which multiplies the error by 1.0003. So every bin can be distinguished from the
others, also a bin that is in no query.

*The strategy.* A is the Cholesky factor of X in units of 2^-20, rounded to integers S. The norms of
the columns of S are computed exactly from these integers: products and partial sums are below 2^53,
so float64 holds them in whatever order they are added. So privacy does not depend on any earlier
rounding: another machine may find a strategy that differs in its last bits, and is charged for that
strategy. The certificate is the error of S, with the norms of S, divided by the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._core.types import Floats
from ...noise.sensitivity import Sensitivity
from .queries import MOST, Queries

#: A strategy has units of 2**-GRID, and counts are multiplied in parts of GRID bits.
GRID = 20
#: The share of the identity matrix that is mixed in; the least weight, as a fraction of the
#: largest.
RIDGE, LEAST = 2.0**-12, 1e-6
#: The search ends when the error divided by its lower bound is at most GOOD, or after ROUNDS rounds
#: if there are few bins.
GOOD, ROUNDS = 1.005, 100


@dataclass(frozen=True, eq=False)
class Strategy:
    """The strategy of a matrix mechanism: the sums of bins that get noise, and their inverse.

    Attributes
    ----------
    sums : ndarray of float64, shape (bins, bins)
        Integers: the coefficient of each bin in each sum, in units of ``2**-GRID``.
    inverse : ndarray of float64, shape (bins, bins)
        The matrix that maps the sums back to counts of bins.
    weights : ndarray of float64, shape (bins,)
        The weights l of the lower bound.
    certificate : float
        The mean squared error of all queries under add-remove, divided by a lower bound that holds
        for every strategy with Gaussian noise. It is at least 1.
    """

    sums: Floats = field(repr=False)
    inverse: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    certificate: float

    def sensitivity(self, neighbors: str) -> Sensitivity:
        """Return the exact sensitivity of the sums, for a neighboring relation."""
        gram = self.sums.T @ self.sums
        squares, l1 = gram.diagonal(), int(np.abs(self.sums).sum(axis=0).max())
        l2_squared = squares.max()
        assert l2_squared < 2.0**42, "sums of so many are below 2**53"
        if neighbors == "replace":
            distances = squares[:, np.newaxis] + squares - 2 * gram
            l2_squared, l1 = max(l2_squared, distances.max()), 2 * l1
        return Sensitivity(len(gram), l1, int(l2_squared))

    def add(self, counts: NDArray[np.int64]) -> list[int]:
        """Return the exact sums for counts of bins, without overflow for counts of any size."""
        totals = [0] * len(counts)
        for shift in range(0, 64, GRID):
            part = counts >> shift if shift + GRID > 63 else counts >> shift & (1 << GRID) - 1
            products = self.sums @ part.astype(np.float64)
            totals = [a + (int(b) << shift) for a, b in zip(totals, products, strict=True)]
        return totals


@lru_cache(maxsize=4)
def best_strategy(queries: Queries, bins: int) -> Strategy:
    """Return a strategy with nearly the least mean squared error for queries about `bins` bins."""
    gram = queries.gram(bins)
    weights = np.sqrt(gram.diagonal())
    unit = 2.0**GRID * np.eye(bins)
    best, error = (unit, unit / 4.0**GRID), float(gram.trace())
    bound, proof = 0.0, weights
    for _ in range(min(ROUNDS, 3 * (MOST // bins) ** 3)):
        weights = np.maximum(weights, LEAST * weights.max())
        root = np.sqrt(weights)
        squares, vectors = np.linalg.eigh(gram * np.outer(root, root))
        values = np.sqrt(np.where(squares > squares[-1] * bins * 2.0**-50, squares, 0))
        if (below := values.sum() ** 2 / weights.sum()) > bound:
            bound, proof = below, weights
        inner = (vectors * values) @ vectors.T / np.outer(root, root)
        sizes = inner.diagonal().copy()
        most = sizes.max()
        for scale in (np.sqrt(np.maximum(sizes, LEAST * most)), np.full(bins, np.sqrt(most))):
            candidate, its_error = _with_error(inner / np.outer(scale, scale), gram)
            if its_error < error:
                best, error = candidate, its_error
            if error < GOOD * bound:
                break
        if error < GOOD * bound:
            break
        weights = weights * sizes**2
    return Strategy(*best, proof, float(max(1.0, error / bound)))


def _with_error(inner: Floats, gram: Floats) -> tuple[tuple[Floats, Floats], float]:
    """Return the integer sums of a strategy X, their inverse, and their error for equal loss."""
    mixed = (1 - RIDGE) * inner
    np.fill_diagonal(mixed, 1)
    sums = np.rint(np.linalg.cholesky(mixed).T * 2.0**GRID)
    inverse = np.linalg.inv(sums)
    longest = (sums**2).sum(axis=0).max()
    return (sums, inverse), float(longest * (gram @ inverse * inverse).sum())
