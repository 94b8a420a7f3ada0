"""Read Parquet: threads decode row groups while the kernel works on earlier ones."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import SourceError
from .arrow import guarded, legible, opening
from .base import RandomWords
from .columns import Want
from .files import FEWEST, Rowed, SchemaReader, widened
from .forms import MemoryColumn
from .threads import decoders

#: Bytes that are read from the file at a time, so that a column chunk of gigabytes is never in
#: memory as a whole.
BUFFER = 1 << 18


class _Part(NamedTuple):
    """One row group: its file, its number there, its first row and its number of rows."""

    file: int
    group: int
    start: int
    rows: int


class ParquetReader(SchemaReader):
    """A Parquet file, or several files of one table, in their order."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._team = decoders()  # called now, so that a bad setting raises before anything is spent
        opened = [opening(path, "Parquet", functools.partial(_footer, path)) for path in paths]
        self._footers = [file.footer for file in opened]
        self._leaves = [file.leaves for file in opened]
        self.schemas = [file.schema for file in opened]
        self._parts: list[_Part] = []
        start = 0
        for number, file in enumerate(opened):
            for group, rows in enumerate(file.rows):
                self._parts.append(_Part(number, group, start, rows))
                start += rows
        super().__init__(paths, start)
        self.parts = len(self._parts)
        self.samples = self.parts >= FEWEST

    def _kinds(self, name: str) -> Iterator[tuple[Any, Path]]:
        """Yield how to read a column in each file, or refuse one not stored once in each."""
        for stored, (kind, path) in zip(self._leaves, super()._kinds(name), strict=True):
            yield kind, path
            if stored.count(name) != 1:
                raise SourceError(
                    f"column {name!r} of {path.name} must hold one value a row, got {kind}"
                )

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        left, casts = deque(self._parts), self._casts(want.names)
        team = min(self._team if workers is None else workers, len(left)) or 1
        return [self._decode(left, casts, want, rows) for _ in range(team)]

    def _decode(
        self,
        left: deque[_Part],
        casts: Sequence[Sequence[Any]],
        want: Want,
        rows: int,
    ) -> Generator[Rowed]:
        """Yield the rows of row groups taken from `left`, which several threads share."""
        with ExitStack() as held:
            files: dict[int, Any] = {}

            def group(part: _Part) -> Iterator[Rowed]:
                if part.file not in files:
                    files[part.file] = held.enter_context(self._open(part.file, want.words))
                at = part.start
                for arrays in _batches(files[part.file], part.group, rows, want.names):
                    yield at, widened(arrays, casts[part.file])
                    at += len(arrays[0])

            while left:
                try:
                    part = left.popleft()
                except IndexError:  # another thread has taken the last part
                    return
                yield from guarded(self.paths[part.file], group(part))

    def _open(self, file: int, words: Collection[str] = ()) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetFile(
            self.paths[file],
            metadata=self._footers[file],
            # So that each word is looked up once for a page, not once for a row.
            read_dictionary=list(words),
            buffer_size=BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def look(
        self, parts: Sequence[int], name: str, rows: int, words: RandomWords
    ) -> Iterator[MemoryColumn]:
        """Yield the first rows of a column from each of some row groups."""
        casts = self._casts([name])

        def head(part: _Part) -> Iterator[MemoryColumn]:
            with self._open(part.file) as opened:
                for arrays in itertools.islice(_batches(opened, part.group, rows, (name,)), 1):
                    yield from widened(arrays, casts[part.file])

        for part in (self._parts[index] for index in parts):
            yield from guarded(self.paths[part.file], head(part))


def _batches(opened: Any, group: int, rows: int, names: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield the arrays of the columns `names` in one row group, up to `rows` rows at a time."""
    for batch in opened.iter_batches(
        rows, row_groups=[group], columns=list(names), use_threads=False
    ):
        if len(names) == 1:
            yield batch.columns
        else:
            indices = map(batch.schema.get_field_index, names)
            yield [batch.column(index) for index in indices]


class _Footer(NamedTuple):
    """The contents of a file's footer: the stored columns (`leaves`), and `rows` by row group."""

    footer: Any
    schema: Any
    leaves: list[str]
    rows: list[int]


def _footer(path: Path) -> _Footer:
    """Return a file's footer without its column chunks, whose damage would crash pyarrow."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False) as opened:
        footer, schema = opened.metadata, legible(opened.schema_arrow)
    rows = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
    if min(rows, default=0) < 0:
        raise ValueError("the number of rows is negative")
    leaves = [footer.schema.column(i).path for i in range(footer.num_columns)]
    return _Footer(footer, schema, leaves, rows)
