"""A step of k-means one row and one number at a time, with the same operations as the kernel."""

import math


def step(rows, at, columns, unit, skip):
    """Labels, and for each centre and one more the count and the sums of cells. `columns` holds
    (lo, hi, middle, grid, fill) for each column; `at` coordinates of centres."""
    k, d = len(at), len(columns)
    half = [0.5 * math.fsum(c * c for c in centre) for centre in at]
    labels, counts = [], [0] * (k + 1)
    sums = [[0] * d for _ in range(k + 1)]
    for row in rows:
        place, cells, odd = [], [], False
        for x, (lo, hi, middle, grid, fill) in zip(row, columns, strict=True):
            if x != x:
                x, odd = fill, True
            x = min(max(x, lo), hi)
            cells.append(round(x / grid) - round(lo / grid))
            place.append((x - middle) * unit)
        best, label = math.inf, 0
        for j in range(k):
            score = half[j]
            for c, y in zip(at[j], place, strict=True):
                score -= c * y
            if score < best:
                best, label = score, j
        if odd and skip:
            label = k
        labels.append(label)
        counts[label] += 1
        for j in range(d):
            sums[label][j] += cells[j]
    return labels, counts, sums


def lloyd(rows, centres, times):
    """Plain k-means from the given centres; an empty cluster is an error."""
    for _ in range(times):
        of = [[] for _ in centres]
        for row in rows:
            squares = [sum((a - b) ** 2 for a, b in zip(row, c, strict=True)) for c in centres]
            of[squares.index(min(squares))].append(row)
        centres = [[math.fsum(c) / len(own) for c in zip(*own, strict=True)] for own in of]
    return centres
