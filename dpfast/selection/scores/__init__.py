"""Scores of candidates for samplers: one pass for the maxima of blocks, then access by index.

An array of scores has numbers of NumPy or of Python. Ints, floats and Fractions of Python are
compared and subtracted exactly, at any size. So the kind of array does not change the distribution
of a draw.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..._core import checks
from ..._kernels.selection import ABOVE, INFINITE, NAN, block_peaks

__all__ = ["OneRow", "PlainScores", "Scores"]

#: How many candidates are handled together: half a megabyte of float64.
CHUNK = 1 << 16


def real(value: Any) -> int | float | Fraction | None:
    """Return a score as a Python number, without loss; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.timedelta64):  # numpy.timedelta64 is a subclass of NumPy's integers
        return None
    if isinstance(value, (bool, np.bool_, np.integer)):
        return int(value)
    if isinstance(value, (int, float, Fraction)):
        return value
    if isinstance(value, np.floating):
        number = float(value)
        if number == value or value != value:
            return number
    return None


def difference(best: Any, value: Any) -> Fraction:
    """Return the exact difference of two finite scores."""
    high, low = (x.item() if isinstance(x, np.generic) else x for x in (best, value))
    return Fraction(high) - Fraction(low)


def _gap(best: Any, value: Any) -> float:
    if value == -math.inf:
        return -1.0
    try:
        return float(difference(best, value))
    except OverflowError:
        return math.inf if best > value else -math.inf


_gaps = np.frompyfunc(_gap, 2, 1)


def distances(best: Any, values: NDArray[Any], *, overwrite: bool = False) -> NDArray[np.float64]:
    """Return ``best - values``, rounded once. It is negative for minus infinity and better values.

    `best` has the dtype of `values`, and a shape that broadcasts to their shape. With `overwrite`,
    the result may replace `values`, because fresh memory costs more than the subtraction.
    """
    if values.dtype.kind == "O":
        return np.asarray(_gaps(best, values)).astype(np.float64)
    if values.dtype.kind == "f":
        below: NDArray[np.float64] = values.astype(np.float64, copy=not overwrite)
        excluded = below == -math.inf
        with np.errstate(over="ignore"):
            np.subtract(np.asarray(best, np.float64), below, out=below)
        below[excluded] = -1.0
        return below
    if values.dtype.itemsize < 8:
        return np.asarray(best, np.float64) - values.astype(np.float64)
    # The difference is below 2**64, so computing it modulo 2**64 is exact.
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    top = np.asarray(best, values.dtype)
    below = (top.view(np.uint64) - values.view(np.uint64)).astype(np.float64)
    below[values > top] = -1.0
    return below


def block_maxima(values: NDArray[Any], block: int, out: NDArray[Any]) -> int:
    """Write the largest of each `block` values to `out`; return flags, like `block_peaks`."""
    if values.dtype.kind != "O":
        return block_peaks(values, block, out)
    flags = 0
    for b, start in enumerate(range(0, len(values), block)):
        best: Any = -math.inf
        for value in values[start : start + block]:
            if value != value:
                flags |= NAN
            elif value > best:
                best = value
                flags |= INFINITE | ABOVE if value == math.inf else ABOVE
        out[b] = best
    return flags


def refuse(flags: int, name: str = "scores") -> None:
    """Raise the error for the flags of a pass, if there is one. The error shows no valid score."""
    if flags & (NAN | INFINITE):
        worst = math.nan if flags & NAN else math.inf
        checks.fail(name, "finite numbers, or minus infinity for an excluded candidate", worst)
    if not flags & ABOVE:
        checks.fail(name, "above minus infinity for at least one candidate", -math.inf)


def aligned(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return the values in `dtype`, C-contiguous and aligned, with a copy only if necessary."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


class Scores(ABC):
    """Base of scores of candidates 0 .. count - 1, read as distances below the best score."""

    count: int
    #: The absolute error of a distance, in addition to a relative error of 2**-50. It is 0 for
    #: scores without log-weights.
    slack: float = 0.0

    @abstractmethod
    def peaks(self, block: int) -> NDArray[np.float64]:
        """Return the distance of the best of each `block` consecutive candidates, by a pass.

        If all candidates of a block are excluded (minus infinity), the distance is negative.

        Raises
        ------
        ArgumentError
            A score is NaN or plus infinity, or all are excluded.
        """

    @abstractmethod
    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return distances of some candidates, negative for excluded ones. Call `peaks` first."""

    @abstractmethod
    def exact(self, candidate: int) -> Fraction:
        """Return the exact distance of a candidate that is not excluded. Call `peaks` first."""


class PlainScores(Scores):
    """Scores without log-weights, from which candidates can be removed, as for top-k.

    Attributes
    ----------
    best : number
        The best score, from which distances are measured; known after `peaks`.
    """

    best: Any
    _block: int
    _maxima: NDArray[Any]  # the largest score of each block

    def _keep_peaks(self, block: int, maxima: NDArray[Any]) -> NDArray[np.float64]:
        """Keep the largest score of each block, and return the distances of the blocks."""
        self.best, self._block, self._maxima = maxima.max(), block, maxima
        return distances(self.best, maxima)

    @abstractmethod
    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of some candidates, as a new array."""

    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        return distances(self.best, self._look(index), overwrite=True)

    def exact(self, candidate: int) -> Fraction:
        return difference(self.best, self._look(np.array([candidate]))[0])

    def without(self, gone: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return `peaks` without the candidates `gone`, without a pass over the scores.

        `gone` is sorted and has all candidates that were ever removed; at least one candidate
        remains. Distances are then measured from the best remaining score. So a removed candidate
        has a negative distance only if it is better. Only blocks that lose a candidate are read.
        """
        maxima, block = self._maxima.copy(), self._block
        empty = np.zeros(len(maxima), np.bool_)
        touched = np.unique(gone // block)
        worst = np.iinfo(maxima.dtype).min if maxima.dtype.kind in "iu" else -np.inf
        step = max(CHUNK // block, 1)
        for start in range(0, len(touched), step):
            blocks = touched[start : start + step]
            slots = blocks[:, None] * block + np.arange(block)
            index = np.minimum(slots, self.count - 1)
            at = np.minimum(np.searchsorted(gone, index), len(gone) - 1)
            absent = (slots >= self.count) | (gone[at] == index)
            values = self._look(index.ravel()).reshape(slots.shape)
            values[absent] = worst
            maxima[blocks] = values.max(axis=1)
            empty[blocks] = absent.all(axis=1)
        self.best = maxima[~empty].max()
        peaks = distances(self.best, maxima, overwrite=True)
        peaks[empty] = -1
        return peaks


class OneRow(PlainScores):
    """Scores of one row of candidates, which are not in an array of this process."""

    rows: ClassVar[int] = 1
    lead: ClassVar[tuple[int, ...]] = ()

    @property
    def shape(self) -> tuple[int]:
        """Return the shape that an array of the scores would have."""
        return (self.count,)

    def stored(self, i: int) -> Self:
        """Return the only row of scores, as `Table.stored` does."""
        return self
