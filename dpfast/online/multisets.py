"""Candidate databases: all multisets of some size over a public universe, as compact counts.

They do not depend on the data, so nothing here is secret.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.online import multiset_sums as _native_sums
from .._kernels.rng import BitStream
from ..noise import choice
from ..summaries.order import SMALL, window
from .queries import spread

#: The largest size: counts are bytes.
MOST_SIZE = 255


def number(universe: int, size: int) -> int:
    """Return the number of multisets."""
    return math.comb(universe + size - 1, size)


def largest(universe: int, most: int) -> int:
    """Return the largest size with at most `most` multisets."""
    size = 1
    while size < MOST_SIZE and number(universe, size + 1) <= most:
        size += 1
    return size


def net(universe: int, size: int) -> float:
    """Bound the distance of any database from the nearest multiset, for every query at once.

    Round a database's frequencies times `size` down, and those with the largest remainders up
    instead, until the sum is right. If j of N are rounded up, the remainders sum to j, and at most
    j (N - j) / N passes from some elements to others (the remainders that were cut are on average
    at most j / N). A query between 0 and 1 changes by no more than that over `size`.
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
    """Return the counts of `count` independent multisets of uniform elements as columns."""
    out = np.zeros((universe, count), np.uint8)
    every = np.arange(count)
    limit = np.full(count, universe, np.int64)
    for _ in range(size):
        out[choice.slots(limit, stream), every] += 1
    return out


class Multisets:
    """The candidates that are left."""

    def __init__(self, counts: NDArray[np.uint8]) -> None:
        self._counts = counts
        self._sums = np.empty(counts.shape[1], np.int32)

    def __len__(self) -> int:
        return int(self._counts.shape[1])

    def sums(self, weights: NDArray[Any]) -> NDArray[np.int32]:
        """Return the sum of the weights over each candidate, valid until the next call."""
        count = len(self)
        narrow, out = weights.astype(np.int32), self._sums[:count]
        spread(count, lambda a, b: _native_sums(self._counts, narrow, out, a, b))
        return out

    @staticmethod
    def median(sums: NDArray[np.int32]) -> int:
        """Return the lower median."""
        middle = (len(sums) - 1) // 2
        if len(sums) <= SMALL:
            return int(np.partition(sums, middle)[middle])
        return int(window(sums, middle + 1, 0).values[0])

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Give up the other candidates and free their memory."""
        self._counts = np.ascontiguousarray(np.compress(kept, self._counts, axis=1))
