"""Made by tools/stubs.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast._kernels.rng import BitStream

BLOCK: int
MOST: int
NONE: int
LEAST_ROOM: int

def exponents(
    distance: NDArray[np.float64], c: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]: ...
def flip(
    exponents: NDArray[np.uint8], shift: int, at: int, out: NDArray[np.int64], stream: BitStream
) -> tuple[int, int]: ...

NAN: int
INFINITE: int
ABOVE: int

def block_peaks(values: NDArray[Any], block: int, out: NDArray[Any]) -> int: ...
