"""Joint noise for integers that each have a sensitivity: K-norm noise of a box, and others.

Let k integers have the sensitivities D_i, and let all of them change at once: neighbors differ by a
vector of the box with half-widths D_i. The noise of integer i is proportional to D_i: in units of
D_i, all have the same distribution. This minimizes the largest error in units of D_i, and also the
sum of the squares of these errors, because the distributions below treat all coordinates equally.

* Laplace noise of scale k D_i / epsilon on each integer is epsilon-DP, because the L1 norm of the
  difference is at most k in units of D_i. Its variance is 2 k^2 / epsilon^2 in these units.
* The norm whose unit ball is the box is better (Hardt and Talwar, STOC 2010). Let |z| = max |z_i| /
  D_i. Noise with a density proportional to exp(-epsilon |z|) is epsilon-DP. Its variance is (k + 1)
  (k + 2) / (3 epsilon^2): the same as for Laplace noise for one coordinate, half of it for two, and
  a sixth for many. In zCDP it is charged epsilon tanh(epsilon / 2), like any pure loss; see below.
* Gaussian noise of variance k D_i^2 / (2 rho) on each integer is rho-zCDP, because the L2 norm of
  the difference is at most sqrt(k) in units of D_i. If integer i has a share p_i of rho, the
  variance is D_i^2 / (2 rho p_i). For (epsilon, delta) see `calibrated_integer`.

* Staircase noise for the box (`stairs`), for a large epsilon.

`measurement.choice` chooses among them.

The norm on integers. For an integer M, let N(z) be the least r with |z_i| <= floor(r D_i / M) for
all i. If |d_i| <= D_i, then |z_i + d_i| <= floor(r D_i / M) + D_i = floor((r + M) D_i / M), so N
changes by at most M, and the probabilities q^N(z) with q = exp(-epsilon / M) are epsilon-DP,
exactly. This noise is a mixture over r of uniform points of the boxes |z_i| <= floor(r D_i / M),
with the weights q^r prod(2 floor(r D_i / M) + 1). To draw r, add k + 1 geometric numbers, so that r
has a probability proportional to q^r (r + 1) .. (r + k), and keep it with probability

    prod over i of (2 floor(r D_i / M) + 1) / (2 D_i / M (r + i)),

which is at most 1 if M <= 2 D_i. It is nearly always close to 1, but about exp(-k epsilon / 2) if
all D_i and M are 1. A geometric number is a discrete Laplace number that is not negative. Integers
of small sensitivity are first multiplied by a public power of two, and rounded at the end. So M can
be large, and the distribution is close to the continuous one.

The exact loss in zCDP. For t > 0 the integral of exp(-epsilon ((1 + t) |z| - t |z - d|)) is convex
in d, so it is largest for a corner d of the box. For such a d, {|z| <= a, |z - d| <= b} is a box of
sides (a + b - max(1, |a - b|)) D_i. The integral of its volume times exp(-epsilon (a + b) / 2) over
a + b is exp(-epsilon max(1, |a - b|) / 2) times a constant. The rest does not depend on k. So the
continuous distribution has the same loss as Laplace noise on one number, epsilon + e^-epsilon - 1.
That is .97, .80, .75 and .90 of the charge at an epsilon of .1, 1, 3 and 10. For the distribution
on integers this is not proved, so it is charged like any pure loss.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .._core.error_bars import (
    RAREST,
    gamma_weights,
    laplace_and_uniform,
    solve,
    sum_of_uniforms,
    symmetric_sum,
    within_box,
)
from .._kernels.rng import BitStream
from ..privacy import ZCDP, Approx, Loss, float_down
from ..rng import Generator
from .additive import of_gaussian
from .calibrated_integer import IntegerNoise, integer_noise
from .choice import below
from .distributions.discrete import laplace_integers
from .sensitivity import Sensitivity
from .stairs import JointStaircase

#: The number of grid points of the norm for a difference of 1, and the largest scale of geometric
#: numbers.
_STEPS, _MOST_SCALE = 1 << 20, 1 << 40
#: If a count has about this many values or fewer on all levels, a half-width sums over them one by
#: one.
COUNTED = 1 << 12


@dataclass(frozen=True, slots=True)
class BoxNoise:
    """Noise for one joint release of integers; an integer of sensitivity 0 gets no noise.

    `loss` is the loss of releasing all integers. `deviation` is the standard deviation in units of
    an integer's sensitivity; if these differ, it is the root of their mean square. `independent`
    has the noise of the first integers, if they have separate noise. All others have joint noise.
    """

    distribution: str
    sensitivities: tuple[int, ...]
    loss: Loss
    deviation: float
    independent: tuple[IntegerNoise | None, ...] = field(default=(), repr=False)
    epsilon: Fraction = Fraction(0)  # of the joint noise, "box" or a staircase
    staircase: JointStaircase | None = field(default=None, repr=False)

    @property
    def _joint(self) -> list[int]:
        """The indices of the integers that have joint noise."""
        first = len(self.independent)
        return [i for i, most in enumerate(self.sensitivities) if most and i >= first]

    @property
    def deviations(self) -> list[float]:
        """Return the standard deviation of the noise of each integer."""
        deviations = [0.0 if noise is None else noise.deviation for noise in self.independent]
        deviations += [self.deviation * most for most in self.sensitivities[len(deviations) :]]
        if self.staircase is not None:
            for i, deviation in zip(self._joint, self.staircase.deviations, strict=True):
                deviations[i] = deviation
        return deviations

    def half_width(self, failure: float, index: int) -> Fraction:
        """Return the half-width of the noise in a coordinate, in units of its sensitivity.

        The noise, with its rounding to integers, exceeds it with a probability of at most
        `failure`.
        """
        most, joint = self.sensitivities[index], self._joint
        if not most:
            return Fraction(0)
        if index not in joint:
            noise = self.independent[index]
            assert noise is not None
            return Fraction(noise.half_width(failure), most)
        if self.staircase is not None:
            return self.staircase.half_width(failure, joint.index(index))
        size = within_box(failure, len(joint)) / float(self.epsilon)
        return Fraction(size) + Fraction(1, 2 * most)

    def sum_half_width(self, failure: float, factors: Mapping[int, Fraction]) -> Fraction:
        """Return the half-width of a weighted sum of the noise of some integers.

        The sum exceeds the half-width in size with a probability of at most `failure`. If all noise
        is of one kind, the distribution of the sum is computed. Otherwise each kind gets an equal
        share of this probability.

        *Independent noise.* `symmetric_sum` computes the distribution. Rounding to units adds an
        error of at most one unit.

        *Joint noise.* The sum is a mixture of sums of uniform numbers. Rounding on the coarsest
        grid adds one more uniform number. For a count of small sensitivity, each value of its noise
        on a stair is tried.

        *Both.* The sum of a discrete Laplace number of rate e and a uniform number from -1/2 to 1/2
        is stochastically no larger than a Laplace number of rate 2 tanh(e / 2). For e > 1 each
        value of the discrete Laplace number is tried.
        """
        sizes = {i: abs(f) for i, f in factors.items() if f and self.sensitivities[i]}
        joint = {i: f for i, f in sizes.items() if i >= len(self.independent)}
        noises = [(z, sizes[i]) for i, z in enumerate(self.independent) if z and i in sizes]
        if len(sizes) == 1:
            ((i, f),) = sizes.items()
            return f * self.half_width(failure, i) * self.sensitivities[i]
        if not joint:
            return _of_independent(tuple(noises), failure)
        if len(joint) > 1 and not noises:
            return self._of_joint(joint, failure)
        if len(joint) == 1 and [(noise.distribution, noise.shift) for noise, _ in noises] == [
            ("laplace", 0)
        ]:
            return self._of_joint(joint, failure, float(noises[0][0].scale), float(noises[0][1]))
        parts = len(noises) + 1
        of_joint = self.sum_half_width(failure / parts, joint)
        return of_joint + sum(f * noise.half_width(failure / parts) for noise, f in noises)

    def _of_joint(
        self, factors: Mapping[int, Fraction], failure: float, scale: float = 0.0, head: float = 0.0
    ) -> Fraction:
        """Return the half-width of a sum of joint noise and `head` times discrete Laplace noise."""
        joint, sizes, staircase = self._joint, self.sensitivities, self.staircase
        sides: list[Any]
        rounded, center = sum(factors.values(), Fraction(0)), np.zeros(1)
        if staircase is not None:
            weight = staircase.weights
            weight = weight[: 1 + int(np.searchsorted(weight.cumsum(), 1 - 1e-12))]
            level, core = np.arange(len(weight)), dict(zip(joint, staircase.cores, strict=True))
            least = min(factors, key=sizes.__getitem__)
            is_count = len(factors) > 1 and sizes[least] * len(level) ** 2 <= COUNTED
            if is_count:
                ends = core[least] + level * sizes[least]
                center, level = np.concatenate(
                    [(np.arange(-end, end + 1), [i] * (2 * end + 1)) for i, end in enumerate(ends)],
                    axis=1,
                )
                center, weight = center * float(factors[least]), (weight / (2 * ends + 1))[level]
                rounded -= factors[least]
            sides = [
                float(f) * (core[i] + 0.5 + level * float(sizes[i]))
                for i, f in factors.items()
                if not is_count or i != least
            ]
        else:
            weight, size = gamma_weights(len(joint) + 1, 400 if head else 1_000)
            sides = [float(f * sizes[i]) / float(self.epsilon) * size for i, f in factors.items()]
            most = max(factors.values())
            if not head and float(most) > 2.0**-12 * float(sides[0][-1]):
                sides.append(np.full(len(weight), float(most) / 2))
                rounded -= most
        is_smooth = head > 0 and scale >= 1
        if head and not is_smooth:
            z = np.arange(-30, 31)
            chances = np.exp(-abs(z) / scale) * math.tanh(0.5 / scale)
            center, weight = np.repeat(head * z, len(weight)), np.outer(chances, weight).ravel()
            sides = [np.tile(side, len(z)) for side in sides]
        unit = float(np.mean(sides[0])) + head

        def tail(t: float) -> float:
            if is_smooth:
                above = laplace_and_uniform(head / (2 * math.tanh(0.5 / scale)), sides[0], unit * t)
            else:
                above = sum_of_uniforms(sides, unit * t - center)
            return 2 * float((weight * above).sum())

        return Fraction(unit * solve(tail, failure)) + rounded / 2

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the integers `values` with noise added."""
        if len(values) != len(self.sensitivities):
            raise ValueError("there must be one value for each sensitivity")
        released = list(values)
        for i, noise in enumerate(self.independent):
            if noise is not None:
                released[i] = noise.add([values[i]], generator)[0]
        joint = self._joint
        if joint:
            noisy = self._add_joint([values[i] for i in joint], generator)
            for i, value in zip(joint, noisy, strict=True):
                released[i] = value
        return released

    def _add_joint(self, values: list[int], generator: Generator) -> list[int]:
        """Return integers whose sensitivity is not 0 with joint noise added."""
        if self.staircase is not None:
            return [*map(operator.add, values, self.staircase.draw(generator.stream()))]
        sides = [self.sensitivities[i] for i in self._joint]
        steps, shift = 1, 0
        # If this holds, most proposed radii would be rejected.
        rare = max(sides) == 1 and len(sides) * self.epsilon > 8
        if rare and len(sides) <= 2 * self.epsilon:
            # The box noise with M = 1, drawn by its levels and so without rejection.
            counts = JointStaircase(float_down(self.epsilon), tuple(sides), (0,) * len(sides))
            return [*map(operator.add, values, counts.draw(generator.stream()))]
        if rare or max(sides) > 1:  # otherwise the integers are the finest grid
            most_steps = int(_MOST_SCALE * self.epsilon)
            steps = min(_STEPS, 1 << most_steps.bit_length() - 1)
            shift = max(0, (steps - 1).bit_length() - min(sides).bit_length())
        sides = [most << shift for most in sides]
        stream = generator.stream()
        r = radius(sides, steps, self.epsilon, stream)
        half = 1 << shift >> 1
        points = box_points([r * most // steps for most in sides], stream)
        return [value + ((z + half) >> shift) for value, z in zip(values, points, strict=True)]


@lru_cache(maxsize=1024)
def _of_independent(noises: tuple[tuple[IntegerNoise, Fraction], ...], failure: float) -> Fraction:
    """Return the half-width of a weighted sum of independent noise; see `symmetric_sum`."""
    most = sum((f * noise.half_width(failure / len(noises)) for noise, f in noises), Fraction(0))
    if not noises or failure <= RAREST:
        return most
    units = [(noise, f * (1 << noise.shift)) for noise, f in noises]
    parts = [(noise.waves, np.array([float(unit)]), np.ones(1)) for noise, unit in units]
    deviation = math.hypot(*(float(f) * noise.deviation for noise, f in noises))
    size = symmetric_sum(parts, max(deviation, *(float(unit) for _, unit in units)), failure)
    return min(most, Fraction(size) + sum(unit for noise, unit in units if noise.shift))


def radius(sides: Sequence[int], steps: int, epsilon: Fraction, stream: BitStream) -> int:
    """Draw the radius r of the box noise, for M = `steps` of at most twice the least half-width."""
    k = len(sides)
    while True:
        r = _geometric(k + 1, steps / epsilon, stream)
        bound = math.prod(2 * most * (r + i) for i, most in enumerate(sides, 1))
        weight = math.prod(2 * (r * most // steps) + 1 for most in sides) * steps**k
        if below(bound, stream) < weight:
            return r


def box_points(sides: Sequence[int], stream: BitStream) -> list[int]:
    """Draw a uniform point of a box: an integer from -b to b for each b of `sides`."""
    return [below(2 * most + 1, stream) - most for most in sides]


def _geometric(count: int, scale: Fraction, stream: BitStream) -> int:
    """Draw the sum of `count` integers m >= 0, each with probability ~ exp(-m / scale)."""
    total, left = 0, count
    while left:
        drawn = np.empty(2 * left + 8, np.int64)
        laplace_integers(drawn, scale, stream, None, stream.word)
        kept = drawn[drawn >= 0][:left]
        total += sum(kept.tolist())
        left -= len(kept)
    return total


def ellipsoid_noise(
    loss: Approx | ZCDP, sensitivities: Sequence[int], axes: Sequence[Fraction]
) -> BoxNoise:
    """Return Gaussian noise for integers that may change by d with sum((d_i / a_i)^2) <= 1.

    Let s be the standard deviation for an L2 sensitivity of 1. Integer i has noise of deviation a_i
    s, so the vector of all d_i / (a_i s) is no longer than 1 / s. An integer that is first divided
    by a unit u_i and rounded down changes by up to 1 more. By the triangle inequality the length is
    then at most (1 + |(u_i / a_i)|) / s. A factor of 1 + sum(u_i / a_i) on all noise covers this.

    Parameters
    ----------
    loss : Approx or ZCDP
        The loss of releasing all integers.
    sensitivities : sequence of int
        The sensitivity of each integer. An integer of sensitivity 0 gets no noise.
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
    independent = tuple(next(noises) if most else None for most in sensitivities)
    return BoxNoise(distribution, tuple(sensitivities), of_gaussian(loss), deviation, independent)
