import numpy as np
from numpy.typing import NDArray

def whole(
    rows: NDArray[np.float64],
    scale: float,
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    middle: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int: ...
