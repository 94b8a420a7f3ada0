"""Scores by a plain Python function, one candidate at a time. Slow, and any real number will do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from .numbers import real

RULE = "a function that returns an int, a float, a Fraction or a NumPy number of at most 64 bits"


class Plain:
    """Scores of candidates 0 .. count - 1 in tiles of one candidate, as Python numbers."""

    tile = 1
    dtype: np.dtype[Any] = np.dtype(object)

    def __init__(self, function: Callable[[Any, int], Any], data: Any, count: int) -> None:
        self.function = function
        self.data = data
        self.count = count

    def fill(self, tiles: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write ``out[t, 0]``, the score of candidate ``tiles[t]``."""
        for t, candidate in enumerate(tiles.tolist()):
            value = self.function(self.data, candidate)
            score = real(value)
            if score is None:
                checks.fail_kind("scores", RULE, value, " from it")
            out[t, 0] = score
