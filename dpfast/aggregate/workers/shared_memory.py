"""Memory that worker processes share with their parent."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.memfd import memfd, seal
from .worker_main import parts


class File:
    """A file of some bytes for other processes to map: without a name, except on Windows.

    `map` is all of it, to read and write; it is unmapped with its last reference. If the file is in
    memory, no process can change its size, nor write to it unless it is `open_to_all`.
    """

    def __init__(self, size: int, *, open_to_all: bool) -> None:
        self.path: str | None = None
        sealable = memfd()
        if sealable is not None:
            self.fd = sealable
        elif sys.platform == "win32":
            self.fd, self.path = tempfile.mkstemp(prefix="dpfast-")
        else:
            with tempfile.TemporaryFile() as file:
                self.fd = os.dup(file.fileno())
        os.ftruncate(self.fd, max(1, size))
        self.map = mmap.mmap(self.fd, max(1, size))
        if sealable is not None:
            seal(self.fd, written=not open_to_all)

    def close(self) -> None:
        """Close it. Processes that have mapped it keep it until they unmap it."""
        os.close(self.fd)
        if self.path is not None:
            _named.add(self.path)
        for path in list(_named):
            with contextlib.suppress(OSError):
                os.unlink(path)
                _named.discard(path)


#: Files that cannot be deleted yet: Windows keeps a file for as long as a process maps it.
_named: set[str] = set()


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
