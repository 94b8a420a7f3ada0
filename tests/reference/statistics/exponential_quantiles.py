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
