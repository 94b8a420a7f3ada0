"""The plain slow twin of cells and their sums: rational numbers, one row after the other."""

import math
from fractions import Fraction


def cell(x, grid, first, span):
    """The cell of a number, from 0; NaN is cell 0."""
    x = float(x)
    if math.isnan(x):
        return 0
    lo, hi = Fraction(grid) * first, Fraction(grid) * (first + span)
    if math.isinf(x):
        return 0 if x < 0 else span
    clamped = min(max(Fraction(x), lo), hi)
    return round(clamped / Fraction(grid)) - first  # to even, as Python rounds fractions


def cells(values, grid, first, span):
    return [cell(x, grid, first, span) for x in values]


def totals(values, grid, first, span):
    """NaN, the sum of cells, the sum of their squares."""
    found = cells(values.tolist(), grid, first, span)
    nan = sum(x != x for x in values.tolist())
    return nan, sum(found), sum(u * u for u in found)


def products(a, b):
    """The sum of the products of pairs of cells."""
    return sum(x * y for x, y in zip(a, b, strict=True))
