"""What mechanisms by group read of a table, unless they say otherwise: the numbers of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..measurement.times import Units, read
from ..sources.batches import Piece


class OfColumn:
    """Base of what reads a column, which may be one of times, or none at all."""

    __slots__ = ()

    #: Whether one row of a person counts in a group, and whether a column is read as text.
    per_person: ClassVar[bool] = False
    is_text: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def column(self) -> str | None: ...
        @property
        def units(self) -> Units | None: ...

    @property
    def reading(self) -> tuple[Any, ...]:
        """Return the column, and how it is read; statistics that agree share a look."""
        return (self.column, self.units)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns that are read."""
        return () if self.column is None else (self.column,)

    def read(self, columns: Mapping[str, Piece]) -> Any:
        """Return the numbers of pieces of the columns."""
        return None if self.column is None else read(columns[self.column], self.units)
