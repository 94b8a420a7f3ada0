"""Scores of candidates, as samplers read them: one pass for block maxima, then random access.

Scores are in arrays of NumPy's numbers or of Python's numbers. Python's ints, floats and Fractions
compare and subtract exactly with each other, at any size. So the distribution of a draw does not
depend on which kind of array holds the scores.
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

#: Candidates whose scores are handled together: half a megabyte of float64.
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
    """Return ``best - values``, rounded once; negative for minus infinity and for better values.

    `best` has the dtype of `values` and a shape that broadcasts to theirs. With `overwrite`, the
    result may replace `values`: fresh memory costs more than the subtraction.
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
    """Write the largest of each `block` values to `out`; return flags as `block_peaks` does."""
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
    """Raise the error that the flags of a pass call for, which shows no valid score."""
    if flags & (NAN | INFINITE):
        worst = math.nan if flags & NAN else math.inf
        checks.fail(name, "finite numbers, or minus infinity for an excluded candidate", worst)
    if not flags & ABOVE:
        checks.fail(name, "above minus infinity for at least one candidate", -math.inf)


def aligned(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return the values in `dtype`, C-contiguous and aligned; copied only if need be."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


class Scores(ABC):
    """Base of scores of candidates 0 .. count - 1, read as distances below the best score."""

    count: int
    #: The absolute error of a distance, in addition to a relative error of 2**-50. It is 0 for
    #: scores that are given.
    slack: float = 0.0

    @abstractmethod
    def peaks(self, block: int) -> NDArray[np.float64]:
        """Return the distance of the best of each `block` consecutive candidates, by a pass.

        The distance is negative where a whole block is excluded (scores of minus infinity).

        Raises
        ------
        ArgumentError
            A score is NaN or plus infinity, or all are excluded.
        """

    @abstractmethod
    def distance(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of some candidates, negative if excluded; only after `peaks`."""

    @abstractmethod
    def exact(self, candidate: int) -> Fraction:
        """Return the exact distance of a candidate that is not excluded; only after `peaks`."""


class PlainScores(Scores):
    """Scores without log-weights, from which candidates can be taken away, as top-k does.

    Attributes
    ----------
    best : number
        The best score, from which distances are measured. Only after `peaks`.
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
        """Return `peaks` with the candidates `gone` excluded, without a pass over the scores.

        `gone` is sorted and holds all candidates that were ever removed; at least one candidate
        remains. Distances are then taken from the best remaining score. A removed candidate has a
        negative distance only if it is better. Only blocks that lose a candidate are read.
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
    """Scores of one row of candidates that are not in an array of this process."""

    rows: ClassVar[int] = 1
    lead: ClassVar[tuple[int, ...]] = ()

    @property
    def shape(self) -> tuple[int]:
        """Return the shape that an array of the scores would have."""
        return (self.count,)

    def stored(self, i: int) -> Self:
        """Return the only row of scores, as `Table.stored` does."""
        return self
