from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rng import BitStream

OPEN: int
ROWS_SHIFT: int

class Script:
    def __init__(self, words: Iterable[Any]) -> None: ...
    def word(self) -> int: ...
    @property
    def used(self) -> int: ...

def below(n: int, stream: BitStream | Script) -> int: ...
def slots(limit: NDArray[np.int64], out: NDArray[np.int64], stream: BitStream | Script) -> None: ...
def verdict(
    word: int,
    c: float,
    distance: float,
    slack: float = 0.0,
    lift: int = 0,
    factor: float = 1.0,
) -> int: ...
def coins(
    stream: BitStream | Script,
    c: float,
    distance: NDArray[np.float64],
    shift: NDArray[np.int64],
    slack: float,
    kept: NDArray[np.uint8],
    start: int,
) -> tuple[int, int]: ...

class Runs:
    def __init__(
        self,
        distance: NDArray[np.float64],
        c: float,
        count: NDArray[np.int64] | None,
        slack: float,
    ) -> None: ...
    @property
    def shift(self) -> int: ...
    def total(self, out: NDArray[np.uint64]) -> None: ...
    def bound(self, run: int) -> int: ...
    def propose(self, out: NDArray[np.int64], stream: BitStream | Script) -> None: ...
    def keep(
        self,
        run: NDArray[np.int64],
        distance: NDArray[np.float64],
        slack: float,
        kept: NDArray[np.uint8],
        start: int,
        stream: BitStream | Script,
    ) -> tuple[int, int]: ...
    def draw(
        self, out: NDArray[np.int64], start: int, stream: BitStream | Script
    ) -> tuple[int, int]: ...

def rows(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    c: float,
    slack: float,
    scratch: NDArray[np.uint64],
    out: NDArray[np.int64],
    start: int,
    stream: BitStream | Script,
) -> tuple[int, int, int]: ...
def row_sums(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    c: float,
    slack: float,
    out: NDArray[np.uint64],
) -> None: ...
def subset(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    c: float,
    drawn: NDArray[np.uint64],
    heads: NDArray[np.uint8],
    settled: bool,
    out: NDArray[np.int64],
    start: int,
    stream: BitStream | Script,
) -> int: ...
