"""Noise on a matrix of sums of products: the difference of two Wishart matrices.

A row w of D integers adds w w^T to a symmetric matrix. Its eigenvalue is |w|^2, one of D, so noise
that treats entries one by one (L1 norm: D^2) has far too much in all the others.

*The density.* Let G have m = D + 1 rows of D independent standard normal numbers. Then W = s / 2
G^T G has a density in proportion to det(W)^((m - D - 1) / 2) exp(-tr(W) / s) on the cone K of
positive definite matrices, 0 elsewhere: p(W) = C exp(-tr(W) / s), as the exponent is 0. Let W' be
another one. Z = W - W' has the density q(Z), the integral over V of p(Z + V) p(V). For Delta in the
closure of K

* p(Z + Delta + V) >= exp(-tr(Delta) / s) p(Z + V) for each V in K, for Z + Delta + V is in K where
  Z + V is. So q(Z + Delta) >= exp(-tr(Delta) / s) q(Z).
* q(Z - Delta) is the integral of p(Z - Delta + V) p(V), with V = Delta + U that of p(Z + U)
  p(Delta + U), over more U than those in K, and there p(Delta + U) = exp(-tr(Delta) / s) p(U). So
  q(Z - Delta) >= exp(-tr(Delta) / s) q(Z).

A symmetric matrix is the difference of two of the closure of K, whose traces add up to its nuclear
norm. So q changes by a factor of at most exp(t / s) where Z moves by a matrix of nuclear norm t:
|w|^2 for a row that is added or removed, |w|^2 + |w'|^2 for one that is replaced. With s = t /
epsilon that is epsilon-DP, and nothing of it depends on D.

One Wishart matrix alone (Jiang, Xie and Zhang, AAAI 2016) is not: A + W - A is positive definite,
and where a row went, A + W - (A + w w^T) need not be, so there are answers which one of the
neighbors never gives. With D = 1 that is noise which is never negative. (Sheffet, ALT 2019, has
noise of one Wishart matrix with a delta.) For D = 1 the difference is Laplace noise. Entries beside
the diagonal have the variance (D + 1) s^2 / 2, those on it twice that.

*Rounding.* Integers plus rounded noise is rounded integers plus noise, which is post-processing. So
each entry of Z has to be rounded as the real number that it is. Normal numbers are drawn to
2**-`BITS`, correctly rounded; sums of products of these are exact integers, from sums of
products of parts of 20 bits that float64 holds. Each entry of Z then is known up to a bound that is
stated beside it. Where that leaves a rounding open, all normal numbers get 60 more bits: a number x
of its cell [a, b] with the density in proportion to exp(-x^2 / 2), by rejection from uniform bits,
each decision exact, and then uniform bits, which is what is left after a decision that did not
depend on them. (float64 holds a rounded number below 2**13 deviations. What lies there weighs
less than 2**-48000000 and has no part in anything that is computed.)

*Dividing first.* Integers that are divided by 2^k and rounded down change by t / 2^k, plus a matrix
whose entries are below 1 in size, whose nuclear norm is at most sqrt(D) times its Frobenius norm,
so D^(3/2). k is such that this is little.
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

#: Bits of a normal number behind the point, at first.
BITS = 40
#: Bits that are drawn later, at a time.
MORE = 60
#: Bits of the parts that are multiplied, and rows whose products float64 adds up.
_PART, _ROWS = 20, 1 << 12
#: A trace of so many times the nuclear norm of rounding is not divided further.
_FINE = 1 << 8
#: The largest scale.
_MOST_SCALE = 1 << 60


@dataclass(frozen=True, slots=True)
class MatrixNoise:
    """Noise for sums of products of `size` columns: squares of each, then products of two.

    `scale` is s in units of ``2**shift``, a multiple of 2**-20. The first `public`
    squares get no noise.
    """

    size: int
    scale: Fraction
    shift: int
    public: int
    loss: Pure

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise in a product of two columns."""
        return math.ldexp(float(self.scale) * math.sqrt((self.size + 1) / 2), self.shift)

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the sums `values` with noise added."""
        noise = self.draw(generator)
        half = 1 << self.shift >> 1  # rounding down takes half a unit away on average
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
        chunks[0] -= 1 << MORE - 1  # the middle of a cell is where it was rounded to
        while not decided:
            for chunk in chunks:
                parts, bits = _split(chunk.reshape(shape), MORE // _PART) + parts, bits + MORE
            noise, decided = self._rounded(parts, bits, 1.0, np.ldexp(sizes, bits - BITS))
            chunks = [_uniform(cells.size, stream)]
        return noise

    def _rounded(
        self, parts: list[Floats], bits: int, error: float, sizes: NDArray[Any]
    ) -> tuple[list[int], bool]:
        """Return the noise of normal numbers known to `bits` bits, and whether it is certain.

        The numbers are given in parts of `_PART` bits, the lowest first. Each may be off by `error`
        in units of its last bit, and the sizes of a column add up to at most its `sizes`.
        """
        d = self.size
        order = [np.concatenate([np.arange(d), indices]) for indices in np.triu_indices(d, 1)]
        times, point = int(self.scale * 2**20), 2 * bits + 21
        exact = _products(parts, d + 1, (order[0], order[1])) * times
        exact += 1 << point - 1  # in units of 2**-point; rounding down rounds then
        rounded = exact >> point
        # |x y - X Y| <= e (|X| + |Y| + e), summed over all rows, and a little more for float64
        off = error * (sizes[order[0]] + sizes[order[1]] + 2.0 * (d + 1) * (error + 1))
        room = [times * (int(x) + 1) for x in (off * (1 + 2.0**-40)).tolist()]
        left = (exact - (rounded << point)).tolist()
        sure = all(r <= x < (1 << point) - r for x, r in zip(left, room, strict=True))
        return rounded.tolist(), sure


def _split(numbers: NDArray[np.int64], count: int = 0) -> list[Floats]:
    """Return integers in parts of `_PART` bits, the lowest first; the last part has the sign."""
    parts: list[Floats] = []
    while len(parts) + 1 != count and (count or np.abs(numbers).max(initial=0) >= 1 << _PART):
        parts.append((numbers & (1 << _PART) - 1).astype(np.float64))
        numbers = numbers >> _PART
    return [*parts, numbers.astype(np.float64)]


def _products(
    parts: list[Floats], half: int, order: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> NDArray[Any]:
    """Return sums of products of columns over the first half of the rows, less the second's.

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
    """Draw further bits of normal numbers, given the multiples of 2**-bits they round to.

    The result is one chunk of `MORE` bits after the other, counted from the lower end of a cell.
    All bits after these are uniform.
    """
    chunks, chance = [_uniform(len(cells), stream)], np.empty(len(cells), np.uint64)
    stream.fill(chance.view(np.uint8))
    # A number is kept with a probability of exp(-g), g <= |cell| 2**(-2 bits): see `inside`.
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

    A number x of the cell is proposed uniformly, and kept with the probability exp(-g),
    g = (x^2 - y^2) / 2, y the number of the cell that is nearest to 0. For that, bits of x and of a
    uniform number are drawn until they decide. With |x - y| <= 2**-bits, and |x + y| <= 2 |cell|
    2**-bits, g is at most |cell| 2**(-2 bits), or half of a quarter of that around 0.
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
    """Return a bound of exp(-g): a lower one if the `last` power is odd, else an upper one.

    Partial sums of the series lie on either side in turn, once its terms get smaller.
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
        The number of squares, the first ones, that do not differ.

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
        checks.fail(
            "epsilon", "larger for this many numbers, rounds or shares", float(loss.epsilon)
        )
    return MatrixNoise(size, scale, shift, public, loss)
