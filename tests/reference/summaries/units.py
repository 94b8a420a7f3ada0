"""The plain slow twin of what units count for: one unit at a time, in fractions."""

import math
from fractions import Fraction


def part(total, rows, most):
    """What a feature of a unit with so many rows counts."""
    return math.trunc(Fraction(total * min(rows, most), rows))


def away(total, rows, most):
    """Planted: rounded away from zero."""
    exact = Fraction(total * min(rows, most), rows)
    return math.ceil(exact) if exact > 0 else math.floor(exact)


def whole(total, rows, most):
    """Planted: all of it, beside a number of rows that is bounded."""
    return min(total, most) if total == rows else total


def bounded(room, most, features, squares=False, ends=None, *, rule=part):
    """As `dpfast.summaries.units.bounded`; `rule` says what counts of a unit."""
    found = []
    for words in room.tolist():
        rows = words[1] % 2**40
        if squares:
            sums = [words[0] + (words[1] >> 40 << 64), (words[3] << 32) + words[2]]
        else:
            sums = [
                low + (more >> 40 << 64) for low, more in zip(words[::2], words[1::2], strict=True)
            ]
        if not rows:
            continue
        own = [rule(total, rows, most) for total in features([*sums, rows])]
        if ends is not None:
            own = [min(max(total, ends[0]), ends[1]) for total in own]
        found = [a + b for a, b in zip(found, own, strict=True)] if found else own
    return found or [0] * len(features([0] * (3 if squares else room.shape[1] // 2 + 1)))
