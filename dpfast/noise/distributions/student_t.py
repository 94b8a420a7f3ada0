"""Student's t distribution.

With s = z / sqrt(df + z^2), s' = (1 - s^2)^(1 - df/2) / c towards the tail. For df >= 2 all series
below have nonnegative coefficients, so Q is absolutely monotone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..._core import checks
from .base import Branch, Distribution, Floats
from .beta import beta_constant, beta_tail, march
from .generalized_cauchy import Cauchy
from .series import Positive, dot

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class StudentT(Distribution):
    """The distribution of density proportional to (1 + z**2 / df)**(-(df + 1) / 2).

    df is 1 or at least 2.
    """

    df: float

    def __post_init__(self) -> None:
        rule = "1, or a number from 2 to 1,000,000"
        df = checks.number("df", self.df, rule)
        if df != 1 and not 2 <= df <= 1e6:
            checks.fail("df", rule, self.df)
        object.__setattr__(self, "df", df)

    def branches(self) -> tuple[Branch, ...]:
        return (Cauchy(),) if self.df == 1 else (self,)

    def _scale(self, mp: Any) -> Any:
        return mp.sqrt(mp.mpf(self.df)) * beta_constant(mp, Fraction(self.df) / 2, _HALF)

    def survival(self, mp: Any, z: Any) -> Any:
        z = mp.mpf(z)

        def split() -> tuple[Any, Any]:
            square = z * z
            total = self.df + square
            return self.df / total, square / total

        return beta_tail(mp, Fraction(self.df) / 2, _HALF, split)

    def density(self, mp: Any, z: Any) -> Any:
        power = (mp.mpf(self.df) + 1) / 2
        return mp.exp(-power * mp.log1p(mp.mpf(z) ** 2 / self.df)) / self._scale(mp)

    def centers(self, mp: Any, p: Floats) -> list[Any]:
        df, scale = self.df, float(self._scale(mp))
        power = -(df + 1) / 2

        def density(z: float) -> float:
            return math.exp(power * math.log1p(z * z / df)) / scale

        def decline(z: float) -> float:
            return (df + 1) * z / (df + z * z)

        return march(self, mp, p, density, decline)

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        df = self.df
        power = df / 2 - 1
        scale = float(beta_constant(mp, Fraction(df) / 2, _HALF))
        square = q * q / df
        exponent = power * np.log1p(square)
        # Units of error: the exponent has 16 (log1p 8), relative, and np.exp 8; roots and
        # quotients few.
        s = [Positive(q / np.sqrt(df + q * q), 6.0)]
        ratio = [Positive(1 + square, 5.0)]  # 1 / (1 - s^2)
        root = [Positive(np.sqrt(1 + square), 5.0)]
        speed = [Positive((h * scale) * np.exp(exponent), 16 * exponent + 12)]  # ds / dt
        change: list[Positive] = []  # s s'
        drive: list[Positive] = []  # s s' / (1 - s^2)
        for n in range(order):
            s.append(speed[n].times(1 / (n + 1)))
            change.append(dot(s, speed, n))
            drive.append(dot(change, ratio, n))
            ratio.append(dot(drive, ratio, n).times(2 / (n + 1)))
            speed.append(dot(drive, speed, n).times(2 * power / (n + 1)))
            root.append(dot(drive, root, n).times(1 / (n + 1)))
        size = math.sqrt(df)
        return [dot(s, root, n).times(size) for n in range(1, order + 1)]
