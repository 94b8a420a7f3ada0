"""Made by tools/stubs.py."""

import numpy as np
from numpy.typing import NDArray

def multiset_sums(
    counts: NDArray[np.uint8],
    weights: NDArray[np.int32],
    out: NDArray[np.int32],
    begin: int,
    end: int,
) -> None: ...
def compare(
    part: NDArray[np.float32],
    counts: NDArray[np.int32] | None,
    query: NDArray[np.float64],
    unit: float,
    begin: int,
    end: int,
    block: int,
    out: NDArray[np.float64],
) -> None: ...
def move(
    log: NDArray[np.float64],
    part: NDArray[np.float32],
    query: NDArray[np.float64],
    unit: float,
    step: float,
    bound: float,
    next: NDArray[np.float64] | None,
    begin: int,
    end: int,
    block: int,
    out: NDArray[np.float64],
) -> None: ...
def weights_products(
    rows: NDArray[np.float32],
    p: NDArray[np.float64],
    out: NDArray[np.float64],
    begin: int,
    end: int,
) -> None: ...
