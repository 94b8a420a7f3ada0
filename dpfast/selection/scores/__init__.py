"""Scores of candidates as samplers see them: one pass for block maxima, then random access."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Peelable", "Scores"]


class Scores(Protocol):
    """Scores of candidates 0 .. count - 1. A distance is how far a score lies below the best."""

    @property
    def count(self) -> int:
        """The number of candidates."""
        ...

    @property
    def slack(self) -> float:
        """The absolute error of a distance, beside a relative 2**-50; 0 for stored scores."""
        ...

    def peaks(self, block: int) -> NDArray[np.float64]:
        """Make the pass: the distance of the best of each `block` consecutive candidates.

        It is negative where a whole block is excluded (scores of minus infinity).

        Raises
        ------
        ArgumentError
            A score is NaN or plus infinity, or all are excluded.
        """
        ...

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return distances of some candidates, negative if excluded. Only after `peaks`."""
        ...

    def exact(self, candidate: int) -> Fraction:
        """Return the exact distance of a candidate that is not excluded. Only after `peaks`."""
        ...

    def best(self) -> Any:
        """Return the best score. Only after `peaks`."""
        ...


class Peelable(Scores, Protocol):
    """Scores whose candidates can be taken away, as top-k does."""

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what `peaks` would give with the candidates `gone` excluded, without a pass.

        `gone` is sorted and holds all that were ever taken away; at least one candidate is left.
        Distances are then taken from the best score that is left. A candidate that is gone has a
        negative distance only if it is better.
        """
        ...
