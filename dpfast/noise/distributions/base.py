"""Base class of the noise distributions."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .series import Positive

Floats = NDArray[np.float64]

_local = threading.local()


def context(precision: int) -> Any:
    """Return an mpmath context of this thread at `precision` bits (the global one is shared)."""
    mp = getattr(_local, "mp", None)
    if mp is None:
        import mpmath

        mp = _local.mp = mpmath.MPContext()
    mp.prec = precision
    return mp


def ratio(mp: Any, x: Fraction) -> Any:
    """Return a fraction as a number of the mpmath context `mp`."""
    return mp.mpf(x.numerator) / x.denominator


class Branch(ABC):
    """A part of the upper-tail quantile function Q on which Q is analytic."""

    @abstractmethod
    def quantile(self, mp: Any, p: Any) -> Any:
        """Return the upper-tail quantile Q(p)."""

    @abstractmethod
    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        """Return Taylor coefficients 1 .. order of ``t -> Q(p - h t)``, given a double q = Q(p)."""

    def centers(self, mp: Any, p: Floats) -> list[Any]:
        """Return Q at ascending points p, to 2**-60 relative."""
        return [self.quantile(mp, mp.mpf(x)) for x in p.tolist()]

    def reach(self, mp: Any, p: Floats) -> tuple[Floats, Floats]:
        """Return a radius r below which Q(p - .) is analytic, and a bound of Q(p - r).

        The coefficients c_j in powers of r are nonnegative, so each is at most their sum, Q(p - r).
        """
        octave = np.frexp(p)[1] - 5  # 2**octave <= p / 16 < 2**(octave + 1)
        ends, where = np.unique(octave, return_inverse=True)
        top = [float(z) for z in self.centers(mp, np.ldexp(1.0, ends))]
        return p * (15 / 16), np.array(top)[where] * (1 + 2.0**-30)


class Distribution(Branch):
    """The distribution of standardized noise Z, with upper-tail quantile Q on (0, 1/2).

    The distribution is symmetric about 0 and unimodal.

    A subclass is a frozen dataclass of its parameters with `survival` and `density`, to be
    evaluated for ``z >= 0`` at the precision of the given mpmath context with a relative error
    below ``2**(20 - prec)``, and `expand`. If Q is analytic on (0, 1/2) and *absolutely monotone
    towards the tail* (every derivative with respect to -p is nonnegative), the distribution is its
    single branch; a distribution with a corner in its density names the branches on either side of
    it.
    """

    @abstractmethod
    def survival(self, mp: Any, z: Any) -> Any:
        """Return P(Z > z)."""

    @abstractmethod
    def density(self, mp: Any, z: Any) -> Any:
        """Return the density at z."""

    def quantile(self, mp: Any, p: Any) -> Any:
        """Return Q(p) to nearly the precision of the context, by Newton's method.

        For p > 1/4 the method works on the survival function, which is convex, and converges from
        0. For smaller p it works on the logarithm of the survival function as a function of log z.
        This is concave for every distribution here, so the method converges from the right.
        """
        if 2 * p == 1:
            return mp.zero
        full = mp.prec
        z = mp.zero
        if p <= 0.25:
            z = mp.one
            while self.survival(mp, z) > p:
                z = z * z * 4
        for prec in (64, full + 10):
            mp.prec = prec
            for _ in range(400):
                s, f = self.survival(mp, z), self.density(mp, z)
                new = z + (s - p) / f if p > 0.25 else z * mp.exp(mp.log(s / p) * s / (f * z))
                step, z = abs(new - z), new
                if step <= z * mp.ldexp(1, 12 - prec // 2):
                    break
        mp.prec = full
        return +z

    def knee(self, mp: Any) -> Any:
        """Return the p at which the density has a corner, or None."""
        return None

    def branches(self) -> tuple[Branch, ...]:
        """Return the analytic branches from the tail to the center."""
        return (self,)

    def expand(self, mp: Any, p: Floats, h: Floats, q: Floats, order: int) -> list[Positive]:
        raise TypeError(f"{self} has a corner in its density: expand each of its branches instead")
