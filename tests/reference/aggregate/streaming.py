"""The plain slow twins of estimators made of sums: rational numbers, one block, by definition."""

import math
from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[float]


def column(rows, j):
    return [Fraction(row[j]) for row in rows]


def mean(x):
    return sum(x, Fraction(0)) / len(x)


def covariance(x, y, ddof=0):
    mx, my = mean(x), mean(y)
    pairs = zip(x, y, strict=True)
    return sum(((u - mx) * (v - my) for u, v in pairs), Fraction(0)) / (len(x) - ddof)


def root(value):
    """The square root of a fraction of any size, to about 53 bits."""
    shift = max(0, 160 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift & 1
    whole = math.isqrt((value.numerator << shift) // value.denominator)
    return float(Fraction(whole, 1 << (shift // 2)))


def correlation(rows, i, j):
    """NaN where a column is constant."""
    x, y = column(rows, i), column(rows, j)
    both = covariance(x, x) * covariance(y, y)
    if both == 0:
        return math.nan
    along = covariance(x, y)
    return math.copysign(root(along * along / both), along)


def least_squares(rows, target, intercept):
    """The normal equations, solved exactly. NaN where they are singular."""
    design = [
        [Fraction(1)] * intercept + [Fraction(v) for k, v in enumerate(row) if k != target]
        for row in rows
    ]
    y = column(rows, target)
    p = len(rows[0]) - 1 + intercept
    a = [
        [sum((row[i] * row[j] for row in design), Fraction(0)) for j in range(p)]
        + [sum((row[i] * v for row, v in zip(design, y, strict=True)), Fraction(0))]
        for i in range(p)
    ]
    for j in range(p):
        k = next((k for k in range(j, p) if a[k][j]), None)
        if k is None:
            return [math.nan] * p
        a[j], a[k] = a[k], a[j]
        for i in range(p):
            if i != j:
                factor = a[i][j] / a[j][j]
                a[i] = [u - factor * v for u, v in zip(a[i], a[j], strict=True)]
    return [float(a[j][p] / a[j][j]) for j in range(p)]
