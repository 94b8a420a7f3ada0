"""Columns of files: one as a source, several as rows with the ids of one more beside them."""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.sources import Key
from ..errors import SourceError
from . import arrow
from .arrow import BATCH, Numbers
from .base import (
    Choosing,
    Chunk,
    RandomWords,
    RowChunk,
    RowSource,
    Source,
    Table,
    WithRows,
)
from .forms import Arrow, Values
from .ids import as_ids
from .pick import Pick, picker
from .public_values import expect_matches
from .table import named_dtype
from .threads import overlapped
from .words import Words, is_text, matched

S = TypeVar("S")
T = TypeVar("T")

#: ``convert(start, arrays)`` yields something of the rows from `start` on, column by column.
Convert = Callable[[int, Sequence[Any]], Iterator[T]]

#: Rows of a chunk of many columns, at least.
LEAST = 1 << 12
#: How many times more than independent draws the places of a sample may differ. A pivot is placed
#: five standard deviations off; sixteen times the variance leaves a little more than one.
DRIFT = 16.0


def _pooled(groups: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return a few values from each of several places of a file as one sample; None if it misleads.

    It would if they stand in order where they were taken, or if places differ so much more than
    independent draws do (a column that drifts) that a pass which samples is the cheaper way.
    """
    whole = np.concatenate([np.empty(0, dtype), *groups])
    kept = [group[group == group] for group in groups]  # without NaN
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


class Want(NamedTuple):
    """Which columns a pass reads."""

    numbers: tuple[str, ...]
    ids: str | None = None
    #: Those of the former that are text, in which words are found.
    text: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Those of numbers in their order, then that of ids."""
        return self.numbers if self.ids is None else (*self.numbers, self.ids)


class Reader(ABC):
    """One or more files of the same columns that can be read as often as asked.

    A format gives `makers`: generators that together make every row once, each to be run in a
    thread of its own while the kernel works on what has come already. What they make of the Arrow
    arrays of the columns that are asked for is said by `convert`.
    """

    #: Whether there is a cheap sample, as a rule.
    samples: bool = False
    #: Words that stand for a missing value, in a file of text.
    missing: frozenset[str] = frozenset()

    def __init__(self, paths: Sequence[Path], length: int | None) -> None:
        self.paths = list(paths)
        self.length = length
        self._seen = [_stamp(path) for path in self.paths]
        self._null_shares: dict[str, float] = {}

    @abstractmethod
    def find(self, pick: Pick) -> str:
        """Return the name of the column that `pick` wants, the same in every file."""

    @abstractmethod
    def numbers(self, name: str) -> Numbers:
        """Return how to read a column of numbers, the same in every file."""

    @abstractmethod
    def may_have_nulls(self, name: str) -> bool:
        """By the schema, which is public, and not by looking."""

    @abstractmethod
    def holds_text(self, name: str) -> bool:
        """Tell whether a column is one of text, by its type."""

    def holds_times(self, name: str) -> bool:
        """Tell whether a column is one of dates, times or durations, by its type."""
        return False

    def text(self, name: str) -> None:
        """Refuse a column in which no words can be found."""
        if not self.holds_text(name):
            raise SourceError(
                f"column {name!r} of {self.paths[0].name} must hold text, for it has categories "
                "that are text"
            )

    def coded(self, name: str, words: Words) -> None:
        """Refuse a column in which these words cannot be found."""
        self.text(name)
        title = f"column {name!r} of {self.paths[0].name}"
        expect_matches(words.name, words.words, self.typed(name, True), title, self.missing)

    @abstractmethod
    def ids(self, name: str) -> None:
        """Refuse a column that cannot be one of ids."""

    @abstractmethod
    def typed(self, name: str, is_text: bool) -> Arrow | Values:
        """Return a column of no rows, of the type of one that is there, the same in every file.

        Where columns have no types, `is_text` says which one is wanted.
        """

    @abstractmethod
    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        """Return one generator for each thread that is worth having, of all that `convert` yields.

        `convert` gets row numbers and the arrays of the columns ``want.names``: of `rows` rows or
        fewer where a format decodes so few at a time, else as they lie in the file.
        """

    def column(self, name: str) -> FileSource:
        """Return one column of numbers."""
        return FileSource(self, name)

    def rows(
        self,
        names: tuple[str, ...],
        ids: Any = None,
        workers: int | None = None,
        is_table: bool = True,
        words: Mapping[str, Words] | None = None,
    ) -> RowSource:
        """Return the rows of some columns, of which those with words are text."""
        return FileRows(self, names, ids, workers, is_table, words)

    def nulls(self, name: str) -> int | None:
        """About how many rows of a column are null, by its last sample; None if there is none."""
        share = self._null_shares.get(name)
        return None if share is None or self.length is None else int(share * self.length)

    def pooled(
        self, name: str, taken: Sequence[Chunk], dtype: np.dtype[Any]
    ) -> NDArray[Any] | None:
        """Return what was taken at several places as one sample; None if it misleads."""
        nulls = sum(chunk.nulls for chunk in taken)
        rows = nulls + sum(len(chunk.values) for chunk in taken)
        self._null_shares[name] = nulls / rows if rows else 0.0
        return _pooled([chunk.values for chunk in taken], dtype)

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """As `Source.sample`."""
        return None

    def identity(self) -> list[tuple[str, int, int]]:
        """Tell which files they are, as far as their names, sizes and times of change tell."""
        return [
            (os.path.realpath(path), size, changed)
            for path, (_, _, size, changed) in zip(self.paths, self._seen, strict=True)
        ]

    def once(self, twice: bool) -> Reader:
        """Return what reads the rows for one release: itself, where the rows keep their order."""
        return self

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have all passes of a release agree about the columns `names`, which choose the rows."""
        del names, key  # the rows keep their order

    def check_unchanged(self) -> None:
        """Refuse to read on when a file is no longer the one that was scanned.

        Two passes over different rows would be a release about no dataset at all.
        """
        for path, seen in zip(self.paths, self._seen, strict=True):
            if _stamp(path) != seen:
                raise SourceError(f"{path.name} was changed after it was scanned: scan it again")

    def reduce(
        self,
        makers: Sequence[Generator[T]],
        rows_of: Callable[[T], int],
        empty: T,
        length: int | None,
        summarise: Callable[[T], S],
        merge: Callable[[S, S], S],
    ) -> S:
        """Make one pass, and check that the rows are as many as the file's own header says."""

        def counted(ahead: Iterable[T]) -> Iterator[T]:
            rows = 0
            for item in ahead:
                rows += rows_of(item)
                yield item
                del item
            if rows == 0:
                yield empty
            if length is not None and rows != length:
                raise SourceError(
                    f"{self.paths[0].name} is damaged: its rows are not as many as its header says"
                )

        self.check_unchanged()
        with closing(overlapped(makers, 2 * len(makers))) as ahead:
            total = functools.reduce(merge, map(summarise, counted(ahead)))
        self.check_unchanged()
        return total


class SchemaReader(Reader):
    """Files whose columns have Arrow types, one schema for each file.

    Only wanted columns are looked at: each must be in every file, under one name, of types that
    have a common one.
    """

    schemas: list[Any]

    def find(self, pick: Pick) -> str:
        name = pick(self.schemas[0].names, self.paths[0])
        for schema, path in zip(self.schemas[1:], self.paths[1:], strict=True):
            other = pick(schema.names, path)
            if other != name:
                raise SourceError(
                    f"column {name!r} of {self.paths[0].name} must be the same in every file, but "
                    f"in {path.name} it is {other!r}"
                )
        return name

    def numbers(self, name: str) -> Numbers:
        return self._same(name, arrow.numbers, "is", lambda how: how.dtype)

    def ids(self, name: str) -> None:
        self._same(name, arrow.id_family, "holds", str)

    def holds_text(self, name: str) -> bool:
        return all(is_text(kind) for kind, _ in self._kinds(name))

    def holds_times(self, name: str) -> bool:
        return all(arrow.arrow_times(kind) is not None for kind, _ in self._kinds(name))

    def typed(self, name: str, is_text: bool) -> Arrow | Values:
        import pyarrow as pa

        kind = self._same(name, lambda kind, _name, _path: kind, "is", str)
        return Arrow(pa.chunked_array([], kind))

    def may_have_nulls(self, name: str) -> bool:
        return any(schema.field(schema.get_field_index(name)).nullable for schema in self.schemas)

    def _kinds(self, name: str) -> Iterator[tuple[Any, Path]]:
        """Yield how a column is read in each file: as of the common type, if there is one."""
        kinds = [schema.field(schema.get_field_index(name)).type for schema in self.schemas]
        common = arrow.wider(kinds)
        for kind, path in zip(kinds, self.paths, strict=True):
            yield kind if common is None else common, path

    def _casts(self, names: Sequence[str]) -> list[list[Any]]:
        """Return what the columns of each file are cast to; None if they stay as they are."""
        columns = [[kind for kind, _ in self._kinds(name)] for name in names]
        return [
            [
                None if kind == schema.field(schema.get_field_index(name)).type else kind
                for name, kind in zip(names, kinds, strict=True)
            ]
            for schema, *kinds in zip(self.schemas, *columns, strict=True)
        ]

    def _same(
        self, name: str, of: Callable[[Any, str, Path], T], verb: str, shown: Callable[[T], Any]
    ) -> T:
        """Return what `of` says of a column, which is the same in every file."""
        found = [of(kind, name, path) for kind, path in self._kinds(name)]
        for one, path in zip(found, self.paths, strict=True):
            if one != found[0]:
                raise SourceError(
                    f"column {name!r} must be the same in every file: it {verb} {shown(found[0])} "
                    f"in {self.paths[0].name}, and {shown(one)} in {path.name}"
                )
        return found[0]


def widened(arrays: Iterable[Any], casts: Iterable[Any]) -> list[Any]:
    """Return columns of a file as of the types that all files have in common."""
    return [
        array if kind is None else array.cast(kind, safe=False)
        for array, kind in zip(arrays, casts, strict=True)
    ]


def one_of_each(parts: int, groups: int, words: RandomWords) -> NDArray[np.int64]:
    """Return a random one from each of `groups` nearly equal stretches of range(parts)."""
    edges = np.linspace(0, parts, groups + 1).astype(np.int64)
    return edges[:-1] + (words(groups) % np.diff(edges).astype(np.uint64)).astype(np.int64)


def _stamp(path: Path) -> tuple[int, int, int, int]:
    try:
        return stamp_of(os.stat(path))
    except OSError as error:
        why = arrow.kind_of(error)
    raise SourceError(f"{path.name} cannot be read: {why}")


def stamp_of(file: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes when a file is written to, or another takes its place."""
    return (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns)


class Columns(WithRows):
    """Some columns of one or more files, of which one more may stand beside."""

    def __init__(self, reader: Reader, names: Sequence[str]) -> None:
        self.reader = reader
        self.names = tuple(names)
        self.length = reader.length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.names))})"

    def once(self, twice: bool) -> Self:
        """Return the same columns for one release; `twice` is said by `StreamReader.once`."""
        reader = self.reader.once(twice)
        if reader is self.reader:
            return self
        some = copy(self)
        some.reader = reader
        return some

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        is_named = isinstance(ids, str)
        names = tuple(name for name in self.names if not (is_named and name == ids))
        return self.reader.rows(names, ids, workers)

    def beside(self, column: str) -> Table:
        name = self.reader.find(picker(column))
        return FileTable(self.reader, [*(one for one in self.names if one != name), name])

    def coded(self, words: Sequence[Words | None]) -> RowSource:
        return self.reader.rows(self.names, words=matched(self.names, words))


class FileTable(Columns, Table):
    """Named columns, each of numbers, text or times; if not `is_checked`, that is told when it is
    used.
    """

    def __init__(self, reader: Reader, names: Sequence[str], is_checked: bool = True) -> None:
        super().__init__(reader, names)
        for name in names if is_checked else ():
            # What text and dates are good for is for a release to say.
            if not (reader.holds_text(name) or reader.holds_times(name)):
                reader.numbers(name)

    def columns_alone(self) -> list[Source]:
        return [self.reader.column(name) for name in self.names]


class Text(Columns):
    """One column of text or of dates: data for a release that says what its words or keys are.

    It is no column of numbers, and whoever reads it as one gets the error that says so.
    """

    def refuse_column(self, name: str) -> NoReturn:
        self.rows()
        super().refuse_column(name)


class FileSource(Columns):
    """One column of numbers: a `Source`, which drops nulls, or rows, which do not."""

    def __init__(self, reader: Reader, name: str, how: Numbers | None = None) -> None:
        super().__init__(reader, [name])
        self.name = name
        self._how = reader.numbers(name) if how is None else how
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
            Want((self.name,)), BATCH, lambda start, arrays: arrow.chunks(arrays[0], start, how)
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
        return self.reader.rows(self.names, ids, workers, is_table=False)


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
        self._names = names
        self._words = words or {}
        for name, own in self._words.items():
            reader.coded(name, own)
        self._hows = [None if name in self._words else reader.numbers(name) for name in names]
        self._workers = workers if workers is None else checks.whole("workers", workers, 1)
        self._ids = None if ids is None or isinstance(ids, str) else as_ids(ids)
        self._want = Want(names, None, frozenset(self._words))
        if isinstance(ids, str):
            self._want = Want(names, reader.find(picker(ids)))
            reader.ids(ids)
            if not names or ids in names:
                checks.fail("ids", "a column beside those of the data", ids)
        how = None if is_table or reader.may_have_nulls(names[0]) else self._hows[0]
        float64 = np.dtype(np.float64)
        self.dtype = named_dtype(names) if is_table else float64 if how is None else how.dtype
        self.length = reader.length

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        each = max(BATCH // len(self._names), min(LEAST, BATCH))

        def convert(start: int, arrays: Sequence[Any]) -> Iterator[RowChunk]:
            for at in range(0, len(arrays[0]), each):
                pieces = [array.slice(at, each) for array in arrays]
                yield RowChunk(self._rows(pieces), start + at, self._ids_of(start + at, pieces))

        seen = 0

        def counted(chunk: RowChunk) -> S:
            nonlocal seen
            seen += len(chunk.rows)
            return summarise(chunk)

        empty = [np.empty(0, np.int64)] * len(self._want.names)
        total = self._reader.reduce(
            self._reader.makers(self._want, each, convert, self._workers),
            lambda chunk: len(chunk.rows),
            RowChunk(np.empty(0, self.dtype), 0, self._ids_of(0, empty)),
            self.length,
            counted,
            merge,
        )
        if self._ids is not None:
            self._ids.check_end(seen)
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
                arrow.write_arrow(piece, how.cast, rows[name])
        return rows


def _column(piece: Any, how: Numbers, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return one column, where it lies if that can be."""
    if how.cast is not None:
        piece = piece.cast(how.cast)
    if not piece.null_count:
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            return np.ascontiguousarray(arrow.arrow_values(piece)[0], dtype)
    rows = np.empty(len(piece), dtype)
    arrow.write_arrow(piece, None, rows)
    return rows
