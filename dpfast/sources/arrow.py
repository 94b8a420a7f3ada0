"""What all files read through pyarrow share: which columns hold numbers, and one `reduce`.

pyarrow is an extra, so it is imported only when a file is scanned.
"""

from __future__ import annotations

import functools
import os
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError, SourceError
from ._base import Chunk, RandomWords, chunk_dtype
from ._overlap import overlapped
from .array import arrow_values

__all__ = [
    "BATCH",
    "FileSource",
    "Numbers",
    "chunks",
    "guarded",
    "kind_of",
    "numbers",
    "opening",
    "pooled",
    "pyarrow",
    "reason",
]

S = TypeVar("S")
T = TypeVar("T")

#: Rows of a chunk: half a megabyte of float64, which the kernel finds in the cache.
BATCH = 1 << 16
#: How many times more than independent draws the places of a sample may differ. A pivot is placed
#: five standard deviations off; sixteen times the variance leaves a little more than one.
DRIFT = 16.0


def pyarrow(path: object) -> Any:
    """The pyarrow module, or the line that installs it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(
            f'reading {os.path.basename(str(path))} needs pyarrow: pip install "dpfast[io]"'
        ) from None
    return pa


class Numbers(NamedTuple):
    """How a column becomes chunks: their dtype, and the Arrow type to convert to first, if any."""

    dtype: np.dtype[Any]
    cast: Any


def numbers(kind: Any, column: str, path: Path) -> Numbers:
    """How to read a column of Arrow type `kind`, or the error that it holds no numbers.

    Integers and floats stay what they are. Booleans become uint8. Decimals become float64, row by
    row, and so does a column of nulls only. A dictionary of numbers is looked up.
    """
    pa = pyarrow(path)
    types = pa.types
    if types.is_dictionary(kind) and not types.is_dictionary(kind.value_type):
        plain = numbers(kind.value_type, column, path)
        return Numbers(plain.dtype, plain.cast or kind.value_type)
    if types.is_boolean(kind):
        return Numbers(chunk_dtype(np.dtype(np.uint8)), pa.uint8())
    if types.is_decimal(kind) or types.is_null(kind):
        return Numbers(np.dtype(np.float64), pa.float64())
    if types.is_integer(kind) or types.is_floating(kind):
        return Numbers(chunk_dtype(np.dtype(kind.to_pandas_dtype())), None)
    raise SourceError(
        f"column {column!r} of {path.name} must hold integers, floats, booleans or decimals, "
        f"got {kind}"
    )


def chunks(array: Any, start: int, how: Numbers) -> Iterator[Chunk]:
    """A `pyarrow.Array` as chunks; a row without nulls or conversion is not copied."""
    for at in range(0, len(array), BATCH):
        piece = array.slice(at, BATCH)
        if how.cast is not None:
            piece = piece.cast(how.cast)
        yield Chunk(arrow_values(piece, how.dtype), start + at, piece.null_count)


#: What reading a damaged file may raise, beside pyarrow's own errors.
DAMAGE = (OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def opening(path: Path, form: str, open_it: Callable[[], T]) -> T:
    """What `open_it` returns, or the one error that the file is not in the form it should be in."""
    pa = pyarrow(path)
    try:
        return open_it()
    except SourceError:
        raise
    except UnicodeEncodeError:
        raise SourceError(f"{path.name!r} must be a file name in UTF-8 to be read") from None
    except UnicodeDecodeError:
        raise SourceError(
            f"{path.name} cannot be read as {form}: its names are not UTF-8"
        ) from None
    except (pa.ArrowException, *DAMAGE) as error:
        raise SourceError(f"{path.name} cannot be read as {form}: {reason(error)}") from None


def reason(error: Exception) -> str:
    """The first words of a library's message, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def guarded(path: Path, rows: Iterator[T]) -> Generator[T]:
    """`rows`, whose reading errors become one `SourceError` that repeats nothing of a row.

    Neither the message nor a chained exception may: pyarrow likes to quote what it stumbled on.
    Hence the new error is raised after the old one has been let go.
    """
    pa = pyarrow(path)
    try:
        yield from rows
        return
    except MemoryError:
        raise
    except (pa.ArrowException, *DAMAGE) as error:
        if isinstance(error, SourceError):
            raise
        reason = kind_of(error)
    raise SourceError(f"{path.name} cannot be read to its end: damaged, or changed ({reason})")


def kind_of(error: BaseException) -> str:
    """What happened, without a word that could come from the rows."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return type(error).__name__


def pooled(groups: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """A few values from each of several places of a file as one sample; None if it misleads.

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


class FileSource(ABC):
    """A column of one or more files that can be read as often as asked.

    A format gives `makers`: generators of chunks that together make every row once, each to be run
    in a thread of its own while the kernel works on what has come already.
    """

    def __init__(self, paths: Sequence[Path], how: Numbers, length: int | None) -> None:
        self.dtype = how.dtype
        self.length = length
        self._paths = list(paths)
        self._how = how
        self._seen = [_stamp(path) for path in self._paths]

    @property
    def nulls(self) -> int | None:
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._paths[0])!r}, dtype={self.dtype})"

    @abstractmethod
    def makers(self) -> Sequence[Generator[Chunk]]:
        """One generator of chunks for each thread that is worth having."""

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        return None

    def check_unchanged(self) -> None:
        """Refuse to read on when a file is no longer the one that was scanned.

        Two passes over different rows would be a release about no dataset at all.
        """
        for path, seen in zip(self._paths, self._seen, strict=True):
            if _stamp(path) != seen:
                raise SourceError(f"{path.name} was changed after it was scanned: scan it again")

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        self.check_unchanged()
        makers = self.makers()
        with closing(overlapped(makers, 2 * len(makers))) as ahead:
            total = functools.reduce(merge, map(summarise, self._counted(ahead)))
        self.check_unchanged()
        return total

    def _counted(self, ahead: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks, and a check that they are as many rows as the file's own header says."""
        rows = 0
        for chunk in ahead:
            rows += len(chunk.values) + chunk.nulls
            yield chunk
            del chunk
        if rows == 0:
            yield Chunk(np.empty(0, self.dtype), 0)
        if self.length is not None and rows != self.length:
            raise SourceError(
                f"{self._paths[0].name} is damaged: its rows are not as many as its header says"
            )


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {kind_of(error)}") from None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
