"""Columns of files: one as a source, several as rows with the ids of one more beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .array import Numbers, arrow_values
from .arrow import BATCH, Reader, Want, chunks
from .base import (
    Choosing,
    Chunk,
    RandomWords,
    RowChunk,
    RowSource,
    Source,
    Table,
    WithRows,
    named_dtype,
)
from .ids import Ids, as_ids, looked_up
from .memory import write_arrow
from .pick import distinct, picker
from .words import Words, matched

S = TypeVar("S")

#: Rows of a chunk of many columns, at least.
LEAST = 1 << 12


class FileSource(WithRows):
    """One column of one or more files: a `Source`, which drops nulls, or rows, which do not."""

    def __init__(self, reader: Reader, name: str) -> None:
        self.reader = reader
        self.name = name
        self.length = reader.length
        self._how = reader.numbers(name)
        self.dtype = self._how.dtype

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.reader.paths[0])!r}, dtype={self.dtype})"

    @property
    def nulls(self) -> int | None:
        return self.reader.nulls(self.name)

    def makers(self) -> Sequence[Generator[Chunk]]:
        """Return the decoders of a pass."""
        how = self._how
        return self.reader.makers(
            Want((self.name,)), BATCH, lambda start, arrays: chunks(arrays[0], start, how)
        )

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return self.reader.reduce(
            self.makers(),
            lambda chunk: len(chunk.values) + chunk.nulls,
            Chunk(np.empty(0, self.dtype), 0),
            self.length,
            summarise,
            merge,
        )

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return self.reader.sample(self.name, self._how, count, words)

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        return FileRows(self.reader, (self.name,), ids, workers, is_table=False)

    def beside(self, column: str) -> Table:
        return FileTable(self.reader, distinct([self.name, self.reader.find(picker(column))]))

    def coded(self, words: Sequence[Any]) -> RowSource:
        return FileTable(self.reader, [self.name]).coded(words)


class FileTable(Table):
    """Some columns of one or more files."""

    def __init__(self, reader: Reader, names: Sequence[str]) -> None:
        self.reader = reader
        self.names = tuple(names)
        self.length = reader.length
        for name in names:
            if not reader.holds_text(name):  # what that is good for is for a release to say
                reader.numbers(name)

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        names = tuple(name for name in self.names if name != ids) if isinstance(ids, str) else None
        return FileRows(self.reader, self.names if names is None else names, ids, workers)

    def beside(self, column: str) -> Table:
        name = self.reader.find(picker(column))
        return FileTable(self.reader, [*(one for one in self.names if one != name), name])

    def coded(self, words: Sequence[Words | None]) -> RowSource:
        return FileRows(self.reader, self.names, None, None, words=matched(self.names, words))

    def columns_alone(self) -> list[Source]:
        return [FileSource(self.reader, name) for name in self.names]


class FileRows(Choosing):
    """A `RowSource` of columns of files.

    Several columns make records of float64. One column that is no table makes float64 where the
    schema allows nulls, and its own dtype where it does not.
    """

    array = None
    width = None

    def __init__(
        self,
        reader: Reader,
        names: tuple[str, ...],
        ids: Any,
        workers: int | None,
        is_table: bool = True,
        words: Mapping[str, Words] | None = None,
    ) -> None:
        self._reader = reader
        self._words = {} if words is None else words
        for name in self._words:
            reader.text(name)
        self._hows = [None if name in self._words else reader.numbers(name) for name in names]
        self._workers = workers if workers is None else checks.whole("workers", workers, 1)
        self._ids: Ids | None = None
        self._want = Want(names, None, frozenset(self._words))
        if isinstance(ids, str):
            self._want = Want(names, reader.find(picker(ids)))
            reader.ids(ids)
            if not names or ids in names:
                checks.fail("ids", "a column beside those of the data", ids)
        elif ids is not None:
            self._ids = as_ids(ids)
        if is_table:
            self.dtype = named_dtype(names)
        else:
            nullable = reader.may_have_nulls(names[0])
            how = self._hows[0]
            self.dtype = np.dtype(np.float64) if nullable or how is None else how.dtype
        self._names = names
        self.length = reader.length

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        each = max(BATCH // len(self._names), min(LEAST, BATCH))

        def convert(start: int, arrays: Sequence[Any]) -> Iterator[RowChunk]:
            if self._want.ids is not None:
                arrays = [*arrays[:-1], looked_up(arrays[-1])]
            for at in range(0, len(arrays[0]), each):
                pieces = [array.slice(at, each) for array in arrays]
                yield RowChunk(self._rows(pieces), start + at, self._ids_of(start + at, pieces))

        makers = self._reader.makers(self._want, each, convert, self._workers)
        nobody: Any = None
        if self._ids is not None:
            nobody = self._ids.of(0, 0)
        elif self._want.ids is not None:
            nobody = np.empty(0, np.int64)
        seen = [0]

        def watched(chunk: RowChunk) -> S:
            seen[0] += len(chunk.rows)
            return summarise(chunk)

        total = self._reader.reduce(
            makers,
            lambda chunk: len(chunk.rows),
            RowChunk(np.empty(0, self.dtype), 0, nobody),
            self.length,
            watched,
            merge,
        )
        if self._ids is not None:
            self._ids.check_end(seen[0])
        return total

    def only(self, columns: Collection[Any] | None) -> RowSource:
        has_ids = self._ids is not None or self._want.ids is not None
        if columns is None or has_ids or self.dtype.names is None:
            return self
        names = tuple(name for name in self._names if name in columns) or self._names[:1]
        words = {name: own for name, own in self._words.items() if name in names}
        return FileRows(self._reader, names, None, self._workers, words=words)

    def _ids_of(self, start: int, pieces: Sequence[Any]) -> Any:
        if self._ids is not None:
            return self._ids.of(start, start + len(pieces[0]))
        return pieces[-1] if self._want.ids is not None else None

    def _rows(self, pieces: Sequence[Any]) -> NDArray[Any]:
        if self.dtype.names is None and self._hows[0] is not None:
            return _column(pieces[0], self._hows[0], self.dtype)
        rows = np.empty(len(pieces[0]), self.dtype)
        for name, piece, how in zip(self._names, pieces, self._hows, strict=False):
            if how is None:
                rows[name] = self._words[name].of_arrow(piece)
            else:
                write_arrow(piece, how.cast, rows[name])
        return rows


def _column(piece: Any, how: Numbers, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return one column, where it lies if that can be."""
    if how.cast is not None:
        piece = piece.cast(how.cast)
    if not piece.null_count:
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            return np.ascontiguousarray(arrow_values(piece)[0], dtype)
    rows = np.empty(len(piece), dtype)
    write_arrow(piece, None, rows)
    return rows
