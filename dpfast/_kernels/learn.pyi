"""Made by tools/stubs.py."""

import numpy as np
from numpy.typing import NDArray

def box_whole(
    rows: NDArray[np.float64],
    scale: float,
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    middle: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int: ...

CLASSES_MOST_ROWS: int
CLASSES_REACH: int

def class_totals(
    rows: NDArray[np.float64],
    limits: NDArray[np.float64],
    key: NDArray[np.uint32],
    sums: NDArray[np.float64],
) -> int: ...

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

GRAM_STRETCH: int
GRAM_MOST_ROWS: int
GRAM_MOST_COLUMNS: int

def gram_add(
    rows: NDArray[np.float64],
    scale: float,
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    middle: NDArray[np.float64],
    sums: NDArray[np.int64],
    products: NDArray[np.int64],
) -> int: ...

MARGIN_MOST_ROWS: int
PAIRS_MOST_ROWS: int
PAIRS_STRETCH: int
MARGIN_REACH: int
PAIRS_REACH: int

def margin_wrong(
    rows: NDArray[np.float64],
    labels: NDArray[np.float64],
    columns: NDArray[np.float64],
    w: NDArray[np.float64],
    bias: float,
    length: float,
    skip: bool,
    sums: NDArray[np.float64],
) -> tuple[int, int, int]: ...
def pairs_add(
    rows: NDArray[np.float64],
    labels: NDArray[np.float64],
    columns: NDArray[np.float64],
    skip: bool,
    sums: NDArray[np.int64],
    products: NDArray[np.int64],
) -> int: ...

NEAREST_MOST_ROWS: int

class NearestColumns:
    width: int
    def __init__(
        self,
        scale: NDArray[np.float64],
        first: NDArray[np.int64],
        span: NDArray[np.int64],
        middle: NDArray[np.float64],
        fill: NDArray[np.float64],
        unit: float,
        skip: bool,
    ) -> None: ...
    def totals(
        self,
        rows: NDArray[np.float64],
        at: NDArray[np.float64],
        half: NDArray[np.float64],
        counts: NDArray[np.uint64],
        sums: NDArray[np.uint64],
    ) -> None: ...
    def labels(
        self,
        rows: NDArray[np.float64],
        at: NDArray[np.float64],
        half: NDArray[np.float64],
        out: NDArray[np.int64],
    ) -> None: ...
