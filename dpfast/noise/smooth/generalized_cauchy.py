"""Exact calibration of generalized Cauchy noise, density ~ 1 / (1 + |z|^gamma), in closed form.

alpha = min(a(0), a(beta), b(beta)) for beta < epsilon / (gamma - 1), with
    a(lam) = (e^(epsilon+lam) - 1)^(1/gamma) (1 - e^(lam - epsilon/(gamma-1)))^(1 - 1/gamma)
    b(lam) = e^lam (e^(epsilon-lam) - 1)^(1/gamma) (1 - e^(-lam - epsilon/(gamma-1)))^(1 - 1/gamma),
the case p = 1 of `algebraic`. At gamma = 4 three times less noise than Nissim, Raskhodnikova and
Smith's alpha = beta = epsilon / (2 (gamma + 1)) on evenly spread data.
"""

from __future__ import annotations

from ..distributions import GeneralizedCauchy
from .algebraic import alpha_of_beta as _alpha
from .algebraic import best_pair
from .calibration import Draft


def alpha_of_beta(gamma: float, epsilon: float, beta: float) -> float:
    """Return the exact alpha."""
    return _alpha(gamma, 1.0, 1.0, epsilon, beta)


def generalized_cauchy(epsilon: float, gamma: int = 4) -> Draft:
    """Return the best pair for `gamma`."""
    alpha, beta = best_pair(float(gamma), 1.0, 1.0, epsilon)
    return Draft(
        GeneralizedCauchy(gamma),
        alpha,
        beta,
        "exact loss of generalized Cauchy distributions, dpfast.noise.smooth",
    )
