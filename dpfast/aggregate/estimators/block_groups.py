"""The blocks of a window in groups, worked on by one thread or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sources.array import threads
from ..blocks.counting_sort import each
from .base import Job

Offsets = NDArray[np.int64]

#: Rows and blocks that are worked on at once, by one call of a kernel.
ROWS, BLOCKS = 1 << 18, 1 << 12


class Buffers:
    """Buffers of one thread, which are kept from one group of blocks to the next."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def take(self, name: str, count: int, dtype: Any = np.float64) -> NDArray[Any]:
        """Return an uninitialized buffer of `count` values, which no other name shares."""
        held = self._held.get(name)
        if held is None or len(held) < count:
            held = self._held[name] = np.empty(count, dtype)
        return held[:count]


def by_groups(offsets: Offsets, work: Callable[[int, int, Buffers], None], job: Job) -> None:
    """Call ``work(first, last, buffers)`` for ranges of blocks that cover all of them.

    Block j is rows ``offsets[j]`` .. ``offsets[j + 1] - 1``. A range has one block or more. Each of
    `job.workers` threads has buffers of its own, and which thread has which range is fixed.
    """
    groups = _groups(offsets)
    most = threads() if job.workers is None else job.workers

    def through(part: int) -> None:
        buffers = Buffers()
        for first, last in groups[part::count]:
            with np.errstate(all="ignore"):  # a thread does not have the settings of its caller
                work(first, last, buffers)
            if job.tick is not None:
                job.tick(last - first)

    count = max(1, min(most, len(groups)))
    each(through, range(count), count)


def _groups(offsets: Offsets) -> list[tuple[int, int]]:
    """Return ranges of blocks of about `ROWS` rows; a larger block is alone."""
    blocks = len(offsets) - 1
    groups = []
    first = 0
    while first < blocks:
        last = int(np.searchsorted(offsets, offsets[first] + ROWS, "right")) - 1
        last = min(max(last, first + 1), first + BLOCKS, blocks)
        groups.append((first, last))
        first = last
    return groups
