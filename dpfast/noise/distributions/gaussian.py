"""The normal distribution.

Q' = sqrt(2 pi) exp(Q^2 / 2) towards the tail, so Q is absolutely monotone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .base import Distribution, Floats, context
from .series import Positive, dot


@lru_cache(maxsize=4)
def _quantiles(points: tuple[float, ...], precision: int) -> tuple[Any, ...]:
    """Return normal quantiles Q at the points to 2**-70, as raw mpmath numbers.

    The arsinh-normal distribution shares them.
    """
    from statistics import NormalDist

    mp = context(precision)
    root, rate = mp.sqrt(2), math.sqrt(2 * math.pi)
    quantiles = []
    for p, z in zip(points, map(NormalDist().inv_cdf, points), strict=True):
        z = -z
        # Two terms of the inverse at z; the third is below (error of inv_cdf)^3, or 2^-100.
        off = float(mp.erfc(mp.mpf(z) / root) / 2 - p) * rate * math.exp(z * z / 2)
        if abs(off) > 2.0**-36 * z:
            raise ArithmeticError("NormalDist.inv_cdf is less accurate than expected")
        quantiles.append((mp.mpf(z) + (off + 0.5 * z * off * off))._mpf_)
    return tuple(quantiles)


def normal_series(
    h: Floats, q: Floats, slack: float, order: int
) -> tuple[list[Positive], list[Positive]]:
    """Return coefficients in t of Q and of its derivative G, for q = Q within `slack` units.

    G' = (Q G) G. A unit of error in q changes exp(q^2 / 2) by q^2 units. Squaring adds half of
    that. The exponential itself has an error of at most eight units (four in the last place).
    """
    series = [Positive(q, slack)]
    growth = (slack + 1) * q * q + 13
    slope = [Positive(h * (np.sqrt(2 * np.pi) * np.exp(q * q / 2)), growth)]
    product: list[Positive] = []
    for n in range(order):
        series.append(slope[n].times(1 / (n + 1)))
        product.append(dot(series, slope, n))
        slope.append(dot(product, slope, n).times(1 / (n + 1)))
    return series, slope


@dataclass(frozen=True)
class Gaussian(Distribution):
    """The standard normal distribution, density exp(-z**2 / 2) / sqrt(2 pi)."""

    def survival(self, mp: Any, z: Any) -> Any:
        return mp.erfc(z / mp.sqrt(2)) / 2

    def density(self, mp: Any, z: Any) -> Any:
        return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)

    def centers(self, mp: Any, p: Floats) -> list[Any]:
        return [mp.make_mpf(z) for z in _quantiles(tuple(p.tolist()), mp.prec)]

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        return normal_series(h, q, 1.0, order)[0][1:]
