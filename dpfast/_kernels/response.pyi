from typing import Any

import numpy as np
from numpy.typing import NDArray

from .choice import Script
from .rng import BitStream

OPEN: int
BLOCK: int
MOST: int

def flip(first: int, second: int, bits: NDArray[np.uint8], stream: BitStream | Script) -> int: ...
def binary(
    first: int,
    second: int,
    values: NDArray[Any],
    out: NDArray[Any],
    stream: BitStream | Script,
) -> int: ...
def others(
    categories: int,
    instead: int,
    values: NDArray[Any],
    other: NDArray[np.uint8],
    out: NDArray[Any],
    stream: BitStream | Script,
) -> None: ...
def own(values: NDArray[np.int64], bits: NDArray[np.uint8], stream: BitStream | Script) -> None: ...
