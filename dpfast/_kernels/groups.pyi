"""Made by tools/stubs.py."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast._kernels.noise import Script
from dpfast._kernels.rng import BitStream
from dpfast._kernels.tables import Key

class Codes:
    def __init__(self, key: Key) -> None: ...
    def __len__(self) -> int: ...
    def words(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
    def find(
        self,
        low: NDArray[np.uint64],
        high: NDArray[np.uint64] | None,
        present: NDArray[np.bool_] | None,
        out: NDArray[np.int32],
    ) -> None: ...
    def add(
        self,
        low: NDArray[np.uint64],
        high: NDArray[np.uint64] | None,
        present: NDArray[np.bool_] | None,
        out: NDArray[np.int32],
    ) -> NDArray[np.int64]: ...

def dense(
    values: NDArray[Any],
    first: int,
    count: int,
    out: NDArray[np.int32],
    present: NDArray[np.bool_] | None = ...,
) -> None: ...
def pair(
    a: NDArray[np.int32], b: NDArray[np.int32], low: NDArray[np.uint64], present: NDArray[np.bool_]
) -> None: ...

PARTS: int

def split(
    key: Key,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64] | None,
    present: NDArray[np.bool_] | None,
    codes: NDArray[np.int32],
    start: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...

class Blocks:
    def __init__(self) -> None: ...
    def add(self, records: NDArray[np.uint64], cuts: NDArray[np.uint32]) -> None: ...
    def joined(
        self, first: int, stop: int, words: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...
    def mark(
        self,
        key: Key,
        first: int,
        stop: int,
        groups: int,
        rows: int,
        more: Sequence[NDArray[np.uint64]],
        marks: NDArray[np.uint8],
        mask: int = ...,
        names: NDArray[np.int32] | None = ...,
    ) -> None: ...

def add(
    values: NDArray[Any],
    codes: NDArray[np.int32],
    scale: float,
    first: int,
    span: int,
    filler: int,
    out: NDArray[np.uint64],
) -> int: ...
def cells(
    values: NDArray[Any],
    codes: NDArray[np.int32],
    groups: int,
    scale: float,
    first: int,
    span: int,
    filler: int,
    out: NDArray[np.int32],
) -> int: ...
def combine(
    totals: NDArray[np.uint64], a: int, b: int, c: int, shift: int, out: NDArray[np.int64]
) -> None: ...
def add_columns(
    columns: NDArray[np.uint32], codes: NDArray[np.int32], out: NDArray[np.uint64]
) -> None: ...
def bound(
    totals: NDArray[np.uint64],
    squares: bool,
    factors: NDArray[np.uint64],
    most: int,
    ends: NDArray[np.uint64] | None,
    codes: NDArray[np.int32] | None,
    out: NDArray[np.uint64],
    whole: NDArray[np.uint64] | None = ...,
) -> None: ...
def count(codes: NDArray[np.int32], out: NDArray[np.uint64]) -> None: ...
def quantiles(
    rows: NDArray[np.int32],
    offsets: NDArray[np.int64],
    place: int,
    shift: int,
    inside: int,
    high: bool,
    c: float,
    share: int,
    base: Any,
    reach: int,
    out: NDArray[np.int32],
    at: int,
    stream: BitStream | Script,
    before: NDArray[np.int64] | None = ...,
    sizes: NDArray[np.int64] | None = ...,
    ties: int = ...,
) -> tuple[int, tuple[int, int, int, int, int | None, int | None] | None]: ...
