"""Exact sums of each privacy unit (all rows of one id), and the bounds on what a unit adds.

Let a unit have c rows, and let T be the sum of a feature over them. The unit counts as min(c, m)
rows, and its sum as T min(c, m) / c, rounded towards zero. This is the average over a random choice
of m of its rows. No row is chosen, so rows are read once and in any order.

*Sensitivity.* T / c is a mean of rows' features. So T min(c, m) / c is m times a vector that has no
larger norm than the features of a row, in every norm, and that lies in every convex set which
contains 0 and the features of all rows. Rounding towards zero keeps signs and increases no absolute
value. So a unit that is added or removed changes all sums by no more than m equal rows do.

*A clamped total.* Alternatively, a unit with rows counts as its total, clamped to public ends lo
and hi, and a unit without rows counts as 0. So a unit that is added or removed changes a sum by at
most max(|lo|, |hi|), and a unit that is replaced by at most max(hi - lo, |lo|, |hi|).

*A loss in steps.* An integer vector in m times a box is a sum of m integer vectors in the box. Let
a row have an L1 norm of at most c. An integer vector with a norm of at most m c is a sum of m
integer vectors with norms of at most c. So m steps of a row cover it.

Rows are clamped to cells before they are summed; rows without a number or an id, or outside of a
mask, do not count as rows here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import reduce
from operator import add
from threading import Condition
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core.owner_log import hide_error
from .._kernels import groups as _native
from .._kernels.tables import Key, hashes
from ..errors import DataError
from ..tables.available_memory import share
from ..tables.base import RowChunk, RowSource
from ..tables.batches import WHERE, Batch
from ..tables.bounding import UNBOUNDED
from ..tables.key_words import KeyWords
from ..tables.masked import refuse_mask
from ..tables.memory import Column
from ..tables.people import IdColumn
from ..tables.row_files import Spill, directory
from .cells import Cells
from .moments import placed
from .side_by_side import refuse_length, stretches

#: The number of rows of a unit is in the low bits of a word, and carries of the sum are counted
#: from this bit on.
CARRY = 40
#: The largest absolute value of an integer that gets noise by group.
LARGEST = 2**62
#: Bytes of memory for each code; bytes after which the free memory is checked again; parts of a
#: spill file.
UNIT, STEP, PARTS = 64, 1 << 27, 256
#: The largest half word; products of cells are added in two halves.
SPAN = np.uint64(2**32 - 1)
#: Sums of each unit. The last row has the sums of rows without a unit.
Room: TypeAlias = NDArray[np.uint64]
#: A function that adds rows to the sums of their units, which codes name, in several rooms. It
#: returns the number of missing values for each room.
Add: TypeAlias = Callable[[Sequence[Any], NDArray[np.int32], Sequence[Room]], list[int]]


def zeros(shape: tuple[int, ...], dtype: Any = np.uint64) -> NDArray[Any]:
    """Return zeros, or raise an error that does not reveal the number of units or keys."""
    try:
        return np.zeros(shape, dtype)
    except MemoryError as error:  # the message of NumPy shows the shape, which is private
        hide_error(error)
    raise DataError("there are too many ids or keys for the memory of this machine")


def grown(room: NDArray[Any], units: int) -> NDArray[Any]:
    """Return the sums with room for `units` units, and a last entry for rows without a unit."""
    if len(room) > units:
        return room
    larger = zeros((max(units, 2 * len(room)) + 1, *room.shape[1:]), room.dtype)
    larger[: len(room) - 1] = room[:-1]
    return larger


def merge(room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
    """Add sums of the same units to `room`, with carries; either array may have spare entries."""
    units = min(len(room), len(more)) - 1
    plus(room[:units], more[:units])


def plus(room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
    """Add sums to equally many sums in `room`, with the carries of low words."""
    width = 1 + (room.shape[-1] > 1)
    sums = room.reshape(-1, width)
    before = sums[:, 0].copy()
    sums += more.reshape(-1, width)
    if width > 1:
        sums[:, 1] += (sums[:, 0] < before).astype(np.uint64) << np.uint64(CARRY)


class Units:
    """Exact sums of units, to which several threads add rows.

    If the sums exceed the memory, they are written to a file, in parts by unit, and new sums begin
    at 0. In the end the sums of each part are merged. Sums are integers, so the answer does not
    depend on when sums are written.

    Parameters
    ----------
    key : Key
        Fresh and secret, so that nobody can construct two ids that are taken for one.
    widths : sequence of int
        The number of words of each accumulator: 1 for a number of rows, and as for
        `_kernels.groups.add` 2 for a sum, or 4 with squares. An empty sequence is for codes alone,
        which are never written to a file.
    memory : int, optional
        Bytes; by default the `share`.

    Attributes
    ----------
    missing : list of int
        The number of missing rows in each room.
    """

    def __init__(self, key: Key, widths: Sequence[int], memory: int | None = None) -> None:
        self._key, self._words = key, KeyWords(key, "ids", is_id=True)
        self._widths, self._memory = widths, memory
        self._asks = STEP if memory is None else memory
        self._ready, self._running, self._is_full = Condition(), 0, False
        self._runs: list[tuple[list[int], NDArray[np.int64]]] = []
        self._file: Spill | None = None
        self.missing = [0] * len(widths)
        self._begin()

    def _begin(self) -> None:
        self._codes = _native.Codes(self._key)
        self._spare: list[list[Room]] = []

    def add(
        self,
        ids: Any,
        rows: int,
        keep: NDArray[np.bool_] | None,
        fill: Callable[[NDArray[np.int32], Sequence[Room]], list[int]],
    ) -> None:
        """Add rows by `fill`, which gets the code of each row's id, or -1 for rows left out."""
        words, codes = self._words.of(ids), np.empty(rows, np.int32)
        if keep is not None:
            words = words.only(np.ascontiguousarray(keep))
        with self._ready:
            self._ready.wait_for(lambda: not self._is_full)
            self._codes.add(*words, codes)
            units = len(self._codes)
            rooms = self._spare.pop() if self._spare else [zeros((1, w)) for w in self._widths]
            self._running += 1
        missing = None
        try:
            rooms = [grown(room, units) for room in rooms]
            missing = fill(codes, rooms)
        finally:
            with self._ready:
                self._running -= 1
                if missing is not None:
                    self._spare.append(rooms)
                    self.missing = list(map(add, self.missing, missing))
                self._is_full = self._is_full or self._is_beyond()
                if self._is_full and not self._running:
                    self._is_full = False
                    self._ready.notify_all()
                    self._write()

    def _is_beyond(self) -> bool:
        """Tell whether the sums exceed the allowed memory, which is checked now and then."""
        held = UNIT * len(self._codes) + sum(room.nbytes for rooms in self._spare for room in rooms)
        if not self._widths or held < self._asks:
            return False
        self._asks = held + STEP if self._memory is None else self._memory
        return held > (share() if self._memory is None else self._memory)

    def _merged(self) -> list[Room]:
        """Return the sums of the units in memory, merged over all threads."""
        units = len(self._codes)
        first, *others = self._spare or [[zeros((1, width)) for width in self._widths]]
        rooms = [grown(room, units) for room in first]
        for some in others:
            for room, more in zip(rooms, some, strict=True):
                merge(room, more)
        return [room[:units] for room in rooms]

    def _write(self) -> None:
        """Write the words of the units in memory and their sums, part by part, and clear them."""
        low, high = self._codes.words()
        parts = np.empty_like(low)
        hashes(self._key, low, high, parts)
        # By hash bits that do not decide the place of a code in the table.
        part = (parts % PARTS).astype(np.int64)
        order = np.argsort(part, kind="stable")
        if self._file is None:
            self._file = Spill(directory(None))
        offsets = [self._file.append(array[order]) for array in (low, high, *self._merged())]
        counts = np.bincount(part, minlength=PARTS)
        self._runs.append((offsets, np.concatenate([[0], np.cumsum(counts)])))
        self._begin()
        self._asks = STEP if self._memory is None else self._memory

    def parts(self) -> Iterator[list[Room]]:
        """Yield the sums of all units, for a part of the units at a time."""
        if self._file is None:
            yield self._merged()
            return
        self._write()
        with closing(self._file):
            for part in range(PARTS):
                codes = _native.Codes(self._key)
                rooms = [zeros((1, width)) for width in self._widths]
                for offsets, cuts in self._runs:
                    start, stop = int(cuts[part]), int(cuts[part + 1])
                    part_codes, columns = np.empty(stop - start, np.int32), []
                    for at, width in zip(offsets, (1, 1, *self._widths), strict=True):
                        columns.append(np.empty((stop - start, width), np.uint64))
                        self._file.read(at + 8 * width * start, columns[-1])
                    low, high, *sums = columns
                    codes.add(low.reshape(-1), high.reshape(-1), None, part_codes)
                    rooms = [grown(room, len(codes)) for room in rooms]
                    for room, more in zip(rooms, sums, strict=True):
                        whole = room[part_codes]  # each unit is there only once
                        plus(whole, more)
                        room[part_codes] = whole
                yield [room[: len(codes)] for room in rooms]

    def added(self, bound: Callable[[list[Room]], list[list[int]]]) -> list[list[int]]:
        """Return the totals over all units; `bound` returns the totals over a part of the units."""

        def both(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
            return [list(map(add, x, y)) for x, y in zip(a, b, strict=True)]

        return reduce(both, map(bound, self.parts()))


def unit_sums(
    source: RowSource,
    key: Key,
    widths: Sequence[int],
    fill: Add,
    where: NDArray[np.bool_] | None,
    weights: Column | None = None,
) -> Units:
    """Return the sums of each unit, in one read of rows with ids.

    Parameters
    ----------
    source : RowSource
        Its chunks have ids.
    key : Key
    widths : sequence of int
        As in `Units`.
    fill : callable
        ``fill(columns, codes, rooms)``; the last column is `weights`, if given.
    where : ndarray of bool or None
        The rows that count.
    weights : Column, optional

    Raises
    ------
    DataError
        If `where` or `weights` do not have one entry for each row.
    """
    units = Units(key, widths)

    def summarise(chunk: RowChunk) -> int:
        rows = len(chunk.rows)
        keep = None if where is None else where[chunk.start : chunk.start + rows]
        if keep is not None and len(keep) != rows:
            refuse_mask()

        def by_stretch(codes: NDArray[np.int32], rooms: Sequence[Room]) -> list[int]:
            at, missing = 0, [0] * len(rooms)
            for columns, read in stretches(chunk, None, weights):
                missing = list(map(add, missing, fill(columns, codes[at : at + read], rooms)))
                at += read
            return missing

        units.add(chunk.ids, rows, keep, by_stretch)
        return rows

    read = source.reduce(summarise, add)
    if where is not None and read != len(where):
        refuse_mask()
    if weights is not None and read != weights.length:
        refuse_length()
    return units


def unit_rows(ids: IdColumn, key: Key, where: NDArray[np.bool_] | None) -> tuple[Units, int]:
    """Return the number of rows of each unit, and of all rows, in one read of the ids."""
    rows, extra = ids.with_mask(where, key)
    units = Units(key, [1])

    def count(codes: NDArray[np.int32], rooms: Sequence[Room]) -> list[int]:
        _native.count(codes, rooms[0].reshape(-1))
        return [0]

    def summarise(batch: Batch) -> int:
        if batch.rows:
            keep = batch.columns[WHERE].array if extra else None  # type: ignore[union-attr]
            units.add(batch.columns[ids.column], batch.rows, keep, count)
        return batch.rows

    length = rows.reduce([*extra, ids.column], [ids.column], summarise, add)
    return units, length


def bounded(
    room: Room,
    most: int,
    features: Callable[[list[int]], Sequence[int]],
    squares: bool = False,
    ends: tuple[int, int] | None = None,
) -> list[int]:
    """Return the sums of features over all units, each unit within the contribution bound.

    Parameters
    ----------
    room : ndarray
        A row for each unit.
    most : int
        How many rows of a unit count at most.
    features : callable
        A linear function of the sums, of the squares if there are any, and of the number of rows,
        which returns the features.
    squares : bool, default False
        Whether the room has a sum and squares.
    ends : (int, int), optional
        The least and the largest count of a unit with rows, in each feature.
    """
    sums = room.shape[1] // 2 + 1
    basis = [features([int(i == j) for j in range(sums)]) for i in range(sums)]
    factors = zip(*basis, strict=True)
    bounded_words = [by_group(room, most, factor, squares, ends=ends) for factor in factors]
    return [int.from_bytes(words.tobytes(), "little", signed=True) for words in bounded_words]


def by_group(
    room: Room,
    most: int,
    factors: Sequence[int],
    squares: bool,
    codes: NDArray[np.int32] | None = None,
    groups: int = 0,
    ends: tuple[int, int] | None = None,
    whole: NDArray[np.uint64] | None = None,
) -> Room:
    """Return the sums by group of one feature of bounded units, in two words each.

    Parameters
    ----------
    room, most, squares, ends
        As in `bounded`.
    factors : sequence of int
        The factors of the sums, of the squares if there are any, and of the number of rows.
    codes : ndarray of int32, optional
        The group of each unit, -1 for units that do not count; by default there is one group.
    groups : int
        The number of groups, without the empty last group.
    whole : ndarray of uint64, optional
        The number of rows of the unit that each row of the accumulator belongs to, if a unit has
        several such rows.
    """
    out, limits = zeros((groups + 1, 2)), None if ends is None else _words(ends)
    _native.bound(room, squares, _words(factors), min(most, UNBOUNDED), limits, codes, out, whole)
    return out


def _words(integers: Sequence[int]) -> NDArray[np.uint64]:
    """Return integers in two words each, the low word first."""
    raw = b"".join(integer.to_bytes(16, "little", signed=True) for integer in integers)
    return np.frombuffer(raw, np.uint64).reshape(-1, 2)


def words_of(integers: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return integers of at most 128 bits in two words each."""
    low = (integers & (2**64 - 1)).astype(np.uint64).view(np.int64)
    return np.stack([low, (integers >> 64).astype(np.int64)], axis=-1)


def clamped_counts(
    counts: NDArray[np.uint64], most: int, ends: tuple[float, float] | None
) -> NDArray[np.uint64]:
    """Return how many rows of each unit count, clamped to `ends` if the unit has rows."""
    counted = np.minimum(counts, np.uint64(min(most, UNBOUNDED)))
    if ends is not None:
        least, largest = map(np.uint64, ends)
        counted = np.where(counts > 0, np.clip(counts, least, largest), counted)
    return counted


def total_sizes(room: Room, first: int, part: float) -> NDArray[np.float64]:
    """Return the absolute total of each unit divided by `part`, rounded up.

    The accumulator lacks `first` for each row of a unit, which is added.
    """
    *sums, rows = room.astype(np.float64).T
    carries = room[:, -1] >> np.uint64(CARRY)
    totals: NDArray[np.float64]
    totals = reduce(add, sums, 2.0**64 * carries + first * (rows - 2.0**CARRY * carries))
    return np.ceil(np.abs(totals) / part)


def add_wide(room: NDArray[np.int64], more: NDArray[np.int64]) -> None:
    """Add integers of two words each to those in `room`, with carries."""
    low = room[..., 0].view(np.uint64)
    before = low.copy()
    room += more
    room[..., 1] += low < before


def shifted(words: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """Return two-word integers divided by ``2**shift``, rounded down and clamped to 2**62."""
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    if shift >= 64:
        low, high, shift = high.view(np.uint64), high >> 63, shift - 64
    if shift:
        low = (low >> np.uint64(shift)) | (high.view(np.uint64) << np.uint64(64 - shift))
        high = high >> shift
    near = low.view(np.int64)
    ends = np.where(high < 0, -LARGEST, LARGEST)
    return np.clip(np.where(high == near >> 63, near, ends), -LARGEST, LARGEST)


def add_products(
    columns: list[NDArray[Any]],
    codes: NDArray[np.int32],
    bounds: Sequence[tuple[float, float]],
    cells: Sequence[Cells],
    nan: str | float,
    pairs: Sequence[tuple[int, int]],
    room: Room,
) -> int:
    """Add cells of columns, and the lower and upper halves of products, to the sums of units.

    Return how many rows of units are left out because of NaN; `nan` is as in `moments.moments`.
    """
    on_cells, out = placed(columns, bounds, cells, nan)
    values = np.empty((len(on_cells) + 2 * len(pairs), len(codes)), np.uint32)
    values[: len(on_cells)] = on_cells
    for k, (i, j) in enumerate(pairs):
        product = on_cells[i].astype(np.uint64) * on_cells[j]
        values[len(on_cells) + 2 * k] = product & SPAN
        values[len(on_cells) + 2 * k + 1] = product >> np.uint64(32)
    missing = int(np.count_nonzero(out & (codes >= 0)))
    _native.add_columns(values, np.where(out, np.int32(-1), codes), room)
    return missing
