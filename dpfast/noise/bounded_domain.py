"""Bounded Laplace noise on a grid: the noisy answer for an integer of 0 .. m stays in 0 .. m.

Holohan, Antonatos, Braghin and Mac Aonghusa, "The bounded Laplace mechanism in differential
privacy", JPC 2020.

For the true value u, the answer is o of 0 .. m with probability p^|o - u| / C(u), where p = e^(-1 /
b) for a scale b. This is discrete Laplace noise, drawn again until the answer is in 0 .. m. The
divisor is

    C(u) = sum_o p^|o - u| = (1 + p - p^(u+1) - p^(m-u+1)) / (1 - p).

*Loss.* Let u and v differ by d. The log-ratio of their distributions is at most d / b + ln(C(v) /
C(u)). If u < v, it is equal to this at o = u.

* C is concave, positive and symmetric on 0 .. m. So C(u + d) / C(u) is largest for u = 0.
* d / b + ln C(d) does not decrease with d, because C(d + 1) >= p C(d): |o - d - 1| <= |o - d| + 1
  for every o.

So for a sensitivity of D <= m

    epsilon = D / b + ln(C(D) / C(0)),
    C(D) / C(0) = ((1 - p^(D+1)) + p (1 - p^(m-D))) / (1 - p^(m+1)),

and no smaller epsilon holds. Laplace noise of the same scale without a domain has epsilon = D / b.
C(D) / C(0) is at most p^-D, so twice its scale always suffices.

*Error.* The tail is no longer than without a domain. To each side, the size of the error has a
truncated geometric distribution, and C(u) is at most (1 + p) / (1 - p). So P(|o - u| > t) <= p^t
P(o != u) <= 2 p^(t+1) / (1 + p).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .._kernels.rng import BitStream
from ..privacy import Pure
from ..privacy.enclosure import Interval, exp, expm1, log
from ..rng import Generator
from .calibrated_integer import IntegerNoise
from .distributions.base import ratio
from .distributions.discrete import laplace_noise
from .distributions.exact import Tail

#: The number of draws at a time; the first one in the domain is used.
AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class DomainNoise:
    """Discrete Laplace noise of a scale, conditioned on noisy answers of 0 .. m."""

    most: int
    scale: Fraction

    def draw(self, u: int, generator: Generator) -> int:
        """Draw the noisy answer for a true value `u` of 0 .. m, exactly.

        This is rejection sampling from Laplace noise, or from uniform answers if the scale exceeds
        m. In both cases a draw is kept with a probability of more than 0.3.
        """
        stream = generator.stream()
        return self._near(u, stream) if self.scale < self.most else self._even(u, stream)

    def _near(self, u: int, stream: BitStream) -> int:
        out = np.empty(AT_ONCE, np.int64)
        while True:
            laplace_noise(out, self.scale, stream)
            inside = np.flatnonzero((out >= -u) & (out <= self.most - u))
            if len(inside):
                return u + int(out[inside[0]])

    def _even(self, u: int, stream: BitStream) -> int:
        mask = (1 << self.most.bit_length()) - 1
        while True:
            o = stream.word() & mask
            if o > self.most:
                continue
            distance = abs(o - u) / self.scale
            if Tail(stream.word(), stream.word).below(lambda mp: mp.exp(-ratio(mp, distance))):  # noqa: B023
                return o

    def half_width(self, failure: float) -> int:
        """Return a half-width that the error exceeds with a probability of at most `failure`."""
        return min(IntegerNoise("laplace", self.scale, 0, Pure(1)).half_width(failure), self.most)


def loss_above(most: int, moved: int, scale: Fraction) -> Fraction:
    """Return the epsilon of noise of a scale for the sensitivity `moved`, rounded up."""

    def below(steps: int) -> Interval:
        """Return 1 - p^steps."""
        grown = expm1(Interval.of(Fraction(steps) / scale))
        return grown / (grown + 1)

    p = exp(Interval.of(-1 / scale))
    ratio = (below(moved + 1) + p * below(most - moved)) / below(most + 1)
    return Fraction((Interval.of(Fraction(moved) / scale) + log(ratio)).high)


@lru_cache(maxsize=256)
def domain_noise(most: int, moved: int, epsilon: Fraction) -> DomainNoise:
    """Return the noise for epsilon and sensitivity `moved`, with the least scale up to 2**-40."""
    low, high = moved / epsilon, 2 * moved / epsilon
    while loss_above(most, moved, high) > epsilon:  # by rounding
        high *= 1 + Fraction(1, 2**40)
    while high - low > low / 2**40:
        middle = Fraction(float((low + high) / 2))
        if not low < middle < high:
            break
        fits = loss_above(most, moved, middle) <= epsilon
        low, high = (low, middle) if fits else (middle, high)
    return DomainNoise(most, high)
