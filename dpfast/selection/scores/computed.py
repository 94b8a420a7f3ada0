"""Scores computed by a function when they are needed, and never stored."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import errors
from ..._core import checks
from ..._kernels import jit
from ..._kernels.selection import ABOVE
from ...errors import DataError, SlowWarning
from . import OneRow, block_maxima, real, refuse

#: How many candidates are evaluated together, so that their scores stay in the cache. Scores are
#: stored only if there are at most this many.
STRETCH = 1 << 15
#: The largest number of candidates, so that their numbers are exact in float64.
MOST = 1 << 53

_PACKAGE = os.path.dirname(errors.__file__) + os.sep

_RULE = "a function that returns an int, a float, a Fraction or a NumPy number of at most 64 bits"


class _PythonFunction:
    """Scores from a plain Python function, called for one candidate at a time."""

    tile = 1
    dtype: np.dtype[Any] = np.dtype(object)

    def __init__(self, function: Callable[[Any, int], Any], data: Any) -> None:
        self._function, self._data = function, data

    def fill(self, tiles: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write ``out[t, 0]``, the score of candidate ``tiles[t]``."""
        for t, candidate in enumerate(tiles.tolist()):
            value = self._function(self._data, candidate)
            score = real(value)
            if score is None:
                checks.fail_kind("scores", _RULE, value, " from it")
            out[t, 0] = score


def _warn_slow() -> None:
    """Warn that a plain Python function is slow, at the line of the user's call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        "scores is a plain Python function: each candidate takes a call, which is slow; "
        "compile it with numba.njit",
        SlowWarning,
        stacklevel=level,
    )


class Computed(OneRow):
    """Scores ``function(data, j)`` of candidates j = 0 .. count - 1.

    The pass evaluates every candidate once, many at a time. A later access evaluates the needed
    scores again (with a compiled function up to 32 adjacent candidates), unless all scores were
    stored. So the function must be pure: a candidate must have the same score every time. If dpfast
    finds two different scores, the error comes after the spend.

    A function compiled by Numba runs in a compiled loop without the GIL. Integer scores stay
    integers. Integers of Numba overflow beyond 64 bits; integers of a plain function do not.

    Errors of the function during the pass are raised unchanged, before anything is spent.

    Parameters
    ----------
    function : callable
        ``score(data, candidate)`` giving a real number, minus infinity for an excluded candidate.
    data : object
        The first argument of `function`, unchanged.
    count : int
        Number of candidates.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If Numba cannot compile the function for the data, or if the count is not from 1 to 2**53.

    Warns
    -----
    SlowWarning
        If the function is not compiled by Numba.
    """

    def __init__(self, function: Callable[[Any, int], Any], data: Any, count: int | None) -> None:
        self.count = checks.whole("candidates", count, 1, MOST)
        self._loop: jit.Tiles | _PythonFunction
        if jit.is_compiled(function):
            self._loop = jit.Tiles(function, data, self.count)
        else:
            self._loop = _PythonFunction(function, data)
            _warn_slow()
        self._kept: NDArray[Any] | None = None  # all scores, if there are few

    def peaks(self, block: int) -> NDArray[np.float64]:
        tile = self._loop.tile
        best = np.empty(-(-self.count // block), self._loop.dtype)
        step = max(STRETCH // block, 1) * block
        flags = 0
        for start in range(0, self.count, step):
            stop = min(start + step, self.count)
            scores = self._evaluated(np.arange(start // tile, -(-stop // tile))).reshape(-1)
            values = scores[start % tile :][: stop - start]
            first = start // block
            flags |= block_maxima(values, block, best[first : first - (-len(values) // block)])
            refuse(flags | ABOVE)  # report NaN and infinity without reading on
        refuse(flags)
        self._kept = values if self.count <= min(step, STRETCH) else None
        return self._keep_peaks(block, best)

    def _evaluated(self, tiles: NDArray[np.int64]) -> NDArray[Any]:
        scores = np.empty((len(tiles), self._loop.tile), self._loop.dtype)
        self._loop.fill(tiles, scores)
        return scores

    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the scores of some candidates; refuse a score above the maximum of its block."""
        if self._kept is not None:
            return self._kept[index]
        tile = self._loop.tile
        tiles, row = np.unique(index // tile, return_inverse=True)
        values: NDArray[Any] = self._evaluated(tiles)[row, index % tile]
        with np.errstate(invalid="ignore"):  # Python numbers may include NaN
            pure = (values <= self._maxima[index // self._block]).all()
        if not pure:
            raise DataError(
                "the score function returned two scores for a candidate; it must be a pure "
                "function of (data, candidate), without randomness or memory"
            )
        return values
