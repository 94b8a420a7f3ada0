"""Made by tools/stubs.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast._kernels.tables import Key

PLANES: int
NEAR: int
NAN: int
PLUS: int
MINUS: int
MOST_BLOCKS: int
CHANGED: str

def random_labels(key: Key, blocks: int, start: int, out: NDArray[np.uint32]) -> None: ...
def keyed_labels(
    key: Key,
    blocks: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64] | None,
    out: NDArray[np.uint32],
) -> None: ...

class Sums:
    planes: Any
    used: Any
    seen: Any
    near: Any
    def __init__(
        self,
        planes: NDArray[np.uint64],
        used: NDArray[np.uint8],
        seen: NDArray[np.uint8],
        near: NDArray[np.float64] | None = ...,
    ) -> None: ...
    def add(self, labels: NDArray[np.uint32], values: NDArray[np.float64]) -> None: ...
    def add_run(self, block: int, values: NDArray[np.float64]) -> None: ...
    def add_runs(
        self, first: int, cuts: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None: ...
    def add_random(
        self,
        key: Key,
        start: int,
        values: NDArray[Any],
        counts: NDArray[np.int64],
        shift: NDArray[np.float64] | None = ...,
        squares: Sums | None = ...,
    ) -> None: ...
    def merge(self, more: Sums) -> None: ...
    def rounded(self, fraction: NDArray[np.float64], exponent: NDArray[np.int32]) -> None: ...

def extremes(
    labels: NDArray[np.uint32],
    values: NDArray[np.float64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    seen: NDArray[np.uint8],
) -> None: ...
def count(labels: NDArray[np.uint32], counts: NDArray[np.int64], shift: int = ...) -> None: ...
def count_random(
    key: Key, blocks: int, start: int, rows: int, counts: NDArray[np.int64], shift: int = ...
) -> None: ...
def place(
    labels: NDArray[np.uint32],
    rows: NDArray[Any],
    at: NDArray[np.int64],
    out: NDArray[Any],
    shift: int = ...,
    low: NDArray[Any] | None = ...,
) -> None: ...
def place_random(
    key: Key,
    blocks: int,
    start: int,
    rows: NDArray[Any],
    at: NDArray[np.int64],
    out: NDArray[Any],
    shift: int = ...,
    low: NDArray[Any] | None = ...,
) -> None: ...
def refine(
    low: NDArray[Any],
    shift: int,
    rows: NDArray[Any],
    cuts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[Any],
) -> None: ...
def place_runs(
    cuts: NDArray[np.int64], rows: NDArray[Any], at: NDArray[np.int64], out: NDArray[Any]
) -> None: ...

SPARE: int
EFFORT: int

def pairs(
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    ranks: NDArray[np.int64],
    scratch: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    effort: int = ...,
) -> None: ...
def trimmed(
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    cuts: NDArray[np.int64],
    scratch: NDArray[np.float64],
    out: NDArray[np.float64],
    effort: int = ...,
) -> None: ...
def modes(
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    keys: NDArray[np.uint64],
    out: NDArray[np.float64],
) -> None: ...
def logistic(
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    target: int,
    intercept: bool,
    penalty: float,
    iterations: int,
    tolerance: float,
    work: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def logistic_work(width: int) -> int: ...
