"""Read a column of a database as cells of a public grid, by expressions that never fail.

If an expression failed on a value, the error would reveal that a row has this value. So values are
clamped before they are converted, by comparisons only. Only whole numbers that int64 can hold are
converted.

x / grid + MAGIC, with MAGIC = 1.5 2^52, is a float64 whose last bit is worth 1. So the addition
rounds to the nearest whole number, with ties to even. Every database with float64 rounds in this
way, and so does the kernel for data in memory. No function ``ROUND`` of a database is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..._core import checks
from ..._core.extras import extra
from ..arrow import EXACT_DIGITS
from ..base import Gridded
from .dialects import DIALECTS

MAGIC = 1.5 * 2.0**52


def exactly(number: float) -> Any:
    """Return a literal of a normal float64, exact in any database because made of integers."""
    ibis = extra("ibis", "data in a database")
    fraction, exponent = math.frexp(number)
    whole = int(math.ldexp(fraction, 53))
    exponent -= 53
    while whole and not whole % 2:
        whole, exponent = whole // 2, exponent + 1
    value = ibis.literal(whole, "int64").cast("float64")
    while whole and exponent:
        step = max(-60, min(60, exponent))
        power = ibis.literal(1 << abs(step), "int64").cast("float64")
        value = value * power if step > 0 else value / power
        exponent -= step
    return value


def numbers(column: Any, dialect: str) -> Any:
    """Return a column of numbers as float64; NULL or NaN where a row has no number.

    In SQLite each row has a separate type, and Ibis takes the type of the first row for the column.
    So in SQLite no type is refused, and a value that is not a number is missing.

    Raises
    ------
    ArgumentTypeError
        If the column is not of a type of numbers.
    """
    kind = column.type()
    if dialect == "sqlite" and not kind.is_temporal():
        return column.typeof().isin(["integer", "real"]).ifelse(column, None).cast("float64")
    if not (kind.is_numeric() or kind.is_boolean()):
        checks.fail_kind("data", "a column of numbers", column, f" of type {kind}")
    if kind.is_boolean():
        column = column.cast("int32")  # PostgreSQL cannot cast booleans to other numbers
    elif kind.is_decimal():
        if kind.precision is None or kind.scale is None:
            more = f" of type {kind} (cast it to decimal(38, 10), or to float64)"
            checks.fail_kind("data", "a column of numbers", column, more)
        column = column.cast("string") if kind.precision > EXACT_DIGITS else column
    return column.cast("float64")


def without_nan(column: Any, dialect: str) -> Any:
    """Return a column of numbers as float64, as `numbers` does, with NULL for NaN."""
    x = numbers(column, dialect)
    return x if dialect == "sqlite" else x.isnan().ifelse(None, x)  # SQLite stores NaN as NULL


def cell(column: Any, cells: Gridded, dialect: str) -> Any:
    """Return the cell of each row's number, from 0 to ``cells.span``; NULL for no number.

    Parameters
    ----------
    column : ibis column
    cells : Cells
    dialect : str
        The kind of the database, by Ibis's name.

    Returns
    -------
    ibis column of int64
    """
    ibis = extra("ibis", "data in a database")
    x, kind = numbers(column, dialect), column.type()
    lo, hi = cells.first * cells.grid, (cells.first + cells.span) * cells.grid
    are_integers = kind.is_signed_integer() and dialect != "sqlite"
    if are_integers and lo % 1 == hi % 1 == 1.0 / cells.grid % 1 == 0:
        low, high = int(lo), int(hi)
        inside, above = (column >= low) & (column <= high), column > high
        whole = ibis.cases((inside, column), (column < low, low), (above, high)).cast("int64")
        return (whole - low) * int(1.0 / cells.grid)
    least, most = exactly(lo), exactly(hi)
    compared, first, last = x, least, most
    if kind.is_decimal() and dialect != "sqlite":
        ends = _decimal_ends(lo, hi, kind)
        # So few digits can be compared as decimals, and cast exactly.
        if max(map(abs, ends)) < 10**EXACT_DIGITS:
            compared, x = column, column.cast("float64")
            first, last = (ibis.literal(Decimal(end).scaleb(-kind.scale), kind) for end in ends)
    above = compared > last if dialect == "sqlite" else (compared > last) & ~x.isnan()
    inside = (compared >= first) & (compared <= last)
    arms = [(inside, x), (compared < first, least), (above, most)]
    if cells.grid > 1.0 and lo <= 0.0 <= hi:
        # x / grid might underflow float64, which PostgreSQL reports as an error.
        quarter = exactly(cells.grid / 4.0)
        arms.insert(0, ((x > -quarter) & (x < quarter), exactly(0.0)))
    return rounded(ibis.cases(*arms), cells, dialect)


def _decimal_ends(lo: float, hi: float, kind: Any) -> tuple[int, int]:
    """Return the least and largest decimals between two numbers, as integers without a point.

    If the least is greater than the largest, no decimal lies between the numbers.
    """
    unit, most = 10**kind.scale, 10**kind.precision
    ends = math.ceil(Fraction(lo) * unit), math.floor(Fraction(hi) * unit)
    return max(ends[0], 1 - most), min(ends[1], most - 1)


def rounded(x: Any, cells: Gridded, dialect: str) -> Any:
    """Return the cells of numbers `x` that lie within the grid, rounded to the nearest."""
    scaled = x * exactly(1.0 / cells.grid)
    if not DIALECTS[dialect].cast_rounds:  # otherwise the cast rounds, which is cheaper
        scaled = (scaled + exactly(MAGIC)) - exactly(MAGIC)
    cell = scaled.cast("int64")
    return cell - cells.first if cells.first else cell


def equal_bins(x: Any, edges: Sequence[float], last: float) -> Any:
    """Return the bin of x by its distance from the first edge; NULL where x is in no bin.

    The distance does not fall as x grows. So the result is right for all x if it is right at both
    ends of each bin. If it is wrong there, as for bins of different widths, None is returned.
    """
    ibis, width = extra("ibis", "data in a database"), (last - edges[0]) / len(edges)
    if not 2.0**-1000 < width < math.inf:
        return None
    ends = [*edges[1:], last]
    largest = [math.nextafter(end, -math.inf) for end in ends]
    for start, first in ((0.0, edges[0] / width), (edges[0], 0.0)):
        if first % 1.0 or any(
            [math.floor((y - start) / width) - first for y in points] != list(range(len(edges)))
            for points in (edges, largest)
        ):
            continue
        lo, hi = exactly(edges[0]), exactly(last)
        x = ibis.cases(((x >= lo) & (x < hi), x), (x == hi, exactly(largest[-1])))
        x = x - exactly(start) if start else x
        return (x / exactly(width)).floor().cast("int64") - int(first)
    return None


def binary_search(x: Any, edges: Sequence[Any], are_single: bool = False, first: int = 0) -> Any:
    """Return the bin of x by comparisons; x must not be below the first edge.

    Bins begin at their edges, or are single numbers if `are_single`.
    """
    half = len(edges) // 2
    if half:
        lower = binary_search(x, edges[:half], are_single, first)
        upper = binary_search(x, edges[half:], are_single, first + half)
        return (x >= edges[half]).ifelse(upper, lower)
    index = extra("ibis", "data in a database").literal(first, "int64")
    return (x == edges[0]).ifelse(index, None) if are_single else index
