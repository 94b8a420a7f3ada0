"""Scores in an array of one dimension."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check

__all__ = ["Stored"]

#: Candidates that are looked at together.
STRETCH = 1 << 18


class Stored:
    """Scores in a one-dimensional array of an integer, bool or float dtype of at most 64 bits."""

    slack = 0.0

    def __init__(self, array: NDArray[Any], name: str = "scores") -> None:
        self.array = array
        self.name = name
        self._best: Any = None

    @property
    def count(self) -> int:
        return len(self.array)

    def best(self) -> Any:
        return self._best

    def peaks(self, block: int) -> NDArray[np.float64]:
        parts = []
        step = max(STRETCH // block, 1) * block
        for start in range(0, self.count, step):
            part = self.array[start : start + step]
            parts.append(np.maximum.reduceat(part, np.arange(0, len(part), block)))
        peaks = np.concatenate(parts)
        best = peaks.max()
        if best != best or best == math.inf:
            _check.fail(self.name, "numbers below infinity", best)
        if best == -math.inf:
            _check.fail(self.name, "above minus infinity for one candidate at least", best)
        self._best = best
        return self._below(peaks)

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._below(self.array[index])

    def _below(self, values: NDArray[Any]) -> NDArray[np.float64]:
        if values.dtype.kind == "f":
            values = values.astype(np.float64)
            with np.errstate(over="ignore"):
                found: NDArray[np.float64] = float(self._best) - values
            found[values == -math.inf] = -1.0
            return found
        if values.dtype.itemsize < 8:
            return float(self._best) - values.astype(np.float64)
        # The difference modulo 2**64 is the difference.
        wide = np.array([self._best], self.array.dtype).view(np.uint64)
        return (wide - values.view(np.uint64)).astype(np.float64)

    def exact(self, candidate: int) -> Fraction:
        return Fraction(self._best.item()) - Fraction(self.array[candidate].item())
