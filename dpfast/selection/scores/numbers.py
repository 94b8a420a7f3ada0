"""Exact differences and block maxima of scores, in arrays of NumPy's numbers or of Python's own.

Python's ints, floats and Fractions compare and subtract exactly with each other, at any size. So
the distribution of a draw does not depend on which kind of array holds the scores.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._kernels.selection import ABOVE, INFINITE, NAN, block_peaks

#: Candidates whose scores are handled together: half a megabyte of float64.
CHUNK = 1 << 16


def real(value: Any) -> int | float | Fraction | None:
    """Return a score as a Python number, without loss; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.timedelta64):  # a subclass of NumPy's integers
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
    one, other = (x.item() if isinstance(x, np.generic) else x for x in (best, value))
    return Fraction(one) - Fraction(other)


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
    result may take the place of `values`: fresh memory costs more than the subtraction.
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
    # The difference modulo 2**64 is the difference.
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    top = np.asarray(best, values.dtype)
    below = (top.view(np.uint64) - values.view(np.uint64)).astype(np.float64)
    below[values > top] = -1.0
    return below


def block_maxima(values: NDArray[Any], block: int, out: NDArray[Any]) -> int:
    """Write the largest of each `block` consecutive values to `out`; flags as of `block_peaks`."""
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
