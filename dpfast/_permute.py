"""Permute-and-flip: a random order of the candidates, and a coin for each until one is heads."""

from __future__ import annotations

from ._choice import below, flip
from ._native.rng import BitStream
from ._scores import Scores

__all__ = ["draw"]


def draw(scores: Scores, c: float, stream: BitStream) -> int:
    """One draw."""
    scores.peaks(scores.count)
    order = list(range(scores.count))
    while True:
        import numpy as np

        j = order.pop(below(len(order), stream))
        if scores.distance(np.array([j]))[0] >= 0 and flip(c, scores.exact(j), stream):
            return j
