"""NumPy's own format, read piece by piece with nothing but NumPy.

The file is not mapped: of a map of a file that somebody cuts short, a look is the end of the
process, and what a kernel looks at twice could differ. After each piece it is made sure that the
file is still the one that was scanned.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import SourceError
from .arrow import Numbers, guarded, kind_of, opening
from .base import Chunk, Ids, RandomWords, RowSource, chunk_dtype, native_dtype
from .files import Convert, FileSource, Reader, Want, stamp_of
from .forms import Arrow, Values
from .ids import as_ids, no_column
from .memory import CLUSTER, SLICE, Column, MemoryRows
from .pick import Pick
from .table import named_dtype
from .threads import decoders, in_parts
from .words import Words

S = TypeVar("S")
T = TypeVar("T")

#: Bytes that are read at a time: few calls, and they are in the cache when they are used.
PIECE = 1 << 20
#: Bytes that a look at a random place takes along.
PLACE = 1 << 12
#: Units of dates that Arrow has.
TIMES = [(unit, 1) for unit in ("D", "s", "ms", "us", "ns")]
#: Columns of a matrix, at most. Without rows a header may say any number of them.
COLUMNS = 1 << 20
#: The last code point.
MOST = 0x10FFFF


class _Form(NamedTuple):
    """What a header says: the array, and the byte at which it begins."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    start: int


class NpyFile(Reader):
    """A file, whose columns are those of a matrix by place or those of records by field.

    Attributes
    ----------
    kinds : dict of str to dtype
        The columns.
    """

    samples = True
    length: int

    def __init__(self, path: Path) -> None:
        self._at = os.path.abspath(path)  # wherever the process goes
        self._form, seen = opening(path, ".npy", lambda: _header(path))
        shape, _, dtype, _ = self._form
        super().__init__([path], shape[0])
        self._seen = [seen]
        self._name = path.name
        if dtype.names is not None:
            self.kinds = {name: dtype[name] for name in dtype.names}
        else:
            self.kinds = {str(j): dtype for j in range(shape[1] if len(shape) == 2 else 1)}

    def find(self, pick: Pick) -> str:
        return pick(list(self.kinds), self.paths[0])

    def holds_text(self, name: str) -> bool:
        return self.kinds[name].kind in "US"

    def may_have_nulls(self, name: str) -> bool:
        return False

    def nulls(self, name: str) -> int | None:
        return 0

    def numbers(self, name: str) -> Numbers:
        kind = self.kinds[name]
        native = native_dtype(kind)
        if native is not None:
            return Numbers(native, None)
        rule = "one number a row in each of its columns"
        if not kind.shape:
            rule = "integers, floats or booleans"
        raise SourceError(f"{self._name} must hold {rule}, got {kind}")

    def ids(self, name: str) -> None:
        if self.kinds[name].kind not in "biuUS":
            raise SourceError(
                f"column {name!r} of {self._name} must hold integers or text to be ids, got "
                f"{self.kinds[name]}"
            )

    def typed(self, name: str, is_text: bool) -> Arrow | Values:
        import pyarrow as pa

        kind = self.kinds[name]
        if kind.kind in "US":
            return Arrow(pa.chunked_array([], pa.string() if kind.kind == "U" else pa.binary()))
        if kind.kind == "M" and np.datetime_data(kind) not in TIMES:
            raise SourceError(
                f"column {name!r} of {self._name} must hold dates, or times to the second or finer,"
                f" got {kind}"
            )
        if kind.kind != "M" and native_dtype(kind) is None:
            return Values(np.empty(0, kind), kind)
        return Arrow(pa.chunked_array([_arrow(np.empty(0, kind))]))

    def column(self, name: str) -> FileSource:
        return NpySource(self, name)

    def rows(
        self,
        names: tuple[str, ...],
        ids: Any = None,
        workers: int | None = None,
        is_table: bool = True,
        words: Mapping[str, Words] | None = None,
    ) -> RowSource:
        coded = words or {}
        for name in names:
            if name in coded:
                self.coded(name, coded[name])
            else:
                self.numbers(name)
        if isinstance(ids, str):
            if not names:
                checks.fail("ids", "a column beside those of the data", ids)
            others = [name for name in self.kinds if is_table or name not in names]
            if ids not in others:
                no_column(ids, others)
            self.ids(ids)
            ids = Ids(_Stored(self, ids))
        elif ids is not None:
            ids = as_ids(ids)
        dtype = named_dtype(names) if is_table else self.numbers(names[0]).dtype
        return MemoryRows(self._rows(names, dtype, coded), ids, workers)

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self.paths[0], self._converted(want, rows, convert))]

    def _converted(self, want: Want, rows: int, convert: Convert[T]) -> Iterator[T]:
        for at in range(0, self.length, rows):
            columns = self._read(want.names, at, min(at + rows, self.length))
            yield from convert(at, [_arrow(column) for column in columns])

    def _rows(
        self, names: tuple[str, ...], dtype: np.dtype[Any], coded: Mapping[str, Words]
    ) -> Column:
        """Return rows of `dtype`: a number each, or records of float64."""

        def fill(start: int, stop: int, out: NDArray[Any]) -> None:
            for at, columns in self._pieces(names, start, stop):
                for name, rows in zip(names, columns, strict=True):
                    to = out if dtype.names is None else out[name]
                    own = coded[name].of_objects(rows.tolist()) if name in coded else rows
                    with np.errstate(invalid="ignore"):  # of a signalling NaN
                        to[at - start : at - start + len(rows)] = own

        def only(wanted: Collection[Any] | None) -> Column:
            chosen = tuple(n for n in names if wanted is None or n in wanted) or names[:1]
            return self._rows(chosen, named_dtype(chosen), coded)

        return Column(dtype, self.length, fill, only=None if dtype.names is None else only)

    def _read(self, names: Sequence[str], start: int, stop: int) -> list[NDArray[Any]]:
        """Return rows `start` .. `stop - 1` of some columns.

        Raises
        ------
        SourceError
            If the file has changed since it was opened.
        """
        rows, across, by_column = stop - start, self._across, self._form.by_column
        size = self._form.dtype.itemsize
        firsts = [start * across]
        if by_column:
            firsts = [int(name) * self.length + start for name in names]
        with self._opened() as file:
            taken = [np.empty(rows * across * size, np.uint8) for _ in firsts]
            for some, first in zip(taken, firsts, strict=True):
                self._fill(file, memoryview(some), self._form.start + first * size)
        elements = [some.view(self._form.dtype) for some in taken]
        found = elements if by_column else self._columns(elements[0], names)
        for column in found:
            self._check_text(column)
        return [one.view(np.uint8) if one.dtype.kind == "b" else one for one in found]

    def _pieces(
        self, names: Sequence[str], start: int, stop: int
    ) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield the same a piece at a time, each with the number of its first row."""
        step = max(1, PIECE // (self._across * self._form.dtype.itemsize))
        for at in range(start, stop, step):
            yield at, self._read(names, at, min(at + step, stop))

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """About `count` numbers of a column, up to `CLUSTER` at each of some random places."""
        kind, (_, by_column, dtype, begin), across = how.dtype, self._form, self._across
        rows = min(max(1, PLACE // (across * dtype.itemsize)), self.length)
        if not rows:
            return np.empty(0, kind)
        step = max(1, rows // CLUSTER)
        places = max(1, min(count * step // rows, self.length // rows))
        edges = np.linspace(0, self.length - rows, places + 1).astype(np.int64)
        width = np.maximum(np.diff(edges), 1).astype(np.uint64)
        chosen = (edges[:-1] + (words(places) % width).astype(np.int64)) * across
        if dtype.names is None:  # the first row of the column
            chosen += int(name) * self.length if by_column else int(name) % across
        elements = np.empty((places, (rows - 1) * across + 1), dtype)
        bytes_of = elements.view(np.uint8).reshape(places, -1)
        with self._opened() as file:
            for place, first in enumerate(chosen.tolist()):
                self._fill(file, memoryview(bytes_of[place]), begin + first * dtype.itemsize)
        column = elements if dtype.names is None else elements[name]
        return np.ascontiguousarray(column[:, :: across * step], kind).ravel()

    @property
    def _across(self) -> int:
        """Elements side by side that are read together."""
        shape = self._form.shape
        return shape[1] if len(shape) == 2 and not self._form.by_column else 1

    def _columns(self, elements: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Columns of rows that were read whole."""
        if elements.dtype.names is not None:
            return [elements[name] for name in names]
        matrix = elements.reshape(-1, self._across)
        return [matrix[:, int(name) % self._across] for name in names]

    @contextmanager
    def _opened(self) -> Iterator[FileIO]:
        """Yield the file, which at the end is still the one that was scanned."""
        failed = None
        try:
            with open(self._at, "rb", buffering=0) as file:
                yield file
                seen = stamp_of(os.fstat(file.fileno()))
        except OSError as error:
            if isinstance(error, SourceError):
                raise
            failed = kind_of(error)
        if failed is not None:
            raise SourceError(f"{self._name} cannot be read to its end: {failed}")
        if seen != self._seen[0]:
            raise SourceError(f"{self._name} was changed after it was scanned: scan it again")

    def _fill(self, file: FileIO, into: memoryview, at: int) -> None:
        file.seek(at)
        while into:
            done = file.readinto(into)
            if not done:
                raise SourceError(f"{self._name} was cut short after it was scanned")
            into = into[done:]

    def _check_text(self, column: NDArray[Any]) -> None:
        """Refuse text that Python cannot hold, which is not in a file that NumPy wrote."""
        if column.dtype.kind == "U" and column.nbytes:
            units = np.ascontiguousarray(column, column.dtype.newbyteorder("=")).view(np.uint32)
            if units.max() > MOST:
                raise SourceError(f"{self._name} is damaged: it holds text that is none")


def _header(path: Path) -> tuple[_Form, tuple[int, int, int, int]]:
    """Return what the header of a file says, and which of its versions it is."""
    with path.open("rb", buffering=0) as file:
        if file.read(4) == b"PK\x03\x04":
            raise SourceError(f"{path.name} is an archive of arrays (.npz), not one array")
        file.seek(0)
        form = _form(file, path)
        end = form.start + math.prod(form.shape) * form.dtype.itemsize
        if end > os.fstat(file.fileno()).st_size:
            raise EOFError("it ends before the array does")
        return form, stamp_of(os.fstat(file.fileno()))


def _form(file: FileIO, path: Path) -> _Form:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, by_column, dtype = np.lib.format.read_array_header_2_0(file)
    if version >= (3, 0) and dtype.names is not None:  # the same, but its names are UTF-8
        dtype.names = tuple(name.encode("latin-1").decode() for name in dtype.names)
    if dtype.hasobject:
        raise SourceError(f"{path.name} must hold numbers or text, got Python objects")
    if len(shape) not in (1, 2) or (len(shape) == 2 and dtype.names is not None):
        raise SourceError(
            f"{path.name} must hold an array of one or two dimensions, got shape {shape}"
        )
    whole = all(type(extent) is int and extent >= 0 for extent in shape)
    if not (whole and dtype.itemsize and not dtype.shape):
        raise ValueError("no form of an array")
    if shape[-1] > COLUMNS and len(shape) == 2:
        raise SourceError(f"{path.name} must have at most {COLUMNS:,} columns, got {shape[1]:,}")
    return _Form(shape, by_column and len(shape) == 2, dtype, file.tell())


class _Stored:
    """A column of a file where rows of an array could be."""

    def __init__(self, file: NpyFile, name: str) -> None:
        self._file = file
        self._name = name

    def __len__(self) -> int:
        return self._file.length

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        (found,) = self._file._read([self._name], rows.start, rows.stop)
        return found


class NpySource(FileSource):
    """One column of a file."""

    reader: NpyFile
    length: int

    def __init__(self, reader: NpyFile, name: str) -> None:
        super().__init__(reader, name)
        # Asked now, for a bad setting must show before a spend.
        self.workers = min(decoders(), max(1, self.length // SLICE))

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        return in_parts(self.length, self.workers, self._chunks, summarise, merge)

    def _chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        if start == stop:
            yield Chunk(np.empty(0, self.dtype), start)
        for at, (rows,) in self.reader._pieces([self.name], start, stop):
            with np.errstate(invalid="ignore"):  # of a signalling NaN
                values = np.ascontiguousarray(rows, self.dtype)
            yield Chunk(values, at)


def _arrow(piece: NDArray[Any]) -> Any:
    """Return a piece as a `pyarrow.Array`: side by side, in native byte order, of a type with
    numbers.

    Made of buffers: `pyarrow.array` would import pandas first.
    """
    import pyarrow as pa

    if piece.dtype.kind in "US":
        return pa.array(piece.tolist())
    if piece.dtype.kind == "M":
        unit, _ = np.datetime_data(piece.dtype)
        present = ~np.isnat(piece)
        count = np.ascontiguousarray(piece, piece.dtype.newbyteorder("=")).view(np.int64)
        if unit == "D":  # of 32 bits; a day beyond is missing
            present &= (count >= -(1 << 31)) & (count < 1 << 31)
            count = count.astype(np.int32)
        return pa.array(count, mask=~present).view(
            pa.date32() if unit == "D" else pa.timestamp(unit)
        )
    plain = np.ascontiguousarray(piece, chunk_dtype(piece.dtype))
    kind = pa.from_numpy_dtype(plain.dtype)
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])
