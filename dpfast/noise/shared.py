"""Noise for the integers of many groups, a part of which is the same for all groups.

Between neighbors, the integers q of d groups change by a vector v of integers from 0 to L, all in
one direction, of which at most k are not 0. Let n be a number that changes by 1, and A_i = q_i - a
L n. Then A changes by v - a L, which is shorter than v if k is close to d. A and n get separate
noise, in units of 1 / u for a = t / u (`measurement.choice`, *Units that come in few of many
groups*, has the norms and the parts of the loss). The answer is A_i + a L n with this noise, so it
costs no more than A and n. n cancels: the answer is q_i + (z_i + t L z) / u, where z_i is the noise
of A_i and z the noise of n. So n need not be counted.

The sum is rounded to an integer at random: up with a probability equal to its fraction. This is
unbiased, and adds (1 - 1 / u^2) / 6 to the variance.
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
    """Integer noise for many groups, a part of which is the same for all groups.

    Parameters
    ----------
    parts : BoxNoise
        The noise of n, and the noise of each A_i.
    times : int
        t L: how many times the noise of n is added to a group.
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
        """Return a bound that the noise of a group exceeds with probability at most `failure`."""
        factors = {0: Fraction(self.times, self.unit), 1: Fraction(1, self.unit)}
        size = self.parts.sum_half_width(failure, factors)
        return math.floor(size + 1 - Fraction(1, self.unit))

    def draw(self, size: int, generator: Generator) -> NDArray[np.int64]:
        """Draw the noise of `size` groups for one release."""
        shared, group = self.parts.independent
        assert shared is not None and group is not None
        noise = group.draw(size, generator) + self.times * shared.draw(1, generator)
        return (noise + uniform(self.unit, size, generator.stream())) // self.unit
