from typing import Any

import numpy as np
from numpy.typing import NDArray

from .noise import Script
from .rng import BitStream

def add(
    values: NDArray[Any],
    codes: NDArray[np.int32],
    scale: float,
    first: int,
    span: int,
    filler: int,
    out: NDArray[np.uint64],
) -> int: ...
def cells(
    values: NDArray[Any],
    codes: NDArray[np.int32],
    groups: int,
    scale: float,
    first: int,
    span: int,
    filler: int,
    out: NDArray[np.int64],
) -> int: ...
def combine(
    totals: NDArray[np.uint64], a: int, b: int, c: int, shift: int, out: NDArray[np.int64]
) -> None: ...
def count(codes: NDArray[np.int32], out: NDArray[np.uint64]) -> None: ...
def window(x: NDArray[np.int64], start: int, stop: int) -> None: ...
def quantiles(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    q: float,
    c: float,
    inside: float,
    reach: int,
    out: NDArray[np.int64],
    at: int,
    stream: BitStream | Script,
) -> tuple[int, tuple[int, int, int, int, int | None] | None]: ...
