"""Files and streams as stores of columns, read in batches in each pass."""

from __future__ import annotations

import functools
import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .._core.owner_log import hiding, timed
from ..errors import SourceError
from . import arrow
from .arrow import BATCH, Numbers, guarded
from .base import Chunk, RandomWords, RowChunk, S, T, named_dtype, size_of
from .columns import ROWS, Batch, Elsewhere, Rows, TableRows, Want
from .forms import Arrow, MemoryColumn, source_of
from .ids import entries
from .key_words import key_kind
from .memory import F8, MemorySource
from .pick import same_column
from .public_values import expect_matches
from .threads import overlapped
from .times import numbered, times_of
from .words import holds_words

#: Consecutive rows: the number of the first one, and the values of each column.
Rowed: TypeAlias = tuple[int, Sequence[MemoryColumn]]
#: ``convert(start, columns)`` converts the rows from `start` on, and yields results.
Convert = Callable[[int, Sequence[MemoryColumn]], Iterator[T]]
#: A function that changes the columns and the conversion of a pass, so that some rows are left out.
Keep: TypeAlias = Callable[["Reader", Want, Convert[Any]], tuple[Want, Convert[Any]]]

#: A chunk of many columns has at least this many rows.
LEAST = 1 << 12
#: A sample is used if its ranks vary at most this many times more than the ranks of independent
#: draws. A pivot is placed five standard deviations away, which is still more than one with 16
#: times the variance.
DRIFT = 16.0
#: The number of parts from which a sample is taken, and the fewest parts with which sampling is
#: worth it.
SAMPLED, FEWEST = 64, 8


def _pooled(groups: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return values from several offsets of a file as one sample; None if that would be biased.

    A sample misleads if the values at an offset are in order. It also misleads if the column
    drifts, so that offsets differ much more than independent draws do. Then one more pass, which
    draws the sample, is cheaper.
    """
    whole = np.concatenate([np.empty(0, dtype), *groups])
    kept = [group[group == group] for group in groups]  # without missing values
    middle = np.median(np.concatenate([whole[:0], *kept])) if any(map(len, kept)) else 0
    sides = [(g > middle).astype(np.int8) - (g < middle).astype(np.int8) for g in kept if len(g)]
    for group in kept:
        steps = group[1:] >= group[:-1]
        if group.size >= 16 and group[0] != group[-1] and (steps.all() or not steps.any()):
            return None
    spread = float(np.var(np.concatenate(sides))) if sides else 0.0
    if spread == 0.0:
        return whole
    mean = float(np.mean(np.concatenate(sides)))
    effect = np.mean([len(s) * (float(s.mean()) - mean) ** 2 for s in sides]) / spread
    return None if effect > DRIFT else whole


class Reader(Elsewhere):
    """One or more files with the same columns, which can be read as often as needed.

    A format provides `batches`: generators that together yield every row once. Each generator runs
    in a separate thread, while the kernel works on earlier rows.
    """

    engine = "files"
    #: Whether sampling this format is usually cheap.
    samples: bool = False
    #: The number of parts that can be read alone, like row groups; a sample takes one of each
    #: `stretch` parts.
    parts, stretch = 0, 1
    #: A function that keeps the rows that pass conditions. The number of such rows is private.
    keep: Keep | None = None
    #: A function that shares passes with other releases; None if this reader makes its own passes.
    share: Callable[..., Any] | None = None

    def __init__(self, paths: Sequence[Path], length: int | None) -> None:
        self.paths = list(paths)
        self.length = self._rows = length
        self._seen = self._stamped()
        self._null_shares: dict[str, float] = {}

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of the columns; for several files, the names in the first file."""

    @abstractmethod
    def find(self, column: str | int | None) -> str:
        """Return the name of a column, given by name or number, which every file must share."""

    def numbers(self, name: str) -> Numbers:
        """Return how to read a column of numbers, or refuse a column that holds none."""
        typed = self.typed(name)
        assert isinstance(typed, Arrow)
        return arrow.numbers(typed.chunked.type, name, self.paths[0])

    @abstractmethod
    def may_have_nulls(self, name: str) -> bool:
        """Tell whether a column may hold nulls, by its public schema and not by its rows."""

    def holds_text(self, name: str) -> bool:
        """Tell whether a column is declared as text; a column of a text file never is."""
        return holds_words(self.typed(name))

    def holds_times(self, name: str) -> bool:
        """Tell whether a column holds times that can be read as numbers, by its type."""
        typed = self.typed(name)
        return isinstance(typed, Arrow) and times_of(typed) is not None

    def numbers_of(self, name: str, column: MemoryColumn) -> MemoryColumn:
        """Return a column as numbers, converted if it was read as the cells of a text file."""
        return column

    @abstractmethod
    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        """Return generators that together yield all rows, one for each thread to start.

        Each yields the pieces of the requested columns: of at most `rows` rows if a format can
        decode so few at a time, otherwise as they are stored in the file.
        """

    @property
    def title(self) -> str:
        return str(self.paths[0])

    def name_of(self, column: Any, argument: str) -> str:
        return self.find(column)

    def check_numbers(self, name: str) -> None:
        self.numbers(name)

    def dtype(self, name: str | None) -> np.dtype[Any]:
        assert name is not None
        return np.dtype(np.int64) if name in self.as_numbers else self.numbers(name).dtype

    def describe(self, rows: Rows) -> tuple[np.dtype[Any], int | None]:
        names = rows.names or ()
        for name in names:
            if name in rows.words:
                words, title = rows.words[name], f"column {name!r} of {self.paths[0].name}"
                cells = self.cells(name)
                if cells is None and not self.holds_text(name):
                    raise SourceError(f"{title} must hold text, because its categories are text")
                expect_matches(words.name, words.words, self.typed(name, True), title, cells)
            else:
                self.dtype(name)
        if rows.ids is not None:
            key_kind(self.typed(rows.ids, True), "ids", is_id=True)
        if rows.is_table:
            return named_dtype(names), None
        can_be_missing = names[0] in self.as_numbers or self.may_have_nulls(names[0])
        return F8 if can_be_missing else self.dtype(names[0]), None

    def nulls(self, name: str | None) -> int | None:
        """Return about how many rows of a column are null, by its last sample; None without one."""
        share = self._null_shares.get(name or "")
        return None if share is None or self.length is None else int(share * self.length)

    def look(
        self, parts: Sequence[int], name: str, rows: int, words: RandomWords
    ) -> Iterator[MemoryColumn]:
        """Yield about `rows` rows of a column from each of some parts, such as row groups."""
        raise AssertionError("there are no parts")

    def sample_column(
        self, name: str | None, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """Return a random sample of a column, from one part of each of some equal stretches.

        Return None where a sample would mislead: few parts, order, drift.
        """
        if self.keep is not None or self.parts < FEWEST:
            return None
        assert name is not None
        self.check_unchanged()
        looked = min(SAMPLED, self.parts // self.stretch)
        edges = np.linspace(0, self.parts, looked + 1).astype(np.int64)
        row_numbers = edges[:-1] + (words(looked) % np.diff(edges).astype(np.uint64)).astype(
            np.int64
        )
        samples = self.look(row_numbers.tolist(), name, max(1, -(-count // looked)), words)
        taken = [chunk for sample in samples for chunk in self._chunks(name, sample)]
        nulls, rows = sum(chunk.nulls for chunk in taken), sum(map(size_of, taken))
        self._null_shares[name] = nulls / rows if rows else 0.0
        return _pooled([chunk.values for chunk in taken], self.dtype(name))

    def identity(self) -> list[tuple[str, int, int]]:
        """Return the path, size and time of change of each file, by which a change is noticed."""
        return [
            (os.path.realpath(path), size, changed)
            for path, (_, _, size, changed) in zip(self.paths, self._seen, strict=True)
        ]

    def _stamped(self) -> list[tuple[int, int, int, int]]:
        return [_stamp(path) for path in self.paths]

    def check_unchanged(self) -> None:
        """Refuse to read on if a file has changed since it was scanned.

        Two passes over different rows would make a release that is about neither dataset.
        """
        for path, seen, now in zip(self.paths, self._seen, self._stamped(), strict=True):
            if now != seen:
                raise SourceError(f"{path.name} was changed after it was scanned: scan it again")

    def no_rows(self, want: Want) -> Sequence[MemoryColumn]:
        """Return the columns of a pass without rows, each of its type."""
        return [self.typed(name, name in want.text) for name in want.names]

    def reduce(
        self,
        want: Want,
        convert: Convert[T],
        summarise: Callable[[T], S],
        merge: Callable[[S, S], S],
        rows: int = BATCH,
        workers: int | None = None,
    ) -> S:
        """Make one pass: convert the rows of each batch, summarise them, and merge the summaries.

        `convert` is called in the threads that decode, `summarise` and `merge` in this one. The
        number of rows is compared with the file's header.
        """
        if self.keep is not None:
            want, convert = self.keep(self, want, convert)
            workers = 1  # one thread, so that the numbers of rows do not depend on the chunks
        if self.share is not None:
            return cast(S, self.share(want, convert, summarise, merge, workers))
        counts: list[int] = []  # list.append is safe from several threads

        def converted(batches: Generator[Rowed]) -> Generator[T]:
            with closing(batches), np.errstate(all="ignore"):
                for start, columns in batches:
                    counts.append(columns[0].length)
                    yield from convert(start, columns)
                    del columns

        def counted(ahead: Iterable[T]) -> Iterator[T]:
            is_empty = True
            for item in ahead:
                is_empty = False
                yield item
                del item
            if is_empty:
                yield from convert(0, self.no_rows(want))
            if self._rows is not None and sum(counts) != self._rows:
                raise SourceError(
                    f"{self.paths[0].name} is damaged: its header states another number of rows"
                )

        self.check_unchanged()
        makers = [
            guarded(self.paths[0], converted(part)) for part in self.batches(want, rows, workers)
        ]
        with (
            timed("pass", of=self.title, columns=want.names) as facts,
            closing(overlapped(makers, 2 * len(makers))) as ahead,
        ):
            total = functools.reduce(merge, map(summarise, counted(ahead)))
            facts["rows"] = sum(counts)
        self.check_unchanged()
        return total

    def reduce_column(
        self, name: str | None, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]
    ) -> S:
        assert name is not None

        def convert(start: int, columns: Sequence[MemoryColumn]) -> Iterator[Chunk]:
            for chunk in self._chunks(name, columns[0]):
                yield chunk._replace(start=start + chunk.start)

        return self.reduce(Want((name,)), convert, summarise, merge)

    def reduce_rows(
        self, rows: TableRows, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]
    ) -> S:
        make, dtype = rows.make, rows.dtype
        names, words = make.names or (), make.words
        chunk_rows = max(BATCH // len(names), min(LEAST, BATCH))

        def convert(start: int, columns: Sequence[MemoryColumn]) -> Iterator[RowChunk]:
            for at in range(0, max(1, columns[0].length), chunk_rows):
                some = [column.cut(at, at + chunk_rows) for column in columns]
                out = np.empty(some[0].length, dtype)
                for name, column in zip(names, some, strict=False):
                    to = out if dtype.names is None else out[name]
                    if name in words:
                        to[...] = words[name].of(column)
                    else:
                        self._numbered(name, column).column("data", "numbers").fill(0, len(out), to)
                yield RowChunk(out, start + at, None if make.ids is None else entries(some[-1]))

        # Ids may all be different, so they are not read as words of a dictionary.
        ids = frozenset(() if make.ids is None else (make.ids,))
        want = Want(make.columns or (), ids.union(words), frozenset(words))
        return self.reduce(want, convert, summarise, merge, chunk_rows, rows.workers)

    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> S:
        kinds = {name: self.typed(name, True) for name in want.text}

        def convert(start: int, batch_columns: Sequence[MemoryColumn]) -> Iterator[Batch]:
            for at in range(0, max(1, batch_columns[0].length), ROWS):
                rows = min(ROWS, batch_columns[0].length - at)
                columns = {
                    name: as_typed(column.cut(at, at + rows), kinds.get(name))
                    for name, column in zip(want.names, batch_columns, strict=True)
                }
                yield Batch(start + at, rows, columns)

        return self.reduce(want, convert, summarise, merge, ROWS)

    def _chunks(self, name: str, column: MemoryColumn) -> Iterator[Chunk]:
        """Return an iterator over the chunks of a column of numbers."""
        source = cast(MemorySource, source_of(self._numbered(name, column)))
        return source.chunks(0, source.length)

    def _numbered(self, name: str, column: MemoryColumn) -> MemoryColumn:
        """Return a column, converted to whole numbers if it is a column of times read as such."""
        read = self.as_numbers.get(name)
        return column if read is None else numbered(column, read.numbers)


class SchemaReader(Reader):
    """Files whose columns have Arrow types, with one schema for each file.

    Only used columns are checked: each must be in every file, under one name, with a common type.
    """

    schemas: list[Any]

    @property
    def names(self) -> Sequence[str]:
        return list(self.schemas[0].names)

    def find(self, column: str | int | None) -> str:
        names = [schema.names for schema in self.schemas]
        return same_column(column, list(zip(names, self.paths, strict=True)))

    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        import pyarrow as pa

        (kind, first), *others = self._kinds(name)
        for other, path in others:
            if other != kind:
                raise SourceError(
                    f"column {name!r} must be the same in every file: it is {kind} in {first.name},"
                    f" and {other} in {path.name}"
                )
        return Arrow(pa.chunked_array([], kind))

    def may_have_nulls(self, name: str) -> bool:
        return any(schema.field(schema.get_field_index(name)).nullable for schema in self.schemas)

    def _kinds(self, name: str) -> Iterator[tuple[Any, Path]]:
        """Yield the type as which each file's column is read: the common type, if one exists."""
        kinds = [schema.field(schema.get_field_index(name)).type for schema in self.schemas]
        common = arrow.wider(kinds)
        for kind, path in zip(kinds, self.paths, strict=True):
            yield kind if common is None else common, path

    def _casts(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the types to which each file's columns are cast; None where no cast is needed."""
        columns = [[kind for kind, _ in self._kinds(name)] for name in names]
        return [
            [
                None if kind == schema.field(schema.get_field_index(name)).type else kind
                for name, kind in zip(names, kinds, strict=True)
            ]
            for schema, *kinds in zip(self.schemas, *columns, strict=True)
        ]


def as_typed(column: MemoryColumn, typed: MemoryColumn | None) -> MemoryColumn:
    """Return a column; bytes become text if `typed` says that the column is read as text."""
    import pyarrow as pa

    is_text = isinstance(typed, Arrow) and typed.chunked.type == pa.string()
    if is_text and isinstance(column, Arrow) and pa.types.is_binary(column.chunked.type):
        return Arrow.of(column.array.view(pa.string()))
    return column


def widened(arrays: Iterable[Any], casts: Iterable[Any]) -> list[Arrow]:
    """Return columns of a file, cast to the types that all files have in common."""
    return [Arrow.of(arrow.widened(array, kind)) for array, kind in zip(arrays, casts, strict=True)]


def _stamp(path: Path) -> tuple[int, int, int, int]:
    failed = f"{path.name} cannot be read"
    return hiding(lambda: stamp_of(os.stat(path)), lambda why: SourceError(f"{failed}: {why}"))


def stamp_of(file: os.stat_result) -> tuple[int, int, int, int]:
    """Return an identifier of the state of a file: device, inode, size and time of change."""
    return (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns)
