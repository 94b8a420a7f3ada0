"""Functions of a row as exact integers, and by how much a row moves their sums.

A number of the public range [lo, hi] is a cell first + u, u of 0 .. span, of a public grid, so a
sum moves by at most max |cell| when a row comes or goes, and by at most span when one is replaced
(the rows that are summed being public). A vector is cut to the ball of radius r and each of its
k coordinates put on the nearest cell, which moves it by at most sqrt(k) / 2 cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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
    """Some rows that were read, where they stand among all rows, and which of them are summed."""

    rows: NDArray[Any]
    start: int
    keep: NDArray[np.bool_] | None = None

    @property
    def count(self) -> int:
        """How many are summed."""
        return len(self.rows) if self.keep is None else int(np.count_nonzero(self.keep))

    @property
    def own(self) -> NDArray[Any]:
        """Those that are summed."""
        return self.rows if self.keep is None else kept(self.rows, self.keep)

    def column(self, column: Any) -> NDArray[Any]:
        """One of their columns as kernels read it; None if they have no more."""
        if column is None:
            return native(self.own)
        rows = self.rows
        whole = native(rows[column] if rows.dtype.names else rows[:, column])
        return whole if self.keep is None else kept(whole, self.keep)

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """The same rows of another column, which has as many."""
        own = column[self.start : self.start + len(self.rows)]
        if len(own) != len(self.rows):
            raise DataError("f must have one entry for each row, and has not")
        return own if self.keep is None else kept(own, self.keep)

    def blocks(self) -> Sequence[Piece]:
        """The same in stretches of few rows."""
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
    """The rows that a mask keeps."""
    simple = rows.ndim == 1 and rows.itemsize in (1, 2, 4, 8) and rows.dtype.names is None
    if simple and rows.flags.c_contiguous and rows.flags.aligned:
        return picked(rows, mask, np.empty_like(rows))
    return rows[mask]


#: Some columns of a row by name or number; None for all.
Columns = frozenset[Any] | None

#: No column: of functions that need not look at the row.
NONE: Columns = frozenset()


def union(several: Iterable[Columns]) -> Columns:
    """All these columns."""
    found = list(several)
    return None if None in found else frozenset().union(*(own for own in found if own is not None))


class Function(Protocol):
    """Where the values of a function come from: a column, a compiled function, a stored column."""

    @property
    def size(self) -> int:
        """Numbers a row."""
        ...

    @property
    def columns(self) -> Columns:
        """Which columns of a row it looks at."""
        ...

    def values(self, piece: Piece) -> NDArray[Any]:
        """Of shape (rows,), in a dtype that kernels read, or (rows, size) in float64."""
        ...


class RowFunction(ABC):
    """A `Function` that learners of this library ask about; it looks at each row by itself."""

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    def columns(self) -> Columns:
        """Which columns it looks at; by default all."""
        return None

    @abstractmethod
    def values(self, piece: Piece) -> NDArray[Any]: ...


class Tallied(Protocol):
    """Integers of a row that can be summed."""

    @property
    def columns(self) -> Columns:
        """Which columns of a row they are made of."""
        ...

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        """The integers for some rows, and how many rows had no value, under ``nan="raise"``."""
        ...


class Exact(Tallied, Protocol):
    """A function whose sums are integers."""

    @property
    def size(self) -> int:
        """How many integers."""
        ...

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the largest integer of a row; None for a vector."""
        ...

    @property
    def unit(self) -> Fraction:
        """What an integer of 1 stands for."""
        ...

    def part(self, neighbors: str) -> Part:
        """By how much a neighbour moves them."""
        ...

    def answer(self, found: list[int]) -> float | NDArray[np.float64]:
        """What the integers stand for."""
        ...


def _one(least: int, most: int, neighbors: str) -> Part:
    """A sum of integers between `least` and `most`."""
    move = most - least if neighbors == "replace" else max(abs(least), abs(most))
    return Part(1, move, move**2, 1)


@dataclass(frozen=True, slots=True)
class Count:
    """1 for each row."""

    size: int = 1
    columns: Columns = NONE

    @property
    def limits(self) -> tuple[int, int]:
        return 1, 1

    @property
    def unit(self) -> Fraction:
        return Fraction(1)

    def part(self, neighbors: str) -> Part:
        return _one(*self.limits, neighbors)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        return [piece.count], 0

    def values(self, piece: Piece) -> NDArray[np.float64]:
        return np.ones(piece.count)

    def answer(self, found: list[int]) -> float:
        return float(found[0])


@dataclass(frozen=True, slots=True)
class Number:
    """A number a row, clipped to public bounds."""

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

    def part(self, neighbors: str) -> Part:
        return _one(*self.limits, neighbors)

    def _cell(self, value: float) -> int:
        return self.cells.first + self.cells.cell(value)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        values = self.function.values(piece)
        missing, total, squares = self.cells.native.totals(values, self._squares)
        found = self._sum(len(values) - missing, total, squares)
        value = nan_policy.replacement(self.nan, self.lo, self.hi)
        if isinstance(value, str):  # left out, which is 0: only where rows come and go
            return [found], missing
        return [found + missing * self._cell(value)], 0

    @property
    def _squares(self) -> bool:
        return False

    def _sum(self, rows: int, total: int, squares: int) -> int:
        return rows * self.cells.first + total

    def answer(self, found: list[int]) -> float:
        return nearest(self.unit * found[0])


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
    def _squares(self) -> bool:
        return True

    def _sum(self, rows: int, total: int, squares: int) -> int:
        first = self.cells.first
        return rows * first**2 + 2 * first * total + squares


@dataclass(frozen=True, slots=True)
class Product:
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

    def part(self, neighbors: str) -> Part:
        return _one(*self.limits, neighbors)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        found, missing = 0, 0
        for block in piece.blocks():
            (u, none_u), (v, none_v) = (_places(one, block) for one in (self.a, self.b))
            out = none_u | none_v
            lost = int(np.count_nonzero(out))
            if lost:
                u, v = u[~out], v[~out]
            first, other = self.a.cells.first, self.b.cells.first
            found += (
                len(u) * first * other
                + first * int(v.sum(dtype=np.uint64))
                + other * int(u.sum(dtype=np.uint64))
                + products(u, v)
            )
            missing += lost
        return [found], missing

    def answer(self, found: list[int]) -> float:
        return nearest(self.unit * found[0])


def _places(one: Number, piece: Piece) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """u of each row, and which rows are to be left out."""
    values = one.function.values(piece)
    places, gone = np.empty(len(values), np.uint32), np.empty(len(values), np.uint8)
    one.cells.native.each(values, places, gone)
    absent: NDArray[np.bool_] = gone.view(np.bool_)
    value = nan_policy.replacement(one.nan, one.lo, one.hi)
    if isinstance(value, str):
        return places, absent
    places[absent] = one.cells.cell(value)
    return places, np.zeros(len(values), np.bool_)


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector a row, cut to a ball around 0. One with a NaN is 0, or is refused."""

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
        found, missing = [0] * self.size, 0
        for block in piece.blocks():
            values = self.function.values(block).reshape(-1, self.size)
            whole, lost = cut(values, self.radius, self.grid)
            found = [a + int(b) for a, b in zip(found, whole.sum(axis=0), strict=True)]
            missing += lost
        return found, missing if self.nan == "raise" else 0

    def answer(self, found: list[int]) -> NDArray[np.float64]:
        return np.array([nearest(self.unit * x) for x in found])


def cut(values: NDArray[Any], radius: float, grid: float) -> tuple[NDArray[np.int64], int]:
    """Cells of vectors, each no longer than the radius, and how many had a NaN, which are 0."""
    x, absent = shortened(values, radius)
    x /= grid
    return np.rint(x, out=x).astype(np.int64), int(np.count_nonzero(absent))


def shortened(values: NDArray[Any], radius: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Vectors, each cut to the radius, and which had a NaN, which are 0.

    Every step is one rounded operation on each number, column by column, so that nothing of a row
    depends on where it stands. Columns lie one after the other.
    """
    x = np.array(values, np.float64, order="F")
    most, one = np.zeros(len(x)), np.empty(len(x))
    for column in x.T:
        np.maximum(most, np.abs(column, out=one), out=most)  # NaN for a row with one
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
        np.divide(column, unit, out=one)
        length += np.multiply(one, one, out=one)
    length = np.sqrt(length)
    with np.errstate(over="ignore"):
        long = np.flatnonzero(length * most > radius)
    if long.size:
        unit, factor = unit[long], radius / length[long]
        for column in x.T:
            column[long] = column[long] / unit * factor
    return x, absent


@dataclass(frozen=True, slots=True)
class Joint:
    """Several functions side by side, as one vector."""

    functions: tuple[Function, ...]

    @property
    def size(self) -> int:
        return sum(one.size for one in self.functions)

    @property
    def columns(self) -> Columns:
        return union(one.columns for one in self.functions)

    def values(self, piece: Piece) -> NDArray[np.float64]:
        found, at = np.empty((self.size, piece.count)), 0
        for one in self.functions:
            found[at : at + one.size] = one.values(piece).T
            at += one.size
        return found.T


def shared(parts: Sequence[Part]) -> list[Part]:
    """Equal shares for the parts that move: noise of each in proportion to what moves it."""
    moving = sum(1 for part in parts if part.l1)
    return [replace(part, share=Fraction(1, max(1, moving))) for part in parts]


def told(holds: NDArray[np.bool_], columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """1 where something holds, NaN where one of the columns is that it was seen in."""
    absent = [np.isnan(column) for column in columns if column.dtype.kind == "f"]
    if not any(one.any() for one in absent):
        return holds.view(np.uint8)
    found = holds.astype(np.float64)
    found[np.logical_or.reduce(absent)] = np.nan
    return found


def native(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers as kernels read them."""
    return np.ascontiguousarray(values, chunk_dtype(values.dtype))
