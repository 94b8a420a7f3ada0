"""Rows by group: a counting sort of cells, in memory or in nameless files.

Rows are stored in the order in which they arrive, and sorted by group when the groups are known. If
all rows fit in memory, this takes one step or two (csrc/aggregate/scatter.h). If they do not fit,
the rows are first written to a file as they arrive. Then they are written to another file by parts
of neighboring groups, and each part is sorted when it is needed. The rows of a part must fit in
memory, and a part has at least one group. Groups are in the same parts in both cases.

For rows in a database, `RowsNear` has the rows that draws use. The database has counted the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._kernels import aggregate as _scatter
from ..summaries.counted import refuse_change
from ..tables.available_memory import share
from ..tables.base import Near
from ..tables.row_files import Spill, directory
from .of_column import DatabaseSums
from .quantile import Others

Codes: TypeAlias = NDArray[np.int32]
Cells: TypeAlias = NDArray[np.int32]

#: The bits of a code by which one step can sort rows; the bits of a code that number a part. With
#: more parts than the processor has TLB entries, the sort would take longer.
DIRECT, COARSE = 11, 5
#: The code of rows without a group, as long as the number of groups is not known.
NONE = (1 << 31) - 1
#: Bytes of memory for a row: its code and its cell, twice because sorting copies them.
ROW = 16
#: The least rows of a block.
BLOCK = 1 << 21
#: After this many further bytes of rows, the free memory is checked again.
STEP = 1 << 27


class Packed(NamedTuple):
    """Rows that can be sent: the codes of their groups, none of them `NONE`, and their cells."""

    codes: Codes
    cells: Cells


class Block(NamedTuple):
    """Rows in a file: where their codes and their cells begin, and where each part begins."""

    file: Spill
    codes: int
    cells: int
    cuts: NDArray[np.int64]

    def read(self, part: int) -> tuple[Codes, Cells]:
        start, stop = int(self.cuts[part]), int(self.cuts[part + 1])
        codes, cells = np.empty((2, stop - start), np.int32)
        self.file.read(self.codes + 4 * start, codes)
        self.file.read(self.cells + 4 * start, cells)
        return codes, cells


@dataclass(slots=True)
class Parts(ABC):
    """Rows in parts of ``2**shift`` neighboring groups, which several threads may read at once."""

    groups: int
    shift: int

    def __len__(self) -> int:
        return -(-self.groups // (1 << self.shift))

    def ends(self, part: int) -> tuple[int, int]:
        """Return the first group of a part, and the first group of the next part."""
        return part << self.shift, min(part + 1 << self.shift, self.groups)

    @abstractmethod
    def rows(self, part: int) -> tuple[Cells, NDArray[np.int64]]:
        """Return the rows of a part by group, and where each of its groups begins."""

    def by_draw(self, part: int) -> Iterable[tuple[Cells, NDArray[np.int64], Others | None]]:
        """Return the rows of a part for each draw, the offsets of groups, and the rows left out."""
        return repeat((*self.rows(part), None))

    def close(self) -> None:  # noqa: B027
        """Close the file of the rows, if there is one."""


@dataclass(slots=True)
class Placed(Parts):
    """Rows in memory, part by part: sorted by group, or with the low bits of their codes."""

    cells: Cells
    low: Any
    cuts: NDArray[np.int64]

    def rows(self, part: int) -> tuple[Cells, NDArray[np.int64]]:
        first, stop = self.ends(part)
        if self.low is None:
            group_cuts = self.cuts[first : stop + 1]
            return self.cells[group_cuts[0] : group_cuts[-1]], group_cuts - group_cuts[0]
        start, end = int(self.cuts[part]), int(self.cuts[part + 1])
        # The last block may hold rows without a group.
        blocks = min(1 << self.shift, self.groups + 1 - first)
        offsets, out = np.zeros(blocks + 1, np.int64), np.empty(end - start, np.int32)
        edges = self.cuts[part : part + 2]
        low, cells = self.low[start:end], self.cells[start:end]
        _scatter.refine(low, self.shift, cells, edges, offsets, out)
        return out, offsets[: stop - first + 1]


@dataclass(slots=True)
class Written(Parts):
    """Rows in a file, in blocks that are sorted by part."""

    file: Spill
    blocks: list[Block]

    def rows(self, part: int) -> tuple[Cells, NDArray[np.int64]]:
        first, stop = self.ends(part)
        read = [block.read(part) for block in self.blocks]
        codes = np.concatenate([part_codes for part_codes, _ in read]) - np.int32(first)
        cells = np.concatenate([part_codes for _, part_codes in read])
        counts = np.zeros(stop - first + 1, np.int64)
        _scatter.count(codes.view(np.uint32), counts)
        cuts, out = np.concatenate([[0], np.cumsum(counts)]), np.empty_like(cells)
        _scatter.place(codes.view(np.uint32), cells, cuts[:-1].copy(), out)
        return out, cuts[:-1]

    def close(self) -> None:
        self.file.close()


@dataclass(slots=True)
class Rows:
    """A store of rows as they are read: their cells and the codes of their groups."""

    held: list[tuple[Codes, Cells]] = field(default_factory=list)
    size: int = 0
    blocks: list[Block] = field(default_factory=list)
    #: A block for rows to come; the first `taken` rows of it are in use.
    block: NDArray[np.int32] = field(default_factory=lambda: np.empty((2, 0), np.int32))
    taken: int = 0
    #: The free memory is checked again when the rows exceed this size.
    asks: int = field(default_factory=lambda: STEP)

    def room(self, rows: int) -> tuple[Codes, Cells]:
        """Return arrays for the codes and cells of some rows, to be filled and passed to `add`."""
        if self.taken + rows > self.block.shape[1]:
            self.block, self.taken = np.empty((2, max(rows, BLOCK)), np.int32), 0
        self.taken += rows
        codes, cells = self.block[:, self.taken - rows : self.taken]
        return codes, cells

    def add(self, codes: Codes, cells: Cells) -> None:
        """Add rows by their codes and cells; both arrays are kept, and may be changed."""
        self.held.append((codes, cells))
        self.size += ROW * len(codes)
        if self.size < self.asks:
            return
        self.asks = self.size + STEP
        if self.size > share():
            file = self.blocks[0].file if self.blocks else Spill(directory(None))
            self._write(file, np.array([0, self.size // ROW]), *self._joined())

    def merge(self, other: Rows) -> None:
        """Move the rows of another store into this store."""
        self.held += other.held
        self.size += other.size
        self.blocks += other.blocks
        other.held, other.blocks = [], []

    def packed(self) -> Packed:
        """Empty the store, and return the rows that belong to a group."""
        held = [block.read(0) for block in self.blocks] + self.held
        for block in self.blocks:
            block.file.close()
        self.held, self.blocks = [], []
        none = np.empty(0, np.int32)
        kept = [(codes, cells, codes != NONE) for codes, cells in held]
        return Packed(
            np.concatenate([none, *(codes[keep] for codes, _, keep in kept)]),
            np.concatenate([none, *(cells[keep] for _, cells, keep in kept)]),
        )

    def by_group(self, groups: int, final: Codes | None = None) -> Parts:
        """Sort the rows by parts of neighboring groups, and empty the store.

        If the answer has other codes, `final` has the code in the answer for each code of a row. A
        group that is left out has the code `groups`.
        """
        bits, shift = groups.bit_length(), shift_of(groups)
        if self.blocks:
            file = Spill(directory(None))
            return Written(groups, shift, file, self._by_part(file, groups, final, shift))
        at_once = 0 if bits <= DIRECT else shift
        counts = np.zeros((groups >> at_once) + 1, np.int64)
        for i, (codes, cells) in enumerate(self.held):
            self.held[i] = _final(codes, groups, final), cells
            _scatter.count(self.held[i][0].view(np.uint32), counts, at_once)
        cuts = np.concatenate([[0], np.cumsum(counts)])
        rows, at = np.empty(int(cuts[-1]), np.int32), cuts[:-1].copy()
        low: Any = np.empty(len(rows), np.uint8 if at_once <= 8 else np.uint16) if at_once else None
        while self.held:  # frees the memory of what has been placed
            codes, cells = self.held.pop()
            _scatter.place(codes.view(np.uint32), cells, at, rows, at_once, low)
        return Placed(groups, shift, rows, low, cuts)

    def _by_part(self, file: Spill, groups: int, final: Codes | None, shift: int) -> list[Block]:
        """Write all rows to a file, sorted by part in blocks, and return the blocks."""
        raw, self.blocks = self.blocks, []
        left = self._joined() if self.held else None
        for codes, cells in [*(block.read(0) for block in raw), *([left] if left else [])]:
            codes = _final(codes, groups, final)
            part = codes.view(np.uint32) >> np.uint32(shift)
            counts = np.zeros((groups >> shift) + 1, np.int64)
            _scatter.count(part, counts)
            cuts = np.concatenate([[0], np.cumsum(counts)])
            sorted_codes, sorted_cells = np.empty_like(codes), np.empty_like(cells)
            for unsorted, out in ((codes, sorted_codes), (cells, sorted_cells)):
                _scatter.place(part, unsorted, cuts[:-1].copy(), out)
            self._write(file, cuts, sorted_codes, sorted_cells)
        for block in raw:
            block.file.close()
        blocks, self.blocks = self.blocks, []
        return blocks

    def _joined(self) -> tuple[Codes, Cells]:
        """Return the rows held in memory as two arrays, and forget them."""
        held, self.held, self.size, self.asks = self.held, [], 0, STEP
        self.block, self.taken = np.empty((2, 0), np.int32), 0
        codes, cells = zip(*held, strict=True)
        return np.concatenate(codes), np.concatenate(cells)

    def _write(self, file: Spill, cuts: NDArray[np.int64], codes: Codes, cells: Cells) -> None:
        self.blocks.append(Block(file, file.append(codes), file.append(cells), cuts))


#: All rows of a group: no group has this many.
EVERY = Near(0.0, 1 << 60)


@dataclass
class RowsNear:
    """Rows of a database near the rank of each draw: cells, groups, and numbers of rows.

    Parameters
    ----------
    answer : DatabaseSums
        Its bins are cells; its sums count rows in a cell, in or below the cell, and in the group.
    near : sequence of Near
        The rows of each draw.
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
        order = order[cells[order] >= 0]  # negative cells are missing values
        numbers = np.stack([codes, cells, *self.answer.sums[:3]])[:, order]
        return PartsNear(groups, shift_of(groups), self, final, numbers.astype(np.int64))


@dataclass(slots=True)
class PartsNear(Parts):
    """Rows of a database near the rank of each draw, in parts of neighboring groups."""

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
        """Return all rows of a group of a part, which a draw needs about once in 2**40 times."""
        again = self.room.answer.again
        assert again is not None
        every = RowsNear(again([EVERY]), [EVERY]).by_group(self.groups, self.final)
        rows, offsets = every.rows(part)
        return rows[offsets[group] : offsets[group + 1]]


def shift_of(groups: int) -> int:
    """Return the log2 of the number of groups in a part."""
    return min(max(0, groups.bit_length() - COARSE), 16)


def _final(codes: Codes, groups: int, final: Codes | None) -> Codes:
    """Return the final codes of rows; rows of no group get the code `groups`."""
    if final is None:
        return np.minimum(codes, np.int32(groups), out=codes)
    return np.append(final, np.int32(groups))[np.minimum(codes, len(final))]
