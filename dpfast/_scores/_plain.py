"""Scores by a plain Python function, one candidate at a time. Slow, and any real number will do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check

__all__ = ["Plain"]


def _real(value: Any) -> int | float | Fraction:
    """A score as a Python number, without loss."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_, np.integer)):
        return int(value)
    if isinstance(value, (int, float, Fraction)):
        return value
    if isinstance(value, np.floating):
        number = float(value)
        if number == value or value != value:
            return number
    rule = (
        "a function that returns an int, a float, a Fraction or a NumPy number of at most 64 bits"
    )
    _check.fail_kind("scores", rule, value, " from it")


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
            out[t, 0] = _real(self.function(self.data, candidate))
