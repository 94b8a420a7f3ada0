"""A step of a perceptron, and sums of products, one row and one number at a time, with the same
operations as the kernels; and a whole perceptron by its definition, in exact fractions."""

import math
from fractions import Fraction


def step(rows, labels, columns, w, bias, length, skip):
    """Wrong rows, the sum of their labels, rows left out, and the sums of label times coordinate.
    `columns` holds (lo, hi, middle, scale, fill) for each column."""
    wrong, total, missing = 0, 0, 0
    sums = [0] * len(columns)
    for row, label in zip(rows, labels, strict=True):
        place, odd, square = [], False, 0.0
        for x, (lo, hi, middle, scale, fill) in zip(row, columns, strict=True):
            if x != x:
                x, odd = fill, True
            t = (min(max(x, lo), hi) - middle) * scale
            square += t * t
            place.append(t)
        if length and square > length * length:
            factor = length / math.sqrt(square)
            place = [t * factor for t in place]
        z = [round(t) for t in place]
        side = bias
        for own, one in zip(w, z, strict=True):
            side += own * one
        if odd and skip:
            missing += 1
        elif not (1 if label > 0 else -1) * side > 0:
            sign = 1 if label > 0 else -1
            wrong, total = wrong + 1, total + sign
            sums = [a + sign * b for a, b in zip(sums, z, strict=True)]
    return wrong, total, missing, sums


def pairs(rows, columns, skip):
    """Sums of coordinates, of the products of each two, and rows with a NaN."""
    size, missing = len(columns), 0
    sums, products = [0] * size, [0] * (size * (size + 1) // 2)
    for row in rows:
        z, odd = [], False
        for x, (lo, hi, middle, scale, fill) in zip(row, columns, strict=True):
            if x != x:
                x, odd = fill, True
            z.append(round((min(max(x, lo), hi) - middle) * scale))
        missing += odd
        if odd and skip:
            continue
        sums = [a + b for a, b in zip(sums, z, strict=True)]
        both = [z[i] * z[j] for i in range(size) for j in range(i, size)]
        products = [a + b for a, b in zip(products, both, strict=True)]
    return sums, products, missing


def perceptron(rows, labels, times, shrinking, enough):
    """The vectors of a perceptron without noise, and how many rows each has wrong. `rows` are
    coordinates and a constant, as fractions. The last vector is only counted; it is also the last
    if it has no more than `enough` rows wrong."""
    w = [Fraction(0)] * len(rows[0])
    found = []
    for t in range(times):
        wrong = [(row, y) for row, y in zip(rows, labels, strict=True)
            if y * sum(a * b for a, b in zip(w, row, strict=True)) <= 0]  # fmt: skip
        found.append((w, len(wrong)))
        if len(wrong) <= enough:
            break
        rate = Fraction(1, len(wrong) * (t + 1 if shrinking else 1))
        w = [a + rate * sum(y * row[j] for row, y in wrong) for j, a in enumerate(w)]
    return found
