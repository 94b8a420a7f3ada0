"""JointExp by its definition: every ordered tuple of cells, with its weight."""

import itertools
from fractions import Fraction

import mpmath


def utility(cells, rows, qs):
    """Minus the sum of |rows between consecutive cells - gap n|."""
    n = len(rows)
    marks = [Fraction(0), *qs, Fraction(1)]
    under = [0, *(sum(row < cell for row in rows) for cell in cells), n]
    return -sum(
        abs(under[j + 1] - under[j] - (marks[j + 1] - marks[j]) * n) for j in range(len(marks) - 1)
    )


def pmf(rows, first, last, qs, c):
    """{tuple of cells: probability} for the exponent c times the utility."""
    with mpmath.workprec(200):
        weight = {
            cells: mpmath.exp(mpmath.mpf(c) * mpmath.mpf(u.numerator) / mpmath.mpf(u.denominator))
            for cells in itertools.combinations_with_replacement(range(first, last + 1), len(qs))
            for u in [Fraction(utility(cells, rows, qs))]
        }
        total = sum(weight.values())
        return {cells: w / total for cells, w in weight.items()}
