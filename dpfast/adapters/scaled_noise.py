"""Noise of a scale that another program has chosen, and its loss for a sensitivity.

In dpfast noise is calibrated to a loss. Other programs choose the noise, and compute the loss.

* Laplace noise of scale b on a vector with an L1 sensitivity of d is (d / b)-DP (Dwork, McSherry,
  Nissim and Smith, TCC 2006), and so is discrete Laplace noise on integers.
* Gaussian noise of scale s on a vector with an L2 sensitivity of d is (d**2 / (2 s**2))-zCDP (Bun
  and Steinke, TCC 2016), and so is discrete Gaussian noise (Canonne, Kamath and Steinke, NeurIPS
  2020).

Numbers are clamped to the range of the sampler, which does not increase their distance. A float
need not lie on the grid. Number and noise are added before anything is rounded, so rounding is
post-processing and costs nothing.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

import dpfast as dp
from dpfast.extend import Neighbors, checks
from dpfast.privacy import ZCDP, Loss, Pure
from dpfast.rng import Generator

#: The largest integer to which noise is added.
_MOST = 1 << 62


def finite(value: Any) -> float:
    """Return a private number as a finite float, NaN and other values as 0, and never raise."""
    number = checks.real(value)
    if number is None or math.isnan(number):
        return 0.0
    return min(max(number, -sys.float_info.max), sys.float_info.max)


@dataclass(frozen=True)
class ScaledNoise:
    """Independent noise of one scale on a number, or on each number of an array.

    Parameters
    ----------
    distribution : {"laplace", "gaussian"}
    scale : Fraction or float
        The scale of Laplace noise, or the standard deviation of Gaussian noise.
    whole : bool
        Whether numbers and noise are integers.
    """

    distribution: str
    scale: Fraction | float
    whole: bool = False

    neighbors: ClassVar[Neighbors] = "add-remove"

    @property
    def name(self) -> str:
        return f"{self.distribution} noise"

    @cached_property
    def loss(self) -> Loss:
        """The loss for a sensitivity of 1."""
        return self.loss_of(Fraction(1))

    def loss_of(self, distance: Fraction) -> Loss:
        """Return the loss for a sensitivity above 0, in L1 (Laplace noise) or L2 (Gaussian)."""
        share = distance / Fraction(self.scale)
        return Pure(share) if self.distribution == "laplace" else ZCDP(share**2 / 2)

    @cached_property
    def grid(self) -> float:
        """The grid of the noise, a power of two; floats with noise are multiples of it."""
        return max(math.ldexp(1.0, math.frexp(float(self.scale))[1] - 31), 2.0**-1000)

    def reduce(self, source: Any) -> Any:
        """Return the numbers; integers clamped so that 64 bits hold them with noise."""
        if not self.whole:
            return source  # the sampler clamps floats
        values = np.asarray(source)
        wide = values if values.dtype == np.uint64 else values.astype(np.int64)
        return np.maximum(np.minimum(wide, wide.dtype.type(_MOST)).astype(np.int64), -_MOST)

    def finish(self, summary: Any, generator: Generator) -> Any:
        """Return the numbers with noise, as floats, or as integers if `whole`."""
        is_laplace = self.distribution == "laplace"
        if self.whole:
            draw = dp.noise.discrete_laplace if is_laplace else dp.noise.discrete_gaussian
            return draw(self.scale, summary.shape, rng=generator) + summary
        sampler = dp.noise.generator(self.grid, rng=generator)
        return (sampler.laplace if is_laplace else sampler.normal)(summary, float(self.scale))
