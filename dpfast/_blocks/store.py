"""The rows of all blocks, block by block, for estimators that need a whole block at once."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sources.table import RowSource
from .labels import ContiguousLabels
from .partition import Partition
from .scatter import scatter

__all__ = ["Blocks", "SharedRows", "Window", "laid_out"]


class SharedRows(NamedTuple):
    """Where the rows of a window lie in a file that other processes can map.

    `fd` is open in this process until the context of `laid_out` ends; `path` is the name of the
    file where a descriptor cannot be handed on (Windows), else None: the file has no name.
    ``window.rows[0]`` begins at byte `start`, a multiple of `mmap.ALLOCATIONGRANULARITY`.
    """

    fd: int
    path: str | None
    start: int


class Window(NamedTuple):
    """Some consecutive blocks in memory.

    Block ``first + j`` is ``rows[offsets[j]:offsets[j + 1]]``. Where `ours` is true the rows are
    this library's own copy and may be written to; else they are the caller's data.
    """

    first: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool
    file: SharedRows | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks 0 .. count - 1, in windows that fit in memory."""

    count: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool
    file: SharedRows | None = None

    def windows(self) -> Iterator[Window]:
        """Every block is in exactly one window; a window is valid until the next is asked for."""
        yield Window(0, self.rows, self.offsets, self.ours, self.file)


@contextmanager
def laid_out(
    source: RowSource,
    partition: Partition,
    workers: int | None = None,
    spill: str | None = None,
    *,
    shared: bool = False,
) -> Iterator[Blocks]:
    """The rows of `source` block by block, until the context ends."""
    array = source.array
    assert array is not None
    if isinstance(partition.labels, ContiguousLabels) and not partition.drop:
        _, offsets = partition.labels.runs(0, len(array))
        if len(array) == 0:
            offsets = np.zeros(partition.blocks + 1, np.int64)
        if not shared:
            yield Blocks(partition.blocks, array, offsets, False)
            return
        with _file(array, spill) as (rows, file):
            yield Blocks(partition.blocks, rows, offsets, True, file)
        return

    def both(chunk: Any) -> Any:
        labels, rows = partition.split(chunk)
        return scatter(rows, labels, partition.blocks, workers=workers)

    rows, offsets = source.reduce(both, lambda a, b: a)
    if not shared:
        yield Blocks(partition.blocks, rows, offsets, True)
        return
    with _file(rows, spill) as (rows, file):
        yield Blocks(partition.blocks, rows, offsets, True, file)


@contextmanager
def _file(rows: NDArray[Any], spill: str | None) -> Iterator[tuple[NDArray[Any], SharedRows]]:
    """A copy of `rows` in a file without a name."""
    with tempfile.TemporaryFile(dir=spill) as file:
        file.truncate(max(1, rows.nbytes))
        held = mmap.mmap(file.fileno(), 0)
        made = np.frombuffer(held, rows.dtype, rows.size).reshape(rows.shape)
        made[...] = rows
        yield made, SharedRows(file.fileno(), None, 0)
