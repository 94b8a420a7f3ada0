"""The plain slow twins of estimators that need a block side by side: sorted lists and fractions."""

import math
from collections import Counter
from fractions import Fraction


def has_nan(block):
    return any(v != v for v in block)


def median(block):
    """The mean of the two middle values."""
    return quantile(block, Fraction(1, 2))


def quantile(block, q, method="linear"):
    """The value at place q (m - 1), on the line between two values or the lower one."""
    if not block or has_nan(block):
        return math.nan
    rows = sorted(block)
    place = q * (len(rows) - 1)
    i = math.floor(place)
    share = place - i
    if share == 0 or method == "lower" or rows[i] == rows[i + 1]:
        return rows[i]
    if math.isinf(rows[i]) or math.isinf(rows[i + 1]):
        return rows[i] + rows[i + 1]  # of two infinities NaN
    return float(Fraction(rows[i]) * (1 - share) + Fraction(rows[i + 1]) * share)


def trimmed_mean(block, proportion):
    """The mean without the floor(proportion m) smallest and largest values."""
    if not block or has_nan(block):
        return math.nan
    cut = math.floor(proportion * len(block))
    rows = sorted(block)[cut : len(block) - cut]
    if any(map(math.isinf, rows)):
        return sum(v for v in rows if math.isinf(v))
    return float(sum(map(Fraction, rows)) / len(rows))


def mode(block):
    """The most frequent value, the smallest of several."""
    if not block or has_nan(block):
        return math.nan
    counts = Counter(block)  # 0.0 == -0.0, and they hash alike
    most = max(counts.values())
    return min(v for v, count in counts.items() if count == most)


def logistic(block, target, intercept, penalty, halve=True):
    """Newton's method in lists, from 0, until the gradient is small; NaN for no answer."""
    y = [row[target] for row in block]
    x = [[1.0] * intercept + [v for j, v in enumerate(row) if j % len(row) != target % len(row)]
        for row in block]  # fmt: skip
    none = [math.nan] * (len(block[0]) - 1 + intercept) if block else []
    if not block or set(y) - {0, 1} or (intercept and len(set(y)) < 2):
        return none
    width = len(x[0])
    fine = [0.0 if intercept and j == 0 else penalty for j in range(width)]

    def loss(beta):
        total = sum(p * b * b for p, b in zip(fine, beta, strict=True)) / 2
        for row, label in zip(x, y, strict=True):
            z = sum(map(float.__mul__, row, beta))
            total += max(z, 0.0) - label * z + math.log1p(math.exp(-abs(z)))
        return total

    beta = [0.0] * width
    for _ in range(200):
        gradient = [p * b for p, b in zip(fine, beta, strict=True)]
        hessian = [[fine[i] * (i == j) for j in range(width)] for i in range(width)]
        for row, label in zip(x, y, strict=True):
            z = sum(map(float.__mul__, row, beta))
            p = 1 / (1 + math.exp(-z)) if z > -700 else 0.0
            for i in range(width):
                gradient[i] += (p - label) * row[i]
                for j in range(width):
                    hessian[i][j] += p * (1 - p) * row[i] * row[j]
        step = eliminated(hessian, gradient)
        if sum(g * s for g, s in zip(gradient, step, strict=True)) < 1e-20:
            return beta
        size, here = 1.0, loss(beta)
        while size > 1e-12:
            moved = [b - size * s for b, s in zip(beta, step, strict=True)]
            if loss(moved) <= here * (1 + 1e-13) or not halve:
                break
            size /= 2
        beta = moved
    return none


def eliminated(matrix, right):
    """The solution of a linear system by Gaussian elimination with pivots."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [v - factor * w for v, w in zip(rows[r], rows[i], strict=True)]
    found = [0.0] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * found[j] for j in range(i + 1, n))
        found[i] = (rows[i][n] - rest) / rows[i][i]
    return found
