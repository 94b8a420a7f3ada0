"""Sums and gradients by their definition, row by row, in whole numbers and arbitrary precision. For
the columns of `tests/learn/test_gradient_rounds.py`: numbers within 0 .. 4 and -1 .. 1, and between
them one of 0, 1 and 5."""

import math
from decimal import Decimal

H, S = 1 << 20, 1 << 16
BOUNDS = {0: (0.0, 4.0), 2: (-1.0, 1.0)}
VALUES = [0.0, 1.0, 5.0]
CLASSES = {"two classes": [-1.0, 1.0], "three classes": [0.0, 1.0, 2.0]}


def vector(record):
    """1, a number, three indicators, a number."""

    def number(j):
        lo, hi = BOUNDS[j]
        x = lo if math.isnan(record[j]) else min(max(record[j], lo), hi)
        return round((x - (lo + hi) / 2) / ((hi - lo) / 2) * H)

    return [H, number(0), *(H * (record[1] == v) for v in VALUES), number(2)]


def parts(kind, label):
    """What the row gives to each answer."""
    if kind == "a target":
        if math.isnan(label):
            return [0, 0]
        part = round((min(max(label, -1.0), 3.0) - 1.0) / 4.0 * S) + S // 2
        return [S - part, part]
    return [S * (label == c) for c in CLASSES[kind]]


def left_out(record):
    return math.isnan(record[0]) or math.isnan(record[2])


def totals(kind, records):
    many = len(parts(kind, 0.0))
    sums, squares = [[0] * 6 for _ in range(many)], [0, 0]
    for record in records:
        if left_out(record):
            continue
        z, given = vector(record), parts(kind, record[3])
        for k in range(many):
            for j in range(6):
                sums[k][j] += given[k] * z[j]
        for i, j in enumerate((1, 5)):
            squares[i] += sum(given) * ((H * H - z[j] ** 2) // H)
    return [x for row in sums for x in row] + squares


def gradient(kind, records, weights):
    """Weights are whole numbers of 2**-20, one column a score."""
    outputs = weights.shape[1]
    sums = [[0] * 6 for _ in range(outputs)]
    for record in records:
        given = parts(kind, record[3])
        if left_out(record) or not any(given):
            continue
        z = vector(record)
        scores = [sum(int(w) * x for w, x in zip(column, z, strict=True)) for column in weights.T]
        if kind == "a target":
            near = round(Decimal(scores[0]) / Decimal(2**24))
            wrong = [min(max(given[1] - given[0] - near, -S), S)]
        else:
            full = scores if len(given) > 2 else [0, *scores]
            top = max(full)
            powers = [(Decimal(x - top) / Decimal(2**40)).exp() for x in full]
            share = [int(S * p / sum(powers)) for p in powers]
            wrong = [g - p for g, p in zip(given, share, strict=True)][len(given) - outputs :]
        for k in range(outputs):
            for j in range(6):
                sums[k][j] += wrong[k] * z[j]
    return [x for row in sums for x in row]
