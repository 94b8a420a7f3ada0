"""What all scores have in common once the best of each block is known."""

from __future__ import annotations

import abc
import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check

__all__ = ["Blocks", "below"]


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _gap(best: Any, value: Any) -> float:
    if value == -math.inf:
        return -1.0
    try:
        return float(Fraction(best) - Fraction(value))
    except OverflowError:
        return math.inf if best > value else -math.inf


def below(best: Any, values: NDArray[Any]) -> NDArray[np.float64]:
    """How far each value is below the best, rounded once; negative for minus infinity and for more
    than the best. Values of any float or integer dtype of at most 64 bits, or Python numbers."""
    found: NDArray[np.float64]
    if values.dtype.kind == "O":
        return np.array([_gap(best, v) for v in values], np.float64)
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
        with np.errstate(over="ignore"):
            found = float(best) - values
        found[values == -math.inf] = -1.0
        return found
    if values.dtype.itemsize < 8:
        return float(best) - values.astype(np.float64)
    # The difference modulo 2**64 is the difference.
    wide = np.array([best], values.dtype).view(np.uint64)
    found = (wide - values.view(np.uint64)).astype(np.float64)
    found[values > best] = -1.0
    return found


class Blocks(abc.ABC):
    """Scores that can be looked at one by one, exactly."""

    slack = 0.0

    def __init__(self, count: int, name: str) -> None:
        self.count = count
        self.name = name
        self._best: Any = None
        self._block = 0
        self._tops: NDArray[Any] = np.empty(0)  # the best score of each block

    @abc.abstractmethod
    def look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """The scores of some candidates."""

    def best(self) -> Any:
        return self._best

    def _begin(self, block: int, tops: NDArray[Any]) -> NDArray[np.float64]:
        """Take over the best score of each block; their distances."""
        best = tops.max()
        self._refuse(best)
        if best == -math.inf:
            _check.fail(self.name, "above minus infinity for one candidate at least", best)
        self._best, self._block, self._tops = best, block, tops
        return below(best, tops)

    def _refuse(self, best: Any) -> None:
        if best != best or best == math.inf:
            _check.fail(self.name, "numbers below infinity", best)

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return below(self._best, self.look(index))

    def exact(self, candidate: int) -> Fraction:
        value = self.look(np.array([candidate]))[0]
        return Fraction(_number(self._best)) - Fraction(_number(value))

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        """The peaks if the candidates `gone` (sorted) were excluded; one at least is left."""
        tops = self._tops.copy()
        held, first = np.unique(gone // self._block, return_index=True)
        empty = np.zeros(len(tops), np.bool_)
        for b, part in zip(held.tolist(), np.split(gone, first[1:]), strict=True):
            start = b * self._block
            index = np.arange(start, min(start + self._block, self.count))
            left = np.delete(index, part - start)
            if len(left):
                tops[b] = self.look(left).max()
            else:
                empty[b] = True
        self._best = tops[~empty].max()
        peaks = below(self._best, tops)
        peaks[empty] = -1
        return peaks
