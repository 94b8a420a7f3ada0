"""The exponential mechanism for one quantile by definition: every output, with its weight. Data are
cells with masses. Nothing here knows of windows, runs or ranks. A node is rows, that is pairs of a
cell and a mass, between two ends."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np

HALF = Fraction(1, 2)


def lacking(k, q, ties, fault=None):
    """What the positions of a cell with k rows lack on either side."""
    place, r = round(q * 2**32), min(ties, k - 1)
    if fault == "ties":
        return Fraction(k - 1) + r, HALF - HALF  # as if a row could move the lowest by two
    return Fraction(place * r >> 31, 2), Fraction((2**32 - place) * r >> 31, 2)


def positions(rows, ends, o, share, fault=None, q=0, ties=0):
    """The lowest and the highest position of a cell."""
    below = sum(mass for x, mass in rows if x < o)
    on = [mass for x, mass in rows if x == o]
    if o in ends:
        return below, below + sum(on)
    if on:
        low, high = lacking(len(on), q, ties, fault)
        return below + HALF + low, max(below + HALF + low, below + len(on) - HALF - high)
    a = max([x for x, _ in rows if x < o and x not in ends], default=ends[0])
    b = min([x for x, _ in rows if x > o and x not in ends], default=ends[1])
    w = min(share * (b - a) // 2**20, (b - a - 1) // 2)
    h = -HALF if o - a <= w else HALF if b - o <= w else Fraction(0)
    if fault == "ends" and o - a <= w and a == ends[0] and below == 0:
        h = Fraction(0)  # as if an end were one only if rows are on it
    if fault == "not monotone":
        h = -h
    return below + h, below + h


def position(rows, ends, o, share, f, fault=None):
    """The position of a cell with a fraction, by which its rows are divided."""
    low, high = positions(rows, ends, o, share, fault)
    return low + f * (high - low)


def log_softmax(u, c, mass=None):
    w = -c * np.array([float(x) for x in u])
    w += 0 if mass is None else np.log(np.array(mass, float))
    w -= w.max()
    return w - math.log(math.fsum(np.exp(w)))


def leaf(rows, ends, target, c, share, base=None, fault=None, q=0, ties=0):
    """log-probability of each cell from end to end."""
    cells = range(ends[0], ends[1] + 1)
    u, mass = [], []
    for o in cells:
        low, high = positions(rows, ends, o, share, fault, q, ties)
        u.append(max(0, low - target, target - high))
        weight = 1 if base is None else base[o - ends[0]]
        if fault == "base of the data":
            weight *= 1 + any(x == o for x, _ in rows)
        elif fault == "lattice of the data":
            weight *= 1 if o % max(1, min((x for x, _ in rows), default=1)) == 0 else 1e-300
        mass.append(weight)
    return log_softmax(u, c, mass)


def divided(rows, ends, target, c, share, parts, base=None, fault=None):
    """log-probability of each pair of a cell and one of so many fractions."""
    cells = range(ends[0], ends[1] + 1)
    pairs = [(o, Fraction(2 * j + 1, 2 * parts)) for o in cells for j in range(parts)]
    u = [abs(position(rows, ends, o, share, f, fault) - target) for o, f in pairs]
    mass = None if base is None else [base[o - ends[0]] for o, _ in pairs]
    return log_softmax(u, c, mass)


def column(data, q, c, last, share, base=None, fault=None, ties=0):
    """log-probability of each cell 0 .. last, for whole rows on them: one quantile."""
    step = 2 if fault == "target" else 1
    target = step * Fraction(q) * (len(data) - 1) + HALF
    return leaf([(x, 1) for x in data], (0, last), target, c, share, base, fault, q, ties)


def flipped(data, q, c, last, share, ties=0, fault=None):
    """Probability of each cell 0 .. last, the first in a random order that shows heads."""
    target = Fraction(q) * (len(data) - 1) + HALF
    rows, u = [(x, 1) for x in data], []
    for o in range(last + 1):
        low, high = positions(rows, (0, last), o, share, fault, q, ties)
        u.append(float(max(0, low - target, target - high)))
    heads = [math.exp(-c * (x - min(u))) for x in u]
    found = [0.0] * len(heads)
    for order in permutations(range(last + 1)):
        left = 1.0
        for o in order:
            found[o] += left * heads[o]
            left *= 1 - heads[o]
    return np.array(found) / math.factorial(last + 1)
