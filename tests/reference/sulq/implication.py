"""The implication test by its definitions: rows one by one, sums as fractions."""

import math
from fractions import Fraction


def holds(written, row):
    """Whether a condition, as it is sent, holds of a row: a dict of its columns."""
    ((word, rest),) = written.items() if len(written) == 1 else ((None, None),)
    if word == "not":
        return not holds(rest, row)
    if word in ("and", "or", "xor"):
        a, b = (holds(part, row) for part in rest)
        return {"and": a and b, "or": a or b, "xor": a != b}[word]
    value = row[written.get("column")]
    low, high = written.get("low"), written.get("high")
    if low is None and high is None:
        return value != 0
    return (low is None or low <= value) and (high is None or value <= high)


def contrasts(bits, masks):
    """How many there are, and half of the difference between each set and the others."""
    total = sum(map(bool, bits))
    halves = []
    for mask in masks:
        signs = (1 if inside else -1 for inside in mask)
        halves.append(
            sum((Fraction(s, 2) for b, s in zip(bits, signs, strict=True) if b), Fraction(0))
        )
    return total, halves


def strength(alpha, beta):
    """What is estimated, from all rows."""
    both = sum(1 for a, b in zip(alpha, beta, strict=True) if a and b)
    return both / sum(map(bool, alpha)) - sum(map(bool, beta)) / len(beta)


def estimate(n, sizes, a, x, b, y, noise):
    """The estimate and its main error from answers: `x` and `y` are lists of contrasts."""
    a, b = a / n, b / n
    x = [v - (s - n / 2) * a for v, s in zip(x, sizes, strict=True)]
    y = [v - (s - n / 2) * b for v, s in zip(y, sizes, strict=True)]
    xx, yy, xy = (
        math.fsum(u * v for u, v in zip(p, q, strict=True)) for p, q in ((x, x), (y, y), (x, y))
    )
    c = xy / math.sqrt(xx * yy)
    vx, vy = n * a * (1 - a) / 4, n * b * (1 - b) / 4
    scale = math.sqrt((vx + noise**2) * (vy + noise**2)) * (1 - a) / vx
    return c * scale, (1 - c * c) / math.sqrt(len(x)) * scale
