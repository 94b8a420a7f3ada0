import numpy as np
from numpy.typing import NDArray

from .rng import BitStream

SPLIT: int
OCTAVE: int
WIDTH: int
ROWS: int
BLOCK: int

class Table:
    def __init__(self, rows: NDArray[np.float64], knee: float) -> None: ...

def fill(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    ratio: NDArray[np.float64],
    grid: NDArray[np.float64],
    frac: NDArray[np.float64],
    whole: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    lane: NDArray[np.int64],
    word: NDArray[np.uint64],
) -> tuple[int, int]: ...
def integers(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    ratio: float,
    frac: float,
    out: NDArray[np.int64],
    start: int,
    lane: NDArray[np.int64],
    word: NDArray[np.uint64],
) -> tuple[int, int]: ...
def accept(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    y: NDArray[np.int64],
    centre: float,
    half_precision: float,
    drawn: NDArray[np.uint64],
    keep: NDArray[np.uint8],
) -> int: ...
def one(
    stream: BitStream, table: Table, value: float, scale: float, granularity: float
) -> float | int: ...
