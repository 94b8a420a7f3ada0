"""The rows of all blocks, block by block, for estimators that need a whole block at once."""

from __future__ import annotations

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

__all__ = ["Blocks", "Window", "laid_out"]


class Window(NamedTuple):
    """Some consecutive blocks in memory.

    Block ``first + j`` is ``rows[offsets[j]:offsets[j + 1]]``. Where `ours` is true the rows are
    this library's own copy and may be written to; else they are the caller's data.
    """

    first: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks 0 .. count - 1, in windows that fit in memory."""

    count: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool

    def windows(self) -> Iterator[Window]:
        """Every block is in exactly one window; a window is valid until the next is asked for."""
        yield Window(0, self.rows, self.offsets, self.ours)


@contextmanager
def laid_out(
    source: RowSource, partition: Partition, workers: int | None = None, spill: str | None = None
) -> Iterator[Blocks]:
    """The rows of `source` block by block, until the context ends."""
    array = source.array
    assert array is not None
    if isinstance(partition.labels, ContiguousLabels) and not partition.drop:
        _, offsets = partition.labels.runs(0, len(array))
        if len(array) == 0:
            offsets = np.zeros(partition.blocks + 1, np.int64)
        yield Blocks(partition.blocks, array, offsets, False)
        return

    def both(chunk: Any) -> Any:
        labels, rows = partition.split(chunk)
        return scatter(rows, labels, partition.blocks, workers=workers)

    rows, offsets = source.reduce(both, lambda a, b: a)
    yield Blocks(partition.blocks, rows, offsets, True)
