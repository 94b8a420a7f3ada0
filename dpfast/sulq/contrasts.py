"""How many more rows have something inside of public sets of rows than outside.

The contrast of a set is half of how many more rows have something in the set than outside: the sum
of s_i b_i / 2, where s_i is 1 or -1 as row i is in the set or not, and b_i is 0 or 1. So the vector
of r contrasts and half of the number of rows that have it changes by (1, s_1, ..., s_r) / 2, of
length sqrt(r + 1) / 2, when b_i changes, and when the row comes or goes. r sums over the sets
themselves, asked one by one, are paid for as if their sensitivity were sqrt(r).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .parts import Part
from .row_functions import Function, MaskedChunk
from .row_sets import RowSets
from .terms import Exact


def contrast_part(sets: int) -> Part:
    """Return the sensitivity of twice the contrasts, and of the number of rows."""
    return Part(sets + 1, sets + 1, sets + 1, sets + 1)


def contrasts_of(function: Function, sets: RowSets, fill: str | float) -> Exact:
    """Return how many rows have something, then twice the contrast of each set."""

    def tally(chunk: MaskedChunk) -> tuple[list[int], int]:
        values = function.values(chunk)
        holds, missing = values != 0, 0
        if values.dtype.kind == "f":
            absent = np.isnan(values)
            missing = int(np.count_nonzero(absent))
            if missing:
                holds[absent] = fill == 1.0
        count = int(np.count_nonzero(holds))
        return [count, *(2 * sets.counts(holds, chunk.start) - count).tolist()], missing

    return Exact(1 + len(sets), function.columns, Fraction(1, 2), tally)
