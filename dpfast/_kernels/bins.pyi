from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_CELLS: int

class Axis:
    bins: int
    def __init__(self, lower: NDArray[np.float64], hi: float, cells: int, exact: bool) -> None: ...
    def histogram(self, values: NDArray[Any], counts: NDArray[np.int64]) -> None: ...
    def place(self, values: NDArray[Any], stride: int, place: NDArray[np.uint32]) -> None: ...

def tally(place: NDArray[np.uint32], counts: NDArray[np.int64]) -> None: ...
