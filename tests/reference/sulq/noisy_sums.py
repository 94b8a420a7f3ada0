"""Sums of functions of rows by their definition: exact fractions, one row after the other."""

import itertools
import math
from fractions import Fraction


def clipped(value, lo, hi, grid):
    """A number as a fraction: clipped, then the nearest multiple of the grid, ties to even."""
    value = min(max(value, lo), hi) if not math.isinf(value) else (hi if value > 0 else lo)
    return round(Fraction(value) / Fraction(grid)) * Fraction(grid)


def total(rows, function, keep=None):
    """The sum over the rows that are kept."""
    kept = [True] * len(rows) if keep is None else keep
    return sum((function(row) for row, taken in zip(rows, kept, strict=True) if taken), Fraction(0))


def neighbors(data, domain, relation):
    """Every dataset that differs in one row; rows that come or go do so anywhere."""
    for i in range(len(data)):
        if relation == "replace":
            for row in domain:
                yield [*data[:i], row, *data[i + 1 :]]
        else:
            yield [*data[:i], *data[i + 1 :]]
    if relation == "add-remove":
        for row in domain:
            yield [*data, row]


def moves(a, b):
    """l1 norm, square of the l2 norm, and coordinates of the difference of two vectors."""
    d = [abs(x - y) for x, y in zip(a, b, strict=True)]
    return sum(d), sum(x * x for x in d), sum(1 for x in d if x)


def worst(integers, domain, relation, norm, rows=2):
    """The largest part of the loss that a row takes, over all neighbors of so many rows. `integers`
    makes of a list of rows the moves that the noise is for, a vector a part, and the parts'
    integers; `norm` is 0 for l1 and 1 for the square of the l2 norm."""
    seen = {}

    def known(data):
        key = tuple(sorted(data))
        if key not in seen:
            seen[key] = integers(list(key))
        return seen[key]

    found = 0.0
    for data in itertools.combinations_with_replacement(domain, rows):
        asked, before = known(list(data))
        for other in neighbors(list(data), domain, relation):
            moved = [moves(a, b)[norm] for a, b in zip(before, known(other)[1], strict=True)]
            sizes = [one[norm] for one in asked]
            used = [m / c if c else m for m, c in zip(moved, sizes, strict=True)]
            found = max(found, sum(used))
    return found
