from typing import Any

import numpy as np
from numpy.typing import NDArray

from .noise import Script
from .rng import BitStream

MOST_ROWS: int

def add(
    values: NDArray[Any],
    codes: NDArray[np.int32],
    scale: float,
    first: int,
    span: int,
    filler: int,
    out: NDArray[np.uint64],
) -> int: ...
def count(codes: NDArray[np.int32], out: NDArray[np.uint64]) -> None: ...
def window(x: NDArray[np.int64], start: int, stop: int) -> None: ...
def quantiles(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    q: float,
    c: float,
    reach: int,
    out: NDArray[np.int64],
    at: int,
    stream: BitStream | Script,
) -> tuple[int, tuple[int, int, int, int, int | None] | None]: ...
