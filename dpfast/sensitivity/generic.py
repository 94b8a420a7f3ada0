"""The smooth sensitivity of any statistic, from a function A(k) that the user writes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._kernels import jit
from ..errors import DataError
from .rounding import inflated

#: The number of distances in the first call and in later calls of a compiled function. The first
#: call is short, because the first few distances often decide.
_FEW, _MANY = 16, 4096
_LARGEST = np.finfo(np.float64).max.item()


def smooth_of_function(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    beta: float,
    stop: int | None,
    most: float | None,
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity ``max_k exp(-beta k) A(k)`` for a user's A.

    Beyond `stop`, A(k) counts as `most`, or as A(stop) if `most` is None. The caller has checked
    the arguments.
    """
    best, values = 2.0**-1022, _values(function, args, stop)
    for k in itertools.count() if stop is None else range(stop + 1):
        if _weighted(_LARGEST if most is None else most, beta * k) <= best:
            return inflated(best)
        best = max(best, _weighted(_sound(next(values), most), beta * k))
    if most is not None and stop is not None:
        best = max(best, _weighted(most, beta * (stop + 1)))
    return inflated(best)


def _weighted(amount: float, cost: float) -> float:
    """Return ``amount exp(-cost)`` in two steps, because ``exp(-cost)`` alone may underflow."""
    half = math.exp(-0.5 * cost)
    return amount * half * half


def _sound(value: Any, most: float | None) -> float:
    try:
        number = float(value)
    except Exception:  # objects may raise any error
        number = math.nan
    if not 0 <= number < math.inf or (most is not None and number > most):
        rule = "return finite numbers of at least 0 and at most `most`"
        raise DataError(f"the function A(k) must {rule}, got another value")
    return number


def _values(function: Callable[..., Any], args: tuple[Any, ...], stop: int | None) -> Iterator[Any]:
    """Yield the unchecked A(k) of the user for k = 0, 1, ... up to `stop`, or without end."""
    if jit.is_compiled(function):
        return _compiled(jit.DistanceLoop(function, args), stop)
    return map(lambda k: function(k, *args), itertools.count())


def _compiled(loop: jit.DistanceLoop, stop: int | None) -> Iterator[float]:
    """Yield the A(k) of a compiled function, called for many k at a time."""
    first, size = 0, _FEW
    while True:
        out = np.empty(size if stop is None else min(size, stop + 1 - first))
        loop.fill(first, out)
        yield from out.tolist()
        first, size = first + len(out), _MANY
