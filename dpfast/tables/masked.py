"""Keep the rows of a column that a mask selects: a pass sees no others.

Masks are applied only here. So no later code (windows of order statistics, exact sums) has to
handle rows that were left out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.tables import pick
from ..errors import DataError
from .base import Chunk, RandomWords, S, Source, size_of
from .forms import Arrow, Objects, column_form
from .memory import ArraySource
from .untyped import truths

#: Rows of a mask that are processed together; rows that are kept then stay in the cache.
BLOCK = 1 << 15
#: A sample tries at most this many rows for each row that it keeps.
TRIES = 32


def mask(where: Any, length: int | None, relation: str) -> NDArray[np.bool_] | None:
    """Return `where` as an array of booleans, one for each row; None if `where` is None.

    Only the type of the object determines how a mask is read. A null leaves its row out, and so
    does an entry of a list that is 0 or not a number. No entry is an error.
    """
    if where is None:
        return None
    rule = "a one-dimensional array of booleans, one for each row"
    column = column_form(where, "where", rule)
    if isinstance(column, Objects):
        array = truths(column.rows)
    elif isinstance(column, Arrow):
        if str(column.chunked.type) != "bool":
            checks.fail_kind("where", rule, where, f" of Arrow type {column.chunked.type}")
        array = column.chunked.fill_null(False).to_numpy()
    else:
        array = column.array
        if column.mask is not None and array.dtype == np.bool_:
            array = array & ~column.mask
    if array.dtype != np.bool_ or array.ndim != 1:
        checks.fail_kind("where", rule, where, f" of {array.ndim} dimensions and {array.dtype}")
    checks.entries("where", len(array), length, relation)
    return array


def refuse_mask() -> NoReturn:
    """Raise the error of a mask that does not have one entry for each row."""
    raise DataError(
        "where must have one entry for each row of the data, and so must ids if they are an array"
    )


def kept(chunk: Chunk, where: NDArray[np.bool_]) -> Iterator[Chunk]:
    """Yield the rows of a chunk that a mask of all rows keeps, in one or more stretches.

    The values of a stretch are valid until the next one is requested.
    """
    rows = size_of(chunk)
    mask = where[chunk.start : chunk.start + rows]
    if len(mask) != rows:
        refuse_mask()
    if chunk.nulls and chunk.present is None:
        raise DataError("each chunk with nulls must tell which rows are null if where chooses rows")
    if chunk.present is not None and chunk.nulls:
        nulls = int(np.count_nonzero(mask & ~chunk.present))
        present = chunk.present[mask] if nulls else None
        room = np.empty_like(chunk.values)
        yield Chunk(picked(chunk.values, mask[chunk.present], room), chunk.start, nulls, present)
        return
    room = np.empty(min(BLOCK, rows), chunk.values.dtype)
    for at in range(0, max(1, rows), BLOCK):
        values = picked(chunk.values[at : at + BLOCK], mask[at : at + BLOCK], room)
        yield Chunk(values, chunk.start + at)


def picked(values: NDArray[Any], keep: NDArray[np.bool_], room: NDArray[Any]) -> NDArray[Any]:
    """Return the values that the mask `keep` selects, written to the buffer `room`."""
    count = pick(values, np.ascontiguousarray(keep).view(np.uint8), room)
    return room[:count]


class MaskedSource:
    """A source of the rows of another source that a mask keeps.

    `where` has one entry for each row. The `start` of a chunk is a row number in the whole source:
    the number of the first row that the chunk could have.
    """

    __slots__ = ("_source", "_where", "dtype", "length")
    nulls: int | None = None

    def __init__(self, source: Source, where: NDArray[np.bool_]) -> None:
        self._source = source
        self._where = where
        self.dtype = source.dtype
        #: None if the lengths differ, which the pass refuses.
        self.length = int(np.count_nonzero(where)) if source.length == len(where) else None

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        one_at_a_time = threading.Lock()
        read = 0

        def part(chunk: Chunk) -> S:
            nonlocal read
            chunks = kept(chunk, self._where)
            summary = summarise(next(chunks))
            for chunk_kept in chunks:
                more = summarise(chunk_kept)
                with one_at_a_time:
                    summary = merge(summary, more)
            with one_at_a_time:
                read += size_of(chunk)
            return summary

        def both(a: S, b: S) -> S:
            with one_at_a_time:
                return merge(a, b)

        reduced = self._source.reduce(part, both)
        if read != len(self._where):
            refuse_mask()
        return reduced

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """Return about `count` random rows that the mask keeps; None if there is no array."""
        if not isinstance(self._source, ArraySource) or not self.length:
            return None
        left_out = ~self._where
        if self._source.mask is not None:
            left_out |= self._source.mask
        tries = min(TRIES, -(-len(self._where) // self.length))
        return ArraySource(self._source.array, left_out).sample(count * tries, words)
