"""Rows by group that lie in a database, which has counted those that draws look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..summaries.counted import refuse_change
from ..tables.base import Near
from .of_column import DatabaseSums
from .quantile import Others
from .rows import Cells, Codes, Parts, shift_of

#: All rows of a group, of which there are fewer.
EVERY = Near(0.0, 1 << 60)


@dataclass
class RowsNear:
    """Cells and groups of the rows near the rank of each draw, with their numbers.

    Parameters
    ----------
    answer : DatabaseSums
        Its bins are cells, and its sums the rows that have each, that or a lower one, or any.
    near : sequence of Near
        Of each draw.
    """

    answer: DatabaseSums
    near: Sequence[Near]

    def by_group(self, groups: int, final: Codes | None = None) -> PartsNear:
        """Sort the rows by group, as `Rows` does."""
        codes, cells = self.answer.codes, self.answer.bins
        assert cells is not None
        if final is not None:
            codes = np.append(final, groups)[codes]
        order = np.lexsort((cells, codes))
        order = order[np.searchsorted(codes[order], 0) : np.searchsorted(codes[order], groups)]
        order = order[cells[order] >= 0]  # others are missing
        numbers = np.stack([codes, cells, *self.answer.sums[:3]])[:, order]
        return PartsNear(groups, shift_of(groups), self, final, numbers.astype(np.int64))


@dataclass(slots=True)
class PartsNear(Parts):
    """The same in parts."""

    room: RowsNear
    final: Codes | None
    numbers: NDArray[np.int64]

    def rows(self, part: int) -> tuple[Cells, NDArray[np.int64]]:
        rows, offsets, _ = next(self.by_draw(part))
        return rows, offsets

    def by_draw(self, part: int) -> Iterator[tuple[Cells, NDArray[np.int64], Others | None]]:
        first, stop = self.ends(part)
        i, j = np.searchsorted(self.numbers[0], [first, stop])
        codes, cells, rows, upto, size = self.numbers[:, i:j]
        codes, sizes = codes - first, np.zeros(stop - first, np.int64)
        sizes[codes] = size
        for near in self.room.near:
            before, behind = near.ends(sizes)
            counts = np.minimum(upto, behind[codes]) - np.maximum(upto - rows, before[codes])
            counts = np.maximum(counts, 0)
            offsets = np.zeros(stop - first + 1, np.int64)
            np.add.at(offsets, codes + 1, counts)
            if np.any(offsets[1:] != behind - before):
                refuse_change()
            others = Others(before, sizes, partial(self.whole, part))
            yield np.repeat(cells.astype(np.int32), counts), np.cumsum(offsets), others

    def whole(self, part: int, group: int) -> Cells:
        """Return all rows of a group of a part, which a draw asks for about once in 2**40 times."""
        again = self.room.answer.again
        assert again is not None
        every = RowsNear(again([EVERY]), [EVERY]).by_group(self.groups, self.final)
        rows, offsets = every.rows(part)
        return rows[offsets[group] : offsets[group + 1]]
