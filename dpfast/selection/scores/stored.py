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
from .numbers import CHUNK, block_maxima, difference, distances, maxima_without


def refuse(flags: int, name: str) -> None:
    """Raise the error that the flags of a pass call for. It shows no valid score."""
    if flags & (NAN | INFINITE):
        worst = math.nan if flags & NAN else math.inf
        checks.fail(name, "finite numbers, or minus infinity for an excluded candidate", worst)
    if not flags & ABOVE:
        checks.fail(name, "above minus infinity for at least one candidate", -math.inf)


def _empty(name: str) -> None:
    raise ArgumentError(f"{name} must hold at least one candidate, got none")


def _flat(array: NDArray[Any], name: str) -> tuple[NDArray[Any], np.dtype[Any]]:
    """Return the array with bool as uint8, and the dtype in which its scores are compared.

    Objects are Python's own numbers, as `selection.arguments` makes them.
    """
    if array.dtype.kind == "O":
        return array, array.dtype
    dtype = chunk_dtype(array.dtype, name)
    return (array.view(np.uint8) if array.dtype.kind == "b" else array), dtype


def _direct(array: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Tell whether the kernel can read the array in place."""
    flags = array.flags
    return array.dtype == dtype and bool(flags.c_contiguous) and bool(flags.aligned)


def aligned(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return the values in `dtype`, C-contiguous and aligned; copied only if need be."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


def _by_chunks(array: NDArray[Any], block: int, out: NDArray[Any]) -> int:
    """Find the block maxima through one small buffer in the dtype of `out`."""
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
    """Scores in a one-dimensional array of at most 64-bit numbers, or of Python's own numbers.

    Contiguous native arrays are read in place, others through a small buffer; none is copied.
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
        self._maxima: NDArray[Any] | None = None  # of each block

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
            flags = block_maxima(self.array, block, best)
        else:
            flags = _by_chunks(self.array, block, best)
        refuse(flags, self.name)
        self._best, self._block, self._maxima = best.max(), block, best
        return distances(self._best, best)

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self._maxima is not None
        best, empty = maxima_without(
            self._maxima, self._block, self.count, gone, lambda index: self.array[index]
        )
        self._best = best[~empty].max()
        peaks = self._below(best)
        peaks[empty] = -1
        return peaks

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._below(self.array[index].astype(self._dtype, copy=False))

    def anchor(self, best: Any) -> None:
        """Measure distances from this score; better scores get a negative distance."""
        self._best = best

    def _below(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return distances in the place of the values."""
        return distances(self._best, values, overwrite=True)

    def exact(self, candidate: int) -> Fraction:
        return difference(self._best, self.array[candidate])


def row_peaks(matrix: NDArray[Any], name: str = "scores") -> NDArray[Any]:
    """Return the best score of each row, in the dtype in which scores are compared.

    Raises
    ------
    ArgumentError
        As for `Stored.peaks`; the message names the first row that is refused.
    """
    rows, count = matrix.shape
    matrix, dtype = _flat(matrix, name)
    best = np.empty(rows, dtype)
    if not rows:
        return best
    if not count:
        _empty(name)
    if dtype.kind == "O" or _direct(matrix, dtype):
        flags = block_maxima(matrix.reshape(-1), count, best)
    else:
        flags = 0
        step = max(CHUNK // count, 1)
        for at in range(0, rows, step):
            part = aligned(matrix[at : at + step], dtype)
            flags |= block_peaks(part.reshape(-1), count, best[at : at + step])
    if dtype.kind in "fO" and (flags & (NAN | INFINITE) or best.min() == -math.inf):
        for number, row in enumerate(matrix):
            flags = block_maxima(aligned(row, dtype), count, np.empty(1, dtype))
            refuse(flags, f"{name}[{number}]")
    return best
