"""Labels that are a function of the row number: random ones and fixed ranges."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._kernels import aggregate as _native
from ..._kernels.rng import BitStream, wipe


def secret(stream: BitStream) -> _native.Key:
    """Return a fresh key of labels."""
    raw = stream.take(32)
    try:
        return _native.Key(raw)
    finally:
        wipe(raw)


class RowLabels(Protocol):
    """Labels that depend on the number of a row alone."""

    @property
    def blocks(self) -> int: ...

    def read(self, start: int, rows: int) -> NDArray[np.uint32]:
        """Return the labels of rows `start` .. `start + rows - 1` of the whole data."""
        ...


class RandomLabels:
    """Independent labels, uniform on 0 .. blocks - 1, one for each row number.

    Parameters
    ----------
    blocks : int
        At most 2**31.
    key : Key
        Secret: it determines the blocks. `secret` makes one.

    Notes
    -----
    About 0.6 ns a row with AVX-512. The distribution is exact (`csrc/aggregate/labels.h`).
    """

    def __init__(self, blocks: int, key: _native.Key) -> None:
        self.blocks = blocks
        self.key = key

    def read(self, start: int, rows: int) -> NDArray[np.uint32]:
        out = np.empty(rows, np.uint32)
        _native.random_labels(self.key, self.blocks, start, out)
        return out


class ContiguousLabels:
    """Block j is rows ``j * n // blocks`` .. ``(j + 1) * n // blocks - 1``.

    The blocks depend on the number of rows alone, so one row that comes or goes moves all others:
    they are safe where rows are replaced, never where they are added or removed.
    """

    def __init__(self, blocks: int, n: int) -> None:
        self.blocks = blocks
        self.n = n

    def runs(self, start: int, rows: int) -> tuple[int, NDArray[np.int64]]:
        """Return the first block and the cuts of rows `start` .. `start + rows - 1`.

        Rows ``cuts[j]`` .. ``cuts[j + 1] - 1``, counted from `start`, are of block ``first + j``.
        """
        if rows == 0:
            return 0, np.zeros(1, np.int64)
        # The last blocks that begin at the first and at the last row or before.
        first, last = (((i + 1) * self.blocks - 1) // self.n for i in (start, start + rows - 1))
        if self.blocks * self.n < 2**62:
            edges = np.arange(first, last + 2, dtype=np.int64) * self.n // self.blocks - start
            return first, np.clip(edges, 0, rows)
        exact = [b * self.n // self.blocks - start for b in range(first, last + 2)]
        return first, np.array([min(max(edge, 0), rows) for edge in exact], np.int64)

    def read(self, start: int, rows: int) -> NDArray[np.uint32]:
        first, cuts = self.runs(start, rows)
        return np.repeat(np.arange(first, first + len(cuts) - 1, dtype=np.uint32), np.diff(cuts))

    def offsets(self) -> NDArray[np.int64]:
        """Return the first row of each block, and the number of rows behind them."""
        first, cuts = self.runs(0, self.n)
        offsets = np.full(self.blocks + 1, self.n)
        offsets[: first + 1], offsets[first : first + len(cuts)] = 0, cuts
        return offsets
