"""Columns of a database as cells of a public grid: expressions that raise on no value.

An expression that failed on a value would tell that a row has it. So values are clamped before they
are converted, by comparisons alone, and what is converted is a whole number that int64 holds.

x / grid + MAGIC, with MAGIC = 1.5 2^52, is a float64 whose last bit is worth 1: the addition rounds
to the nearest whole number, ties to even, in every database that has float64, and so as the kernel
of data in memory does. No function of a database rounds.
"""

from __future__ import annotations

import math
from typing import Any

from ..._core import checks
from ..._core.extras import extra
from ..base import Gridded

MAGIC = 1.5 * 2.0**52
#: Digits of a decimal whose float64 is the quotient of two: more may round twice on the way.
EXACT_DIGITS = 15


def exactly(number: float) -> Any:
    """Return a literal of a normal float64, made of integers: a database may misread decimals."""
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
    """Return the nearest float64 of each row of a column of numbers; NULL or NaN where is none.

    In SQLite each row has a type of its own, and Ibis takes that of the first for a column's. So
    what is no number there is missing, and no type is refused.

    Raises
    ------
    ArgumentTypeError
        If the column is not of a type of numbers.
    """
    kind = column.type()
    if dialect == "sqlite":
        return column.typeof().isin(["integer", "real"]).ifelse(column, None).cast("float64")
    if not (kind.is_numeric() or kind.is_boolean()):
        checks.fail_kind("data", "a column of numbers", column, f" of type {kind}")
    if kind.is_boolean():
        column = column.cast("int32")  # PostgreSQL casts them to no other number
    elif kind.is_decimal():
        if kind.precision is None or kind.scale is None:
            more = f" of type {kind} (cast it to decimal(38, 10), or to float64)"
            checks.fail_kind("data", "a column of numbers", column, more)
        column = column.cast("string") if kind.precision > EXACT_DIGITS else column
    return column.cast("float64")


def without_nan(column: Any, dialect: str) -> Any:
    """Return `numbers`, of which NaN is NULL."""
    x = numbers(column, dialect)
    return x if dialect == "sqlite" else x.isnan().ifelse(None, x)  # it stores no NaN


def cell(column: Any, cells: Gridded, dialect: str) -> Any:
    """Return the cell of each row of a column, 0 to ``cells.span``; NULL where is no number.

    Parameters
    ----------
    column : ibis column
    cells : Cells
    dialect : str
        The name of the database's kind, as Ibis has it.

    Returns
    -------
    ibis column of int64
    """
    ibis = extra("ibis", "data in a database")
    x = numbers(column, dialect)
    lo, hi = exactly(cells.first * cells.grid), exactly((cells.first + cells.span) * cells.grid)
    arms = [((x >= lo) & (x <= hi), x), (x < lo, lo)]
    if cells.grid > 1.0 and cells.first <= 0 <= cells.first + cells.span:
        # x / grid might be too small for a float64, which PostgreSQL refuses.
        quarter = exactly(cells.grid / 4.0)
        arms.insert(0, ((x > -quarter) & (x < quarter), exactly(0.0)))
    if dialect != "sqlite":  # which stores no NaN
        arms.append((x.isnan(), None))
    arms.append((x > hi, hi))
    clamped = ibis.cases(*arms)
    magic = exactly(MAGIC)
    whole = (clamped * exactly(1.0 / cells.grid) + magic) - magic
    return whole.cast("int64") - cells.first
