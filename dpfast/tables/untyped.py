"""Read Python objects without a dtype, each by itself.

A list, a tuple, a deque or an array of objects has no declared type. A common type of all rows
would be a fact about the rows: one None among integers would change how all other integers are
read. So each row is read by itself. A real number is read as the nearest float64 (infinite if the
number is too large), and None is missing. Any other object is a `DataError` in the pass. Integers
beyond 2**53 are read exactly only from data with a dtype.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import DataError

#: Types that NumPy converts as `number` does, but all at once and without calling any methods.
PLAIN = frozenset(
    [int, float, bool, type(None), np.bool_, np.float16, np.float32, np.float64]
    + [np.dtype(f"{kind}{size}").type for kind in "iu" for size in (1, 2, 4, 8)]
)
#: The types of the missing values of NumPy and pandas, by name, because pandas may not be
#: installed.
MISSING = ("NAType", "NaTType", "MaskedConstant")


def fill_numbers(some: Sequence[Any], out: NDArray[np.float64]) -> None:
    """Write the numbers of some Python objects to `out`, NaN for missing ones."""
    if PLAIN.issuperset(map(type, some)):
        try:
            with np.errstate(invalid="ignore"):  # a signaling NaN causes no warning
                out[...] = np.array(some, np.float64)
            return
        except OverflowError:  # an integer that is too large for float64
            pass
    out[...] = [_number(value) for value in some]


def truths(some: Sequence[Any]) -> NDArray[np.bool_]:
    """Return a mask of the Python objects that are numbers other than 0.

    An object that is missing, or is not a number, is False in the mask. It is not an error.
    """
    values = np.empty(len(some))
    if PLAIN.issuperset(map(type, some)):
        fill_numbers(some, values)
    else:
        numbers = map(_or_none, some)
        values[...] = [math.nan if number is None else number for number in numbers]
    return abs(values) > 0


def _number(cell: Any) -> float:
    value = _or_none(cell)
    return refuse() if value is None else value


def _or_none(value: Any) -> float | None:
    """Return a Python object as a number, NaN if it is missing; None if it is no number."""
    if is_missing(value):
        return math.nan
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return float(value) if isinstance(value, (bool, np.bool_)) else checks.real(value)


def is_missing(value: Any, or_nan: bool = False) -> bool:
    is_nan = or_nan and isinstance(value, float) and math.isnan(value)
    return value is None or type(value).__name__ in MISSING or is_nan


def refuse() -> NoReturn:
    raise DataError(
        "data without a dtype, such as a list, must hold real numbers, or None for a missing one, "
        "but do not (for several columns, pass an array or a table)"
    )
