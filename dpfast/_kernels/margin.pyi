import numpy as np
from numpy.typing import NDArray

MOST_ROWS: int
MOST_PAIRS: int
STRETCH: int
REACH: int
REACH_PAIRS: int

def wrong(
    rows: NDArray[np.float64],
    labels: NDArray[np.float64],
    columns: NDArray[np.float64],
    w: NDArray[np.float64],
    bias: float,
    length: float,
    skip: bool,
    sums: NDArray[np.float64],
) -> tuple[int, int, int]: ...
def pairs(
    rows: NDArray[np.float64],
    labels: NDArray[np.float64],
    columns: NDArray[np.float64],
    skip: bool,
    sums: NDArray[np.int64],
    products: NDArray[np.int64],
) -> int: ...
