"""What a distribution has to say about itself, and the quantile that follows from it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .series import Positive

_local = threading.local()


def context(precision: int) -> Any:
    """This thread's own mpmath context, set to `precision` bits (the global one is shared)."""
    made = getattr(_local, "made", None)
    if made is None:
        import mpmath

        made = _local.made = mpmath.MPContext()
    made.prec = precision
    return made


class Distribution(ABC):
    """A standardized distribution Z, symmetric about 0, unimodal, with upper-tail quantile Q on (0,
    1/2).

    A subclass is a frozen dataclass of its parameters with `survival` and `density`, to be
    evaluated for ``z >= 0`` at the precision of the given mpmath context with a relative error
    below ``2**(20 - prec)``, and `expand`. Where Q is analytic on (0, 1/2) and *absolutely monotone
    towards the tail* (every derivative with respect to -p is nonnegative), the distribution is its
    own single piece; a distribution with a corner in its density names the pieces on either side of
    it.
    """

    @abstractmethod
    def survival(self, mp: Any, z: Any) -> Any:
        """P(Z > z)."""

    @abstractmethod
    def density(self, mp: Any, z: Any) -> Any:
        """Density at z."""

    def quantile(self, mp: Any, p: Any) -> Any:
        """Q(p) to nearly the context's precision; by Newton's method unless there is a closed form.

        Above p = 1/4 on the survival function, which is convex: from 0, monotone. Below on its
        logarithm as a function of log z, which is concave for every distribution here: from the
        right, monotone.
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
        """The p at which the density has a corner, or None."""
        return None

    def pieces(self) -> tuple[Any, ...]:
        """The analytic pieces from the tail to the centre."""
        return (self,)

    def centres(self, mp: Any, p: np.ndarray) -> list[Any]:
        """Q at ascending points p, to 2**-60 relative."""
        return [self.quantile(mp, mp.mpf(x)) for x in p.tolist()]

    def expand(
        self, mp: Any, p: np.ndarray, h: np.ndarray, q: np.ndarray, order: int
    ) -> list[Positive]:
        """Taylor coefficients 1 .. order of ``t -> Q(p - h t)``, given q = Q(p) as a double."""
        raise TypeError(f"{self} has a corner: its pieces are expanded, not the whole")

    def reach(self, mp: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A radius r below which Q(p - .) is analytic, and a bound of Q(p - r).

        With nonnegative coefficients c_j in powers of r, each is at most their sum, Q(p - r).
        """
        octave = np.frexp(p)[1] - 5  # 2**octave <= p / 16 < 2**(octave + 1)
        ends, where = np.unique(octave, return_inverse=True)
        top = [float(z) for z in self.centres(mp, np.ldexp(1.0, ends))]
        return p * (15 / 16), np.array(top)[where] * (1 + 2.0**-30)
