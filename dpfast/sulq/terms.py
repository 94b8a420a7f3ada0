"""Terms of a batch as functions with exact integer sums, and the sensitivity of these sums.

A number in the public range [lo, hi] becomes a cell of a public grid: first + u, where u is from 0
to span. So a sum changes by at most max |cell| if a row is added or removed. It changes by at most
span if a row is replaced and the set of summed rows is public. A vector is clipped to the ball of
radius r, and each of its k coordinates is rounded to the nearest cell. This moves the vector by at
most sqrt(k) / 2 cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.types import BoundsEach
from .._core.types import Number as RealNumber
from ..measurement.choice import Moves
from ..privacy import Loss, Pure
from ..summaries.cells import FINE, SQUARES, Cells, cells, nearest
from ..summaries.moments import Moments, moments_of
from ..summaries.totals import totals_of
from ..tables.base import RowChunk, RowSource
from ..tables.labels import Labels, aligned
from ..tables.masked import refuse_mask
from ..tables.table import only
from . import row_functions
from .parts import Boxes, Part
from .row_functions import Columns, Function, MaskedChunk, one_column, union

#: A float, or a float64 array if the function has several numbers.
Answer: TypeAlias = Any


@dataclass(frozen=True)
class Term:
    """A function of a row with its own bounds, for a query of several sums (`NoisySums.batch`).

    Parameters
    ----------
    f : str, Numba dispatcher, condition or array_like
        The function, as in `NoisySums.sum`.
    bounds, l2, size, column : optional
        As in `NoisySums.sum`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        `NoisySums.batch` raises them for a function that does not suit the rows.

    Notes
    -----
    Cost: none.

    Examples
    --------
    The sum of a column of ages, clamped to 0 and 120:

    >>> import dpfast as dp
    >>> dp.sulq.Term("value", bounds=(0, 120), column="age")
    Term(f='value', bounds=(0, 120), l2=None, size=None, column='age')
    """

    f: Any
    bounds: BoundsEach | None = None
    l2: RealNumber | None = None
    size: int | None = None
    column: int | str | Sequence[int | str] | None = None


@dataclass(frozen=True, slots=True)
class Exact:
    """A function of a row with integer values, whose sums are exact.

    Parameters
    ----------
    size : int
        The number of integers.
    columns : frozenset or None
        The columns of a row from which the integers are computed.
    unit : Fraction
        The value of the integer 1.
    tally : callable
        A function of a `MaskedChunk` that returns the sums of its rows, and the number of rows
        whose missing value is an error.
    limits : (int, int), optional
        The least and the largest integer of a row; None for a vector.
    length : int
        The largest length of a vector.
    shift : int
        The number that has been subtracted from the integer of each row.

    Two such functions are equal if their noise and the values of their integers are equal.
    """

    size: int
    columns: Columns = field(compare=False)
    unit: Fraction
    tally: Callable[[MaskedChunk], tuple[list[int], int]] = field(compare=False)
    limits: tuple[int, int] | None = None
    length: int = 0
    shift: int = 0

    def centered(self) -> Exact:
        """Return a number as half cells from the middle of its limits; a vector unchanged."""
        if self.limits is None:
            return self
        least, most = self.limits
        shift, span = least + most, most - least

        def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
            (total,), missing = self.tally(chunk)
            return [2 * total - shift * chunk.count], missing

        unit, limits = self.unit / 2, (-span, span)
        return replace(self, unit=unit, tally=tally, limits=limits, shift=shift)

    def sensitivity(self, neighbors: str) -> Part:
        """Return the sensitivity of the sums of this function between neighbors."""
        if self.limits is None:
            most = self.length * (2 if neighbors == "replace" else 1)
            return Part(self.size, most * (math.isqrt(self.size - 1) + 1), most**2, self.size)
        least, largest = self.limits
        most = largest - least if neighbors == "replace" else max(abs(least), abs(largest))
        return Part(1, most, most**2, 1)

    def answer(self, sums: Sequence[int], rows: int | Fraction = 1) -> Answer:
        """Return the value of noisy sums, or the mean over `rows` rows, as float64."""
        unit, shift = self.unit / rows, self.unit * self.shift
        values = [nearest(unit * x + shift) for x in sums]
        return np.array(values) if self.limits is None else values[0]


#: The count of rows: 1 for each.
COUNT = Exact(1, row_functions.NONE, Fraction(1), lambda chunk: ([chunk.count], 0), (1, 1))


def vector(function: Function, l2: Any, nan: str | float) -> Exact:
    """Return the integer function for vectors of a function, shortened to the length `l2`.

    A vector with a NaN is 0, or is refused. Rounding to cells adds at most sqrt(k) / 2 to a length.
    The length is computed, and the vector shortened, with a relative error of at most (k + 8)
    2**-53. Lengths are below 2**42 cells.
    """
    radius, size = checks.scale("l2", l2), function.size
    grid = math.ldexp(1.0, max(math.frexp(radius)[1] - 1 - FINE, -1000))

    def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
        sums, missing = [0] * size, 0
        for block in chunk.blocks():
            whole, lost = in_cells(function.values(block).reshape(-1, size), radius, grid)
            sums = [a + int(b) for a, b in zip(sums, whole.sum(axis=0), strict=True)]
            missing += lost
        return sums, missing if nan == "raise" else 0

    length = int(-(-Fraction(radius) // Fraction(grid))) + math.isqrt(size) // 2 + 2
    return Exact(size, function.columns, Fraction(grid), tally, length=length + (size + 8 >> 11))


def in_cells(values: NDArray[Any], radius: float, grid: float) -> tuple[NDArray[np.int64], int]:
    """Return vectors shortened to `radius` as integers of a grid, and how many had a NaN."""
    x, absent = row_functions.shortened(values, radius)
    x /= grid
    return np.rint(x, out=x).astype(np.int64), int(np.count_nonzero(absent))


def shared(parts: Sequence[Part], loss: Loss) -> list[Part] | list[Boxes]:
    """Divide a round equally among parts, so the noise is proportional to their sensitivity.

    For an epsilon alone, numbers get joint noise, which is chosen by their sensitivities.
    """
    if isinstance(loss, Pure) and all(part.size == 1 for part in parts):
        return [Boxes(Moves(tuple(part.l1 for part in parts)))]
    changing = sum(1 for part in parts if part.l1)
    return [replace(part, share=Fraction(1, max(1, changing))) for part in parts]


def listed(terms: Any) -> list[Term]:
    """Return the terms of a batch; a function without a `Term` becomes one."""
    try:
        terms_of_batch = [term if isinstance(term, Term) else Term(term) for term in terms]
    except Exception:  # an object may raise any error here
        checks.fail_kind("terms", "a sequence of functions", terms)
    if not terms_of_batch:
        checks.fail("terms", "at least one", terms)
    return terms_of_batch


def exact(term: Term, source: RowSource, nan: str | float, neighbors: str) -> Exact:
    """Return the integer function of a term, after checks of all its arguments."""
    if isinstance(term.f, str):
        return _named(term, source, nan, neighbors)
    function = row_functions.function_of(term.f, term.size, source, neighbors)
    if term.column is not None:
        checks.fail("column", "left out, because f is not a name like 'value'", term.column)
    if term.l2 is not None:
        if term.bounds is not None:
            checks.fail("bounds", "left out, because l2 is given", term.bounds)
        return vector(function, term.l2, nan)
    if function.size != 1:
        checks.fail("l2", "given, because f returns several numbers", term.l2)
    return _number(function, (0, 1) if term.bounds is None else term.bounds, nan, neighbors)


def joint(terms: Sequence[Term], source: RowSource, neighbors: str) -> list[Function]:
    """Return the functions of terms without bounds, for a batch with one joint l2 bound."""
    functions = []
    for term in terms:
        if term.bounds is not None or term.l2 is not None:
            checks.fail("l2", "the only bound of a batch: its terms must have no bounds", term)
        if not isinstance(term.f, str):
            functions.append(row_functions.function_of(term.f, term.size, source, neighbors))
        elif checks.choice("f", term.f, ("count", "value", "row")) == "value":
            functions.append(one_column(term.column, source))
        elif term.f == "count":
            functions.append(row_functions.ONES)
        else:
            functions.append(row_functions.whole_row(source))
    return functions


def _named(term: Term, source: RowSource, nan: str | float, neighbors: str) -> Exact:
    name = checks.choice("f", term.f, ("count", "value", "square", "product", "row"))
    if term.size is not None:
        checks.fail("size", "left out, because f is a name", term.size)
    if name == "row":
        if term.l2 is None or term.bounds is not None or term.column is not None:
            checks.fail("l2", "given for f='row', and bounds and column left out", term)
        return vector(row_functions.whole_row(source), term.l2, nan)
    if term.l2 is not None:
        checks.fail("l2", "left out, because f returns one number", term.l2)
    if name == "count":
        if term.bounds is not None or term.column is not None:
            checks.fail("bounds", "left out for f='count', and column too", term)
        return COUNT
    if term.bounds is None:
        checks.fail("bounds", f"given for f={name!r}, from public knowledge", None)
    if name == "value":
        return _number(one_column(term.column, source), term.bounds, nan, neighbors)
    if name == "square":
        column, pair = one_column(term.column, source), checks.bounds(term.bounds)
        return _power(column, pair, nan, cells(*pair, SQUARES), 2)
    if not isinstance(term.column, (tuple, list)) or len(term.column) != 2:
        checks.fail("column", "two columns for f='product'", term.column)
    limits, is_vector = checks.pairs(term.bounds)
    if is_vector and len(limits) != 2:
        checks.fail("bounds", "one pair, or one for each of the two columns", term.bounds)
    pairs = limits if is_vector else limits * 2
    return _product([one_column(column, source) for column in term.column], pairs, nan)


def _number(function: Function, bounds: Any, nan: str | float, neighbors: str) -> Exact:
    """Return the integer function for one number a row, clipped to public bounds."""
    lo, hi = checks.bounds(bounds)
    width = max(hi - lo, abs(lo), abs(hi)) if neighbors == "add-remove" else None
    return _power(function, (lo, hi), nan, cells(lo, hi, FINE, width))


def _power(
    function: Function, pair: tuple[float, float], nan: str | float, grid: Cells, power: int = 1
) -> Exact:
    """Return the integer function for a clipped number of each row, or its square."""
    first, last = grid.first, grid.last
    ends, fill = (first**power, last**power), nan_policy.replacement(nan, *pair)
    least = 0 if power == 2 and first <= 0 <= last else min(ends)

    def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
        totals = totals_of(function.values(chunk), 0, 0, grid, power == 2)
        sums = totals.rows * first + totals.sum
        if power == 2:
            sums = totals.rows * first**2 + 2 * first * totals.sum + totals.squares
        # Missing values are left out: they count as 0. This is for add-remove only.
        if isinstance(fill, str):
            return [sums], totals.missing
        return [sums + totals.missing * (first + grid.cell(fill)) ** power], 0

    return Exact(1, function.columns, Fraction(grid.grid) ** power, tally, (least, max(ends)))


def _product(
    functions: Sequence[Function], pairs: Sequence[tuple[float, float]], nan: str | float
) -> Exact:
    """Return the integer function for the product of two clipped numbers of each row."""
    grids = [cells(*pair, SQUARES) for pair in pairs]
    (a, b), (unit, other) = (g.first for g in grids), (Fraction(g.grid) for g in grids)
    corners = [x * y for x in (a, grids[0].last) for y in (b, grids[1].last)]

    def of(block: MaskedChunk) -> Moments:
        return moments_of([f.values(block) for f in functions], 0, pairs, grids, nan, [(0, 1)])

    def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
        moments = reduce(Moments.merge, map(of, chunk.blocks()))
        (u, v), (product,) = moments.sums, moments.products
        return [moments.rows * a * b + a * v + b * u + product], moments.missing

    columns = row_functions.union(function.columns for function in functions)
    return Exact(1, columns, unit * other, tally, (min(corners), max(corners)))


#: Integer sums, the number of rows with missing values, and the number of all rows read.
Sums = tuple[list[int], int, int]
#: A function that makes a pass over a source, and returns integers.
Total = Callable[[RowSource], list[int]]


def totals(
    functions: Sequence[Exact],
    nan: str | float,
    where: NDArray[np.bool_] | None = None,
    length: int | None = None,
    labels: Labels = (),
) -> Total:
    """Return a function that sums all integer functions, in order, in one pass over a source.

    If `where` or `length` is given, the data must have as many rows as `where` has entries, or
    `length` rows.
    """
    columns = union(function.columns for function in functions)
    expected = length if where is None else len(where)

    def summarize(chunk: RowChunk) -> Sums:
        rows, start = chunk.rows, chunk.start
        keep = None if where is None else where[start : start + len(rows)]
        if keep is not None and len(keep) != len(rows):
            refuse_mask()
        tallies = [function.tally(MaskedChunk(rows, start, keep)) for function in functions]
        return [x for sums, _ in tallies for x in sums], sum(lost for _, lost in tallies), len(rows)

    def merge(a: Sums, b: Sums) -> Sums:
        return [x + y for x, y in zip(a[0], b[0], strict=True)], a[1] + b[1], a[2] + b[2]

    def total(source: RowSource) -> list[int]:
        some: RowSource = aligned(only(source, columns), labels)
        sums, missing, read = some.reduce(summarize, merge)
        if expected not in (None, read):
            refuse_mask()
        nan_policy.refuse(nan, missing)
        return sums

    return total
