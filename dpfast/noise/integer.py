"""Noise for exact integers: what a loss asks for, as integers too, so that nothing is rounded.

Let neighbors move a vector of integers by d with l1 norm at most D1 and l2 norm at most D2.

* Discrete Laplace noise of scale D1 / epsilon on each is epsilon-DP (Ghosh, Roughgarden and
  Sundararajan, STOC 2009), hence (epsilon, delta)-DP. In zCDP it costs what D1 / m numbers cost of
  which each moves by m, where m is the most that one coordinate moves by; `laplace_loss`.
* Discrete Gaussian noise of parameter D2 / sqrt(2 rho) is rho-zCDP (Canonne, Kamath and Steinke,
  NeurIPS 2020).
* Gaussian noise of standard deviation D2 / s, rounded to integers, is (epsilon, delta)-DP with the
  s of `additive`, for an integer plus that is a sum rounded, which is post-processing. (float64
  holds a sample exactly up to 2**53, beyond 2**13 standard deviations; what lies there weighs less
  than any part of delta.)

Where two serve, the one with the smaller standard deviation is taken, a choice among public
numbers.

Integers may be so large that a sampler cannot reach as far as their noise. Then they are divided
by a public power of two first, rounded down, which moves each coordinate by less than one unit
more. Where `moved` coordinates can change, D1 / 2**k + moved and D2 / 2**k + sqrt(moved) cover
that (D1 / 2**k rounded up, as D1 may stand for so many times a smaller one), and the noise grows
by very little, for 2**k is far below it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import laplace_sum, normal
from .._core.roots import root_up
from ..privacy import ZCDP, Approx, Draws, Loss, Pure, float_down, laplace_within
from ..rng import Generator
from . import samplers as _noise
from .additive import amount, analytic
from .distributions import Gaussian
from .distributions.discrete import gaussian_integers, laplace_integers

_FAR = 1 << 40  # the largest scale that the samplers take


@dataclass(frozen=True, slots=True)
class IntegerNoise:
    """Independent integer noise for each coordinate of a vector of integers.

    `scale` is that of `distribution` in units of ``2**shift``; `loss` is what the release of the
    whole vector costs. Scale 0 is for what cannot move: no noise.
    """

    distribution: str
    scale: Fraction
    shift: int
    loss: Loss

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a coordinate (for a discrete Gaussian, a bound)."""
        return math.ldexp(_deviation(self.distribution, self.scale), self.shift)

    def within(self, miss: float, terms: int = 1) -> int:
        """A size that the noise exceeds with probability at most `miss`, or a sum of so many of it.

        A discrete Laplace number differs by less than 1 from a Laplace number of its scale, and a
        Gaussian one by at most 1/2 when it is rounded. The tail of a discrete Gaussian from k on is
        below that of a Gaussian from k - 1/2, beyond one deviation, where the density is convex.
        """
        width = float(self.scale)
        if not width:
            return 0
        if self.distribution != "laplace":
            size = math.ceil(width * math.sqrt(terms) * normal(miss) + (terms - 2) / 2)
        elif terms > 1:
            size = math.ceil(width * laplace_sum(miss, terms)) + terms
        else:  # P(|Z| > h) = 2 p^(h + 1) / (1 + p)
            p = math.exp(-1.0 / width)
            size = max(0, math.ceil(width * math.log(2.0 / (1.0 + p) / miss) - 1.0))
        return (size + (terms if self.shift else 0)) << self.shift

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """The values with noise."""
        if not self.scale:
            return list(values)
        drawn = self.draw(len(values), generator).tolist()
        if not self.shift:
            return list(map(operator.add, values, drawn))
        half = 1 << self.shift >> 1  # rounding down takes half a unit away on average
        return [
            (((value >> self.shift) + z) << self.shift) + half
            for value, z in zip(values, drawn, strict=True)
        ]

    def draw(self, size: int, generator: Generator) -> NDArray[np.int64]:
        """Noise alone, in units of ``2**shift``."""
        out = np.zeros(size, np.int64)
        if not self.scale or not size:
            return out
        stream = generator.stream()
        if self.distribution == "laplace":
            laplace_integers(out, self.scale, stream, None, stream.word)
        elif self.distribution == "gaussian":
            gaussian_integers(out, self.scale, stream)
        else:
            one, scale = np.ones(1), math.nextafter(float(self.scale), math.inf)
            out[...] = _noise.draw_array(
                Gaussian(),
                value=0 * one,
                scale=scale * one,
                granularity=one,
                shape=(size,),
                generator=generator,
            )
        return out


def _deviation(distribution: str, scale: Fraction) -> float:
    width = float(scale)
    if distribution == "laplace":
        if not width:
            return 0.0
        return math.sqrt(2.0 * math.exp(-1.0 / width)) / -math.expm1(-1.0 / width)
    return width if distribution == "gaussian" else math.hypot(width, math.sqrt(1.0 / 12.0))


def _shape(l1: int | Fraction, most: int) -> tuple[int, int]:
    """Draws and cells that cost no less than moves of l1 norm `l1`, of at most `most` each.

    With R(m) the cost of a move by m, R(m) / m increases (`privacy.Draws`), so the moves cost at
    most l1 / most R(most), and n = floor(l1 / most) moves of l1 / n cost no less.
    """
    draws = max(1, math.floor(l1 / max(1, most)))
    return draws, max(1, math.floor(l1 / draws))


def laplace_loss(epsilon: Fraction, draws: int, cells: int) -> Pure:
    """Of so many numbers with discrete Laplace noise; one that moves by 1 is plain epsilon."""
    return Pure(epsilon) if draws == cells == 1 else Draws(epsilon, draws=draws, cells=cells)


@lru_cache(maxsize=1024)
def integer_noise(
    loss: Loss,
    l1: int,
    l2_squared: int | Fraction,
    moved: int | Fraction = 1,
    distribution: str | None = None,
    most: int | None = None,
) -> IntegerNoise:
    """The least noise for a vector of integers.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        Of the whole vector.
    l1, l2_squared : int, and int or Fraction
        By how much neighbors move it: the largest l1 norm and the largest square of the l2 norm.
    moved : int or Fraction
        How many coordinates may move at once, at most: the square of the l2 norm of a move by 1 of
        each.
    distribution : str, optional
        The distribution that it has to be, of those that `loss` allows.
    most : int, optional
        By how much neighbors move one coordinate at most, where `l2_squared` allows for more.

    Returns
    -------
    IntegerNoise
        Its `loss` is what noise of these moves costs: of Laplace noise, with its distribution.

    Raises
    ------
    ArgumentError
        When the loss is so small that noise for `moved` integers that move by 1 is beyond what can
        be sampled.
    """
    size = amount(loss)
    if not l1:
        return IntegerNoise("laplace", Fraction(0), 0, loss)
    single = math.isqrt(math.floor(l2_squared)) if most is None else most
    shift, found = 0, _unshifted(loss, size, l1, Fraction(l2_squared), distribution, single)
    while found.scale > _FAR:
        shift += max(1, (int(found.scale) // _FAR).bit_length() - 1)
        unit = 1 << shift
        if unit > _FAR * l1:  # no unit, however large, leaves less than `moved` to be covered
            name = "rho" if isinstance(loss, ZCDP) else "epsilon"
            checks.fail(name, "larger for so many numbers, rounds or shares", float(size))
        l2 = (root_up(Fraction(l2_squared)) / unit + root_up(Fraction(moved))) ** 2
        found = _unshifted(loss, size, -(-l1 // unit) + moved, l2, distribution, -(-single // unit))
    return IntegerNoise(found.distribution, found.scale, shift, found.loss)


def _unshifted(
    loss: Loss,
    size: Fraction,
    l1: int | Fraction,
    l2_squared: Fraction,
    distribution: str | None,
    most: int,
) -> IntegerNoise:
    shape = _shape(l1, most)
    if isinstance(loss, Pure):
        return IntegerNoise("laplace", l1 / size, 0, laplace_loss(size, *shape))
    if isinstance(loss, ZCDP):
        found = IntegerNoise("gaussian", root_up(l2_squared / (2 * size)), 0, loss)
        other = IntegerNoise("laplace", l1 / laplace_within(size, *shape), 0, loss)
    else:
        assert isinstance(loss, Approx)
        unit = Fraction(analytic(float_down(size), float_down(loss.delta)))
        found = IntegerNoise("rounded-gaussian", root_up(l2_squared) * unit, 0, loss)
        other = IntegerNoise("laplace", l1 / size, 0, laplace_loss(size, *shape))
    least = found if found.deviation < other.deviation else other
    return least if distribution is None else found if distribution == found.distribution else other
