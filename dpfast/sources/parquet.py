"""Parquet: row groups are decoded by several threads while the kernel works on earlier ones."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SourceError
from ._base import Chunk, RandomWords
from ._overlap import decoders
from .arrow import BATCH, FileSource, Numbers, chunks, guarded, numbers, opening, pooled, pyarrow

__all__ = ["ParquetSource"]

#: Bytes read from the file at a time, so that a column chunk of gigabytes is never held whole.
BUFFER = 1 << 18
#: Row groups that a sample looks into, and the fewest there must be for the sample to be cheap.
SAMPLED, FEWEST = 64, 8


class _Part(NamedTuple):
    """One row group: which file, which group in it, and the row numbers it holds."""

    file: int
    group: int
    start: int
    rows: int


class ParquetSource(FileSource):
    """One column of a Parquet file, or of several files with the same column, in their order."""

    def __init__(self, paths: Sequence[Path], pick: Any) -> None:
        self._team = decoders()  # asked now, for a bad setting must show before a spend
        self._footers: list[Any] = []
        self._parts: list[_Part] = []
        self._column = ""
        how: Numbers | None = None
        start = 0
        nulls: int | None = 0
        for number, path in enumerate(paths):
            footer, schema = _footer(path)
            name = pick(schema.names, path)
            leaves = [i for i in range(footer.num_columns) if footer.schema.column(i).path == name]
            found = numbers(schema.field(schema.get_field_index(name)).type, name, path)
            if len(leaves) != 1:
                raise SourceError(
                    f"column {name!r} of {path.name} must be one column, got {leaves}"
                )
            if how is not None and (found, name) != (how, self._column):
                raise SourceError(
                    f"column {self._column!r} must be the same in every file: it is {how.dtype} in "
                    f"{paths[0].name}, and column {name!r} is {found.dtype} in {path.name}"
                )
            how, self._column = found, name
            self._footers.append(footer)
            for group in range(footer.num_row_groups):
                rows = footer.row_group(group).num_rows
                seen = footer.row_group(group).column(leaves[0]).statistics
                if nulls is not None:
                    nulls = nulls + seen.null_count if seen and seen.has_null_count else None
                self._parts.append(_Part(number, group, start, rows))
                start += rows
        assert how is not None, "the caller gives at least one path"
        self._nulls = nulls
        super().__init__(paths, how, start)

    @property
    def nulls(self) -> int | None:
        """Null rows, by the statistics that most writers put in the footer."""
        return self._nulls

    def makers(self) -> Sequence[Generator[Chunk]]:
        left = deque(self._parts)
        team = min(self._team, len(left)) or 1
        return [self._decode(left) for _ in range(team)]

    def _decode(self, left: deque[_Part]) -> Generator[Chunk]:
        """Chunks of whichever row groups are still left; several of these share one `left`."""
        with ExitStack() as held:
            files: dict[int, Any] = {}
            while left:
                try:
                    part = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                yield from guarded(self._paths[part.file], self._group(part, files, held))

    def _group(self, part: _Part, files: dict[int, Any], held: ExitStack) -> Iterator[Chunk]:
        if part.file not in files:
            files[part.file] = held.enter_context(self._open(part.file))
        at = part.start
        for array in self._batches(files[part.file], part.group, BATCH):
            yield from chunks(array, at, self._how)
            at += len(array)

    def _open(self, file: int) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetFile(
            self._paths[file],
            metadata=self._footers[file],
            buffer_size=BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def _batches(self, opened: Any, group: int, rows: int) -> Any:
        found = opened.iter_batches(
            rows, row_groups=[group], columns=[self._column], use_threads=False
        )
        return (batch.column(0) for batch in found)

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """The first rows of up to `SAMPLED` row groups, one taken from each equal stretch of them.

        None where these would say little about the rest: few row groups, order, drift.
        """
        if len(self._parts) < FEWEST:
            return None
        self.check_unchanged()
        edges = np.linspace(0, len(self._parts), min(SAMPLED, len(self._parts)) + 1).astype(
            np.int64
        )
        width = np.diff(edges).astype(np.uint64)
        places = edges[:-1] + (words(len(width)) % width).astype(np.int64)
        each = max(1, -(-count // len(places)))
        picked = [self._parts[place] for place in places]
        heads = [
            [head.values.copy() for head in guarded(self._paths[p.file], self._head(p, each))]
            for p in picked
        ]
        return pooled([np.concatenate(head) for head in heads if head], self.dtype)

    def _head(self, part: _Part, rows: int) -> Iterator[Chunk]:
        with self._open(part.file) as opened:
            for array in itertools.islice(self._batches(opened, part.group, rows), 1):
                yield from chunks(array, part.start, self._how)


def _footer(path: Path) -> tuple[Any, Any]:
    pyarrow(path)
    import pyarrow.parquet as pq

    def read() -> tuple[Any, Any]:
        with pq.ParquetFile(path, pre_buffer=False) as opened:
            return opened.metadata, opened.schema_arrow

    return opening(path, "Parquet", read)
