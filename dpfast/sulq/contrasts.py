"""How unevenly public sets of rows share out the rows where something holds, as exact integers.

The contrast of a set is half of how many more rows have it in the set than outside: the sum of
s_i b_i / 2, where s_i is 1 or -1 as row i is in the set or not, and b_i is 0 or 1. So the vector of
r contrasts and half of the number of rows that have it moves by (1, s_1, ..., s_r) / 2, of length
sqrt(r + 1) / 2, when b_i changes, and when the row comes or goes. r sums over the sets
themselves, asked one by one, are paid for as if they moved by sqrt(r).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..sources.masked import refuse_mask
from ..sources.row_source import RowChunk, RowSource
from ..sources.table import only
from .rounds import Part
from .row_functions import Function, Piece
from .row_sets import RowSets

#: Counts of the sets, of all rows, of missing values, and rows read.
Tally = tuple[NDArray[np.int64], int, int, int]


def contrast_part(sets: int) -> Part:
    """By how much a neighbour moves twice the contrasts, and the number of rows."""
    return Part(sets + 1, sets + 1, sets + 1, sets + 1)


@dataclass(frozen=True, slots=True)
class Contrasts:
    """The pass over a source."""

    function: Function
    sets: RowSets
    nan: str | float

    def __post_init__(self) -> None:
        if not isinstance(self.nan, str) and self.nan not in (0.0, 1.0):
            checks.fail("nan", "0 or 1, or a word, for what holds or does not", self.nan)

    def total(self, source: RowSource) -> list[int]:
        """How many rows have it, then twice the contrast of each set."""
        counts, count, missing, read = only(source, self.function.columns).reduce(
            self._summarise, _merge
        )
        if read != self.sets.rows:
            refuse_mask()
        nan_policy.refuse(self.nan, missing)
        return [count, *(2 * c - count for c in counts.tolist())]

    def _summarise(self, chunk: RowChunk) -> Tally:
        values = self.function.values(Piece(chunk.rows, chunk.start))
        holds, missing = values != 0, 0
        if values.dtype.kind == "f":
            absent = np.isnan(values)
            missing = int(np.count_nonzero(absent))
            if missing:
                holds[absent] = nan_policy.replacement(self.nan, 0.0, 1.0) == 1.0
        counts = self.sets.counts(holds, chunk.start)
        return counts, int(np.count_nonzero(holds)), missing, len(holds)


def _merge(a: Tally, b: Tally) -> Tally:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]
