import numpy as np
from numpy.typing import NDArray

NONE: int
MOST_KEYS: int
MOST_CELLS: int

class Tree:
    size: int
    width: int
    def __init__(
        self,
        split: NDArray[np.uint32],
        child: NDArray[np.uint32],
        last: NDArray[np.uint32],
        width: int,
    ) -> None: ...
    def walk(self, codes: NDArray[np.uint32], steps: int, node: NDArray[np.uint32]) -> None: ...
    def keys(
        self,
        node: NDArray[np.uint32],
        label: NDArray[np.uint32],
        slot: NDArray[np.uint32],
        classes: int,
        key: NDArray[np.uint32],
    ) -> None: ...

def codes(
    rows: NDArray[np.float64],
    first: NDArray[np.float64],
    values: NDArray[np.float64],
    out: NDArray[np.uint32],
) -> None: ...
def cells(values: NDArray[np.uint32], keys: int) -> tuple[NDArray[np.int64], int]: ...
def count(
    codes: NDArray[np.uint32],
    key: NDArray[np.uint32],
    keys: int,
    values: NDArray[np.uint32],
    counts: NDArray[np.int64],
) -> None: ...
