"""Scores of tiles of candidates by a user's compiled function ``score(data, candidate)``.

The same candidate must have the same score every time, to the last bit. A compiler may treat
vectorised candidates and the remainder at the end of a loop differently (vector libraries, and
functions compiled with fastmath), so that a score could depend on the candidate's position in the
loop. Hence candidates are always evaluated in whole tiles, aligned at multiples of `TILE`, by the
same machine code: the position in a tile is fixed for each candidate.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .numba import REMEMBERED, compiling, is_real, load, returned

#: Candidates of a tile: enough for vector instructions (four vectors of AVX-512). The score of one
#: candidate costs the evaluation of its whole tile.
TILE = 32

_lock = threading.Lock()


@functools.lru_cache(maxsize=REMEMBERED)
def _loops(function: Any) -> tuple[Any, Any]:
    """Return the compiled loop over tiles, and one call, whose score has the type to infer.

    Numba compiles each of them once for each type of data, under its own lock. Its options
    (fastmath, error_model, boundscheck) for the user's function are those that the user gave.
    """
    numba = load()

    @numba.njit(nogil=True)
    def fill(data, tiles, count, out):  # type: ignore[no-untyped-def]
        for t in range(len(tiles)):
            first = tiles[t] * TILE
            for i in range(min(TILE, count - first)):
                out[t, i] = function(data, first + i)

    @numba.njit(nogil=True)
    def call(data, candidate):  # type: ignore[no-untyped-def]
        return function(data, candidate)

    return fill, call


def _result(numba: Any, kind: Any) -> np.dtype[Any] | None:
    """Return the dtype that holds all values of a Numba type exactly; None for no real numbers."""
    if not is_real(numba, kind):
        return None
    if isinstance(kind, numba.types.Float):
        return np.dtype(np.float64)
    is_wide = isinstance(kind, numba.types.Integer) and not kind.signed and kind.bitwidth == 64
    return np.dtype(np.uint64 if is_wide else np.int64)


class Tiles:
    """Scores of candidates 0 .. count - 1, tile by tile.

    The first time for a function and a type of data it is compiled, which takes some tenths of a
    second. The GIL is released inside the loop.

    Parameters
    ----------
    function : Numba dispatcher
        ``score(data, candidate)`` with an int64 candidate, giving a real number.
    data : object
        Anything that the function takes.
    count : int

    Raises
    ------
    ArgumentTypeError
        Numba cannot compile the function for these data, or it does not return a real number.
    """

    tile = TILE

    def __init__(self, function: Any, data: Any, count: int) -> None:
        numba = load()
        with _lock:  # so that two threads do not compile loops for the same function
            self._fill, on_candidate = _loops(function)
        with compiling(
            "scores", "a function that Numba can compile for these data and an integer", function
        ):
            kind = returned(on_candidate, (numba.typeof(data), numba.int64))
        dtype = _result(numba, kind)
        if dtype is None:
            rule = "a function that returns a real number"
            fail_kind("scores", rule, function, f" that returns {kind}")
        self.data = data
        self.count = count
        self.dtype: np.dtype[Any] = dtype

    def fill(self, tiles: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write ``out[t, i]``, the score of candidate ``tiles[t] * tile + i``.

        Entries beyond the last candidate are not written. Exceptions of the function are passed on.
        """
        self._fill(self.data, tiles, self.count, out)
