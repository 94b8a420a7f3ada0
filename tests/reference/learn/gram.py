"""Sums and sums of products of the rows that the kernel for rows makes, one after the other."""

import itertools

import numpy as np

from dpfast._kernels.learn import box_whole as whole


def plain(rows, limits, scale=4.0):
    """Return how many rows, the sums of columns, and those of products of pairs of columns."""
    z = np.empty_like(rows)
    whole(rows, scale, *limits, z)
    cells = [[int(x) for x in row] for row in z]
    d = rows.shape[1]
    products = [[0] * d for _ in range(d)]
    for row in cells:
        for i, j in itertools.combinations_with_replacement(range(d), 2):
            products[i][j] += row[i] * row[j]
    return len(rows), [sum(row[j] for row in cells) for j in range(d)], products
