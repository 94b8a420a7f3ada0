"""Python sequences whose rows have no common type that NumPy would take for numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import DataError
from ._base import Chunk, RandomWords

__all__ = ["RowsSource"]

S = TypeVar("S")


class RowsSource:
    """A list or tuple, read row by row as float64 and only when it is reduced.

    Whether a row is None, or an integer beyond every dtype, is a fact about that row, so it must
    not decide anything before the budget is spent: None is null, a number too large for float64 is
    infinite (and clipped like one), and any other object is a `DataError` in the pass. Only a
    sequence without a single number, which is a column of something else, is refused beforehand.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, rows: Sequence[Any], name: str = "data") -> None:
        if rows and not any(row is None or _number(row) for row in rows):
            _check.fail_kind(name, "a one-dimensional sequence of numbers", rows)
        self.rows = rows
        self.length: int = len(rows)
        self.nulls: int | None = None

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        present = np.array([row is not None for row in self.rows], np.bool_)
        values = np.array([_float(row) for row in self.rows if row is not None], np.float64)
        nulls = self.length - len(values)
        return summarise(Chunk(values, 0, nulls, present if nulls else None))

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return None


def _number(row: Any) -> bool:
    return isinstance(row, (numbers.Real, Decimal))


def _float(row: Any) -> float:
    if not _number(row):
        raise DataError(
            "data must hold real numbers, or None for a missing row, and do not. This answer "
            "depends on the data: what was spent stays spent"
        )
    try:
        return float(row)
    except OverflowError:
        return math.inf if row > 0 else -math.inf
    except ValueError:  # a signalling Decimal NaN
        return math.nan
