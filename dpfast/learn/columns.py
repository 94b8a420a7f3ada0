"""Public facts about columns and classes: bounds, bins and categories, and codes of values.

In a column of bins or categories the value of a row becomes a code: the index of its bin or
category, or a larger number if it is in none. In a column of numbers the value is clipped to the
bounds.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks, nan_policy
from .._kernels import learn as cross
from ..statistics.histogram import Bins, axes_of, categories_of
from ..summaries.cells import cells
from ..tables.intake import Public
from ..tables.words import Words

Kind = TypeVar("Kind", covariant=True)
Floats: TypeAlias = NDArray[np.float64]

#: Rows that are encoded at a time.
BLOCK = 1 << 12
#: The limits of columns are repeated up to so many numbers, so that vector instructions can read
#: them.
LONG = 1 << 8
#: A column has about 2**BITS cells. The square of a centered cell then has at most 40 bits. The sum
#: of BLOCK squares has at most 52 bits, so it is exact in float64.
BITS = 20
#: Columns with narrower bounds have no coordinates.
LEAST = 2.0**-900


class Classes:
    """The public labels of classes, in the order of the argument.

    Attributes
    ----------
    labels : ndarray
        An array of text, of bool, of int64 or uint64 if all labels are integers that fit, or of
        float64.
    """

    def __init__(self, classes: Any) -> None:
        self.axis = categories_of(classes, "classes")
        labels: NDArray[Any] = self.axis.edges
        if labels.dtype == np.float64 and (labels == np.rint(labels)).all():
            labels = _whole(classes, labels)
        self.labels = labels
        self._coder = Coder([self.axis])

    def __len__(self) -> int:
        return self.axis.native.bins

    def codes(self, labels: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the class number of each label."""
        return self._coder.codes(labels.astype(np.float64, copy=False)[:, None])[:, 0]


def _whole(classes: Any, rounded: NDArray[np.float64]) -> NDArray[Any]:
    """Return class labels as exact 64-bit integers, or the float64 labels if they do not fit."""
    exact = [int(label) for label in classes]
    for kind in (np.int64, np.uint64):
        try:
            return np.array(exact, kind)
        except OverflowError:
            pass
    return rounded


@dataclass(frozen=True, slots=True)
class Columns(Generic[Kind]):
    """Public facts about columns, stated for each column or once for all columns.

    Parameters
    ----------
    kinds : sequence of NumberColumn or Bins
        The public description of each column; or a single description, for any number of columns.
    width : int or None
        The number of columns, if the arguments state it.
    name : str
        The name of the argument, for errors.
    """

    kinds: Sequence[Kind]
    width: int | None
    name: str = "bounds"

    @property
    def words(self) -> list[Words | None]:
        """The categories of each text column, None for other columns. Empty if there is none."""
        words = [kind.words if isinstance(kind, Bins) else None for kind in self.kinds]
        return words if any(words) else []

    @property
    def numbers(self) -> list[Public | None]:
        """The numeric categories of each column, None for columns without such categories."""
        return [kind.numbers if isinstance(kind, Bins) else None for kind in self.kinds]

    def for_width(self, width: int) -> list[Kind]:
        """Return the public facts about each of `width` columns, or refuse another width."""
        kinds = [*self.kinds] * (width if self.width is None else 1)
        checks.columns(self.name, len(kinds), width)
        return kinds


#: Columns of numbers about which nothing else is known.
ANY_COLUMNS: Columns[Any] = Columns((), None)


def attributes(bins: Any, bounds: Any, categories: Any) -> Columns[Bins]:
    """Return the public bins or categories of each column. Arguments are as in `dpfast.histogram`.

    A single list of categories that are not text is for every column, and so is a single number of
    bins.
    """
    axes, several = axes_of(bins, bounds, categories)
    one_number = isinstance(bins, numbers.Integral)
    name = "categories" if bins is None else "bounds" if one_number else "bins"
    # A list of words is for one column, never for all columns.
    stated = several or any(axis.words for axis in axes)
    return Columns(axes, len(axes) if stated else None, name)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers within public bounds: cells `first` .. `last`, counted from `middle`.

    `reach` is the largest distance of a cell from the middle.
    """

    bounds: tuple[float, float]
    grid: float
    first: int
    last: int
    middle: int
    reach: int


def columns_of(bounds: Any, categories: Any) -> Columns[NumberColumn | Bins]:
    """Return public facts about the columns: bounds of numbers, and categories of other columns."""
    if categories is None:
        pairs, several = checks.pairs(bounds)
        return Columns([_number(pair, bounds) for pair in pairs], len(pairs) if several else None)
    if bounds is None:
        return attributes(None, None, categories)
    columns = _mixed(bounds, categories)
    return Columns(columns, len(columns))


def _number(pair: tuple[float, float], bounds_argument: Any) -> NumberColumn:
    expect_size([pair], 500, "bounds", bounds_argument)  # so that squares do not overflow
    grid = cells(*pair, BITS - 1)
    middle = (grid.first + grid.last) // 2
    return NumberColumn(pair, grid.grid, grid.first, grid.last, middle, grid.last - middle)


def _mixed(bounds: Any, categories: Any) -> list[NumberColumn | Bins]:
    rule = "a pair for each column, or None for a column with categories"
    try:
        pairs_and_lists = list(zip(bounds, categories, strict=True))
    except Exception:  # the lengths differ, or an object raised an error
        checks.fail("bounds", rule, bounds)
    columns: list[NumberColumn | Bins] = []
    for j, (pair, listed) in enumerate(pairs_and_lists):
        if (pair is None) == (listed is None):
            checks.fail("bounds", rule, bounds)
        if listed is None:
            columns.append(_number(checks.bounds(pair, f"bounds[{j}]"), bounds))
        else:
            columns.append(categories_of(listed, f"categories[{j}]"))
    return columns


class Coder:
    """A coder of rows: it replaces each value by the number of its bin or category.

    Attributes
    ----------
    values : uint32 array
        The number of values of each column.
    """

    def __init__(self, axes: Sequence[Bins]) -> None:
        self._axes = tuple(axes)
        self.values = np.array([axis.native.bins for axis in axes], np.uint32)
        firsts = [_first(axis) for axis in axes]
        self._searched = [j for j, first in enumerate(firsts) if first is None]
        rows = LONG // max(1, len(self._axes)) or 1
        self._first = np.tile(np.array([first or 0.0 for first in firsts]), (rows, 1))
        self._values = np.tile(self.values.astype(np.float64), (rows, 1))

    @property
    def width(self) -> int:
        return len(self._axes)

    def tables(self, counts: NDArray[np.int64], keys: int) -> list[NDArray[np.int64]]:
        """Return counts of `cross.count` as one table for each column: rows by value and key."""
        starts, _ = cross.cells(self.values, keys)
        return [
            counts[start : start + (v + 1) * (keys + 1)].reshape(v + 1, keys + 1)[:, :keys]
            for start, v in zip(starts.tolist(), self.values.tolist(), strict=True)
        ]

    def codes(self, rows: Floats, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
        """Return the codes of the values of rows, written to `out` if given."""
        rows = np.ascontiguousarray(rows)
        out = np.empty(rows.shape, np.uint32) if out is None else out
        if len(self._searched) < self.width:
            cross.codes(rows, self._first, self._values, out)
        codes = np.empty(len(rows), np.uint32)
        for j in self._searched:
            codes[...] = 0
            self._axes[j].native.place(np.ascontiguousarray(rows[:, j]), 1, codes)
            out[:, j] = codes
        return out


def _first(axis: Bins) -> float | None:
    """Return the first category if all categories are consecutive small integers, else None."""
    if axis.words is not None:
        return 0.0
    listed = axis.edges.astype(np.float64)
    first = float(listed[0])
    if len(listed) > axis.native.bins or abs(first) >= 2.0**52 or not (np.diff(listed) == 1).all():
        return None
    return first if first == round(first) else None


class Layout:
    """The columns of rows, split into columns of numbers and columns of bins or categories.

    Parameters
    ----------
    columns : sequence of NumberColumn or Bins
    nan : str or float
        The replacement of a NaN in a column of numbers.

    Attributes
    ----------
    numbers : dict of int to NumberColumn
        The columns of numbers, by their index.
    axes : dict of int to Bins
        The columns of bins or categories, by their index.
    skip : bool
        Whether rows with a NaN in a column of numbers are left out.
    """

    def __init__(self, columns: Sequence[NumberColumn | Bins], nan: str | float) -> None:
        self.width = len(columns)
        self.numbers = {j: x for j, x in enumerate(columns) if isinstance(x, NumberColumn)}
        self.axes = {j: x for j, x in enumerate(columns) if isinstance(x, Bins)}
        self.coder = Coder([*self.axes.values()])
        fills, self.skip = nan_fills(nan, [x.bounds for x in self.numbers.values()])
        self._fills = np.array(fills)

    def codes(self, rows: Floats) -> NDArray[np.uint32]:
        """Return the codes of rows in the columns of bins or categories."""
        return self.coder.codes(rows[:, [*self.axes]])

    def filled(self, rows: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the columns of numbers with NaN replaced, and a mask of rows that had a NaN."""
        x = np.ascontiguousarray(rows[:, [*self.numbers]])
        missing = np.isnan(x)
        absent: NDArray[np.bool_] = np.logical_or.reduce(missing, axis=1)
        return (np.where(missing, self._fills, x) if absent.any() else x), absent


def column_bounds(
    bounds: Any, width: int, bits: int | None = None
) -> tuple[tuple[float, float], ...]:
    """Return the public bounds of `width` columns, from one pair for all or a pair for each.

    With `bits`, bounds of more than 2**bits in absolute value are refused: this leaves room in
    float64 for computations.
    """
    pairs, is_vector = checks.pairs(bounds)
    pairs = pairs if is_vector else pairs * width
    checks.columns("bounds", len(pairs), width)
    if bits is not None:
        expect_size(pairs, bits, "bounds", bounds)
    return pairs


def expect_size(pairs: Iterable[tuple[float, float]], bits: int, name: str, argument: Any) -> None:
    """Refuse bounds whose absolute value is above 2**bits."""
    if max(max(abs(lo), abs(hi)) for lo, hi in pairs) > 2.0**bits:
        checks.fail(name, f"at most 2**{bits} in absolute value", argument)


def nan_fills(nan: str | float, bounds: Iterable[tuple[float, float]]) -> tuple[list[float], bool]:
    """Return the replacement of NaN in each column, and whether rows with a NaN are dropped."""
    fills = [nan_policy.replacement(nan, lo, hi) for lo, hi in bounds]
    return [0.0 if isinstance(x, str) else x for x in fills], any(isinstance(x, str) for x in fills)


@dataclass(frozen=True, slots=True)
class Limits:
    """Public limits of columns as an array for kernels: lo, hi, middle, scale, fill for NaN.

    A coordinate is ``(x - middle) * scale``, rounded. `scale` is 0 for a column with equal bounds.
    With `skip`, rows with a NaN are left out.
    """

    columns: Floats
    skip: bool

    @property
    def middle(self) -> Floats:
        return np.asarray(self.columns[2])

    @property
    def scale(self) -> Floats:
        return np.asarray(self.columns[3])


def limits(
    bounds: Sequence[tuple[float, float]],
    nan: str | float,
    centered: bool,
    reach: ArrayLike,
) -> Limits:
    """Return the limits of columns whose coordinates are integers from -reach to reach."""
    lo, hi = np.array(bounds, np.float64).reshape(-1, 2).T
    middle = lo / 2 + hi / 2 if centered else np.zeros(len(lo))
    half = np.maximum(hi - middle, middle - lo)
    if not ((half == 0) | (half >= LEAST)).all():
        checks.fail("bounds", "pairs that are equal or at least 2**-900 apart", bounds)
    live = half > 0
    scale = np.where(live, np.asarray(reach, np.float64) / np.where(live, half, 1.0), 0.0)
    fills, skip = nan_fills(nan, bounds)
    return Limits(np.array([lo, hi, middle, scale, fills]), skip)
