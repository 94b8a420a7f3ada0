"""Arsinh-normal noise, Z = sinh(sigma Y) / sigma, for a loss in rho.

Bun and Steinke (2019, Theorem 25) bound its Renyi divergences, but their bound is very loose. Let e
= sqrt(2 rho), t = 0.6 e and sigma = 0.9. The table in this folder has shifts s for which the worst
pair of `pair` has D_a <= rho a for all orders a. The shifts were computed by quadrature on fine
grids, with a safety factor (`tools/make_arsinh_table.py`). So they are careful numeric values, and
not proved. The divergence grows with the shift, because every Renyi divergence is a mixture of
hockey-stick divergences.

For an integer k, an entry (e', s', t') gives (k s', k t') for every e >= k e'. Proof: cut the way
from P to Q into k equal steps. In units of its smaller scale, each step shifts by at most s' and
dilates by at most t'. Group privacy of zCDP multiplies rho by k^2 (Bun and Steinke 2016). So the
table need not be monotone. A rho below the table uses many steps of a tiny entry, and a rho above
it a few steps of a large entry.
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
    """Return the (alpha, beta) of least noise for rho, among multiples of table entries."""
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
