"""One call of a user's function, and what counts as an answer.

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
    """Write the function's answer about a block of rows to `row`; NaN where there is none.

    The function gets a copy of its own, to write to, sort and keep. Whatever it raises, or having
    no memory for the copy, means that there is no answer, so that the data cannot decide about an
    error; only `KeyboardInterrupt` passes on.
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
    """What a function returned, as float64: a number for `d` = 1, or an array of shape (d,).

    Real numbers of Python (`Decimal` and `Fraction` too) and NumPy are taken, and whatever
    `np.asarray` makes an array of them, if it holds `d` numbers along one axis at most: axes of
    length 1 do not count, so a matrix of one row is a vector. Masked is NaN. There is nothing here
    that an answer could be guessed from: text, complex numbers, dates and None are none.

    Raises
    ------
    Exception
        Of any kind, if it is no answer.
    """
    if isinstance(value, np.ma.MaskedArray):  # np.asarray would show what lies under the mask
        value = np.ma.filled(value.astype(np.float64), np.nan)
    if isinstance(value, (numbers.Real, Decimal)):
        if d != 1:
            raise ValueError
        return float(value)
    found = np.asarray(value)
    if found.size != d or max(found.shape, default=1) != d:
        raise ValueError
    found = found.reshape(d)
    if found.dtype.kind in "biuf":
        return found.astype(np.float64)
    if found.dtype.kind != "O" or not all(isinstance(v, (numbers.Real, Decimal)) for v in found):
        raise TypeError
    return [float(v) for v in found]
