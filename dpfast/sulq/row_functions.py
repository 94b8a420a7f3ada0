"""Functions of a row as exact integers, and the sensitivity of their sums.

A number of the public range [lo, hi] is a cell first + u, u of 0 .. span, of a public grid, so a
sum changes by at most max |cell| when a row comes or goes, and by at most span when one is replaced
(the rows that are summed being public). A vector is cut to the ball of radius r and each of its
k coordinates put on the nearest cell, which moves the vector by at most sqrt(k) / 2 cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from .._kernels.summaries import products
from ..errors import DataError
from ..sources import chunk_dtype
from ..sources.masked import picked
from ..summaries.cells import Cells, nearest
from .rounds import Part

#: Rows whose values are held as float64 at a time.
BLOCK = 1 << 14
#: A vector whose length is below this part of the radius is not cut, however sums are rounded.
SHORT = 1 - 2.0**-20


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows that were read, their place among all rows, and which of them are summed."""

    rows: NDArray[Any]
    start: int
    keep: NDArray[np.bool_] | None = None

    @property
    def count(self) -> int:
        """Number of rows that are summed."""
        return len(self.rows) if self.keep is None else int(np.count_nonzero(self.keep))

    @property
    def own(self) -> NDArray[Any]:
        """The rows that are summed."""
        return self.rows if self.keep is None else kept(self.rows, self.keep)

    def column(self, column: Any) -> NDArray[Any]:
        """Return a column of them as kernels read it; None stands for the only one."""
        if column is None:
            return native(self.own)
        rows = self.rows
        whole = native(rows[column] if rows.dtype.names else rows[:, column])
        return whole if self.keep is None else kept(whole, self.keep)

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the same rows of another column, which must have as many."""
        part = column[self.start : self.start + len(self.rows)]
        if len(part) != len(self.rows):
            raise DataError("f does not have one entry for each row")
        return part if self.keep is None else kept(part, self.keep)

    def blocks(self) -> Sequence[Piece]:
        """Return the same in blocks of few rows."""
        keep = self.keep
        return [
            Piece(
                self.rows[at : at + BLOCK],
                self.start + at,
                None if keep is None else keep[at : at + BLOCK],
            )
            for at in range(0, max(1, len(self.rows)), BLOCK)
        ]


def kept(rows: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the rows that a mask keeps."""
    simple = rows.ndim == 1 and rows.itemsize in (1, 2, 4, 8) and rows.dtype.names is None
    if simple and rows.flags.c_contiguous and rows.flags.aligned:
        return picked(rows, mask, np.empty_like(rows))
    return rows[mask]


#: Some columns of a row by name or number; None for all.
Columns = frozenset[Any] | None

#: No column, for functions that need not look at the row.
NONE: Columns = frozenset()


def union(several: Iterable[Columns]) -> Columns:
    """Return all these columns."""
    columns: Columns = NONE
    for more in several:
        columns = None if columns is None or more is None else columns | more
    return columns


class Function(ABC):
    """The source of the values of a function: a column, compiled code, or a stored column."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers per row."""

    @property
    def columns(self) -> Columns:
        """The columns of a row that it looks at; by default all."""
        return None

    @abstractmethod
    def values(self, piece: Piece) -> NDArray[Any]:
        """Return shape (rows,), in a dtype that kernels read, or (rows, size) in float64."""


class Tallied(Protocol):
    """Integers of a row that can be summed."""

    @property
    def columns(self) -> Columns:
        """The columns of a row that they are computed from."""
        ...

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        """Return the sums for some rows, and how many rows had no value, under ``nan="raise"``."""
        ...


class Exact(ABC):
    """A function whose sums are integers: by default one, between `limits` for each row."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of integers."""

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """The columns of a row that they are computed from."""

    @property
    @abstractmethod
    def limits(self) -> tuple[int, int] | None:
        """The least and the largest integer of a row; None for a vector."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """The value of the integer 1."""

    @abstractmethod
    def tally(self, piece: Piece) -> tuple[list[int], int]:
        """Return the sums for some rows, and how many rows had no value; see `Tallied`."""

    def part(self, neighbors: str) -> Part:
        """Return the sensitivity of the integers."""
        assert self.limits is not None
        least, most = self.limits
        change = most - least if neighbors == "replace" else max(abs(least), abs(most))
        return Part(1, change, change**2, 1)

    def answer(self, sums: list[int]) -> float | NDArray[np.float64]:
        """Return the value of the integers."""
        return nearest(self.unit * sums[0])


def split(numbers: Any, functions: Iterable[Any]) -> Iterator[Any]:
    """Yield the numbers of each of several functions, which stand one after the other."""
    at = 0
    for function in functions:
        yield numbers[at : at + function.size]
        at += function.size


@dataclass(frozen=True, slots=True)
class Count(Exact, Function):
    """1 for each row."""

    size: int = 1
    columns: Columns = NONE

    @property
    def limits(self) -> tuple[int, int]:
        return 1, 1

    @property
    def unit(self) -> Fraction:
        return Fraction(1)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        return [piece.count], 0

    def values(self, piece: Piece) -> NDArray[np.float64]:
        return np.ones(piece.count)


@dataclass(frozen=True, slots=True)
class Number(Exact):
    """A number of each row, clipped to public bounds."""

    function: Function
    lo: float
    hi: float
    cells: Cells
    nan: str | float
    size: int = 1

    @property
    def columns(self) -> Columns:
        return self.function.columns

    @property
    def limits(self) -> tuple[int, int]:
        return self.cells.first, self.cells.last

    @property
    def unit(self) -> Fraction:
        return Fraction(self.cells.grid)

    def _cell(self, value: float) -> int:
        return self.cells.first + self.cells.cell(value)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        values = self.function.values(piece)
        missing, total, squares = self.cells.native.totals(values, self._squared)
        cells = self._sum(len(values) - missing, total, squares)
        value = nan_policy.replacement(self.nan, self.lo, self.hi)
        if isinstance(value, str):  # left out, which is 0: only where rows come and go
            return [cells], missing
        return [cells + missing * self._cell(value)], 0

    @property
    def _squared(self) -> bool:
        return False

    def _sum(self, rows: int, total: int, squares: int) -> int:
        return rows * self.cells.first + total


@dataclass(frozen=True, slots=True)
class Square(Number):
    """The square of a number, clipped before it is squared."""

    @property
    def limits(self) -> tuple[int, int]:
        first, last = self.cells.first, self.cells.last
        least = 0 if first <= 0 <= last else min(first**2, last**2)
        return least, max(first**2, last**2)

    @property
    def unit(self) -> Fraction:
        return Fraction(self.cells.grid) ** 2

    def _cell(self, value: float) -> int:
        return Number._cell(self, value) ** 2

    @property
    def _squared(self) -> bool:
        return True

    def _sum(self, rows: int, total: int, squares: int) -> int:
        first = self.cells.first
        return rows * first**2 + 2 * first * total + squares


@dataclass(frozen=True, slots=True)
class Product(Exact):
    """The product of two numbers, each clipped to its bounds."""

    a: Number
    b: Number
    size: int = 1

    @property
    def columns(self) -> Columns:
        return union([self.a.columns, self.b.columns])

    @property
    def limits(self) -> tuple[int, int]:
        corners = [x * y for x in self.a.limits for y in self.b.limits]
        return min(corners), max(corners)

    @property
    def unit(self) -> Fraction:
        return self.a.unit * self.b.unit

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        total, missing = 0, 0
        for block in piece.blocks():
            (u, none_u), (v, none_v) = _places(self.a, block), _places(self.b, block)
            out = none_u | none_v
            lost = int(np.count_nonzero(out))
            if lost:
                u, v = u[~out], v[~out]
            first, other = self.a.cells.first, self.b.cells.first
            total += (
                len(u) * first * other
                + first * int(v.sum(dtype=np.uint64))
                + other * int(u.sum(dtype=np.uint64))
                + products(u, v)
            )
            missing += lost
        return [total], missing


def _places(number: Number, piece: Piece) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return u of each row, and which rows are to be left out."""
    values = number.function.values(piece)
    places, gone = np.empty(len(values), np.uint32), np.empty(len(values), np.uint8)
    number.cells.native.each(values, places, gone)
    absent: NDArray[np.bool_] = gone.view(np.bool_)
    value = nan_policy.replacement(number.nan, number.lo, number.hi)
    if isinstance(value, str):
        return places, absent
    places[absent] = number.cells.cell(value)
    return places, np.zeros(len(values), np.bool_)


@dataclass(frozen=True, slots=True)
class Vector(Exact):
    """A vector of each row, cut to a ball around 0. One with a NaN is 0, or is refused."""

    function: Function
    radius: float
    nan: str | float
    bits: int = 40

    @property
    def size(self) -> int:
        return self.function.size

    @property
    def columns(self) -> Columns:
        return self.function.columns

    @property
    def grid(self) -> float:
        """The width of a cell."""
        return math.ldexp(1.0, max(math.frexp(self.radius)[1] - 1 - self.bits, -1000))

    @property
    def cells(self) -> int:
        """The largest length of a vector of cells, rounded up.

        Rounding to cells adds sqrt(k) / 2. The length is found, and the vector cut, with a relative
        error of at most (k + 8) 2**-53, which is that part of less than 2**42 cells.
        """
        k = self.size
        within = -(-Fraction(self.radius) // Fraction(self.grid))
        return int(within) + math.isqrt(k) // 2 + 2 + (k + 8 >> 11)

    @property
    def limits(self) -> None:
        return None

    @property
    def unit(self) -> Fraction:
        return Fraction(self.grid)

    def part(self, neighbors: str) -> Part:
        most = self.cells * (2 if neighbors == "replace" else 1)
        return Part(self.size, most * (math.isqrt(self.size - 1) + 1), most**2, self.size)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        sums, missing = [0] * self.size, 0
        for block in piece.blocks():
            values = self.function.values(block).reshape(-1, self.size)
            whole, lost = cut(values, self.radius, self.grid)
            sums = [a + int(b) for a, b in zip(sums, whole.sum(axis=0), strict=True)]
            missing += lost
        return sums, missing if self.nan == "raise" else 0

    def answer(self, sums: list[int]) -> NDArray[np.float64]:
        return np.array([nearest(self.unit * x) for x in sums])


def cut(values: NDArray[Any], radius: float, grid: float) -> tuple[NDArray[np.int64], int]:
    """Return cells of vectors, each cut to the radius, and how many had a NaN, which are 0."""
    x, absent = shortened(values, radius)
    x /= grid
    return np.rint(x, out=x).astype(np.int64), int(np.count_nonzero(absent))


def shortened(values: NDArray[Any], radius: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return vectors, each cut to the radius, and which had a NaN; these are 0.

    Every step is one rounded operation on each number, column by column, so that nothing of a row
    depends on where it stands. Columns lie one after the other.
    """
    x = np.array(values, np.float64, order="F")
    most, buffer = np.zeros(len(x)), np.empty(len(x))
    for column in x.T:
        np.maximum(most, np.abs(column, out=buffer), out=most)  # NaN for a row with one
    absent: NDArray[np.bool_] = np.isnan(most)
    if absent.any():
        x[absent] = most[absent] = 0.0
    largest = np.finfo(np.float64).max
    top = float(most.max(initial=0.0))
    if top > largest:
        np.clip(x, -largest, largest, out=x)
        np.minimum(most, largest, out=most)
    if top * math.sqrt(x.shape[1]) < radius * SHORT:
        return x, absent
    unit, length = np.where(most > 0, most, 1.0), np.zeros(len(x))
    for column in x.T:
        np.divide(column, unit, out=buffer)
        length += np.multiply(buffer, buffer, out=buffer)
    length = np.sqrt(length)
    with np.errstate(over="ignore"):
        long = np.flatnonzero(length * most > radius)
    if long.size:
        unit, factor = unit[long], radius / length[long]
        for column in x.T:
            column[long] = column[long] / unit * factor
    return x, absent


@dataclass(frozen=True, slots=True)
class Joint(Function):
    """Several functions side by side, as one vector."""

    functions: tuple[Function, ...]

    @property
    def size(self) -> int:
        return sum(function.size for function in self.functions)

    @property
    def columns(self) -> Columns:
        return union(function.columns for function in self.functions)

    def values(self, piece: Piece) -> NDArray[np.float64]:
        rows = np.empty((self.size, piece.count))
        for part, function in zip(split(rows, self.functions), self.functions, strict=True):
            part[...] = function.values(piece).T
        return rows.T


def shared(parts: Sequence[Part]) -> list[Part]:
    """Give equal shares to the parts that change, so noise is in proportion to the sensitivity."""
    changing = sum(1 for part in parts if part.l1)
    return [replace(part, share=Fraction(1, max(1, changing))) for part in parts]


def told(holds: NDArray[np.bool_], columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return 1 where something holds, and NaN where one of the columns that were read is NaN."""
    absent = [np.isnan(column) for column in columns if column.dtype.kind == "f"]
    if not any(missing.any() for missing in absent):
        return holds.view(np.uint8)
    values = holds.astype(np.float64)
    values[np.logical_or.reduce(absent)] = np.nan
    return values


def native(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers as kernels read them."""
    return np.ascontiguousarray(values, chunk_dtype(values.dtype))
