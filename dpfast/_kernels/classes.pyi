import numpy as np
from numpy.typing import NDArray

MOST_ROWS: int
REACH: int

def totals(
    rows: NDArray[np.float64],
    limits: NDArray[np.float64],
    key: NDArray[np.uint32],
    sums: NDArray[np.float64],
) -> int: ...
