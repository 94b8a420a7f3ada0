"""The PolyPlace distribution of Hladik and Tetek (FORC 2025).

Its shape is a = epsilon / beta > 1. In units of alpha = beta the density is C (1 - |z|)^(a - 1) up
to 1/a and C_t (1 + |z|)^-(a + 1) beyond. Both branches of Q are powers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..._core import checks
from .base import Branch, Distribution, Floats, context
from .series import Positive


@lru_cache(maxsize=256)
def _constants(shape: float, precision: int) -> tuple[Any, ...]:
    """Return C, C_t and the tail probability at 1/a, as mpmath's raw numbers."""
    mp = context(precision + 80)  # 80 guard bits
    a = mp.mpf(shape)
    inner, outer = 1 - 1 / a, 1 + 1 / a
    c = a / 2 / (1 + 2 / a * inner ** (a - 1))
    # Probability of one tail beyond the corner: C_t outer^-a / a.
    c_tail = c * inner ** (a - 1) * outer ** (a + 1)
    knee = c_tail * outer**-a / a
    mp.prec = precision
    return c._mpf_, c_tail._mpf_, knee._mpf_


@dataclass(frozen=True)
class PolyPlace(Distribution):
    """The PolyPlace distribution of shape a > 1."""

    shape: float

    def __post_init__(self) -> None:
        rule = "a number from 1.001 to 1,000,000"
        shape = checks.number("shape", self.shape, rule)
        if not 1.001 <= shape <= 1e6:
            checks.fail("shape", rule, self.shape)
        object.__setattr__(self, "shape", shape)

    def constants(self, mp: Any) -> tuple[Any, ...]:
        """Return the density's constants C and C_t, and the tail probability at 1/a."""
        full = mp.prec
        constants = tuple(mp.make_mpf(x) for x in _constants(self.shape, full))
        mp.prec = full
        return constants

    def knee(self, mp: Any) -> Any:
        return +self.constants(mp)[2]

    def branches(self) -> tuple[Branch, ...]:
        return _Tail(self), _Center(self)

    def survival(self, mp: Any, z: Any) -> Any:
        a = mp.mpf(self.shape)
        c, c_tail, _ = self.constants(mp)
        in_tail = a * z >= 1
        with mp.extraprec(60):
            if in_tail:
                exact = c_tail / a * (1 + z) ** -a
            else:
                exact = mp.mpf(0.5) - c / a * (1 - (1 - z) ** a)
        return +exact

    def density(self, mp: Any, z: Any) -> Any:
        a = mp.mpf(self.shape)
        c, c_tail, _ = self.constants(mp)
        return c_tail * (1 + z) ** -(a + 1) if a * z >= 1 else c * (1 - z) ** (a - 1)

    def quantile(self, mp: Any, p: Any) -> Any:
        tail, center = self.branches()
        return (tail if p <= self.constants(mp)[2] else center).quantile(mp, p)


@dataclass(frozen=True)
class _Tail(Branch):
    """The quantile function Q on the tail, Q + 1 = (p a / C_t)^(-1/a)."""

    distribution: PolyPlace

    def quantile(self, mp: Any, p: Any) -> Any:
        with mp.extraprec(60):
            a = mp.mpf(self.distribution.shape)
            exact = (p * a / self.distribution.constants(mp)[1]) ** (-1 / a) - 1
        return +exact

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        ratio = Positive(h / p, 1.0)
        term = Positive(1 + q, 3.0)
        terms = []
        for j in range(order):
            # 1/a + j is within two units, the quotient within three, and `times(1)` allows for one
            # more.
            term = (term * ratio).times((1 / self.distribution.shape + j) / (j + 1)).times(1.0)
            terms.append(term)
        return terms


@dataclass(frozen=True)
class _Center(Branch):
    """The center of the quantile function, Q = 1 - W, W = B^(1/a), B = (p - p_s) a / C, p > p_s."""

    distribution: PolyPlace

    def _start(self, mp: Any) -> Any:
        return 0.5 - self.distribution.constants(mp)[0] / mp.mpf(self.distribution.shape)

    def quantile(self, mp: Any, p: Any) -> Any:
        with mp.extraprec(60):
            a = mp.mpf(self.distribution.shape)
            base = 1 - (mp.mpf(0.5) - p) * a / self.distribution.constants(mp)[0]
            exact = 1 - base ** (1 / a) if base > 0 else mp.one
        return +exact

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        a = self.distribution.shape
        start = float(self._start(mp))
        room = p - start
        # 1 - (1 - h t / room)^(1/a): the factors (j - 1/a) / (j + 1) are positive since a > 1.
        with np.errstate(all="ignore"):
            ratio = Positive(h / room, 2 + start / room)
            term = Positive(1 - q, 2 + q / (1 - q))
            terms = [(term * ratio).times(1 / a)]
            for j in range(1, order):
                factor = (a - 1) / a if j == 1 else j - 1 / a
                terms.append((terms[-1] * ratio).times(factor / (j + 1)).times(1.0))
        return terms

    def reach(self, mp: Any, p: Floats) -> tuple[Floats, Floats]:
        # Up to 15/16 of the way to the branch point p_s, where B is a sixteenth.
        room = p - float(self._start(mp))
        a = self.distribution.shape
        base = room * (a / float(self.distribution.constants(mp)[0]))
        with np.errstate(all="ignore"):
            most = -np.expm1(np.log(base / 16) / a) * (1 + 2.0**-30)
        return room * (15 / 16), most
