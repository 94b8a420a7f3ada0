"""Scores in an array of one dimension, and the best of each row of a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..._core import checks
from ..._kernels.selection import ABOVE, INFINITE, NAN
from ...sources import chunk_dtype
from . import PlainScores
from .numbers import CHUNK, block_maxima


def refuse(flags: int, name: str = "scores") -> None:
    """Raise the error that the flags of a pass call for. It shows no valid score."""
    if flags & (NAN | INFINITE):
        worst = math.nan if flags & NAN else math.inf
        checks.fail(name, "finite numbers, or minus infinity for an excluded candidate", worst)
    if not flags & ABOVE:
        checks.fail(name, "above minus infinity for at least one candidate", -math.inf)


def _flat(array: NDArray[Any]) -> tuple[NDArray[Any], np.dtype[Any]]:
    """Return the array with bool as uint8, and the dtype in which its scores are compared.

    Objects are Python's own numbers, as `selection.arguments` makes them.
    """
    if array.dtype.kind == "O":
        return array, array.dtype
    dtype = chunk_dtype(array.dtype, "scores")
    return (array.view(np.uint8) if array.dtype.kind == "b" else array), dtype


def aligned(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return the values in `dtype`, C-contiguous and aligned; copied only if need be."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


class Stored(PlainScores):
    """Scores in a one-dimensional array of at most 64-bit numbers, or of Python's own numbers.

    Contiguous native arrays are read in place, others through a small buffer; none is copied.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self._dtype = _flat(array)
        self.count = len(array)

    def peaks(self, block: int) -> NDArray[np.float64]:
        block = min(block, self.count)
        best = np.empty(-(-self.count // block), self._dtype)
        flags = self.array.flags
        direct = self.array.dtype == self._dtype and flags.c_contiguous and flags.aligned
        step = self.count if direct else max(CHUNK // block, 1) * block
        buffer = np.empty(0 if direct else min(step, self.count), self._dtype)
        seen = 0
        for start in range(0, self.count, step):
            part = self.array[start : start + step]
            if not direct:
                buffer[: len(part)] = part
                part = buffer[: len(part)]
            first = start // block
            seen |= block_maxima(part, block, best[first : first - (-len(part) // block)])
        refuse(seen)
        return self._found(block, best)

    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        return self.array[index].astype(self._dtype, copy=False)


def row_peaks(matrix: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Return the best score of each row, in the dtype in which scores are compared.

    Raises
    ------
    ArgumentError
        As for `Stored.peaks`. The message names the first row that is refused; `first` is the
        number of the first one.
    """
    matrix, dtype = _flat(matrix)
    best = np.empty(len(matrix), dtype)
    flags = block_maxima(aligned(matrix, dtype).reshape(-1), matrix.shape[1], best)
    if dtype.kind in "fO" and (flags & (NAN | INFINITE) or best.min() == -math.inf):
        for number, row in enumerate(matrix, first):
            flags = block_maxima(aligned(row, dtype), len(row), np.empty(1, dtype))
            refuse(flags, f"scores[{number}]")
    return best
