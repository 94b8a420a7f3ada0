"""Noise on a matrix of sums of products: the difference of two Wishart matrices.

A row w of D integers adds the matrix w w^T to a symmetric matrix of sums. This change has a single
nonzero eigenvalue, |w|^2. Independent noise for each entry would be calibrated to the L1 norm of
the change, which is up to D times as large.

*The noise.* Let G be a matrix of m = D + 1 rows of D independent standard normal numbers, and W =
s / 2 G^T G. Let K be the cone of positive definite matrices. W has a density on K, in proportion to
det(W)^((m - D - 1) / 2) exp(-tr(W) / s), and 0 outside of K. For m = D + 1 the exponent of the
determinant is 0, so on K the density is p(W) = C exp(-tr(W) / s). Let W' be independent of W, with
the same distribution. The noise is Z = W - W'. Its density is

    q(Z) = integral of p(Z + V) p(V) over all V in K.

*Its loss.* Let Delta be in the closure of K. We show two inequalities.

* q(Z + Delta) >= exp(-tr(Delta) / s) q(Z). If Z + V is in K then so is Z + Delta + V. So for each V
  in K, p(Z + Delta + V) >= exp(-tr(Delta) / s) p(Z + V). Integrate over V.
* q(Z - Delta) >= exp(-tr(Delta) / s) q(Z). Here q(Z - Delta) is the integral of p(Z - Delta + V)
  p(V). Substitute V = Delta + U: it is the integral of p(Z + U) p(Delta + U) over all U for which
  Delta + U is in K. Every U in K is among these, and for it p(Delta + U) = exp(-tr(Delta) / s)
  p(U). The integral over K alone is therefore exp(-tr(Delta) / s) q(Z).

Every symmetric matrix is the difference of two matrices of the closure of K whose traces add up to
its nuclear norm. So if Z moves by a matrix of nuclear norm t, then q changes by a factor of at most
exp(t / s). Between neighbors t is at most |w|^2 for a row that is added or removed, and |w|^2 +
|w'|^2 for a row w that is replaced by w'. With s = t / epsilon the release is epsilon-DP, whatever
D is.

*Other mechanisms.* Noise of one Wishart matrix alone (Jiang, Xie and Zhang, AAAI 2016) is not
epsilon-DP. Let A be the matrix of sums, and A + w w^T the matrix of a neighbor with one row more.
The neighbor's answers minus A + w w^T are positive definite. But for an answer A + W of the first
dataset, (A + W) - (A + w w^T) need not be: then the neighbor never gives this answer. For D = 1
such noise is never negative. (Sheffet, ALT 2019, has noise of one Wishart matrix, with a delta.)

The difference Z is Laplace noise for D = 1. Its entries off the diagonal have the variance (D + 1)
s^2 / 2, those on the diagonal twice that.

*Rounding.* Integers plus rounded noise are the rounded values of integers plus noise, so rounding
is post-processing. This needs that each entry of Z is rounded correctly, as a real number.

Normal numbers are drawn correctly rounded to multiples of 2**-`BITS`. Sums of products of these are
exact integers: each number is split into parts of 20 bits, whose products float64 adds up exactly.
So each entry of Z is known up to an error, which `_rounded` bounds. If this bound does not decide
how an entry rounds, each normal number gets 60 more bits. A normal number x in its cell [a, b] has
a density in proportion to exp(-x^2 / 2). Its further bits are drawn by exact rejection from uniform
bits. Bits that no decision depended on are uniform.

(float64 holds a rounded normal number below 2**13 standard deviations. The probability of a larger
number is less than 2**-48000000, so it is ignored.)

*Dividing first.* Large integers are first divided by 2^k and rounded down. The change between
neighbors is then t / 2^k, plus a matrix whose entries are below 1 in size. The nuclear norm of this
matrix is at most sqrt(D) times its Frobenius norm, so at most D^(3/2). The public k is chosen so
that this is small compared with t / 2^k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.rng import BitStream
from ..privacy import Pure
from ..rng import Generator
from .distributions import Gaussian
from .samplers import draw_array

Floats = NDArray[np.float64]

#: Normal numbers are first drawn to this many bits after the binary point.
BITS = 40
#: If these bits do not decide the rounding, each number gets this many more bits at a time.
MORE = 60
#: Numbers are multiplied in parts of this many bits: then float64 adds up the products of this many
#: rows exactly.
_PART, _ROWS = 20, 1 << 12
#: The sums are divided by a power of two, but the trace stays at least this many times the nuclear
#: norm of the rounding.
_FINE = 1 << 8
#: The largest scale that can be sampled.
_MOST_SCALE = 1 << 60


@dataclass(frozen=True, slots=True)
class MatrixNoise:
    """Noise for sums of products of `size` columns: first the squares, then the products of pairs.

    `scale` is s in units of ``2**shift``, a multiple of 2**-20. The first `public` squares get no
    noise.
    """

    size: int
    scale: Fraction
    shift: int
    public: int
    loss: Pure

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in the sum of products of two columns."""
        return math.ldexp(float(self.scale) * math.sqrt((self.size + 1) / 2), self.shift)

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the sums `values` with noise added."""
        noise = self.draw(generator)
        half = 1 << self.shift >> 1  # dividing by 2**shift rounds down, by half a unit on average
        noisy = [
            (((value >> self.shift) + z) << self.shift) + half
            for value, z in zip(values, noise, strict=True)
        ]
        noisy[: self.public] = values[: self.public]
        return noisy

    def draw(self, generator: Generator) -> list[int]:
        """Draw the noise alone, in units of ``2**shift``."""
        shape, ones = (2 * (self.size + 1), self.size), np.ones(1)
        drawn = draw_array(
            Gaussian(),
            value=0 * ones,
            scale=ones,
            granularity=np.ldexp(ones, -BITS),
            shape=shape,
            generator=generator,
        )
        cells = np.ldexp(drawn, BITS).astype(np.int64)
        parts, bits, sizes = _split(cells), BITS, (np.abs(cells) + 1).sum(axis=0)
        noise, decided = self._rounded(parts, bits, 0.5, sizes)
        if decided:
            return noise
        stream = generator.stream()
        chunks = refined(cells.ravel(), BITS, stream)
        chunks[0] -= 1 << MORE - 1  # the rounded number is the middle of its cell
        while not decided:
            for chunk in chunks:
                parts, bits = _split(chunk.reshape(shape), MORE // _PART) + parts, bits + MORE
            noise, decided = self._rounded(parts, bits, 1.0, np.ldexp(sizes, bits - BITS))
            chunks = [_uniform(cells.size, stream)]
        return noise

    def _rounded(
        self, parts: list[Floats], bits: int, error: float, sizes: NDArray[Any]
    ) -> tuple[list[int], bool]:
        """Return the rounded noise from normal numbers of `bits` bits, and whether it is certain.

        The numbers come in parts of `_PART` bits, the lowest first. Each may be off by `error`
        units of its last bit. The absolute values in a column add up to at most its entry in
        `sizes`.
        """
        d = self.size
        order = [np.concatenate([np.arange(d), indices]) for indices in np.triu_indices(d, 1)]
        times, point = int(self.scale * 2**20), 2 * bits + 21
        exact = _products(parts, d + 1, (order[0], order[1])) * times
        # Adds one half, in units of 2**-point, so that rounding down rounds to nearest.
        exact += 1 << point - 1
        rounded = exact >> point
        # If numbers x, y are known as X, Y with an error of at most e: |x y - X Y| <= e (|X| + |Y|
        # + e). The bound is summed over all rows, and enlarged to cover rounding in float64.
        off = error * (sizes[order[0]] + sizes[order[1]] + 2.0 * (d + 1) * (error + 1))
        room = [times * (int(x) + 1) for x in (off * (1 + 2.0**-40)).tolist()]
        left = (exact - (rounded << point)).tolist()
        sure = all(r <= x < (1 << point) - r for x, r in zip(left, room, strict=True))
        return rounded.tolist(), sure


def _split(numbers: NDArray[np.int64], count: int = 0) -> list[Floats]:
    """Split integers into parts of `_PART` bits, the lowest first; the last part is signed."""
    parts: list[Floats] = []
    while len(parts) + 1 != count and (count or np.abs(numbers).max(initial=0) >= 1 << _PART):
        parts.append((numbers & (1 << _PART) - 1).astype(np.float64))
        numbers = numbers >> _PART
    return [*parts, numbers.astype(np.float64)]


def _products(
    parts: list[Floats], half: int, order: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> NDArray[Any]:
    """Return sums of products of columns over the first half of the rows, minus the second half.

    The sums are exact: a product of two parts is below 2**40 in size.
    """
    total: NDArray[Any] = np.zeros(len(order[0]), object)
    for power in range(2 * len(parts) - 1):
        sums = np.zeros(len(order[0]), np.int64)
        for i in range(max(0, power - len(parts) + 1), min(power + 1, len(parts))):
            left, right = parts[i], parts[power - i]
            for sign, start in (1, 0), (-1, half):
                for k in range(start, start + half, _ROWS):
                    end = min(k + _ROWS, start + half)
                    sums += sign * (left[k:end].T @ right[k:end])[order].astype(np.int64)
        total += sums.astype(object) << (_PART * power)
    return total


def _uniform(size: int, stream: BitStream) -> NDArray[np.int64]:
    """Draw uniform integers of `MORE` bits."""
    words = np.empty(size, np.uint64)
    stream.fill(words.view(np.uint8))
    return (words >> np.uint64(64 - MORE)).astype(np.int64)


def refined(cells: NDArray[np.int64], bits: int, stream: BitStream) -> list[NDArray[np.int64]]:
    """Draw further bits of normal numbers that round to given multiples of 2**-bits.

    The result is a list of chunks of `MORE` bits, which count from the lower end of each cell. All
    later bits are uniform.
    """
    chunks, chance = [_uniform(len(cells), stream)], np.empty(len(cells), np.uint64)
    stream.fill(chance.view(np.uint8))
    # A uniform proposal is accepted with probability exp(-g), where g <= |cell| 2**(-2 bits): see
    # `inside`. Only if the random word `chance` does not decide this does `inside` draw again.
    lost = np.ldexp(np.abs(cells) + 1.0, 64 - 2 * bits) + 2.0**13
    rare = np.flatnonzero(~(chance.astype(np.float64) <= 2.0**64 - lost))
    for i in rare.tolist():
        for k, chunk in enumerate(inside(int(cells[i]), bits, stream.word)):
            if k == len(chunks):
                chunks.append(_uniform(len(cells), stream))
            chunks[k][i] = chunk
    return chunks


def inside(cell: int, bits: int, word: Callable[[], int]) -> list[int]:
    """Draw chunks of bits of a normal number that rounds to `cell` units of 2**-bits.

    A number x of the cell is proposed uniformly, and accepted with probability exp(-g). Here g =
    (x^2 - y^2) / 2, and y is the number of the cell that is nearest to 0. Bits of x and of a
    uniform number are drawn until they decide. As |x - y| <= 2**-bits and |x + y| <= 2 |cell|
    2**-bits, g is at most |cell| 2**(-2 bits). In the cell around 0 it is at most an eighth of
    2**(-2 bits).
    """
    while True:
        chunks, chance, seen = [], 0, 0
        while True:
            chunks.append(word() >> (64 - MORE))
            chance, seen = (chance << 64) + word(), seen + 64
            more = MORE * len(chunks)
            offset = sum(chunk << (more - MORE * (k + 1)) for k, chunk in enumerate(chunks))
            x, least = (
                (cell << more) + offset - (1 << more - 1),
                max(2 * abs(cell) - 1, 0) << more - 1,
            )
            low, high = (x, x + 1) if x >= 0 else (-x - 1, -x)
            unit = 1 << (2 * (bits + more) + 1)
            above, below = high**2 - least**2, low**2 - least**2
            terms = 4 * len(chunks) + 4 * (above // unit + 1)
            if Fraction(chance + 1, 1 << seen) <= _power(Fraction(above, unit), terms + 1):
                return chunks
            if Fraction(chance, 1 << seen) >= _power(Fraction(below, unit), terms):
                break


def _power(g: Fraction, last: int) -> Fraction:
    """Return a lower bound of exp(-g) if the `last` power is odd, else an upper bound.

    Once the terms of the series decrease, its partial sums alternate above and below exp(-g).
    """
    term = total = Fraction(1)
    for k in range(1, last + 1):
        term *= -g / k
        total += term
    return total


def matrix_noise(loss: Pure, size: int, trace: int | Fraction, public: int = 0) -> MatrixNoise:
    """Return noise for the sums of products of some columns of integers.

    Parameters
    ----------
    loss : Pure
    size : int
        Number of columns.
    trace : int or Fraction
        The largest nuclear norm of the difference of two neighbors' matrices.
    public : int
        How many of the squares, counted from the first, are public and do not differ.

    Raises
    ------
    ArgumentError
        If the loss is so small that its noise cannot be sampled.
    """
    rounding = math.isqrt(size**3 - 1) + 1 if size else 0
    shift = max(0, (math.floor(trace) // (rounding * _FINE or 1)).bit_length() - 1)
    if shift:
        trace = -(-Fraction(trace) // (1 << shift)) + rounding
    scale = Fraction(-(-(Fraction(trace) / loss.epsilon * 2**20) // 1), 2**20)
    if scale > _MOST_SCALE:
        checks.fail("epsilon", "larger, because so much noise cannot be drawn", float(loss.epsilon))
    return MatrixNoise(size, scale, shift, public, loss)
