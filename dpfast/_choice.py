"""Exact choices: among weighted runs, by a coin of probability exp(-x), uniformly.

A run `b` stands for `count[b]` equal candidates at distance ``d[b]`` below the best, and has the
weight ``count[b] exp(-c d[b])``. It is drawn by rejection: an integer ``W[b]``, certainly not below
the weight, proposes it (integers add up exactly), and a coin of probability weight / W keeps it. So
no rounding enters the law, and a bound may be as loose as is convenient. This is the race behind
the Gumbel trick: ``-ln`` of the first arrival of a Poisson process of rate w is ``ln w`` plus a
Gumbel variable, proposals are arrivals, and the coin thins them to the rate that is wanted.

The coin compares 64 random bits, as an interval, with float64 bounds on the probability, and is
decided with arbitrary precision and further bits where the two overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._laws._exact import Tail
from ._native.rng import BitStream

__all__ = ["Weights", "below", "flip"]

Exact = Callable[[int], Fraction]


def below(n: int, stream: BitStream) -> int:
    """A uniform integer of 0 .. n - 1."""
    bits = (n - 1).bit_length()
    while True:
        k, have = 0, 0
        while have < bits:
            k, have = k << 64 | stream.word(), have + 64
        k >>= have - bits
        if k < n:
            return k


def _coin(c: float, distance: Fraction, factor: Fraction, stream: BitStream) -> bool:
    """Whether U < factor exp(-c distance)."""
    x = Fraction(c) * distance

    def probability(mp: Any) -> Any:
        power = mp.exp(-mp.mpf(x.numerator) / x.denominator)
        return power * factor.numerator / factor.denominator

    return Tail(stream.word(), stream.word).below(probability)


def flip(c: float, distance: Fraction, stream: BitStream) -> bool:
    """A coin of probability exp(-c distance), for distance >= 0."""
    return distance == 0 or _coin(c, distance, Fraction(1), stream)


def _of(exact: Exact, runs: NDArray[np.int64]) -> Exact:
    return lambda i: exact(int(runs[i]))


class Weights:
    """Runs with weights ``count exp(-c d)``.

    Parameters
    ----------
    distance : float64 array, shape (m,)
        Each within a relative 2**-50 and an absolute `slack` of the exact distance, which is at
        least 0. Negative for a run that is excluded. Infinity stands for "beyond float64".
    c : float
        Positive, taken as the exact number that it is.
    count : int64 array, shape (m,), optional
        At least 1, at most 2**53; 1 if left out.
    slack : float
    """

    def __init__(
        self,
        distance: NDArray[np.float64],
        c: float,
        count: NDArray[np.int64] | None = None,
        slack: float = 0.0,
    ) -> None:
        self.c = c
        self.count = np.ones(len(distance), np.int64) if count is None else count
        self.distance = distance
        lower = np.maximum(distance * (1 - 2**-50) - slack, 0)
        weight = self.count * np.exp(-c * lower)
        weight[distance < 0] = 0
        self.shift = 60 - math.frexp(float(weight.max()))[1] - len(distance).bit_length()
        bound = np.ldexp(weight * (1 + 2**-20), self.shift).astype(np.uint64) + np.uint64(1)
        bound[distance < 0] = 0
        self.bound = bound
        self.total = np.cumsum(bound)

    def propose(self, k: int, stream: BitStream) -> NDArray[np.int64]:
        """`k` independent runs with probability proportional to their bounds."""
        places = [below(int(self.total[-1]), stream) for _ in range(k)]
        found: NDArray[np.int64] = np.searchsorted(
            self.total, np.array(places, np.uint64), side="right"
        )
        return found

    def keep(
        self,
        runs: NDArray[np.int64],
        distance: NDArray[np.float64],
        exact: Exact,
        stream: BitStream,
        slack: float = 0.0,
    ) -> NDArray[np.bool_]:
        """Which proposals stay: each with probability ``count exp(-c d) / W`` of its run.

        `distance` (like that of the constructor, negative: never kept) belongs to the one candidate
        of the run that the caller has picked, or to the run itself; ``exact(i)`` is what
        ``distance[i]`` stands for.
        """
        kept = np.zeros(len(runs), np.bool_)
        for i, b in enumerate(runs.tolist()):
            if distance[i] >= 0:
                scale = Fraction(int(self.count[b]), int(self.bound[b])) * Fraction(2) ** self.shift
                kept[i] = _coin(self.c, exact(i), scale, stream)
        return kept

    def draw(self, size: int, exact: Exact, stream: BitStream) -> NDArray[np.int64]:
        """`size` independent runs, exactly; ``exact(b)`` is the distance of run b."""
        out = np.empty(size, np.int64)
        have = 0
        while have < size:
            runs = self.propose(size - have + 8, stream)
            mask = self.keep(runs, self.distance[runs], _of(exact, runs), stream)
            found = runs[mask][: size - have]
            out[have : have + len(found)] = found
            have += len(found)
        return out
