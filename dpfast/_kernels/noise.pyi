"""Made by tools/stubs.py."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast._kernels.rng import BitStream

SPLIT: int
OCTAVE: int
WIDTH: int
ROWS: int
BLOCK: int

class Table:
    def __init__(self, rows: NDArray[np.float64], knee: float) -> None: ...

def fill(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    ratio: NDArray[np.float64],
    grid: NDArray[np.float64],
    frac: NDArray[np.float64],
    whole: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    lane: NDArray[np.int64],
    word: NDArray[np.uint64],
) -> tuple[int, int]: ...
def integers(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    ratio: float,
    frac: float,
    out: NDArray[np.int64],
    start: int,
    lane: NDArray[np.int64],
    word: NDArray[np.uint64],
) -> tuple[int, int]: ...
def few_integers(
    stream: BitStream, table: Table, ratio: float, frac: float, n: int
) -> tuple[NDArray[np.int64], list[tuple[int, int]]]: ...
def accept(
    stream: BitStream | None,
    given: NDArray[np.uint64] | None,
    table: Table,
    y: NDArray[np.int64],
    centre: float,
    half_precision: float,
    drawn: NDArray[np.uint64],
    keep: NDArray[np.uint8],
) -> int: ...
def one(
    stream: BitStream, table: Table, value: float, scale: float, granularity: float
) -> float | int: ...

OPEN: int
ROWS_SHIFT: int

class Script:
    def __init__(self, words: Iterable[Any]) -> None: ...
    def word(self) -> int: ...
    @property
    def used(self) -> int: ...

def below(n: int, stream: BitStream | Script) -> int: ...
def slots(limit: NDArray[np.int64], out: NDArray[np.int64], stream: BitStream | Script) -> None: ...
def orders(out: NDArray[np.int64], k: int, stream: BitStream | Script) -> None: ...

class Runs:
    def __init__(
        self, distance: NDArray[np.float64], c: float, count: NDArray[np.int64] | None, slack: float
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
