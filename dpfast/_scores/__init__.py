"""Scores of candidates, as the samplers see them: one pass for the peaks, then single looks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scores"]


class Scores(Protocol):
    """Scores of candidates 0 .. count - 1. A distance is how far a score is below the best one."""

    @property
    def count(self) -> int:
        """Number of candidates."""
        ...

    @property
    def slack(self) -> float:
        """Absolute error of every distance, beside a relative 2**-50; 0 where scores are stored."""
        ...

    def peaks(self, block: int) -> NDArray[np.float64]:
        """One pass. The distance of the best score of each `block` consecutive candidates.

        Negative where all of a block are excluded (a score of minus infinity).

        Raises
        ------
        ArgumentError
            A score is NaN or plus infinity, or all are excluded.
        """
        ...

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of some candidates, negative for excluded ones. Only after `peaks`."""
        ...

    def exact(self, candidate: int) -> Fraction:
        """The exact distance of one candidate that is not excluded. Only after `peaks`."""
        ...

    def best(self) -> Any:
        """The best score. Only after `peaks`."""
        ...
