"""Noise on the integers of many groups, a part of which is common to all groups.

A step changes the integers q of d groups by a vector v of 0 .. L with at most k entries that are
not 0, all in one direction. Let n be a number that such a step changes by 1, and A_i = q_i - a L n.
Then A changes by v - a L, which is shorter than v if k is near d, and q_i = A_i + a L n. The
released numbers are A and n, with separate noise over all integers, in units of 1 / u for a = t / u
(`measurement.choice`, *Units that come in few of many groups*, has the norms and the parts of the
loss). The answer is a function of these, so it costs no more; and n cancels: the answer is q_i +
(z_i + t L z) / u for the noise z_i of A_i and z of n. So n need not be counted.

The last sum is rounded to an integer at random, up with a probability equal to its fraction, which
is unbiased and adds (1 - 1 / u^2) / 6 to the variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._core.attributes import same_as
from ..rng import Generator
from .box import BoxNoise
from .choice import uniform


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """Integer noise for many groups, a part of which is common to all groups.

    Parameters
    ----------
    parts : BoxNoise
        The noise of n and that of each A_i.
    times : int
        How many times the noise of n is in a group, t L.
    unit : int
        u.
    """

    parts: BoxNoise
    times: int
    unit: int

    #: The loss of releasing all groups.
    loss = same_as("parts.loss")

    distribution = same_as("parts.distribution")

    @property
    def shift(self) -> int:
        return 0

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a group."""
        shared, group = self.parts.deviations
        rounding = (1 - 1 / self.unit**2) / 6
        return math.hypot(self.times * shared / self.unit, group / self.unit, math.sqrt(rounding))

    def half_width(self, failure: float) -> int:
        """Return the half-width that the noise of a group exceeds with a failure probability."""
        factors = {0: Fraction(self.times, self.unit), 1: Fraction(1, self.unit)}
        size = self.parts.sum_half_width(failure, factors)
        return math.floor(size + 1 - Fraction(1, self.unit))

    def draw(self, size: int, generator: Generator) -> NDArray[np.int64]:
        """Draw the noise of `size` groups for one release."""
        shared, group = self.parts.independent
        assert shared is not None and group is not None
        noise = group.draw(size, generator) + self.times * shared.draw(1, generator)
        return (noise + uniform(self.unit, size, generator.stream())) // self.unit
