from typing import Any

import numpy as np
from numpy.typing import NDArray

def bracket_pass(
    values: NDArray[Any], pivots: NDArray[Any], out: NDArray[Any]
) -> tuple[int, int, int, int, int, int]: ...
def count_bytes(values: NDArray[Any], first: int, thresholds: int) -> NDArray[np.uint64]: ...
def histogram_bytes(values: NDArray[Any]) -> NDArray[np.uint64]: ...
