"""The generalized Cauchy distribution, density C / (1 + |z|^gamma), and the Cauchy distribution.

Q' = (1 + Q^gamma) / C, so Q is absolutely monotone for integer gamma. |Z|^gamma / (1 + |Z|^gamma)
has a beta distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._core import checks
from .base import Distribution, Floats
from .beta import beta_tail, march
from .series import Positive, dot


def _powers(gamma: int) -> list[tuple[int, int]]:
    """Return the products that lead to Q**gamma, each as indices (i, j) of earlier powers.

    Entry 0 is Q.
    """
    steps: list[tuple[int, int]] = []
    at = 0
    for bit in bin(gamma)[3:]:
        steps.append((at, at))
        at = len(steps)
        if bit == "1":
            steps.append((at, 0))
            at = len(steps)
    return steps


@dataclass(frozen=True)
class GeneralizedCauchy(Distribution):
    """The distribution of density proportional to 1 / (1 + |z|**gamma), gamma an integer >= 2."""

    gamma: int

    def __post_init__(self) -> None:
        gamma = checks.whole("gamma", self.gamma, 2)
        if gamma > 100:
            checks.fail("gamma", "an integer from 2 to 100", self.gamma)
        object.__setattr__(self, "gamma", gamma)

    def _constant(self, mp: Any) -> Any:
        return self.gamma * mp.sinpi(mp.mpf(1) / self.gamma) / (2 * mp.pi)

    def survival(self, mp: Any, z: Any) -> Any:
        z = mp.mpf(z)

        def split() -> tuple[Any, Any]:
            with mp.extraprec(self.gamma.bit_length()):
                power = z**self.gamma
            w = 1 / (1 + power)
            return w, power * w

        return beta_tail(mp, 1 - Fraction(1, self.gamma), Fraction(1, self.gamma), split)

    def density(self, mp: Any, z: Any) -> Any:
        return self._constant(mp) / (1 + z**self.gamma)

    def centers(self, mp: Any, p: Floats) -> list[Any]:
        constant, gamma = float(self._constant(mp)), self.gamma

        def density(z: float) -> float:
            return constant / (1 + z**gamma)

        def decline(z: float) -> float:
            if z > 1:
                return gamma / (z + z ** (1 - gamma))
            return gamma * z ** (gamma - 1) / (1 + z**gamma)

        return march(self, mp, p, density, decline)

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        rate = 1 / float(self._constant(mp))
        series: list[list[Positive]] = [[Positive(q, 1.0)]]
        steps = _powers(self.gamma)
        series += [[] for _ in steps]
        scale = Positive(h * rate, 3.0)
        for n in range(order):
            for at, (i, j) in enumerate(steps, 1):
                series[at].append(dot(series[i], series[j], n))
            inside = series[-1][n]
            if n == 0:
                inside = inside + Positive(1.0, 0.0)
            series[0].append((inside * scale).times(1 / (n + 1)))
        return series[0][1:]


@dataclass(frozen=True)
class Cauchy(Distribution):
    """The Cauchy distribution, density 1 / (pi (1 + z**2)): gamma = 2 in closed form."""

    def survival(self, mp: Any, z: Any) -> Any:
        return mp.atan2(1, z) / mp.pi

    def density(self, mp: Any, z: Any) -> Any:
        return 1 / (mp.pi * (1 + z * z))

    def quantile(self, mp: Any, p: Any) -> Any:
        with mp.extraprec(20):
            exact = mp.cot(mp.pi * p)
        return +exact

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        series = [Positive(q, 1.0)]
        scale = Positive(h * math.pi, 2.0)
        for n in range(order):
            square = dot(series, series, n)
            if n == 0:
                square = square + Positive(1.0, 0.0)
            series.append((square * scale).times(1 / (n + 1)))
        return series[1:]
