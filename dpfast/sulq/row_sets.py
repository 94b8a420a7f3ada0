"""Public sets of rows, a bit for each row and set, and contrasts over them.

Let b_i be 1 if row i has a property, else 0. The contrast of a set is half of the difference
between the number of rows with the property inside the set and outside: the sum of s_i b_i / 2,
where s_i is 1 if row i is in the set, else -1. Release r contrasts, together with half of the
number of rows with the property. If b_i changes, or row i is added or removed, this vector changes
by (1, s_1, ..., s_r) / 2, where s_j now belongs to set j. The length of this change is sqrt(r + 1)
/ 2. Separate queries for r sums over the sets would cost as much as if their sensitivity were
sqrt(r).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rng as _rng
from .._core import checks
from .._kernels.tables import both
from ..tables.masked import refuse_mask
from .parts import Part
from .row_functions import Function, MaskedChunk
from .terms import Exact


class RowSets:
    """Public sets of rows, stored as one bit for each row and set.

    Two parties with the same rows can use the same sets: see `implication_strength`. Sets are sent
    to another party as bits, never as a seed of a generator.

    Parameters
    ----------
    masks : array_like of bool, of shape (sets, rows)
        For each set, a mask of its rows.

    Attributes
    ----------
    rows : int
        The number of rows to choose from.
    sizes : int64 array
        The number of rows in each set.

    Raises
    ------
    ArgumentTypeError
        For anything but a two-dimensional array of booleans.

    Notes
    -----
    Cost: an eighth of a byte for each row and set.

    Examples
    --------
    Two sets of three rows: the first has rows 0 and 2, the second has row 1:

    >>> import dpfast as dp
    >>> sets = dp.sulq.RowSets([[True, False, True], [False, True, False]])
    >>> len(sets), sets.rows, sets.sizes
    (2, 3, array([2, 1]))
    >>> sets.mask(1)
    array([False,  True, False])
    >>> sets.counts(np.array([True, True]), 1)  # how many of rows 1 and 2 each set has
    array([1, 1])
    >>> dp.sulq.RowSets.from_bytes(sets.to_bytes(), 3, 2).sizes
    array([2, 1])
    >>> len(dp.sulq.RowSets.random(1000, 5))
    5
    """

    rows: int

    def __init__(self, masks: ArrayLike) -> None:
        rule = "an array of booleans of shape (sets, rows)"
        array = checks.array("masks", masks, rule)
        if array.dtype != np.bool_ or array.ndim != 2:
            checks.fail_kind("masks", rule, masks)
        self.rows = array.shape[1]
        self._words = _words(np.packbits(array, axis=1, bitorder="little"), self.rows)

    @classmethod
    def random(cls, rows: int, sets: int, rng: _rng.Generator | None = None) -> RowSets:
        """Draw independent random sets, which contain each row with probability 1/2.

        Parameters
        ----------
        rows, sets : int
            The number of rows, and the number of sets.
        rng : Generator, optional
            The source of the random sets, by default the secure one.

        Returns
        -------
        RowSets
            Independent sets. All subsets of the rows are equally likely.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `rows` or `sets` is not an integer of at least 0.
        """
        n, r = _size(rows, sets)
        return cls._of(n, _rng.check(rng).random_raw((r, -(-n // 64))))

    @classmethod
    def from_bytes(cls, bits: bytes | bytearray | memoryview, rows: int, sets: int) -> RowSets:
        """Return the sets that `to_bytes` encoded. Bits after the last row of a set are ignored.

        Parameters
        ----------
        bits : bytes, bytearray or memoryview
            The bytes that `to_bytes` returned.
        rows, sets : int
            The number of rows, and the number of sets.

        Returns
        -------
        RowSets
            The same sets.
        """
        n, r = _size(rows, sets)
        size = -(-n // 8)
        if not isinstance(bits, (bytes, bytearray, memoryview)):
            checks.fail_kind("bits", "the bytes of to_bytes", bits)
        data = bytes(bits)
        if len(data) != r * size:
            checks.fail("bits", f"{r * size} bytes for {r} sets of {n} rows", f"{len(data)} bytes")
        return cls._of(n, _words(np.frombuffer(data, np.uint8).reshape(r, size), n))

    @classmethod
    def _of(cls, rows: int, words: NDArray[np.uint64]) -> RowSets:
        """Return row sets from words of bits; bits after the last row are cleared."""
        last = words.view(np.uint8)[:, rows // 8 :]
        last[:, 1:] = 0
        last[:, :1] &= (1 << rows % 8) - 1
        sets = cls.__new__(cls)
        sets.rows, sets._words = rows, words
        return sets

    def to_bytes(self) -> bytes:
        """Return the bits of all sets in order; each set starts a new byte, least bit first.

        Returns
        -------
        bytes
            The bits.
        """
        return self._words.view(np.uint8)[:, : -(-self.rows // 8)].tobytes()

    def __len__(self) -> int:
        return len(self._words)

    def __repr__(self) -> str:
        return f"RowSets({len(self)} sets of {self.rows} rows)"

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each set."""
        return np.asarray(np.bitwise_count(self._words).sum(axis=1, dtype=np.int64))

    def mask(self, number: int) -> NDArray[np.bool_]:
        """Return the rows of one set as a mask.

        Parameters
        ----------
        number : int
            The number of the set, from 0 on.

        Returns
        -------
        bool array of shape (rows,)
            Whether each row is in the set.
        """
        bits = np.unpackbits(self._words[number].view(np.uint8), bitorder="little")
        return bits[: self.rows].view(np.bool_)

    def counts(self, holds: NDArray[np.bool_], start: int) -> NDArray[np.int64]:
        """Return how many of the given consecutive rows fulfill a condition, within each set.

        `holds` is packed into words of bits, like a set. So a count is the number of common bits.

        Parameters
        ----------
        holds : bool array
            Whether the condition holds, for the rows from `start` on.
        start : int
            The number of the first of these rows.

        Returns
        -------
        int64 array, one entry a set
            The count for each set.
        """
        if start + len(holds) > self.rows:
            refuse_mask()
        first, shift = divmod(start, 64)
        bits = np.zeros(-(-(shift + len(holds)) // 64) * 64, np.bool_)
        bits[shift : shift + len(holds)] = holds
        words = np.packbits(bits, bitorder="little").view(np.uint64)
        counts = np.empty(len(self), np.int64)
        both(self._words, first, words, counts)
        return counts


def _size(rows: Any, sets: Any) -> tuple[int, int]:
    """Return the checked numbers of rows and of sets, with at most 2**43 bits in all."""
    n, r = checks.whole("rows", rows), checks.whole("sets", sets)
    for name, count, value in (("rows", n, rows), ("sets", n * r, sets), ("sets", r, sets)):
        if count > 1 << 43:
            checks.fail(name, "smaller: sets times rows must be at most 2**43", value)
    return n, r


def _words(packed: NDArray[np.uint8], rows: int) -> NDArray[np.uint64]:
    """Return the bits of each set as 64-bit words, padded with zeros."""
    words = np.zeros((len(packed), -(-rows // 64)), np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


def contrast_part(sets: int) -> Part:
    """Return the sensitivity of the row count together with twice the contrast of each set."""
    return Part(sets + 1, sets + 1, sets + 1, sets + 1)


def contrasts_of(function: Function, sets: RowSets, fill: str | float) -> Exact:
    """Return the number of rows where a function is not 0, and twice its contrast for each set."""

    def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
        values = function.values(chunk)
        holds, missing = values != 0, 0
        if values.dtype.kind == "f":
            absent = np.isnan(values)
            missing = int(np.count_nonzero(absent))
            if missing:
                holds[absent] = fill == 1.0
        count = int(np.count_nonzero(holds))
        return [count, *(2 * sets.counts(holds, chunk.start) - count).tolist()], missing

    return Exact(1 + len(sets), function.columns, Fraction(1, 2), tally)
