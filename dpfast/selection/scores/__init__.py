"""Scores of candidates as samplers see them: one pass for block maxima, then random access."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import CHUNK, difference, distances

__all__ = ["PlainScores", "Scores"]


class Scores(ABC):
    """Scores of candidates 0 .. count - 1. A distance is how far a score lies below the best."""

    count: int
    #: The absolute error of a distance, beside a relative 2**-50; 0 for scores as they are given.
    slack: float = 0.0

    @abstractmethod
    def peaks(self, block: int) -> NDArray[np.float64]:
        """Make the pass: the distance of the best of each `block` consecutive candidates.

        It is negative where a whole block is excluded (scores of minus infinity).

        Raises
        ------
        ArgumentError
            A score is NaN or plus infinity, or all are excluded.
        """

    @abstractmethod
    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return distances of some candidates, negative if excluded. Only after `peaks`."""

    @abstractmethod
    def exact(self, candidate: int) -> Fraction:
        """Return the exact distance of a candidate that is not excluded. Only after `peaks`."""


class PlainScores(Scores):
    """Scores as they are given. Candidates can be taken away, as top-k does.

    Attributes
    ----------
    best : number
        The best score, from which distances are measured. Only after `peaks`.
    """

    best: Any
    _block: int
    _maxima: NDArray[Any]  # of each block

    def _found(self, block: int, maxima: NDArray[Any]) -> NDArray[np.float64]:
        """Remember what a pass has found, and return the distances of the blocks."""
        self.best, self._block, self._maxima = maxima.max(), block, maxima
        return distances(self.best, maxima)

    @abstractmethod
    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of some candidates, as an array of its own."""

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return distances(self.best, self._look(index), overwrite=True)

    def exact(self, candidate: int) -> Fraction:
        return difference(self.best, self._look(np.array([candidate]))[0])

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what `peaks` would give with the candidates `gone` excluded, without a pass.

        `gone` is sorted and holds all that were ever taken away; at least one candidate is left.
        Distances are then taken from the best score that is left. A candidate that is gone has a
        negative distance only if it is better. Only blocks that lose a candidate are looked at.
        """
        maxima, block = self._maxima.copy(), self._block
        empty = np.zeros(len(maxima), np.bool_)
        touched = np.unique(gone // block)
        worst = np.iinfo(maxima.dtype).min if maxima.dtype.kind in "iu" else -np.inf
        step = max(CHUNK // block, 1)
        for start in range(0, len(touched), step):
            blocks = touched[start : start + step]
            slots = blocks[:, None] * block + np.arange(block)
            index = np.minimum(slots, self.count - 1)
            place = np.minimum(np.searchsorted(gone, index), len(gone) - 1)
            absent = (slots >= self.count) | (gone[place] == index)
            values = self._look(index.ravel()).reshape(slots.shape)
            values[absent] = worst
            maxima[blocks] = values.max(axis=1)
            empty[blocks] = absent.all(axis=1)
        self.best = maxima[~empty].max()
        peaks = distances(self.best, maxima, overwrite=True)
        peaks[empty] = -1
        return peaks
