"""Peaks and distances of scores in arrays of numbers, and in arrays of Python's own numbers.

Python's ints, floats and Fractions compare and subtract exactly with each other, at any size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native.peaks import ABOVE, INFINITE, NAN, block_peaks
from .stored import distances

__all__ = ["below", "difference", "tops"]


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def difference(best: Any, value: Any) -> Fraction:
    """The exact difference of two finite scores."""
    return Fraction(_number(best)) - Fraction(_number(value))


def _gap(best: Any, value: Any) -> float:
    if value == -math.inf:
        return -1.0
    try:
        return float(difference(best, value))
    except OverflowError:
        return math.inf if best > value else -math.inf


def below(best: Any, values: NDArray[Any]) -> NDArray[np.float64]:
    """``best - values``, rounded once; negative for minus infinity and for better values."""
    if values.dtype.kind == "O":
        return np.array([_gap(best, v) for v in values], np.float64)
    return distances(best, values)


def tops(values: NDArray[Any], block: int, out: NDArray[Any]) -> int:
    """The largest of each `block` consecutive values into `out`; flags as of `block_peaks`."""
    if values.dtype.kind != "O":
        return block_peaks(values, block, out)
    flags = 0
    for b, start in enumerate(range(0, len(values), block)):
        best: Any = -math.inf
        for value in values[start : start + block]:
            if value != value:
                flags |= NAN
            elif value > best:
                best = value
                flags |= INFINITE | ABOVE if value == math.inf else ABOVE
        out[b] = best
    return flags
