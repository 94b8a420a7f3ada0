"""The base of mechanisms that read ranks of a column."""

from __future__ import annotations

from .._core import nan_policy
from ..sensitivity.column import Given
from ..sources import Source
from ..summaries.order import Ranks


class Ranked:
    """A column with bounds; a mechanism that inherits this has these fields."""

    __slots__ = ()

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    def column(self, source: Source) -> Given:
        """Return the ranks of a column, of which nothing has been read."""
        missing = nan_policy.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        return Given(ranks, self.lo, self.hi, self.neighbors, self.nan)
