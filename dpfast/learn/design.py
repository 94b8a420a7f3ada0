"""Rows as integer vectors for linear learners: coordinates of numbers, and indicators of bins.

A vector begins with a constant 1. A column of numbers has one coordinate, from -1 to 1: the
distance from the middle of its bounds, in units of half of their width. A column of bins or
categories has one coordinate for each bin or category: a row has 1 in the coordinate of its value,
and 0 in the others. Let there be p columns of numbers, and c columns of bins or categories. Then
the squared length of a vector is at most 1 + p + c, and so is the sum of its absolute values.

*Nothing is rounded after that.* The number 1 is the integer `REACH` here. Weights of the
coordinates are integers in units of 2**-20, and their absolute values add up to at most `LARGEST`.
A score is the sum of coordinates times weights: it is below 2**53 in units of 2**-40. Multiples of
a row are integers in units of 1 / `SCALE`, and at most 1. A multiple of a coordinate is below
2**36, and the sum of such products over `ROWS` rows is below 2**53. So every order of summation
gives the same float64, and what a row adds to a sum does not depend on other rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..statistics.histogram import Bins
from .columns import Floats, Layout, NumberColumn, limits

#: The integers that represent 1: in a coordinate, and in a multiple of a row.
REACH, SCALE = 1 << 20, 1 << 16
#: The unit of weights, and the largest sum of their absolute values.
FINE, LARGEST = 2.0**-20, 2.0**11
#: The most rows whose sums are exact in float64.
ROWS = 1 << 12


class Vectors(NamedTuple):
    """Vectors of rows: coordinates of numbers, indices of indicators, a mask of rows with NaN."""

    numbers: Floats
    indices: NDArray[np.intp]
    absent: NDArray[np.bool_]

    @property
    def less_squares(self) -> Floats:
        """1 - z^2 for each number z, rounded down."""
        return np.floor(REACH - self.numbers**2 / REACH)


class Design:
    """The map from rows to vectors, fixed by public facts about the columns.

    Parameters
    ----------
    columns : sequence of NumberColumn or Bins
    nan : str or float
        The replacement of a NaN in a column of numbers. In other columns, NaN is none of the
        values.

    Attributes
    ----------
    size : int
        The number of coordinates.
    numbers : intp array of shape (p,)
        The coordinates of the columns of numbers.
    spans : list of slice
        The coordinates of each column.
    columns : int
        The number of columns, p + c.
    """

    def __init__(self, columns: Sequence[NumberColumn | Bins], nan: str | float) -> None:
        self._layout = Layout(columns, nan)
        self.columns, ends = len(columns), [1]
        for x in columns:
            ends.append(ends[-1] + (x.native.bins if isinstance(x, Bins) else 1))
        self.size = ends[-1]
        self.spans = [slice(a, b) for a, b in itertools.pairwise(ends)]
        axes, numbers = self._layout.axes, self._layout.numbers
        self.numbers = np.array([ends[j] for j in numbers], np.intp)
        self._first = np.array([ends[j] for j in axes], np.intp)
        self._edges = np.array([_range(axis) for axis in axes.values()]).reshape(-1, 2).T.copy()
        bounds = [x.bounds for x in numbers.values()]
        self._limits = limits(bounds, nan, True, [REACH] * len(bounds))
        #: For each column of numbers: the number whose coordinate is 0, and the width of one unit
        #: of the coordinate (0 if the column has only one value).
        self.middle, self.scale = self._limits.middle, self._limits.scale / REACH

    def vectors(self, rows: Floats) -> Vectors:
        """Return the vectors of rows. A value in no bin or category has the index `size`."""
        lo, hi, middle, scale, _ = self._limits.columns
        x, absent = self._layout.filled(rows)
        numbers = np.rint((np.clip(x, lo, hi) - middle) * scale)
        coder = self._layout.coder
        codes = coder.codes(np.clip(rows[:, [*self._layout.axes]], *self._edges))
        indices = np.where(codes < coder.values, codes + self._first, self.size)
        return Vectors(numbers, indices.astype(np.intp), absent)

    def scores(self, vectors: Vectors, weights: Floats) -> Floats:
        """Return the products of vectors with weights, in units of 2**-40 for `whole` weights."""
        table = np.vstack([weights, np.zeros((1, weights.shape[1]))])
        indicators = np.zeros((len(vectors.absent), weights.shape[1]))
        for index in vectors.indices.T:
            indicators += table[index]
        products = vectors.numbers @ weights[self.numbers]
        return np.asarray(products + REACH * (indicators + weights[0]))

    def sums(self, vectors: Vectors, multiples: Floats) -> NDArray[np.int64]:
        """Return sums over rows of multiples of vectors, shape (columns of `multiples`, size)."""
        sums = np.zeros((multiples.shape[1], self.size + 1))
        sums[:, 0] = REACH * multiples.sum(axis=0)
        sums[:, self.numbers] = multiples.T @ vectors.numbers
        for row, multiple in zip(sums, multiples.T, strict=True):
            for index in vectors.indices.T:
                row += REACH * np.bincount(index, multiple, self.size + 1)
        return sums[:, :-1].astype(np.int64)


def _range(axis: Bins) -> tuple[float, float]:
    """Return the outer edges of bins, to which values are clipped; infinite for categories."""
    edges = axis.edges
    if len(edges) == axis.native.bins:
        return -np.inf, np.inf
    return float(edges[0]), float(edges[-1])


def whole(weights: Floats) -> Floats:
    """Return weights as integers; the weights of a score are scaled down if too large."""
    large = np.abs(weights).sum(axis=0) / (LARGEST - len(weights) * FINE)
    return np.asarray(np.rint(weights / np.maximum(large, 1.0) / FINE))
