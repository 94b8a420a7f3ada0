"""Published constants, which are looser, for comparison.

Each is offered only where it holds: the pure ones and Bun and Steinke's for every budget; the two
for (epsilon, delta) are checked against the exact divergence on every call, because they break for
a large epsilon (Laplace from about epsilon = 16 at delta = 1e-6). Constants that break their claim
at ordinary budgets are in `REFUSED` with the reason.
"""

from __future__ import annotations

import math

from ..._core import checks
from ..distributions import Cauchy, Gaussian, GeneralizedCauchy, Laplace, StudentT
from . import gaussian, laplace
from .calibration import Draft

_NRS = "Nissim, Raskhodnikova and Smith, STOC 2007"
_UNDER = 1.0 - 2.0**-48

REFUSED = {
    "generalized-cauchy-lecture": (
        "alpha = epsilon/(4 gamma), beta = epsilon/gamma loses more than epsilon from about "
        "gamma = 8 on, 1.046 epsilon at gamma = 10 and epsilon = 0.1"
    )
}


def cauchy_nrs(epsilon: float) -> Draft:
    """Return alpha = beta = epsilon / (2 (gamma + 1)), gamma = 2."""
    return Draft(Cauchy(), epsilon / 6.0, epsilon / 6.0 * _UNDER, _NRS)


def cauchy_lecture(epsilon: float) -> Draft:
    """Return alpha = epsilon / (4 gamma), beta = epsilon / gamma, gamma = 2, of lecture notes."""
    return Draft(Cauchy(), epsilon / 8.0, epsilon / 2.0 * _UNDER, "lecture notes; holds at gamma=2")


def generalized_cauchy_nrs(epsilon: float, gamma: int = 4) -> Draft:
    """Return alpha = beta = epsilon / (2 (gamma + 1))."""
    share = epsilon / (2.0 * (gamma + 1.0))
    return Draft(GeneralizedCauchy(gamma), share, share * _UNDER, _NRS)


def student_t_bun_steinke(epsilon: float, df: int = 3) -> Draft:
    """Return epsilon = (df + 1) (beta + alpha / (2 sqrt(df))), half on each."""
    half = epsilon / (2.0 * (df + 1.0))
    return Draft(
        StudentT(df), 2.0 * math.sqrt(df) * half, half * _UNDER, "Bun and Steinke 2019, Theorem 31"
    )


def laplace_nrs(epsilon: float, delta: float) -> Draft:
    """Return alpha = epsilon / 2, beta = epsilon / (2 log(2 / delta))."""
    alpha, beta = epsilon / 2.0, epsilon / (2.0 * math.log(2.0 / delta)) * _UNDER
    if alpha > laplace.alpha_of_beta(epsilon, delta, beta):
        _refuse("laplace-nrs", epsilon)
    return Draft(Laplace(), alpha, beta, _NRS + "; checked by the exact divergence")


def gaussian_nrs(epsilon: float, delta: float) -> Draft:
    """Return alpha = epsilon / (5 sqrt(2 L)), beta = epsilon / (4 (1 + L)), L = log(2 / delta)."""
    log_term = math.log(2.0 / delta)
    alpha = epsilon / (5.0 * math.sqrt(2.0 * log_term))
    beta = epsilon / (4.0 * (1.0 + log_term)) * _UNDER
    if alpha > gaussian.alpha_of_beta(epsilon, delta, beta):
        _refuse("gaussian-nrs", epsilon)
    return Draft(Gaussian(), alpha, beta, _NRS + "; checked by the exact divergence")


def _refuse(noise: str, epsilon: float) -> None:
    rule = f"small enough for the published constants of noise={noise!r} to hold"
    checks.fail("epsilon", rule, epsilon)
