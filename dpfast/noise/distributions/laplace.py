"""The Laplace distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import Distribution, Floats
from .series import Positive


@dataclass(frozen=True)
class Laplace(Distribution):
    """The standard Laplace distribution, density exp(-|z|) / 2, Q(p) = -ln(2 p)."""

    def survival(self, mp: Any, z: Any) -> Any:
        return mp.exp(-z) / 2

    def density(self, mp: Any, z: Any) -> Any:
        return mp.exp(-z) / 2

    def quantile(self, mp: Any, p: Any) -> Any:
        return -mp.log(2 * p)

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        # -ln(1 - h t / p): every coefficient is a power of h / p over its index.
        ratio = Positive(h / p, 1.0)
        powers = [ratio]
        for _ in range(order - 1):
            powers.append(powers[-1] * ratio)
        return [power.times(1 / j) for j, power in enumerate(powers, 1)]
