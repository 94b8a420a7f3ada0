"""Public categories and classes, and rows as codes: the number of the value or bin of each column.

A number in no bin, or that is none of the values, has a code beyond theirs.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import sulq as cross
from ..sources.words import Words
from ..statistics.histogram import Bins, axes_of, categories_of

Kind = TypeVar("Kind", covariant=True)

#: Rows that are coded at a time.
BLOCK = 1 << 12
#: Numbers of the limits that lie side by side.
LONG = 1 << 8


class Classes:
    """The public labels, in the order that is given.

    Attributes
    ----------
    labels : ndarray
        Text, bool, int64 or uint64 if all are integers that it holds, or float64.
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
        """Return the number of each label."""
        out = np.empty((len(labels), 1), np.uint32)
        self._coder.codes(labels.astype(np.float64, copy=False)[:, None], out)
        return out[:, 0]


def _whole(classes: Any, rounded: NDArray[np.float64]) -> NDArray[Any]:
    """Return integers as they were written, which float64 may round; rounded beyond 64 bits."""
    exact = [int(label) for label in classes]
    for kind in (np.int64, np.uint64):
        try:
            return np.array(exact, kind)
        except OverflowError:
            pass
    return rounded


class Columns(Generic[Kind]):
    """Public facts about the columns, which arguments state for each of them or once for all.

    Parameters
    ----------
    kinds : sequence
        What is known of each column; or one item, which stands for any number of columns.
    several : bool
        Whether there is an item for each column. Words are never those of every column.
    name : str
        The argument, for errors.

    Attributes
    ----------
    words : list of Words or None
        The words of each column that is text; empty where none is.
    numbers : list
        The categories of each column that are numbers, as `Bins.numbers`; None for other columns.
    width : int or None
        Number of columns, if the arguments state it.
    """

    def __init__(self, kinds: Sequence[Kind], several: bool, name: str) -> None:
        words = [kind.words if isinstance(kind, Bins) else None for kind in kinds]
        self.words: list[Words | None] = words if any(words) else []
        self.numbers = [kind.numbers if isinstance(kind, Bins) else None for kind in kinds]
        self.width = len(kinds) if several or self.words else None
        self._kinds, self._name = list(kinds), name

    def each(self, width: int) -> list[Kind]:
        """Return what is known of each of `width` columns."""
        kinds = self._kinds * width if self.width is None else self._kinds
        checks.columns(self._name, len(kinds), width)
        return kinds


def attributes(bins: Any, bounds: Any, categories: Any) -> Columns[Bins]:
    """Return the public values of each column; arguments as in `dpfast.histogram`.

    One list of categories that are not text, or one number of bins, is that of every column.
    """
    axes, several = axes_of(bins, bounds, categories)
    one_number = isinstance(bins, numbers.Integral)
    name = "categories" if bins is None else "bounds" if one_number else "bins"
    return Columns(axes, several, name)


class Coder:
    """Compute the codes of rows.

    Attributes
    ----------
    values : uint32 array
        Number of values of each column.
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
        """Return what `cross.count` counts: rows by value and key, the last value being none."""
        starts, _ = cross.cells(self.values, keys)
        return [
            counts[start : start + (v + 1) * (keys + 1)].reshape(v + 1, keys + 1)[:, :keys]
            for start, v in zip(starts.tolist(), self.values.tolist(), strict=True)
        ]

    def codes(self, rows: NDArray[np.float64], out: NDArray[np.uint32]) -> None:
        """Write the codes of some rows to `out`."""
        if len(self._searched) < self.width:
            cross.codes(rows, self._first, self._values, out)
        place = np.empty(len(rows), np.uint32)
        for j in self._searched:
            place[...] = 0
            self._axes[j].native.place(np.ascontiguousarray(rows[:, j]), 1, place)
            out[:, j] = place


def _first(axis: Bins) -> float | None:
    """Return the first value, if they are consecutive integers, and not too large."""
    if axis.words is not None:
        return 0.0
    listed = axis.edges.astype(np.float64)
    first = float(listed[0])
    if len(listed) > axis.native.bins or abs(first) >= 2.0**52 or not (np.diff(listed) == 1).all():
        return None
    return first if first == round(first) else None
