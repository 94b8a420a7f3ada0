import numpy as np
from numpy.typing import NDArray

STRETCH: int
MOST_ROWS: int
MOST_COLUMNS: int

def add(
    rows: NDArray[np.float64],
    scale: float,
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    middle: NDArray[np.float64],
    sums: NDArray[np.int64],
    products: NDArray[np.int64],
) -> int: ...
