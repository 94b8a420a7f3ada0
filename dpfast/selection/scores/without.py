"""The best of each block once some candidates are gone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Candidates that are looked at together.
STRETCH = 1 << 16


def tops_without(
    tops: NDArray[Any],
    block: int,
    count: int,
    gone: NDArray[np.int64],
    look: Callable[[NDArray[np.int64]], NDArray[Any]],
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The best score of each block of those that are left, and which blocks are empty.

    `tops` holds the best with all candidates there, `gone` is sorted, and ``look(index)`` gives the
    scores of some candidates. Only blocks of which one is gone are looked at.
    """
    tops = tops.copy()
    empty = np.zeros(len(tops), np.bool_)
    held = np.unique(gone // block)
    worst = np.iinfo(tops.dtype).min if tops.dtype.kind in "iu" else -math.inf
    step = max(STRETCH // block, 1)
    for start in range(0, len(held), step):
        blocks = held[start : start + step]
        index = blocks[:, None] * block + np.arange(block)
        real = np.minimum(index, count - 1)
        place = np.minimum(np.searchsorted(gone, real), len(gone) - 1)
        out = (index >= count) | (gone[place] == real)
        values = look(real.ravel()).reshape(index.shape)
        values[out] = worst
        tops[blocks] = values.max(axis=1)
        empty[blocks] = out.all(axis=1)
    return tops, empty
