"""Noise of a scale that the caller has chosen, and what it costs for a distance.

Elsewhere a loss is asked for and noise is made for it. Other tools ask the other way around.

* Laplace noise of scale b on a vector that moves by d in L1 is (d / b)-DP (Dwork, McSherry, Nissim
  and Smith, TCC 2006), and so is discrete Laplace noise on integers.
* Gaussian noise of scale s on a vector that moves by d in L2 is (d**2 / (2 s**2))-zCDP (Bun and
  Steinke, TCC 2016), and so is discrete Gaussian noise (Canonne, Kamath and Steinke, NeurIPS 2020).
* k choices with probabilities in proportion to exp(score / b), of scores that each move by d, have
  a range of 2 d / b each, or d / b where all of them move the same way, and are so much DP (Durfee
  and Rogers, NeurIPS 2019).

Values are clamped to what a sampler takes, which brings none of them farther apart. Those of
floats are added to noise before anything is rounded, and the sum is rounded to a public grid
correctly, so no term for rounding is owed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..privacy import ZCDP, Draws, Loss, Pure
from ..rng import Generator
from . import samplers
from .distributions import Gaussian, Laplace
from .distributions.discrete import gaussian_integers, laplace_noise

#: Scales of noise on floats and on integers, as exponents of two.
FLOATS, INTEGERS = 900, 40
#: Bits of the grid below the scale.
FINEST = 30
_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Scaled:
    """Independent noise of one scale on each number of a vector.

    Parameters
    ----------
    distribution : {"laplace", "gaussian"}
    scale : Fraction
    whole : bool
        Whether values and noise are integers.
    """

    distribution: str
    scale: Fraction
    whole: bool

    @classmethod
    def of(cls, distribution: str, scale: Any, whole: bool) -> Scaled:
        """Check a scale; a float is the binary number that it is."""
        width = checks.positive("scale", scale)
        power = INTEGERS if whole else FLOATS
        if not 2.0**-power <= width <= 2.0**power:
            checks.fail("scale", f"a number between 2**-{power} and 2**{power}", scale)
        return cls(distribution, checks.ratio(scale) if whole else Fraction(width), whole)

    def loss(self, distance: Fraction) -> Loss:
        """Return the loss where the vector moves by so much, more than 0, in L1 or L2."""
        if self.distribution == "laplace":
            return Pure(distance / self.scale)
        return ZCDP((distance / self.scale) ** 2 / 2)

    def add(self, values: NDArray[Any], generator: Generator) -> NDArray[Any]:
        """Return the values with noise, as float64 or int64."""
        if self.whole:
            out = np.zeros(len(values), np.int64)
            fill = laplace_noise if self.distribution == "laplace" else gaussian_integers
            samplers.in_pieces(
                len(out), generator.stream(), lambda i, j, own: fill(out[i:j], self.scale, own)
            )
            wide = values if values.dtype == np.uint64 else values.astype(np.int64)
            out += np.maximum(np.minimum(wide, wide.dtype.type(_MOST)).astype(np.int64), -_MOST)
            return out
        width = float(self.scale)
        grid = max(math.ldexp(1.0, math.frexp(width)[1] - 1 - FINEST), 2.0**-1000)
        return samplers.draw_array(
            Laplace() if self.distribution == "laplace" else Gaussian(),
            value=values.astype(np.float64),
            scale=np.array([width]),
            granularity=np.array([grid]),
            shape=(len(values),),
            generator=generator,
        )


def rounded_sums(
    values: NDArray[np.int64], scale: Fraction, generator: Generator
) -> NDArray[np.int64]:
    """Return integers with Gaussian noise, each sum rounded correctly to an integer.

    Rounding is post-processing of the real sum, so it costs what Gaussian noise costs. For a scale
    of several integers this is twice as fast as discrete Gaussian noise.
    """
    found = samplers.draw_array(
        Gaussian(),
        value=values.astype(np.float64),
        scale=np.array([math.nextafter(float(scale), math.inf)]),
        granularity=np.ones(1),
        shape=values.shape,
        generator=generator,
    )
    return np.clip(found, -_MOST, _MOST, out=found).astype(np.int64)


def choices_loss(picks: int, scale: Fraction, distance: Fraction, monotone: bool) -> Draws:
    """Return the loss of choices of a scale, whose scores move by so much."""
    each = (1 if monotone else 2) * distance / scale
    return Draws(picks * each, picks, bounded_range=True)
