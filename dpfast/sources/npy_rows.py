"""A ``.npy`` file like any other: pieces of its columns as Arrow arrays."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .array import Numbers
from .arrow import Convert, Reader, Want, guarded, pyarrow
from .base import RandomWords, chunk_dtype
from .npy import NpyFile
from .pick import Pick

T = TypeVar("T")


class NpyReader(Reader):
    """A ``.npy`` file. Nothing is decoded; a piece that does not lie side by side is copied."""

    samples = True

    def __init__(self, path: Path) -> None:
        pyarrow(path)
        self._file = NpyFile(path)
        super().__init__([path], self._file.length)

    def find(self, pick: Pick) -> str:
        return self._file.find(pick)

    def numbers(self, name: str) -> Numbers:
        return Numbers(self._file.number(name), None)

    def may_have_nulls(self, name: str) -> bool:
        return False

    def nulls(self, name: str) -> int | None:
        return 0

    def holds_text(self, name: str) -> bool:
        return self._file.holds_text(name)

    def text(self, name: str) -> None:
        self._file.text(name)

    def ids(self, name: str) -> None:
        self._file.ids(name)

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self.paths[0], self._pieces(want, rows, convert))]

    def _pieces(self, want: Want, rows: int, convert: Convert[T]) -> Iterator[T]:
        for at in range(0, self._file.length, rows):
            columns = self._file.read(want.names, at, min(at + rows, self._file.length))
            yield from convert(at, [_arrow(column) for column in columns])

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        return self._file.sample(name, count, words)


def _arrow(piece: NDArray[Any]) -> Any:
    """Return a piece as a `pyarrow.Array`: side by side, in native byte order, of a type with
    numbers.

    Made of buffers: `pyarrow.array` would import pandas first.
    """
    import pyarrow as pa

    if piece.dtype.kind in "US":
        return pa.array(piece.tolist())
    plain = np.ascontiguousarray(piece, chunk_dtype(piece.dtype))
    kind = pa.from_numpy_dtype(plain.dtype)
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])
