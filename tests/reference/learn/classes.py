"""Sums of cells and of their squares by class, one number at a time, in Python's integers."""


def sums(rows, limits, key, keys):
    """Return how many numbers are missing, and for each class and one more both sums of columns."""
    found, missing = [[[0] * rows.shape[1] for _ in range(2)] for _ in range(keys + 1)], 0
    for row, k in zip(rows.tolist(), key.tolist(), strict=True):
        for j, (x, (scale, lo, hi, middle)) in enumerate(zip(row, limits.T.tolist(), strict=True)):
            missing += x != x
            z = round(lo if x != x else min(max(x * scale, lo), hi)) - int(middle)
            own = found[min(k, keys)]
            own[0][j] += z
            own[1][j] += z * z
    return missing, found
