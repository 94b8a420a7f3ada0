"""Noise on a number that another program made, for a sensitivity and a loss that it states.

The number need not lie on a grid: number and noise are added before anything is rounded, so
rounding is post-processing and owes nothing.

* Laplace noise of scale D1 / epsilon is epsilon-DP, D1 the L1 sensitivity (Dwork, McSherry, Nissim
  and Smith, TCC 2006).
* Gaussian noise of standard deviation D2 / s is (epsilon, delta)-DP with the s of `additive`, D2
  the L2 sensitivity (Balle and Wang, ICML 2018).

Scales are rounded up, and no epsilon is too large. The s of `additive` is computed up to
`additive.MOST`, and what satisfies a smaller epsilon satisfies a larger one. Beyond it, s may also
be sqrt(2 rho) for the rho with epsilon = rho + 2 sqrt(rho ln(1 / delta)) (Bun and Steinke, TCC
2016): sqrt(rho) = sqrt(ln(1 / delta) + epsilon) - sqrt(ln(1 / delta)). The least scale is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from .additive import LEAST, MOST, analytic
from .distributions import Distribution, Gaussian, Laplace
from .samplers import draw, draw_array, saturated

#: Bits of the grid below the scale; scales as exponents of two.
FINEST, FAR = 30, 900
_LAWS: dict[str, Distribution] = {"laplace": Laplace(), "gaussian": Gaussian()}


@dataclass(frozen=True)
class Added:
    """Noise of one scale on a number, or on each number of an array.

    Parameters
    ----------
    law : {"laplace", "gaussian"}
    scale : float
        Of Laplace noise, or the standard deviation of Gaussian noise.
    loss : Loss
        Of all numbers that a step between neighbors moves, together.
    """

    law: str
    scale: float
    loss: Loss

    name: ClassVar[str] = "noise"
    neighbors: ClassVar[str] = "add-remove"

    @cached_property
    def grid(self) -> float:
        """The power of two that answers are multiples of."""
        return max(math.ldexp(1.0, math.frexp(self.scale)[1] - 1 - FINEST), 2.0**-1000)

    def reduce(self, source: Any) -> Any:
        """Return what the sampler takes, which saturates."""
        if isinstance(source, np.ndarray):
            return saturated(source)
        number = checks.real(source)
        return math.nan if number is None else number

    def finish(self, summary: Any, generator: Generator) -> Any:
        law = _LAWS[self.law]
        if not isinstance(summary, np.ndarray):
            return draw(
                law, value=summary, scale=self.scale, granularity=self.grid, generator=generator
            )
        found: NDArray[np.float64] = draw_array(
            law,
            value=summary,
            scale=np.array([self.scale]),
            granularity=np.array([self.grid]),
            shape=summary.shape,
            generator=generator,
        )
        return found


def _checked(name: str, scale: float) -> float:
    if not 2.0**-FAR <= scale <= 2.0**FAR:
        rule = f"such that noise has a scale between 2**-{FAR} and 2**{FAR}"
        checks.fail(name, rule, scale)
    return scale


@lru_cache(maxsize=1024)
def laplace(sensitivity: float, epsilon: float) -> Added:
    """Return Laplace noise for an L1 sensitivity, of the least scale in float64."""
    scale = sensitivity / epsilon
    if Fraction(scale if scale < math.inf else 0) * Fraction(epsilon) < Fraction(sensitivity):
        scale = math.nextafter(scale, math.inf)
    return Added("laplace", _checked("sensitivity", scale), Pure(epsilon))


@lru_cache(maxsize=1024)
def gaussian(sensitivity: float, epsilon: float, delta: float) -> Added:
    """Return Gaussian noise for an L2 sensitivity."""
    if epsilon < LEAST["epsilon"]:
        checks.fail("epsilon", "at least 2**-30 for Gaussian noise", epsilon)
    if not 1e-300 <= delta < 1:
        checks.fail("delta", "at least 1e-300 and less than 1", delta)
    unit = analytic(min(epsilon, float(MOST)), delta)
    if epsilon > MOST:
        far = -math.log(delta)
        root = math.sqrt(far + epsilon) - math.sqrt(far)
        unit = min(unit, (1.0 + 2.0**-40) / (math.sqrt(2.0) * root))
    scale = math.nextafter(sensitivity * unit, math.inf)
    return Added("gaussian", _checked("sensitivity", scale), Approx(epsilon, delta))


@lru_cache(maxsize=1024)
def of_deviation(deviation: float) -> Added:
    """Return Gaussian noise of a standard deviation; the loss is told for a sensitivity of 1."""
    scale = _checked("deviation", deviation)
    return Added("gaussian", scale, ZCDP(1 / (2 * Fraction(deviation) ** 2)))
