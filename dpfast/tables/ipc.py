"""Arrow IPC: the file format (.arrow, .feather) and the stream format (.arrows).

Files are read, and not mapped. If somebody truncated a mapped file, access to it would end the
process.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SourceError
from .arrow import guarded, legible, opening
from .base import RandomWords
from .columns import Want
from .files import Rowed, SchemaReader
from .forms import Arrow


class IpcReader(SchemaReader):
    """An Arrow IPC file or stream; a pass reads whole record batches of some columns."""

    stretch = 4  # a record batch can only be read whole

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seekable, schema, length, self.parts = opening(path, "Arrow IPC", self._header)
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
        return [guarded(self._path, self._row_batches(want.names))]

    def _header(self) -> tuple[bool, Any, int | None, int]:
        with self._path.open("rb") as file:
            magic = file.read(6)
        if magic[:4] == b"FEA1":
            raise SourceError(
                f"{self._path.name} is in the old Feather version 1 format: write it again with "
                "version 2"
            )
        self._seekable = magic == b"ARROW1"
        with self._open() as opened:
            if not self._seekable:  # a stream can only be read from its start
                return False, legible(opened.schema), None, 0
            return True, legible(opened.schema), _rows(opened), opened.num_record_batches

    def _row_batches(self, names: Sequence[str]) -> Iterator[Rowed]:
        at = 0
        with self._open(names) as opened:
            for batch in self._batches(opened):
                yield at, [Arrow.of(whole_column(batch, name)) for name in names]
                at += batch.num_rows

    def _batches(self, opened: Any) -> Iterator[Any]:
        if self._seekable:
            return map(opened.get_batch, range(opened.num_record_batches))
        return iter(opened)

    def look(
        self, parts: Sequence[int], name: str, rows: int, words: RandomWords
    ) -> Iterator[Arrow]:
        """Yield values of a column at random from each of some record batches."""
        return guarded(self._path, self._picks(parts, name, rows, words))

    def _picks(
        self, parts: Sequence[int], name: str, rows: int, words: RandomWords
    ) -> Iterator[Arrow]:
        import pyarrow as pa

        with self._open([name]) as opened:
            for part in parts:
                array = whole_column(opened.get_batch(part), name)
                if len(array):
                    # The number of rows in the header may be wrong, so not more are drawn than the
                    # batch has.
                    row_numbers = words(min(rows, len(array))) % np.uint64(len(array))
                    yield Arrow.of(array.take(pa.array(row_numbers)))


def whole_column(batch: Any, name: str) -> Any:
    """Return a column of a batch, after checking that its buffers are as long as declared."""
    array = batch.column(batch.schema.get_field_index(name))
    fixed = array.type.num_fields == 0 and not hasattr(array, "dictionary")
    array.validate(full=not (fixed and len(array.buffers()) <= 2))
    return array


def _rows(opened: Any) -> int:
    """Return the number of rows of a file, from the headers of its batches if pyarrow can."""
    if hasattr(opened, "count_rows"):
        return int(opened.count_rows())
    return sum(opened.get_batch(i).num_rows for i in range(opened.num_record_batches))
