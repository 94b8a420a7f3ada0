"""Count the numbers of a column in a database, by comparisons and rounded sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import extra
from .cells import MAGIC, exactly, numbers, without_nan
from .sums import answer

#: Larger numbers count as this one, so that no sum overflows.
MOST = 2.0**960


def is_whole(column: Any, dialect: str) -> bool:
    """Tell whether a column holds integers, by its type; always False in SQLite."""
    kind = column.type()
    return dialect != "sqlite" and bool(kind.is_integer() or kind.is_boolean())


class SqlNumbers:
    """The numbers of a column of a table, as float64, clamped to public bounds `lo` and `hi`.

    Parameters
    ----------
    table : ibis table
    column : ibis column
        A column of the table, or of a larger table with the rows of `table`.
    dialect : str
        The kind of the database, by Ibis's name.
    bounds : (float, float)
    missing : float, optional
        The replacement for a row without a number; if left out, such a row is not counted.

    Attributes
    ----------
    lo, hi : float
    is_whole : bool
        Whether all numbers but the bounds are whole, by the column's type.
    """

    def __init__(
        self,
        table: Any,
        column: Any,
        dialect: str,
        bounds: tuple[float, float],
        missing: float | None,
    ) -> None:
        self._ibis = extra("ibis", "data in a database")
        self.lo, self.hi = max(bounds[0], -MOST), min(bounds[1], MOST)
        kind = column.type()
        x = numbers(column, dialect)
        if missing is not None:
            x = without_nan(column, dialect).fill_null(exactly(missing))
        self._has_nan = dialect != "sqlite" and kind.is_floating() and missing is None
        self.is_whole = is_whole(column, dialect)
        self._table = table.select(x=x)

    def between(self, first: float, last: float) -> tuple[int, float, float]:
        """Return the number of values from `first` to `last`, and the least and largest of them."""
        x = self._between(first, last).x
        question = x.as_table().aggregate(n=x.count(), least=x.min(), most=x.max())
        rows, least, most = answer(question).columns
        return rows[0].as_py(), least[0].as_py(), most[0].as_py()

    def counts(
        self, first: float, last: float, step: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the values from `first` to `last`, ascending, and the number of rows of each.

        With a `step`, a power of two, each value is rounded to the nearest multiple, with ties to
        even. For the values from `lo` to `hi`, rows without a number are counted as NaN. For fewer
        values, such rows may or may not be counted.

        Raises
        ------
        DataError
            If the database fails.
        """
        part = self._between(first, last)
        if step:
            magic = exactly(MAGIC * step)
            part = part.select(x=(part.x + magic) - magic)
        x, n = (
            column.to_numpy() for column in answer(part.group_by("x").aggregate(n=part.count()))
        )
        order = np.argsort(x)
        return x[order], n[order]

    def _between(self, first: float, last: float) -> Any:
        """Return the rows with values in an interval; at a bound, also rows beyond it, and NULL."""
        rows, x, lo, hi = self._table, self._table.x, exactly(first), exactly(last)
        arms = [((x >= lo) & (x <= hi), x)]
        if first <= self.lo:
            arms.append((x < lo, lo))
        else:
            rows = rows.filter(x >= lo)
        if self._has_nan:  # some databases sort NaN as the largest number
            arms.append((x.isnan(), None))
        if last >= self.hi:
            arms.append((x > hi, hi))
        else:
            rows = rows.filter(x <= hi)
        return rows.select(x=self._ibis.cases(*arms))
