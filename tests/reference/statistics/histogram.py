"""The plain slow twin of histograms: each row by itself, by bisection."""

import math
from bisect import bisect_right


def bin_of(x, edges, exact=False):
    """The bin of a number; None if it is in none. With `exact`, edges are categories."""
    x = float(x)
    if math.isnan(x):
        return None
    if exact:
        return list(edges).index(x) if x in edges else None
    if not edges[0] <= x <= edges[-1]:
        return None
    return min(bisect_right(edges, x) - 1, len(edges) - 2)


def counts(rows, axes, exact=False):
    """How many rows are in each bin; key () is for those in none."""
    found = {}
    for row in rows:
        place = [bin_of(x, edges, exact) for x, edges in zip(row, axes, strict=True)]
        key = () if None in place else tuple(k for k in place if k is not None)
        found[key] = found.get(key, 0) + 1
    return found
