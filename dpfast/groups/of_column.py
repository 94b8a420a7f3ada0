"""The base of mechanisms by group that read a column, and the sums that databases return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..measurement.times import Units, read
from ..summaries.cells import Cells
from ..tables.base import Feature, Near
from ..tables.batches import MemoryColumn
from ..tables.sql.store import SqlRows

#: The codes of the groups that are shown; None for all.
Kept: TypeAlias = NDArray[np.int64] | None


class Integers(NamedTuple):
    """The integers that each row adds to sums in a database: features, bin, and missing flag.

    Attributes
    ----------
    features : list of Feature
    bins : integer, optional
        The bin of the row.
    missing : integer, optional
        An integer for each row that misses a number, and none for other rows, if missing numbers
        are an error.
    near : sequence of Near
        The rows of each group that are read, by ranks in the order of the only feature. Without
        it, all rows are read.
    """

    features: list[Feature]
    bins: Any = None
    missing: Any = None
    near: Sequence[Near] = ()


def of_numbers(
    rows: SqlRows, numbers: Sequence[Any], grid: Cells, nan: str | float, most: int
) -> Integers:
    """Return the integer cells of database rows; at most `most` rows of a unit count."""
    rounded = [rows.rounded(number, grid) for number in numbers]
    missing = rows.counted(1 - rows.present(*rounded)) if nan == "raise" else None
    return Integers([Feature(u, grid.span, grid.first, most) for u in rounded], missing=missing)


class DatabaseSums(NamedTuple):
    """Exact sums of features that a database has added up, by group and bin.

    Attributes
    ----------
    groups : int
        The number of all groups.
    codes : int32 array
        The group of each sum; negative for a sum of no group.
    sums : list of object array
        The exact sums of each feature.
    bins : int64 array, optional
        The bin of each sum.
    again : callable, optional
        ``again(near)`` returns sums of rows near other ranks, by another statement.
    """

    groups: int
    codes: NDArray[np.int32]
    sums: list[NDArray[np.object_]]
    bins: NDArray[np.int64] | None
    again: Callable[[Sequence[Near]], DatabaseSums] | None = None

    def by_group(self) -> NDArray[np.object_]:
        """Return the sums of each group, with a last row for rows of no group."""
        room = np.zeros((self.groups + 1, len(self.sums)), object)
        np.add.at(room, self.codes, np.stack(self.sums, axis=1))
        return room


class OfColumn:
    """Base of mechanisms by group that read a column of numbers or times, or no column."""

    __slots__ = ()

    #: Whether the contribution of a unit is bounded by clamping sums, rather than by choosing rows.
    adds_units: ClassVar[bool] = False
    #: Whether a unit counts only once over all of its groups.
    by_unit: ClassVar[bool] = False
    #: Whether a database adds up numbers of a column, and does not just count rows with a value.
    adds_numbers: ClassVar[bool] = True
    #: Whether the sum of the answers of all groups is the answer for all rows.
    adds_up: ClassVar[bool] = False
    #: Whether the column is read as text.
    is_text: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def column(self) -> str | None: ...
        @property
        def units(self) -> Units | None: ...

    @property
    def noise_parameters(self) -> dict[str, Any]:
        """The public numbers of the noise, as `Mechanism.noise_parameters` has them."""
        return {}

    @property
    def reading(self) -> tuple[Any, ...]:
        """Return the column and how it is read; statistics with equal readings share one read."""
        return (self.column, self.units)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the names of the columns that the mechanism reads."""
        return () if self.column is None else (self.column,)

    def read(self, columns: Mapping[str, MemoryColumn]) -> Any:
        """Return the numbers of the columns of a batch."""
        return None if self.column is None else read(columns[self.column], self.units)

    def integers(self, rows: SqlRows) -> Integers:
        """Return the integers that a row of a database adds, or refuse the statistic."""
        checks.fail("bounds", "numbers in a database (.to_pyarrow() takes rows out)", "auto")
