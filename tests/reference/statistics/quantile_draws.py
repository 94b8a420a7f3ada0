"""A draw of a quantile from a window of ranks, run by run and slowly: the twin of `draw_cell`.

It reads the same random words in the same order, so its draws are the same.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfast.noise.choice import Weights


def runs_of(rows, before, n, first, last):
    """(start, end, less, leq, lump) of each run of cells of ``first .. last``."""
    found, at = [], first
    ranks = {}
    for i, cell in enumerate(rows):
        low, _ = ranks.get(cell, (before + i, None))
        ranks[cell] = (low, before + i + 1)
    rank = before
    for cell, (low, high) in ranks.items():
        if found or cell > first:
            found.append((at, cell - 1, low, low, not found and before > 0))
        found.append((cell, cell, low, high, False))
        at, rank = cell + 1, high
    found.append((at, last, rank, rank, rank < n))
    cut = [(max(s, first), min(e, last), *more) for s, e, *more in found]
    return [one for one in cut if one[0] <= one[1]]


def draw(rows, before, n, first, last, target, c, base, counts, stream):
    """A cell; ``counts(cell)`` are the ranks of one whose ranks the window does not know."""

    def distance(less, leq):
        return max(Fraction(0), less - target, target - leq)

    runs = runs_of(rows, before, n, first, last)
    least = min(distance(less, leq) for _, _, less, leq, _ in runs)
    near = np.array([float(distance(less, leq) - least) for _, _, less, leq, _ in runs])
    mass = np.array([base.weight(start, end) for start, end, *_ in runs], np.int64)
    weights = Weights(near, c, mass)
    while True:
        proposal = weights.propose(1, stream)
        start, end, less, leq, lump = runs[int(proposal[0])]
        cell = start
        if start < end:
            cell = base.draw(start, end, int(mass[proposal[0]]), stream)
        if lump:
            less, leq = counts(cell)
        exact = distance(less, leq) - least
        if weights.keep(proposal, np.array([float(exact)]), lambda _, d=exact: d, stream)[0]:
            return cell
