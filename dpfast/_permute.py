"""Permute-and-flip: a random order of the candidates, and a coin for each until one is heads."""

from __future__ import annotations

import numpy as np

from ._choice import below, flip
from ._native.rng import BitStream
from ._scores import Scores

__all__ = ["Flips"]


class Flips:
    """Permute-and-flip over some scores, ready to draw from: the pass is made here."""

    def __init__(self, scores: Scores, c: float) -> None:
        self.scores = scores
        self.c = c
        scores.peaks(64)

    def draw(self, stream: BitStream) -> int:
        """One draw."""
        seen: set[int] = set()
        while True:
            j = below(self.scores.count, stream)
            if j in seen:
                continue
            seen.add(j)
            if self.scores.distance(np.array([j]))[0] >= 0 and flip(
                self.c, self.scores.exact(j), stream
            ):
                return j
