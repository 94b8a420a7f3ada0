"""The logistic distribution.

Q(p) = ln((1 - p) / p). With r = p / (1 - p), coefficient j of Q(p - h t) is
(h / p)**j (1 - (-r)**j) / j, which is nonnegative for p < 1/2: so Q is absolutely monotone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import Distribution, Floats
from .series import Positive


@dataclass(frozen=True)
class Logistic(Distribution):
    """The standard logistic distribution, P(Z > z) = 1 / (1 + exp(z))."""

    def survival(self, mp: Any, z: Any) -> Any:
        tail = mp.exp(-z)
        return tail / (1 + tail)

    def density(self, mp: Any, z: Any) -> Any:
        tail = mp.exp(-z)
        return tail / (1 + tail) ** 2

    def quantile(self, mp: Any, p: Any) -> Any:
        return mp.log1p((1 - 2 * p) / p)  # this form loses no digits near p = 1/2

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        unit, power, terms = Positive(1.0, 0.0), Positive(1.0, 0.0), []
        ratio, r = Positive(h / p, 1.0), Positive(p / (1 - p), 2.0)
        # For even j, 1 - r**j = (1 - r**2) (1 + r**2 + r**4 + ...), which needs no subtraction.
        square, odd, even = r * r, r, unit  # sums of even and odd powers so far
        drop, rise = Positive((1 - 2 * p) / (1 - p), 3.0) * (unit + r), unit
        for j in range(1, order + 1):
            power = power * ratio
            if j % 2:
                factor, odd = unit + odd, odd * square
            else:
                factor, even = drop * rise, even * square
                rise = rise + even
            terms.append((power * factor).times(1 / j))
        return terms
