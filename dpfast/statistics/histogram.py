"""Private histograms over public bins: exact counts with integer noise.

A row is in at most one bin. A row that is added or removed changes one count by 1, so the L1 and
the L2 sensitivity of all counts is 1. A row that is replaced may leave one bin and enter another:
the sensitivities are 2 and sqrt(2).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.error_bars import NOISE, Expected
from .._core.types import Bounds, BoundsEach, Neighbors, Number
from .._kernels.statistics import MOST_CELLS, Axis, tally
from ..budget.budget import Budget
from ..budget.release import release
from ..noise.additive import amount
from ..noise.integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from ..sources import Chunk, Source
from ..sources.base import RowChunk, RowSource
from ..sources.intake import read_column, read_rows
from ..sources.masked import kept, refuse_mask
from ..sources.words import Words
from ..summaries.side_by_side import flat, stretches
from .arguments import Keywords

#: Public values of one axis: texts, numbers or truth values.
Categories: TypeAlias = Sequence[str] | Sequence[Number]

#: Cells of the table from which a search starts, for each bin, as long as they are not too many.
FINE, MOST_FINE = 4, 1 << 22


@dataclass(frozen=True, slots=True)
class Bins:
    """The public bins of one axis; see `dpfast.histogram`."""

    edges: NDArray[Any]
    native: Axis
    words: Words | None = None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of rows in public bins; see `dpfast.histogram`."""

    axes: tuple[Bins, ...]
    neighbors: str
    loss: Loss
    where: NDArray[np.bool_] | None
    rows: bool  # whether rows are read whole, and not as one column of numbers

    name: ClassVar[str] = "histogram"

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.native.bins for axis in self.axes)

    def reduce(self, source: Source | RowSource) -> NDArray[np.int64]:
        """Count the rows in each bin."""
        summarize: Any = self._rows if self.rows else self._column
        counts: NDArray[np.int64] = source.reduce(summarize, operator.iadd)
        if self.where is not None and counts[-1] != len(self.where):
            refuse_mask()
        return counts[:-2]

    @property
    def noise(self) -> IntegerNoise:
        moved = 2 if self.neighbors == "replace" else 1
        return integer_noise(self.loss, Sensitivity(moved, moved, moved))

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
        noise = self.noise
        assert noise.shift == 0
        noisy: NDArray[np.int64] = summary + noise.draw(len(summary), generator)
        return noisy.reshape(self.shape)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each count, that of the noise."""
        return Expected(confidence, float(self.noise.within(1 - confidence)), note=NOISE)

    def _column(self, chunk: Chunk) -> NDArray[np.int64]:
        counts = np.zeros(self.axes[0].native.bins + 2, np.int64)
        counts[-1] = len(chunk.values) + chunk.nulls
        if self.where is None:
            self.axes[0].native.histogram(chunk.values, counts[:-1])
            return counts
        for piece in kept(chunk, self.where):
            self.axes[0].native.histogram(piece.values, counts[:-1])
        return counts

    def _rows(self, chunk: RowChunk) -> NDArray[np.int64]:
        counts = np.zeros(math.prod(self.shape) + 2, np.int64)
        for columns, read in stretches(chunk, self.where):
            place = np.zeros(len(columns[0]), np.uint32)
            stride = 1
            for column, axis in zip(reversed(columns), reversed(self.axes), strict=True):
                axis.native.place(flat(column), stride, place)
                stride *= axis.native.bins
            tally(place, counts[:-1])
            counts[-1] += read
        return counts


@overload
def histogram(
    data: Any,
    *,
    bins: int | Sequence[Number] | None = None,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    **others: Unpack[Keywords],
) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
@overload
def histogram(
    data: Any,
    *,
    bins: Sequence[int | Sequence[Number] | NDArray[Any] | None] | NDArray[Any] | None = None,
    bounds: BoundsEach | Sequence[Bounds | None] | None = None,
    categories: Sequence[Categories | NDArray[Any] | None] | NDArray[Any] | None = None,
    **others: Unpack[Keywords],
) -> tuple[NDArray[np.int64], NDArray[Any] | list[NDArray[Any]]]: ...
def histogram(
    data: Any,
    *,
    bins: Any = None,
    bounds: Any = None,
    categories: Any = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors = "replace",
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any] | list[NDArray[Any]]]:
    """Release how many rows are in each of some public bins.

    Privacy
    -------
    Neighbors are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for: a replaced row changes two
    counts by 1, one that comes or goes changes one, however many bins and axes there are (Dwork,
    McSherry, Nissim and Smith, TCC 2006). The counts are exact, and so is the noise: discrete
    Laplace or Gaussian, or a rounded Gaussian for `delta`. Bins must not come from the data.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), table, or source
        One column, or d of them for a histogram in d dimensions (a matrix, a structured array, a
        table, `dpfast.scan` with a list of columns). Columns of text may be lists, NumPy arrays of
        text or objects, of pandas, Arrow or Polars (dictionary-encoded too), or of a file.
    bins : int, sequence of float, or sequence of d of these
        The number of equally wide bins between the `bounds`, or public edges, ascending. A bin
        holds its lower edge and not the upper one, the last bin both, as in `numpy.histogram`.
    bounds : (float, float) or sequence of d such pairs
        Public limits, for bins that are given by number. Rows beyond the first and the last edge
        are in no bin.
    categories : sequence of str, float or bool, or sequence of d of these
        Instead of `bins`, a public list of texts, or of numbers or truth values in ascending order:
        a row is counted if it is one of them. Text is compared as it stands (bytes with its UTF-8).
        With both `bins` and `categories`, each is a sequence of d, and for each axis one of the two
        is None; so are its `bounds` where an axis needs none.
    epsilon, delta, rho, neighbors, where, budget, rng
        As in `sum`.

    Returns
    -------
    counts : ndarray of int64, shape (bins,) or one bin count for each dimension
        Private counts. They are unbiased, so they may be negative. NaN and null are in no bin; an
        integer beyond 2**53 counts as the float64 nearest to it.
    edges : ndarray, or list of d of them
        The edges, or the categories: float64, text or bool.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `sum`.

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

    Text by numbers: how many of each sex are of each age.

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
    loss = privacy.loss(epsilon, delta, rho)
    relation = checks.neighbors(neighbors)
    amount(loss)
    axes, several = axes_of(bins, bounds, categories)
    if math.prod(axis.native.bins for axis in axes) > MOST_CELLS:
        checks.fail("bins", f"at most {MOST_CELLS} in all", [a.native.bins for a in axes])
    words = [axis.words for axis in axes]
    rows = several or any(words)
    if rows:
        argument = "categories" if bins is None else "bins"
        view = read_rows(data, argument, len(axes), relation, where, words)
    else:
        view = read_column(data, relation, where)
    moved = 2 if relation == "replace" else 1
    spent = integer_noise(loss, Sensitivity(moved, moved, moved)).loss
    mechanism = Histogram(axes, relation, spent, view.where, rows)
    counts = release(view.source, mechanism, budget=budget, rng=rng)
    edges = [axis.edges for axis in axes]
    return counts, edges if several else edges[0]


def axes_of(bins: Any, bounds: Any, categories: Any) -> tuple[tuple[Bins, ...], bool]:
    """Return the bins of each axis, and whether they are for rows of several columns."""
    if bins is None and categories is None:
        checks.fail("bins", "given, or categories instead", bins)
    if bins is not None and categories is not None:
        return _mixed(bins, bounds, categories), True
    if bins is None:
        if bounds is not None:
            checks.fail("bounds", "left out with categories", bounds)
        several = _nested(categories)
        return tuple(
            categories_of(values, f"categories[{i}]" if several else "categories")
            for i, values in enumerate(categories if several else [categories])
        ), several
    pairs, several = ((), False) if bounds is None else checks.pairs(bounds)
    if not several:
        several = _nested(bins)
    if not several:
        return (_bins(bins, pairs[0] if pairs else None, "bins"),), False
    each = list(bins) if _listed(bins) else [bins] * len(pairs)
    limits: list[tuple[float, float] | None] = list(pairs)
    if len(pairs) < 2:
        limits = [pairs[0] if pairs else None] * len(each)
    if len(each) != len(limits):
        checks.fail("bins", f"for as many axes as there are bounds, {len(limits)}", bins)
    return tuple(
        _bins(values, limit, f"bins[{i}]")
        for i, (values, limit) in enumerate(zip(each, limits, strict=True))
    ), True


def _mixed(bins: Any, bounds: Any, categories: Any) -> tuple[Bins, ...]:
    """Return the axes where each has either bins or categories."""
    rule = "given, or categories instead: for each axis one of the two, and None for the other"
    for listing in (bins, categories):
        if not _listed(listing) or len(listing) != len(bins):
            checks.fail("bins", rule, bins)
    limits = [None] * len(bins) if bounds is None else bounds
    if not _listed(limits) or len(limits) != len(bins):
        checks.fail("bounds", f"for as many axes as there are bins, {len(bins)}", bounds)
    axes = []
    for i, (edges, limit, listed) in enumerate(zip(bins, limits, categories, strict=True)):
        if (edges is None) == (listed is None):
            checks.fail("bins", rule, bins)
        if listed is None:
            pair = None if limit is None else checks.bounds(limit, f"bounds[{i}]")
            axes.append(_bins(edges, pair, f"bins[{i}]"))
            continue
        if limit is not None:
            checks.fail(f"bounds[{i}]", "None for an axis with categories", limit)
        axes.append(categories_of(listed, f"categories[{i}]"))
    return tuple(axes)


def _listed(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _nested(value: Any) -> bool:
    """Tell whether a sequence holds sequences."""
    return _listed(value) and any(map(_listed, value))


def _numbers(value: Any, name: str, least: int) -> NDArray[np.float64]:
    rule = f"at least {least} finite numbers in ascending order"
    if not _listed(value):
        checks.fail_type(name, rule, value)
    if _nested(value) or np.ndim(value) != 1 or len(value) < least:
        checks.fail(name, rule, value)
    numbers = np.array([checks.number(name, number, rule) for number in value])
    with np.errstate(over="ignore"):
        if not (np.diff(numbers) > 0).all() or not math.isfinite(numbers[-1] - numbers[0]):
            checks.fail(name, rule, value)
    if len(numbers) > MOST_CELLS:
        checks.fail(name, f"at most {MOST_CELLS} numbers", f"{len(numbers)} of them")
    return numbers


def categories_of(value: Any, name: str) -> Bins:
    if _listed(value) and len(value) and all(isinstance(category, str) for category in value):
        listed = [checks.text(f"{name}[{i}]", category) for i, category in enumerate(value)]
        if len(set(listed)) < len(listed):
            checks.fail(name, "a list of different texts", value)
        return Bins(np.array(listed), _exactly(np.arange(float(len(listed)))), Words(listed))
    if (
        _listed(value)
        and len(value)
        and all(isinstance(category, (bool, np.bool_)) for category in value)
    ):
        truths = _numbers([int(category) for category in value], name, 1)
        return Bins(truths.astype(np.bool_), _exactly(truths))
    numbers = _numbers(value, name, 1)
    return Bins(numbers, _exactly(numbers))


def _exactly(numbers: NDArray[np.float64]) -> Axis:
    """Return bins of one number each."""
    if len(numbers) > MOST_CELLS:
        checks.fail("categories", f"at most {MOST_CELLS} of them", len(numbers))
    return Axis(numbers, float(numbers[-1]), min(FINE * len(numbers), MOST_FINE), True)


def _bins(value: Any, limits: tuple[float, float] | None, name: str) -> Bins:
    if isinstance(value, (Sequence, np.ndarray)):
        edges = _numbers(value, name, 2)
        fine = FINE
    else:
        count = checks.whole(name, value, 1)
        if limits is None:
            checks.bounds(None)  # says what is missing
        assert limits is not None
        if count > MOST_CELLS:
            checks.fail(name, f"at most {MOST_CELLS}", value)
        edges = np.linspace(*limits, count + 1)
        fine = 1
        if not (np.diff(edges) > 0).all():
            checks.fail("bounds", f"far enough apart for {count} bins", limits)
    table = min(fine * (len(edges) - 1), MOST_FINE)
    return Bins(edges, Axis(edges[:-1].copy(), float(edges[-1]), table, False))
