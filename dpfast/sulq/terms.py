"""What can be summed: named, compiled and stored functions of a row, checked and made exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import BoundsEach
from .._core.types import Number as RealNumber
from .._kernels.jit import RowLoop, is_compiled
from ..sources.base import RowSource
from ..sources.table import as_rows
from ..summaries.cells import FINE, SQUARES, cells
from .conditions import Condition
from .row_functions import (
    NONE,
    Columns,
    Count,
    Exact,
    Function,
    Joint,
    Number,
    Piece,
    Product,
    Square,
    Vector,
    native,
    told,
)
from .row_matrices import expect_scale

NAMES = ("count", "value", "square", "product", "row")


@dataclass(frozen=True)
class Term:
    """A function of a batch; see `NoisySums.batch`. By itself it computes nothing.

    Parameters
    ----------
    f : str, Numba dispatcher or array_like
        As in `NoisySums.sum`.
    bounds, l2, size, column : optional
        As in `NoisySums.sum`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        By `NoisySums.batch`, for a function that does not suit the rows.

    Notes
    -----
    Cost: none.

    Examples
    --------
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
class _Column(Function):
    """One column of each row."""

    column: Any
    size: int = 1

    @property
    def columns(self) -> Columns:
        return frozenset([self.column])

    def values(self, piece: Piece) -> NDArray[Any]:
        return piece.column(self.column)


@dataclass(frozen=True, slots=True)
class _Row(Function):
    """All numbers of each row."""

    names: tuple[str, ...] | None
    size: int
    columns: Columns = None

    def values(self, piece: Piece) -> NDArray[np.float64]:
        rows = piece.own
        if self.names is None:
            return np.asarray(rows, np.float64).reshape(len(rows), self.size)
        return np.stack([np.asarray(rows[name], np.float64) for name in self.names]).T


@dataclass(frozen=True, slots=True)
class _Compiled(Function):
    """A function compiled by Numba."""

    loop: RowLoop
    size: int
    columns: Columns = None

    def values(self, piece: Piece) -> NDArray[np.float64]:
        values = self.loop.values(piece.own, self.size)
        return values.reshape(-1) if self.size == 1 else values


@dataclass(frozen=True, slots=True)
class _Stored(Function):
    """Values that were computed before, one entry for each row."""

    array: NDArray[Any]
    size: int
    columns: Columns = NONE

    def values(self, piece: Piece) -> NDArray[Any]:
        values = native(piece.of(self.array))
        return values.reshape(-1) if self.size == 1 else values


@dataclass(frozen=True, slots=True)
class _Holds(Function):
    """1 where a condition holds, and NaN where one of its columns is NaN."""

    condition: Condition
    places: dict[Any, Any]
    size: int = 1

    @property
    def columns(self) -> Columns:
        return frozenset(self.places.values())

    def values(self, piece: Piece) -> NDArray[Any]:
        read = {name: piece.column(place) for name, place in self.places.items()}
        return told(self.condition.holds(read.__getitem__), read.values())


def listed(terms: Any) -> list[Term]:
    """Return the terms of a batch, some of which may be functions alone."""
    try:
        each = [term if isinstance(term, Term) else Term(term) for term in terms]
    except Exception:  # whatever an object thinks of being a sequence
        checks.fail_kind("terms", "a sequence of functions", terms)
    if not each:
        checks.fail("terms", "at least one", terms)
    return each


def exact(term: Term, source: RowSource, nan: str | float, neighbors: str) -> Exact:
    """Return the function of a term, once everything about it has been checked."""
    if isinstance(term.f, str):
        return _named(term, source, nan, neighbors)
    function = _function(term, source, neighbors)
    if term.column is not None:
        checks.fail("column", "left out for a function that is not named", term.column)
    if term.l2 is not None:
        if term.bounds is not None:
            checks.fail("bounds", "left out with l2", term.bounds)
        return Vector(function, expect_scale("l2", term.l2), nan)
    if function.size != 1:
        checks.fail("l2", "given for a function that returns several numbers", term.l2)
    return _number(function, (0, 1) if term.bounds is None else term.bounds, nan, neighbors)


def joint(terms: Sequence[Term], source: RowSource, neighbors: str) -> Joint:
    """Return several functions as one vector, which alone has a bound."""
    functions: list[Function] = []
    for term in terms:
        if term.bounds is not None or term.l2 is not None:
            checks.fail("l2", "the only bound of a batch with l2", term)
        if not isinstance(term.f, str):
            functions.append(_function(term, source, neighbors))
            continue
        match checks.choice("f", term.f, ("count", "value", "row")):
            case "count":
                functions.append(Count())
            case "value":
                functions.append(_Column(_column(term.column, source)))
            case _:
                functions.append(_row(source))
    return Joint(tuple(functions))


def _named(term: Term, source: RowSource, nan: str | float, neighbors: str) -> Exact:
    name = checks.choice("f", term.f, NAMES)
    if term.size is not None:
        checks.fail("size", "left out for a function with a name", term.size)
    if name == "row":
        if term.l2 is None or term.bounds is not None or term.column is not None:
            checks.fail("l2", "given for 'row', without bounds or column", term)
        return Vector(_row(source), expect_scale("l2", term.l2), nan)
    if term.l2 is not None:
        checks.fail("l2", "left out for a function of one number", term.l2)
    if name == "count":
        if term.bounds is not None or term.column is not None:
            checks.fail("bounds", "left out for 'count', as well as column", term)
        return Count()
    if term.bounds is None:
        checks.fail("bounds", f"given for {name!r}, known without looking at the data", None)
    if name != "product":
        column = _Column(_column(term.column, source))
        return _number(column, term.bounds, nan, neighbors, name == "square")
    if not isinstance(term.column, (tuple, list)) or len(term.column) != 2:
        checks.fail("column", "two columns for 'product'", term.column)
    limits, is_vector = checks.pairs(term.bounds)
    if is_vector and len(limits) != 2:
        checks.fail("bounds", "one pair, or one for each of the two columns", term.bounds)
    a, b = (
        Number(_Column(_column(column, source)), *pair, cells(*pair, SQUARES), nan)
        for column, pair in zip(term.column, limits if is_vector else limits * 2, strict=True)
    )
    return Product(a, b)


def _number(
    function: Function, bounds: Any, nan: str | float, neighbors: str, squared: bool = False
) -> Number:
    lo, hi = checks.bounds(bounds)
    if squared:
        return Square(function, lo, hi, cells(lo, hi, SQUARES), nan)
    width = max(hi - lo, abs(lo), abs(hi)) if neighbors == "add-remove" else None
    return Number(function, lo, hi, cells(lo, hi, FINE, width), nan)


def bits(f: Any, source: RowSource, neighbors: str) -> Function:
    """Return one number of each row, which is true where it is not 0."""
    if isinstance(f, str):
        rule = "a condition, a function compiled by Numba, or an array with one entry a row"
        checks.fail_type("f", rule, f)
    function = _function(Term(f), source, neighbors)
    if function.size != 1:
        checks.fail("f", "one number for each row", f"{function.size} numbers")
    return function


def _function(term: Term, source: RowSource, neighbors: str) -> Function:
    if isinstance(term.f, Function):
        return term.f
    if isinstance(term.f, Condition):
        _sized(term, 1)
        return _Holds(term.f, {name: _column(name, source) for name in term.f.columns()})
    if not is_compiled(term.f):
        return _stored(term, source, neighbors)
    loop = RowLoop(term.f, source.dtype, source.width)
    if loop.length is None:
        return _Compiled(loop, _sized(term, 1))
    return _Compiled(loop, _sized(term, None if loop.length < 0 else loop.length))


def _sized(term: Term, length: int | None) -> int:
    if term.size is None:
        if length is None:
            checks.fail("size", "given for a function that returns an array", None)
        return length
    size = checks.whole("size", term.size, 1)
    if length not in (None, size):
        checks.fail("size", f"{length}, as many numbers as f returns, or left out", size)
    return size


def _stored(term: Term, source: RowSource, neighbors: str) -> _Stored:
    rule = "a name like 'count', a function compiled by Numba, or an array with one entry a row"
    if callable(term.f):
        checks.fail_kind("f", rule, term.f, " (compile it with numba.njit, or give its values)")
    values = as_rows(term.f, name="f")
    if values.dtype.names is not None or values.length is None:
        checks.fail_kind("f", rule, term.f)
    if source.length is None:
        checks.fail_kind("f", "a named or compiled function for data of unknown length", term.f)
    checks.entries("f", values.length, source.length, neighbors)
    array = values.array
    if array is None:
        shape = (values.length,) if values.width is None else (values.length, values.width)
        held = array = np.empty(shape, values.dtype)

        def keep(chunk: Any) -> None:
            held[chunk.start : chunk.start + len(chunk.rows)] = chunk.rows

        values.reduce(keep, lambda a, b: None)
    if values.length != source.length:
        array = array[:0]  # which the pass finds too short, whatever it was
    return _Stored(array, _sized(term, values.width or 1))


def _row(source: RowSource) -> _Row:
    names = source.dtype.names
    return _Row(names, len(names) if names else source.width or 1)


def _column(column: Any, source: RowSource) -> Any:
    """Return the column as rows are asked for it."""
    names = source.dtype.names
    if names is not None:
        return checks.choice("column", column, names)
    if source.width is None:
        if column is not None:
            checks.fail("column", "left out for rows of one number", column)
        return None
    rule = f"the number of one of {source.width} columns"
    if not checks.is_whole(column):
        checks.fail_type("column", rule, column)
    if not 0 <= column < source.width:
        checks.fail("column", rule, column)
    return int(column)
