"""Statistics of blocks that need no sort: counts, exact sums, sums of products, extremes.

A tally of some rows can be merged with a tally of other rows. The result depends on the rows and
their blocks alone, and not on the order, the chunks or the workers. A block with a NaN gives NaN.
Nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._kernels import aggregate as _native
from ...tables.base import CHUNK_DTYPES
from .partition import ContiguousLabels, RandomLabels

Floats = NDArray[np.float64]
Labels = NDArray[np.uint32]

#: Rows that are converted, labeled and added at a time, so that they stay in the cache.
CHUNK = 1 << 14


class Totals(_native.Sums):
    """Exact sums of float64 values, one sum for each block.

    Notes
    -----
    Cost: about 3 ns for each row with a label, and for contiguous rows the time of `np.sum`.
    Memory: 16 bytes for each block and each range of 32 binary orders of magnitude that occurs,
    usually one or two of 64.
    """

    blocks: int

    def __new__(cls, blocks: int) -> Self:
        # The system provides memory for zeros when they are first touched. So this costs little.
        planes = np.zeros((_native.PLANES, blocks, 2), np.uint64)
        used, seen = np.zeros(_native.PLANES, np.uint8), np.zeros(blocks, np.uint8)
        near = np.zeros((blocks, 2)) if blocks <= _native.NEAR else None
        totals = super().__new__(cls, planes, used, seen, near)  # type: ignore[call-arg]
        totals.blocks = blocks
        return totals

    def sums(self) -> Floats:
        """Return the sum of each block, rounded once; infinite beyond float64."""
        return self._scaled(1.0)

    def means(self, counts: NDArray[np.int64]) -> Floats:
        """Return sum / count, NaN for an empty block; it overflows only if the mean does."""
        return self._scaled(counts.astype(np.float64))

    def _scaled(self, divisor: Any) -> Floats:
        fraction = np.empty(self.blocks)
        exponent = np.empty(self.blocks, np.int32)
        self.rounded(fraction, exponent)
        with np.errstate(all="ignore"):
            scaled: Floats = np.ldexp(fraction / divisor, exponent)
            seen = self.seen
            plus = np.where(seen & _native.PLUS, np.inf, 0.0)
            minus = np.where(seen & _native.MINUS, -np.inf, 0.0)
            odd = seen != 0
            scaled[odd] = (plus + minus)[odd]
        scaled[seen & _native.NAN != 0] = np.nan
        return scaled


class Extremes:
    """The smallest and largest value of each block; infinite for a block without values."""

    def __init__(self, blocks: int) -> None:
        self._least = np.full(blocks, np.inf)
        self._most = np.full(blocks, -np.inf)
        self._seen = np.zeros(blocks, np.uint8)

    def add(self, labels: Labels, values: Floats) -> None:
        """Add values to the blocks of their labels."""
        _native.extremes(labels, values, self._least, self._most, self._seen)

    def add_runs(self, first: int, cuts: NDArray[np.int64], values: Floats) -> None:
        """Add ``values[cuts[j]:cuts[j + 1]]`` to block `first` + j."""
        where = np.flatnonzero(cuts[:-1] < cuts[1:])
        if len(where) == 0:
            return
        values = values[: cuts[-1]]
        with np.errstate(invalid="ignore"):  # NaN passes through here, and fmin and fmax ignore it
            least = np.minimum.reduceat(values, cuts[where]) + 0.0
            most = np.maximum.reduceat(values, cuts[where]) + 0.0
        where += first
        self._seen[where] |= least != least
        self._least[where] = np.fmin(self._least[where], least)
        self._most[where] = np.fmax(self._most[where], most)

    def merge(self, other: Extremes) -> Extremes:
        """Add the extremes of another tally of the same blocks."""
        np.fmin(self._least, other._least, out=self._least)
        np.fmax(self._most, other._most, out=self._most)
        self._seen |= other._seen
        return self

    def least(self) -> Floats:
        """Return the smallest value of each block, NaN for a block with a NaN."""
        return np.where(self._seen != 0, np.nan, self._least)

    def most(self) -> Floats:
        """Return the largest value of each block, NaN for a block with a NaN."""
        return np.where(self._seen != 0, np.nan, self._most)


#: ``terms(rows, of_rows)`` yields one term at a time for each part, because all terms would not fit
#: into the cache. ``of_rows(x)`` returns for each row the entry of its block in `x`.
Terms = Callable[[NDArray[Any], Callable[[Floats], Floats]], Iterator[Floats]]


Part = TypeVar("Part", Totals, Extremes)


class Tally(Generic[Part]):
    """Sums or extremes of terms computed from rows, in tiles that stay in the cache."""

    def __init__(self, parts: Sequence[Part], terms: Terms) -> None:
        self.parts: Sequence[Part] = parts
        self._terms = terms

    def add(self, labels: Labels, rows: NDArray[Any]) -> None:
        """Add rows, of shape (n,) or (n, columns), to the blocks of their labels."""
        for at in range(0, len(rows), CHUNK):
            some = labels[at : at + CHUNK]
            # `take` is ten times as fast as indexing.
            terms = self._terms(rows[at : at + CHUNK], partial(np.take, indices=some, axis=0))
            for part, term in zip(self.parts, terms, strict=True):
                part.add(some, term)

    def add_rows(self, labels: RandomLabels, start: int, rows: NDArray[Any]) -> None:
        """Add rows, numbered from `start` in the whole data, to their random blocks."""
        for at in range(0, len(rows), CHUNK):
            some = rows[at : at + CHUNK]
            self.add(labels.read(start + at, len(some)), some)

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        """Add rows, numbered from `start` in the whole data, to their contiguous blocks."""
        for at in range(0, len(rows), CHUNK):
            some = rows[at : at + CHUNK]
            first, cuts = labels.runs(start + at, len(some))
            terms = self._terms(some, partial(_repeated, first=first, cuts=cuts))
            for part, term in zip(self.parts, terms, strict=True):
                part.add_runs(first, cuts, term)

    def merge(self, other: Self) -> Self:
        """Add the rows of another tally with the same terms."""
        for part, more in zip(self.parts, other.parts, strict=True):
            part.merge(more)
        return self


def _repeated(x: Floats, first: int, cuts: NDArray[np.int64]) -> Floats:
    """Return entries of blocks repeated for rows: block ``first + j`` for cuts j to j + 1."""
    return x[first : first + len(cuts) - 1].repeat(np.diff(cuts), axis=0)


def floats_of(rows: NDArray[Any], columns: int) -> list[Floats]:
    """Return the columns of rows as contiguous float64."""
    table = rows.reshape(len(rows), columns)
    return [np.ascontiguousarray(table[:, j], np.float64) for j in range(columns)]


class Moments(Tally[Totals]):
    """Counts, sums of columns, and sums of products of pairs of columns, for each block.

    Terms are ``x - shift`` and ``(x_i - shift_i) * (x_j - shift_j)``, each rounded as float64 does,
    and added up exactly.

    Parameters
    ----------
    blocks : int
    columns : int
        Values of a row.
    products : bool or sequence of pairs
        Whether to sum products: of all pairs i <= j, or of the listed pairs.
    shift : float64 array, optional
        A number for each column that is subtracted from the rows, shape (columns,). Or of shape
        (blocks, columns), for a second pass about the means of the blocks. By default 0.

    Notes
    -----
    Cost: about 3 ns for each row and sum, with labels. For a variance, a shift near the values
    preserves the digits.
    """

    def __init__(
        self,
        blocks: int,
        columns: int,
        products: bool | Sequence[tuple[int, int]] = False,
        shift: Floats | None = None,
    ) -> None:
        self.blocks, self.columns = blocks, columns
        self.counts = np.zeros(blocks, np.int64)
        self.shift = shift
        if isinstance(products, bool):
            products = [(i, j) for i in range(columns) for j in range(i, columns) if products]
        self._pairs = list(products)
        self._first = [Totals(blocks) for _ in range(columns)]
        self._second = [Totals(blocks) for _ in self._pairs]
        super().__init__(self._first + self._second, self._of_rows)

    def add(self, labels: Labels, rows: NDArray[Any]) -> None:
        _native.count(labels, self.counts)
        super().add(labels, rows)

    def add_rows(self, labels: RandomLabels, start: int, rows: NDArray[Any]) -> None:
        if self.columns > 1 or not _readable(rows) or len(self._pairs) > 1:
            super().add_rows(labels, start, rows)
            return
        values, shift = rows.reshape(-1), self.shift
        if shift is not None:
            shift = np.ascontiguousarray(np.broadcast_to(shift.reshape(-1), self.blocks))
        squares = self._second[0] if self._pairs else None
        self._first[0].add_random(labels.key, start, values, self.counts, shift, squares)

    def add_ranges(self, labels: ContiguousLabels, start: int, rows: NDArray[Any]) -> None:
        first, cuts = labels.runs(start, len(rows))
        self.counts[first : first + len(cuts) - 1] += np.diff(cuts)
        alone = self.columns == 1 and self.shift is None and not self._pairs
        if alone and rows.dtype == np.float64 and _readable(rows):
            self._first[0].add_runs(first, cuts, rows.reshape(-1))
        else:
            super().add_ranges(labels, start, rows)

    def _of_rows(self, rows: NDArray[Any], of_rows: Callable[[Floats], Floats]) -> Iterator[Floats]:
        with np.errstate(all="ignore"):
            x, shift = floats_of(rows, self.columns), self.shift
            if shift is not None:
                shift = shift if shift.ndim == 1 else of_rows(shift)
                x = [column - shift[..., j] for j, column in enumerate(x)]
        yield from x
        for i, j in self._pairs:
            with np.errstate(all="ignore"):
                product = x[i] * x[j]
            yield product

    def merge(self, other: Self) -> Self:
        """Add the rows of another tally with the same shift."""
        self.counts += other.counts
        return super().merge(other)

    def means(self) -> Floats:
        """Return means of the columns, shape (blocks, columns); NaN for an empty block."""
        means = self.residuals()
        return means if self.shift is None else means + self.shift

    def products(self) -> Floats:
        """Return means of the products, shape (blocks, columns, columns).

        NaN for an empty block, and for products that were not requested.
        """
        means = np.full((self.blocks, self.columns, self.columns), np.nan)
        for (i, j), total in zip(self._pairs, self._second, strict=True):
            means[:, i, j] = means[:, j, i] = total.means(self.counts)
        return means

    def covariances(self, ddof: int = 0) -> Floats:
        """Return covariances of the columns, shape (blocks, columns, columns).

        NaN for a block with at most `ddof` rows. A variance is never negative.
        """
        first = self.residuals()
        with np.errstate(all="ignore"):
            products = self.products() - first[:, :, None] * first[:, None, :]
        covariances = self._per_degree(products, ddof)
        for j in range(self.columns):
            np.maximum(covariances[:, j, j], 0.0, out=covariances[:, j, j])
        return covariances

    def variances(self, ddof: int = 0) -> Floats:
        """Return the diagonal of `covariances`, shape (blocks, columns); squares are enough."""
        first = self.residuals()
        second = np.full((self.blocks, self.columns), np.nan)
        for (i, j), total in zip(self._pairs, self._second, strict=True):
            if i == j:
                second[:, i] = total.means(self.counts)
        with np.errstate(all="ignore"):
            squares = second - first * first
        variances = self._per_degree(squares, ddof)
        return np.maximum(variances, 0.0, out=variances)

    def residuals(self) -> Floats:
        """Return means of ``x - shift``, shape (blocks, columns); NaN for an empty block."""
        return np.stack([total.means(self.counts) for total in self._first], axis=1)

    def _per_degree(self, means: Floats, ddof: int) -> Floats:
        """Return means over rows rescaled to divide by the number of rows less `ddof`."""
        rows = self.counts.astype(np.float64).reshape(-1, *[1] * (means.ndim - 1))
        with np.errstate(all="ignore"):
            scaled: Floats = np.where(rows > ddof, means * (rows / (rows - ddof)), np.nan)
        return scaled


def _readable(rows: NDArray[Any]) -> bool:
    """Return whether kernels can read the rows without a copy."""
    flags = rows.flags
    return rows.dtype in CHUNK_DTYPES and bool(flags.c_contiguous) and bool(flags.aligned)
