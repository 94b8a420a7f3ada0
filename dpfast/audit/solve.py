"""Numbers z of [-1/2, 1/2] with A z near y, in three norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.extras import extra

Matrix = NDArray[np.float64]


def least_squares(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the sum of squared errors, without limits for z. Of all such z take the shortest."""
    solution: Matrix = np.asarray(np.linalg.lstsq(a, y, rcond=None)[0], np.float64)
    return solution


def sum_of_errors(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the sum of absolute errors, with variables for what exceeds y or falls short."""
    sparse = _scipy("sparse")
    m, n = a.shape
    one = sparse.identity(m, format="csr")
    equal = sparse.hstack([sparse.csr_array(a), one, -one], format="csr")
    cost = np.concatenate([np.zeros(n), np.ones(2 * m)])
    limits = np.concatenate([np.tile([-0.5, 0.5], (n, 1)), np.tile([0.0, np.inf], (2 * m, 1))])
    return _minimize(cost, limits, n, A_eq=equal, b_eq=y)


def largest_error(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the largest absolute error, with a variable that is no less than any of them."""
    m, n = a.shape
    one = np.ones((m, 1))
    above = np.block([[a, -one], [-a, -one]])
    cost = np.concatenate([np.zeros(n), [1.0]])
    limits = np.concatenate([np.tile([-0.5, 0.5], (n, 1)), [[0.0, np.inf]]])
    return _minimize(cost, limits, n, A_ub=above, b_ub=np.concatenate([y, -y]))


def _minimize(cost: Matrix, limits: Matrix, n: int, **rows: Any) -> Matrix:
    result = _scipy("optimize").linprog(cost, bounds=limits, method="highs", **rows)
    if result.x is None:  # every such program has a solution
        raise RuntimeError(f"HiGHS found no solution: {result.message}")
    solution: Matrix = result.x[:n]
    return solution


def _scipy(name: str) -> Any:
    return extra(f"scipy.{name}", "linear programming")
