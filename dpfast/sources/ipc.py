"""Arrow IPC: the file format (.arrow, .feather) and the stream format (.arrows), memory-mapped."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SourceError
from ._base import Chunk, RandomWords
from .arrow import FileSource, chunks, guarded, numbers, opening, pooled

__all__ = ["IpcSource"]

#: Record batches that a sample looks into: at most this many, and at most one in four.
SAMPLED = 64


class IpcSource(FileSource):
    """One column of an Arrow IPC file or stream.

    Buffers that are not compressed are read where they are mapped. A compressed record batch is
    decompressed whole, this one column of it.
    """

    def __init__(self, path: Path, pick: Any) -> None:
        self._path = path
        with path.open("rb") as file:
            magic = file.read(6)
        if magic[:4] == b"FEA1":
            raise SourceError(
                f"{path.name} is in the old Feather version 1 format: write it again with version 2"
            )
        self._seekable = magic == b"ARROW1"
        self._field = 0
        schema, length = opening(path, "Arrow IPC", self._header)
        name = pick(schema.names, path)
        self._field = schema.get_field_index(name)
        super().__init__([path], numbers(schema.field(self._field).type, name, path), length)

    @contextmanager
    def _open(self, all_columns: bool = False) -> Iterator[Any]:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(
            included_fields=None if all_columns else [self._field], use_threads=False
        )
        start = pa.ipc.open_file if self._seekable else pa.ipc.open_stream
        with pa.memory_map(str(self._path)) as mapped, start(mapped, options=options) as opened:
            yield opened

    def makers(self) -> Sequence[Generator[Chunk]]:
        return [self._decode()]

    def _header(self) -> tuple[Any, int | None]:
        with self._open(all_columns=True) as opened:
            return opened.schema, opened.count_rows() if self._seekable else None

    def _decode(self) -> Generator[Chunk]:
        return guarded(self._path, self._chunks())

    def _chunks(self) -> Iterator[Chunk]:
        at = 0
        with self._open() as opened:
            for batch in self._batches(opened):
                array = self._checked(batch)
                yield from chunks(array, at, self._how)
                at += len(array)

    def _batches(self, opened: Any) -> Iterator[Any]:
        if self._seekable:
            return map(opened.get_batch, range(opened.num_record_batches))
        return iter(opened)

    def _checked(self, batch: Any) -> Any:
        """The column, once its buffers are known to be as long as its header says."""
        array = batch.column(0)
        array.validate(full=array.type.num_fields > 0 or hasattr(array, "dictionary"))
        return array

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """Values at random of record batches at random, one batch from each equal stretch.

        None for a stream, which cannot be entered in the middle, and for few record batches.
        """
        if not self._seekable:
            return None
        self.check_unchanged()
        found = list(guarded(self._path, self._picks(count, words)))
        return pooled(found, self.dtype) if found else None

    def _picks(self, count: int, words: RandomWords) -> Iterator[NDArray[Any]]:
        import pyarrow as pa

        with self._open() as opened:
            batches = opened.num_record_batches
            picked = min(SAMPLED, batches // 4)
            if picked < 2:
                return
            edges = np.linspace(0, batches, picked + 1).astype(np.int64)
            places = edges[:-1] + (words(picked) % np.diff(edges).astype(np.uint64)).astype(
                np.int64
            )
            for place in places:
                array = self._checked(opened.get_batch(int(place)))
                if len(array):
                    # The count follows a header that may lie: no more than the batch has.
                    rows = words(min(-(-count // picked), len(array))) % np.uint64(len(array))
                    for chunk in chunks(array.take(pa.array(rows)), 0, self._how):
                        yield chunk.values.copy()
