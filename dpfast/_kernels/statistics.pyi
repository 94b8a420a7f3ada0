"""Made by tools/stubs.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast._kernels.noise import Script
from dpfast._kernels.rng import BitStream

def draw_node(
    rows: NDArray[np.int64],
    before: int,
    n: int,
    low: tuple[int, int, int, int],
    high: tuple[int, int, int, int],
    whole: int,
    rest: int,
    c: float,
    share: int,
    divides: bool,
    base: Any,
    stream: BitStream | Script,
    narrow: bool = ...,
    under: int = ...,
    over: int = ...,
    place: int = ...,
    ties: int = ...,
    flips: bool = ...,
) -> (
    tuple[
        int,
        int,
        int,
        int,
        tuple[int, int, int, int, int] | None,
        tuple[int, int, int, int, int | None] | None,
    ]
    | None
): ...
def cells(
    values: NDArray[np.float64], lo: float, hi: float, grid: float, first: int, last: int
) -> NDArray[np.int64]: ...

MAGNITUDES: int

def magnitudes(values: NDArray[Any], counts: NDArray[np.int64]) -> int: ...

MOST_CELLS: int

class Axis:
    bins: int
    def __init__(self, lower: NDArray[np.float64], hi: float, cells: int, exact: bool) -> None: ...
    def histogram(self, values: NDArray[Any], counts: NDArray[np.int64]) -> None: ...
    def place(self, values: NDArray[Any], stride: int, place: NDArray[np.uint32]) -> None: ...

def tally(place: NDArray[np.uint32], counts: NDArray[np.int64]) -> None: ...
def marginals(
    codes: NDArray[np.uint32],
    subsets: NDArray[np.uint32],
    sizes: NDArray[np.uint32],
    counts: NDArray[np.int64],
) -> None: ...

JOINT_POWERS: int

class JointTable:
    filled: bool
    def __init__(
        self,
        at: NDArray[np.int64],
        length: NDArray[np.int64],
        m: int,
        n: int,
        first: list[int],
        far: list[tuple[float, int]],
        near: list[tuple[float, int]],
        stay: list[Any],
        power: list[tuple[float, float, int]],
    ) -> None: ...
    def fill(self) -> None: ...
    def total_weight(self) -> tuple[float, int]: ...
    def before(self, s: int, i: int) -> tuple[float, int]: ...
    def terms(self, s: int, i: int) -> list[tuple[float, int]]: ...
    def look(self, s: int, stop: int, position: int) -> tuple[int, tuple[float, int]]: ...
    def find(self, place: int) -> tuple[int, int]: ...
    def weight(self, s: int, position: int, i: int) -> tuple[float, int]: ...

OPEN: int
BLOCK: int
MOST: int

def flip(first: int, second: int, bits: NDArray[np.uint8], stream: BitStream | Script) -> int: ...
def binary(
    first: int, second: int, values: NDArray[Any], out: NDArray[Any], stream: BitStream | Script
) -> int: ...
def others(
    categories: int,
    instead: int,
    values: NDArray[Any],
    other: NDArray[np.uint8],
    out: NDArray[Any],
    stream: BitStream | Script,
) -> None: ...
def own(values: NDArray[np.int64], bits: NDArray[np.uint8], stream: BitStream | Script) -> None: ...
