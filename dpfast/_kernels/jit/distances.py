"""A user's compiled local sensitivity ``A(k, *args)`` at one distance after another."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .numba import load
from .typed import REMEMBERED, compiling, is_real, returned

_RULE = "a function compiled by Numba that takes (k, *args) and returns a real number"


@functools.lru_cache(maxsize=REMEMBERED)
def _loops(function: Any) -> tuple[Any, Any]:
    """Return the loop, and one call alone, which tells the type that is returned."""
    numba = load()

    @numba.njit(nogil=True)
    def fill(first, out, args):  # type: ignore[no-untyped-def]
        for t in range(len(out)):
            out[t] = function(first + t, *args)

    @numba.njit(nogil=True)
    def one(first, args):  # type: ignore[no-untyped-def]
        return function(first, *args)

    return fill, one


class DistanceLoop:
    """The loop over a user's function, compiled for the types of its arguments."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        numba = load()
        self._args = args
        self._fill, one = _loops(function)
        with compiling("local_at_distance", _RULE, function):
            kinds = (numba.typeof(0), numba.typeof(args))
            real = is_real(numba, returned(one, kinds))
        if not real:
            fail_kind("local_at_distance", _RULE, function)

    def fill(self, first: int, out: NDArray[np.float64]) -> None:
        """``A(first), A(first + 1), ...``"""
        self._fill(first, out, self._args)
