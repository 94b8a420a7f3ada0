"""Scores in an array with public log-weights added: exponential tilting."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from . import Scores
from .numbers import CHUNK, distances
from .stored import Stored

#: The largest finite log-weight, in size: it keeps `slack` small.
REACH = 2.0**40


def slack(reach: float) -> float:
    """Return the absolute error of `tilted` distances for log-weights within +-`reach`.

    It comes beside a relative 2**-50. With u = 2**-53, a stored distance is rounded once, the
    product and the difference once each: the error of a tilted score is at most 3.1 u c d + 2.1 u
    reach. Its distance E from a reference within +-(reach + 1) has c d <= E + 2 reach + 1, and is
    rounded once more: at most 5 u E + 10 u (reach + 1) together.
    """
    return 2.0**-48 * (reach + 1)


def tilted(
    base: NDArray[np.float64] | float, c: float, below: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``base - c below``; minus infinity where a candidate is excluded, and only there."""
    with np.errstate(over="ignore"):
        scores: NDArray[np.float64] = base - np.clip(c * below, 0, 2.0**1000)
    scores[below < 0] = -math.inf
    return scores


class TiltedScores(Scores):
    """Tilted scores ``c score + base``. Distances include the factor c: draw with c = 1.

    Which tilted score is the best is only known within `slack`, so distances are taken from a
    number a little above it.

    Parameters
    ----------
    stored : Stored
    base : float64 array, shape (count,)
        Public log-weights, minus infinity or within +-`REACH`. It may be a broadcast view.
    c : float
    """

    def __init__(self, stored: Stored, base: NDArray[np.float64], c: float) -> None:
        self.stored, self.base, self.c = stored, base, c
        self.count = stored.count
        self.reach, finite = 0.0, 0
        for part in self._stretches(base):
            sizes = np.abs(part[part > -math.inf])
            self.reach = max(self.reach, float(sizes.max(initial=0.0)))
            finite += len(sizes)
        self.whole = finite == self.count
        self.slack = slack(self.reach)

    @staticmethod
    def _stretches(array: NDArray[Any]) -> list[NDArray[Any]]:
        return [array[at : at + CHUNK] for at in range(0, len(array), CHUNK)]

    def peaks(self, block: int) -> NDArray[np.float64]:
        self.stored.peaks(min(CHUNK, self.count))
        if not self.whole:
            self._anchor()
        step = max(CHUNK // block, 1) * block
        tops = []
        for start in range(0, self.count, step):
            near = slice(start, start + step)
            below = distances(self.stored.best, self.stored.array[near])
            part = tilted(self.base[near], self.c, below)
            tops.append(np.maximum.reduceat(part, np.arange(0, len(part), block)))
        top = np.concatenate(tops)
        self._reference = math.nextafter(float(top.max()) + self.slack, math.inf)
        return self._below(top)

    def _anchor(self) -> None:
        """Measure scores from the best one that `base` allows: errors grow with the distance."""
        best: Any = -math.inf
        array = self.stored.array
        for part, base in zip(self._stretches(array), self._stretches(self.base), strict=True):
            allowed = part[base > -math.inf]
            if len(allowed):
                best = max(best, allowed.max())
        if best == -math.inf:
            checks.fail("scores and base", "above minus infinity for one candidate at least", best)
        self.stored.best = best

    def _below(self, tilt: NDArray[np.float64]) -> NDArray[np.float64]:
        below = self._reference - tilt
        below[tilt == -math.inf] = -1.0
        return below

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._below(tilted(self.base[index], self.c, self.stored.distance(index)))

    def exact(self, candidate: int) -> Fraction:
        base = Fraction(float(self.base[candidate]))
        return Fraction(self._reference) - base + Fraction(self.c) * self.stored.exact(candidate)
