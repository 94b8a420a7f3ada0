"""The sensitivity of a vector of integers, in the norms to which noise is calibrated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .._core.roots import root_up


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The largest difference of a vector of integers between neighbors, in several norms.

    Parameters
    ----------
    l0 : int or Fraction
        How many coordinates differ at once. If a coordinate counts for more than 1, the square of
        the L2 norm of a difference of 1 in each.
    l1 : int or Fraction
        The L1 norm of the difference.
    l2_squared : int or Fraction
        The square of its L2 norm.
    linf : int, optional
        The L-infinity norm, where `l2_squared` allows for more.
    moved : (int, int), optional
        The largest number of moves of a single coordinate that make up the difference, and the size
        of each move.
    """

    l0: int | Fraction
    l1: int | Fraction
    l2_squared: int | Fraction
    linf: int | None = None
    moved: tuple[int, int] | None = None

    @classmethod
    def of_one(cls, size: int) -> Sensitivity:
        """Return the sensitivity of one integer."""
        return cls(1, size, size**2)

    @property
    def largest(self) -> int:
        """The L-infinity norm, or a bound of it."""
        return math.isqrt(math.floor(self.l2_squared)) if self.linf is None else self.linf

    @property
    def moves(self) -> tuple[int, int] | None:
        """The number of moves of one coordinate in the difference, and the size of each move."""
        if self.moved is None and self.l0 == 1 and self.l1 <= self.largest + 1:
            return 1, int(self.l1)  # `coarsened` adds 1 to the L1 norm only
        return self.moved

    @property
    def shape(self) -> tuple[int, int]:
        """The number of draws, and the cells of each, that bound the loss of Laplace noise.

        With R(m) the cost of a difference of m, R(m) / m increases (`privacy.Draws`). So the loss
        of the difference is at most l1 / largest R(largest), and n = floor(l1 / largest)
        differences of l1 / n have no smaller loss.
        """
        draws = max(1, int(self.l1 // max(1, self.largest)))
        return draws, max(1, int(self.l1 // draws))

    def divided(self, part: Fraction) -> Sensitivity:
        """Return the sensitivity for which the whole loss gives the noise of a `part` of the loss.

        The square of a deviation of Gaussian noise, and a scale of Laplace noise, grow by 1 / part.
        """
        linf = None if self.linf is None else math.ceil(self.linf / part)
        return Sensitivity(self.l0 / part, self.l1 / part, self.l2_squared / part, linf)

    def coarsened(self, unit: int) -> Sensitivity:
        """Return the sensitivity of the same integers divided by `unit` and rounded down.

        Rounding changes each coordinate by less than 1 more. l1 / unit is rounded up, because l1
        may be a multiple of a smaller norm. A move by c becomes one by c / unit, rounded up.
        """
        l2 = root_up(Fraction(self.l2_squared)) / unit + root_up(Fraction(self.l0))
        l1, linf = -(-self.l1 // unit) + self.l0, -(-self.largest // unit)
        moved = None if self.moved is None else (self.moved[0], -(-self.moved[1] // unit))
        return Sensitivity(self.l0, l1, l2**2, linf, moved)
