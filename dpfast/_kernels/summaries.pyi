"""Made by tools/stubs.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def bracket_pass(
    values: NDArray[Any], pivots: NDArray[Any], out: NDArray[Any]
) -> tuple[int, int, int, int, int, int]: ...
def bracket_passes(
    values: NDArray[Any], pivots: list[NDArray[Any]], outs: list[NDArray[Any]]
) -> list[tuple[int, int, int, int, int, int]]: ...
def order_part(values: NDArray[Any], start: int, stop: int) -> NDArray[Any] | None: ...
def count_bytes(values: NDArray[Any], first: int, thresholds: int) -> NDArray[np.uint64]: ...
def histogram_bytes(values: NDArray[Any]) -> NDArray[np.uint64]: ...

MOST_SPAN: int
MOST_SPAN_OF_SQUARES: int
MOST_REACH: int

class Grid:
    span: int
    def __init__(self, scale: float, first: int, span: int) -> None: ...
    def totals(self, values: NDArray[Any], squares: bool = ...) -> tuple[int, int, int]: ...
    def write_cells(
        self, values: NDArray[Any], out: NDArray[np.uint32], missing: NDArray[np.uint8]
    ) -> None: ...

def products(a: NDArray[np.uint32], b: NDArray[np.uint32]) -> int: ...
