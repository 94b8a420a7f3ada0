"""Exact sums of each class in each column, and their sensitivity: what naive Bayes asks for.

A row of class c adds 1 to the count of c, and for each column to sums of c alone.

*A column of numbers.* Let z be the distance of a cell from the public middle, |z| <= h. Released
are the sums of h z and of h^2 - z^2, with noise of one scale. For t = z / h their squares are h^4
times t^2 + (1 - t^2)^2 = 1 - t^2 (1 - t^2) <= 1: means and variances of a column cost no more than
one of the two alone (released as z^2, they would cost 2). In size, |t| + 1 - t^2 <= 5 / 4. A row
that is replaced changes them, within a class, by a = t - t' and a b, b = t + t', |a| + |b| <= 2: in
square by a^2 (1 + b^2), at most 4, for a^2 (1 + (2 - a)^2) never falls; in size by at most
a (3 - a) <= 9 / 4. Between two classes, by 2 and by 5 / 2.

*A column of categories.* 1 for the value in the class: 1 or, replaced, 2 of these numbers change.

*How the round is shared.* Columns have equal parts of it; counts, as in k-means, about
1 / (1 + 2 sqrt(d)) or more. Where rows are replaced and noise is Gaussian, a column of numbers uses
all of its part within a class, where counts do not change, and half of it between two. So counts
have what the columns leave between two classes; if all are of numbers, half of the round for
nothing. (Rounding down, for integers too large for the samplers, changes four numbers by 1 each, 2
in the L2 norm; half of a part covers it for two classes if the whole has room for 2 sqrt(2).)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import sulq as cross
from .._kernels.statistics import tally
from .._kernels.sulq import class_totals as by_class
from ..privacy import Loss, Pure
from ..statistics.histogram import Bins, categories_of
from ..summaries.cells import cells
from .categories import BLOCK, Classes, Coder, Columns, attributes
from .labeled_rows import LabeledRows, Piece
from .rounds import Part
from .row_matrices import expect_size, nan_fills

#: Bits of the number of cells of a column. The square of a cell then has at most 40, and the sum of
#: BLOCK of them at most 52, so it is exact in float64.
BITS = 20
#: Rows whose sums of squares stay in 64 bits.
MOST = 1 << 22


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers within public bounds: cells `first` .. `last`, counted from `middle`.

    `reach` is h, the largest distance of a cell from the middle.
    """

    bounds: tuple[float, float]
    grid: float
    first: int
    last: int
    middle: int
    reach: int


def columns_of(bounds: Any, categories: Any) -> Columns[NumberColumn | Bins]:
    """Return public facts about the columns: bounds of some, categories of the others."""
    if categories is None:
        pairs, several = checks.pairs(bounds)
        return Columns([_number(pair, bounds) for pair in pairs], several, "bounds")
    if bounds is None:
        return attributes(None, None, categories)
    return Columns(_mixed(bounds, categories), True, "bounds")


def _number(pair: tuple[float, float], given: Any) -> NumberColumn:
    expect_size([pair], 500, "bounds", given)  # squares are numbers
    grid = cells(*pair, BITS - 1)
    middle = (grid.first + grid.last) // 2
    return NumberColumn(pair, grid.grid, grid.first, grid.last, middle, grid.last - middle)


def _mixed(bounds: Any, categories: Any) -> list[NumberColumn | Bins]:
    rule = "for each column a pair, or None where it has categories"
    try:
        each = list(zip(bounds, categories, strict=True))
    except Exception:  # one is longer, or whatever an object thinks of being a sequence
        checks.fail("bounds", rule, bounds)
    columns: list[NumberColumn | Bins] = []
    for j, (pair, listed) in enumerate(each):
        if (pair is None) == (listed is None):
            checks.fail("bounds", rule, bounds)
        if listed is None:
            columns.append(_number(checks.bounds(pair, f"bounds[{j}]"), bounds))
        else:
            columns.append(categories_of(listed, f"categories[{j}]"))
    return columns


class ClassSums:
    """Counts of classes, and the sums of each class in each column.

    Parameters
    ----------
    each : sequence of NumberColumn or Bins
        The columns.
    classes : int
    nan : str or float
        What a NaN in a column of numbers counts as.

    Attributes
    ----------
    numbers : dict of int to NumberColumn
        Columns of numbers by their position.
    values : dict of int to int
        Number of values of each column of categories, by position.
    """

    def __init__(self, each: Sequence[NumberColumn | Bins], classes: int, nan: str | float) -> None:
        self.width, self.classes = len(each), classes
        self.numbers = {j: x for j, x in enumerate(each) if isinstance(x, NumberColumn)}
        axes = {j: axis for j, axis in enumerate(each) if isinstance(axis, Bins)}
        self.values = {j: axis.native.bins for j, axis in axes.items()}
        self._coder = Coder(list(axes.values()))
        columns = list(self.numbers.values())
        limits = [[1.0 / n.grid, n.first, n.last, n.middle] for n in columns]
        self._limits = np.array(limits).T.copy()
        fills, self._skip = nan_fills(nan, [n.bounds for n in columns])
        self._fills = np.array(fills)

    def parts(self, relation: str, loss: Loss) -> list[Part]:
        """Return the counts, then the sums of each column."""
        d = self.width
        counts = Fraction(1, 1 + math.isqrt(4 * d))
        column = (1 - counts) / d
        replaced = relation == "replace"
        if replaced and not isinstance(loss, Pure):
            between = d - Fraction(len(self.numbers), 2)
            column = min(Fraction(1, d), (1 - counts) / between)
            counts = 1 - column * between
        times = 2 if replaced else 1
        parts = [Part(self.classes, times, times, times, counts)]
        for j in range(d):
            if j in self.values:
                size = self.classes * self.values[j]
                parts.append(Part(size, times, times, times, column))
                continue
            square = self.numbers[j].reach ** 2
            l1, l2_squared = -(-5 * square * times // 4), (times * square) ** 2
            parts.append(Part(2 * self.classes, l1, l2_squared, 8 if replaced else 2, column))
        return parts

    def total(self, source: LabeledRows, classes: Classes) -> tuple[list[int], int]:
        """Return the integers in the order of the parts, and how many rows have a NaN."""
        reduced = source.reduce(lambda pieces: self._tally(pieces, classes), _merged, BLOCK)
        counts, first, second, cells_of, missing = reduced
        integers: list[int] = counts.tolist()
        tables, numbers = iter(cells_of), zip(first.T, second.T, strict=True)
        for j in range(self.width):
            if j in self.values:
                integers += next(tables).ravel().tolist()
                continue
            (sums, squares), h = next(numbers), self.numbers[j].reach
            integers += [h * int(z) for z in sums]
            integers += [h * h * n - int(q) for n, q in zip(counts, squares, strict=True)]
        return integers, missing

    def codes(self, rows: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Return the code of each row in each column of categories, in their order."""
        out = np.empty((len(rows), len(self.values)), np.uint32)
        self._coder.codes(np.ascontiguousarray(rows[:, list(self.values)]), out)
        return out

    def _tally(self, pieces: Iterator[Piece], classes: Classes) -> tuple[Any, ...]:
        many, numbers = self.classes, list(self.numbers)
        counts = np.zeros(many + 1, np.int64)
        whole = np.zeros((many, 2, len(numbers)), object)
        recent, fresh = np.zeros(whole.shape, np.int64), 0
        values = self._coder.values
        table = np.zeros(cross.cells(values, many)[1], np.int64)
        sums = np.zeros((many + 1, 2, len(numbers)))
        missing = 0
        for rows, labels in pieces:
            key = classes.codes(labels)
            if numbers:
                if fresh + len(rows) > MOST:  # more could leave 64 bits
                    whole, fresh = whole + recent, 0
                    recent[...] = 0
                sums[...], fresh = 0.0, fresh + len(rows)
                x = rows if len(numbers) == self.width else np.ascontiguousarray(rows[:, numbers])
                if by_class(x, self._limits, key, sums):
                    absent = np.isnan(x)
                    lost = np.logical_or.reduce(absent, axis=1)
                    missing += int(np.count_nonzero(lost))
                    key[lost & self._skip] = cross.NONE
                    sums[...] = 0.0
                    by_class(np.where(absent, self._fills, x), self._limits, key, sums)
                recent += sums[:many].astype(np.int64)
            tally(key, counts)
            if self.values:
                cross.count(self.codes(rows), key, many, values, table)
        tables = [t[:-1].T for t in self._coder.tables(table, many)]
        whole = whole + recent
        return counts[:many].astype(object), whole[:, 0], whole[:, 1], tables, missing


def _merged(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    added: list[Any] = [x + y for x, y in zip(a, b, strict=True)]
    added[3] = [x + y for x, y in zip(a[3], b[3], strict=True)]  # tables
    return tuple(added)
