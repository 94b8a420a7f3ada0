"""One call of a user's function, and the definition of an answer.

A worker process loads this file by itself, without the rest of the package.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


def attempt(function: Callable[[Any], Any], block: NDArray[Any], row: NDArray[np.float64]) -> None:
    """Write the function's answer for a block of rows to `row`; NaN if there is no valid answer.

    The function gets a copy of the block, which it may modify, sort and keep. If it raises an
    error, or if there is no memory for the copy, there is no answer. So no error depends on the
    data. Only `KeyboardInterrupt` is passed on.
    """
    try:
        value = function(block.copy())
        if isinstance(value, float) and len(row) == 1:
            row[0] = value
        else:
            row[:] = answer(value, len(row))
    except KeyboardInterrupt:
        raise
    except BaseException:
        row[:] = np.nan


def answer(value: Any, d: int) -> Any:
    """Return a function's result as float64: a number for `d` = 1, or an array of shape (d,).

    Real numbers of Python (including `Decimal` and `Fraction`) and of NumPy are accepted, and
    anything that `np.asarray` converts to an array of `d` numbers along at most one axis. Axes of
    length 1 do not count, so a matrix of one row is a vector. A masked number is NaN. Text, complex
    numbers, dates and None are refused.

    Raises
    ------
    Exception
        Any exception, if `value` is not an answer.
    """
    if isinstance(value, np.ma.MaskedArray):  # np.asarray would reveal the values under the mask
        value = np.ma.filled(value.astype(np.float64), np.nan)
    if isinstance(value, (numbers.Real, Decimal)):
        if d != 1:
            raise ValueError
        return float(value)
    array = np.asarray(value)
    if array.size != d or max(array.shape, default=1) != d:
        raise ValueError
    array = array.reshape(d)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind != "O" or not all(isinstance(v, (numbers.Real, Decimal)) for v in array):
        raise TypeError
    return [float(v) for v in array]
