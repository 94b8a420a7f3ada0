import numpy as np
from numpy.typing import NDArray

MOST_ROWS: int

class Columns:
    width: int
    def __init__(
        self,
        scale: NDArray[np.float64],
        first: NDArray[np.int64],
        span: NDArray[np.int64],
        middle: NDArray[np.float64],
        fill: NDArray[np.float64],
        unit: float,
        skip: bool,
    ) -> None: ...
    def totals(
        self,
        rows: NDArray[np.float64],
        at: NDArray[np.float64],
        half: NDArray[np.float64],
        counts: NDArray[np.uint64],
        sums: NDArray[np.uint64],
    ) -> None: ...
    def labels(
        self,
        rows: NDArray[np.float64],
        at: NDArray[np.float64],
        half: NDArray[np.float64],
        out: NDArray[np.int64],
    ) -> None: ...
