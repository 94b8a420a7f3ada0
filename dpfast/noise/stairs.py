"""Staircase noise on integers, the least noise for pure privacy: for one integer, and for several.

Let an integer have the sensitivity D. For a public core R of 0 .. D - 1, the stair of z is

    stair(z) = the least l >= 0 with |z| <= R + l D.

Noise z has a probability proportional to b^stair(z), with b = e^-epsilon. There are 2 R + 1 numbers
on stair 0, and 2 D on each further stair (Geng and Viswanath, "The optimal mechanism in
differential privacy", ISIT 2014; IEEE Transactions on Information Theory 62, 2016).

*Loss.* If |d| <= D and |z| <= R + l D, then |z + d| <= R + (l + 1) D. So adding d moves no z by
more than one stair. No probability changes by more than a factor b or 1 / b, so the noise is
epsilon-DP. This holds for every core. It is a statement about the integers that are drawn: nothing
is rounded.

No noise for a sensitivity D has a smaller variance or mean absolute value than the best staircase
(Geng and Viswanath). For D = 1 the best staircase is discrete Laplace noise.

In zCDP its loss counts like every pure loss, as epsilon tanh(epsilon / 2). The exact loss is hardly
less: the privacy loss is epsilon or -epsilon for all z except R < z < D - R, where z and its
neighbor are both on the first stair.

*The core.* For a core of g D and many cells, the variance is D^2 times a function of g and b with a
single minimum,

    g = ((b (1 + b) / 2)^(1/3) - b) / (1 - b).

This is the published formula, in a form without cancellation. For an epsilon of 1, 2, 3, 5 and 10,
the standard deviation is .98, .92, .83, .61 and .21 times the standard deviation of Laplace noise.
The mean size is .96, .86, .73, .49 and .15 times the mean size of Laplace noise. Both are smaller
for every epsilon. (The least mean size has g = 1 / (1 + e^(epsilon / 2)), with a larger variance.)

*Sampling.* A number is beyond stair 0 with the probability

    2 D b / (2 D b + (2 R + 1) (1 - b)).

64 random bits decide this, and further bits with arbitrary precision if 64 are not enough
(`distributions.exact`). Beyond stair 0, the number is uniform among the 2 D numbers of stair k + 1,
where P(k) = (1 - b) b^k for k >= 0. So k is a discrete Laplace number of scale 1 / epsilon, given
that it is not negative.

*Several integers.* Let z be a vector, whose coordinates have the sensitivities D_i and may all
change at once. Its stair is the least l with |z_i| <= R_i + l D_i for all i. A change within the
box of all D_i changes the stair by at most 1, for the same reason. So noise with probabilities
proportional to b^stair(z) is epsilon-DP. It is a mixture over l, with weights b^l prod(2 (R_i + l
D_i) + 1), of uniform points of the boxes |z_i| <= R_i + l D_i. This is the staircase form of the
noise by the norm of the box (`box`).

A count has D = 1 and R = 0, so it has no noise on stair 0. If epsilon is large, a count adds little
noise to a sum that is released with it. Each core is g D_i, with the same g for all. g is the power
of 2^(-1/8), from a public list, that gives the least mean of the variances in units of D_i^2. It
depends only on the numbers of counts and of other integers.

To draw l, one uniform number is compared with P(l >= 1), P(l >= 2) and so on. This is exact, too:
the number has 64 bits, and more with arbitrary precision if these are not enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core.error_bars import solve
from .._kernels.rng import BitStream
from ..privacy import float_down
from ..rng import Generator
from .choice import below, uniform
from .distributions.base import context
from .distributions.discrete import laplace_noise
from .distributions.exact import Tail
from .samplers import in_chunks

Integers = NDArray[np.int64]


def best_core(epsilon: float) -> float:
    """Return the half-width of the core with the least variance, in units of the sensitivity."""
    b = math.exp(-epsilon)
    return (math.cbrt(b * (1 + b) / 2) - b) / -math.expm1(-epsilon)


@dataclass(frozen=True, slots=True)
class Staircase:
    """Staircase noise for an integer of sensitivity `step`; `core` is R of the derivation.

    `epsilon` is a float64, at most the spent epsilon.
    """

    epsilon: float
    step: int
    core: int

    @classmethod
    def of(cls, epsilon: Fraction, step: int) -> Staircase:
        """Return the staircase noise of the least variance for an epsilon and a sensitivity."""
        rate = float_down(epsilon)
        return cls(rate, step, min(int(best_core(rate) * step), step - 1))

    @property
    def weights(self) -> tuple[float, float]:
        """The weights of the core and of all beyond it; a core's integer has the weight 1 - b."""
        rate = self.epsilon
        return (2 * self.core + 1) * -math.expm1(-rate), 2 * self.step * math.exp(-rate)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise.

        The noise is a mixture of uniform integers with |z| <= a, where a = R + l D has the weight
        b^l (2 a + 1). The variance of one of these is a (a + 1) / 3. So the variance follows from
        the moments of a geometric l.
        """
        b, fall = math.exp(-self.epsilon), -math.expm1(-self.epsilon)
        r, d = float(self.core), self.step / fall
        mean, second_moment, third_moment = b, b * (1 + b), b * (1 + 4 * b + b * b)
        first = r + d * mean
        second = r * r + 2 * r * d * mean + d * d * second_moment
        third = r**3 + 3 * r * r * d * mean + 3 * r * d * d * second_moment + d**3 * third_moment
        return math.sqrt((2 * third + 3 * second + first) / (2 * first + 1) / 3)

    def half_width(self, failure: float) -> int:
        """Return a half-width that the noise exceeds with a probability of at most `failure`.

        Within a stair the tail is linear: P(|Z| > R + l D + j) is P(|Z| > R + l D) times 1 - (1 -
        b) j / D. A relative 2**-40 is added for rounding.
        """
        inside, beyond = self.weights
        total, fall = inside + beyond, -math.expm1(-self.epsilon)
        if failure >= beyond / total:
            size = min(float(self.core), max(0.0, ((1 - failure) * total / fall - 1) / 2))
        else:
            levels = math.floor(math.log(beyond / total / failure) / self.epsilon)
            left = failure * total / beyond * math.exp(self.epsilon * levels)
            part = min(1.0, max(0.0, (1 - left) / fall))
            size = self.core + (levels + part) * self.step
        return math.ceil(size * (1 + 2.0**-40))

    def waves(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the characteristic function of the noise.

        Let a = R + l D. The sum of e^(i u z) over |z| <= a is sin(u (a + 1/2)) / sin(u / 2). So the
        result is the imaginary part of e^(i u (R + 1/2)) / (1 - b e^(i u D)), divided by sin(u / 2)
        and by the value for u = 0. At multiples of 2 pi it is 1.
        """
        b, half = math.exp(-self.epsilon), np.sin(u / 2)
        fall = -math.expm1(-self.epsilon)
        whole = (2 * self.core + 1) / fall + 2 * self.step * b / fall**2
        turn = np.exp(1j * u * (self.core + 0.5)) / (1 - b * np.exp(1j * u * self.step))
        cosines = np.divide(turn.imag, half * whole, out=np.ones(u.shape), where=half != 0)
        return np.asarray(np.clip(cosines, -1, 1))

    def draw(self, size: int, generator: Generator) -> Integers:
        """Draw `size` independent numbers of this noise."""
        out = np.empty(size, np.int64)
        in_chunks(size, generator.stream(), lambda i, j, stream: self.fill(out[i:j], stream))
        return out

    def fill(self, out: Integers, stream: BitStream) -> None:
        """Fill `out` with independent numbers of this noise."""
        beyond = self.beyond(out.size, stream)
        many = int(np.count_nonzero(beyond))
        out[~beyond] = uniform(2 * self.core + 1, out.size - many, stream) - self.core
        levels, number = self.levels(many, stream), uniform(2 * self.step, many, stream)
        size = self.core + 1 + levels * self.step + (number >> 1)
        out[beyond] = np.where(number & 1, -size, size)

    def beyond(self, size: int, stream: BitStream) -> NDArray[np.bool_]:
        """Draw for each of `size` numbers whether it lies beyond the core."""
        words = np.frombuffer(stream.take(8 * size), np.uint64)
        least, most = _open(self)
        beyond: NDArray[np.bool_] = words < least
        for i in np.flatnonzero(~beyond & (words <= most)).tolist():
            beyond[i] = Tail(int(words[i]), stream.word).below(self.part_beyond)
        return beyond

    def part_beyond(self, mp: Any) -> Any:
        """Return the probability that a number lies beyond the core."""
        rate = mp.mpf(self.epsilon)
        beyond = 2 * self.step * mp.exp(-rate)
        return beyond / (beyond - (2 * self.core + 1) * mp.expm1(-rate))

    def levels(self, size: int, stream: BitStream) -> Integers:
        """Draw `size` geometric numbers k >= 0, P(k) ~ e^(-epsilon k)."""
        out, start = np.empty(size, np.int64), 0
        while start < size:
            drawn = np.empty(2 * (size - start) + 8, np.int64)
            laplace_noise(drawn, 1 / Fraction(self.epsilon), stream)
            kept = drawn[drawn >= 0][: size - start]
            out[start : start + kept.size] = kept
            start += kept.size
        return out


@lru_cache(maxsize=256)
def _open(noise: Staircase) -> tuple[np.uint64, np.uint64]:
    """Return the first and last 64-bit word that does not decide if a number is beyond the core."""
    mp = context(256)
    near = int(mp.ldexp(noise.part_beyond(mp), 64))
    return np.uint64(max(0, near - 1)), np.uint64(min(near + 1, 2**64 - 1))


@lru_cache(maxsize=256)
def best_cores(
    epsilon: float, counts: int, others: int, share: float | None = None
) -> tuple[float, float]:
    """Return the best core, as a part of each sensitivity, and the root of the mean variance.

    Each variance is in units of the squared sensitivity. `others` is the number of integers with a
    large sensitivity. In the mean, all `counts` together have the weight `share`, which is by
    default proportional to their number.
    """
    k = counts + others
    of_counts, of_others = (counts, others) if share is None else (k * share, k * (1 - share))
    level = np.arange(math.ceil((80 + 6 * k * math.log1p(k)) / epsilon) + 8)
    steps = math.ceil(8 * math.log2(math.e) * (epsilon + 4) / 2)
    part = 2.0 ** (-np.arange(steps)[:, None] / 8)
    log = others * np.log(part + level) + counts * np.log(2 * level + 1) - epsilon * level
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    variance = of_counts * level * (level + 1) + of_others * (part + level) ** 2
    mean = (weight * variance).sum(axis=1) / weight.sum(axis=1) / (3 * k)
    best = int(mean.argmin())
    return float(part[best, 0]), math.sqrt(float(mean[best]))


@dataclass(frozen=True, slots=True)
class JointStaircase:
    """Joint staircase noise for integers with the sensitivities `steps`, of at least 1."""

    epsilon: float
    steps: tuple[int, ...]
    cores: tuple[int, ...]

    @classmethod
    def of(cls, epsilon: Fraction, steps: Sequence[int], core: float | None = None) -> Self:
        """Return the joint noise for an epsilon and sensitivities; a core is a part of its step."""
        rate, counts = float_down(epsilon), sum(1 for step in steps if step == 1)
        if core is None:
            core = best_cores(rate, counts, len(steps) - counts)[0]
        part = Fraction(core)
        return cls(rate, tuple(steps), tuple(min(int(part * d), d - 1) for d in steps))

    def size(self, level: int) -> int:
        """Return the number of vectors whose level is at most `level`."""
        return math.prod(2 * side + 1 for side in self.sides(level))

    def draw(self, stream: BitStream) -> list[int]:
        """Draw the noise of one vector of integers."""
        level = self._level(Tail(stream.word(), stream.word))
        return [below(2 * side + 1, stream) - side for side in self.sides(level)]

    def draws(self, size: int, generator: Generator) -> Integers:
        """Draw independent noise for `size` vectors, each in a column of the result."""
        out = np.empty((len(self.steps), size), np.int64)
        in_chunks(size, generator.stream(), lambda i, j, stream: self.fill(out[:, i:j], stream))
        return out

    def fill(self, out: Integers, stream: BitStream) -> None:
        """Fill each column of `out` with the noise of one vector."""
        words = np.frombuffer(stream.take(8 * out.shape[1]), np.uint64)
        levels, unsure = np.zeros(len(words), np.int64), np.zeros(len(words), np.bool_)
        for least, most in _ends(self):
            reached = words <= most
            if not reached.any():
                break
            levels += reached
            unsure |= reached & (words >= least)
        for i in np.flatnonzero(unsure).tolist():
            levels[i] = self._level(Tail(int(words[i]), stream.word))
        for level in range(int(levels.max(initial=-1)) + 1):
            at = np.flatnonzero(levels == level)
            for row, side in zip(out, self.sides(level), strict=True):
                row[at] = uniform(2 * side + 1, at.size, stream) - side

    def sides(self, level: int) -> list[int]:
        """Return the half-width of the box of a level, for each integer."""
        return [r + level * d for r, d in zip(self.cores, self.steps, strict=True)]

    def _level(self, tail: Tail) -> int:
        """Return the level that belongs to a uniform number."""
        level = 0

        def reaches(mp: Any) -> Any:
            tails = _tails(self, mp.prec)
            return mp.make_mpf(tails[level]) if level < len(tails) else mp.zero

        while tail.below(reaches):
            level += 1
        return level

    def half_width(self, failure: float, index: int) -> Fraction:
        """Return the half-width of the noise in an integer, in units of its sensitivity.

        The noise exceeds the half-width with a probability of at most `failure`. On a level the
        noise is a rounded uniform number between -(a + 1/2) and a + 1/2, so its tail is 1 - (h +
        1/2) / (a + 1/2).
        """
        weight, step = self.weights, self.steps[index]
        side = (self.cores[index] + 0.5) / step + np.arange(self._reach)
        size = solve(lambda t: float((weight * np.maximum(0, 1 - t / side)).sum()), failure)
        return Fraction(max(0, math.ceil(Fraction(size) * step - Fraction(1, 2))), step)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The probability of each level."""
        size = np.array([math.log(self.size(level)) for level in range(self._reach)])
        weight = np.exp(size - size.max() - self.epsilon * np.arange(self._reach))
        return np.asarray(weight / weight.sum())

    @property
    def deviations(self) -> list[float]:
        """The standard deviation of the noise of each integer."""
        weight, level = self.weights, np.arange(self._reach)
        sides = (
            core + level * float(step) for core, step in zip(self.cores, self.steps, strict=True)
        )
        return [math.sqrt(float((weight * side * (side + 1)).sum()) / 3) for side in sides]

    @property
    def _reach(self) -> int:
        """A number of levels beyond which the noise has next to no probability."""
        k = len(self.steps)
        return math.ceil((80 + 6 * k * math.log1p(k)) / self.epsilon) + 8


@lru_cache(maxsize=64)
def _ends(noise: JointStaircase) -> list[tuple[np.uint64, np.uint64]]:
    """Return for each level above 0 the first and the last 64-bit word that does not decide it."""
    mp = context(256)
    near = [int(mp.ldexp(mp.make_mpf(tail), 64)) for tail in _tails(noise, 256)]
    pairs = [(max(0, word - 1), min(word + 1, 2**64 - 1)) for word in near]
    return [(np.uint64(least), np.uint64(most)) for least, most in pairs]


@lru_cache(maxsize=64)
def _tails(noise: JointStaircase, precision: int) -> list[Any]:
    """Return the tails P(l >= 1), P(l >= 2) .. of the level, as raw mpmath numbers.

    The sum of all omitted terms is less than 2**-precision of the smallest term that counts.
    """
    mp = context(precision)
    terms, factor = [mp.mpf(noise.size(0))], mp.exp(-mp.mpf(noise.epsilon))
    power, whole = factor, terms[0]
    while True:
        term = power * noise.size(len(terms))
        small = mp.mag(term) < mp.mag(whole) - 2 * precision
        if small and 2 * term < terms[-1]:
            break
        terms.append(term)
        whole += term
        power *= factor
    sums, total = [], mp.zero
    for term in reversed(terms):
        total += term
        sums.append(total)
    return [(tail / total)._mpf_ for tail in reversed(sums[:-1])]
