"""Exact calibration of Student's t noise, in closed form.

With e = (2 epsilon - (df - 1) beta) / (df + 1) and beta < epsilon / df,
    alpha = sqrt(df) min(2 sinh(epsilon / (df + 1)), sqrt(2 e^beta (cosh e - cosh beta))),
the case gamma = 2, p = (df + 1) / 2 of `algebraic`: Student's loss is (df + 1) / 2 times a Cauchy
loss, plus or minus (df - 1) / 2 times the dilation. Finite variance from df = 3 on.
"""

from __future__ import annotations

import math

from ..distributions import StudentT
from .algebraic import alpha_of_beta as _alpha
from .algebraic import best_pair
from .calibration import Draft


def alpha_of_beta(df: float, epsilon: float, beta: float) -> float:
    """Return the exact alpha."""
    return _alpha(2.0, (df + 1.0) / 2.0, math.sqrt(df), epsilon, beta)


def student_t(epsilon: float, df: int = 3) -> Draft:
    """Return the best pair for `df` degrees of freedom."""
    alpha, beta = best_pair(2.0, (df + 1.0) / 2.0, math.sqrt(df), epsilon)
    return Draft(
        StudentT(df), alpha, beta, "exact loss of Student distributions, dpfast.noise.smooth"
    )
