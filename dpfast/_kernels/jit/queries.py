"""A user's compiled query over the elements of a universe."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .numba import load
from .typed import REMEMBERED, compiling, is_real, returned

_RULE = "a function compiled by Numba that takes one element and returns a real number"


@functools.lru_cache(maxsize=REMEMBERED)
def _loops(function: Any) -> tuple[Any, Any]:
    """Return the loop, and one call alone, which tells the type that is returned."""
    numba = load()

    @numba.njit(nogil=True)
    def fill(elements, out):  # type: ignore[no-untyped-def]
        for i in range(len(out)):
            out[i] = function(elements[i])

    @numba.njit(nogil=True)
    def one(element):  # type: ignore[no-untyped-def]
        return function(element)

    return fill, one


class QueryLoop:
    """The loop over a user's function, compiled for the type of the elements."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._fill, self._one = _loops(function)

    def values(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        """Return the value at each element."""
        numba = load()
        with compiling("query", _RULE, self._function):
            kind = numba.from_dtype(elements.dtype)
            real = is_real(numba, returned(self._one, (kind,)))
        if not real:
            fail_kind("query", _RULE, self._function)
        out = np.empty(len(elements))
        try:
            self._fill(elements, out)
        except Exception as error:
            fail_kind("query", _RULE, self._function, f" ({type(error).__name__})")
        return out
