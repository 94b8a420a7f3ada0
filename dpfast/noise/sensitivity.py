"""The sensitivity of a vector of integers, in the norms to which noise is calibrated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .._core.roots import root_up


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The sensitivity of a vector of integers: its largest difference between neighbors, by norm.

    Parameters
    ----------
    l0 : int or Fraction
        How many coordinates differ at once. If coordinates have weights, it is the sum of the
        squared weights of those that differ.
    l1 : int or Fraction
        The L1 norm of the difference.
    l2_squared : int or Fraction
        The square of the L2 norm of the difference.
    linf : int, optional
        The L-infinity norm of the difference, if it is smaller than `l2_squared` allows.
    moved : (int, int), optional
        If the difference consists of moves of one coordinate each: their largest number, and the
        largest size of a move.
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
        """The number of moves that make up the difference, and the largest size of a move."""
        if self.moved is None and self.l0 == 1 and self.l1 <= self.largest + 1:
            return 1, int(self.l1)  # `coarsened` adds 1 to the L1 norm only
        return self.moved

    @property
    def shape(self) -> tuple[int, int]:
        """The `draws` and `cells` of a `privacy.Draws` that bounds the loss of Laplace noise.

        Let R(m) be the rho of a difference of m. R(m) / m increases with m. So the loss of the
        whole difference is at most (l1 / largest) R(largest). This is at most the loss of n =
        floor(l1 / largest) differences of l1 / n each.
        """
        draws = max(1, int(self.l1 // max(1, self.largest)))
        return draws, max(1, int(self.l1 // draws))

    def divided(self, part: Fraction) -> Sensitivity:
        """Return the sensitivity whose noise for the whole loss is this one's noise for a `part`.

        The variance of Gaussian noise and the scale of Laplace noise grow by a factor of 1 / part.
        """
        linf = None if self.linf is None else math.ceil(self.linf / part)
        return Sensitivity(self.l0 / part, self.l1 / part, self.l2_squared / part, linf)

    def coarsened(self, unit: int) -> Sensitivity:
        """Return the sensitivity of the same integers divided by `unit` and rounded down.

        Rounding adds less than 1 to the difference of each coordinate. l1 / unit is rounded up. A
        move by c becomes a move by c / unit, rounded up.
        """
        l2 = root_up(Fraction(self.l2_squared)) / unit + root_up(Fraction(self.l0))
        l1, linf = -(-self.l1 // unit) + self.l0, -(-self.largest // unit)
        moved = None if self.moved is None else (self.moved[0], -(-self.moved[1] // unit))
        return Sensitivity(self.l0, l1, l2**2, linf, moved)
