from typing import Any

import numpy as np
from numpy.typing import NDArray

def pick(values: NDArray[Any], keep: NDArray[np.uint8], out: NDArray[Any]) -> int: ...
def both(
    words: NDArray[np.uint64],
    first: int,
    bits: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None: ...
