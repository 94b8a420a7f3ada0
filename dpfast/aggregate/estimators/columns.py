"""The columns of rows of numbers, and the check that bounds fit the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...errors import ArgumentError
from ...tables.base import RowSource
from .base import Bound


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a row: how many, and their names.

    `count` columns, with `names` or without; `is_row` is false where a row is a single number.
    """

    count: int
    names: tuple[str, ...] | None
    is_row: bool

    @property
    def width(self) -> int | None:
        """The length of an answer that has a number for each column; None for a scalar."""
        return self.count if self.is_row else None

    def floats(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as an array of numbers: as they are, or the named columns of a table."""
        if self.names is None:
            return rows
        table = np.empty((self.count, len(rows)))
        for column, name in zip(table, self.names, strict=True):
            column[...] = rows[name]
        return table.T

    def column(self, rows: NDArray[Any], j: int) -> NDArray[Any]:
        """Return column `j` of rows."""
        if self.names is not None:
            return rows[self.names[j]]
        return rows if rows.ndim == 1 else rows[:, j]

    def index_of(self, name: str, value: int | str) -> int:
        """Return the index of a column from its index or its name."""
        if isinstance(value, str):
            if self.names is None or value not in self.names:
                listed = "columns have no names here" if self.names is None else repr(self.names)
                checks.fail(name, f"the index of a column, or its name ({listed})", value)
            return self.names.index(value)
        if not -self.count <= value < self.count:
            checks.fail(name, f"from {-self.count} to {self.count - 1}", value)
        return value % self.count


def columns(source: RowSource) -> Columns:
    """Return the columns of a source whose rows are numbers.

    Raises
    ------
    ArgumentTypeError
        If a named column holds something else.
    """
    names = source.dtype.names
    if names is None:
        return Columns(1 if source.width is None else source.width, None, source.width is not None)
    for name in names:
        field = source.dtype[name]
        if field.kind not in "biuf":
            checks.fail_type(f"column {name!r} of data", "numbers for this estimator", field)
    return Columns(len(names), names, True)


class ByColumn(ABC):
    """An estimator of columns of numbers, mostly with one answer for each of them."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the estimator in the ledger."""

    def bind(self, source: RowSource, width: int | None) -> Bound:
        """Check, before anything is spent, that bounds and columns agree.

        Parameters
        ----------
        source : Source
            The rows.
        width : int
            For how many numbers there are bounds.

        Returns
        -------
        Bound
            What answers for blocks of these rows.

        Examples
        --------
        `dpfast.sample_and_aggregate` calls it:

        >>> import numpy as np, dpfast as dp
        >>> from dpfast.tables.data import as_rows
        >>> rows = as_rows(np.zeros((10, 3)))
        >>> dp.estimators.LeastSquares().bind(rows, 3).name
        'least-squares'
        """
        read = columns(source)
        count = self._width(read)
        if width != count:
            due, got = _pairs(count), _pairs(width)
            rule = f"bounds must be {due} for {self.name!r} of these data, got {got}"
            raise ArgumentError(rule)
        return self._bound(read)

    def _width(self, columns: Columns) -> int | None:
        """Return the number of answers, None for a scalar."""
        return columns.width

    @abstractmethod
    def _bound(self, columns: Columns) -> Bound:
        """Return the estimator, checked for these columns."""


def _pairs(count: int | None) -> str:
    """Say which bounds so many answers need."""
    if count is None:
        return "one pair (lo, hi)"
    return f"a sequence of {count} pair{'s' * (count != 1)} (lo, hi)"
