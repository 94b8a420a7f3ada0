"""The plain slow twin of the pass for peaks: Python numbers, one at a time."""

import math
from fractions import Fraction

NAN, INFINITE, ABOVE = 1, 2, 4


def block_peaks(values, block):
    """Peaks of blocks of Python numbers, and what was seen. NaN is left out."""
    peaks, flags = [], 0
    for start in range(0, len(values), block):
        peak = None
        for v in values[start : start + block]:
            if v != v:
                flags |= NAN
                continue
            if v == math.inf:
                flags |= INFINITE
            if v != -math.inf:
                flags |= ABOVE
            if peak is None or v > peak:
                peak = v
        peaks.append(-math.inf if peak is None else peak)
    return peaks, flags


def distance(best, value):
    """The exact distance; None for an excluded candidate."""
    return None if value == -math.inf else Fraction(best) - Fraction(value)
