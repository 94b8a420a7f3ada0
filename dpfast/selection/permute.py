"""Exact draws by permute-and-flip over any scores.

Every candidate i flips a coin of probability ``p_i = exp(-c d_i)``, where ``d_i`` is its distance
below the best score. The first candidate in a random order whose coin shows heads is chosen. The
random order is the order of independent uniform times ``T_i``.

First come the candidates with heads and a time before some t; few scores are read for them. In a
block of 64 candidates ``p_i t`` is at most ``2**-e``. So 64 coins of probability ``2**-e`` leave
few candidates (mostly none, which takes one random byte). A second coin of probability ``p_i t
2**e`` decides about each of these. If some candidates have heads, each of them is equally likely to
be the first. If none has heads, the coins are flipped again for the time after t, with the
probability of heads after t given no heads before. The choices of t and e change the running time,
but not the distribution.

McKenna and Sheldon, "Permute-and-Flip: A new mechanism for differentially private selection",
NeurIPS 2020.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from .._kernels.selection import BLOCK, flip
from .._kernels.selection import exponents as _exponents
from ..noise.choice import below
from ..noise.distributions.exact import Tail
from .scores import Scores

LN2 = math.log(2)
#: t is chosen so that about this many candidates or fewer remain for exact coins. On average at
#: least one in 64 to 128 of these shows heads, so times after t are rarely needed.
FEW = 8192
#: The size of the buffer for remaining candidates. If there are more, the buffer is filled again.
ROOM = 1 << 14


class Flips:
    """The sampler of permute-and-flip, which reads the scores in one pass.

    `c` is positive, and used without rounding.
    """

    def __init__(self, scores: Scores, c: float) -> None:
        self.scores, self.c = scores, c
        self._exponents, counts = _exponents(scores.peaks(BLOCK), c)
        left = BLOCK * float(np.ldexp(counts[:255].astype(np.float64), -np.arange(255)).sum())
        self._shift = 0
        while left > FEW:
            left /= 2
            self._shift += 1

    def draw(self, stream: BitStream) -> int:
        """Draw one candidate by permute-and-flip."""
        for after in (False, True):
            winner = self._between(after, stream)
            if winner is not None:
                return winner
        raise AssertionError("permute-and-flip always accepts the best candidate")

    def _between(self, after: bool, stream: BitStream) -> int | None:
        """Return the first candidate with heads before ``t = 2**-shift`` (or after t), or None."""
        out = np.empty(ROOM, np.int64)
        winner, heads, at = None, 0, 0
        while at < len(self._exponents):
            number, at = flip(self._exponents, 0 if after else self._shift, at, out, stream)
            left = out[:number]
            left = left[left < self.scores.count]
            left = left[self._heads(left, after, stream)]
            heads += len(left)
            if len(left):
                # Replace the winner at random, so that each candidate with heads is equally likely
                # to remain.
                index = below(heads, stream)
                if index < len(left):
                    winner = int(left[index])
        return winner

    def _heads(
        self, candidates: NDArray[np.int64], after: bool, stream: BitStream
    ) -> NDArray[np.bool_]:
        """Flip the exact coins of the remaining candidates, and return which of them show heads.

        A coin has the probability ``p 2**e``. For the time after t it is ``(1 - t) / (1 - p t)``
        times as much, given that no coin showed heads before t. 64 random bits are compared with
        the float64 value of the probability. If the error of this value does not decide, an exact
        comparison follows. For x up to 2**20 the relative error is below (x + e + 1) 2**-48, and an
        error in the distance counts at most twice. For larger x, only 64 zero bits come near the
        probability.
        """
        distance = self.scores.distance(candidates)
        exponents = self._exponents[candidates // BLOCK]
        bits = exponents.astype(np.float64)
        t = 2.0**-self._shift if after else 0.0
        with np.errstate(over="ignore", under="ignore"):
            x = np.clip(self.c * distance, 0, 2.0**20)
            near = np.exp(bits * LN2 - x)
            if after:
                near *= (1 - t) / (1 - t * np.exp(-x))
            error = near * np.expm1((x + bits + 1) * 2.0**-46)
        words = np.frombuffer(stream.take(8 * len(candidates)), "<u8")
        u = words * 2.0**-64  # the word stands for a number between u - 2**-53 u and u + 2**-52
        kept: NDArray[np.bool_] = (distance >= 0) & (u + 2.0**-52 < near - error)
        undecided = (distance >= 0) & ~kept & (u <= near + error)
        for i in np.flatnonzero(undecided).tolist():
            exact = Fraction(self.c) * self.scores.exact(int(candidates[i]))
            chance = partial(_chance, exact, int(exponents[i]), t)
            kept[i] = Tail(int(words[i]), stream.word).below(chance)
        return kept


def _chance(x: Fraction, e: int, t: float, mp: Any) -> Any:
    """Return the probability of a candidate's coin in an mpmath context, for p = exp(-x)."""
    p = mp.exp(-mp.mpf(x.numerator) / x.denominator)
    return p * 2**e * (1 - t) / (1 - p * t)
