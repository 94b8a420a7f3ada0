"""Noise of the K-norm mechanism for the box of sensitivities, and its rivals.

Let k integers have the sensitivities D_i, whatever the others do: neighbors differ by a vector of
the box of half widths D_i. Noise in proportion to D_i is asked for, the same for each coordinate in
units of its sensitivity. Of all noise for the same loss that makes the largest of these relative
errors least, and, since the distributions below treat coordinates alike, the sum of their squares.

* Laplace noise of scale k D_i / epsilon on each is epsilon-DP, for the L1 norm of the difference is
  at most k in units of D_i. Its variance is 2 k^2 / epsilon^2, in the same units.
* The norm whose unit ball is the box itself does better (Hardt and Talwar, STOC 2010): density
  proportional to exp(-epsilon |z|), |z| = max |z_i| / D_i, is epsilon-DP, of variance
  (k + 1) (k + 2) / (3 epsilon^2): the same for one coordinate, half for two, and a sixth for many.
  In zCDP it is charged epsilon tanh(epsilon / 2), as any pure loss is; see below.
* Gaussian noise of variance k D_i^2 / (2 rho) on each is rho-zCDP, by the L2 norm, sqrt(k); with
  shares p_i of rho that sum to 1, of variance D_i^2 / (2 rho p_i). The same for (epsilon, delta),
  as in `calibrated_integer`.

A mean is a sum over a count. Let k sums over one noisy count get y of a loss each, and the count
x = 1 - k y. To first order the worst variance of a mean, at the bounds, goes with 1 / y + 1 / x,
which is least for x / (k y) = 1 / sqrt(k): `count_shares`.

* Staircase noise for the box (`stairs`), for a large epsilon.

Where several serve, that with the smallest variance is taken, by the loss and k alone, and how many
of the integers are counts. A staircase is taken where that is less by a twentieth of the deviation.

The norm on integers. For an integer M, let N(z) be the least r with |z_i| <= floor(r D_i / M) for
all i. If |d_i| <= D_i, then |z_i + d_i| <= floor(r D_i / M) + D_i = floor((r + M) D_i / M), so N
changes by at most M, and the probabilities q^N(z) with q = exp(-epsilon / M) are epsilon-DP,
exactly. They are the mixture over r, with weights q^r prod(2 floor(r D_i / M) + 1), of uniform
points of the boxes |z_i| <= floor(r D_i / M). Such an r is a sum of k + 1 geometric numbers, of
probability proportional to q^r (r + 1) .. (r + k), kept with probability

    prod over i of (2 floor(r D_i / M) + 1) / (2 D_i / M (r + i)),

which is at most 1 if M <= 2 D_i, and nearly always 1. A geometric number is a discrete Laplace one
that is not negative. Integers of small sensitivity are multiplied by a public power of two first
and rounded in the end, so that M can be large and the distribution close to the continuous one.

What that uses of its charge in zCDP. For t > 0 the integral of
exp(-epsilon ((1 + t) |z| - t |z - d|)) is convex in d, so it is largest for a corner d of the box.
There {|z| <= a, |z - d| <= b} is a box of sides (a + b - max(1, |a - b|)) D_i, the integral over
a + b of its volume times exp(-epsilon (a + b) / 2) is exp(-epsilon max(1, |a - b|) / 2) times a
constant, and what is left does not depend on k: the continuous distribution costs exactly what
Laplace noise on one number does, epsilon + e^-epsilon - 1. That is .97, .80, .75 and .90 of the
charge at an epsilon of .1, 1, 3 and 10. For the distribution on integers it is not proved, so the
charge is that of a pure loss.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from .._core.error_bars import box_sum
from .._kernels.rng import BitStream
from ..privacy import ZCDP, Approx, Loss, Pure, float_down, pure_within
from ..rng import Generator
from .additive import amount
from .calibrated_integer import WORTH, IntegerNoise, integer_noise, laplace_loss
from .choice import below
from .distributions.discrete import laplace_integers
from .sensitivity import Sensitivity
from .stairs import Stairs, best_cores

#: Steps of the norm in a difference of size 1, and the largest scale of geometric numbers.
_STEPS, _FAR = 1 << 20, 1 << 40


@dataclass(frozen=True, slots=True)
class BoxNoise:
    """Noise for one joint release of integers. One of sensitivity 0 gets none.

    `loss` is what the release of all of them costs. `deviation` is the standard deviation in units
    of a coordinate's sensitivity, if all have equal shares.
    """

    distribution: str
    sensitivities: tuple[int, ...]
    loss: Loss
    deviation: float
    each: tuple[IntegerNoise | None, ...] = field(default=(), repr=False)  # none for joint noise
    epsilon: Fraction = Fraction(0)  # of the joint noise "box" and "stairs"
    stairs: Stairs | None = field(default=None, repr=False)

    @property
    def deviations(self) -> list[float]:
        """Return the standard deviation of the noise of each integer."""
        alike = [self.deviation * most for most in self.sensitivities]
        own = [noise and noise.deviation for noise in self.each] or alike
        return [one or 0.0 for one in own]

    def within(self, failure: float, terms: int = 1, place: int | None = None) -> Fraction:
        """Return what noise exceeds in size with at most a failure probability.

        The noise is that of the coordinate at `place`, by default of any, or the sum of the noise
        of several with equal shares. The unit is the sensitivity of a coordinate. Rounding to
        integers is counted for sensitivities of 1.
        """
        noisy = [i for i, most in enumerate(self.sensitivities) if most]
        if not noisy or (place is not None and not self.sensitivities[place]):
            return Fraction(0)
        least = min(noisy, key=lambda i: self.sensitivities[i])
        if self.stairs is not None:
            places = range(len(noisy)) if place is None else [noisy.index(place)]
            return self.stairs.within(failure, places, terms)
        if self.distribution == "box":
            size = box_sum(failure, len(noisy), terms) / float(self.epsilon)
            return Fraction(size) + Fraction(terms, 2 * self.sensitivities[least])
        at = least if place is None else place
        noise = self.each[at]
        assert noise is not None
        return Fraction(noise.within(failure, terms), self.sensitivities[at])

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the values with noise."""
        if len(values) != len(self.sensitivities):
            raise ValueError("there must be as many values as sensitivities")
        if not self.epsilon:
            return [
                value if noise is None else noise.add([value], generator)[0]
                for value, noise in zip(values, self.each, strict=True)
            ]
        pairs = list(zip(values, self.sensitivities, strict=True))
        noisy = iter(self._box([value for value, most in pairs if most], generator))
        return [next(noisy) if most else value for value, most in pairs]

    def _box(self, values: list[int], generator: Generator) -> list[int]:
        """Return the values whose sensitivity is not 0, with joint noise."""
        if self.stairs is not None:
            return [*map(operator.add, values, self.stairs.draw(generator.stream()))]
        box = [most for most in self.sensitivities if most]
        steps, shift = 1, 0
        if max(box) > 1:  # else the distribution on the integers themselves is the finest there is
            far = int(_FAR * self.epsilon)
            steps = min(_STEPS, 1 << far.bit_length() - 1)
            shift = max(0, (steps - 1).bit_length() - min(box).bit_length())
        box = [most << shift for most in box]
        stream = generator.stream()
        r = radius(box, steps, self.epsilon, stream)
        half = 1 << shift >> 1
        points = box_points([r * most // steps for most in box], stream)
        return [value + ((z + half) >> shift) for value, z in zip(values, points, strict=True)]


def radius(box: Sequence[int], steps: int, epsilon: Fraction, stream: BitStream) -> int:
    """Return r of the derivation, for M = `steps` of at most twice the least half width."""
    k = len(box)
    while True:
        r = _geometric(k + 1, steps / epsilon, stream)
        bound = math.prod(2 * most * (r + i) for i, most in enumerate(box, 1))
        weight = math.prod(2 * (r * most // steps) + 1 for most in box) * steps**k
        if below(bound, stream) < weight:
            return r


def box_points(box: Sequence[int], stream: BitStream) -> list[int]:
    """Return a uniform integer of -b .. b for each b of `box`."""
    return [below(2 * most + 1, stream) - most for most in box]


def _geometric(count: int, scale: Fraction, stream: BitStream) -> int:
    """Return the sum of `count` integers m >= 0, each with probability ~ exp(-m / scale)."""
    total, left = 0, count
    while left:
        drawn = np.empty(2 * left + 8, np.int64)
        laplace_integers(drawn, scale, stream, None, stream.word)
        kept = drawn[drawn >= 0][:left]
        total += sum(kept.tolist())
        left -= len(kept)
    return total


def box_noise(
    loss: Loss, sensitivities: Sequence[int], shares: Sequence[Fraction] | None = None
) -> BoxNoise:
    """Return the noise for one joint release of integers.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        Of all of them together.
    sensitivities : sequence of int
        Of each.
    shares : sequence of Fraction, optional
        What each gets of a loss that is divided (Gaussian noise), at most 1 together; by default
        all the same. With these, a coordinate of sensitivity 0 has its share too.
    """
    size = amount(loss)
    box = tuple(sensitivities)
    k = max(1, sum(1 for most in box if most))
    large = Sensitivity(k, k << 32, k << 64)  # so large that the grid plays no part
    plain = integer_noise(loss, large)
    deviation = math.ldexp(plain.deviation, -32)
    epsilon = pure_within(size) if isinstance(loss, ZCDP) else size
    of_box = math.sqrt((k + 1) * (k + 2) / 3.0) / float(epsilon)
    spent: Loss
    others = sum(1 for most in box if most > 1)
    if 1 < k <= 2 * epsilon and others and not isinstance(loss, ZCDP):
        of_stairs = best_cores(float_down(epsilon), k - others, others)[1]
        if of_stairs < WORTH * min(deviation, of_box):
            stairs = Stairs.of(epsilon, [most for most in box if most])
            return BoxNoise("stairs", box, Pure(size), of_stairs, (), epsilon, stairs)
    if k > 1 and of_box <= deviation:
        spent = loss if isinstance(loss, ZCDP) else Pure(size)
        return BoxNoise("box", box, spent, of_box, epsilon=epsilon)
    if shares is None or isinstance(plain.loss, Pure):
        shares = [Fraction(1, k)] * len(box)
    each = tuple(
        integer_noise(loss, Sensitivity(1 / share, k * most, most**2 / share), plain.distribution)
        if most
        else None
        for most, share in zip(box, shares, strict=True)
    )
    spent = plain.loss
    if plain.distribution == "laplace" and isinstance(spent, Pure):
        spent = laplace_loss(size, k, min(filter(None, box), default=1))
    return BoxNoise(plain.distribution, box, spent, deviation, each)


def ellipsoid_noise(
    loss: Approx | ZCDP, sensitivities: Sequence[int], axes: Sequence[Fraction]
) -> BoxNoise:
    """Return Gaussian noise for integers that may change by d with sum((d_i / a_i)^2) <= 1.

    It has the deviation a_i s, s that for an L2 sensitivity of 1, so the vector of all d_i / (a_i
    s) is no longer than 1 / s. An integer that is divided by a unit u_i first, and rounded down,
    changes by up to 1 more: by the triangle inequality the length is then at most 1 + |(u_i / a_i)|
    in units of 1 / s, which a factor of 1 + sum(u_i / a_i) of all noise covers.

    Parameters
    ----------
    loss : Approx or ZCDP
        Of all of them together.
    sensitivities : sequence of int
        Of each. One of sensitivity 0 gets no noise.
    axes : sequence of Fraction
        a_i, greater than 0.
    """
    distribution = "gaussian" if isinstance(loss, ZCDP) else "rounded-gaussian"
    deviation = math.ldexp(
        integer_noise(loss, Sensitivity(1, 1, 1 << 64), distribution).deviation, -32
    )
    moving = [(most, a) for most, a in zip(sensitivities, axes, strict=True) if most]
    shifts = [max(0, (math.ceil(a * Fraction(deviation)) >> 38).bit_length()) for _, a in moving]
    rounded = [(1 << shift) / a for shift, (_, a) in zip(shifts, moving, strict=True) if shift]
    grown = 1 + sum(rounded, Fraction(0))
    alone = [
        integer_noise(loss, Sensitivity(1, 1, (grown * a / (1 << shift)) ** 2), distribution)
        for shift, (_, a) in zip(shifts, moving, strict=True)
    ]
    assert not any(noise.shift for noise in alone), "no loss is so small that this needs a unit"
    noises = iter(replace(noise, shift=shift) for noise, shift in zip(alone, shifts, strict=True))
    each = tuple(next(noises) if most else None for most in sensitivities)
    return BoxNoise(distribution, tuple(sensitivities), loss, deviation, each)


def count_shares(counts: int, others: int) -> list[Fraction]:
    """Return shares of numbers of rows and then of others, as many for each of the former."""
    root = max(1, round(math.sqrt(others / counts)))  # as good as the root, and rational
    row, other = Fraction(1, counts * (1 + root)), Fraction(root, max(1, others) * (1 + root))
    return [row] * counts + [other] * others
