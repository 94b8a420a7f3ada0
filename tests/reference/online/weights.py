"""Multiplicative weights and a query about them, one element after the other, in eight lanes."""

import math

LANES = 8


def units(query, unit):
    """Integers of 1 / unit; how many numbers are none from 0 to 1."""
    held = [min(max(q, 0.0), 1.0) if q == q else 0.0 for q in query]
    return [float(round(c * unit)) for c in held], sum(not 0 <= q <= 1 for q in query)


def added(terms):
    """The sum in the order of the kernel."""
    lane = [0.0] * LANES
    for i, x in enumerate(terms):
        lane[i % LANES] += x
    a, b, c, d, e, f, g, h = lane
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def compare(part, counts, query, unit):
    w, odd = units(query, unit)
    told = added([p * x for p, x in zip(part, w, strict=True)])
    return told, added([c * x for c, x in zip(counts, w, strict=True)]), odd


def move(log, query, unit, step, bound):
    """The logarithms after a step, and the arguments of their exponentials."""
    w, _ = units(query, unit)
    moved = [x + step / unit * v for x, v in zip(log, w, strict=True)]
    return moved, [max(x - bound, -87.0) for x in moved], max(moved, default=-math.inf)
