"""Arrow IPC: the file format (.arrow, .feather) and the stream format (.arrows).

Files are read and not mapped: of a map of a file that somebody cuts short, a look is the end of
the process.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SourceError
from .arrow import Numbers, guarded, legible, opening
from .base import Chunk, RandomWords
from .columns import Want
from .files import Rowed, SchemaReader, one_of_each
from .forms import Arrow
from .memory import ColumnSource

#: Record batches that a sample looks into: at most this many, and at most one in four.
SAMPLED = 64


class IpcReader(SchemaReader):
    """An Arrow IPC file or stream. A record batch is read whole, those columns that are wanted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seekable, schema, length = opening(path, "Arrow IPC", self._header)
        self.schemas = [schema]
        super().__init__([path], length)

    @contextmanager
    def _open(self, names: Sequence[str] = ()) -> Iterator[Any]:
        import pyarrow as pa

        fields = [self.schemas[0].get_field_index(name) for name in names] or None
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        start = pa.ipc.open_file if self._seekable else pa.ipc.open_stream
        with pa.OSFile(str(self._path)) as file, start(file, options=options) as opened:
            yield opened

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        return [guarded(self._path, self._pieces(want.names))]

    def _header(self) -> tuple[bool, Any, int | None]:
        with self._path.open("rb") as file:
            magic = file.read(6)
        if magic[:4] == b"FEA1":
            raise SourceError(
                f"{self._path.name} is in the old Feather version 1 format: write it again with "
                "version 2"
            )
        self._seekable = magic == b"ARROW1"
        with self._open() as opened:
            length = _rows(opened) if self._seekable else None
            return self._seekable, legible(opened.schema), length

    def _pieces(self, names: Sequence[str]) -> Iterator[Rowed]:
        at = 0
        with self._open(names) as opened:
            for batch in self._batches(opened):
                yield at, [Arrow.of(_checked(batch, name)) for name in names]
                at += batch.num_rows

    def _batches(self, opened: Any) -> Iterator[Any]:
        if self._seekable:
            return map(opened.get_batch, range(opened.num_record_batches))
        return iter(opened)

    def sample(
        self, name: str, how: Numbers, count: int, words: RandomWords
    ) -> NDArray[Any] | None:
        """Return values at random of record batches at random, one batch from each equal stretch.

        None for a stream, which cannot be entered in the middle, and for few record batches.
        """
        if not self._seekable:
            return None
        self.check_unchanged()
        found = list(guarded(self._path, self._picks(name, how, count, words)))
        return self.pooled(name, found, how.dtype) if found else None

    def _picks(self, name: str, how: Numbers, count: int, words: RandomWords) -> Iterator[Chunk]:
        import pyarrow as pa

        with self._open([name]) as opened:
            batches = opened.num_record_batches
            picked = min(SAMPLED, batches // 4)
            if picked < 2:
                return
            for place in one_of_each(batches, picked, words).tolist():
                array = _checked(opened.get_batch(place), name)
                if len(array):
                    # The count follows a header that may lie: no more than the batch has.
                    rows = words(min(-(-count // picked), len(array))) % np.uint64(len(array))
                    some = pa.chunked_array([array.take(pa.array(rows))])
                    yield from ColumnSource(some, name, how).chunks(0, len(some))


def _checked(batch: Any, name: str) -> Any:
    """Return a column, once its buffers are known to be as long as its header says."""
    array = batch.column(batch.schema.get_field_index(name))
    fixed = array.type.num_fields == 0 and not hasattr(array, "dictionary")
    array.validate(full=not (fixed and len(array.buffers()) <= 2))
    return array


def _rows(opened: Any) -> int:
    """Return rows of a file, by the headers of its batches where pyarrow can read these alone."""
    if hasattr(opened, "count_rows"):
        return int(opened.count_rows())
    return sum(opened.get_batch(i).num_rows for i in range(opened.num_record_batches))
