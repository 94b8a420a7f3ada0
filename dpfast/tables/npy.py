"""NumPy's file format, read block by block with NumPy alone.

The file is not mapped. If somebody truncated a mapped file, access to it would end the process, and
two reads by a kernel could differ. After each block, the file is checked to be the file that was
scanned.
"""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Iterator, Sequence
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.owner_log import hiding
from ..errors import SourceError
from .arrow import Numbers, guarded, opening
from .base import RandomWords, native_dtype
from .columns import Want
from .files import Reader, Rowed, stamp_of
from .forms import Values
from .memory import CLUSTER, SLICE
from .pick import pick
from .threads import decoders

#: Bytes that are read at a time: enough that calls cost little, few enough to stay in the cache.
BLOCK = 1 << 20
#: Bytes that are read for a random row.
SAMPLE_BYTES = 1 << 12
#: The units of times that Arrow has.
TIMES = [(unit, 1) for unit in ("D", "s", "ms", "us", "ns")]
#: The most columns of a matrix. The header of a file without rows could state any number.
COLUMNS = 1 << 20
#: The largest code point.
MOST = 0x10FFFF


class _Layout(NamedTuple):
    """The contents of a header: shape, order and dtype of the array, and where it begins."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    start: int


class NpyFile(Reader):
    """An .npy file: columns of a matrix by number, or fields of records by name.

    Attributes
    ----------
    kinds : dict of str to dtype
        The columns.
    """

    samples = True
    _rows: int

    def __init__(self, path: Path) -> None:
        self._at = os.path.abspath(path)  # absolute, in case the process changes its directory
        self._layout, seen = opening(path, ".npy", lambda: _header(path))
        shape, _, dtype, _ = self._layout
        super().__init__([Path(self._at)], shape[0])
        self._seen = [seen]
        self._name = path.name
        self._team = decoders()  # called now, so that a bad setting raises before anything is spent
        if dtype.names is not None:
            self.kinds = {name: dtype[name] for name in dtype.names}
        else:
            self.kinds = {str(j): dtype for j in range(shape[1] if len(shape) == 2 else 1)}

    @property
    def names(self) -> Sequence[str]:
        return list(self.kinds)

    def find(self, column: str | int | None) -> str:
        return pick(column, list(self.kinds), self.paths[0])

    def may_have_nulls(self, name: str) -> bool:
        return False

    def nulls(self, name: str | None) -> int | None:
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

    def typed(self, name: str, is_text: bool = False) -> Values:
        kind = self.kinds[name]
        if kind.kind == "M" and np.datetime_data(kind) not in TIMES:
            raise SourceError(
                f"column {name!r} of {self._name} must hold dates, or times to the second or finer,"
                f" got {kind}"
            )
        empty = np.empty(0, native_dtype(kind) or kind)
        return Values(empty, empty)

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        parts = max(1, min(self._team if workers is None else workers, self._rows // SLICE))
        ends = [self._rows * i // parts for i in range(parts + 1)]
        return [
            guarded(self.paths[0], self._row_batches(want.names, start, stop, rows))
            for start, stop in pairwise(ends)
        ]

    def _row_batches(
        self, names: Sequence[str], start: int, stop: int, rows: int
    ) -> Iterator[Rowed]:
        """Yield some columns of the rows `start` .. `stop` - 1, a block at a time."""
        step = max(1, min(rows, BLOCK // (self._across * self._layout.dtype.itemsize)))
        for at in range(start, stop, step):
            columns = [
                np.ascontiguousarray(part, native_dtype(part.dtype) or part.dtype.newbyteorder("="))
                for part in self._read(names, at, min(at + step, stop))
            ]
            yield at, [Values(column, column) for column in columns]

    def _read(self, names: Sequence[str], start: int, stop: int) -> list[NDArray[Any]]:
        """Return the rows `start` .. `stop` - 1 of some columns.

        Raises
        ------
        SourceError
            If the file has changed since it was opened.
        """
        across, by_column, firsts = self._across, self._layout.by_column, [start * self._across]
        if by_column:
            firsts = [int(name) * self._rows + start for name in names]
        elements = self._elements(firsts, (stop - start) * across)
        columns = list(elements) if by_column else self._columns(elements[0], names)
        for column in columns:
            self._check_text(column)
        return [array.view(np.uint8) if array.dtype.kind == "b" else array for array in columns]

    def sample_column(
        self, name: str | None, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """Return about `count` numbers of a column, up to `CLUSTER` at each random offset."""
        if self.keep is not None:
            return None
        assert name is not None
        kind, (_, by_column, dtype, _), across = self.dtype(name), self._layout, self._across
        rows = min(max(1, SAMPLE_BYTES // (across * dtype.itemsize)), self._rows)
        if not rows:
            return np.empty(0, kind)
        step = max(1, rows // CLUSTER)
        clusters = max(1, min(count * step // rows, self._rows // rows))
        edges = np.linspace(0, self._rows - rows, clusters + 1).astype(np.int64)
        width = np.maximum(np.diff(edges), 1).astype(np.uint64)
        chosen = (edges[:-1] + (words(clusters) % width).astype(np.int64)) * across
        if dtype.names is None:  # to the first row of the column
            chosen += int(name) * self._rows if by_column else int(name) % across
        elements = self._elements(chosen.tolist(), (rows - 1) * across + 1)
        column = elements if dtype.names is None else elements[name]
        return np.ascontiguousarray(column[:, :: across * step], kind).ravel()

    @property
    def _across(self) -> int:
        """The number of elements of a row that are stored, and so read, side by side."""
        shape = self._layout.shape
        return shape[1] if len(shape) == 2 and not self._layout.by_column else 1

    def _columns(self, elements: NDArray[Any], names: Sequence[str]) -> list[NDArray[Any]]:
        """Return some columns of rows that were read whole."""
        if elements.dtype.names is not None:
            return [elements[name] for name in names]
        matrix = elements.reshape(-1, self._across)
        return [matrix[:, int(name) % self._across] for name in names]

    def _elements(self, firsts: Sequence[int], many: int) -> NDArray[Any]:
        """Return `many` elements from each of some indices on, or raise if the file has changed."""
        dtype = self._layout.dtype
        values = np.empty((len(firsts), many), dtype)

        def read() -> tuple[int, int, int, int]:
            with open(self._at, "rb", buffering=0) as file:
                for row, first in zip(values.view(np.uint8), firsts, strict=True):
                    left = memoryview(row)
                    file.seek(self._layout.start + first * dtype.itemsize)
                    while left and (done := file.readinto(left)):
                        left = left[done:]
                    if left:
                        raise SourceError(f"{self._name} was cut short after it was scanned")
                return stamp_of(os.fstat(file.fileno()))

        failed = f"{self._name} cannot be read to its end"
        seen = hiding(read, lambda why: SourceError(f"{failed}: {why}"))
        if seen != self._seen[0]:
            raise SourceError(f"{self._name} was changed after it was scanned: scan it again")
        return values

    def _check_text(self, column: NDArray[Any]) -> None:
        """Refuse text that Python cannot hold, which NumPy never writes."""
        if column.dtype.kind == "U" and column.nbytes:
            units = np.ascontiguousarray(column, column.dtype.newbyteorder("=")).view(np.uint32)
            if units.max() > MOST:
                raise SourceError(f"{self._name} is damaged: it holds invalid text")


def _header(path: Path) -> tuple[_Layout, tuple[int, int, int, int]]:
    """Return the layout that the header of a file declares, and the state of the file."""
    with path.open("rb", buffering=0) as file:
        if file.read(4) == b"PK\x03\x04":
            raise SourceError(f"{path.name} is an archive of arrays (.npz): save one array as .npy")
        file.seek(0)
        header = _layout(file, path)
        end = header.start + math.prod(header.shape) * header.dtype.itemsize
        if end > os.fstat(file.fileno()).st_size:
            raise EOFError("the file ends before its array does")
        return header, stamp_of(os.fstat(file.fileno()))


def _layout(file: FileIO, path: Path) -> _Layout:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, by_column, dtype = np.lib.format.read_array_header_2_0(file)
    if version >= (3, 0) and dtype.names is not None:  # the same format, but with names in UTF-8
        dtype.names = tuple(name.encode("latin-1").decode() for name in dtype.names)
    if dtype.hasobject:
        raise SourceError(f"{path.name} must hold numbers or text, got Python objects")
    if len(shape) not in (1, 2) or (len(shape) == 2 and dtype.names is not None):
        raise SourceError(
            f"{path.name} must hold an array of one or two dimensions, got shape {shape}"
        )
    whole = all(type(extent) is int and extent >= 0 for extent in shape)
    if not (whole and dtype.itemsize and not dtype.shape):
        raise ValueError("this is not an array")
    if shape[-1] > COLUMNS and len(shape) == 2:
        raise SourceError(f"{path.name} must have at most {COLUMNS:,} columns, got {shape[1]:,}")
    return _Layout(shape, by_column and len(shape) == 2, dtype, file.tell())
