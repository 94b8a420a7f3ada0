"""Exact sums of integers over rows, which a database computes in one statement.

If sums have 64 bits, an integer is split into parts of a few bits, and each part is summed. These
sums stay below 2^63 if a table has fewer than 2^40 rows. A sum is returned as text, because its
type differs between databases, and might become float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import extra
from ..._core.owner_log import hiding, timed
from ...errors import DataError
from ..base import Term
from .dialects import DIALECTS

#: Integers are summed in parts of this many bits.
BITS = 23


def sums_by(
    table: Any, terms: Sequence[Term], by: Sequence[str]
) -> tuple[Any, list[NDArray[np.object_]]]:
    """Return the keys of all groups as a `pyarrow.Table`, and the sum of each term by group.

    Parameters
    ----------
    table : ibis table
    terms : sequence of Term
    by : sequence of str
        The columns whose values make the groups; without columns, all rows are one group.

    Raises
    ------
    DataError
        If the database fails. The database's message may quote a row, and is not repeated.
    """
    dialect = table.get_backend().name
    is_wide = DIALECTS[dialect].sums_are_wide
    columns: dict[Any, str] = {}
    recipes = []
    for term in terms:
        base, factor, offset = linear(_counted(term.integer))
        first, bits = (0, 1) if is_wide or not factor else _least(term, factor, offset)
        name = columns.setdefault((base - first if first else base).op(), f"term_{len(columns)}")
        shifts = range(0, bits, BITS) if factor else ()
        recipes.append((name, bits, shifts, factor, offset + factor * first))
    steps = {name: column.to_expr() for column, name in columns.items()}
    copies = [""]
    if dialect == "sqlite":  # SQLite may evaluate a shared expression twice, and so draw twice
        steps |= {f"{name}_again": column + 0 for name, column in steps.items()}
        copies = ["", "_again"]
    rows, parts = table.select(*by, **steps), {}
    for copy in copies:
        for name, bits, shifts, factor, offset in recipes:
            column = rows[name + copy]
            if offset or not factor:
                parts[f"{name}{copy}_rows"] = column.count()
            for shift in shifts:
                part = column >> shift if shift else column
                part = part & (1 << BITS) - 1 if bits > shift + BITS else part
                parts[f"{name}{copy}_{shift}"] = part.sum().cast("string")
    groups = answer(rows.aggregate(**parts, by=list(by)))
    sums = {name: _integers(groups[name]) for name in parts}
    totals, *again = (
        [
            sum((sums[f"{name}{copy}_{shift}"] * (factor << shift) for shift in shifts), 0)
            + (sums[f"{name}{copy}_rows"] * offset if offset or not factor else 0)
            for name, _, shifts, factor, offset in recipes
        ]
        for copy in copies
    )
    if any(np.any(a != b) for other in again for a, b in zip(totals, other, strict=True)):
        raise DataError(
            "the rows changed between two statements: query a table that does not change"
        )
    return groups.select(list(by)), totals


def linear(integer: Any) -> tuple[Any, int, int]:
    """Return an integer expression as a base, a public factor and a public offset."""
    ops, base = extra("ibis", "data in a database").expr.operations, integer.op()
    factor, offset = 1, 0
    while isinstance(base, (ops.Add, ops.Subtract, ops.Multiply)):
        if not isinstance(base.right, ops.Literal):
            break
        value = base.right.value
        if isinstance(base, ops.Multiply):
            factor *= value
        else:
            offset += factor * (value if isinstance(base, ops.Add) else -value)
        base = base.left
    return base.to_expr(), factor, offset


def _counted(integer: Any) -> Any:
    """Return an integer with NULL for 0 if it tells whether a value is present; else unchanged."""
    ops, test = extra("ibis", "data in a database").expr.operations, integer.op()
    if isinstance(test, ops.IfElse) and isinstance(test.bool_expr, ops.NotNull):
        other = test.bool_expr.arg.to_expr()
        if test == other.notnull().ifelse(1, 0).op():
            return other * 0 + 1
    return integer


def _least(term: Term, factor: int, offset: int) -> tuple[int, int]:
    """Return the least value of the base of a term, and the bits of the range above it."""
    ends = [Fraction(term.least + more - offset, factor) for more in (0, term.most)]
    least = ceil(min(ends))
    return least, max(1, (floor(max(ends)) - least).bit_length())


def _integers(column: Any) -> NDArray[np.object_]:
    """Return integers that came as text; a sum of no rows is 0."""
    return np.array([int(digits or 0) for digits in column.to_pylist()], object)


def answer(question: Any) -> Any:
    """Return the answer of a database to an Ibis expression, as a `pyarrow.Table`.

    Raises
    ------
    DataError
        If it fails.
    """
    failed = "the database failed while it read the rows"
    with timed("query"):
        return hiding(question.to_pyarrow, lambda kind: DataError(f"{failed} ({kind})"))
