"""Windows of order statistics by definition: sort everything, slice."""

import numpy as np


def window(values, rank_rule, width, missing=None, nulls=0):
    """(values, first, n, nan) as `dpfast.order.Ranks.window` must return them. Works on Python
    numbers, so it knows nothing of dtypes; -0.0 is 0.0."""
    numbers = [v + 0 if isinstance(v, int) else v + 0.0 for v in np.asarray(values).tolist()]
    present = [v for v in numbers if v == v]
    nan = len(numbers) - len(present) + nulls
    if missing is not None:
        present += [missing] * nan
    present.sort()
    n = len(present)
    if n == 0:
        return [], 1, 0, nan
    m = rank_rule(n)
    first, last = max(1, m - width), min(n, m + width)
    return present[first - 1 : last], first, n, nan


def bracket(values, lo, hi):
    """(below, at_lo, between, at_hi, above, nan) and the values strictly between, in order."""
    numbers = np.asarray(values).tolist()
    below = sum(v < lo for v in numbers)
    at_lo = sum(v == lo for v in numbers)
    at_hi = 0 if lo == hi else sum(v == hi for v in numbers)
    above = sum(v > hi for v in numbers)
    nan = sum(v != v for v in numbers)
    inside = sorted(v for v in numbers if lo < v < hi)
    return (below, at_lo, len(inside), at_hi, above, nan), inside
