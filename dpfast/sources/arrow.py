"""What all files read through pyarrow share: which columns hold numbers, and one `reduce`.

pyarrow is an extra, so it is imported only when a file is scanned.
"""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DpfastError, SourceError
from .array import Numbers, arrow_chunk, arrow_numbers
from .base import Chunk, RandomWords
from .forms import pyarrow_for
from .ids import family
from .pick import Pick
from .prefetch import overlapped

S = TypeVar("S")
T = TypeVar("T")

#: ``convert(start, arrays)`` yields something of the rows from `start` on, column by column.
Convert = Callable[[int, Sequence[Any]], Iterator[T]]

#: Rows of a chunk: half a megabyte of float64, which the kernel finds in the cache.
BATCH = 1 << 16
#: How many times more than independent draws the places of a sample may differ. A pivot is placed
#: five standard deviations off; sixteen times the variance leaves a little more than one.
DRIFT = 16.0


def pyarrow(path: object) -> Any:
    """Return the pyarrow module, or the line that installs it."""
    return pyarrow_for(os.path.basename(str(path)))


def numbers(kind: Any, column: str, path: Path) -> Numbers:
    """Return how to read a column of Arrow type `kind`, or the error that it holds no numbers."""
    found = arrow_numbers(kind)
    if found is None:
        raise SourceError(
            f"column {column!r} of {path.name} must hold integers, floats, booleans or decimals, "
            f"got {kind}"
        )
    return found


def id_family(kind: Any, column: str, path: Path) -> str:
    """Return what ids a column of Arrow type `kind` holds, or the error that it holds none."""
    found = family(kind)
    if found is None:
        raise SourceError(
            f"column {column!r} of {path.name} must hold integers, text or bytes to be ids, "
            f"got {kind}"
        )
    return found


def chunks(array: Any, start: int, how: Numbers) -> Iterator[Chunk]:
    """Yield a `pyarrow.Array` as chunks; a row without nulls or conversion is not copied."""
    for at in range(0, len(array), BATCH):
        piece = array.slice(at, BATCH)
        if how.cast is not None:
            piece = piece.cast(how.cast)
        yield arrow_chunk(piece, start + at, how.dtype)


def opening(path: Path, form: str, open_it: Callable[[], T]) -> T:
    """Open a file, or raise the one error that it is not in the form that it should be in."""
    name = path.name
    try:
        return open_it()
    except DpfastError:
        raise
    except UnicodeEncodeError:
        name, why = ascii(name), "the name of the file must be UTF-8"
    except UnicodeDecodeError:
        why = "its names are not UTF-8"
    except Exception as error:
        why = f"damaged, or of another format ({kind_of(error)})"
    raise SourceError(f"{name} cannot be read as {form}: {why}")


def guarded(path: Path, rows: Iterator[T]) -> Generator[T]:
    """`rows`, whose reading errors become one `SourceError` that repeats nothing of a row.

    Neither the message nor a chained exception may: libraries like to quote what they stumbled on.
    Hence the new error is raised after the old one has been let go.
    """
    pa = pyarrow(path)
    try:
        yield from rows
        return
    except DpfastError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not isinstance(error, pa.ArrowException):
            raise  # pyarrow's own is what a damaged size asks for
        reason = kind_of(error)
    raise SourceError(f"{path.name} cannot be read to its end: damaged, or changed ({reason})")


def kind_of(error: BaseException) -> str:
    """Say what happened, without a word that could come from the rows."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return type(error).__name__


def legible(schema: Any) -> Any:
    """Return a schema whose names can be read: pyarrow reads them only when they are looked at."""
    _ = schema.names
    return schema


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
    text: frozenset[str] = (
        frozenset()
    )  # those of the former that are text, in which words are found

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

    def text(self, name: str) -> None:
        """Refuse a column in which no words can be found."""
        if not self.holds_text(name):
            raise SourceError(
                f"column {name!r} of {self.paths[0].name} must hold text, for it has categories "
                "that are text"
            )

    @abstractmethod
    def ids(self, name: str) -> None:
        """Refuse a column that cannot be one of ids."""

    @abstractmethod
    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        """Return one generator for each thread that is worth having, of all that `convert` yields.

        `convert` gets row numbers and the arrays of the columns ``want.names``: of `rows` rows or
        fewer where a format decodes so few at a time, else as they lie in the file.
        """

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


def _stamp(path: Path) -> tuple[int, int, int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {kind_of(error)}") from None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
