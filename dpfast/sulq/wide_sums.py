"""Sums of integers of 64 bits that may be larger: two halves each, of which kernels add to the low.

An array of halves has one more dimension, in front: the high ones, in units of 2**32, and the low
ones. Two such arrays are added as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def carry(halves: NDArray[np.int64]) -> None:
    """Leave numbers below 2**32 as the low halves, to which then 2**62 can be added."""
    halves[0] += halves[1] >> 32
    halves[1] &= (1 << 32) - 1


def wholes(halves: NDArray[np.int64]) -> NDArray[Any]:
    """The integers, as Python's."""
    high, low = halves
    if np.abs(high).max(initial=0) >= 1 << 30:
        high, low = high.astype(object), low.astype(object)
    found: NDArray[Any] = ((high << 32) + low).astype(object)
    return found
