"""The exponential mechanism for one quantile by definition: every output, with its weight.

Data are numbers in units of the grid, cells are integers. Nothing here knows of windows, runs or
ranks: a row is a value with a mass.
"""

from __future__ import annotations

import math

import numpy as np


def utilities(rows, q, cells):
    """``u(o)`` of each cell: the distance of the target from the masses below o and up to o."""
    target = q * sum(mass for _, mass in rows)
    found = []
    for o in cells:
        less = sum(mass for x, mass in rows if x < o)
        leq = sum(mass for x, mass in rows if x <= o)
        found.append(max(0, less - target, target - leq))
    return found


def log_softmax(u, c):
    w = -c * np.array([float(x) for x in u])
    w -= w.max()
    return w - math.log(math.fsum(np.exp(w)))


def quantile(data, q, c, cells):
    """log-probability of each cell."""
    return log_softmax(utilities([(x, 1) for x in data], q, cells), c)


def interval(data, cells, o, share, swapped=False):
    """The lowest and the highest rank, counted by halves, of a cell in `cells`, first to last."""
    below, on = sum(x < o for x in data), sum(x == o for x in data)
    if on:
        return 2 * (below + 1), 2 * (below + on)
    a = max([x for x in data if x < o], default=cells[0] - 1)
    b = min([x for x in data if x > o], default=cells[-1] + 1)
    w = min(share * (b - a) // 2**20, (b - a - 1) // 2)
    h = 0 if o - a <= w else 2 if b - o <= w else 1
    return (2 * below + (2 - h if swapped else h),) * 2


def interpolated(data, target, c, cells, share, base=None, fault=None):
    """log-probability of each cell, by the distance of its ranks from the target."""
    u, extra = [], []
    for o in cells:
        low, high = interval(data, cells, o, share, fault == "not monotone")
        u.append(max(0, low - 2 * target, 2 * target - high) / 2)
        weight = 1 if base is None else base[o]
        if fault == "base of the data":
            weight *= 1 + (o in data)
        elif fault == "lattice of the data":
            weight *= 1 if o % max(1, min(data, default=1)) == 0 else 1e-300
        extra.append(math.log(weight))
    w = np.array(extra) - c * np.array([float(x) for x in u])
    w -= w.max()
    return w - math.log(math.fsum(np.exp(w)))
