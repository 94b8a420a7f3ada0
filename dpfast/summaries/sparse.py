"""Sparse sums by cell, a pair of a key and a bin: only cells with rows are held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .units import CARRY, SPAN, Room, add_wide, by_group, merge

#: All parts are merged once this many cells were added.
PENDING = 1 << 20
#: Half the bits of a word.
HALF = np.uint64(32)


class Sparse:
    """Sums of the cells that have rows. A cell is the number ``key * bins + bin``.

    There are at most as many cells as rows. Only the number of shown keys can be refused, not the
    number of all keys.

    Parameters
    ----------
    bins, width : int
        The number of bins of a key, and the number of words of a cell: as for
        `_kernels.groups.add`, or 1 for a number of rows.
    """

    def __init__(self, bins: int, width: int) -> None:
        self.bins, self.width = bins, width
        self._parts: list[tuple[NDArray[np.int64], NDArray[Any]]] = []
        self._together = 0

    def add(
        self,
        keys: NDArray[np.int32],
        bins: NDArray[np.uint32],
        fill: Callable[[NDArray[np.int32], Room], Any],
    ) -> None:
        """Add rows to the sums of their cells by `fill`, except rows without a key or a bin.

        `fill` gets the index of each row's sum (-1 for rows left out) and the sums.
        """
        inside = (bins < self.bins) & (keys >= 0)
        cells, which = distinct(keys[inside] * np.int64(self.bins) + bins[inside])
        codes = np.full(len(keys), -1, np.int32)
        codes[inside] = which
        room = np.zeros((len(cells) + 1, self.width), np.uint64)
        fill(codes, room)
        self.append(cells, room[:-1])

    def append(self, cells: NDArray[np.int64], sums: NDArray[Any]) -> None:
        """Add sums of cells, where each cell occurs once."""
        self._parts.append((cells, sums))
        if sum(len(cells) for cells, _ in self._parts) > 2 * self._together + PENDING:
            self._together = len(self.total()[0])

    def merge(self, more: Sparse) -> None:
        """Add the sums of the cells of another object."""
        self.append(*more.total())

    def total(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return all cells, ascending, and their sums."""
        if not self._parts:
            return np.empty(0, np.int64), np.empty((0, self.width), np.uint64)
        if len(self._parts) > 1:
            cells = np.concatenate([part for part, _ in self._parts])
            order = np.argsort(cells, kind="stable")  # a stable sort merges ascending parts fast
            cells = cells[order]
            first = np.flatnonzero(np.diff(cells, prepend=-1))
            sums = np.concatenate([sums for _, sums in self._parts])[order]
            self._parts = [(cells[first], added(sums, first))]
        return self._parts[0]

    def packed(self) -> Sparse:
        """Return the sums with one entry for each cell, to be sent to another process."""
        self.total()
        return self

    def moved(self, new_codes: NDArray[np.int32]) -> Sparse:
        """Return the sums with new codes for the keys."""
        cells, sums = self.total()
        others = Sparse(self.bins, self.width)
        others.append(new_codes[cells // self.bins] * np.int64(self.bins) + cells % self.bins, sums)
        return others

    def of_units(self, most: int, first: int, groups: NDArray[np.int32] | None = None) -> Sparse:
        """Return bounded sums by group and bin, in two words each, if keys are units.

        A sum is the sum of cells plus `first` times the number of rows. If a unit has c rows in
        bins, min(c, most) of them count, and none if the unit's group is negative. By default there
        is one group.
        """
        (cells, sums), bounded = self.total(), Sparse(self.bins, 2)
        units = cells // self.bins
        group = np.zeros_like(units) if groups is None else groups[units]
        of_groups, which = distinct(np.maximum(group, 0) * np.int64(self.bins) + cells % self.bins)
        codes = np.where(group < 0, -1, which).astype(np.int32)
        if self.width == 1:
            sums = np.concatenate([np.zeros_like(sums), sums], axis=1)
        whole = np.bincount(units, sums[:, 1] % (1 << CARRY))[units].astype(np.uint64)
        words = by_group(sums, most, (1, first), False, codes, len(of_groups), whole=whole)
        bounded.append(of_groups, words[:-1].view(np.int64))
        return bounded


def added(sums: NDArray[Any], first: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of each stretch of consecutive sums, with the carries of low words."""
    if sums.shape[1] == 1 or not len(sums):
        return np.add.reduceat(sums, first, axis=0) if len(sums) else sums
    low = sums[:, 0].view(np.uint64)
    lower, upper = np.add.reduceat(np.stack([low & SPAN, low >> HALF]), first, axis=1)
    # Low words are correct, and high words lack the carries.
    total = np.add.reduceat(sums, first, axis=0)
    carries = ((lower >> HALF) + upper) >> HALF
    total[:, 1] += (carries << np.uint64(CARRY if sums.dtype == np.uint64 else 0)).view(sums.dtype)
    return total


def join(room: NDArray[Any], more: NDArray[Any]) -> None:
    """Add sums (of rows or of units) for the same cells to `room`."""
    if room.dtype == np.int64:
        add_wide(room, more)
    else:
        merge(room, more)


def distinct(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct cells, ascending, and the index of each cell among them."""
    end = int(cells.max(initial=-1)) + 1
    if end > 8 * len(cells):
        return np.unique(cells, return_inverse=True)
    occurs = np.zeros(end, np.bool_)
    occurs[cells] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[cells]
