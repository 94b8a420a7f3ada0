import numpy as np
from numpy.typing import NDArray

def sums(
    counts: NDArray[np.uint8],
    weights: NDArray[np.int32],
    out: NDArray[np.int32],
    begin: int,
    end: int,
) -> None: ...
