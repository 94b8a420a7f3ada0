"""Exact draws of a quantile for each group of rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._kernels import groups as _native
from ..noise.choice import Stream, decide
from ..noise.grid import Base
from ..statistics.quantiles.draws import RANK, Aim, Column, counted
from ..statistics.quantiles.draws import inside as target_inside
from ..summaries.order import Ranks


def draw_quantiles(
    rows: NDArray[np.int32],
    offsets: NDArray[np.int64],
    aim: Aim,
    base: Base,
    reach: int,
    stream: Stream,
    inside: int = 0,
) -> NDArray[np.int32]:
    """Draw a cell for each group: of a node of all cells and all rows of the group.

    Parameters
    ----------
    rows : int32 array, shape (n,)
        The cell of each row, less the first one of the base, those of a group side by side. They
        are put in another order.
    offsets : int64 array, shape (g + 1,)
        Where the rows of each group begin, and those of the last one end.
    aim : Aim
        The quantile; at the place 0 or 1 and with `inside`, the one that is so many ranks inside,
        as `statistics.quantiles.draws.inside` has it.
    base : Base
        What cells weigh.
    reach : int
        How many ranks round the target are sorted. It decides the time and no probability.
    stream : BitStream

    Returns
    -------
    int32 array, shape (g,)
        Cells, less the first one of the base.
    """
    out = np.zeros(len(offsets) - 1, np.int32)
    if base.first == base.last:
        return out
    at, high = 0, aim.place > 0
    while True:
        at, found = _native.quantiles(
            rows, offsets, aim.place, aim.shift // 2, inside, high, aim.rate / 2, aim.share, base,
            reach, out, at, stream,
        )  # fmt: skip
        if found is None:
            return out
        cell, mass, scale, bound, far, word = found
        if far is None or word is None:
            group = rows[offsets[at] : offsets[at + 1]].astype(np.float64) + base.first
            n, first, last = len(group), float(base.first), float(base.last)
            column = Column(Ranks(group), first, last, 1.0, base)
            ends = column.ends(n)
            target = target_inside(inside, n, high) if inside else aim.target(*ends)
            _, far = counted(column, ends, aim.share, target, cell, n, False, stream)
            word = stream.word()
        if decide(word, aim.rate, Fraction(far, RANK), stream, mass, bound, scale):
            out[at] = cell - base.first
            at += 1
