"""Exact draws of a quantile for each group of rows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import groups as _native
from ..noise.choice import Stream, decide
from ..noise.grid import Base
from ..statistics.quantiles.draws import RANK, Column, DrawParams, counted
from ..statistics.quantiles.draws import inside as target_inside
from ..statistics.quantiles.ends import Widths
from ..summaries.order import Ranks


class Others(NamedTuple):
    """Facts about rows of each group that are not passed to a draw, which uses only a few rows.

    Attributes
    ----------
    before : int64 array, shape (g,)
        The number of rows of each group that come before the passed rows.
    sizes : int64 array, shape (g,)
        The number of all rows of each group.
    whole : callable
        ``whole(g)`` returns the cells of all rows of a group.
    """

    before: NDArray[np.int64]
    sizes: NDArray[np.int64]
    whole: Callable[[int], NDArray[np.int32]]


def draw_quantiles(
    rows: NDArray[np.int32],
    offsets: NDArray[np.int64],
    target: DrawParams,
    base: Base,
    reach: int,
    stream: Stream,
    inside: int = 0,
    others: Others | None = None,
) -> NDArray[np.int32]:
    """Draw a quantile for each group, as a cell, by the exponential mechanism over all cells.

    Parameters
    ----------
    rows : int32 array, shape (n,)
        The cell of each row, minus the first cell of the base. The rows of a group are adjacent.
        The function changes their order.
    offsets : int64 array, shape (g + 1,)
        The offsets of the groups, and the end of the last one.
    target : DrawParams
        The quantile. At 0 or 1 with `inside`, the target is the rank that lies `inside` ranks from
        the end, as in `statistics.quantiles.draws.inside`.
    base : Base
        The base measure of the cells.
    reach : int
        How many ranks around the target are sorted. It changes the time, and no probability.
    stream : BitStream
    inside : int, default 0
    others : Others, optional
        Facts about the rows of the groups that are not passed.

    Returns
    -------
    int32 array, shape (g,)
        The drawn cells, minus the first cell of the base.
    """
    out = np.zeros(len(offsets) - 1, np.int32)
    if base.first == base.last:
        return out
    at, high = 0, target.fraction > 0
    before, sizes = (others.before, others.sizes) if others else (None, None)
    while True:
        at, open_coin = _native.quantiles(
            rows, offsets, target.fraction, target.shift // 2, inside, high, target.rate / 2,
            target.share, base, reach, out, at, stream, before, sizes, target.ties,
        )  # fmt: skip
        if open_coin is None:
            return out
        cell, mass, scale, bound, distance, word = open_coin
        if distance is None or word is None:
            group_rows = others.whole(at) if others else rows[offsets[at] : offsets[at + 1]]
            group = group_rows.astype(np.float64) + base.first
            n, first, last = len(group), float(base.first), float(base.last)
            column = Column(Ranks(group), first, last, 1.0, base)
            ends = column.ends(n)
            rank = target_inside(inside, n, high) if inside else target.target(*ends)
            _, distance = counted(column, ends, target, rank, cell, n, False, stream)
            word = stream.word()
        if decide(word, target.rate, Fraction(distance, RANK), stream, mass, bound, scale):
            out[at] = cell - base.first
            at += 1


def draw_widths(widths: Widths, points: list[int], groups: Any, stream: Stream) -> list[int]:
    """Draw for each group how far the ends of an interval are from the drawn quantile, in cells.

    Parameters
    ----------
    widths : Widths
    points : list of int
        Cells, as `draw_quantiles` returns them.
    groups : (rows, offsets, others)
        As in `draw_quantiles`. The rows of each group are sorted.
    stream : BitStream

    Returns
    -------
    list of int
    """
    (rows, offsets, others), sizes = groups, []
    for i, point in enumerate(points):
        group = rows[offsets[i] : offsets[i + 1]]
        group.sort()
        seen = (int(others.before[i]), int(others.sizes[i])) if others else (0, len(group))
        sizes.append(widths.draw(point, group, *seen, stream))
    return sizes
