"""Made by tools/stubs.py."""

from collections.abc import Buffer
from typing import Any

import numpy as np
from numpy.typing import NDArray

def lies_in_place(values: NDArray[Any]) -> bool: ...
def pick(values: NDArray[Any], keep: NDArray[np.uint8], out: NDArray[Any]) -> int: ...
def both(
    words: NDArray[np.uint64], first: int, bits: NDArray[np.uint64], counts: NDArray[np.int64]
) -> None: ...
def records(
    data: Buffer, delimiter: int, quotes: bool, empty: bool, last: bool
) -> tuple[int, int]: ...

TEXT: int
BYTES: int

class Key:
    def __init__(self, key: Buffer) -> None: ...

def byte_words(
    key: Key,
    data: Buffer,
    first: NDArray[np.int64],
    kind: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None: ...
def view_words(
    key: Key,
    views: Buffer,
    addresses: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    present: NDArray[np.uint8] | None,
    kind: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None: ...
def padded_words(
    key: Key, data: NDArray[np.uint8], width: int, low: NDArray[np.uint64], high: NDArray[np.uint64]
) -> None: ...
def text_words(
    key: Key,
    codes: NDArray[np.uint32],
    width: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None: ...
def hashes(
    key: Key, low: NDArray[np.uint64], high: NDArray[np.uint64] | None, out: NDArray[np.uint64]
) -> None: ...
def siphash(key: Key, message: Buffer) -> tuple[int, tuple[int, int]]: ...
