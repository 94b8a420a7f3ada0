"""Exact draws of a quantile for each group of rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._kernels import groups as _native
from ..noise.choice import Stream, below, decide


def draw_quantiles(
    rows: NDArray[np.int32],
    offsets: NDArray[np.int64],
    q: Fraction,
    rate: float,
    cells: tuple[int, int],
    reach: int,
    stream: Stream,
    inside: int = 0,
) -> NDArray[np.int32]:
    """Draw a cell for each group, with probability proportional to ``exp(-rate u)``.

    In a group of n rows, ``u(o) = max(0, less(o) - q n, q n - leq(o))``, as in
    `statistics.quantiles.draws`; with `inside`, for q = 0 or 1, the target is not ``q n`` but that
    many ranks from the end, and no more than n / 2.

    Parameters
    ----------
    rows : int32 array, shape (n,)
        The cell of each row, those of a group side by side. They are put in another order.
    offsets : int64 array, shape (g + 1,)
        Where the rows of each group begin, and those of the last one end.
    q : Fraction
    rate : float
    cells : (int, int)
        The first and the last cell.
    reach : int
        How many ranks round the target are sorted. It decides the time and no probability.
    stream : BitStream

    Returns
    -------
    int32 array, shape (g,)
    """
    out = np.empty(len(offsets) - 1, np.int32)
    at = 0
    while True:
        at, proposal = _native.quantiles(
            rows, offsets, *cells, float(q), rate, inside, reach, out, at, stream
        )
        if proposal is None:
            return out
        start, count, scale, bound, word = proposal
        group = rows[offsets[at] : offsets[at + 1]]
        cell, target = start + below(count, stream), q * len(group)
        if inside:
            ranks = min(Fraction(inside), Fraction(len(group), 2))
            target = len(group) - ranks if q else ranks
        less, leq = int(np.count_nonzero(group < cell)), int(np.count_nonzero(group <= cell))
        distance = max(Fraction(0), less - target, target - leq)
        word = stream.word() if word is None else word
        if decide(word, rate, distance, stream, count, bound, scale):
            out[at] = cell
            at += 1
