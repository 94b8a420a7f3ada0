"""Rows by group: a counting sort of cells, in memory or in nameless files.

Rows are kept as they come. Once it is known which groups there are, they are sorted by group: in
one step or in two where they fit in memory (csrc/aggregate/scatter.h). Where they do not, they are
written to a file as they come, then to another by parts of neighboring groups, and each part is
sorted when its turn comes. All rows of a part have to fit in memory, at least those of one group.
Groups are in the same parts either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._kernels import aggregate as _scatter
from ..sources.available_memory import available
from ..sources.row_files import Spill, directory

Codes: TypeAlias = NDArray[np.int32]
Cells: TypeAlias = NDArray[np.int32]

#: Bits of a code that rows are placed by at once, and those that number a part or a first step.
DIRECT, COARSE = 11, 8
#: The code of rows of no group, until it is known how many groups there are.
NONE = (1 << 31) - 1
#: Bytes of a row: its code and its cell, and both once more while it is sorted.
ROW = 16
#: Bytes of rows after which it is asked what memory there is.
STEP = 1 << 27


class Block(NamedTuple):
    """Rows in a file: where their codes and their cells begin, and where those of each part do."""

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
class Rows:
    """Cells of rows and the codes of their groups."""

    held: list[tuple[Codes, Cells]] = field(default_factory=list)
    size: int = 0
    blocks: list[Block] = field(default_factory=list)
    #: The size from which on it is asked again what memory there is.
    asks: int = field(default_factory=lambda: STEP)

    def add(self, codes: Codes, cells: Cells) -> None:
        """Add rows. What is given is kept, and may be changed."""
        self.held.append((codes, cells))
        self.size += ROW * len(codes)
        if self.size < self.asks:
            return
        self.asks = self.size + STEP
        if self.size > available() // 2:
            file = self.blocks[0].file if self.blocks else Spill(directory(None))
            self._write(file, np.array([0, self.size // ROW]), *self._joined())

    def merge(self, other: Rows) -> None:
        """Add the rows of another, which has none any more."""
        self.held += other.held
        self.size += other.size
        self.blocks += other.blocks
        other.held, other.blocks = [], []

    def parts(
        self, groups: int, final: Codes | None = None
    ) -> Iterator[tuple[int, Cells, NDArray[np.int64]]]:
        """Yield parts of neighboring groups: the first one, its rows by group, and their offsets.

        Groups come in order, each in one part. `final` are their codes, if these are not the codes
        of rows: `groups` for those that are left out. Afterwards there are no rows.
        """
        shift = max(0, groups.bit_length() - COARSE)
        every = [
            (first, min(first + (1 << shift), groups)) for first in range(0, groups, 1 << shift)
        ]
        if not self.blocks:
            rows, offsets = self._sorted(groups, final)
            for first, stop in every:
                own = offsets[first : stop + 1]
                yield first, rows[own[0] : own[-1]], own - own[0]
            return
        with closing(Spill(directory(None))) as file:
            blocks = self._by_part(file, groups, final, shift)
            for part, (first, stop) in enumerate(every):
                read = [block.read(part) for block in blocks]
                codes = np.concatenate([own for own, _ in read]) - np.int32(first)
                cells = np.concatenate([own for _, own in read])
                yield first, *_sorted(codes, cells, stop - first)

    def _sorted(self, groups: int, final: Codes | None) -> tuple[Cells, NDArray[np.int64]]:
        """Return the rows by group, and where each group begins; those of no group are left out."""
        bits = groups.bit_length()
        shift = 0 if bits <= DIRECT else min(bits - COARSE, 16)
        counts = np.zeros((groups >> shift) + 1, np.int64)
        self.held = [(_final(codes, groups, final), cells) for codes, cells in self.held]
        for codes, _ in self.held:
            _scatter.count(codes.view(np.uint32), counts, shift)
        cuts = np.concatenate([[0], np.cumsum(counts)])
        rows, at = np.empty(int(cuts[-1]), np.int32), cuts[:-1].copy()
        low: Any = np.empty(len(rows), np.uint8 if shift <= 8 else np.uint16) if shift else None
        while self.held:  # what has been placed is let go
            codes, cells = self.held.pop()
            _scatter.place(codes.view(np.uint32), cells, at, rows, shift, low)
        if low is None:
            return rows, cuts[: groups + 1]
        offsets = np.zeros(groups + 2, np.int64)
        for first in range(len(counts)):
            start, stop = int(cuts[first]), int(cuts[first + 1])
            least, most = first << shift, min(first + 1 << shift, groups + 1)
            own, some = np.empty(most - least + 1, np.int64), rows[start:stop]
            edges = cuts[first : first + 2]
            _scatter.refine(low[start:stop], shift, some.copy(), edges, own, some)
            np.add(own[1:], start, out=offsets[least + 1 : most + 1])
        return rows, offsets[: groups + 1]

    def _by_part(self, file: Spill, groups: int, final: Codes | None, shift: int) -> list[Block]:
        """Write all rows to a file by part, and return where they are."""
        raw, self.blocks = self.blocks, []
        left = self._joined() if self.held else None
        for codes, cells in [*(block.read(0) for block in raw), *([left] if left else [])]:
            codes = _final(codes, groups, final)
            part, counts = codes.view(np.uint32) >> shift, np.zeros((groups >> shift) + 1, np.int64)
            _scatter.count(part, counts)
            cuts = np.concatenate([[0], np.cumsum(counts)])
            own, sorted_cells = np.empty_like(codes), np.empty_like(cells)
            for given, out in ((codes, own), (cells, sorted_cells)):
                _scatter.place(part, given, cuts[:-1].copy(), out)
            self._write(file, cuts, own, sorted_cells)
        for block in raw:
            block.file.close()
        found, self.blocks = self.blocks, []
        return found

    def _joined(self) -> tuple[Codes, Cells]:
        """Return what is held, and hold nothing."""
        held, self.held, self.size, self.asks = self.held, [], 0, STEP
        return np.concatenate([one for one, _ in held]), np.concatenate([one for _, one in held])

    def _write(self, file: Spill, cuts: NDArray[np.int64], codes: Codes, cells: Cells) -> None:
        self.blocks.append(Block(file, file.append(codes), file.append(cells), cuts))


def _final(codes: Codes, groups: int, final: Codes | None) -> Codes:
    """Return final codes: those of rows of no group are `groups`."""
    if final is None:
        return np.minimum(codes, np.int32(groups), out=codes)
    found: Codes = np.append(final, np.int32(groups))[np.minimum(codes, len(final))]
    return found


def _sorted(codes: Codes, cells: Cells, groups: int) -> tuple[Cells, NDArray[np.int64]]:
    """Return the rows of a part by group, and where each begins."""
    counts = np.zeros(groups + 1, np.int64)
    _scatter.count(codes.view(np.uint32), counts)
    cuts, out = np.concatenate([[0], np.cumsum(counts)]), np.empty_like(cells)
    _scatter.place(codes.view(np.uint32), cells, cuts[:-1].copy(), out)
    return out, cuts[: groups + 1]
