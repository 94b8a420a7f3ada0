"""A draw of a quantile from a window of ranks, run by run and slowly: the twin of `draw_cell`.

It reads the same random words in the same order, so its draws are the same.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfast.noise.choice import Weights


def runs_of(rows, before, n, first, last, share):
    """(start, end, low, high, lump) of each run of cells of ``first .. last``."""
    found, at = [], first
    ranks = {}
    for i, cell in enumerate(rows):
        low, _ = ranks.get(cell, (before + i, None))
        ranks[cell] = (low, before + i + 1)

    def gap(start, end, rank):
        if share < 0:
            return [(start, end, rank, rank, False)]
        span = end - start + 2
        near = min(share * span // 2**20, (span - 1) // 2)
        cuts = [start, start + near, end + 1 - near, end + 1]
        return [(cuts[i], cuts[i + 1] - 1, 2 * rank + i, 2 * rank + i, False) for i in range(3)]

    unit = 1 if share < 0 else 2
    rank = before
    for cell, (low, high) in ranks.items():
        least = low if share < 0 else 2 * low + 2
        if at == first and before:
            found.append((at, cell - 1, least, least, True))
        else:
            found += gap(at, cell - 1, low)
        found.append((cell, cell, least, unit * high, False))
        at, rank = cell + 1, high
    if rank < n:
        found.append((at, last, unit * rank, unit * rank, True))
    else:
        found += gap(at, last, rank)
    cut = [(max(s, first), min(e, last), *more) for s, e, *more in found]
    return [one for one in cut if one[0] <= one[1]]


def draw(rows, before, n, first, last, target, c, base, counts, stream, share=-1):
    """A cell; ``counts(cell)`` are the ranks of one whose ranks the window does not know."""
    unit = 1 if share < 0 else 2
    aim = unit * target

    def distance(low, high):
        return max(Fraction(0), low - aim, aim - high)

    runs = runs_of(rows, before, n, first, last, share)
    bottom, top = runs[0][2], runs[-1][3]
    least = max(Fraction(0), bottom - aim, aim - top)
    near = np.array([float(distance(low, high) - least) for _, _, low, high, _ in runs])
    mass = np.array([base.weight(start, end) for start, end, *_ in runs], np.int64)
    weights = Weights(near, c / unit, mass)
    while True:
        proposal = weights.propose(1, stream)
        start, end, low, high, lump = runs[int(proposal[0])]
        cell = start
        if start < end:
            cell = base.draw(start, end, int(mass[proposal[0]]), stream)
        if lump:
            low, high = counts(cell)
        exact = distance(low, high) - least
        if weights.keep(proposal, np.array([float(exact)]), lambda _, d=exact: d, stream)[0]:
            return cell
