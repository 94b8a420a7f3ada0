"""Candidate databases: all multisets of some size over a public universe, as compact counts.

The candidates do not depend on the data, so they are not secret.

`Closeness` is the test for easy queries in the paper on the median mechanism: how close the
candidates are to the data. Its value is secret. Roth and Roughgarden (STOC 2010) average
``exp(-|f(D) - f(S)| / accuracy)`` over all candidates S, where f(D) is the answer of the data. They
call a query easy if this mean r, with noise, is above about 3/4. After a hard answer a they keep
the candidates with ``|f(S) - a| <= accuracy / 50``. Here the sparse vector technique compares the
doubt 1 - r with the threshold T = 9/32, in integers of units 2**-24. The size of its noise is at
most G <= 1/32, except with a small failure probability. Then:

* At least half of the candidates are as far from the data as the median, or farther. So if the
  median has an error x, the doubt is at least ``(1 - exp(-x / accuracy)) / 2``. An easy query has a
  doubt below T + G = 5/16, so x is below ``ln(8 / 3) accuracy < accuracy``.
* A hard query has a doubt of at least T - G = 1/4. Let the noise of its answer be at most accuracy
  / 50. Then the candidates that are kept are within w = accuracy / 25 of the data. Let the others
  be a fraction p of all candidates. The doubt is at most ``p + (1 - p) (1 - exp(-w / accuracy))``,
  so p is at least 1 - (3/4) exp(1/25) > 0.219. So each hard answer leaves less than 0.781 of the
  candidates.

Sensitivity: f(D) changes by at most 1 / n, so a closeness changes by at most ``1 / (n accuracy)``.
A closeness is computed in float64, with an error far below 2**-24, and rounded down to a multiple
of 2**-24. The mean is rounded down too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.online import multiset_sums as _native_sums
from .._kernels.rng import BitStream
from ..noise import choice
from ..summaries.order import SMALL, window
from .plan import Doubt
from .queries import spread

#: The most rows of a candidate: counts are bytes.
MOST_SIZE = 255

#: Closeness is measured in units of 2**-BITS. The doubt is compared with this threshold.
BITS = 24
THRESHOLD = 9 << (BITS - 5)
#: The noise of the comparison must not be larger than this.
MARGIN = 1 / 32
#: Candidates whose answer is within ``accuracy / KEPT`` of a hard answer are kept.
KEPT = 50


def number(universe: int, size: int) -> int:
    """Return the number of multisets of `size` elements of a universe."""
    return math.comb(universe + size - 1, size)


def largest(universe: int, most: int) -> int:
    """Return the largest size for which a universe has at most `most` multisets."""
    size = 1
    while size < MOST_SIZE and number(universe, size + 1) <= most:
        size += 1
    return size


def net(universe: int, size: int) -> float:
    """Bound the distance of any database from the nearest multiset, for all queries at once.

    Multiply the frequencies of a database by `size`, and round them down, except those with the
    largest remainders: these are rounded up, so that the sum is `size`. Let j of the N numbers be
    rounded up. The remainders sum to j, and those that were cut are on average at most j / N. So at
    most j (N - j) / N moves from some elements to others. A query between 0 and 1 changes by at
    most this, divided by `size`.
    """
    half = universe // 2
    return half * (universe - half) / universe / size


def enumerated(universe: int, size: int) -> NDArray[np.uint8]:
    """Return the counts of all multisets as columns, in descending lexicographic order."""
    left = np.array([size], np.int64)
    columns: list[NDArray[np.uint8]] = []
    for _ in range(universe - 1):
        choices = left + 1
        ends = np.cumsum(choices)
        taken = np.repeat(ends, choices) - np.arange(ends[-1]) - 1
        columns = [np.repeat(column, choices) for column in columns]
        columns.append(taken.astype(np.uint8))
        left = np.repeat(left, choices) - taken
    return np.ascontiguousarray([*columns, left.astype(np.uint8)])


def sampled(universe: int, size: int, count: int, stream: BitStream) -> NDArray[np.uint8]:
    """Return the counts of `count` random multisets of uniform elements as columns."""
    out = np.zeros((universe, count), np.uint8)
    every = np.arange(count)
    limit = np.full(count, universe, np.int64)
    for _ in range(size):
        out[choice.slots(limit, stream), every] += 1
    return out


class Multisets:
    """The candidate databases that agree with all hard answers so far, as compact counts."""

    def __init__(self, counts: NDArray[np.uint8]) -> None:
        self._counts = counts
        self._sums = np.empty(counts.shape[1], np.int32)

    def __len__(self) -> int:
        return int(self._counts.shape[1])

    def sums(self, weights: NDArray[Any]) -> NDArray[np.int32]:
        """Return the weighted sum over each candidate, valid until the next call."""
        count = len(self)
        narrow, out = weights.astype(np.int32), self._sums[:count]
        spread(count, lambda a, b: _native_sums(self._counts, narrow, out, a, b))
        return out

    @staticmethod
    def median(sums: NDArray[np.int32]) -> int:
        """Return the lower median of the sums over the candidates."""
        middle = (len(sums) - 1) // 2
        if len(sums) <= SMALL:
            return int(np.partition(sums, middle)[middle])
        return int(window(sums, middle + 1, 0).values[0])

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep the marked candidates, and free the memory of all others."""
        self._counts = np.ascontiguousarray(np.compress(kept, self._counts, axis=1))


def doubt_of(rows: int, accuracy: float) -> Doubt:
    """Return the sensitivity and the unit of the doubt (see `Closeness`), to allocate the loss."""
    slope = Fraction(1 << BITS) / (rows * Fraction(accuracy))
    return Doubt(math.ceil(slope) + 4, float(1 << BITS), accuracy / KEPT / MARGIN)


def hard_answers(candidates: int) -> int:
    """Return the largest number of hard answers until only candidates like the data remain."""
    per_answer = -math.log(0.75 * math.exp(2 / KEPT))
    return int(math.log(candidates) / per_answer) + 1


class Closeness(NamedTuple):
    """The closeness test: it compares the sums of a query over candidates with the data.

    Sums are in units of ``2**-bits``. A candidate has `size` rows, and the data have `rows` rows.
    """

    size: int
    rows: int
    bits: int
    accuracy: float

    def doubt(self, sums: NDArray[np.int32], exact: int) -> int:
        """Return the doubt: one minus the mean closeness of candidates to the data, in units."""
        distances = self._distances(sums, exact).astype(np.float64)
        distances *= -1.0 / (float(self.size * self.rows << self.bits) * self.accuracy)
        np.exp(distances, out=distances)
        distances *= float(1 << BITS)
        total = int(distances.astype(np.int64).sum())
        return (1 << BITS) - total // len(sums)

    def near(self, sums: NDArray[np.int32], answer: int) -> NDArray[np.bool_]:
        """Return which candidates agree with a hard answer."""
        limit = math.floor(Fraction(self.accuracy) * (self.size * self.rows << self.bits) / KEPT)
        # An answer far from all sums is clamped. Then products fit in 64 bits.
        whole = self.rows << self.bits
        return self._distances(sums, min(max(answer, -whole), 2 * whole)) <= limit

    def _distances(self, sums: NDArray[np.int32], exact: int) -> NDArray[np.int64]:
        return np.abs(exact * self.size - sums.astype(np.int64) * self.rows)
