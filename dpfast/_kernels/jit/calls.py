"""Compiled loops of a user's function over many numbers.

The function is a local sensitivity at successive distances, or a query at the elements of a
universe.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .numba import REMEMBERED, compiling, is_real, load, returned

_DISTANCES = "a function compiled by Numba that takes (k, *args) and returns a real number"
_QUERY = "a function compiled by Numba that takes one element and returns a real number"


@functools.lru_cache(maxsize=REMEMBERED)
def _distance_loops(function: Any) -> tuple[Any, Any]:
    """Return the compiled loop over distances, and one call, whose answer has the type to infer."""
    numba = load()

    @numba.njit(nogil=True)
    def fill(first, out, args):  # type: ignore[no-untyped-def]
        for t in range(len(out)):
            out[t] = function(first + t, *args)

    @numba.njit(nogil=True)
    def call(first, args):  # type: ignore[no-untyped-def]
        return function(first, *args)

    return fill, call


@functools.lru_cache(maxsize=REMEMBERED)
def _query_loops(function: Any) -> tuple[Any, Any]:
    """Return the compiled loop over elements, and one call, whose answer has the type to infer."""
    numba = load()

    @numba.njit(nogil=True)
    def fill(elements, out):  # type: ignore[no-untyped-def]
        for i in range(len(out)):
            out[i] = function(elements[i])

    @numba.njit(nogil=True)
    def call(element):  # type: ignore[no-untyped-def]
        return function(element)

    return fill, call


def _expect_real(
    name: str, rule: str, function: Any, compiled: Any, kinds: Callable[[Any], tuple[Any, ...]]
) -> None:
    """Refuse a function that does not return a real number for arguments of some types."""
    numba = load()
    with compiling(name, rule, function):
        real = is_real(numba, returned(compiled, kinds(numba)))
    if not real:
        fail_kind(name, rule, function)


class DistanceLoop:
    """The loop of a local sensitivity over distances, compiled for the types of its arguments."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self._args = args
        self._fill, compiled = _distance_loops(function)
        _expect_real(
            "statistic",
            _DISTANCES,
            function,
            compiled,
            lambda numba: (numba.typeof(0), numba.typeof(args)),
        )

    def fill(self, first: int, out: NDArray[np.float64]) -> None:
        """Fill `out` with the local sensitivities ``A(first), A(first + 1), ...``."""
        self._fill(first, out, self._args)


class QueryLoop:
    """The loop of a query over the elements of a universe, compiled for their type."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._fill, self._single_call = _query_loops(function)

    def values(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        """Return the value of the query at each element."""
        function, kind = self._function, elements.dtype
        _expect_real(
            "query", _QUERY, function, self._single_call, lambda numba: (numba.from_dtype(kind),)
        )
        out = np.empty(len(elements))
        try:
            self._fill(elements, out)
        except Exception as error:
            fail_kind("query", _QUERY, function, f" ({type(error).__name__})")
        return out
