"""Scores of candidates, as the samplers see them: one pass for the peaks, then single looks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Peelable", "Scores"]


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


class Peelable(Scores, Protocol):
    """Scores of which candidates can be taken away, as top-k does."""

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        """The peaks that `peaks` would give if the candidates `gone` were excluded. No new pass.

        `gone` is sorted, and all that are gone, not the latest alone; one candidate at least is
        left. From now on distances are from the best score of those that are left. A candidate that
        is gone has a negative distance only if it is better.
        """
        ...
