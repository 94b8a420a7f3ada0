"""Noise for several exact integers of which a row may move each, by its own most, all at once.

Let coordinate i of k move by at most D_i, whatever the others do: neighbors differ by a vector of
the box of half widths D_i. Noise in proportion to D_i is asked for, the same for each coordinate in
units of what a row can do to it: of all noise for the same loss that makes the largest of these
relative errors least, and, since the distributions below treat coordinates alike, the sum of their
squares.

* Laplace noise of scale k D_i / epsilon on each is epsilon-DP, for the l1 norm of the move is at
  most k in units of D_i. Its variance is 2 k^2 / epsilon^2, in the same units.
* The norm whose unit ball is the box itself does better (Hardt and Talwar, STOC 2010): density
  proportional to exp(-epsilon |z|), |z| = max |z_i| / D_i, is epsilon-DP, of variance
  (k + 1) (k + 2) / (3 epsilon^2): the same for one coordinate, half for two, and a sixth for many.
  In zCDP it is charged epsilon tanh(epsilon / 2), as any pure loss is; see below.
* Gaussian noise of variance k D_i^2 / (2 rho) on each is rho-zCDP, by the l2 norm, sqrt(k); with
  shares p_i of rho that sum to 1, of variance D_i^2 / (2 rho p_i). The same for (epsilon, delta),
  as in `integer`.

A mean is a sum over a count. Let k sums over one noisy count get y of a loss each, and the count
x = 1 - k y. To first order the worst variance of a mean, at the bounds, goes with 1 / y + 1 / x,
which is least for x / (k y) = 1 / sqrt(k): `count_shares`.

Where two serve, that with the smaller variance is taken, by the loss and k alone.

The norm on integers. For an integer M, let N(z) be the least r with |z_i| <= floor(r D_i / M) for
all i. If |d_i| <= D_i, then |z_i + d_i| <= floor(r D_i / M) + D_i = floor((r + M) D_i / M), so N
moves by at most M, and the probabilities q^N(z) with q = exp(-epsilon / M) are epsilon-DP, exactly.
They are the mixture over r, with weights q^r prod(2 floor(r D_i / M) + 1), of uniform points of the
boxes |z_i| <= floor(r D_i / M). Such an r is a sum of k + 1 geometric numbers, of probability
proportional to q^r (r + 1) .. (r + k), kept with probability

    prod over i of (2 floor(r D_i / M) + 1) / (2 D_i / M (r + i)),

which is at most 1 if M <= 2 D_i, and nearly always 1. A geometric number is a discrete Laplace one
that is not negative. Integers that move by few are multiplied by a public power of two first and
rounded in the end, so that M can be large and the distribution close to the continuous one.

What that uses of its charge in zCDP. For t > 0 the integral of exp(-epsilon ((1 + t) |z| - t |z -
d|)) is convex in d, so it is largest for a corner d of the box of moves. There {|z| <= a, |z - d|
<= b} is a box of sides (a + b - max(1, |a - b|)) D_i, the integral over a + b of its volume times
exp(-epsilon (a + b) / 2) is exp(-epsilon max(1, |a - b|) / 2) times a constant, and what is left
does not depend on k: the continuous distribution costs exactly what Laplace noise on one number
does, epsilon + e^-epsilon - 1. That is .97, .80, .75 and .90 of the charge at an epsilon of .1, 1,
3 and 10. For the distribution on integers it is not proved, so the charge is that of a pure loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .._core.error_bars import box_sum
from .._kernels.rng import BitStream
from ..privacy import ZCDP, Loss, Pure, pure_within
from ..rng import Generator
from .additive import amount
from .choice import below
from .distributions.discrete import laplace_integers
from .integer import IntegerNoise, integer_noise, laplace_loss

#: Steps of the norm in a move of size 1, and the largest scale that geometric numbers may have.
_STEPS, _FAR = 1 << 20, 1 << 40


@dataclass(frozen=True, slots=True)
class BoxNoise:
    """Noise for one joint release of integers; what moves by 0 gets none.

    `loss` is what the release of all of them costs. `deviation` is the standard deviation in units
    of a coordinate's move, if all have equal shares.
    """

    distribution: str
    moves: tuple[int, ...]
    loss: Loss
    deviation: float
    each: tuple[IntegerNoise, ...] = field(default=(), repr=False)  # one for each that moves
    epsilon: Fraction = Fraction(0)  # of the distribution "box"

    def within(self, miss: float, terms: int = 1, place: int | None = None) -> Fraction:
        """A size that noise exceeds with probability at most `miss`, in units of what moves.

        Of one coordinate, or of a sum of some, divided by their moves: of that at `place`, by
        default any, for equal shares. What rounding to integers adds counts for moves of 1.
        """
        moving = [i for i, move in enumerate(self.moves) if move]
        if not moving or (place is not None and not self.moves[place]):
            return Fraction(0)
        if self.distribution == "box":
            size = box_sum(miss, len(moving), terms) / float(self.epsilon)
            return Fraction(size) + Fraction(terms, 2 * min(self.moves[i] for i in moving))
        i = min(moving, key=lambda i: self.moves[i]) if place is None else place
        return Fraction(self.each[moving.index(i)].within(miss, terms), self.moves[i])

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """The values with noise."""
        found = list(values)
        moving = [i for i, move in enumerate(self.moves) if move]
        if len(found) != len(self.moves):
            raise ValueError("there must be as many values as moves")
        if not moving:
            return found
        if self.distribution == "box":
            noisy = self._box([found[i] for i in moving], generator)
        else:
            noisy = [
                noise.add([found[i]], generator)[0]
                for i, noise in zip(moving, self.each, strict=True)
            ]
        for i, value in zip(moving, noisy, strict=True):
            found[i] = value
        return found

    def _box(self, values: list[int], generator: Generator) -> list[int]:
        moves = [move for move in self.moves if move]
        steps, shift = 1, 0
        if (
            max(moves) > 1
        ):  # else the distribution on the integers themselves is the finest there is
            far = int(_FAR * self.epsilon)
            steps = min(_STEPS, 1 << far.bit_length() - 1)
            shift = max(0, (steps - 1).bit_length() - min(moves).bit_length())
        moves = [move << shift for move in moves]
        stream = generator.stream()
        r = radius(moves, steps, self.epsilon, stream)
        half = 1 << shift >> 1
        points = box_points([r * move // steps for move in moves], stream)
        return [value + ((z + half) >> shift) for value, z in zip(values, points, strict=True)]


def radius(moves: Sequence[int], steps: int, epsilon: Fraction, stream: BitStream) -> int:
    """r of the derivation, for M = `steps` of at most twice the least of the moves."""
    k = len(moves)
    while True:
        r = _geometric(k + 1, steps / epsilon, stream)
        over = math.prod(2 * move * (r + i) for i, move in enumerate(moves, 1))
        keep = math.prod(2 * (r * move // steps) + 1 for move in moves) * steps**k
        if below(over, stream) < keep:
            return r


def box_points(reach: Sequence[int], stream: BitStream) -> list[int]:
    """A uniform integer of -b .. b for each b of `reach`."""
    return [below(2 * most + 1, stream) - most for most in reach]


def _geometric(count: int, scale: Fraction, stream: BitStream) -> int:
    """The sum of `count` integers of probability proportional to exp(-m / scale), m >= 0."""
    total, left = 0, count
    while left:
        drawn = np.empty(2 * left + 8, np.int64)
        laplace_integers(drawn, scale, stream, None, stream.word)
        kept = drawn[drawn >= 0][:left]
        total += sum(kept.tolist())
        left -= len(kept)
    return total


def box_noise(
    loss: Loss, moves: Sequence[int], shares: Sequence[Fraction] | None = None
) -> BoxNoise:
    """The noise for one joint release of integers.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        Of all of them together.
    moves : sequence of int
        By how much neighbors move each, at most.
    shares : sequence of Fraction, optional
        What each gets of a loss that is divided (Gaussian noise), at most 1 together; by default
        all the same. With these, a coordinate that moves by 0 has its share too.
    """
    size = amount(loss)
    moves = tuple(moves)
    k = max(1, sum(1 for move in moves if move))
    plain = integer_noise(loss, k << 32, k << 64, k)  # so large that the grid plays no part
    epsilon = pure_within(size) if isinstance(loss, ZCDP) else size
    flat = math.sqrt((k + 1) * (k + 2) / 3.0) / float(epsilon)
    spent: Loss
    if k > 1 and flat <= math.ldexp(plain.deviation, -32):
        spent = loss if isinstance(loss, ZCDP) else Pure(size)
        return BoxNoise("box", moves, spent, flat, epsilon=epsilon)
    distribution = plain.distribution
    if shares is None or distribution == "laplace":
        shares = [Fraction(1, k)] * len(moves)
    each = tuple(
        integer_noise(loss, k * move, move**2 / share, 1 / share, distribution)
        for move, share in zip(moves, shares, strict=True)
        if move
    )
    spent = plain.loss
    if isinstance(spent, Pure):
        spent = laplace_loss(size, k, min(filter(None, moves), default=1))
    return BoxNoise(distribution, moves, spent, math.ldexp(plain.deviation, -32), each)


def count_shares(counts: int, others: int) -> list[Fraction]:
    """Shares of numbers of rows and then of others, as many for each of the former."""
    root = max(1, round(math.sqrt(others / counts)))  # as good as the root, and rational
    row, other = Fraction(1, counts * (1 + root)), Fraction(root, max(1, others) * (1 + root))
    return [row] * counts + [other] * others
