"""Private histograms over public bins: exact counts with integer noise.

A row is in at most one bin. A row that is added or removed changes one count by 1, so the L1 and
the L2 sensitivity of all counts is 1. A row that is replaced may leave one bin and enter another,
so the sensitivities are 2 and sqrt(2).

Weights are cells of a public grid. Let M be the largest absolute value of a cell, and D the largest
difference of two cells. A row that is added or removed changes one sum by at most M. A replaced row
changes two sums by at most M each, or, if it stays in its bin, one sum by at most D <= 2 M. So the
L1 sensitivity is 2 M, and the square of the L2 sensitivity is the larger of 2 M^2 and D^2. For
staircase noise these are two moves of one sum by M. Sums are exact integers, clamped to 2^62, which
only brings them closer together.

*Units.* Let a privacy unit have c rows in bins, n of them in one bin. These n rows count as n
min(c, m) / c rows, rounded towards zero to a multiple of a small fraction of a row
(`summaries.units`). So a unit changes all bins together by at most m in L1, and hence in L2,
however many bins it changes. There is no staircase noise, because fractions in several bins are not
a single move. Weights are bounded in the same way, and all bins together then change by at most m
M. Noise is added in fractions of a row, and noisy counts are rounded to whole rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from operator import mul
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.attributes import same_as
from .._core.error_bars import NOISE, ErrorBar
from .._core.types import Auto, Bounds, BoundsEach, Number
from .._kernels.groups import add, combine, count
from .._kernels.statistics import MOST_CELLS, Axis, tally
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism, Value
from ..measurement.automatic_bounds import ANY
from ..measurement.functions import function_of
from ..measurement.statistic import Automatic, InUnits, Terms, Weighted
from ..measurement.times import Units, are_times, in_bins
from ..measurement.unit import AddsUnits
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..summaries.cells import SQUARES, Cells, cells, in_units, nearest
from ..summaries.side_by_side import flat, refuse_length, stretches
from ..summaries.sparse import Sparse
from ..summaries.units import Room, merge, shifted, unit_sums
from ..tables import Chunk, base
from ..tables.base import NO_ROWS, RowChunk, Term
from ..tables.intake import View, one_column, read, whole_rows
from ..tables.masked import kept, refuse_mask
from ..tables.memory import Column
from ..tables.public_values import listed
from ..tables.sql.store import SqlRows
from ..tables.times import Times
from ..tables.words import Words
from .consistent import not_below_0

#: A mask of the rows that count; None if all count.
Mask: TypeAlias = NDArray[np.bool_] | None
#: Public values of one axis: texts, numbers or booleans.
Categories: TypeAlias = Sequence[str] | Sequence[Number]

#: The rule for public values, for errors.
CATEGORIES = "a list of different texts, or of finite numbers or truth values in ascending order"
EDGES = "at least 2 finite numbers in ascending order"
#: The cells for each bin in the table from which a search starts, and the most cells of that table.
FINE, MOST_FINE = 4, 1 << 22
#: The most bins of an axis in a database, and the largest sum there.
MOST_OF_SQL, MOST = 1024, 1 << 62
#: Rows of a unit that count in part are counted in units of 2**-20, so that 2**42 rows fit into 62
#: bits.
PARTS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """The public bins of one axis; see `dpfast.histogram`.

    For categories that are numbers, `name` is the name of their argument.
    """

    edges: NDArray[Any]
    native: Axis
    words: Words | None = None
    name: str = ""
    hashed: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A hash that is the same in every process.
        object.__setattr__(self, "hashed", crc32(self.edges.tobytes()))
        self.edges.flags.writeable = False

    @property
    def numbers(self) -> tuple[str, list[Any]] | None:
        """The argument's name with the categories that are numbers; None for edges and texts."""
        return (self.name, self.edges.tolist()) if self.name else None

    def of_row(self, rows: SqlRows, column: int) -> Any:
        """Return the database expression for the bin of each row, by a column's number."""
        if self.words is not None:
            return rows.word(column)
        if self.name:
            return rows.bin_of(column, self.edges.astype(np.float64).tolist(), None)
        *edges, last = self.edges.tolist()
        return rows.bin_of(column, edges, last)

    def _key(self) -> tuple[Any, ...]:
        words = None if self.words is None else self.words.words
        return self.edges.dtype.str, self.edges.tobytes(), words, self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bins) and self._key() == other._key()

    def __hash__(self) -> int:
        return self.hashed


@dataclass(frozen=True, kw_only=True)
class Binned(Automatic[Value]):
    """Base of histograms and of other statistics of counts in public bins.

    Parameters
    ----------
    bins : int, sequence of float, or sequence of d of these, optional
    bounds : (float, float), sequence of d such pairs, or "auto", optional
    categories : sequence of str, float or bool, or sequence of d of these, optional
    """

    bins: Any = None
    bounds: Any = None
    categories: Any = None

    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)
    only_adds: ClassVar[bool] = True
    at_once: ClassVar[bool] = True
    subtracts: ClassVar[bool] = False
    #: Sums that get noise instead of counts are in units of 2**grid.
    grid: ClassVar[int] = 0
    #: The bins of each axis; empty if they are bins of a column of times.
    axes: tuple[Bins, ...] = field(init=False, repr=False, default=())
    #: Whether the data are a single column.
    single: bool = field(init=False, repr=False, default=True)
    #: Whether negative counts are returned as 0.
    nonnegative: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.column is not None:
            checks.text("column", self.column)
        names = "bins", "bounds", "categories"
        checks.assign(self, **{name: listed(name, getattr(self, name)) for name in names})
        if self.is_auto:
            checks.whole("bins", self.bins, 1)
        if not (are_times(self.bins) or are_times(self.bounds)):
            axes, several = axes_of(
                self.bins, ANY if self.is_auto else self.bounds, self.categories
            )
            if math.prod(axis.native.bins for axis in axes) > MOST_CELLS:
                sizes = [axis.native.bins for axis in axes]
                checks.fail("bins", f"at most {MOST_CELLS} bins in total", sizes)
            checks.assign(self, axes=axes, single=not several)
        checks.assign(self, **{name: as_tuples(getattr(self, name)) for name in names})

    @cached_property
    def reads_numbers(self) -> bool:
        return bool(self.axes) and not self.by_rows and self.axes[0].numbers is None

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of bins of each axis."""
        return tuple(axis.native.bins for axis in self.axes)

    def require_one_column(self) -> None:
        """Refuse a histogram of several columns, whose bins have no order."""
        if not self.single:
            argument = "categories" if self.bins is None else "bins"
            values = self.categories or self.bins
            checks.fail(argument, "of one column, because ranges need bins in order", values)

    @property
    def edges(self) -> Any:
        """A copy of the bin edges or categories of the axis, or a list of copies for all axes."""
        edges = [axis.edges.copy() for axis in self.axes]
        return edges[0] if self.single else edges

    @cached_property
    def by_rows(self) -> bool:
        """Tell whether data are read as whole rows rather than as one column of numbers."""
        is_plain = self.single and self.limits is None
        return not is_plain or any(axis.words for axis in self.axes)

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        if self.bins is None:
            return None
        units = in_bins(times, self.bins, self.bounds)
        return replace(self, bins=range(len(units.edges)), bounds=None), units

    def in_times(self, answer: Any, units: Units) -> Any:
        return answer[0], units.edges

    def require_numbers(self) -> None:
        if not self.axes:
            name, value = ("bins", self.bins) if self.bounds is None else ("bounds", self.bounds)
            checks.fail_type(name, "numbers, because the data hold no times", value)

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        axes, argument = self.axes, "categories" if self.bins is None else "bins"
        with_ids = rows["ids"] is not None and self.adds_units
        if self.by_rows or with_ids:
            words, numbers = [axis.words for axis in axes], [axis.numbers for axis in axes]
            how = argument, len(axes), words, self.single, numbers
            view = read(data, whole_rows, *how, with_ids=with_ids, **rows)
        else:
            view = read(data, one_column, axes[0].numbers, **rows)
        if view.adds and rows["ids"] is not None and rows["weights"] is not None:
            checks.fail_kind("data", NO_ROWS, data)
        if view.adds and max(self.shape) > MOST_OF_SQL:
            checks.fail(argument, f"at most {MOST_OF_SQL} in a database", max(self.shape))
        return view

    def mechanism(self, terms: Terms) -> BinCounts:
        noise = integer_noise(terms.loss, self.sensitivity(terms))
        return BinCounts(self, terms.neighbors, noise, PARTS if terms.has_ids else 0)

    def sensitivity(self, terms: Terms) -> Sensitivity:
        """Return the sensitivity of the sums that get noise."""
        if terms.has_ids:
            return of_people(terms.rows << PARTS, math.prod(self.shape), 1)
        changes = 2 if terms.neighbors == "replace" else 1
        return Sensitivity(changes, changes, changes)

    def answer(
        self, counts: NDArray[np.int64], noise: IntegerNoise, parts: int, generator: Generator
    ) -> Any:
        """Return noisy counts and the bin edges, from exact counts in units of 2**-parts rows."""
        noisy = noise.draw(len(counts), generator)
        noisy += counts >> noise.shift
        if noise.shift != parts:
            noisy = rounded(noisy, noise.shift - parts)
        if self.nonnegative:
            noisy = not_below_0(noisy)
        return noisy.reshape(self.shape), self.edges

    def bar(self, noise: IntegerNoise, parts: int, failure: float) -> float | list[float]:
        """Return the half-width of the error bar of each bin's count, for a failure probability."""
        return math.ldexp(float(noise.half_width(failure)), -parts) + (0.5 if parts else 0.0)


@dataclass(frozen=True, kw_only=True)
class Histogram(Weighted[Any], Binned[Any]):
    """Counts of rows in public bins, or sums of their weights, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bins : int, sequence of float, or sequence of d of these, optional
    bounds : (float, float), sequence of d such pairs, or "auto", optional
    categories : sequence of str, float or bool, or sequence of d of these, optional
    weights : str, optional
        The column of the weights, for `GroupBy.agg`.
    weight_bounds : (float, float), optional
    nonnegative : bool, default False
        As in `dpfast.histogram`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.histogram`.

    Examples
    --------
    >>> import dpfast as dp
    >>> ages = dp.Histogram(bins=4, bounds=(0, 100)).measure(epsilon=1)
    >>> counts, edges = ages(list(range(18, 91)) * 40)
    >>> edges.tolist()
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """

    nonnegative: bool = False

    name: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.flag("nonnegative", self.nonnegative)
        if self.nonnegative and self.limits is not None and self.limits[0] < 0:
            checks.fail("nonnegative", "False if weights may be negative", True)

    def mechanism(self, terms: Terms) -> BinCounts:
        limits = self.limits
        if limits is None:
            return super().mechanism(terms)
        grid = cells(*limits, SQUARES, max(limits[1] - limits[0], *map(abs, limits)))
        size = of_weights(grid, terms.neighbors)
        if terms.has_ids:
            size = of_people(terms.rows * size.largest, math.prod(self.shape), 1)
        return BinWeights(self, terms.neighbors, integer_noise(terms.loss, size), 0, grid)


def rounded(numbers: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """Return integers times ``2**shift``, each rounded to the nearest integer."""
    return numbers << shift if shift >= 0 else (numbers + (1 << -shift >> 1)) >> -shift


def of_people(size: int, numbers: int, vectors: int) -> Sensitivity:
    """Return the sensitivity of sums that differ by `vectors`, each of L1 norm `size`."""
    return Sensitivity(numbers, vectors * size, vectors * size**2, size)


def of_weights(cells: Cells, neighbors: str) -> Sensitivity:
    """Return the sensitivity, in cells, of the sums of weights of all bins."""
    most = max(abs(cells.first), abs(cells.last))
    if neighbors == "add-remove":
        return Sensitivity(1, most, most**2, most)
    width = cells.last - cells.first
    moved = 2, most  # both the removed row and the added row change a sum
    return Sensitivity(2, 2 * most, max(2 * most**2, width**2), max(most, width), moved)


@dataclass(frozen=True, slots=True)
class BinCounts(Mechanism[Any], AddsUnits):
    """The mechanism of counts in public bins: exact counts with integer noise.

    Counts are in units of ``2**-fine`` rows.
    """

    statistic: Binned[Any]
    neighbors: str
    noise: IntegerNoise
    fine: int

    loss = same_as("noise.loss")
    name = same_as("statistic.name")

    @property
    def algorithm(self) -> str:
        return type(self.statistic).__name__

    integer_noise = same_as("noise")

    @property
    def noise_parameters(self) -> dict[str, Any]:
        deviation = math.ldexp(self.noise.deviation, -self.fine - self.statistic.grid)
        return {"noise": self.noise.distribution, "deviation": deviation}

    def reduce(self, source: View) -> NDArray[np.int64]:
        """Return the exact number of rows in each bin."""
        if source.adds:
            return self.added(source.source, [Term(source.source.present(), 1)])
        summarize = partial(self._rows if self.statistic.by_rows else self._column, source.where)
        counts: NDArray[np.int64] = source.source.reduce(summarize, np.add)
        if source.where is not None and counts[-1] != len(source.where):
            refuse_mask()
        return counts[:-2] << self.fine

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> Any:
        return self.statistic.answer(summary, self.noise, self.fine, generator)

    def of_units(self, source: View, most: int, key: Key) -> NDArray[np.int64]:
        if isinstance(source.source, SqlRows):
            return self._of_people(source.source, most, source)
        sums = Sparse(self.size, self.words)
        lock = Lock()

        def fill(
            columns: Sequence[Any], units: NDArray[np.int32], rooms: Sequence[Room]
        ) -> list[int]:
            bins = self.bins_of(columns[: len(self.statistic.axes)], len(units))
            with lock:
                sums.add(units, bins, partial(self.add, columns))
            return []

        unit_sums(source.source, key, [], fill, source.where, source.weights)
        bins, words = sums.of_units(most, self.first).total()
        exact = np.zeros(self.size, np.int64)
        exact[bins] = shifted(words, 0)
        return exact

    def _of_people(self, rows: SqlRows, most: int, source: View) -> NDArray[np.int64]:
        """Return what all privacy units in a database add to each bin, each unit bounded."""
        assert source.ids is not None
        bins, exact = 0, np.zeros(self.size, np.int64)
        for i, axis in enumerate(self.statistic.axes):
            bins = bins * axis.native.bins + axis.of_row(rows, i)
        feature = base.Feature(0 * rows.present(), 0, 1 << self.fine, most)
        grouped = rows.groups({}, [feature], base.Units(source.ids.column), bins)
        exact[grouped.bins] = np.minimum(grouped.sums[0], MOST)
        return exact

    #: The number of 64-bit words that hold a sum.
    words: ClassVar[int] = 1

    @property
    def first(self) -> int:
        """The integer that each row adds to the sum of its bin in addition to the row's cell."""
        return 1 << self.fine

    def add(self, columns: Sequence[Any], codes: NDArray[np.int32], room: Room) -> None:
        """Add rows to the sums of their bins, which are `codes`, in the memory `room`."""
        count(codes, room.reshape(-1))

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each bin's noisy count."""
        width = self.statistic.bar(self.noise, self.fine, 1 - confidence)
        return ErrorBar(confidence, width, note=NOISE)

    @property
    def size(self) -> int:
        """The number of bins of all axes together."""
        return math.prod(self.statistic.shape)

    def added(
        self, rows: SqlRows, terms: Sequence[Term], factors: Sequence[int] = (1,)
    ) -> NDArray[np.int64]:
        """Return for each bin the weighted sum of `terms` over the rows of a database."""
        bins = [axis.of_row(rows, i) for i, axis in enumerate(self.statistic.axes)]
        sums = np.zeros(self.statistic.shape, np.int64)
        for bin_of_sums, sums_of_terms in rows.sums_by(bins, terms).items():
            sums[bin_of_sums] = min(max(sum(map(mul, sums_of_terms, factors)), -MOST), MOST)
        return sums.ravel()

    def bins_of(self, columns: Sequence[Any], rows: int) -> NDArray[np.uint32]:
        """Return the bin number of each row, over all axes together."""
        bins, stride = np.zeros(rows, np.uint32), 1
        for column, axis in zip(reversed(columns), reversed(self.statistic.axes), strict=True):
            axis.native.place(flat(column), stride, bins)
            stride *= axis.native.bins
        return bins

    def _column(self, where: Mask, chunk: Chunk) -> NDArray[np.int64]:
        counts = np.zeros(self.size + 2, np.int64)
        counts[-1] = len(chunk.values) + chunk.nulls
        for segment in [chunk] if where is None else kept(chunk, where):
            self.statistic.axes[0].native.histogram(segment.values, counts[:-1])
        return counts

    def _rows(self, where: Mask, chunk: RowChunk) -> NDArray[np.int64]:
        counts = np.zeros(self.size + 2, np.int64)
        for columns, rows in stretches(chunk, where):
            tally(self.bins_of(columns, len(columns[0])), counts[:-1])
            counts[-1] += rows
        return counts


class _WeightSums(NamedTuple):
    """Sums of cells and row counts of each bin, in the form of `groups.add`, and the rows read."""

    totals: NDArray[np.uint64]
    read: int

    def merge(self, other: _WeightSums) -> _WeightSums:
        merge(self.totals, other.totals)
        return _WeightSums(self.totals, self.read + other.read)


@dataclass(frozen=True, slots=True)
class BinWeights(BinCounts):
    """The mechanism of sums of weights in public bins: exact sums with integer noise.

    The weights are the last column of the rows, or a separate column.
    """

    cells: Cells

    @property
    def name(self) -> str:
        return f"weighted {self.statistic.name}"

    @property
    def noise_parameters(self) -> dict[str, Any]:
        deviation = self.noise.deviation * self.cells.grid
        return {"noise": self.noise.distribution, "deviation": deviation}

    def reduce(self, source: View) -> NDArray[np.int64]:
        """Return the exact sum, in cells, of the weights of the rows in each bin."""
        if source.adds:
            rows, cells = source.source, self.cells
            u = rows.cell(len(self.statistic.axes), cells)
            terms = [Term(u, cells.span), Term(rows.present(u), 1)]
            return self.added(rows, terms, [1, cells.first])
        summarize = partial(self._sums, source.where, source.weights)
        total: _WeightSums = source.source.reduce(summarize, _WeightSums.merge)
        if source.where is not None and total.read != len(source.where):
            refuse_mask()
        if source.weights is not None and total.read != source.weights.length:
            refuse_length()
        sums = np.empty(self.size, np.int64)
        combine(total.totals[:-1], 1, self.cells.first, 0, 0, sums)
        return sums

    words: ClassVar[int] = 2

    first = same_as("cells.first")

    def add(self, columns: Sequence[Any], codes: NDArray[np.int32], room: Room) -> None:
        cells = self.cells
        add(flat(columns[-1]), codes, 1.0 / cells.grid, cells.first, cells.span, -1, room)

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> Any:
        noise, statistic = self.noise, self.statistic
        drawn = noise.draw(len(summary), generator)
        noisy = ((summary >> noise.shift) + drawn).astype(np.float64)
        # Scaled by a power of two as floats, because the product may overflow int64.
        sums = in_units(np.ldexp(noisy, noise.shift), self.cells.grid)
        if statistic.nonnegative:
            sums = not_below_0(sums)
        return sums.reshape(statistic.shape), statistic.edges

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each noisy sum, which covers the noise alone."""
        noise = self.noise
        size = noise.half_width(1 - confidence) + ((1 << noise.shift) - 1)
        return ErrorBar(confidence, nearest(size * Fraction(self.cells.grid)), note=NOISE)

    def _sums(self, where: Mask, weights: Column | None, chunk: RowChunk) -> _WeightSums:
        looked, totals = 0, np.zeros((self.size + 1, 2), np.uint64)
        for columns, rows in stretches(chunk, where, weights):
            self.add(columns, self.bins_of(columns[:-1], len(columns[-1])).view(np.int32), totals)
            looked += rows
        return _WeightSums(totals, looked)


@overload
def histogram(
    data: Any,
    *,
    bins: int | Sequence[Number] | None = None,
    bounds: Bounds | Auto | None = None,
    categories: Categories | None = None,
    **others: Any,
) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
@overload
def histogram(
    data: Any,
    *,
    bins: Sequence[int | Sequence[Number] | NDArray[Any] | None] | NDArray[Any] | None = None,
    bounds: BoundsEach | Sequence[Bounds | None] | None = None,
    categories: Sequence[Categories | NDArray[Any] | None] | NDArray[Any] | None = None,
    **others: Any,
) -> tuple[NDArray[np.int64], NDArray[Any] | list[NDArray[Any]]]: ...
@overload
def histogram(
    data: Any,
    *,
    weights: Any,
    weight_bounds: Bounds,
    bins: Any = None,
    bounds: Any = None,
    categories: Any = None,
    **others: Any,
) -> tuple[NDArray[np.float64], NDArray[Any] | list[NDArray[Any]]]: ...
@function_of(Histogram)
def histogram(data: Any, **arguments: Any) -> Any:
    """Release the number of rows in each public bin, or the sum of the rows' weights.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. An added or
    removed row changes one count by 1, and a replaced row two counts, for any number of bins and
    axes (Dwork, McSherry, Nissim and Smith, TCC 2006). Counts and noise are exact integers: the
    noise is discrete Laplace, discrete Gaussian for `rho`, or rounded Gaussian with `delta`. Bins
    must not come from the data.

    With `weights` a row changes a sum by its weight, and so at most by the largest absolute value
    in `weight_bounds`. Weights are rounded to a public grid, so their sums are exact integers.

    With `ids`, let m be `max_rows`. If a person has c > m rows in bins, each of these rows counts m
    / c. So a person changes all counts together by at most m.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), table, or source
        One column, or d of them for a histogram in d dimensions (a matrix, a structured array, a
        table, `dpfast.scan` with a list of columns). A column of text may be a list, a NumPy array
        of text or objects, a column of pandas, Arrow or Polars (also a dictionary-encoded one), or
        a column of a file.
    bins : int, sequence of float, or sequence of d of these
        The number of equally wide bins between the `bounds`, or public edges, ascending. A bin
        contains its lower edge but not its upper edge. The last bin contains both, as in
        `numpy.histogram`.
    bounds : (float, float), sequence of d such pairs, or "auto"
        Public limits of the bins, if `bins` is a number. Rows beyond the first or the last edge are
        in no bin. For one column, "auto" draws the limits for a quarter of the loss, as in `sum`.
    categories : sequence of str, float or bool, or sequence of d of these
        Instead of `bins`, a public list of texts, or of numbers or truth values in ascending order.
        A row is counted in the category that it equals. Text is compared exactly (bytes as UTF-8).
        A category that the column's type cannot hold is refused. If some axes have bins and others
        categories, pass both as sequences of d entries, with None in the other sequence of each
        axis. An axis that needs no bounds has None in `bounds`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    weights : array_like of shape (n,), or str, optional
        The weight of each row, which must be a function of that row alone, or the name of the
        column of weights, which is then not part of the data. A row whose weight is NaN or null is
        in no bin.
    weight_bounds : (float, float), optional
        Public limits of the weights, with `weights`; weights outside are clamped.
    nonnegative : bool, default False
        Whether counts below 0 are replaced by 0, which costs nothing. Small counts, and sums of
        many counts, are then too large on average; error bars stay valid. `dpfast.consistent`
        removes negative counts and keeps the sum.

    Returns
    -------
    counts : ndarray of int64, shape (bins,) or one bin count for each dimension
        Private counts, or with `weights` float64 sums of weights. They are unbiased, so they may be
        negative, unless `nonnegative` is true. NaN and null are in no bin. An integer beyond 2**53
        counts as the float64 nearest to it.
    edges : ndarray, or list of d of them
        The edges, or the categories: float64, text or bool.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `sum`.

    See Also
    --------
    dpfast.group_by : Counts and other statistics of groups, also with private group keys.

    Notes
    -----
    Cost: one read of the data, and a sample of noise for each bin.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> counts, edges = dp.histogram(ages, bins=4, bounds=(0, 100), epsilon=1.0)
    >>> edges.tolist()
    [0.0, 25.0, 50.0, 75.0, 100.0]
    >>> bool(abs(counts - [2800, 10_000, 10_000, 6400]).max() < 100)
    True

    Two axes, a text and a number: the rows of each sex and age.

    >>> table = {"sex": ["Female", "Male"] * 14_600, "age": ages}
    >>> counts, _ = dp.histogram(
    ...     table,
    ...     categories=[["Female", "Male"], None],
    ...     bins=[None, [18, 65, 91]],
    ...     epsilon=1.0,
    ... )
    >>> bool(abs(counts - [[9400, 5200]]).max() < 100)
    True
    """


def axes_of(bins: Any, bounds: Any, categories: Any) -> tuple[tuple[Bins, ...], bool]:
    """Return the checked bins of each axis, and whether the data have a column for each axis."""
    bins, categories = listed("bins", bins), listed("categories", categories)
    if bins is None and categories is None:
        checks.fail("bins", "given, or categories instead", bins)
    if bins is not None and categories is not None:
        return _mixed(bins, bounds, categories), True
    if bins is None:
        if bounds is not None:
            checks.fail("bounds", "left out with categories", bounds)
        if not _nested(categories):
            return (categories_of(categories, "categories"),), False
        axes = [categories_of(values, f"categories[{i}]") for i, values in enumerate(categories)]
        return tuple(axes), True
    pairs, several = ((), False) if bounds is None else checks.pairs(bounds)
    if not several and not _nested(bins):
        return (_bins(bins, pairs[0] if pairs else None, "bins"),), False
    bins_of_axes = checks.items(bins) if _listed(bins) else [bins] * len(pairs)
    limits: Sequence[tuple[float, float] | None] = pairs
    if len(pairs) < 2:
        limits = [pairs[0] if pairs else None] * len(bins_of_axes)
    if len(bins_of_axes) != len(limits):
        checks.fail("bins", f"given for {len(limits)} axes, as bounds are", bins)
    both = enumerate(zip(bins_of_axes, limits, strict=True))
    axes = [_bins(*axis, f"bins[{i}]") for i, axis in both]
    return tuple(axes), True


def _mixed(bins: Any, bounds: Any, categories: Any) -> tuple[Bins, ...]:
    """Return the checked axes of two lists, of which each axis has an entry in one."""
    rule = "given, or categories instead: for each axis one of the two, and None for the other"
    for listing in (bins, categories):
        if not _listed(listing) or len(listing) != len(bins):
            checks.fail("bins", rule, bins)
    limits = [None] * len(bins) if bounds is None else bounds
    if not _listed(limits) or len(limits) != len(bins):
        checks.fail("bounds", f"given for {len(bins)} axes, as bins are", bounds)
    axes = enumerate(zip(bins, limits, categories, strict=True))
    return tuple(axis_of(*axis, f"[{i}]") for i, axis in axes)


def axis_of(bins: Any, bounds: Any, categories: Any, suffix: str) -> Bins:
    """Return the checked bins of one axis; `suffix` names the axis in errors, as in bins[0]."""
    if (bins is None) == (categories is None):
        checks.fail(f"bins{suffix}", "given, or categories instead: one of the two", bins)
    if categories is None:
        pair = None if bounds is None else checks.bounds(bounds, f"bounds{suffix}")
        return _bins(bins, pair, f"bins{suffix}")
    if bounds is not None:
        checks.fail(f"bounds{suffix}", "left out, or None, with categories", bounds)
    return categories_of(categories, f"categories{suffix}")


def _listed(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def as_tuples(value: Any) -> Any:
    """Return a list, an array or a mapping as immutable tuples, also where they are nested."""
    if isinstance(value, Mapping):
        return tuple((name, as_tuples(item)) for name, item in value.items())
    return tuple(map(as_tuples, value)) if _listed(value) else value


def _nested(value: Any) -> bool:
    """Tell whether a sequence holds sequences."""
    return _listed(value) and any(map(_listed, value))


def _numbers(value: Any, name: str, rule: str, least: int) -> NDArray[np.float64]:
    if not _listed(value):
        checks.fail_type(name, rule, value)
    if _nested(value) or len(value) < least:
        checks.fail(name, rule, value)
    numbers = np.array([checks.number(name, number, rule) for number in value])
    with np.errstate(over="ignore"):
        if not (np.diff(numbers) > 0).all() or not math.isfinite(numbers[-1] - numbers[0]):
            checks.fail(name, rule, value)
    if len(numbers) > MOST_CELLS:
        checks.fail(name, f"at most {MOST_CELLS} numbers", f"{len(numbers)} numbers")
    return numbers


def categories_of(value: Any, name: str) -> Bins:
    value = listed(name, value)
    labels = checks.items(value) if _listed(value) else []
    if labels and all(isinstance(category, str) for category in labels):
        texts = [_text(f"{name}[{i}]", category) for i, category in enumerate(labels)]
        if len(set(texts)) < len(texts):
            checks.fail(name, "a list of different texts", value)
        if len(texts) > MOST_CELLS:
            checks.fail("categories", f"at most {MOST_CELLS} texts", len(texts))
        return Bins(np.array(texts), _axis(np.arange(float(len(texts)))), Words(texts, name))
    truths = bool(labels) and all(isinstance(category, (bool, np.bool_)) for category in labels)
    numbers = _numbers([*map(int, labels)] if truths else value, name, CATEGORIES, 1)
    return Bins(numbers.astype(np.bool_) if truths else numbers, _axis(numbers), name=name)


def _text(name: str, value: Any) -> str:
    """Return a text that a NumPy array stores completely; refuse a text with trailing nulls."""
    checks.keeps_end(name, value)
    return checks.text(name, value)


def one_category(value: Any, name: str) -> Bins:
    """Return the bin of one public value: a truth value, a number or a text."""
    if isinstance(value, str):
        _text(name, value)
    elif not isinstance(value, (bool, np.bool_)):
        checks.number(name, value, "a truth value, a finite number or a text")
    return categories_of([value], name)


def two_categories(value: Any, name: str) -> tuple[Any, Any]:
    """Return two different public values: texts, or numbers (also for truth values)."""
    rule = "two different truth values, finite numbers or texts"
    value = listed(name, value)
    if not _listed(value) or len(value) != 2 or _nested(value):
        checks.fail_kind(name, rule, value)
    first, second = value
    if isinstance(first, str) and isinstance(second, str):
        first, second = (_text(f"{name}[{i}]", end) for i, end in enumerate(value))
    else:
        plain = [float(end) if isinstance(end, (bool, np.bool_)) else end for end in value]
        first, second = (checks.number(name, end, rule) for end in plain)
    if first == second:
        checks.fail(name, rule, value)
    return first, second


def _axis(edges: NDArray[np.float64], last: float | None = None, fine: int = FINE) -> Axis:
    """Return bins that begin at `edges` and end at `last`; if None, each bin is one number."""
    table = min(fine * len(edges), MOST_FINE)
    return Axis(edges, float(edges[-1]) if last is None else last, table, last is None)


def _bins(value: Any, limits: tuple[float, float] | None, name: str) -> Bins:
    if isinstance(value, (Sequence, np.ndarray)):
        edges, fine = _numbers(value, name, EDGES, 2), FINE
    else:
        count, fine = checks.whole(name, value, 1, MOST_CELLS), 1
        bounds = name.replace("bins", "bounds", 1)
        limits = limits or checks.bounds(None, bounds)  # raises an error about the missing argument
        edges = np.linspace(*limits, count + 1)
        if not (np.diff(edges) > 0).all():
            checks.fail(bounds, f"far enough apart for {count} bins", limits)
    return Bins(edges, _axis(edges[:-1].copy(), float(edges[-1]), fine))
