"""A partition of rows into blocks: the label of a row, by its number or its id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._kernels import aggregate as _native
from ..._kernels.tables import Key
from ...tables.base import RowChunk
from ...tables.key_words import NOTHING, KeyWords

#: Rows of a tile: few enough that labels and rows stay in the cache until they are used.
TILE = 1 << 16
#: Up to this many columns are scanned one by one. NumPy does this faster than scanning many short
#: rows.
FEW = 64


class RandomLabels:
    """Independent random labels, uniform on 0 .. blocks - 1, one for each row number.

    Parameters
    ----------
    blocks : int
        At most 2**31.
    key : Key
        Secret: it determines the blocks. `secret` creates one.

    Notes
    -----
    About 0.6 ns a row with AVX-512. The distribution is exact (`csrc/aggregate/labels.h`).
    """

    def __init__(self, blocks: int, key: Key) -> None:
        self.blocks = blocks
        self.key = key

    def read(self, start: int, rows: int) -> NDArray[np.uint32]:
        """Return the labels of rows `start` .. `start + rows - 1` of the whole data."""
        out = np.empty(rows, np.uint32)
        _native.random_labels(self.key, self.blocks, start, out)
        return out


class ContiguousLabels:
    """Labels of contiguous blocks: block j begins at row ``j * n // blocks`` of n rows.

    The blocks depend on the number of rows alone. So an added or removed row may move rows of every
    block. These labels are private under replace, and not under add-remove.
    """

    def __init__(self, blocks: int, n: int) -> None:
        self.blocks = blocks
        self.n = n

    def runs(self, start: int, rows: int) -> tuple[int, NDArray[np.int64]]:
        """Return the first block, and cuts into blocks, of rows `start` .. `start + rows - 1`.

        Rows ``cuts[j]`` .. ``cuts[j + 1] - 1``, counted from `start`, are of block ``first + j``.
        """
        if rows == 0:
            return 0, np.zeros(1, np.int64)
        # For the first and the last row: the last block that begins at or before this row.
        first, last = (((i + 1) * self.blocks - 1) // self.n for i in (start, start + rows - 1))
        if self.blocks * self.n < 2**62:
            edges = np.arange(first, last + 2, dtype=np.int64) * self.n // self.blocks - start
            return first, np.clip(edges, 0, rows)
        exact = [b * self.n // self.blocks - start for b in range(first, last + 2)]
        return first, np.array([min(max(edge, 0), rows) for edge in exact], np.int64)

    def read(self, start: int, rows: int) -> NDArray[np.uint32]:
        first, cuts = self.runs(start, rows)
        return np.repeat(np.arange(first, first + len(cuts) - 1, dtype=np.uint32), np.diff(cuts))

    def offsets(self) -> NDArray[np.int64]:
        """Return the first row of each block, and at the end the number of rows."""
        first, cuts = self.runs(0, self.n)
        offsets = np.full(self.blocks + 1, self.n)
        offsets[: first + 1], offsets[first : first + len(cuts)] = 0, cuts
        return offsets


class KeyedLabels:
    """Labels by id: SipHash-2-4 of the id under a secret key, scaled to 0 .. blocks - 1.

    Equal ids have equal labels, in any chunk and in any representation: an integer of any NumPy or
    Arrow type, text as NumPy's ``U``, Python strings or Arrow strings, bytes as NumPy's ``S``,
    Python bytes or Arrow binary (see `tables.key_words`). A null (None, a masked row, NaN among
    Python objects) is a separate id.

    Parameters
    ----------
    blocks : int
        At most 2**31.
    key : Key
        Secret: it determines the blocks. `secret` creates one.

    Notes
    -----
    About 3 ns for an integer with AVX-512, 30 ns for a short text.
    """

    def __init__(self, blocks: int, key: Key) -> None:
        self.blocks = blocks
        self.key = key
        self._words = KeyWords(key, "ids", is_id=True)

    def read(self, ids: Any) -> NDArray[np.uint32]:
        """Return the labels of a column of ids.

        Raises
        ------
        ArgumentTypeError
            If the ids are of another kind. For example, floats are refused, because 0.1 + 0.2 is
            not 0.3.
        """
        low, high, present = self._words.of(ids)
        out = np.empty(len(low), np.uint32)
        _native.keyed_labels(self.key, self.blocks, low, high, out)
        if present is not None:
            none = np.empty(1, np.uint32)
            word = np.array([0, NOTHING], np.uint64)
            _native.keyed_labels(self.key, self.blocks, word[:1], word[1:], none)
            out[~present] = none[0]
        return out


Labels = ContiguousLabels | KeyedLabels | RandomLabels


@dataclass(frozen=True, slots=True)
class Partition:
    """Labels that assign rows to blocks; with `drop`, rows with a NaN are in no block.

    A label never depends on the values of a row, so dropping a row moves no other row.
    """

    labels: Labels
    drop: bool = False

    @property
    def blocks(self) -> int:
        return self.labels.blocks

    def split(self, chunk: RowChunk) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        """Return the labels of the rows of a chunk that are not dropped, and these rows.

        If no row is dropped, these are the rows of the chunk, without a copy.
        """
        labels, rows = self.named(chunk), chunk.rows
        if self.drop:
            gone = missing(rows)
            if gone is not None:
                present = ~gone
                return labels[present], rows[present]
        return labels, rows

    def named(self, chunk: RowChunk) -> NDArray[np.uint32]:
        """Return the labels of all rows of a chunk."""
        if isinstance(self.labels, KeyedLabels):
            return self.labels.read(chunk.ids)
        return self.labels.read(chunk.start, len(chunk.rows))


def tiles(chunk: RowChunk, rows: int = TILE) -> Iterator[RowChunk]:
    """Yield the rows of a chunk in chunks of at most `rows` rows."""
    if len(chunk.rows) <= rows:
        yield chunk
        return
    for at in range(0, len(chunk.rows), rows):
        ids = None if chunk.ids is None else chunk.ids[at : at + rows]
        yield RowChunk(chunk.rows[at : at + rows], chunk.start + at, ids)


def missing(rows: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return a mask of the rows with a NaN; None if there are none."""
    incomplete: NDArray[np.bool_] | None = None
    for column in _columns(rows):
        bad = np.not_equal(column, column)
        if bad.any():
            bad = bad if bad.ndim == 1 else bad.any(axis=tuple(range(1, bad.ndim)))
            incomplete = (
                bad if incomplete is None else np.logical_or(incomplete, bad, out=incomplete)
            )
    return incomplete


def _columns(rows: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the columns whose dtype can hold a NaN."""
    if rows.dtype.names is not None:
        for field in rows.dtype.names:
            yield from _columns(rows[field])
    elif rows.dtype.kind in "fc":
        if rows.ndim == 2 and rows.shape[1] <= FEW:
            yield from rows.T
        else:
            yield rows
