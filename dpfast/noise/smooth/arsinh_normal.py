"""Arsinh-normal noise, Z = sinh(sigma Y) / sigma, for a loss in rho.

Bun and Steinke (2019, Theorem 25) bound its Renyi divergences; their bound is loose by far. With e
= sqrt(2 rho), for t = 0.6 e and sigma = 0.9, the table in this folder holds shifts s for which the
worst pair of `pair` has D_a <= rho a for all orders, by quadrature on fine grids and with a safety
factor (`tools/make_arsinh_table.py`): a careful numeric value, not a proved one. The divergence
grows with the shift, as every Renyi divergence is a mixture of hockey-stick divergences.

An entry (e', s', t') gives (k s', k t') for every e >= k e', k an integer: cut the way from P
to Q into k equal steps; in units of its own smaller scale each step shifts by at most s' and
dilates by at most t', and group privacy of zCDP multiplies rho by k^2 (Bun and Steinke 2016). So no
step of this file needs a monotone table, budgets below the grid use many steps of a tiny entry, and
budgets above it a few steps of a large one.
"""

from __future__ import annotations

import math

from ..._core import checks
from ..distributions import ArsinhNormal
from .arsinh_table import LOWEST, PER_OCTAVE, SHARE, SHIFT, SIGMA, TINY, TINY_SHIFT
from .calibration import Draft
from .pair import weight

LEAST_RHO = 2.0**-41

_ENTRIES = (
    (2.0**TINY, TINY_SHIFT),
    *((2.0 ** (LOWEST + i / PER_OCTAVE), shift) for i, shift in enumerate(SHIFT)),
)


def arsinh_normal(rho: float) -> Draft:
    """Return the (alpha, beta) of least noise for rho among the multiples of table entries."""
    if rho < LEAST_RHO:
        checks.fail("rho", "at least 2**-41 for noise='arsinh-normal'", rho)
    e = math.sqrt(2.0 * rho)  # the safety factor of the table covers the rounding of this
    merit, alpha, beta = 0.0, 0.0, 0.0
    for entry, shift in _ENTRIES:
        steps = math.floor(e / entry)
        s, t = steps * entry * shift, steps * entry * SHARE
        if s * weight(t) > merit:
            merit, alpha, beta = s * weight(t), s, t
    return Draft(
        ArsinhNormal(SIGMA),
        alpha,
        beta,
        "exact Renyi divergence by quadrature (table), dpfast.noise.smooth.arsinh_normal",
    )
