"""Scores in an array, with or without public log-weights, and the best score of each row."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._kernels.selection import INFINITE, NAN
from ...tables import chunk_dtype
from . import CHUNK, PlainScores, Scores, aligned, block_maxima, distances, refuse

#: The largest absolute value of a finite log-weight. The bound keeps `slack` small.
REACH = 2.0**40


def _flat(array: NDArray[Any]) -> tuple[NDArray[Any], np.dtype[Any]]:
    """Return the array, with bool as uint8, and the dtype in which its scores are compared.

    An array of objects has Python numbers, as `selection.arguments` makes them.
    """
    if array.dtype.kind == "O":
        return array, array.dtype
    dtype = chunk_dtype(array.dtype, "scores")
    return (array.view(np.uint8) if array.dtype.kind == "b" else array), dtype


class Stored(PlainScores):
    """Scores in a one-dimensional array of at most 64-bit numbers, or of Python's numbers.

    Contiguous native arrays are read in place, and other arrays through a small buffer. No array is
    copied as a whole.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self._dtype = _flat(array)
        self.count = len(array)

    def peaks(self, block: int) -> NDArray[np.float64]:
        block = min(block, self.count)
        best = np.empty(-(-self.count // block), self._dtype)
        flags = self.array.flags
        direct = self.array.dtype == self._dtype and flags.c_contiguous and flags.aligned
        step = self.count if direct else max(CHUNK // block, 1) * block
        buffer = np.empty(0 if direct else min(step, self.count), self._dtype)
        seen = 0
        for start in range(0, self.count, step):
            part = self.array[start : start + step]
            if not direct:
                buffer[: len(part)] = part
                part = buffer[: len(part)]
            first = start // block
            seen |= block_maxima(part, block, best[first : first - (-len(part) // block)])
        refuse(seen)
        return self._keep_peaks(block, best)

    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        return self.array[index].astype(self._dtype, copy=False)


def row_peaks(matrix: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Return the best score of each row, in the dtype in which scores are compared.

    Raises
    ------
    ArgumentError
        As for `Stored.peaks`. The message has the number of the first bad row; rows are numbered
        from `first`.
    """
    matrix, dtype = _flat(matrix)
    best = np.empty(len(matrix), dtype)
    flags = block_maxima(aligned(matrix, dtype).reshape(-1), matrix.shape[1], best)
    if dtype.kind in "fO" and (flags & (NAN | INFINITE) or best.min() == -math.inf):
        for number, row in enumerate(matrix, first):
            flags = block_maxima(aligned(row, dtype), len(row), np.empty(1, dtype))
            refuse(flags, f"scores[{number}]")
    return best


# --- exponential tilting ---


def slack(reach: float) -> float:
    """Return the absolute error of `tilted` distances for log-weights within +-`reach`.

    There is also a relative error of 2**-50. Let u = 2**-53. The stored distance, the product and
    the difference are rounded once each, so the error of a tilted score is at most 3.1 u c d + 2.1
    u reach. Its distance E from a reference within +-(reach + 1) has c d <= E + 2 reach + 1, and is
    rounded once more. All errors together are at most 5 u E + 10 u (reach + 1).
    """
    return 2.0**-48 * (reach + 1)


def tilted(
    base: NDArray[np.float64] | float, c: float, below: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``base - c below``; it is minus infinity only for an excluded candidate."""
    with np.errstate(over="ignore"):
        scores: NDArray[np.float64] = base - np.clip(c * below, 0, 2.0**1000)
    scores[below < 0] = -math.inf
    return scores


class TiltedScores(Scores):
    """Tilted scores ``c score + base``, whose distances include the factor c: draw with c = 1.

    The best tilted score is known only within `slack`, so distances are taken from a number
    slightly above it.

    Parameters
    ----------
    stored : Stored
    base : float64 array, shape (count,)
        Public log-weights: minus infinity, or within +-`REACH`. It may be a broadcast view.
    c : float
    """

    def __init__(self, stored: Stored, base: NDArray[np.float64], c: float) -> None:
        self.stored, self.base, self.c = stored, base, c
        self.count = stored.count
        reach = max(float(np.abs(part[part > -math.inf]).max(initial=0.0)) for part in _cut(base))
        self.slack = slack(reach)

    def peaks(self, block: int) -> NDArray[np.float64]:
        self.stored.peaks(min(CHUNK, self.count))
        # Distances are measured from the best score that `base` allows, because errors grow with
        # distance.
        parts = zip(_cut(self.stored.array), _cut(self.base), strict=True)
        allowed = (part[base > -math.inf] for part, base in parts)
        best = max((part.max() for part in allowed if len(part)), default=-math.inf)
        if best == -math.inf:
            checks.fail("scores and base", "above minus infinity for at least one candidate", best)
        self.stored.best = best
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

    def _below(self, tilt: NDArray[np.float64]) -> NDArray[np.float64]:
        below = self._reference - tilt
        below[tilt == -math.inf] = -1.0
        return below

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._below(tilted(self.base[index], self.c, self.stored.distance(index)))

    def exact(self, candidate: int) -> Fraction:
        base = Fraction(float(self.base[candidate]))
        return Fraction(self._reference) - base + Fraction(self.c) * self.stored.exact(candidate)


def _cut(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views of consecutive stretches of an array."""
    return [array[at : at + CHUNK] for at in range(0, len(array), CHUNK)]
