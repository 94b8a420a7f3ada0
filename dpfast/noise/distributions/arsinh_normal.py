"""The arsinh-normal distribution of Bun and Steinke (NeurIPS 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core import checks
from .base import Distribution, Floats
from .gaussian import Gaussian, normal_series
from .series import Positive, dot


@dataclass(frozen=True)
class ArsinhNormal(Distribution):
    """The distribution of sinh(sigma Y) / sigma for a standard normal Y."""

    sigma: float

    def __post_init__(self) -> None:
        rule = "a number from 0.001 to 10"
        sigma = checks.number("sigma", self.sigma, rule)
        if not 0.001 <= sigma <= 10:
            checks.fail("sigma", rule, self.sigma)
        object.__setattr__(self, "sigma", sigma)

    def _inside(self, mp: Any, z: Any) -> Any:
        # A relative error of one unit in Y gives Y^2 units in the survival function.
        with mp.extraprec(30):
            return mp.asinh(mp.mpf(self.sigma) * z) / mp.mpf(self.sigma)

    def survival(self, mp: Any, z: Any) -> Any:
        return Gaussian().survival(mp, self._inside(mp, z))

    def density(self, mp: Any, z: Any) -> Any:
        sigma = mp.mpf(self.sigma)
        return Gaussian().density(mp, self._inside(mp, z)) / mp.sqrt(1 + (sigma * z) ** 2)

    def quantile(self, mp: Any, p: Any) -> Any:
        return self._outside(mp, Gaussian().quantile(mp, p))

    def _outside(self, mp: Any, y: Any) -> Any:
        sigma = mp.mpf(self.sigma)
        return mp.sinh(sigma * y) / sigma

    def centers(self, mp: Any, p: Floats) -> list[Any]:
        return [self._outside(mp, y) for y in Gaussian().centers(mp, p)]

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        # y = asinh(sigma q) / sigma is good to 12 units (8 for asinh). With S = sinh(sigma y),
        # C = cosh(sigma y), G = dy/dt: S' = sigma G C, C' = sigma G S, and Q = S / sigma.
        sigma = self.sigma
        y = np.arcsinh(sigma * q) / sigma
        slope = normal_series(h, y, 12.0, order)[1]
        sinh = [Positive(sigma * q, 2.0)]
        cosh = [Positive(np.sqrt(1 + (sigma * q) ** 2), 8.0)]
        for n in range(order):
            factor = sigma / (n + 1)
            up, down = dot(slope, cosh, n), dot(slope, sinh, n)
            sinh.append(up.times(factor))
            cosh.append(down.times(factor))
        return [s.times(1 / sigma) for s in sinh[1:]]
