"""Scores in an array of one dimension, and the best of each row of a matrix."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._kernels.selection import ABOVE, INFINITE, NAN, block_peaks
from ...errors import ArgumentError
from ...sources import chunk_dtype
from .numbers import difference, distances, tops
from .without import tops_without

#: Scores of a conversion buffer (another byte order, strides, float16): half a megabyte of float64.
CHUNK = 1 << 16


def refuse(flags: int, name: str) -> None:
    """Raise what the flags of a pass say against the scores. No score that is in order is shown."""
    if flags & (NAN | INFINITE):
        worst = math.nan if flags & NAN else math.inf
        checks.fail(name, "finite numbers, or minus infinity for an excluded candidate", worst)
    if not flags & ABOVE:
        checks.fail(name, "above minus infinity for at least one candidate", -math.inf)


def _empty(name: str) -> None:
    raise ArgumentError(f"{name} must hold at least one candidate, got none")


def _flat(array: NDArray[Any], name: str) -> tuple[NDArray[Any], np.dtype[Any]]:
    """The array with bool as uint8, and the dtype in which its scores are compared.

    Of one of objects these are Python's own numbers, as `selection.arguments` makes them.
    """
    if array.dtype.kind == "O":
        return array, array.dtype
    dtype = chunk_dtype(array.dtype, name)
    return (array.view(np.uint8) if array.dtype.kind == "b" else array), dtype


def _direct(array: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether the kernel can read the array where it is."""
    flags = array.flags
    return array.dtype == dtype and bool(flags.c_contiguous) and bool(flags.aligned)


def plain(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The values as the kernels read them: in `dtype`, C-contiguous, aligned; copied if need be."""
    found = np.ascontiguousarray(values, dtype)
    return found if found.flags.aligned else found.copy()


def _by_chunks(array: NDArray[Any], block: int, out: NDArray[Any]) -> int:
    """The pass through one small buffer in the dtype of `out`."""
    n = len(array)
    flags = 0
    buffer = np.empty(min(n, CHUNK), out.dtype)
    step = CHUNK // block * block
    if step:
        for at in range(0, n, step):
            part = array[at : at + step]
            values = buffer[: len(part)]
            values[...] = part
            first = at // block
            flags |= block_peaks(values, block, out[first : first - (-len(part) // block)])
        return flags
    for number, start in enumerate(range(0, n, block)):  # a block is larger than the buffer
        stop = min(start + block, n)
        pieces = np.empty(-((start - stop) // CHUNK), out.dtype)
        for piece, at in enumerate(range(start, stop, CHUNK)):
            part = array[at : min(at + CHUNK, stop)]
            values = buffer[: len(part)]
            values[...] = part
            flags |= block_peaks(values, CHUNK, pieces[piece : piece + 1])
        block_peaks(pieces, len(pieces), out[number : number + 1])
    return flags


class Stored:
    """Scores in a one-dimensional array of an integer, bool or float dtype of at most 64 bits.

    Or in one of Python's own numbers, of any size. Contiguous native arrays are read where they
    are, others through a small buffer; none is copied.
    """

    slack = 0.0

    def __init__(self, array: NDArray[Any], name: str = "scores") -> None:
        if array.ndim != 1:
            raise ArgumentError(
                f"{name} must be one-dimensional, got an array of {array.ndim} dimensions"
            )
        self.array, self._dtype = _flat(array, name)
        self.name = name
        self._best: Any = None
        self._block = 0
        self._tops: NDArray[Any] | None = None  # the best score of each block

    @property
    def count(self) -> int:
        return len(self.array)

    def best(self) -> Any:
        return self._best

    def peaks(self, block: int) -> NDArray[np.float64]:
        if not self.count:
            _empty(self.name)
        block = min(block, self.count)
        best = np.empty(-(-self.count // block), self._dtype)
        if self._dtype.kind == "O" or _direct(self.array, self._dtype):
            flags = tops(self.array, block, best)
        else:
            flags = _by_chunks(self.array, block, best)
        refuse(flags, self.name)
        self._best, self._block, self._tops = best.max(), block, best
        return distances(self._best, best)

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self._tops is not None
        best, empty = tops_without(
            self._tops, self._block, self.count, gone, lambda index: self.array[index]
        )
        self._best = best[~empty].max()
        peaks = self._below(best)
        peaks[empty] = -1
        return peaks

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._below(self.array[index].astype(self._dtype, copy=False))

    def anchor(self, best: Any) -> None:
        """Measure distances from this score from now on; better ones get a negative distance."""
        self._best = best

    def _below(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Distances of values that nobody else needs."""
        return distances(self._best, values, own=True)

    def exact(self, candidate: int) -> Fraction:
        return difference(self._best, self.array[candidate])


def row_peaks(matrix: NDArray[Any], name: str = "scores") -> NDArray[Any]:
    """The best score of each row, in the dtype of comparison (float32 for float16, uint8 for bool).

    Raises
    ------
    ArgumentError
        As for `Stored.peaks`; the message gives the number of the first row that is refused.
    """
    rows, count = matrix.shape
    matrix, dtype = _flat(matrix, name)
    best = np.empty(rows, dtype)
    if not rows:
        return best
    if not count:
        _empty(name)
    if dtype.kind == "O" or _direct(matrix, dtype):
        flags = tops(matrix.reshape(-1), count, best)
    else:
        flags = 0
        step = max(CHUNK // count, 1)
        for at in range(0, rows, step):
            part = plain(matrix[at : at + step], dtype)
            flags |= block_peaks(part.reshape(-1), count, best[at : at + step])
    if dtype.kind in "fO" and (flags & (NAN | INFINITE) or best.min() == -math.inf):
        for row in range(rows):
            one = plain(matrix[row], dtype)
            refuse(tops(one, count, np.empty(1, dtype)), f"{name}[{row}]")
    return best
