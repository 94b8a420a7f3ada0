"""Memory that worker processes share with their parent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks.row_files import File
from .worker_main import parts


class Board:
    """The state of a window of blocks that parent and workers share, in 8-byte words of one file.

    Attributes
    ----------
    slots : int64 array, shape (workers, 2)
        The state of worker i: 2 b + 1 while it works on block b, 2 b if that comes next; and when
        the current call began, by `time.monotonic_ns`. The parent writes it while the worker is
        idle.
    offsets : int64 array, shape (blocks + 1,)
        Where the blocks begin.
    out : float64 array, shape (blocks, d)
        The answers, NaN at first. A row is written by the worker whose range it is in.
    """

    def __init__(self, workers: int, offsets: NDArray[np.int64], d: int) -> None:
        blocks = len(offsets) - 1
        words = 2 * workers + blocks + 1 + blocks * d
        self.slots: NDArray[np.int64]
        self.offsets: NDArray[np.int64]
        self.out: NDArray[np.float64]
        self.file = File(8 * words, open_to_all=True)
        all_: NDArray[np.int64] = np.frombuffer(self.file.map, np.int64, words)
        self.slots, self.offsets, self.out = parts(all_, workers, blocks, d)
        self.offsets[:] = offsets
        self.out[:] = np.nan

    def form(self, slot: int) -> Any:
        """Return what worker `slot` needs to map the board."""
        blocks, d = self.out.shape
        return self.file.path, len(self.slots), blocks, d, slot
