"""Exact sums of integers of the rows of a table, which its database adds up in one statement.

Where sums have 64 bits an integer is added up in pieces of few bits, whose sums stay below 2^63 as
long as a table has fewer than 2^40 rows. A sum comes as text: of which type it is differs between
databases, and on the way it might become float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import extra
from ..._core.owner_log import hide_error, timed
from ...errors import DataError
from ..base import Term
from .dialects import DIALECTS

#: Bits of an integer that are added up at once.
BITS = 23


def sums(table: Any, terms: Sequence[Term]) -> list[int]:
    """Return the exact sum of each term over the rows of a table.

    Parameters
    ----------
    table : ibis table
    terms : sequence of Term
        Their expressions are of this table.

    Raises
    ------
    DataError
        If the database fails. What it says may quote a row, and is not repeated.
    """
    _, totals = sums_by(table, terms, ())
    return [total[0] for total in totals]


def sums_by(
    table: Any, terms: Sequence[Term], by: Sequence[str]
) -> tuple[Any, list[NDArray[np.object_]]]:
    """Return the keys of all groups as a `pyarrow.Table`, and the sum of each term over each.

    Parameters
    ----------
    table : ibis table
    terms : sequence of Term
    by : sequence of str
        Columns of the table that are equal in the rows of a group; none of all rows.

    Raises
    ------
    DataError
        If the database fails.
    """
    each = [(*without_factor(term.integer), term.most) for term in terms]
    terms = [Term(integer, most // factor) for integer, factor, most in each]
    factors = [factor for _, factor, _ in each]
    dialect, many = table.get_backend().name, len(terms)
    if dialect == "sqlite":  # it may work out twice what is written once, and so draw twice
        terms = [*terms, *(Term(term.integer + 0, term.most) for term in terms)]
        factors = [*factors, *factors]
    bits = 64 if DIALECTS[dialect].sums_are_wide else BITS
    shifts = [range(0, max(1, term.most.bit_length()), bits) for term in terms]
    rows = table.select(*by, **{f"term_{i}": term.integer for i, term in enumerate(terms)})
    pieces = {}
    for i, term in enumerate(terms):
        for shift in shifts[i]:
            piece = rows[f"term_{i}"]
            piece = piece >> shift if shift else piece
            piece = piece & ((1 << bits) - 1) if term.most >> shift >> bits else piece
            pieces[f"sum_{i}_{shift}"] = piece.sum().cast("string")
    groups = answer(rows.aggregate(**pieces, by=list(by)))
    totals = [
        sum(
            (_integers(groups[f"sum_{i}_{shift}"]) * (factor << shift) for shift in some),
            np.zeros(len(groups), object),
        )
        for i, (some, factor) in enumerate(zip(shifts, factors, strict=True))
    ]
    if any(map(np.any, map(np.subtract, totals[many:], totals))):
        raise DataError("the rows must be the same whenever they are looked at, and are not")
    return groups.select(list(by)), totals[:many]


def without_factor(integer: Any) -> tuple[Any, int]:
    """Return an integer without a factor that all rows have, and the factor: it is cheaper so."""
    ops, whole = extra("ibis", "data in a database").expr.operations, integer.op()
    if isinstance(whole, ops.Multiply) and isinstance(whole.right, ops.Literal):
        return whole.left.to_expr(), whole.right.value
    return integer, 1


def _integers(column: Any) -> NDArray[np.object_]:
    """Return integers that came as text; that of no rows is 0."""
    return np.array([int(digits or 0) for digits in column.to_pylist()], object)


def answer(question: Any) -> Any:
    """Return what a database answers to an Ibis expression, as a `pyarrow.Table`.

    Raises
    ------
    DataError
        If it fails.
    """
    try:
        with timed("query"):
            return question.to_pyarrow()
    except MemoryError:
        raise
    except Exception as error:  # whose message may quote a row, so it is let go
        kind = hide_error(error)
    raise DataError(f"the database failed while it read the rows ({kind})")
