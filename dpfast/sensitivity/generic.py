"""The smooth sensitivity of any statistic, from the user's own A(k)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._core import checks
from .._core.types import Number
from .._kernels import jit
from ..errors import DataError
from .rounding import inflated

#: Distances that a compiled function is called for at a time: the first few often decide.
_FEW, _MANY = 16, 4096
_LARGEST = np.finfo(np.float64).max.item()


def smooth(
    local_at_distance: Callable[..., Number],
    *args: Any,
    beta: Number,
    stop: int | None = None,
    most: Number | None = None,
) -> float:
    """NOT PRIVATE. Return the largest of ``exp(-beta k) A(k)`` for your own local sensitivity A.

    Noise scaled to it is private only if you have proved two properties of `local_at_distance`, for
    all neighbors x, x' and every k. Nothing here can check them:

    1. ``A_x(0)`` is at least the local sensitivity of the statistic at x;
    2. ``A_x(k) <= A_x'(k + 1)``.

    Both hold for the largest local sensitivity within k changed rows, for bounds of the form "the
    largest of g(y) over all datasets y within k changed rows", and for their sums. The floats that
    the function returns must not be below the proved numbers: round up, by a factor that is the
    same for all data.

    Parameters
    ----------
    local_at_distance : callable
        ``A(k, *args)``, a number of at least 0, in the units of the statistic. A plain function, or
        one compiled by Numba; the loop is then compiled too.
    args
        Passed to the function: arrays and numbers for a compiled one.
    beta : float
        Smoothness, above 0: the result changes by a factor of at most ``exp(beta)`` for one row.
    stop : int, optional
        Public: the function is called for k = 0 .. `stop`. Without `most`, you promise that
        ``A(k) = A(stop)`` for all larger k, for any data (if n rows are replaced, n is such a
        distance).
    most : float, optional
        Public: no A(k) is above it for any data, as no local sensitivity is above the global one.
        Distances that can no longer win are skipped, and beyond `stop` it counts as A(k). Give
        `stop` or `most`.

    Returns
    -------
    float
        At least the largest of ``exp(-beta k) A(k)`` and at most ``1 + 2**-41`` times it, and at
        least ``2**-1022``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        If an A(k) is not a number, NaN, negative, infinite or above `most`.

    Notes
    -----
    Cost: one call a distance. Without `most` the function is called for all distances up to `stop`;
    with it, for those up to ``ln(most / S) / beta``. That depends on the data, and so does the
    time.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007, section 3.

    Examples
    --------
    The number v of the 100 rows above 5, times the number of the others:

    >>> import dpfast as dp
    >>> above = 70
    >>> def A(k):  # one row changes v (100 - v) by at most |100 - 2 v| + 1
    ...     return min(abs(100 - 2 * above) + 2 * k + 1, 101)
    >>> round(dp.sensitivity.smooth(A, beta=0.1, most=101), 2)
    41.0
    """
    smoothness = checks.positive("beta", beta)
    if not callable(local_at_distance):
        checks.fail_type("local_at_distance", "a function A(k, *args)", local_at_distance)
    last = None if stop is None else checks.whole("stop", stop)
    limit = None if most is None else checks.number("most", most)
    if limit is not None and limit < 0:
        checks.fail("most", "a finite number of at least 0", most)
    if last is None and limit is None:
        checks.fail("stop", "given (or most), so that the search ends", stop)
    best = 2.0**-1022
    for k, value in enumerate(_values(local_at_distance, args, last)):
        if _weighted(_LARGEST if limit is None else limit, smoothness * k) <= best:
            return inflated(best)
        best = max(best, _weighted(_sound(value(), limit), smoothness * k))
    if limit is not None and last is not None:
        best = max(best, _weighted(limit, smoothness * (last + 1)))
    return inflated(best)


def _weighted(amount: float, cost: float) -> float:
    """Return ``amount exp(-cost)`` in two steps, since the weight alone may underflow."""
    half = math.exp(-0.5 * cost)
    return amount * half * half


def _sound(value: Any, most: float | None) -> float:
    try:
        number = float(value)
    except Exception:  # objects may raise anything
        number = math.nan
    if not 0 <= number < math.inf or (most is not None and number > most):
        rule = "return finite numbers of at least 0 and at most `most`"
        raise DataError(f"local_at_distance must {rule}, got another value")
    return number


def _values(
    function: Callable[..., Any], args: tuple[Any, ...], stop: int | None
) -> Iterator[Callable[[], Any]]:
    """Yield functions that return A(k), for k = 0, 1, ... up to `stop`."""
    if not jit.is_compiled(function):
        k = 0
        while stop is None or k <= stop:
            yield lambda k=k: function(k, *args)  # type: ignore[misc]
            k += 1
        return
    loop = jit.DistanceLoop(function, args)
    first, size = 0, _FEW
    while stop is None or first <= stop:
        out = np.empty(size if stop is None else min(size, stop + 1 - first))
        loop.fill(first, out)
        yield from ((lambda x=x: x) for x in out.tolist())
        first, size = first + len(out), _MANY
