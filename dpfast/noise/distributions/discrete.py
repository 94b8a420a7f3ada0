"""Exact discrete Laplace and Gaussian noise, from the table of the Laplace distribution.

|Z| = -ln(2 p) is a standard exponential number. *Discrete Laplace* of scale s has
P(K = k) ~ q^|k| with q = exp(-1/s), so P(|K| >= m) = 2 q^m / (1 + q) for m >= 1. Hence
|K| = max(0, floor(s |Z| + s ln(2 / (1 + q)))) with a random sign has this distribution: |K| >= m if
and only if p <= q^m / (1 + q). The floor of x is the integer nearest to x - 1/2.

*Discrete Gaussian*, P(K = k) ~ exp(-k^2 / (2 sigma^2)), by rejection (Canonne, Kamath and
Steinke, NeurIPS 2020): a discrete Laplace y of scale t = floor(sigma) + 1 is kept with
probability exp(-gamma), gamma = (|y| - sigma^2 / t)^2 / (2 sigma^2), that is if a standard
exponential is above gamma.

Both comparisons use arbitrary precision if the error bound of float64 does not decide them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._kernels.noise import BLOCK, accept, few_integers, integers
from ..._kernels.rng import BitStream
from .base import context, ratio
from .exact import Tail, undecided
from .laplace import Laplace
from .table import Prepared, prepare

_TRIALS = 1 << 14


@lru_cache(maxsize=1024)
def _scale_and_shift(numerator: int, denominator: int) -> tuple[float, float]:
    """Return s, and s ln(2 / (1 + q)) - 1/2, which is in [-1/2, 0], to half a unit of rounding."""
    scale, mp = Fraction(numerator, denominator), context(200)
    s = ratio(mp, scale)
    return float(scale), float(s * mp.log(2 / (1 + mp.exp(-1 / s))) - 0.5)


@lru_cache(maxsize=1)
def _laplace_table() -> Prepared:
    return prepare(Laplace())


def _decide_laplace(word: int, scale: Fraction, more: Callable[[], int]) -> int:
    """Return the discrete Laplace integer that the bits `word`, and more bits, decide."""
    tail = Tail(word >> 1, more)
    while tail.k >> 60 == 0:
        tail.refine()
    mp = context(tail.bits + 64)
    s = ratio(mp, scale)
    size = int(mp.floor(s * (-mp.log(mp.ldexp(tail.k, -tail.bits)) - mp.log1p(mp.exp(-1 / s)))))
    size = max(size, 0)

    def reaches(m: int) -> bool:
        """Return whether the size |K| of the integer is at least m."""
        distance, step = m / scale, 1 / scale
        return m <= 0 or tail.below(
            lambda mp: mp.exp(-ratio(mp, distance)) / (1 + mp.exp(-ratio(mp, step)))
        )

    while not reaches(size):
        size -= 1
    while reaches(size + 1):
        size += 1
    return -size if word & 1 else size


def laplace_integers(
    out: NDArray[np.int64],
    scale: Fraction,
    stream: BitStream | None,
    words: NDArray[np.uint64] | None,
    more: Callable[[], int],
    prepared: Prepared | None = None,
) -> None:
    """Fill `out` with discrete Laplace noise of the given scale, at most 2**41."""
    table = (prepared or _laplace_table()).table
    arguments = stream, words, table, *_scale_and_shift(scale.numerator, scale.denominator), out
    for i, bits in undecided(out.size, lambda *at: integers(*arguments, *at)):
        out[i] = _decide_laplace(bits, scale, more)


class FewLaplace:
    """A sampler of small batches of discrete Laplace noise of one scale, like `laplace_noise`."""

    MOST = BLOCK

    def __init__(self, scale: Fraction) -> None:
        self._scale = scale
        self._kernel = _laplace_table().table, *_scale_and_shift(scale.numerator, scale.denominator)

    def __reduce__(self) -> tuple[type[FewLaplace], tuple[Fraction]]:
        return FewLaplace, (self._scale,)

    def draw(self, size: int, stream: BitStream) -> NDArray[np.int64]:
        """Draw `size` integers, at most `MOST`."""
        drawn, undecided = few_integers(stream, *self._kernel, size)
        for i, bits in undecided:
            drawn[i] = _decide_laplace(bits, self._scale, stream.word)
        return drawn


def laplace_noise(out: NDArray[np.int64], scale: Fraction, stream: BitStream) -> None:
    """Fill `out` with discrete Laplace noise from a stream."""
    laplace_integers(out, scale, stream, None, stream.word)


def _decide_keep(word: int, gamma: Fraction, more: Callable[[], int]) -> bool:
    """Return whether the standard exponential number that `word` begins is above gamma."""
    return gamma == 0 or Tail(word >> 1, more).below(lambda mp: mp.exp(-ratio(mp, gamma)) / 2)


@lru_cache(maxsize=1024)
def _of_gaussian(numerator: int, denominator: int) -> tuple[Fraction, Fraction]:
    """Return sigma^2 / t and 1 / (2 sigma^2), the constants of the rejection step."""
    sigma = Fraction(numerator, denominator)
    return sigma**2 / (int(sigma) + 1), 1 / (2 * sigma**2)


def gaussian_trials(
    y: NDArray[np.int64],
    sigma: Fraction,
    stream: BitStream | None,
    words: NDArray[np.uint64] | None,
    more: Callable[[], int],
    prepared: Prepared | None = None,
) -> NDArray[np.bool_]:
    """Return which proposals y, discrete Laplace of scale floor(sigma) + 1, are kept."""
    table = (prepared or _laplace_table()).table
    center, half_precision = _of_gaussian(*sigma.as_integer_ratio())
    drawn, keep = np.empty(y.size, np.uint64), np.empty(y.size, np.uint8)
    if accept(stream, words, table, y, float(center), float(half_precision), drawn, keep):
        for i in np.flatnonzero(keep == 2).tolist():
            gamma = (abs(int(y[i])) - center) ** 2 * half_precision
            keep[i] = _decide_keep(int(drawn[i]), gamma, more)
    return keep.view(np.bool_)


def gaussian_integers(out: NDArray[np.int64], sigma: Fraction, stream: BitStream) -> None:
    """Fill `out` with discrete Gaussian noise, sigma at most 2**40.

    Trials are made in batches and kept in order. Trials after the last entry of `out` are discarded
    unseen.
    """
    proposal = Fraction(int(sigma) + 1)
    start = 0
    while start < out.size:
        y = np.empty(min(_TRIALS, 16 + 3 * (out.size - start) // 2), np.int64)
        laplace_integers(y, proposal, stream, None, stream.word)
        kept = y[gaussian_trials(y, sigma, stream, None, stream.word)][: out.size - start]
        out[start : start + kept.size] = kept
        start += kept.size
