"""Ranks of a column of a database: the database counts rows, and only few numbers leave it.

A first statement counts the rows on each of a few thousand cells. The next statement divides the
cell with the target rank into cells and counts again, and so on. When only few rows are left in a
cell, their numbers are read with their counts.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..tables.sql.counts import SqlNumbers
from .floyd_rivest import Target
from .order_statistics import KnownRanks, Multiset

#: The most cells that one SQL statement counts.
CELLS = 4096
#: Numbers of an interval are read one by one if it has at most this many rows or possible numbers.
FEW = 40_000
#: The log2 of the narrowest cell: half of its width is still a float64.
NARROWEST = -1073

#: The first number, the last number and the number of rows of each interval.
Intervals: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


class CountedRanks:
    """The number of rows of a column in each of several ascending intervals, which hold all rows.

    An interval includes both ends. They are equal if all rows of the interval have one number.
    """

    dtype = np.dtype(np.float64)
    length = None

    def __init__(self, column: SqlNumbers) -> None:
        self._column = column
        self._first, self._last = np.array([column.lo]), np.array([column.hi])
        self._missing: int | None = None

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """The number of rows in each interval."""
        first, last = float(self._first[0]), float(self._last[0])
        self._first, self._last, counts = self._parts(first, last, self._is_short(first, last))
        return counts

    def known_ranks(self, target: Target) -> KnownRanks:
        """Return the order statistics of a target's ranks, by statements that divide intervals."""
        n = int(self._counts.sum())
        ends = np.array(target.ends(n))
        while True:
            upto = np.cumsum(self._counts)
            i, j = np.searchsorted(upto, ends).tolist()
            wide = np.flatnonzero(self._first[i : j + 1] < self._last[i : j + 1]) + i
            if not len(wide):
                break
            most = int(wide[np.argmax(self._counts[wide])])
            if self._counts[most] > FEW:
                self._divide(most)
            else:
                self._read(int(wide[0]), int(wide[-1]) + 1)
        values = Multiset(self._first[i : j + 1], self._counts[i : j + 1])
        below = int(upto[i - 1]) if i else 0
        return KnownRanks([values], below, n, self._missing or 0, self.dtype)

    def less(self, value: float) -> int:
        """Count the rows below `value`."""
        counts = self._counts
        i = int(np.searchsorted(self._last, value))
        below = int(counts[:i].sum())
        if i == len(counts) or value <= self._first[i]:
            return below
        before = math.nextafter(value, -math.inf)
        rows, _, _ = self._column.between(float(self._first[i]), before)
        ends = np.array([self._first[i], value]), np.array([before, self._last[i]])
        self._replace(i, i + 1, (*ends, np.array([rows, counts[i] - rows])))
        return below + rows

    def _divide(self, i: int) -> None:
        """Split interval `i` into cells between its least and largest row, and count their rows."""
        rows, first, last = self._column.between(float(self._first[i]), float(self._last[i]))
        if not rows:
            refuse_change()
        self._replace(i, i + 1, self._parts(first, last, self._is_short(first, last)))

    def _read(self, i: int, j: int) -> None:
        """Count the rows of each number in the intervals i .. j - 1."""
        self._replace(i, j, self._parts(float(self._first[i]), float(self._last[j - 1]), True))

    def _is_short(self, first: float, last: float) -> bool:
        """Tell whether an interval has so few possible numbers that each can be counted."""
        nearest = min(abs(first), abs(last))
        return bool(last - first <= FEW * (1 if self._column.is_whole else np.spacing(nearest)))

    def _parts(self, first: float, last: float, is_exact: bool) -> Intervals:
        """Return the counted parts of an interval: its numbers if `is_exact`, else cells."""
        step = 0.0 if is_exact else width(first, last)
        numbers, counts = self._column.counts(first, last, step)
        is_number = numbers == numbers
        if self._missing is None:
            self._missing = int(counts[~is_number].sum())
        numbers, counts = numbers[is_number], counts[is_number]
        if not step:
            return numbers, numbers, counts
        # A value halfway between two multiples is rounded to the even one, so the cell of an even
        # multiple includes both ends.
        is_odd = np.mod(numbers / step, 2) != 0
        lowest, highest = numbers - step / 2, numbers + step / 2
        lowest[is_odd] = np.nextafter(lowest[is_odd], math.inf)
        highest[is_odd] = np.nextafter(highest[is_odd], -math.inf)
        return np.maximum(lowest, first), np.minimum(highest, last), counts

    def _replace(self, i: int, j: int, parts: Intervals) -> None:
        """Replace the intervals i .. j - 1 by their parts."""
        first, last, counts = parts
        if counts.sum() != self._counts[i:j].sum() or (counts < 0).any():
            refuse_change()

        def put(whole: NDArray[Any], parts: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([whole[:i], parts, whole[j:]])

        self._first, self._last = put(self._first, first), put(self._last, last)
        self._counts = put(self._counts, counts)


def width(first: float, last: float) -> float:
    """Return the width, a power of two, of the few thousand cells between two numbers.

    The width is large enough that float64 rounds a number plus 1.5 2**52 times the width to a
    multiple of the width.
    """
    exponents = (math.frexp((last - first) / CELLS)[1], math.frexp(max(-first, last))[1] - 51)
    return math.ldexp(1.0, max(*exponents, NARROWEST))


def refuse_change() -> NoReturn:
    """Raise the error of rows that changed between two statements."""
    raise DataError("the rows changed between two statements: query a table that does not change")
