"""Sums of cells by group, row by row."""

import math

from ..summaries.quantise import cells


def totals(values, codes, groups, grid, first, span, filler):
    """Sum, number of rows and sum of squares of each group, and how many NaN the groups have."""
    found, missing = [[0, 0, 0] for _ in range(groups)], 0
    for value, code in zip(values, codes, strict=True):
        if not 0 <= code < groups:
            continue
        if math.isnan(value):
            missing += 1
            if filler < 0:
                continue
            u = filler
        else:
            (u,) = cells([value], grid, first, span)
        found[code][0] += u
        found[code][1] += 1
        found[code][2] += u * u
    return found, missing
