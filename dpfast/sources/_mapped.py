"""A memory-mapped array as a file like any other: pieces of its columns as Arrow arrays."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import SourceError
from ._base import RandomWords, chunk_dtype
from ._pick import Pick
from .array import ArraySource, Numbers
from .arrow import Convert, Reader, Want, guarded, pyarrow
from .npy import holds_text, npy_columns, npy_numbers

__all__ = ["MappedReader"]

T = TypeVar("T")


class MappedReader(Reader):
    """A ``.npy`` file. Nothing is decoded; a piece that does not lie side by side is copied."""

    samples = True

    def __init__(self, path: Path) -> None:
        pyarrow(path)
        self._columns = npy_columns(path)
        super().__init__([path], len(next(iter(self._columns.values()))))

    def find(self, pick: Pick) -> str:
        return pick(list(self._columns), self.paths[0])

    def numbers(self, name: str) -> Numbers:
        array = npy_numbers(self._columns[name], self.paths[0])
        return Numbers(chunk_dtype(array.dtype), None)

    def may_have_nulls(self, name: str) -> bool:
        return False

    def nulls(self, name: str) -> int | None:
        return 0

    def holds_text(self, name: str) -> bool:
        return holds_text(self._columns[name])

    def ids(self, name: str) -> None:
        if self._columns[name].dtype.kind not in "biuUS":
            raise SourceError(
                f"column {name!r} of {self.paths[0].name} must hold integers or text to be ids, "
                f"got {self._columns[name].dtype}"
            )

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self.paths[0], self._pieces(want, rows, convert))]

    def _pieces(self, want: Want, rows: int, convert: Convert[T]) -> Iterator[T]:
        assert self.length is not None
        for at in range(0, self.length, rows):
            pieces = [_arrow(self._columns[name][at : at + rows]) for name in want.names]
            yield from convert(at, pieces)

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        return ArraySource(self._columns[name]).sample(count, words)


def _arrow(piece: NDArray[Any]) -> Any:
    """A piece as a `pyarrow.Array`: side by side, in native byte order, of a type with numbers.

    Made of buffers: `pyarrow.array` would import pandas first.
    """
    import pyarrow as pa

    if piece.dtype.kind in "US":
        return pa.array(piece.tolist())
    plain = np.ascontiguousarray(piece, chunk_dtype(piece.dtype))
    kind = pa.from_numpy_dtype(plain.dtype)
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])
